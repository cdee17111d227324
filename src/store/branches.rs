//! Branches: lineages with their lock. The database itself refuses to change a lock (domain.md I3).

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use serde_json::json;
use sqlx::types::Json;
use uuid::Uuid;

use crate::readable::{self, Damage, Lossy, Readable, RowReader, SalvagedText};
use crate::rows::{parse_word, storable_text, to_json, to_word};
use crate::{Db, StoreError, Tx, turns};
use turnleaf_domain::branch::{Branch, ContextPolicy, ModelLock, PromptPrefix};
use turnleaf_domain::repair::ProviderState;
use turnleaf_domain::tool::OfferedTool;
use turnleaf_domain::{BranchId, ChatId, TurnId, UserId};

pub mod ends;
pub use ends::{last_used_locks, lineages, set_ends};

sql! {
    INSERT = "INSERT INTO branches (id, chat_id, name, provider, model, parent_branch_id, fork_turn_id, head_turn_id, \
        origin, provider_state, label, pinned, policy, system_prompt, tools, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)";
    MODELS = "SELECT DISTINCT b.model FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND c.deleted_at IS NULL AND b.deleted_at IS NULL ORDER BY b.model LIMIT $2";
    /// Changes nothing, but holds the chat: what is deleted in it is deleted before or after.
    HOLD_CHAT = "UPDATE chats SET rev = rev WHERE id = $1 AND deleted_at IS NULL";
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
    /// From a branch up to the first: each with the turns on which the one below it hangs.
    OF_PATH = "WITH RECURSIVE up (id) AS ( \
            SELECT b.id FROM branches b JOIN chats c ON c.id = b.chat_id WHERE c.owner_id = $1 AND b.id = $2 \
            UNION SELECT f.branch_id FROM up JOIN branches b ON b.id = up.id JOIN turns f ON f.id = b.fork_turn_id) \
        SELECT b.id, b.provider, b.model, b.policy FROM up JOIN branches b ON b.id = up.id";
    OF_RUN = "SELECT system_prompt, tools, provider_state FROM branches WHERE id = $1";
    TOOL_COUNT = "SELECT b.tool_count FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND b.id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL";
    SET_PROVIDER_STATE = "UPDATE branches SET provider_state = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_PROMPT_OF_EMPTY = "UPDATE branches SET system_prompt = $2 \
        WHERE chat_id = $1 AND head_turn_id IS NULL AND deleted_at IS NULL";
    SET_TOOLS = "UPDATE branches SET tools = $2 WHERE id = $1 AND deleted_at IS NULL";
    EMPTY_OF_CHAT = "SELECT id, provider, model FROM branches \
        WHERE chat_id = $1 AND head_turn_id IS NULL AND deleted_at IS NULL ORDER BY id";
    RENAME = "UPDATE branches SET name = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_LABEL = "UPDATE branches SET label = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_PINNED = "UPDATE branches SET pinned = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_POLICY = "UPDATE branches SET policy = $2 WHERE id = $1 AND deleted_at IS NULL";
    VISIT = "UPDATE branches SET visited_at = $2 WHERE id = $1 AND deleted_at IS NULL";
    SET_HEAD = "UPDATE branches SET head_turn_id = $3 \
        WHERE id = $1 AND head_turn_id IS NOT DISTINCT FROM $2 AND deleted_at IS NULL";
}

/// A branch that holds a part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBranch {
    pub lock: ModelLock,
    pub policy: ContextPolicy,
}

#[derive(sqlx::FromRow)]
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

const TABLE: &str = "branches";
const PROVIDER_STATE: &str = "provider_state";

