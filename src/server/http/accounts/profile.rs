//! The page of the own account and its forms. Each form performs one action and redirects with 303 (post/redirect/get);
//! a form that is refused, and a token that is shown once, are in the answer itself.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;
use uuid::Uuid;

use crate::domain::{InvalidField, MessageCode, TokenScope};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::form_result::{FormResult, FormResultQuery};
use crate::server::http::accounts::sign_in::with_session;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
use crate::server::server_pages::accounts::passkeys::PasskeyPanel;
use crate::server::server_pages::accounts::profile::{
    ProfileForm, ProfileFormError, ProfilePage, TokenForm, no_accounts_page,
};
use crate::server::server_pages::messages::{self, accounts as words};
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_platform::ids;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::tokens::NewApiToken;

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileFormResult {
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

impl FormResult for ProfileFormResult {
    fn sentence(self) -> &'static str {
        match self {
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
        }
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

/// Shows the page with the refusal of one of its forms. `typed` restores what was typed into it.
pub(super) async fn refused_page(
    form: &AccountForm,
    (refused, error): (ProfileForm, AccountError),
    typed: impl FnOnce(&mut ProfilePage),
) -> Result<Response, EarlyResponse> {
    let refusal = FormRefusal::from_error(error)?;
    let mut page = read_page(&form.app, &form.principal, &form.context).await?;
    typed(&mut page);
    page.error = refusal.field.map(|error| ProfileFormError { form: refused, error });
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}

/// `GET /settings/profile`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<FormResultQuery<ProfileFormResult>>,
    context: PageContext,
) -> Result<Response, Problem> {
    if !principal.has_account() {
        return Ok(context.respond(&app, StatusCode::OK, no_accounts_page()));
    }
    let page = read_page(&app, &principal, &context).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.notice())))
}

/// `POST /forms/profile/name`.
pub async fn save_name(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_password("/forms/profile/name", PageSection::Profile).await?;
    let name = form.text("name");
    match form.service().change_own_name(form.user(), form.actor(), &name).await {
        Ok(()) => Ok(see_other("/settings/profile?done=saved")),
        Err(error) => {
            let typed = |page: &mut ProfilePage| page.typed_name = name;
            refused_page(&form, (ProfileForm::Name, error), typed).await
        }
    }
}

/// `POST /forms/profile/password`. The session of the page goes on with another cookie.
pub async fn change_password(form: AccountForm) -> Result<Response, EarlyResponse> {
    let passwords = (&form.fields.lines("current_password").into(), &form.fields.lines("password").into());
    match form.service().change_own_password(form.user(), form.actor(), passwords, &form.client_origin()).await {
        Ok(secret) => Ok(with_session(&form.app, &secret, "/settings/profile?done=password_changed")),
        Err(error) => refused_page(&form, (ProfileForm::Password, error), |_| {}).await,
    }
}

/// `POST /forms/profile/sessions/end`.
pub async fn end_session(form: AccountForm) -> Result<Response, EarlyResponse> {
    let session = form.fields.subject_id("session_id")?;
    form.require_password("/forms/profile/sessions/end", PageSection::Profile).await?;
    form.service().end_session(form.user(), form.actor(), session).await?;
    Ok(see_other("/settings/profile?done=session_ended#sessions"))
}

/// `POST /forms/profile/sessions/end-others`.
pub async fn end_other_sessions(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_password("/forms/profile/sessions/end-others", PageSection::Profile).await?;
    form.service().end_other_sessions(form.user(), form.actor()).await?;
    Ok(see_other("/settings/profile?done=sessions_ended#sessions"))
}

/// `POST /forms/profile/tokens/create`: shows the token once.
pub async fn create_token(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_password("/forms/profile/tokens/create", PageSection::Profile).await?;
    let typed = TokenForm {
        name: form.text("name"),
        scopes: form.fields.values("scope").iter().filter_map(|word| word.parse::<TokenScope>().ok()).collect(),
        days: form.text("days"),
        request_id: form.text("client_request_id"),
    };
    let made = match typed.days.parse() {
        Ok(days) => {
            let new = NewApiToken {
                name: typed.name.clone(),
                scopes: typed.scopes.clone(),
                days,
                client_request_id: Some(typed.request_id.clone()).filter(|id| !id.is_empty()),
            };
            form.service().create_api_token(form.user(), form.actor(), new).await
        }
        Err(_) => Err(InvalidField::new("days", MessageCode::NotAWholeNumber).into()),
    };
    match made {
        Ok(made) => {
            let mut page = read_page(&form.app, &form.principal, &form.context).await?;
            page.created_token = made.value.secret.as_ref().map(|secret| secret.expose().to_owned());
            // A form that was sent again shows that, because the token itself is not stored.
            let notice =
                page.created_token.is_none().then(|| ActionNotice::Warning(words::token_created_before().into()));
            Ok(form.respond(StatusCode::OK, page.draw(notice)))
        }
        Err(error) => {
            let restore = |page: &mut ProfilePage| page.token_form = typed;
            refused_page(&form, (ProfileForm::Token, error), restore).await
        }
    }
}

/// `POST /forms/profile/tokens/revoke`.
pub async fn revoke_token(form: AccountForm) -> Result<Response, EarlyResponse> {
    let token = form.fields.subject_id("token_id")?;
    form.service().revoke_api_token(form.user(), form.actor(), token).await?;
    Ok(see_other("/settings/profile?done=token_revoked#tokens"))
}
