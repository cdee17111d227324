//! The forms of the second factor on the page of the own account. Secrets and recovery codes are in the answers
//! themselves, once.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::second_factor::{recovery_codes_page, refused_page, setup_page};
use turnleaf_service::accounts::NewSecret;
use turnleaf_service::accounts::account_error::AccountError;

const PROFILE: &str = "/settings/profile";

fn protected(action: &'static str) -> ProtectedForm {
    ProtectedForm { action, section: PageSection::Profile }
}

/// Responds with the reason why nothing was done.
fn refuse(app: &App, context: PageContext, error: AccountError) -> Result<Response, Problem> {
    let refusal = FormRefusal::from_error(error)?;
    Ok(context.respond(app, refusal.status, refused_page(refusal.notice)))
}

/// Responds with recovery codes that were just made.
fn show_codes(
    app: &App,
    context: PageContext,
    codes: Result<Vec<NewSecret>, AccountError>,
) -> Result<Response, Problem> {
    match codes {
        Ok(codes) => {
            let codes = codes.iter().map(|code| code.expose().to_owned()).collect();
            Ok(context.respond(app, StatusCode::OK, recovery_codes_page(codes)))
        }
        Err(error) => refuse(app, context, error),
    }
}

/// `POST /forms/profile/second-factor/begin`: shows the secret for the authenticator app.
pub async fn begin(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    // A server without accounts has no sign-in that would ask for a code.
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/second-factor/begin");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    match app.service().begin_second_factor(principal.user, actor(&principal, &client)).await {
        Ok(setup) => Ok(context.respond(&app, StatusCode::OK, setup_page(&setup, None))),
        Err(error) => refuse(&app, context, error),
    }
}

/// `POST /forms/profile/second-factor/confirm`: shows the recovery codes.
pub async fn confirm(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/second-factor/confirm");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let (user, actor) = (principal.user, actor(&principal, &client));
    let code = fields.text("code").unwrap_or_default();
    let error = match app.service().confirm_second_factor(user, actor, &code).await {
        Ok(codes) => return show_codes(&app, context, Ok(codes)),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = match (&refusal.field, app.service().begun_second_factor(user, actor).await?) {
        (Some(field), Some(setup)) => setup_page(&setup, Some(field)),
        _ => refused_page(refusal.notice),
    };
    Ok(context.respond(&app, refusal.status, page))
}

/// `POST /forms/profile/second-factor/codes`: makes new recovery codes and shows them.
pub async fn renew_codes(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/second-factor/codes");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let codes = app.service().renew_recovery_codes(principal.user, actor(&principal, &client)).await;
    show_codes(&app, context, codes)
}

/// `POST /forms/profile/second-factor/remove`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if principal.session().is_none() {
        return Ok(see_other(PROFILE));
    }
    let form = protected("/forms/profile/second-factor/remove");
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    match app.service().remove_second_factor(principal.user, actor(&principal, &client)).await {
        Ok(()) => Ok(see_other("/settings/profile?done=second_factor_removed")),
        Err(error) => refuse(&app, context, error),
    }
}
