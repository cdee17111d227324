//! Branches: lineages with their lock. The database itself refuses to change a lock (`docs/reference/domain.md I3`).

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use sqlx::types::Json;
use uuid::Uuid;

use crate::branches::insertion::instructions_column;
use crate::database::readable::{self, Damage, Lossy, Readable, RowReader, SalvagedText};
use crate::database::rows::{parse_word, storable_text, to_json, to_word};
use crate::{ChangedRows, Db, StoreError, Tx};
use turnleaf_domain::branches::branch::{Branch, ContextPolicy, ModelLock, PromptPrefix};
use turnleaf_domain::providers::repair::ProviderState;
use turnleaf_domain::tools::server_instructions::ServerInstructions;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_domain::{BranchId, ChatId, TurnId, UserId};

sql! {
    MODELS = "SELECT DISTINCT b.model FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND c.deleted_at IS NULL AND b.deleted_at IS NULL ORDER BY b.model LIMIT $2";
    FIND = "SELECT b.id, b.chat_id, b.name, b.provider, b.model, b.parent_branch_id, b.fork_turn_id, b.head_turn_id, \
        b.origin, b.label, b.pinned, b.policy, b.created_at FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND b.id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL";
    LIST = "SELECT b.id, b.chat_id, b.name, b.provider, b.model, b.parent_branch_id, b.fork_turn_id, b.head_turn_id, \
        b.origin, b.label, b.pinned, b.policy, b.created_at FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND b.chat_id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY b.created_at, b.id";
    COUNT = "SELECT COUNT(*) FROM branches WHERE chat_id = $1 AND deleted_at IS NULL";
    NAMES_LIKE = "SELECT name FROM branches WHERE chat_id = $1 AND deleted_at IS NULL \
        AND SUBSTR(name, 1, LENGTH(CAST($2 AS TEXT))) = $2";
    /// The branches from a branch up to the root branch.
    OF_PATH = "WITH RECURSIVE up (id) AS ( \
            SELECT b.id FROM branches b JOIN chats c ON c.id = b.chat_id WHERE c.owner_id = $1 AND b.id = $2 \
            UNION SELECT f.branch_id FROM up JOIN branches b ON b.id = up.id JOIN turns f ON f.id = b.fork_turn_id) \
        SELECT b.id, b.provider, b.model, b.policy FROM up JOIN branches b ON b.id = up.id";
    OF_RUN = "SELECT system_prompt, tools, server_instructions, provider_state FROM branches WHERE id = $1";
    TOOL_COUNT = "SELECT b.tool_count FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND b.id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL";
    SET_PROVIDER_STATE = "UPDATE branches SET provider_state = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_PROMPT_OF_EMPTY = "UPDATE branches SET system_prompt = $2 \
        WHERE chat_id = $1 AND head_turn_id IS NULL AND deleted_at IS NULL";
    SET_TOOLS = "UPDATE branches SET tools = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_INSTRUCTIONS = "UPDATE branches SET server_instructions = $2 WHERE id = $1 AND deleted_at IS NULL";
    EMPTY_OF_CHAT = "SELECT id, provider, model FROM branches \
        WHERE chat_id = $1 AND head_turn_id IS NULL AND deleted_at IS NULL ORDER BY id";
    RENAME = "UPDATE branches SET name = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_LABEL = "UPDATE branches SET label = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_PINNED = "UPDATE branches SET pinned = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_POLICY = "UPDATE branches SET policy = $2 WHERE id = $1 AND deleted_at IS NULL";
    VISIT = "UPDATE branches SET visited_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    /// $4 is the time of the visit if the reader moves along.
    SET_HEAD = "UPDATE branches SET head_turn_id = $3, visited_at = COALESCE($4, visited_at) \
        WHERE id = $1 AND head_turn_id IS NOT DISTINCT FROM $2 AND deleted_at IS NULL";
}

/// A branch that holds a part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBranch {
    pub lock: ModelLock,
    pub policy: ContextPolicy,
}

struct BranchRow {
    id: Uuid,
    chat_id: Uuid,
    name: SalvagedText,
    provider: String,
    model: String,
    parent_branch_id: Option<Uuid>,
    fork_turn_id: Option<Uuid>,
    head_turn_id: Option<Uuid>,
    origin: String,
    label: Option<SalvagedText>,
    pinned: bool,
    policy: String,
    created_at: Lossy<DateTime<Utc>>,
}
from_row!(BranchRow {
    id,
    chat_id,
    name,
    provider,
    model,
    parent_branch_id,
    fork_turn_id,
    head_turn_id,
    origin,
    label,
    pinned,
    policy,
    created_at,
});

