//! Deleting a part of a chat, and bringing it back.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::Call;
use crate::domain::{BranchId, ChatId, Deleted, DeletionId, Restored, TurnId};

/// Deletes a turn with everything below it; `restore_deletion` undoes it.
#[server(prefix = "/api/page", endpoint = "delete_turn", input = Call, output = Call)]
pub async fn delete_turn(turn_id: TurnId) -> Result<Deleted, ApiError> {
    let (pages, viewer) = crate::server::access::pages()?;
    pages.delete_turn(viewer, turn_id).await
}

/// Deletes a branch: its first turn with everything below it.
#[server(prefix = "/api/page", endpoint = "delete_branch", input = Call, output = Call)]
pub async fn delete_branch(branch_id: BranchId) -> Result<Deleted, ApiError> {
    let (pages, viewer) = crate::server::access::pages()?;
    pages.delete_branch(viewer, branch_id).await
}

/// Deletes everything in a chat but the path to one turn and what is below it.
#[server(prefix = "/api/page", endpoint = "prune_others", input = Call, output = Call)]
pub async fn prune_others(chat_id: ChatId, keep: TurnId) -> Result<Deleted, ApiError> {
    let (pages, viewer) = crate::server::access::pages()?;
    pages.prune_others(viewer, chat_id, keep).await
}

/// Brings back exactly what a deletion took.
#[server(prefix = "/api/page", endpoint = "restore_deletion", input = Call, output = Call)]
pub async fn restore_deletion(deletion_id: DeletionId) -> Result<Restored, ApiError> {
    let (pages, viewer) = crate::server::access::pages()?;
    pages.restore_deletion(viewer, deletion_id).await
}

/// How many turns go with this one, itself included.
#[server(prefix = "/api/page", endpoint = "count_below", input = Call, output = Call)]
pub async fn count_below(turn_id: TurnId) -> Result<u64, ApiError> {
    let (pages, viewer) = crate::server::access::pages()?;
    pages.count_below(viewer, turn_id).await
}
