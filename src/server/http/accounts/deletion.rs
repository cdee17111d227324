//! The page on which people delete their own account, and its form.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::domain::{AccountRole, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::password_prompt::{ProtectedForm, ask_password};
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::accounts::sign_in::signed_out;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::PageSection;
use crate::server::server_pages::accounts::deletion::DeleteAccountPage;
use crate::server::server_pages::messages::delete_all;

/// Returns whether the request is of a person whose account can be deleted.
fn can_be_deleted(principal: &Principal) -> bool {
    principal.session().is_some() && principal.role != AccountRole::Owner
}

async fn read_page(
    app: &App,
    user: UserId,
    typed: String,
    typed_error: Option<String>,
) -> Result<DeleteAccountPage, Problem> {
    Ok(DeleteAccountPage { counts: app.service().count_everything(user).await?, typed, typed_error })
}

/// `GET /settings/profile/delete`.
pub async fn show(State(app): State<App>, principal: Principal, context: PageContext) -> Result<Response, Problem> {
    if !can_be_deleted(&principal) {
        return Ok(see_other(PageSection::Profile.path()));
    }
    let page = read_page(&app, principal.user, String::new(), None).await?;
    Ok(context.respond(&app, StatusCode::OK, page.draw(None)))
}

/// `POST /forms/profile/delete`.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    if !can_be_deleted(&principal) {
        return Ok(see_other(PageSection::Profile.path()));
    }
    let typed = fields.text("word").unwrap_or_default();
    if typed.to_lowercase() != delete_all::confirmation_word().to_lowercase() {
        let page = read_page(&app, principal.user, typed, Some(delete_all::word_not_typed())).await?;
        return Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page.draw(None)));
    }
    let form = ProtectedForm { action: "/forms/profile/delete", section: PageSection::Profile };
    if let Some(asked) = ask_password(&app, (&principal, &client), &context, form, &fields).await? {
        return Ok(asked);
    }
    let error = match app.service().delete_own_account(principal.user, actor(&principal, &client)).await {
        Ok(()) => return Ok(signed_out(&app, "/sign-in?done=account_deleted")),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = read_page(&app, principal.user, typed, None).await?;
    Ok(context.respond(&app, refusal.status, page.draw(refusal.notice)))
}
