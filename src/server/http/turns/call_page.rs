//! The page of a tool call that waits for an answer.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use crate::domain::{BlockId, InvalidField, TurnId, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathIds;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields};
use crate::server::http::turns::forms::redirect_to_turn;
use crate::server::server_pages::tool_call::ToolCallPage;
use turnleaf_service::ServiceError;

/// `GET /turns/{id}/calls/{block}`. Redirects to the reply when the call has its answer.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathIds(turn, block): PathIds<TurnId, BlockId>,
    context: PageContext,
) -> Result<Response, Problem> {
    match app.service().call_question(principal.user, turn, block).await {
        Ok(question) => {
            let page = ToolCallPage { question, typed: None, error: None };
            Ok(context.respond(&app, StatusCode::OK, page.draw()))
        }
        Err(ServiceError::Conflict { .. }) => {
            let turn = app.service().turn(principal.user, turn).await?;
            Ok(redirect_to_turn(turn.chat_id, turn.id))
        }
        Err(error) => Err(error.into()),
    }
}

/// Shows the page again with what was typed.
pub(super) async fn refuse(
    app: &App,
    viewer: UserId,
    context: PageContext,
    (turn, block): (TurnId, BlockId),
    (fields, error): (&SubmittedFields, InvalidField),
) -> Result<Response, Problem> {
    let question = app.service().call_question(viewer, turn, block).await?;
    let typed = Some((fields.lines("arguments"), fields.lines("reason")));
    let page = ToolCallPage { question, typed, error: Some(error) };
    Ok(context.respond(app, StatusCode::UNPROCESSABLE_ENTITY, page.draw()))
}
