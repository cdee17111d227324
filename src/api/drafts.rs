//! Server functions for drafts, which are stored on the server.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::JsonPost;
use crate::api::view::DraftView;
use crate::domain::ChatId;

/// Stores the draft of a chat, or of the new chat, and returns its new revision. `keeps_attachments` says that the page
/// did not change the attachments; the stored ones stay then, which another page may have changed.
#[server(prefix = "/api/page", endpoint = "save_draft", input = JsonPost, output = JsonPost)]
pub async fn save_draft(
    chat_id: Option<ChatId>,
    draft: DraftView,
    #[server(default)] keeps_attachments: bool,
) -> Result<i64, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.save_draft(viewer, chat_id, draft, keeps_attachments).await
}
