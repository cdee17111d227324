//! Copies of chats over HTTP.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use super::json::Json;
use super::path_id::PathId;
use super::problem::Problem;
use crate::domain::{Branch, Chat, ChatId, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewCopy {
    /// The reply that the copy ends with.
    turn_id: TurnId,
}

#[derive(Debug, Serialize)]
struct CopyBody {
    chat: Chat,
    branch: Branch,
    /// The copy of the reply that was named.
    turn_id: TurnId,
}

/// `POST /api/chats/{id}/copies`: 201 with a new chat of the path up to a reply.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ChatId>,
    Json(new): Json<NewCopy>,
) -> Result<Response, Problem> {
    let copied = app.service().copy_chat(viewer.0, id, new.turn_id).await?;
    let body = CopyBody { chat: copied.chat, branch: copied.branch, turn_id: copied.leaf };
    Ok((StatusCode::CREATED, Json(body)).into_response())
}
