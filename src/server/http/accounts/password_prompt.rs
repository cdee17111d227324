//! The question for the password before what is dangerous (`docs/adr/0096-second-factor.md`), in whose place a passkey
//! counts. The page that asks takes the place of the answer to the form and sends the same form again, with the
//! password, so that nothing that was typed is lost.

use axum::response::Response;
use http::StatusCode;

use crate::domain::{InvalidField, MessageCode};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::{FormRefusal, PageHead};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::passkeys::{CONFIRM_ANSWER_FIELD, CONFIRM_CEREMONY_FIELD};
use crate::server::server_pages::accounts::password_prompt::{PASSWORD_FIELD, PasswordPrompt, USERNAME_FIELD};
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::passkeys::PasskeyAttempt;

/// The fields of the question, which are not those of the form.
const OWN_FIELDS: [&str; 4] = [PASSWORD_FIELD, USERNAME_FIELD, CONFIRM_CEREMONY_FIELD, CONFIRM_ANSWER_FIELD];
/// The field with the name of the secrets that are kept in memory.
const WITHHELD: &str = "withheld";
/// The fields that these are of.
const WITHHELD_NAMES: &str = "withheld_field";

/// A form that needs a password which was entered lately.
#[derive(Debug, Clone, Copy)]
pub struct ProtectedForm {
    /// The address that the form is sent to.
    pub action: &'static str,
    /// The section of its page.
    pub section: PageSection,
}

/// The outcome of the question for the password of a form with secrets.
pub enum PasswordAnswer {
    /// The page that asks for it.
    Asked(Response),
    /// It was entered lately, and the form is complete again. A secret that was not kept is refused by its field.
    Given(Option<InvalidField>),
}

/// The state of the password or the passkey that was entered in a session.
enum PasswordState {
    Recent,
    /// It has to be entered; the refusal is of one that was wrong.
    Needed(Option<FormRefusal>),
}

async fn password_state(
    app: &App,
    context: &PageContext,
    actor: Actor,
    fields: &SubmittedFields,
) -> Result<PasswordState, Problem> {
    let service = app.service();
    let confirmed = if fields.contains(CONFIRM_ANSWER_FIELD) {
        let (ceremony, answer) = (fields.lines(CONFIRM_CEREMONY_FIELD), fields.lines(CONFIRM_ANSWER_FIELD));
        let attempt = PasskeyAttempt { ceremony: &ceremony, answer: &answer, party: context.relying_party() };
        service.confirm_with_passkey(actor, attempt).await
    } else if fields.contains(PASSWORD_FIELD) {
        service.confirm_password(actor, &fields.lines(PASSWORD_FIELD).into()).await
    } else {
        let is_recent = service.has_recent_password(actor).await?;
        return Ok(if is_recent { PasswordState::Recent } else { PasswordState::Needed(None) });
    };
    match confirmed {
        Ok(()) => {
            context.renew_session();
            Ok(PasswordState::Recent)
        }
        Err(error) => Ok(PasswordState::Needed(Some(FormRefusal::from_error(error)?))),
    }
}

/// Checks the password or the passkey that was sent with a form, after which the session gets another cookie. Returns the
/// page that asks for one, unless one was entered lately.
pub async fn ask_password(
    app: &App,
    (principal, client): (&Principal, &ClientIdentity),
    context: &PageContext,
    form: ProtectedForm,
    fields: &SubmittedFields,
) -> Result<Option<Response>, Problem> {
    match password_state(app, context, actor(principal, client), fields).await? {
        PasswordState::Recent => Ok(None),
        PasswordState::Needed(refusal) => {
            prompt_response(app, principal, context, (form, fields.clone()), refusal).await.map(Some)
        }
    }
}

/// Works like [`ask_password`], for a form in which the values of some fields are secrets. These stay in memory until
/// the password was entered, because no page shows them again, and are in `fields` then.
pub async fn ask_password_for_secrets(
    app: &App,
    (principal, client): (&Principal, &ClientIdentity),
    context: &PageContext,
    form: ProtectedForm,
    (fields, is_secret): (&mut SubmittedFields, fn(&str) -> bool),
) -> Result<PasswordAnswer, Problem> {
    let refusal = match password_state(app, context, actor(principal, client), fields).await? {
        PasswordState::Recent => {
            return Ok(PasswordAnswer::Given(restore_secrets(app, actor(principal, client), fields)));
        }
        PasswordState::Needed(refusal) => refusal,
    };
    let mut kept = fields.clone();
    let mut secrets = kept.take(is_secret);
    secrets.retain(|(_, value)| !value.trim().is_empty());
    if !secrets.is_empty() {
        // They take the place of those that an earlier page has named.
        kept.take(is_of_withheld);
        kept.extend(secrets.iter().map(|(name, _)| (WITHHELD_NAMES.to_owned(), name.clone())).collect());
        let withheld = app.service().withhold_secrets(actor(principal, client), secrets);
        kept.extend(withheld.into_iter().map(|name| (WITHHELD.to_owned(), name)).collect());
    }
    prompt_response(app, principal, context, (form, kept), refusal).await.map(PasswordAnswer::Asked)
}

/// Puts the secrets back that a form was sent with before the password was asked for. Returns the refusal of the first
/// one if they are not kept any more.
fn restore_secrets(app: &App, actor: Actor, fields: &mut SubmittedFields) -> Option<InvalidField> {
    let lost = fields.text(WITHHELD_NAMES);
    let withheld = fields.text(WITHHELD)?;
    fields.take(is_of_withheld);
    match app.service().take_withheld_secrets(actor, &withheld) {
        Some(secrets) => {
            fields.extend(secrets);
            None
        }
        None => Some(InvalidField::new(lost.unwrap_or_default(), MessageCode::SecretNotKept)),
    }
}

fn is_of_withheld(name: &str) -> bool {
    name == WITHHELD || name == WITHHELD_NAMES
}

/// Responds with the page that asks for the password and keeps the fields.
async fn prompt_response(
    app: &App,
    principal: &Principal,
    context: &PageContext,
    (form, mut fields): (ProtectedForm, SubmittedFields),
    refusal: Option<FormRefusal>,
) -> Result<Response, Problem> {
    fields.take(|name| OWN_FIELDS.contains(&name));
    let (service, user) = (app.service(), principal.user);
    let account = service.own_account(user).await?;
    let providers = if account.has_password { Vec::new() } else { service.confirming_providers(user).await? };
    let has_passkey = !service.passkeys(user).await?.is_empty();
    let prompt = PasswordPrompt {
        action: form.action,
        section: form.section,
        name: account.name,
        has_password: account.has_password,
        providers,
        passkeys_at: context.passkeys_at().filter(|_| has_passkey).map(str::to_owned),
        fields: fields.all().to_vec(),
        error: refusal.as_ref().and_then(|refusal| refusal.field.clone()),
    };
    let head = refusal.as_ref().map_or(PageHead::from(StatusCode::FORBIDDEN), |refusal| refusal.head);
    let page = prompt.draw(refusal.and_then(|refusal| refusal.notice));
    Ok(head.respond(app, context, page))
}
