//! Turns over HTTP: send, edit, look, stop, try again (contract.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::{Branch, BranchId, ChatId, Exchange, Invalid, Params, Turn, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, made_status};
use crate::server::http::request::json::Json;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::turns::{StartTurn, Started};

/// What a client may say when it sends a message.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTurn {
    content: Option<Vec<MessageBlock>>,
    /// The short form of one text block.
    text: Option<String>,
    prev_turn_id: Option<TurnId>,
    branch_id: Option<BranchId>,
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: Params,
    client_request_id: Option<String>,
}

/// A message in other words.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    content: Option<Vec<MessageBlock>>,
    text: Option<String>,
    /// Another model for the reply; its branch is new in any case.
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: Params,
    client_request_id: Option<String>,
}

/// What may differ in another reply to the same message.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    provider: Option<String>,
    model: Option<String>,
    #[serde(default)]
    params: Params,
    client_request_id: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct StartedBody {
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
    Json(new): Json<NewTurn>,
) -> Result<Response, Problem> {
    let content = content(new.content, new.text)?;
    let request = StartTurn {
        chat_id: Some(chat_id),
        content,
        place: Wanted {
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
pub async fn show(State(app): State<App>, viewer: Viewer, PathId(id): PathId<TurnId>) -> Result<Json<Turn>, Problem> {
    Ok(Json(app.service().turn(viewer.0, id).await?))
}

/// `GET /api/turns/{id}/markdown`: what a message quotes stands in it with its source, also below the reply to it.
pub async fn markdown(State(app): State<App>, viewer: Viewer, PathId(id): PathId<TurnId>) -> Result<Response, Problem> {
    let text = app.service().markdown_of(viewer.0, id).await?;
    Ok(([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text).into_response())
}

/// `POST /api/turns/{id}/stop`: 200 once the ending is stored; also for a turn that is over.
pub async fn stop(State(app): State<App>, viewer: Viewer, PathId(id): PathId<TurnId>) -> Result<Json<Turn>, Problem> {
    Ok(Json(app.service().stop_turn(viewer.0, id).await?))
}

/// `POST /api/turns/{id}/retry`: another reply to the same message.
pub async fn retry(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    body: Option<Json<Retry>>,
) -> Result<Response, Problem> {
    let Json(retry) = body.unwrap_or(Json(Retry::default()));
    let place = Wanted { provider: retry.provider, model: retry.model, ..Wanted::default() };
    let request_id = client_request_id(retry.client_request_id, &headers)?;
    Ok(respond(app.service().retry_turn(viewer.0, id, place, retry.params, request_id).await?))
}

/// `POST /api/turns/{id}/edit`: the message in other words, with a reply, beside the old one.
pub async fn edit(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
    headers: HeaderMap,
    Json(edit): Json<Edit>,
) -> Result<Response, Problem> {
    let request = StartTurn {
        chat_id: None,
        // Other words alone change nothing of what is attached; blocks are all that there is.
        takes_attachments: edit.content.is_none(),
        content: content(edit.content, edit.text)?,
        place: Wanted { provider: edit.provider, model: edit.model, ..Wanted::default() },
        params: edit.params,
        client_request_id: client_request_id(edit.client_request_id, &headers)?,
        keeps_draft: false,
    };
    Ok(respond(app.service().edit_turn(viewer.0, id, request).await?))
}

/// A message's blocks, or its one text.
fn content(content: Option<Vec<MessageBlock>>, text: Option<String>) -> Result<Vec<MessageBlock>, Invalid> {
    match (content, text) {
        (Some(content), None) => Ok(content),
        (None, Some(text)) => Ok(vec![MessageBlock::Text { text }]),
        (None, None) => Err(Invalid::new("content", "give `content` (blocks) or `text`")),
        (Some(_), Some(_)) => Err(Invalid::new("text", "give `content` or `text`, not both")),
    }
}

fn respond(started: Started) -> Response {
    let status = made_status(started.is_new);
    let Started { exchange, user_turn, assistant_turn, branch, .. } = started;
    (status, Json(StartedBody { exchange, user_turn, assistant_turn, branch })).into_response()
}
