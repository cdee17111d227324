//! The question for the password before what is dangerous (`docs/adr/0096-second-factor.md`). The page that asks takes
//! the place of the answer to the form and sends the same form again, with the password, so that nothing that was typed
//! is lost.

use axum::response::Response;
use http::StatusCode;

use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::{FormRefusal, with_retry_after};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::password_prompt::{PASSWORD_FIELD, PasswordPrompt, USERNAME_FIELD};

/// A form that needs a password which was entered lately.
#[derive(Debug, Clone, Copy)]
pub struct ProtectedForm {
    /// The address that the form is sent to.
    pub action: &'static str,
    /// The section of its page.
    pub section: PageSection,
}

/// Checks the password that was sent with a form. Returns the page that asks for it, unless it was entered lately.
pub async fn ask_password(
    app: &App,
    (principal, client): (&Principal, &ClientIdentity),
    context: &PageContext,
    form: ProtectedForm,
    fields: &SubmittedFields,
) -> Result<Option<Response>, Problem> {
    let (service, actor) = (app.service(), actor(principal, client));
    let mut refusal = None;
    if fields.contains(PASSWORD_FIELD) {
        match service.confirm_password(actor, &fields.lines(PASSWORD_FIELD).into()).await {
            Ok(()) => return Ok(None),
            Err(error) => refusal = Some(FormRefusal::from_error(error)?),
        }
    } else if service.has_recent_password(actor).await? {
        return Ok(None);
    }
    let is_of_form = |name: &str| name != PASSWORD_FIELD && name != USERNAME_FIELD;
    let kept = fields.all().iter().filter(|(name, _)| is_of_form(name)).cloned().collect();
    let account = service.own_account(principal.user).await?;
    let providers =
        if account.has_password { Vec::new() } else { service.confirming_providers(principal.user).await? };
    let prompt = PasswordPrompt {
        action: form.action,
        section: form.section,
        name: account.name,
        has_password: account.has_password,
        providers,
        fields: kept,
        error: refusal.as_ref().and_then(|refusal| refusal.field.clone()),
    };
    let status = refusal.as_ref().map_or(StatusCode::FORBIDDEN, |refusal| refusal.status);
    let seconds = refusal.as_ref().and_then(FormRefusal::retry_after);
    let page = prompt.draw(refusal.and_then(|refusal| refusal.notice));
    Ok(Some(with_retry_after(context.clone().respond(app, status, page), seconds)))
}
