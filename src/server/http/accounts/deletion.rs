//! The page on which people delete their own account, and its form.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::domain::{AccountRole, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::account_form::AccountForm;
use crate::server::http::accounts::form_refusal::FormRefusal;
use crate::server::http::accounts::sign_in::signed_out;
use crate::server::http::response::early_response::EarlyResponse;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, see_other};
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
pub async fn delete(form: AccountForm) -> Result<Response, EarlyResponse> {
    if !can_be_deleted(&form.principal) {
        return Ok(see_other(PageSection::Profile.path()));
    }
    let typed = form.text("word");
    if typed.to_lowercase() != delete_all::confirmation_word().to_lowercase() {
        let page = read_page(&form.app, form.user(), typed, Some(delete_all::word_not_typed())).await?;
        return Ok(form.respond(StatusCode::UNPROCESSABLE_ENTITY, page.draw(None)));
    }
    form.require_password("/forms/profile/delete", PageSection::Profile).await?;
    let error = match form.service().delete_own_account(form.user(), form.actor()).await {
        Ok(()) => return Ok(signed_out(&form.app, "/sign-in?done=account_deleted")),
        Err(error) => error,
    };
    let refusal = FormRefusal::from_error(error)?;
    let page = read_page(&form.app, form.user(), typed, None).await?;
    Ok(form.respond(refusal.head, page.draw(refusal.notice)))
}
