//! Turns over HTTP: send, edit, look, stop, try again (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::{Branch, BranchId, ChatId, Exchange, InvalidField, ModelParams, Turn, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::{AcceptedExchange, TurnRequest};

/// What a client may say when it sends a message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateTurnRequest {
    content: Option<Vec<MessageBlock>>,
    /// The short form of one text block.
    text: Option<String>,
    prev_turn_id: Option<TurnId>,
    branch_id: Option<BranchId>,
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    client_request_id: Option<String>,
}

/// A message in other words.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditTurnRequest {
    content: Option<Vec<MessageBlock>>,
    text: Option<String>,
    /// Another model for the reply; its branch is new in any case.
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    client_request_id: Option<String>,
}

/// What may differ in another reply to the same message.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RetryTurnRequest {
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    client_request_id: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ExchangeDetails {
    exchange: Exchange,
    user_turn: Turn,
    assistant_turn: Turn,
    branch: Branch,
}

/// `POST /api/chats/{id}/turns`: 201, or 200 when the same request was made before.
pub async fn start(
    State(app): State<App>,
    viewer: Viewer,
    PathId(chat_id): PathId<ChatId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateTurnRequest>,
) -> Result<Response, Problem> {
    let content = content(new.content, new.text)?;
    let request = TurnRequest {
        chat_id: Some(chat_id),
        content,
        place: PlacementRequest {
            prev_turn_id: new.prev_turn_id,
            branch_id: new.branch_id,
            provider: new.provider,
            model: new.model,
            may_branch: false,
        },
        params: new.params,
        takes_attachments: false,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
        keeps_draft: false,
    };
    Ok(respond(app.service().start_turn(viewer.0, request).await?))
}

/// `GET /api/turns/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<Turn>, Problem> {
    Ok(ApiJson(app.service().turn(viewer.0, id).await?))
}

/// `GET /api/turns/{id}/markdown`: what a message quotes stands in it with its source, also below the reply to it.
pub async fn markdown(State(app): State<App>, viewer: Viewer, PathId(id): PathId<TurnId>) -> Result<Response, Problem> {
    let text = app.service().turn_markdown(viewer.0, id).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response())
}

/// `POST /api/turns/{id}/stop`: 200 once the ending is stored; also for a turn that is over.
pub async fn stop(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<Turn>, Problem> {
    Ok(ApiJson(app.service().stop_turn(viewer.0, id).await?))
}

/// `POST /api/turns/{id}/retry`: another reply to the same message.
pub async fn retry(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    body: Option<ApiJson<RetryTurnRequest>>,
) -> Result<Response, Problem> {
    let ApiJson(retry) = body.unwrap_or(ApiJson(RetryTurnRequest::default()));
    let place = PlacementRequest { provider: retry.provider, model: retry.model, ..PlacementRequest::default() };
    let request_id = client_request_id(retry.client_request_id, &headers)?;
    Ok(respond(app.service().retry_turn(viewer.0, id, place, retry.params, request_id).await?))
}

/// `POST /api/turns/{id}/edit`: the message in other words, with a reply, beside the old one.
pub async fn edit(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    ApiJson(edit): ApiJson<EditTurnRequest>,
) -> Result<Response, Problem> {
    let request = TurnRequest {
        chat_id: None,
        // Other words alone change nothing of what is attached; blocks are all that there is.
        takes_attachments: edit.content.is_none(),
        content: content(edit.content, edit.text)?,
        place: PlacementRequest { provider: edit.provider, model: edit.model, ..PlacementRequest::default() },
        params: edit.params,
        client_request_id: client_request_id(edit.client_request_id, &headers)?,
        keeps_draft: false,
    };
    Ok(respond(app.service().edit_turn(viewer.0, id, request).await?))
}

/// A message's blocks, or its one text.
fn content(content: Option<Vec<MessageBlock>>, text: Option<String>) -> Result<Vec<MessageBlock>, InvalidField> {
    match (content, text) {
        (Some(content), None) => Ok(content),
        (None, Some(text)) => Ok(vec![MessageBlock::Text { text }]),
        (None, None) => Err(InvalidField::new("content", "give `content` (blocks) or `text`")),
        (Some(_), Some(_)) => Err(InvalidField::new("text", "give `content` or `text`, not both")),
    }
}

fn respond(started: AcceptedExchange) -> Response {
    let status = created_status(started.is_new);
    let AcceptedExchange { exchange, user_turn, assistant_turn, branch, .. } = started;
    (status, ApiJson(ExchangeDetails { exchange, user_turn, assistant_turn, branch })).into_response()
}
