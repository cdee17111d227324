//! Passkeys: signing in with one, and those of the own account. The forms are completed by `/passkeys.js`, which asks
//! the browser for the answer to a challenge.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use serde_json::Value;

use crate::domain::PasskeyId;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::account_request::AccountRequest;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::pending_step::draw_required_factor;
use crate::server::http::accounts::profile;
use crate::server::http::accounts::sign_in::{refuse_sign_in, with_session};
use crate::server::http::request::json::ApiJson;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{SubmittedFields, see_other};
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::accounts::passkeys::{ANSWER_FIELD, CEREMONY_FIELD, create_page, refused_page};
use crate::server::server_pages::accounts::profile::{ProfileForm, ProfilePage};
use turnleaf_service::accounts::passkeys::PasskeyAttempt;

/// A challenge for the script of a page.
#[derive(Debug, Serialize)]
struct PasskeyChallenge {
    /// The secret that names the ceremony, for the form.
    ceremony: String,
    /// The options for `navigator.credentials.get`.
    options: Value,
}

/// `POST /forms/passkey/begin`: a challenge for a stranger who signs in, or for a person who confirms who they are.
pub async fn begin_use(request: AccountRequest) -> Result<Response, EarlyResponse> {
    if request.is_without_accounts() {
        return Err(Problem::not_found().into());
    }
    request.require_safe_address()?;
    let person = request.signed_in.and_then(|principal| principal.session().map(|_| principal.user));
    let party = request.context.relying_party();
    let begun = request.service().begin_passkey_use(person, party, &request.client_origin())?;
    let ceremony = begun.ceremony.expose().to_owned();
    Ok(ApiJson(PasskeyChallenge { ceremony, options: begun.options }).into_response())
}

/// `POST /forms/sign-in/passkey`.
pub async fn sign_in(request: AccountRequest, fields: SubmittedFields) -> Result<Response, EarlyResponse> {
    request.require_sign_in()?;
    let next = fields.text("next").unwrap_or_default();
    let (ceremony, answer) = (fields.lines(CEREMONY_FIELD), fields.lines(ANSWER_FIELD));
    let attempt = PasskeyAttempt { ceremony: &ceremony, answer: &answer, party: request.context.relying_party() };
    match request.service().sign_in_with_passkey(attempt, &request.client_origin()).await {
        Ok(secret) => Ok(with_session(&request.app, &secret, local_path(&next))),
        Err(error) => refuse_sign_in(&request, error, &next),
    }
}

/// `POST /forms/profile/passkeys/begin`: shows the page on which the browser makes a passkey.
pub async fn begin(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/passkeys/begin").await?;
    let (name, occasion) = (form.text("name"), form.factor_setup());
    let party = form.context.relying_party();
    let error = match form.service().begin_passkey(form.user(), form.actor(), &name, party).await {
        Ok(begun) => {
            let page = create_page(&begun, form.context.passkeys_at().unwrap_or_default(), &occasion);
            return Ok(form.respond(StatusCode::OK, page));
        }
        Err(error) => error,
    };
    if occasion == FactorSetup::Voluntary {
        let typed = |page: &mut ProfilePage| page.passkeys.typed_name = name;
        return profile::refused_page(&form, (ProfileForm::Passkey, error), typed).await;
    }
    let refusal = FormRefusal::from_error(error)?;
    let page = draw_required_factor(&form, &occasion, (name, refusal.field.as_ref()), refusal.notice);
    Ok(form.respond(refusal.head, page))
}

/// `POST /forms/profile/passkeys/add`: adds the passkey that the browser has made.
pub async fn add_own(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/passkeys/add").await?;
    let occasion = form.factor_setup();
    let (ceremony, answer) = (form.fields.lines(CEREMONY_FIELD), form.fields.lines(ANSWER_FIELD));
    let attempt = PasskeyAttempt { ceremony: &ceremony, answer: &answer, party: form.context.relying_party() };
    match form.service().add_passkey(form.user(), form.actor(), attempt).await {
        Ok(()) => Ok(see_other(match &occasion {
            FactorSetup::Voluntary => "/settings/profile?done=passkey_added#passkeys",
            FactorSetup::Required { next } => next.as_str(),
        })),
        Err(error) => form.refuse(error, |notice| refused_page(notice, &occasion)),
    }
}

/// `POST /forms/profile/passkeys/remove`.
pub async fn remove(form: AccountForm) -> Result<Response, EarlyResponse> {
    let passkey: PasskeyId = form.fields.subject_id("passkey_id")?;
    form.require_password("/forms/profile/passkeys/remove", PageSection::Profile).await?;
    match form.service().remove_passkey(form.user(), form.actor(), passkey).await {
        Ok(()) => Ok(see_other("/settings/profile?done=passkey_removed#passkeys")),
        // It is the last second factor, which is required.
        Err(error) => form.refuse(error, |notice| refused_page(notice, &FactorSetup::Voluntary)),
    }
}
