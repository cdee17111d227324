//! The step that is pending in a session (`docs/adr/0096-second-factor.md`): the page to which every other page leads until
//! it is taken, and the form of another password. A second factor has the forms of the own account.

use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{InvalidField, PendingStep};
use crate::server::access::Principal;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::account_request::AccountRequest;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::sign_in::with_session;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::server_page::see_other;
use crate::server::http::turns::forms::local_path;
use crate::server::server_pages::accounts::factor_setup::FactorSetup;
use crate::server::server_pages::accounts::passkeys::PasskeyPanel;
use crate::server::server_pages::accounts::pending_step::{own_password_page, required_factor_page};
use crate::server::server_pages::{ActionNotice, ServerPage};

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingStepQuery {
    /// The address to which the person returns.
    next: Option<String>,
}

/// Renders the page that offers the ways to a second factor. `typed_name` is that of a passkey whose name was refused.
pub(super) fn draw_required_factor(
    request: &AccountRequest,
    setup: &FactorSetup,
    (typed_name, error): (String, Option<&InvalidField>),
    notice: Option<ActionNotice>,
) -> ServerPage {
    let origin = request.context.passkeys_at().map(str::to_owned);
    let passkeys = PasskeyPanel { listed: Vec::new(), origin, typed_name };
    required_factor_page(setup, &passkeys, (error, request.app.now()), notice)
}

/// `GET /finish-sign-in`.
pub async fn show(
    request: AccountRequest,
    principal: Principal,
    StrictQuery(query): StrictQuery<PendingStepQuery>,
) -> Result<Response, EarlyResponse> {
    let next = local_path(query.next.as_deref().unwrap_or_default()).to_owned();
    let page = match principal.pending {
        None => return Ok(see_other(&next)),
        Some(PendingStep::ChangePassword) => {
            let account = request.service().own_account(principal.user).await?;
            own_password_page(&account.name, &next, None, None)
        }
        Some(PendingStep::SetUpSecondFactor) => {
            draw_required_factor(&request, &FactorSetup::Required { next }, (String::new(), None), None)
        }
    };
    Ok(request.respond(StatusCode::OK, page))
}

/// `POST /forms/finish-sign-in/password`: another password in place of one that was made. The person goes on with another
/// cookie.
pub async fn change_password(form: AccountForm) -> Result<Response, EarlyResponse> {
    let next = form.next_address();
    // It was sent twice.
    if form.principal.pending.is_none() {
        return Ok(see_other(&next));
    }
    let passwords = (&form.fields.lines("current_password").into(), &form.fields.lines("password").into());
    let origin = form.client_origin();
    let error = match form.service().change_own_password(form.user(), form.actor(), passwords, &origin).await {
        Ok(secret) => return Ok(with_session(&form.app, &secret, &next)),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let account = form.service().own_account(form.user()).await?;
    let page = own_password_page(&account.name, &next, refusal.field.as_ref(), refusal.notice);
    Ok(form.respond(refusal.head, page))
}
