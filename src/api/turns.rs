//! Sending, stopping and trying again.

use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use serde::{Deserialize, Serialize};

use crate::api::error::ApiError;
use crate::api::view::{Started, TurnView};
use crate::domain::{ChatId, Thinking, TurnId};

/// A message to send.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SendMessage {
    /// None starts a chat.
    pub chat_id: Option<ChatId>,
    pub text: String,
    /// The turn it follows; none in an empty chat.
    pub prev_turn_id: Option<TurnId>,
    /// Only for a new chat or branch; a branch keeps its lock.
    pub provider: Option<String>,
    pub model: Option<String>,
    pub thinking: Option<Thinking>,
    /// The same id with the same message is the same message.
    pub client_request_id: String,
}

/// Stores the message and starts the reply.
#[server(SendMessageCall, input = Json)]
pub async fn send_message(message: SendMessage) -> Result<Started, ApiError> {
    crate::server::service::pages::send_message(message).await
}

/// Stops a reply; what it has said is kept. Gives the turn as it ended.
#[server]
pub async fn stop_reply(turn_id: TurnId) -> Result<TurnView, ApiError> {
    crate::server::service::pages::stop_reply(turn_id).await
}

/// Starts another reply to the same message.
#[server]
pub async fn retry_reply(turn_id: TurnId, client_request_id: String) -> Result<Started, ApiError> {
    crate::server::service::pages::retry_reply(turn_id, client_request_id).await
}

/// One turn as it is now.
#[server]
pub async fn load_turn(turn_id: TurnId) -> Result<TurnView, ApiError> {
    crate::server::service::pages::load_turn(turn_id).await
}
