//! Server functions for the tree map: its rows, the card of one turn, and changes of branches.

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::json::JsonPost;
use crate::api::view::tree::{TreeCard, TreePage, TreePageQuery};
use crate::domain::{Branch, BranchId, ChatId, TurnId};

/// Returns a part of a chat's tree.
#[server(prefix = "/api/page", endpoint = "load_tree", input = JsonPost, output = JsonPost)]
pub async fn load_tree(ask: TreePageQuery) -> Result<TreePage, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.tree(viewer, ask).await
}

/// Returns the card of the turn `on`; `at` is a turn of the current path.
#[server(prefix = "/api/page", endpoint = "load_tree_card", input = JsonPost, output = JsonPost)]
pub async fn load_tree_card(chat_id: ChatId, at: Option<TurnId>, on: TurnId) -> Result<TreeCard, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.tree_card(viewer, chat_id, at, on).await
}

/// Renames, labels or pins a branch, as far as given. An empty label removes it.
#[server(prefix = "/api/page", endpoint = "change_branch", input = JsonPost, output = JsonPost)]
pub async fn change_branch(
    branch_id: BranchId,
    name: Option<String>,
    label: Option<String>,
    pinned: Option<bool>,
) -> Result<Branch, ApiError> {
    let (pages, viewer) = crate::server::access::page_service_and_viewer()?;
    pages.change_branch(viewer, branch_id, name, label, pinned).await
}