impl BranchRow {
    /// The branch, unless what it cannot be without is unreadable. What else is wrong goes into `damages`.
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

/// Stores a new branch. Its turns may be inserted later in the same transaction, and so may the turn that it leaves.
///
/// # Errors
/// `DeletionSummary` when the chat or the turn that it leaves was deleted meanwhile.
pub async fn insert(tx: &mut Tx, branch: &Branch, frozen: &PromptPrefix) -> Result<(), StoreError> {
    let name = storable_text(&branch.name, "the branch's name")?;
    let system_prompt = storable_text(&frozen.system_prompt, "the system prompt")?;
    let tools = frozen.tools.as_ref().map(|tools| to_json(tools, "branches", "tools")).transpose()?;
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
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(branch.id.uuid())
            .bind(branch.chat_id.uuid())
            .bind(name)
            .bind(branch.lock.provider.as_str())
            .bind(branch.lock.model.as_str())
            .bind(branch.parent_branch_id.map(BranchId::uuid))
            .bind(branch.fork_turn_id.map(TurnId::uuid))
            .bind(branch.head_turn_id.map(TurnId::uuid))
            .bind(to_word(branch.origin))
            .bind(Json(json!({})))
            .bind(branch.label.as_deref())
            .bind(branch.pinned)
            .bind(to_word(branch.policy))
            .bind(system_prompt)
            .bind(tools)
            .bind(branch.created_at)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// A branch in a chat of this owner.
pub async fn find(db: &Db, owner: UserId, branch: BranchId) -> Result<Option<Branch>, StoreError> {
    let row: Option<BranchRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(branch.uuid()).fetch_optional(pool).await?);
    let mut damages = Vec::new();
    let found = row.map(|row| row.into_branch(&mut damages)).transpose();
    readable::log_damages(&damages);
    found
}

/// The branches of a chat, oldest first.
pub async fn list(db: &Db, owner: UserId, chat: ChatId) -> Result<Vec<Branch>, StoreError> {
    let mut damages = Vec::new();
    let listed = list_with_damages(db, owner, chat, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(listed)
}

/// As [`list`], with what cannot be read: branches that are missing in the list, and values of others.
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

/// How many branches a chat has, of a chat that the caller holds: for the bound on them.
pub async fn count(tx: &mut Tx, chat: ChatId) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(chat.uuid()).fetch_one(conn).await?))
}

/// The names of a chat's branches that begin with this one, of a chat that the caller holds.
pub async fn names_like(tx: &mut Tx, chat: ChatId, name: &str) -> Result<HashSet<String>, StoreError> {
    let name = storable_text(name, "the branch's name")?;
    let names: Vec<String> =
        in_tx!(tx, |conn| sqlx::query_scalar(NAMES_LIKE).bind(chat.uuid()).bind(name).fetch_all(conn).await?);
    Ok(names.into_iter().collect())
}

/// What a run needs of the branches that the path to the end of `branch` is made of.
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

/// The prompt, the tools and the provider's state of a branch.
type FrozenRow = (SalvagedText, Lossy<Option<String>>, Lossy<Json<ProviderState>>);

/// What the branch says in every request, and what it keeps for its provider. For a run, which has the branch from its
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
    let Some((system_prompt, tools, state)) = row else { return Ok(None) };
    let mut row = RowReader { table: TABLE, id: branch.uuid(), damages };
    // Without the list of its tools a branch offers none, and says so; with none at all it would offer those of today.
    let tools = match row.value("tools", tools) {
        Some(None) => None,
        Some(Some(text)) => Some(row.json("tools", &text).unwrap_or_default()),
        None => Some(Vec::new()),
    };
    let Json(state) = row.value(PROVIDER_STATE, state).unwrap_or_default();
    let system_prompt = row.text("system_prompt", system_prompt);
    Ok(Some((PromptPrefix { system_prompt, tools }, state)))
}

/// What the branch says in every request. The caller has found the branch by its owner.
pub async fn frozen(db: &Db, branch: BranchId) -> Result<Option<PromptPrefix>, StoreError> {
    Ok(frozen_and_provider_state(db, branch).await?.map(|(frozen, _)| frozen))
}

/// As [`frozen`], with what of it cannot be read.
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

