//! Queued messages: the API, and the form that the page has for each of them.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, InvalidField, MessageCode, ModelParams, QueuedMessageId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::SubmittedFields;
use crate::server::http::turns::api::{ExchangeDetails, content_of};
use crate::server::http::turns::forms::redirect_to_turn;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::turns::queue::{QueuedMessage, QueuedMessageChange};

/// A message to queue.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueMessageRequest {
    content: Option<Vec<MessageBlock>>,
    /// Short form of `content` with one text block.
    text: Option<String>,
    /// Provider of the reply. With another than the branch's, the message begins a branch when it is sent.
    provider: Option<String>,
    /// Model of the reply, under the same rule.
    model: Option<String>,
    #[serde(default)]
    params: ModelParams,
    /// Idempotency key: repeating the request with it queues nothing.
    client_request_id: Option<String>,
}

/// Changes of a queued message. Omitted fields stay unchanged.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangeQueuedMessageRequest {
    /// Replaces the whole content.
    content: Option<Vec<MessageBlock>>,
    /// Replaces the text and keeps the attachments.
    text: Option<String>,
    /// The new place in the queue, from 1; a place behind the end is the end.
    #[schema(minimum = 1)]
    position: Option<u32>,
}

/// `POST /api/turns/{id}/queue`: queues a message. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    PathId(after): PathId<TurnId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<QueueMessageRequest>,
) -> Result<Response, Problem> {
    let request = TurnRequest {
        content: content_of(new.content, new.text)?,
        place: PlacementRequest {
            prev_turn_id: Some(after),
            provider: new.provider,
            model: new.model,
            may_branch: true,
            ..PlacementRequest::default()
        },
        params: new.params,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
        keeps_draft: true,
        ..TurnRequest::default()
    };
    let queued = app.service().queue_message(principal.user, request).await?;
    Ok((created_status(queued.is_new), ApiJson(queued.value)).into_response())
}

/// `GET /api/turns/{id}/queue`.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    PathId(after): PathId<TurnId>,
) -> Result<ApiJson<Vec<QueuedMessage>>, Problem> {
    Ok(ApiJson(app.service().queued_messages(principal.user, after).await?))
}

/// `GET /api/queued-messages/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<QueuedMessageId>,
) -> Result<ApiJson<QueuedMessage>, Problem> {
    Ok(ApiJson(app.service().queued_message(principal.user, id).await?))
}

/// `PATCH /api/queued-messages/{id}`: edits a message, or moves it.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<QueuedMessageId>,
    ApiJson(change): ApiJson<ChangeQueuedMessageRequest>,
) -> Result<ApiJson<QueuedMessage>, Problem> {
    if change.content.is_some() && change.text.is_some() {
        let reason = MessageCode::BothSet.with("one", "content").with("other", "text");
        return Err(Problem::unprocessable("invalid", InvalidField::new("text", reason)));
    }
    let change = QueuedMessageChange { content: change.content, text: change.text, position: change.position };
    Ok(ApiJson(app.service().change_queued_message(principal.user, id, change).await?))
}

/// `DELETE /api/queued-messages/{id}`: cancels a message that was not sent.
pub async fn cancel(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<QueuedMessageId>,
) -> Result<StatusCode, Problem> {
    app.service().cancel_queued_message(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/queued-messages/{id}/send`: sends a message now, before those in front of it.
pub async fn send(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<QueuedMessageId>,
) -> Result<ApiJson<ExchangeDetails>, Problem> {
    Ok(ApiJson(app.service().send_queued_message(principal.user, id).await?.into()))
}

/// `POST /forms/queue`: the buttons of a queued message, named `do`.
pub async fn act(State(app): State<App>, principal: Principal, fields: SubmittedFields) -> Result<Response, Problem> {
    let id: QueuedMessageId = fields.subject_id("id")?;
    let service = app.service();
    let before = service.queued_message(principal.user, id).await?;
    let place = before.position.unwrap_or(1);
    let moved = |position| QueuedMessageChange { position: Some(position), ..QueuedMessageChange::default() };
    match fields.text("do").as_deref() {
        Some("save") => {
            let change = QueuedMessageChange { text: Some(fields.lines("text")), ..QueuedMessageChange::default() };
            service.change_queued_message(principal.user, id, change).await?;
        }
        Some("up") => {
            drop(service.change_queued_message(principal.user, id, moved(place.saturating_sub(1).max(1))).await?)
        }
        Some("down") => drop(service.change_queued_message(principal.user, id, moved(place + 1)).await?),
        Some("cancel") => service.cancel_queued_message(principal.user, id).await?,
        Some("send") => {
            let started = service.send_queued_message(principal.user, id).await?;
            return Ok(done(&fields, started.chat.id, started.assistant_turn.id));
        }
        _ => return Err(InvalidField::new("do", MessageCode::IsUnknown).into()),
    }
    Ok(done(&fields, before.chat_id, before.after_turn_id))
}

/// Returns 204 to a page that reads its queue itself (`stay`), and redirects any other to the path.
fn done(fields: &SubmittedFields, chat: ChatId, turn: TurnId) -> Response {
    match fields.is_checked("stay") {
        true => StatusCode::NO_CONTENT.into_response(),
        false => redirect_to_turn(chat, turn),
    }
}
