//! The forms of the second factor on the page of the own account. Secrets and recovery codes are in the answers
//! themselves, once.

use axum::response::Response;
use http::StatusCode;

use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::server_page::see_other;
use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::accounts::second_factor::{recovery_codes_page, refused_page, setup_page};
use turnleaf_service::accounts::NewSecret;

/// Responds with recovery codes that were just made.
fn show_codes(form: &AccountForm, codes: &[NewSecret], occasion: &FactorSetup) -> Response {
    let codes = codes.iter().map(|code| code.expose().to_owned()).collect();
    form.respond(StatusCode::OK, recovery_codes_page(codes, occasion))
}

/// `POST /forms/profile/second-factor/begin`: shows the secret for the authenticator app.
pub async fn begin(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/second-factor/begin").await?;
    let occasion = form.factor_setup();
    match form.service().begin_second_factor(form.user(), form.actor()).await {
        Ok(setup) => Ok(form.respond(StatusCode::OK, setup_page(&setup, None, &occasion))),
        Err(error) => form.refuse(error, |notice| refused_page(notice, &occasion)),
    }
}

/// `POST /forms/profile/second-factor/confirm`: shows the recovery codes.
pub async fn confirm(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/second-factor/confirm").await?;
    let occasion = form.factor_setup();
    let (user, actor, code) = (form.user(), form.actor(), form.text("code"));
    let error = match form.service().confirm_second_factor(user, actor, &code).await {
        Ok(codes) => return Ok(show_codes(&form, &codes, &occasion)),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = match (&refusal.field, form.service().begun_second_factor(user, actor).await?) {
        (Some(field), Some(setup)) => setup_page(&setup, Some(field), &occasion),
        _ => refused_page(refusal.notice, &occasion),
    };
    Ok(form.respond(refusal.head, page))
}

/// `POST /forms/profile/second-factor/codes`: makes new recovery codes and shows them.
pub async fn renew_codes(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/second-factor/codes").await?;
    match form.service().renew_recovery_codes(form.user(), form.actor()).await {
        Ok(codes) => Ok(show_codes(&form, &codes, &FactorSetup::Voluntary)),
        Err(error) => form.refuse(error, |notice| refused_page(notice, &FactorSetup::Voluntary)),
    }
}

/// `POST /forms/profile/second-factor/remove`.
pub async fn remove(form: AccountForm) -> Result<Response, EarlyResponse> {
    form.require_session_and_password("/forms/profile/second-factor/remove").await?;
    match form.service().remove_second_factor(form.user(), form.actor()).await {
        Ok(()) => Ok(see_other("/settings/profile?done=second_factor_removed")),
        Err(error) => form.refuse(error, |notice| refused_page(notice, &FactorSetup::Voluntary)),
    }
}
