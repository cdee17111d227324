//! The page of all accounts and its forms, for administrators.

use axum::extract::State;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{AccountRole, InvalidField, MessageCode, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::used_origin::{UsedOrigin, with_public_origin};
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::accounts::users::UsersPage;
use crate::server::server_pages::messages::accounts as words;
use crate::server::server_pages::{ActionNotice, PageSection};
use turnleaf_service::accounts::account_error::AccountError;

/// The query of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsersPageQuery {
    /// The action that a form has done.
    done: Option<UsersFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UsersFormResult {
    Disabled,
    Enabled,
    RoleChanged,
    SignedOut,
    InviteRevoked,
}

impl UsersFormResult {
    fn notice(self) -> ActionNotice {
        let sentence = match self {
            Self::Disabled => words::user_disabled(),
            Self::Enabled => words::user_enabled(),
            Self::RoleChanged => words::role_changed(),
            Self::SignedOut => words::user_signed_out(),
            Self::InviteRevoked => words::invite_revoked(),
        };
        ActionNotice::Done(sentence.to_owned())
    }
}

async fn read_page(app: &App, reader: UserId) -> Result<UsersPage, Problem> {
    let (accounts, invites) = (app.service().list_accounts().await?, app.service().open_invites().await?);
    Ok(UsersPage { accounts, invites, reader, created_invite: None, now: app.now() })
}

/// `GET /settings/users`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<UsersPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = read_page(&app, principal.user).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(UsersFormResult::notice))))
}

/// Returns to the page after an action, or shows why it was refused.
async fn finish(
    app: &App,
    principal: Principal,
    context: PageContext,
    (done, result): (&str, Result<(), AccountError>),
) -> Result<Response, Problem> {
    let error = match result {
        Ok(()) => return Ok(see_other(&format!("/settings/users?done={done}"))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    // The fields of these forms are chosen, not typed.
    if let Some(invalid) = refusal.field {
        return Err(invalid.into());
    }
    let page = read_page(app, principal.user).await?;
    Ok(context.respond(app, refusal.status, page.draw(refusal.notice)))
}

fn submitted_role(fields: &SubmittedFields) -> Result<AccountRole, InvalidField> {
    let role = fields.text("role").and_then(|word| AccountRole::parse_given(&word));
    role.ok_or_else(|| InvalidField::new("role", MessageCode::IsUnknown))
}

/// `POST /forms/users/disable`.
pub async fn disable(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let account = fields.subject_id("user_id")?;
    let form = ProtectedForm { action: "/forms/users/disable", section: PageSection::Users };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let done = app.service().disable_account(actor(&principal, &client), account).await;
    finish(&app, principal, context, ("disabled", done)).await
}

/// `POST /forms/users/enable`.
pub async fn enable(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let account = fields.subject_id("user_id")?;
    let form = ProtectedForm { action: "/forms/users/enable", section: PageSection::Users };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let done = app.service().enable_account(actor(&principal, &client), account).await;
    finish(&app, principal, context, ("enabled", done)).await
}

/// `POST /forms/users/role`.
pub async fn change_role(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let (account, role) = (fields.subject_id("user_id")?, submitted_role(&fields)?);
    let form = ProtectedForm { action: "/forms/users/role", section: PageSection::Users };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let done = app.service().change_role(actor(&principal, &client), account, role).await;
    finish(&app, principal, context, ("role_changed", done)).await
}

/// `POST /forms/users/sign-out`.
pub async fn sign_out(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let account = fields.subject_id("user_id")?;
    let done = app.service().sign_out_account(actor(&principal, &client), account).await;
    finish(&app, principal, context, ("signed_out", done)).await
}

/// `POST /forms/users/revoke-invite`.
pub async fn revoke_invite(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let invite = fields.subject_id("invite_id")?;
    let done = app.service().revoke_invite(actor(&principal, &client), invite).await;
    finish(&app, principal, context, ("invite_revoked", done)).await
}

/// Returns the route of the form that makes an invitation.
pub fn invite_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::post(invite), public_origin)
}

/// `POST /forms/users/invite`: shows the address of the invitation once.
async fn invite(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    UsedOrigin { origin, .. }: UsedOrigin,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let role = submitted_role(&fields)?;
    let form = ProtectedForm { action: "/forms/users/invite", section: PageSection::Users };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let code = match app.service().create_invite(actor(&principal, &client), role).await {
        Ok(code) => code,
        Err(error) => return finish(&app, principal, context, ("", Err(error))).await,
    };
    let mut page = read_page(&app, principal.user).await?;
    page.created_invite = Some(format!("{origin}/invite/{}", code.expose()));
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}
