//! Suggested titles: the API, the form that asks for one, and the page of a suggestion.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::domain::{ChatId, TitleRequestId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::turns::generations::bytes_as_file;
use crate::server::server_pages::title_suggestion::TitleSuggestionPage;
use turnleaf_service::chats::titles::TitleSuggestion;

/// `POST /api/chats/{id}/title-suggestions`: asks for a title. 201 once the request has ended, also if it failed; 200 for
/// a repeated idempotency key, and while an earlier request of the chat runs.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let request_id = client_request_id(None, &headers)?;
    let made = app.service().suggest_title(principal.user, id, request_id.as_deref()).await?;
    Ok((created_status(made.is_new), ApiJson(made.value)).into_response())
}

/// `POST /api/chats/{id}/title-suggestions/stop`: stops the request for a title that runs, if one does. 204 once its end
/// is stored.
pub async fn stop(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
) -> Result<StatusCode, Problem> {
    app.service().stop_title_suggestion(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/title-suggestions/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TitleRequestId>,
) -> Result<ApiJson<TitleSuggestion>, Problem> {
    Ok(ApiJson(app.service().title_suggestion(principal.user, id).await?))
}

/// `GET /api/title-suggestions/{id}/request`: returns the body as it was sent.
pub async fn request_body(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TitleRequestId>,
) -> Result<Response, Problem> {
    Ok(bytes_as_file(app.service().title_request_body(principal.user, id).await?, "request.bin"))
}

/// `GET /api/title-suggestions/{id}/raw`: returns the response as the provider sent it.
pub async fn raw_response(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TitleRequestId>,
) -> Result<Response, Problem> {
    Ok(bytes_as_file(app.service().title_response(principal.user, id).await?, "response.bin"))
}

/// `POST /forms/suggest-title`: asks for a title, and shows it in the form that renames the chat.
pub async fn suggest_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let made = app.service().suggest_title(principal.user, fields.subject_id("chat_id")?, None).await?;
    Ok(see_other(&format!("/title-suggestions/{}", made.value.id)))
}

/// `POST /forms/stop-title`: stops the request for a title of a chat, and shows what became of it.
pub async fn stop_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat: ChatId = fields.subject_id("chat_id")?;
    let stopped = app.service().stop_title_suggestion(principal.user, chat).await?;
    let shown = stopped.map_or_else(|| format!("/c/{chat}/settings"), |id| format!("/title-suggestions/{id}"));
    Ok(see_other(&shown))
}

/// `GET /title-suggestions/{id}`.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TitleRequestId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let details = app.service().title_request_details(principal.user, id).await?;
    Ok(context.respond(&app, StatusCode::OK, TitleSuggestionPage { details: &details }.draw()))
}