const TABLE: &str = "branches";
const PROVIDER_STATE: &str = "provider_state";
const INSTRUCTIONS: &str = "server_instructions";

impl BranchRow {
    /// Returns the branch, unless a required value is unreadable. Other unreadable values are recorded in `damages`.
    fn into_branch(self, damages: &mut Vec<Damage>) -> Result<Branch, StoreError> {
        let mut row = RowReader { table: TABLE, id: self.id, damages };
        Ok(Branch {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            name: row.text("name", self.name),
            lock: ModelLock { provider: self.provider, model: self.model },
            parent_branch_id: self.parent_branch_id.map(BranchId::from),
            fork_turn_id: self.fork_turn_id.map(TurnId::from),
            head_turn_id: self.head_turn_id.map(TurnId::from),
            origin: parse_word(self.origin, "branches", "origin", self.id)?,
            label: self.label.map(|label| row.text("label", label)),
            pinned: self.pinned,
            policy: parse_word(self.policy, "branches", "policy", self.id)?,
            created_at: row.moment("created_at", self.created_at),
        })
    }
}

/// Returns a branch in a chat of this owner.
pub async fn find(db: &Db, owner: UserId, branch: BranchId) -> Result<Option<Branch>, StoreError> {
    let row: Option<BranchRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(branch.uuid()).fetch_optional(pool).await?);
    let mut damages = Vec::new();
    let found = row.map(|row| row.into_branch(&mut damages)).transpose();
    readable::log_damages(&damages);
    found
}

/// Returns the branches of a chat, oldest first.
pub async fn list(db: &Db, owner: UserId, chat: ChatId) -> Result<Vec<Branch>, StoreError> {
    let mut damages = Vec::new();
    let listed = list_with_damages(db, owner, chat, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(listed)
}

/// Works like [`list`], and records unreadable branches, which are missing in the list, and unreadable values of
/// others.
pub async fn list_with_damages(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<Vec<Branch>, StoreError> {
    let rows: Vec<Readable<BranchRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    let mut listed = Vec::with_capacity(rows.len());
    for row in readable::keep_readable_with_damages(rows, TABLE, format_args!("of chat {chat}"), damages) {
        let branch = row.into_branch(damages);
        listed.extend(readable::ok_or_note(branch, damages)?);
    }
    Ok(listed)
}

/// Returns the number of branches of a chat that the caller has locked, to enforce its limit.
pub async fn count(tx: &mut Tx, chat: ChatId) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(chat.uuid()).fetch_one(conn).await?))
}

/// Returns the names of a chat's branches that start with this one. The caller has locked the chat.
pub async fn names_like(tx: &mut Tx, chat: ChatId, name: &str) -> Result<HashSet<String>, StoreError> {
    let name = storable_text(name, "the branch's name")?;
    let names: Vec<String> =
        in_tx!(tx, |conn| sqlx::query_scalar(NAMES_LIKE).bind(chat.uuid()).bind(name).fetch_all(conn).await?);
    Ok(names.into_iter().collect())
}

/// Returns the branches that the path to the end of `branch` runs along, with what a run needs of them.
pub async fn list_on_path(
    db: &Db,
    owner: UserId,
    branch: BranchId,
) -> Result<HashMap<BranchId, PathBranch>, StoreError> {
    let rows: Vec<(Uuid, String, String, String)> =
        with_pool!(db, |pool| sqlx::query_as(OF_PATH).bind(owner.uuid()).bind(branch.uuid()).fetch_all(pool).await?);
    let on_path = |(id, provider, model, policy): (Uuid, String, String, String)| {
        let policy = parse_word(policy, "branches", "policy", id)?;
        Ok((id.into(), PathBranch { lock: ModelLock { provider, model }, policy }))
    };
    rows.into_iter().map(on_path).collect()
}

/// The prompt, the tools, the instructions of tool servers and the provider state of a branch.
type FrozenRow = (SalvagedText, Lossy<Option<String>>, Lossy<Option<String>>, Lossy<Json<ProviderState>>);

