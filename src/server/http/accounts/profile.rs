//! The page of the own account and its forms. Each form performs one action and redirects with 303 (post/redirect/get);
//! a form that is refused, and a token that is shown once, are in the answer itself.

use axum::extract::State;
use axum::response::Response;
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::{InvalidField, MessageCode, TokenScope};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::{FormRefusal, with_retry_after};
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::{actor, client_origin};
use crate::server::http::accounts::sign_in::with_session;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::accounts::passkeys::PasskeyPanel;
use crate::server::server_pages::accounts::profile::{
    ProfileForm, ProfileFormError, ProfilePage, TokenForm, no_accounts_page,
};
use crate::server::server_pages::messages::{self, accounts as words};
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_platform::ids;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::tokens::NewApiToken;

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfilePageQuery {
    /// The action that a form has done.
    done: Option<ProfileFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProfileFormResult {
    Saved,
    PasswordChanged,
    SecondFactorRemoved,
    PasskeyAdded,
    PasskeyRemoved,
    SessionEnded,
    SessionsEnded,
    TokenRevoked,
    Linked,
    Unlinked,
    Confirmed,
}

impl ProfileFormResult {
    fn notice(self) -> ActionNotice {
        let sentence = match self {
            Self::Saved => messages::saved(),
            Self::PasswordChanged => words::password_changed(),
            Self::SecondFactorRemoved => words::second_factor_removed(),
            Self::PasskeyAdded => words::passkey_added(),
            Self::PasskeyRemoved => words::passkey_removed(),
            Self::SessionEnded => words::session_ended(),
            Self::SessionsEnded => words::sessions_ended(),
            Self::TokenRevoked => words::token_revoked(),
            Self::Linked => words::identity_linked(),
            Self::Unlinked => words::identity_unlinked(),
            Self::Confirmed => words::signed_in_again(),
        };
        ActionNotice::Done(sentence.to_owned())
    }
}

/// Reads the page as it is stored.
async fn read_page(app: &App, principal: &Principal, context: &PageContext) -> Result<ProfilePage, Problem> {
    let (service, user) = (app.service(), principal.user);
    let account = service.own_account(user).await?;
    let listed = service.passkeys(user).await?;
    let origin = context.passkeys_at().map(str::to_owned);
    Ok(ProfilePage {
        typed_name: account.name.clone(),
        account,
        identities: service.own_identities(user).await?,
        sessions: service.sessions(user).await?,
        session: principal.session(),
        second_factor: service.second_factor(user).await?,
        passkeys: PasskeyPanel { listed, origin, typed_name: String::new() },
        tokens: service.api_tokens(user).await?,
        token_form: TokenForm { request_id: ids::mint::<Uuid>().to_string(), ..TokenForm::default() },
        error: None,
        created_token: None,
        now: app.now(),
    })
}

/// Shows the page with the refusal of a form. `typed` restores what was typed into it.
pub(super) async fn refused_page(
    app: &App,
    principal: &Principal,
    context: PageContext,
    (form, error): (ProfileForm, AccountError),
    typed: impl FnOnce(&mut ProfilePage),
) -> Result<Response, Problem> {
    let refusal = FormRefusal::from_error(error)?;
    let (status, seconds) = (refusal.status, refusal.retry_after());
    let mut page = read_page(app, principal, &context).await?;
    typed(&mut page);
    page.error = refusal.field.map(|error| ProfileFormError { form, error });
    Ok(with_retry_after(context.respond(app, status, page.draw(refusal.notice)), seconds))
}

/// `GET /settings/profile`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ProfilePageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    if !principal.has_account() {
        return Ok(context.respond(&app, StatusCode::OK, no_accounts_page()));
    }
    let page = read_page(&app, &principal, &context).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(ProfileFormResult::notice))))
}

/// `POST /forms/profile/name`.
pub async fn save_name(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = ProtectedForm { action: "/forms/profile/name", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let name = fields.text("name").unwrap_or_default();
    match app.service().change_own_name(principal.user, actor(&principal, &client), &name).await {
        Ok(()) => Ok(see_other("/settings/profile?done=saved")),
        Err(error) => {
            let typed = |page: &mut ProfilePage| page.typed_name = name;
            refused_page(&app, &principal, context, (ProfileForm::Name, error), typed).await
        }
    }
}

/// `POST /forms/profile/password`. The session of the page goes on with another cookie.
pub async fn change_password(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let passwords = (&fields.lines("current_password").into(), &fields.lines("password").into());
    let (actor, origin) = (actor(&principal, &client), client_origin(&app, &client, &headers));
    match app.service().change_own_password(principal.user, actor, passwords, &origin).await {
        Ok(secret) => Ok(with_session(&app, &secret, "/settings/profile?done=password_changed")),
        Err(error) => refused_page(&app, &principal, context, (ProfileForm::Password, error), |_| {}).await,
    }
}

/// `POST /forms/profile/sessions/end`.
pub async fn end_session(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let session = fields.subject_id("session_id")?;
    let form = ProtectedForm { action: "/forms/profile/sessions/end", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().end_session(principal.user, actor(&principal, &client), session).await?;
    Ok(see_other("/settings/profile?done=session_ended#sessions"))
}

/// `POST /forms/profile/sessions/end-others`.
pub async fn end_other_sessions(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = ProtectedForm { action: "/forms/profile/sessions/end-others", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().end_other_sessions(principal.user, actor(&principal, &client)).await?;
    Ok(see_other("/settings/profile?done=sessions_ended#sessions"))
}

/// `POST /forms/profile/tokens/create`: shows the token once.
pub async fn create_token(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = ProtectedForm { action: "/forms/profile/tokens/create", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let form = TokenForm {
        name: fields.text("name").unwrap_or_default(),
        scopes: fields.values("scope").iter().filter_map(|word| word.parse::<TokenScope>().ok()).collect(),
        days: fields.text("days").unwrap_or_default(),
        request_id: fields.text("client_request_id").unwrap_or_default(),
    };
    let made = match form.days.parse() {
        Ok(days) => {
            let new = NewApiToken {
                name: form.name.clone(),
                scopes: form.scopes.clone(),
                days,
                client_request_id: Some(form.request_id.clone()).filter(|id| !id.is_empty()),
            };
            app.service().create_api_token(principal.user, actor(&principal, &client), new).await
        }
        Err(_) => Err(InvalidField::new("days", MessageCode::NotAWholeNumber).into()),
    };
    match made {
        Ok(made) => {
            let mut page = read_page(&app, &principal, &context).await?;
            page.created_token = made.value.secret.as_ref().map(|secret| secret.expose().to_owned());
            // A form that was sent again shows that, because the token itself is not stored.
            let notice =
                page.created_token.is_none().then(|| ActionNotice::Warning(words::token_created_before().into()));
            Ok(context.respond(&app, StatusCode::OK, page.draw(notice)))
        }
        Err(error) => {
            let typed = |page: &mut ProfilePage| page.token_form = form;
            refused_page(&app, &principal, context, (ProfileForm::Token, error), typed).await
        }
    }
}

/// `POST /forms/profile/tokens/revoke`.
pub async fn revoke_token(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let token = fields.subject_id("token_id")?;
    app.service().revoke_api_token(principal.user, actor(&principal, &client), token).await?;
    Ok(see_other("/settings/profile?done=token_revoked#tokens"))
}
