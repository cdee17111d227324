//! The page of all accounts and its forms, for administrators.

use axum::extract::State;
use axum::response::Response;
use axum::routing::{self, MethodRouter};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{AccountRole, InvalidField, MessageCode, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::form_result::FormResult;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::used_origin::{UsedOrigin, with_public_origin};
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::name_list::position_query;
use crate::server::server_pages::accounts::users::UsersPage;
use crate::server::server_pages::messages::accounts as words;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::list_pages::ListPosition;

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsersFormResult {
    Disabled,
    Enabled,
    RoleChanged,
    SignedOut,
    InviteRevoked,
}

impl FormResult for UsersFormResult {
    fn sentence(self) -> &'static str {
        match self {
            Self::Disabled => words::user_disabled(),
            Self::Enabled => words::user_enabled(),
            Self::RoleChanged => words::role_changed(),
            Self::SignedOut => words::user_signed_out(),
            Self::InviteRevoked => words::invite_revoked(),
        }
    }
}

/// The query of the page.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UsersPageQuery {
    /// A part of the name of the listed accounts.
    #[serde(default)]
    find: String,
    /// The name behind which the page begins.
    #[serde(default)]
    after: String,
    /// The action that a form has done.
    done: Option<UsersFormResult>,
}

async fn read_page(app: &App, reader: UserId, position: ListPosition) -> Result<UsersPage, Problem> {
    let (accounts, invites) = (app.service().account_page(&position).await?, app.service().open_invites().await?);
    Ok(UsersPage { accounts, position, invites, reader, created_invite: None, now: app.now() })
}

/// `GET /settings/users`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<UsersPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = read_page(&app, principal.user, ListPosition::new(&query.find, &query.after)).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(query.done.map(UsersFormResult::notice))))
}

/// Returns to the page after an action, or shows why it was refused.
async fn finish(form: &AccountForm, done: &str, result: Result<(), AccountError>) -> Result<Response, EarlyResponse> {
    let position = form.list_position();
    let error = match result {
        Ok(()) => return Ok(see_other(&format!("/settings/users?done={done}{}", position_query(&position)))),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    // The fields of these forms are chosen, not typed.
    if let Some(invalid) = refusal.field {
        return Err(invalid.into());
    }
    let page = read_page(&form.app, form.user(), position).await?;
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}

fn submitted_role(fields: &SubmittedFields) -> Result<AccountRole, InvalidField> {
    let role = fields.text("role").and_then(|word| AccountRole::parse_given(&word));
    role.ok_or_else(|| InvalidField::new("role", MessageCode::IsUnknown))
}

/// `POST /forms/users/disable`.
pub async fn disable(form: AccountForm) -> Result<Response, EarlyResponse> {
    let account = form.fields.subject_id("user_id")?;
    form.require_password("/forms/users/disable", PageSection::Users).await?;
    let done = form.service().disable_account(form.actor(), account).await;
    finish(&form, "disabled", done).await
}

/// `POST /forms/users/enable`.
pub async fn enable(form: AccountForm) -> Result<Response, EarlyResponse> {
    let account = form.fields.subject_id("user_id")?;
    form.require_password("/forms/users/enable", PageSection::Users).await?;
    let done = form.service().enable_account(form.actor(), account).await;
    finish(&form, "enabled", done).await
}

/// `POST /forms/users/role`.
pub async fn change_role(form: AccountForm) -> Result<Response, EarlyResponse> {
    let (account, role) = (form.fields.subject_id("user_id")?, submitted_role(&form.fields)?);
    form.require_password("/forms/users/role", PageSection::Users).await?;
    let done = form.service().change_role(form.actor(), account, role).await;
    finish(&form, "role_changed", done).await
}

/// `POST /forms/users/sign-out`.
pub async fn sign_out(form: AccountForm) -> Result<Response, EarlyResponse> {
    let account = form.fields.subject_id("user_id")?;
    let done = form.service().sign_out_account(form.actor(), account).await;
    finish(&form, "signed_out", done).await
}

/// `POST /forms/users/revoke-invite`.
pub async fn revoke_invite(form: AccountForm) -> Result<Response, EarlyResponse> {
    let invite = form.fields.subject_id("invite_id")?;
    let done = form.service().revoke_invite(form.actor(), invite).await;
    finish(&form, "invite_revoked", done).await
}

/// Returns the route of the form that makes an invitation.
pub fn invite_route(public_origin: Option<&str>) -> MethodRouter<App> {
    with_public_origin(routing::post(invite), public_origin)
}

/// `POST /forms/users/invite`: shows the address of the invitation once.
async fn invite(UsedOrigin { origin, .. }: UsedOrigin, form: AccountForm) -> Result<Response, EarlyResponse> {
    let role = submitted_role(&form.fields)?;
    form.require_password("/forms/users/invite", PageSection::Users).await?;
    let code = match form.service().create_invite(form.actor(), role).await {
        Ok(code) => code,
        Err(error) => return finish(&form, "", Err(error)).await,
    };
    let mut page = read_page(&form.app, form.user(), ListPosition::default()).await?;
    page.created_invite = Some(format!("{origin}/invite/{}", code.expose()));
    Ok(form.respond(StatusCode::OK, page.draw(None)))
}
