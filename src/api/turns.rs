//! Server functions for turns: send, stop, retry, continue, edit, reload.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::JsonPost;
use crate::api::view::{ComposedMessage, PathDirection, QueueView, StartedReply, TurnView, TurnsPage};
use crate::domain::documents::attachment::Attachment;
use crate::domain::{ChatId, ModelLock, TurnId};

/// Sends a message. Its reply runs on the server, independently of the page.
#[server(SendMessageCall, prefix = "/api/page", endpoint = "send_message", input = JsonPost, output = JsonPost)]
pub async fn send_message(message: ComposedMessage) -> Result<StartedReply, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.send_message(viewer, message).await
}

/// Queues a message behind the running reply that it names, and returns the queue.
#[server(QueueMessageCall, prefix = "/api/page", endpoint = "queue_message", input = JsonPost, output = JsonPost)]
pub async fn queue_message(message: ComposedMessage) -> Result<QueueView, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.queue_message(viewer, message).await
}

/// Stops a reply; its ending is stored when this returns.
#[server(prefix = "/api/page", endpoint = "stop_reply", input = JsonPost, output = JsonPost)]
pub async fn stop_reply(turn_id: TurnId) -> Result<TurnView, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.stop_reply(viewer, turn_id).await
}

/// Retries: requests another reply to the same message, optionally from another model.
#[server(prefix = "/api/page", endpoint = "retry_reply", input = JsonPost, output = JsonPost)]
pub async fn retry_reply(
    turn_id: TurnId,
    lock: Option<ModelLock>,
    client_request_id: String,
) -> Result<StartedReply, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.retry_reply(viewer, turn_id, lock, client_request_id).await
}

/// Continues a reply that ended early: as a version that begins with its text where the model can, else with this
/// message after it.
#[server(prefix = "/api/page", endpoint = "continue_reply", input = JsonPost, output = JsonPost)]
pub async fn continue_reply(
    turn_id: TurnId,
    message: String,
    client_request_id: String,
) -> Result<StartedReply, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.continue_reply(viewer, turn_id, message, client_request_id).await
}

/// Creates an edited version of a turn. A message is sent again, with these `attachments` instead of its own; a reply
/// is stored as a version by the person.
#[server(prefix = "/api/page", endpoint = "edit_turn", input = JsonPost, output = JsonPost)]
pub async fn edit_turn(
    turn_id: TurnId,
    text: String,
    attachments: Vec<Attachment>,
    client_request_id: String,
) -> Result<StartedReply, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    let attached = attachments.into_iter().map(Into::into).collect();
    pages.edit_message(viewer, turn_id, text, attached, client_request_id).await
}

/// Returns the current state of a turn.
#[server(prefix = "/api/page", endpoint = "load_turn", input = JsonPost, output = JsonPost)]
pub async fn load_turn(turn_id: TurnId) -> Result<TurnView, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.turn(viewer, turn_id).await
}

/// Returns more turns of the path to `leaf`: those on one side of `from`, or those around it and itself.
#[server(prefix = "/api/page", endpoint = "load_turns", input = JsonPost, output = JsonPost)]
pub async fn load_turns(
    chat_id: ChatId,
    from: TurnId,
    leaf: TurnId,
    side: Option<PathDirection>,
) -> Result<TurnsPage, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.turns(viewer, chat_id, from, leaf, side).await
}