/// How many tools a branch of this owner offers; nothing where it does not say which.
pub async fn tool_count(db: &Db, owner: UserId, branch: BranchId) -> Result<Option<usize>, StoreError> {
    let count: Option<Option<i64>> = with_pool!(db, |pool| sqlx::query_scalar(TOOL_COUNT)
        .bind(owner.uuid())
        .bind(branch.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(count.flatten().and_then(|count| usize::try_from(count).ok()))
}

/// What the branch keeps for its provider; nothing where there is no such branch. For a run, as [`frozen_and_provider_state`].
pub async fn provider_state(db: &Db, branch: BranchId) -> Result<ProviderState, StoreError> {
    Ok(frozen_and_provider_state(db, branch).await?.map(|(_, state)| state).unwrap_or_default())
}

/// Replaces the tools that a branch offers. The caller has found the branch by its owner. False when it is gone.
pub async fn set_tools(tx: &mut Tx, branch: BranchId, tools: &[OfferedTool]) -> Result<bool, StoreError> {
    let tools = to_json(&tools, "branches", "tools")?;
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_TOOLS).bind(branch.uuid()).bind(tools).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// The branches of a chat that have no turn of their own yet, of a chat that the caller holds.
pub async fn list_empty(tx: &mut Tx, chat: ChatId) -> Result<Vec<(BranchId, ModelLock)>, StoreError> {
    let rows: Vec<(Uuid, String, String)> =
        in_tx!(tx, |conn| sqlx::query_as(EMPTY_OF_CHAT).bind(chat.uuid()).fetch_all(conn).await?);
    Ok(rows.into_iter().map(|(id, provider, model)| (id.into(), ModelLock { provider, model })).collect())
}

/// Replaces what the branch keeps for its provider. False when the branch is gone.
pub async fn set_provider_state(tx: &mut Tx, branch: BranchId, state: &ProviderState) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_PROVIDER_STATE).bind(branch.uuid()).bind(Json(state)).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Gives the system prompt to the chat's branches that have no turn yet; the others keep theirs.
pub async fn set_prompt_of_empty_branches(tx: &mut Tx, chat: ChatId, text: &str) -> Result<(), StoreError> {
    let text = storable_text(text, "the system prompt")?;
    in_tx!(tx, |conn| {
        sqlx::query(SET_PROMPT_OF_EMPTY).bind(chat.uuid()).bind(text).execute(conn).await?;
    });
    Ok(())
}

/// Gives the branch a name. False when it is gone.
pub async fn rename(tx: &mut Tx, branch: BranchId, name: &str) -> Result<bool, StoreError> {
    let name = storable_text(name, "the branch's name")?;
    let changed =
        in_tx!(tx, |conn| sqlx::query(RENAME).bind(branch.uuid()).bind(name).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Gives the branch a label, or takes it away. False when the branch is gone.
pub async fn set_label(tx: &mut Tx, branch: BranchId, label: Option<&str>) -> Result<bool, StoreError> {
    let label = label.map(|label| storable_text(label, "the branch's label")).transpose()?;
    let changed =
        in_tx!(tx, |conn| sqlx::query(SET_LABEL).bind(branch.uuid()).bind(label).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Puts the branch first in lists, or not. False when it is gone.
pub async fn set_pinned(tx: &mut Tx, branch: BranchId, is_pinned: bool) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_PINNED).bind(branch.uuid()).bind(is_pinned).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Sets how earlier reasoning goes back from the next request on. False when the branch is gone.
pub async fn set_policy(tx: &mut Tx, branch: BranchId, policy: ContextPolicy) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        sqlx::query(SET_POLICY).bind(branch.uuid()).bind(to_word(policy)).execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Remembers that the end of the branch was shown, or added to. False when it is gone.
pub async fn record_visit(tx: &mut Tx, branch: BranchId, now: DateTime<Utc>) -> Result<bool, StoreError> {
    let changed =
        in_tx!(tx, |conn| sqlx::query(VISIT).bind(branch.uuid()).bind(now).execute(conn).await?.rows_affected());
    Ok(changed > 0)
}

/// Moves the head on from where the caller saw it. False when it is elsewhere by now: the branch has grown meanwhile,
/// and what was to be appended belongs on a branch of its own (domain.md I4).
pub async fn set_head(tx: &mut Tx, branch: BranchId, seen: Option<TurnId>, head: TurnId) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(SET_HEAD).bind(branch.uuid()).bind(seen.map(TurnId::uuid)).bind(head.uuid());
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// The models of an owner's branches, by name; at most `limit`.
pub async fn list_models(db: &Db, owner: UserId, limit: u32) -> Result<Vec<String>, StoreError> {
    Ok(with_pool!(db, |pool| sqlx::query_scalar(MODELS)
        .bind(owner.uuid())
        .bind(i64::from(limit))
        .fetch_all(pool)
        .await?))
}
