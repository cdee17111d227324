//! Passkeys: signing in with one, and those of the own account. The forms are completed by `/passkeys.js`, which asks
//! the browser for the answer to a challenge.

use axum::Extension;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::Value;

use crate::domain::PasskeyId;
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::profile;
use crate::server::http::accounts::request_origin::{actor, client_origin};
use crate::server::http::accounts::sign_in::{
    SignedIn, draw_sign_in, is_without_accounts, refuse_insecure, refused_response, with_session,
};
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::json::ApiJson;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::passkeys::{ANSWER_FIELD, CEREMONY_FIELD, create_page, refused_page};
use crate::server::server_pages::accounts::profile::{ProfileForm, ProfilePage};
use crate::server::server_pages::accounts::sign_in::SignInFormState;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::passkeys::PasskeyAttempt;

const PROFILE: &str = "/settings/profile";

/// A challenge for the script of a page.
#[derive(Debug, Serialize)]
struct PasskeyChallenge {
    /// The secret that names the ceremony, for the form.
    ceremony: String,
    /// The options for `navigator.credentials.get`.
    options: Value,
}

fn protected(action: &'static str) -> ProtectedForm {
    ProtectedForm { action, section: PageSection::Profile }
}

/// Responds with the reason why nothing was done.
fn refuse(app: &App, context: PageContext, error: AccountError) -> Result<Response, Problem> {
    let mut refusal = FormRefusal::from_error(error)?;
    let page = refused_page(refusal.notice.take());
    Ok(refused_response(app, context, refusal, page))
}

/// `POST /forms/passkey/begin`: a challenge for a stranger who signs in, or for a person who confirms who they are.
pub async fn begin_use(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Err(Problem::not_found());
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let person = signed_in.and_then(|Extension(principal)| principal.session().map(|_| principal.user));
    let client = client_origin(&app, &client, &headers);
    let begun = app.service().begin_passkey_use(person, context.relying_party(), &client)?;
    let ceremony = begun.ceremony.expose().to_owned();
    Ok(ApiJson(PasskeyChallenge { ceremony, options: begun.options }).into_response())
}

/// `POST /forms/sign-in/passkey`.
pub async fn sign_in(
    State(app): State<App>,
    signed_in: SignedIn,
    client: ClientIdentity,
    headers: HeaderMap,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if is_without_accounts(&signed_in) {
        return Ok(see_other("/"));
    }
    if let Some(refused) = refuse_insecure(&app, &client, &context) {
        return Ok(refused);
    }
    let next = fields.text("next").unwrap_or_default();
    let (ceremony, answer) = (fields.lines(CEREMONY_FIELD), fields.lines(ANSWER_FIELD));
    let attempt = PasskeyAttempt { ceremony: &ceremony, answer: &answer, party: context.relying_party() };
    let origin = client_origin(&app, &client, &headers);
    let error = match app.service().sign_in_with_passkey(attempt, &origin).await {
        Ok(secret) => return Ok(with_session(&app, &secret, local_path(&next))),
        Err(error) => error,
    };
    let mut refusal = FormRefusal::from_error(error)?;
    let page = draw_sign_in(&app, &context, (&SignInFormState::default(), &next), refusal.notice.take());
    Ok(refused_response(&app, context, refusal, page))
}

/// `POST /forms/profile/passkeys/begin`: shows the page on which the browser makes a passkey.
pub async fn begin(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    // Only people who sign in here have passkeys.
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/passkeys/begin");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let name = fields.text("name").unwrap_or_default();
    let (user, actor, party) = (principal.user, actor(&principal, &client), context.relying_party());
    match app.service().begin_passkey(user, actor, &name, party).await {
        Ok(begun) => {
            let page = create_page(&begun, context.passkeys_at().unwrap_or_default());
            Ok(context.respond(&app, StatusCode::OK, page))
        }
        Err(error) => {
            let typed = |page: &mut ProfilePage| page.passkeys.typed_name = name;
            profile::refused_page(&app, &principal, context, (ProfileForm::Passkey, error), typed).await
        }
    }
}

/// `POST /forms/profile/passkeys/add`: adds the passkey that the browser has made.
pub async fn add_own(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/passkeys/add");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let (ceremony, answer) = (fields.lines(CEREMONY_FIELD), fields.lines(ANSWER_FIELD));
    let attempt = PasskeyAttempt { ceremony: &ceremony, answer: &answer, party: context.relying_party() };
    match app.service().add_passkey(principal.user, actor(&principal, &client), attempt).await {
        Ok(()) => Ok(see_other("/settings/profile?done=passkey_added#passkeys")),
        Err(error) => refuse(&app, context, error),
    }
}

/// `POST /forms/profile/passkeys/remove`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let passkey: PasskeyId = fields.subject_id("passkey_id")?;
    let form = protected("/forms/profile/passkeys/remove");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    app.service().remove_passkey(principal.user, actor(&principal, &client), passkey).await?;
    Ok(see_other("/settings/profile?done=passkey_removed#passkeys"))
}
