//! New branches.

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;

use crate::database::rows::{storable_text, to_json, to_word};
use crate::{StoreError, Tx, turns};
use turnleaf_domain::branches::branch::{Branch, PromptPrefix};
use turnleaf_domain::tools::server_instructions::ServerInstructions;
use turnleaf_domain::{BranchId, TurnId};

sql! {
    /// Changes nothing, but locks the chat row, which serializes this with deletions in the chat.
    HOLD_CHAT = "UPDATE chats SET rev = rev WHERE id = $1 AND deleted_at IS NULL";
    INSERT = "INSERT INTO branches (id, chat_id, name, provider, model, parent_branch_id, fork_turn_id, head_turn_id, \
        origin, provider_state, label, pinned, policy, system_prompt, tools, server_instructions, created_at, \
        visited_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
}

/// Stores a new branch. Its turns, and the turn it forks from, may be inserted later in the same transaction.
///
/// # Errors
/// `Deleted` when the chat or the turn it forks from was deleted meanwhile.
pub async fn insert(tx: &mut Tx, branch: &Branch, frozen: &PromptPrefix) -> Result<(), StoreError> {
    let held = in_tx!(&mut *tx, |conn| {
        sqlx::query(HOLD_CHAT).bind(branch.chat_id.uuid()).execute(conn).await?.rows_affected()
    });
    if held == 0 {
        return Err(StoreError::Deleted("the chat"));
    }
    if let Some(fork) = branch.fork_turn_id
        && turns::is_deleted(tx, fork).await?
    {
        return Err(StoreError::Deleted("the turn that the branch leaves"));
    }
    defer_insert_first(tx, branch, frozen, None).await?;
    tx.flush().await
}

/// Works like [`insert`], as a deferred write, for the first branch of a chat that this transaction has inserted, with a
/// visit if the reader is on it.
pub async fn defer_insert_first(
    tx: &mut Tx,
    branch: &Branch,
    frozen: &PromptPrefix,
    visited_at: Option<DateTime<Utc>>,
) -> Result<(), StoreError> {
    let name = storable_text(&branch.name, "the branch's name")?;
    let system_prompt = storable_text(&frozen.system_prompt, "the system prompt")?;
    let tools = frozen.tools.as_ref().map(|tools| to_json(tools, "branches", "tools")).transpose()?;
    let instructions = instructions_column(&frozen.instructions)?;
    tx.defer(INSERT)
        .bind(branch.id.uuid())
        .bind(branch.chat_id.uuid())
        .bind(name.to_owned())
        .bind(branch.lock.provider.clone())
        .bind(branch.lock.model.clone())
        .bind(branch.parent_branch_id.map(BranchId::uuid))
        .bind(branch.fork_turn_id.map(TurnId::uuid))
        .bind(branch.head_turn_id.map(TurnId::uuid))
        .bind(to_word(branch.origin))
        .bind(Json(json!({})))
        .bind(branch.label.clone())
        .bind(branch.pinned)
        .bind(to_word(branch.policy))
        .bind(system_prompt.to_owned())
        .bind(tools)
        .bind(instructions)
        .bind(branch.created_at)
        .bind(visited_at)
        .run()
        .await
        .map(drop)
}

/// Returns the stored form of instructions; none for an empty list.
pub(super) fn instructions_column(instructions: &[ServerInstructions]) -> Result<Option<String>, StoreError> {
    let is_any = !instructions.is_empty();
    is_any.then(|| to_json(&instructions, "branches", "server_instructions")).transpose()
}
