//! The API of copies of chats.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::{Branch, Chat, ChatId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;

/// A copy of a path to make.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CopyChatRequest {
    /// The reply that the copy ends with.
    turn_id: TurnId,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// A new chat with the copy of a path.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ChatCopy {
    chat: Chat,
    branch: Branch,
    /// The copy of that reply.
    turn_id: TurnId,
}

/// `POST /api/chats/{id}/copies`: copies the path up to a reply into a new chat. 201, or 200 for a repeated
/// idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ChatId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CopyChatRequest>,
) -> Result<Response, Problem> {
    let name = client_request_id(new.client_request_id, &headers)?;
    let made = app.service().copy_chat(principal.user, id, new.turn_id, name.as_deref()).await?;
    let body = ChatCopy { chat: made.value.chat, branch: made.value.branch, turn_id: made.value.leaf };
    Ok((created_status(made.is_new), ApiJson(body)).into_response())
}
