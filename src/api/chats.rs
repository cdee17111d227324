//! Server functions for chats: the list, one page, polling, renaming, deleting and restoring.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::JsonPost;
use crate::api::view::{ChatListItem, ChatListView, ChatPage, FoundTurns, PathDirection, PolledChat, PolledStatus};
use crate::domain::{ChatId, TurnId, TurnStatus};

/// Returns the viewer's newest chats, and the projects that were used last.
#[server(prefix = "/api/page", endpoint = "list_chats", input = JsonPost, output = JsonPost)]
pub async fn list_chats() -> Result<ChatListView, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.chat_list(viewer, crate::server::access::utc_offset_minutes()).await
}

/// Returns the viewer's chats after this one in the list.
#[server(prefix = "/api/page", endpoint = "older_chats", input = JsonPost, output = JsonPost)]
pub async fn older_chats(behind: ChatId) -> Result<Vec<ChatListItem>, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.list_chats(viewer, Some(behind), crate::server::access::utc_offset_minutes()).await
}

/// Returns the status of a chat's last reply, or `None` if it has none.
#[server(prefix = "/api/page", endpoint = "last_status", input = JsonPost, output = JsonPost)]
pub async fn last_status(chat_id: ChatId) -> Result<Option<TurnStatus>, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.last_status(viewer, chat_id).await
}

/// Polling endpoint of every open page: the chats with running and unread replies, the number of notifications, and
/// the revisions of models, draft and build. `showing` is the chat that is on screen, whose replies are read.
#[server(prefix = "/api/page", endpoint = "glance_at_all", input = JsonPost, output = JsonPost)]
pub async fn glance_at_all(showing: Option<ChatId>) -> Result<PolledStatus, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.status(viewer, showing, crate::server::access::site_build()).await
}

/// Marks a chat whose reply ended on screen as read.
#[server(prefix = "/api/page", endpoint = "mark_read", input = JsonPost, output = JsonPost)]
pub async fn mark_read(chat_id: ChatId) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.mark_chat_read(viewer, chat_id).await;
    Ok(())
}

/// Returns the content of a chat's page: the path through the turn `at` with the turns around it or on one side of
/// it, or the path up to the reply `from`, to continue from there, else the default path. Without a chat, returns the
/// page of a new one.
#[server(prefix = "/api/page", endpoint = "load_chat", input = JsonPost, output = JsonPost)]
pub async fn load_chat(
    chat_id: Option<ChatId>,
    at: Option<TurnId>,
    from: Option<TurnId>,
    side: Option<PathDirection>,
) -> Result<ChatPage, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    let page = pages.chat(viewer, chat_id, at, from, side).await?;
    pages.record_visit(viewer, &page).await;
    Ok(match crate::server::access::recent_deletion() {
        Some(deletion) => pages.add_deletion(viewer, page, deletion).await?,
        None => page,
    })
}

/// Returns what [`load_chat`] does for a page that is open already. It is no visit: a reply that the reader has just
/// started stays their position, although the page does not show it yet.
#[server(prefix = "/api/page", endpoint = "reload_chat", input = JsonPost, output = JsonPost)]
pub async fn reload_chat(chat_id: ChatId, at: Option<TurnId>) -> Result<ChatPage, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.chat(viewer, Some(chat_id), at, None, None).await
}

/// Searches the path to `leaf`, literally and case-insensitively.
#[server(prefix = "/api/page", endpoint = "find_in_chat", input = JsonPost, output = JsonPost)]
pub async fn find_in_chat(chat_id: ChatId, leaf: TurnId, query: String) -> Result<FoundTurns, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.find_in_path(viewer, chat_id, leaf, query).await
}

/// Polling endpoint of an open chat page: reports changes by other tabs or devices. `leaf` is the end of its path,
/// `draft_rev` the revision of its draft, `queue_rev` that of its queue if it shows one.
#[server(prefix = "/api/page", endpoint = "glance_at_chat", input = JsonPost, output = JsonPost)]
pub async fn glance_at_chat(
    chat_id: ChatId,
    leaf: Option<TurnId>,
    draft_rev: i64,
    queue_rev: Option<u64>,
) -> Result<PolledChat, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.chat_glance(viewer, chat_id, leaf, (draft_rev, queue_rev)).await
}

/// Renames a chat; automatic titles no longer change it.
#[server(prefix = "/api/page", endpoint = "rename_chat", input = JsonPost, output = JsonPost)]
pub async fn rename_chat(chat_id: ChatId, title: String) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.rename_chat(viewer, chat_id, title).await
}

/// Asks the model of a chat for a title, which changes nothing by itself; returns none if that was stopped.
#[server(prefix = "/api/page", endpoint = "suggest_title", input = JsonPost, output = JsonPost)]
pub async fn suggest_title(chat_id: ChatId) -> Result<Option<String>, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.suggest_title(viewer, chat_id).await
}

/// Stops the request for a title of a chat, if one runs.
#[server(prefix = "/api/page", endpoint = "stop_title", input = JsonPost, output = JsonPost)]
pub async fn stop_title(chat_id: ChatId) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.stop_title(viewer, chat_id).await
}

/// Pins or unpins a chat, moves it into or out of the archive, and marks it as read or unread.
#[server(prefix = "/api/page", endpoint = "place_chat", input = JsonPost, output = JsonPost)]
pub async fn place_chat(
    chat_id: ChatId,
    pinned: Option<bool>,
    archived: Option<bool>,
    unread: Option<bool>,
) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.place_chat(viewer, chat_id, pinned, archived, unread).await
}

/// Deletes a chat; `restore_chat` undoes it.
#[server(prefix = "/api/page", endpoint = "delete_chat", input = JsonPost, output = JsonPost)]
pub async fn delete_chat(chat_id: ChatId) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.delete_chat(viewer, chat_id).await
}

/// Restores a deleted chat.
#[server(prefix = "/api/page", endpoint = "restore_chat", input = JsonPost, output = JsonPost)]
pub async fn restore_chat(chat_id: ChatId) -> Result<(), ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.restore_chat(viewer, chat_id).await
}
