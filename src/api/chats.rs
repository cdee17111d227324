//! The list of chats, and one chat's page.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::view::{ChatItem, ChatPage};
use crate::domain::{ChatId, TurnId};

/// The caller's chats, newest first.
#[server]
pub async fn list_chats() -> Result<Vec<ChatItem>, ApiError> {
    crate::server::service::pages::list_chats().await
}

/// Everything the page of a chat shows; without an id, the new chat's page. `at` puts that turn on the path.
#[server]
pub async fn load_chat(chat_id: Option<ChatId>, at: Option<TurnId>) -> Result<ChatPage, ApiError> {
    crate::server::service::pages::load_chat(chat_id, at).await
}

/// Gives a chat the title that a person wrote.
#[server]
pub async fn rename_chat(chat_id: ChatId, title: String) -> Result<(), ApiError> {
    crate::server::service::pages::rename_chat(chat_id, title).await
}

/// Hides a chat; it can be restored for a while.
#[server]
pub async fn delete_chat(chat_id: ChatId) -> Result<(), ApiError> {
    crate::server::service::pages::delete_chat(chat_id).await
}

/// Brings a deleted chat back.
#[server]
pub async fn restore_chat(chat_id: ChatId) -> Result<(), ApiError> {
    crate::server::service::pages::restore_chat(chat_id).await
}