/// Returns the frozen prompt prefix of a branch and its provider state. For a run, which got the branch from its
/// owner's turn.
pub async fn frozen_and_provider_state(
    db: &Db,
    branch: BranchId,
) -> Result<Option<(PromptPrefix, ProviderState)>, StoreError> {
    let mut damages = Vec::new();
    let found = read_frozen(db, branch, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(found)
}

async fn read_frozen(
    db: &Db,
    branch: BranchId,
    damages: &mut Vec<Damage>,
) -> Result<Option<(PromptPrefix, ProviderState)>, StoreError> {
    let row: Option<FrozenRow> =
        with_pool!(db, |pool| sqlx::query_as(OF_RUN).bind(branch.uuid()).fetch_optional(pool).await?);
    let Some((system_prompt, tools, instructions, state)) = row else { return Ok(None) };
    let mut row = RowReader { table: TABLE, id: branch.uuid(), damages };
    // A branch with an unreadable tool list offers no tools; `None` would offer the current ones.
    let tools = match row.value("tools", tools) {
        Some(None) => None,
        Some(Some(text)) => Some(row.json("tools", &text).unwrap_or_default()),
        None => Some(Vec::new()),
    };
    let instructions = row.value(INSTRUCTIONS, instructions).flatten();
    let instructions = instructions.and_then(|text| row.json(INSTRUCTIONS, &text)).unwrap_or_default();
    let Json(state) = row.value(PROVIDER_STATE, state).unwrap_or_default();
    let system_prompt = row.text("system_prompt", system_prompt);
    Ok(Some((PromptPrefix { system_prompt, tools, instructions }, state)))
}

/// Returns the frozen prompt prefix of a branch. The caller has found the branch by its owner.
pub async fn frozen(db: &Db, branch: BranchId) -> Result<Option<PromptPrefix>, StoreError> {
    Ok(frozen_and_provider_state(db, branch).await?.map(|(frozen, _)| frozen))
}

/// Works like [`frozen`], and records unreadable values.
pub async fn frozen_with_damages(
    db: &Db,
    branch: BranchId,
    damages: &mut Vec<Damage>,
) -> Result<Option<PromptPrefix>, StoreError> {
    let mut of_row = Vec::new();
    let found = read_frozen(db, branch, &mut of_row).await?;
    damages.extend(of_row.into_iter().filter(|damage| damage.column != PROVIDER_STATE));
    Ok(found.map(|(frozen, _)| frozen))
}

/// Returns the number of tools that a branch of this owner offers; none if the branch has no list.
pub async fn tool_count(db: &Db, owner: UserId, branch: BranchId) -> Result<Option<usize>, StoreError> {
    let count: Option<Option<i64>> = with_pool!(db, |pool| sqlx::query_scalar(TOOL_COUNT)
        .bind(owner.uuid())
        .bind(branch.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(count.flatten().and_then(|count| usize::try_from(count).ok()))
}

/// Returns the provider state of a branch; the default if there is no such branch. For a run, like
/// [`frozen_and_provider_state`].
pub async fn provider_state(db: &Db, branch: BranchId) -> Result<ProviderState, StoreError> {
    Ok(frozen_and_provider_state(db, branch).await?.map(|(_, state)| state).unwrap_or_default())
}

/// Replaces the tools that a branch offers. The caller has found the branch by its owner. Returns false if it is
/// deleted.
pub async fn set_tools(tx: &mut Tx, branch: BranchId, tools: &[OfferedTool]) -> Result<bool, StoreError> {
    let changed = defer_tools(tx, branch, tools).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Works like [`set_tools`], as a deferred write.
pub async fn defer_tools(tx: &mut Tx, branch: BranchId, tools: &[OfferedTool]) -> Result<ChangedRows, StoreError> {
    let tools = to_json(&tools, "branches", "tools")?;
    tx.defer(SET_TOOLS).bind(branch.uuid()).bind(tools).run().await
}

/// Replaces the instructions of tool servers that a branch offers. The caller has found the branch by its owner.
pub async fn set_instructions(
    tx: &mut Tx,
    branch: BranchId,
    instructions: &[ServerInstructions],
) -> Result<(), StoreError> {
    let instructions = instructions_column(instructions)?;
    in_tx!(tx, |conn| {
        sqlx::query(SET_INSTRUCTIONS).bind(branch.uuid()).bind(instructions).execute(conn).await?;
    });
    Ok(())
}

/// Returns the branches of a chat without turns of their own. The caller has locked the chat.
pub async fn list_empty(tx: &mut Tx, chat: ChatId) -> Result<Vec<(BranchId, ModelLock)>, StoreError> {
    let rows: Vec<(Uuid, String, String)> =
        in_tx!(tx, |conn| sqlx::query_as(EMPTY_OF_CHAT).bind(chat.uuid()).fetch_all(conn).await?);
    Ok(rows.into_iter().map(|(id, provider, model)| (id.into(), ModelLock { provider, model })).collect())
}

/// Replaces the provider state of a branch. Returns false if the branch is deleted.
pub async fn set_provider_state(tx: &mut Tx, branch: BranchId, state: &ProviderState) -> Result<bool, StoreError> {
    let changed = defer_provider_state(tx, branch, state).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Works like [`set_provider_state`], as a deferred write that changes one row unless the branch is deleted.
pub async fn defer_provider_state(
    tx: &mut Tx,
    branch: BranchId,
    state: &ProviderState,
) -> Result<ChangedRows, StoreError> {
    tx.defer(SET_PROVIDER_STATE).bind(branch.uuid()).bind(Json(state.clone())).run().await
}

/// Sets the system prompt of the chat's branches without turns; the others keep theirs.
pub async fn set_prompt_of_empty_branches(tx: &mut Tx, chat: ChatId, text: &str) -> Result<(), StoreError> {
    let text = storable_text(text, "the system prompt")?;
    in_tx!(tx, |conn| {
        sqlx::query(SET_PROMPT_OF_EMPTY).bind(chat.uuid()).bind(text).execute(conn).await?;
    });
    Ok(())
}

/// Renames a branch. Returns false if it is deleted.
pub async fn rename(tx: &mut Tx, branch: BranchId, name: &str) -> Result<bool, StoreError> {
    let name = storable_text(name, "the branch's name")?;
    let changed =
        in_tx!(tx, |conn| sqlx::query(RENAME).bind(branch.uuid()).bind(name).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Sets or removes the label of a branch. Returns false if the branch is deleted.
pub async fn set_label(tx: &mut Tx, branch: BranchId, label: Option<&str>) -> Result<bool, StoreError> {
    let label = label.map(|label| storable_text(label, "the branch's label")).transpose()?;
    let changed =
        in_tx!(tx, |conn| sqlx::query(SET_LABEL).bind(branch.uuid()).bind(label).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Pins a branch to the top of lists, or unpins it. Returns false if it is deleted.
pub async fn set_pinned(tx: &mut Tx, branch: BranchId, is_pinned: bool) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_PINNED).bind(branch.uuid()).bind(is_pinned).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Sets how earlier reasoning is sent from the next request on. Returns false if the branch is deleted.
pub async fn set_policy(tx: &mut Tx, branch: BranchId, policy: ContextPolicy) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_POLICY).bind(branch.uuid()).bind(to_word(policy)).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Records that the end of the branch was viewed or extended. Returns false if it is deleted.
pub async fn record_visit(tx: &mut Tx, branch: BranchId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed =
        in_tx!(tx, |conn| sqlx::query(VISIT).bind(branch.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Moves the head by compare-and-swap from `seen`. Returns false if the head is elsewhere by now: the branch was
/// extended meanwhile, and the new turn belongs on a branch of its own (`docs/reference/domain.md I4`).
pub async fn set_head(tx: &mut Tx, branch: BranchId, seen: Option<TurnId>, head: TurnId) -> Result<bool, StoreError> {
    let moved = defer_visited_head(tx, branch, (seen, head), None).await?;
    Ok(tx.rows_affected(moved).await? > 0)
}

/// Works like [`set_head`], as a deferred write that changes one row unless the head is elsewhere, and records a visit at
/// `visited_at` as [`record_visit`] does.
pub async fn defer_visited_head(
    tx: &mut Tx,
    branch: BranchId,
    (seen, head): (Option<TurnId>, TurnId),
    visited_at: Option<DateTime<Utc>>,
) -> Result<ChangedRows, StoreError> {
    let set = tx.defer(SET_HEAD).bind(branch.uuid()).bind(seen.map(TurnId::uuid)).bind(head.uuid());
    set.bind(visited_at).run().await
}

/// Returns the models of an owner's branches, by name; at most `limit`.
pub async fn list_models(db: &Db, owner: UserId, limit: u32) -> Result<Vec<String>, StoreError> {
    Ok(with_pool!(db, |pool| sqlx::query_scalar(MODELS)
        .bind(owner.uuid())
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?))
}
