//! Server functions for deleting and restoring parts of a chat.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::JsonPost;
use crate::domain::{BranchId, ChatId, DeletionId, DeletionSummary, RestoreSummary, TurnId};

/// Deletes a turn with its descendants; `restore_deletion` undoes it.
#[server(prefix = "/api/page", endpoint = "delete_turn", input = JsonPost, output = JsonPost)]
pub async fn delete_turn(turn_id: TurnId) -> Result<DeletionSummary, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.delete_turn(viewer, turn_id).await
}

/// Deletes a branch: its first turn with all descendants.
#[server(prefix = "/api/page", endpoint = "delete_branch", input = JsonPost, output = JsonPost)]
pub async fn delete_branch(branch_id: BranchId) -> Result<DeletionSummary, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.delete_branch(viewer, branch_id).await
}

/// Deletes everything in a chat except the path to one turn and its descendants.
#[server(prefix = "/api/page", endpoint = "prune_others", input = JsonPost, output = JsonPost)]
pub async fn prune_others(chat_id: ChatId, keep: TurnId) -> Result<DeletionSummary, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.prune_chat(viewer, chat_id, keep).await
}

/// Restores exactly what a deletion removed.
#[server(prefix = "/api/page", endpoint = "restore_deletion", input = JsonPost, output = JsonPost)]
pub async fn restore_deletion(deletion_id: DeletionId) -> Result<RestoreSummary, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.restore_deletion(viewer, deletion_id).await
}

/// Returns the number of turns that would be deleted with this one, itself included.
#[server(prefix = "/api/page", endpoint = "count_below", input = JsonPost, output = JsonPost)]
pub async fn count_below(turn_id: TurnId) -> Result<u64, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.count_below(viewer, turn_id).await
}
