//! What is written but not sent.

use leptos::prelude::*;
use leptos::server_fn::codec::Json;

use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::domain::ChatId;

/// Keeps the draft of a chat, or of the new chat; gives its new revision.
#[server(input = Json)]
pub async fn save_draft(chat_id: Option<ChatId>, draft: DraftView) -> Result<i64, ApiError> {
    crate::server::service::pages::save_draft(chat_id, draft).await
}
