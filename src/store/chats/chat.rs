//! Chats: the rows of whole trees; turns have tables of their own.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use crate::ChangedRows;
use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{self, Damage, Lossy, RowReader, SalvagedText};
use crate::database::rows::storable_text;
use crate::search;
use turnleaf_domain::chats::chat::ChatSettings;
use turnleaf_domain::{BranchId, Chat, ChatId, ModelParams, ProjectId, TurnId, UserId, limits};
use turnleaf_platform::ids;

sql! {
    /// A project that was deleted meanwhile is left out.
    INSERT = "INSERT INTO chats (id, owner_id, title, system_prompt, settings, default_branch_id, \
        last_viewed_turn_id, next_ord, rev, created_at, updated_at, copied_from_turn_id, pinned_at, archived_at, \
        epoch, project_id, project_version) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
        (SELECT p.id FROM projects p WHERE p.owner_id = $2 AND p.id = $16), $17)";
    EPOCH = "SELECT epoch FROM chats WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    /// While the default branch is deleted, the oldest other branch replaces it, preferably one with turns.
    FIND = "SELECT c.id, c.owner_id, c.title, c.system_prompt, c.settings, COALESCE( \
            (SELECT b.id FROM branches b WHERE b.id = c.default_branch_id AND b.deleted_at IS NULL), \
            (SELECT b.id FROM branches b WHERE b.chat_id = c.id AND b.deleted_at IS NULL \
                ORDER BY CASE WHEN b.head_turn_id IS NULL THEN 1 ELSE 0 END, b.created_at, b.id LIMIT 1)) \
            AS default_branch_id, \
        c.last_viewed_turn_id, c.copied_from_turn_id, c.pinned_at, c.archived_at, c.project_id, c.project_version, c.rev, \
        c.created_at, c.updated_at \
        FROM chats c \
        WHERE c.owner_id = $1 AND c.id = $2 AND c.deleted_at IS NULL";
    OWNER = "SELECT owner_id FROM chats WHERE id = $1 AND deleted_at IS NULL";
    /// Conditions on the owner and a list of chats follow.
    THERE = "SELECT c.id FROM chats c ";
    /// Changes nothing, but locks the row until the transaction ends.
    HOLD = "UPDATE chats SET rev = rev WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING settings";
    SET_TITLE = "UPDATE chats SET title = $2, settings = $3 WHERE id = $1";
    SET_SETTINGS = "UPDATE chats SET settings = $2 WHERE id = $1";
    SET_SYSTEM_PROMPT = "UPDATE chats SET system_prompt = $3 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    SET_LAST_VIEWED = "UPDATE chats SET last_viewed_turn_id = $3 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL AND EXISTS \
        (SELECT 1 FROM turns t WHERE t.id = $3 AND t.chat_id = $2 AND t.deleted_at IS NULL)";
    SET_DEFAULT_BRANCH = "UPDATE chats SET default_branch_id = $2 WHERE id = $1";
    SET_PINNED = "UPDATE chats SET pinned_at = $3 WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    SET_ARCHIVED = "UPDATE chats SET archived_at = $3 WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    /// A new message moves an archived chat back to the list.
    TAKE_ORDS = "UPDATE chats SET next_ord = next_ord + $4, rev = rev + $4, updated_at = $3, archived_at = NULL \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING next_ord - $4";
    /// An imported turn moves a chat only to the turn's own time, and leaves it in the archive.
    TAKE_ORD_OF_ELSEWHERE = "UPDATE chats SET next_ord = next_ord + 1, rev = rev + 1, \
        updated_at = CASE WHEN updated_at < $3 THEN $3 ELSE updated_at END \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL RETURNING next_ord - 1";
}

struct ChatRow {
    id: Uuid,
    owner_id: Uuid,
    title: SalvagedText,
    system_prompt: SalvagedText,
    settings: Lossy<Json<ChatSettings>>,
    default_branch_id: Lossy<Option<Uuid>>,
    last_viewed_turn_id: Lossy<Option<Uuid>>,
    copied_from_turn_id: Lossy<Option<Uuid>>,
    pinned_at: Lossy<Option<DateTime<Utc>>>,
    archived_at: Lossy<Option<DateTime<Utc>>>,
    project_id: Lossy<Option<Uuid>>,
    project_version: Option<i64>,
    rev: i64,
    created_at: Lossy<DateTime<Utc>>,
    updated_at: Lossy<DateTime<Utc>>,
}
from_row!(ChatRow {
    id,
    owner_id,
    title,
    system_prompt,
    settings,
    default_branch_id,
    last_viewed_turn_id,
    copied_from_turn_id,
    pinned_at,
    archived_at,
    project_id,
    project_version,
    rev,
    created_at,
    updated_at,
});

const TABLE: &str = "chats";

impl ChatRow {
    /// Returns the chat as far as its row can be read, and records unreadable values in `damages`.
    fn into_chat(self, damages: &mut Vec<Damage>) -> Chat {
        let mut row = RowReader { table: TABLE, id: self.id, damages };
        let branch = row.value("default_branch_id", self.default_branch_id).flatten();
        let viewed = row.value("last_viewed_turn_id", self.last_viewed_turn_id).flatten();
        let copied_from = row.value("copied_from_turn_id", self.copied_from_turn_id).flatten();
        Chat {
            id: self.id.into(),
            owner_id: self.owner_id.into(),
            title: row.text("title", self.title),
            system_prompt: row.text("system_prompt", self.system_prompt),
            settings: row.value("settings", self.settings).unwrap_or_default().0,
            default_branch_id: branch.map(BranchId::from),
            last_viewed_turn_id: viewed.map(TurnId::from),
            copied_from_turn_id: copied_from.map(TurnId::from),
            pinned_at: row.value("pinned_at", self.pinned_at).flatten(),
            archived_at: row.value("archived_at", self.archived_at).flatten(),
            project_id: row.value("project_id", self.project_id).flatten().map(ProjectId::from),
            project_version: self.project_version,
            rev: self.rev,
            created_at: row.moment("created_at", self.created_at),
            updated_at: row.moment("updated_at", self.updated_at),
        }
    }
}

/// Stores a new chat. Its default branch may be inserted later in the same transaction.
pub async fn insert(tx: &mut Tx, chat: &Chat) -> Result<(), StoreError> {
    defer_insert_with_turns(tx, chat, 0).await?;
    tx.flush().await
}

/// Works like [`insert`], as a deferred write, for a chat whose first turns are inserted later in the same transaction:
/// they take the positions from 1 on.
pub async fn defer_insert_with_turns(tx: &mut Tx, chat: &Chat, turns: i64) -> Result<(), StoreError> {
    let title = storable_text(&chat.title, "the title")?;
    let system_prompt = storable_text(&chat.system_prompt, "the system prompt")?;
    let insert = tx.defer(INSERT).bind(chat.id.uuid()).bind(chat.owner_id.uuid());
    let insert = insert.bind(title.to_owned()).bind(system_prompt.to_owned()).bind(Json(chat.settings.clone()));
    insert
        .bind(chat.default_branch_id.map(BranchId::uuid))
        .bind(chat.last_viewed_turn_id.map(TurnId::uuid))
        .bind(1 + turns)
        .bind(chat.rev)
        .bind(chat.created_at)
        .bind(chat.updated_at)
        .bind(chat.copied_from_turn_id.map(TurnId::uuid))
        .bind(chat.pinned_at)
        .bind(chat.archived_at)
        .bind(ids::mint::<Uuid>())
        .bind(chat.project_id.map(ProjectId::uuid))
        .bind(chat.project_version)
        .run()
        .await?;
    search::queue::put_chat_title(tx, chat.id).await
}

/// Returns the purge epoch of a chat: it changes whenever the chat is imported or turns of it are permanently
/// deleted. None if neither has happened since epochs exist.
pub async fn purge_epoch(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<Uuid>, StoreError> {
    let row: Option<Option<Uuid>> = with_pool!(db, |pool| sqlx::query_scalar(EPOCH)
        .bind(owner.uuid())
        .bind(chat.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(row.flatten())
}

/// Returns the owner of a chat, for work that the server resumes by itself. `None` if the chat is deleted.
pub async fn owner_of(db: &Db, chat: ChatId) -> Result<Option<UserId>, StoreError> {
    let owner: Option<Uuid> =
        with_pool!(db, |pool| sqlx::query_scalar(OWNER).bind(chat.uuid()).fetch_optional(pool).await?);
    Ok(owner.map(UserId::from))
}

/// Returns a chat of this owner that is not deleted.
pub async fn find(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<Chat>, StoreError> {
    let mut damages = Vec::new();
    let found = find_with_damages(db, owner, chat, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(found)
}

/// Works like [`find`], and records unreadable values of the row.
pub async fn find_with_damages(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<Option<Chat>, StoreError> {
    let row: Option<ChatRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(pool).await?);
    Ok(row.map(|row| row.into_chat(damages)))
}

/// Returns those of these chats that belong to the owner and are not deleted.
pub async fn filter_existing(
    db: &Db,
    owner: UserId,
    chats: impl IntoIterator<Item = ChatId>,
) -> Result<HashSet<ChatId>, StoreError> {
    let chats: Vec<Uuid> = chats.into_iter().map(ChatId::uuid).collect();
    let mut existing = HashSet::new();
    for some in chats.chunks(limits::PAGE_MAX as usize) {
        let found: Vec<Uuid> = with_pool!(db, |pool| {
            let mut query = QueryBuilder::new(THERE);
            query.push("WHERE c.deleted_at IS NULL AND c.owner_id = ").push_bind(owner.uuid()).push(" AND c.id IN (");
            let mut list = query.separated(", ");
            for chat in some {
                list.push_bind(*chat);
            }
            query.push(")");
            query.build_query_scalar().persistent(false).fetch_all(pool).await?
        });
        existing.extend(found.into_iter().map(ChatId::from));
    }
    Ok(existing)
}

/// Sets the title of a chat; its position in the list stays. A title set by the user is never replaced by an
/// automatic one. Returns false then, and if the chat is deleted.
pub async fn rename(tx: &mut Tx, owner: UserId, chat: ChatId, title: &str, by_user: bool) -> Result<bool, StoreError> {
    let title = storable_text(title, "the title")?;
    let Some(mut settings) = lock_for_update(tx, owner, chat).await? else { return Ok(false) };
    if settings.titled_by_user && !by_user {
        return Ok(false);
    }
    settings.titled_by_user = by_user;
    in_tx!(&mut *tx, |conn| {
        sqlx::query(SET_TITLE).bind(chat.uuid()).bind(title).bind(Json(&settings)).execute(conn).await?;
    });
    search::queue::put_chat_title(tx, chat).await?;
    Ok(true)
}

/// Sets the model parameters of a chat. Returns false if it is deleted.
pub async fn set_params(tx: &mut Tx, owner: UserId, chat: ChatId, params: &ModelParams) -> Result<bool, StoreError> {
    let Some(mut settings) = lock_for_update(tx, owner, chat).await? else { return Ok(false) };
    settings.params = params.clone();
    in_tx!(tx, |conn| {
        sqlx::query(SET_SETTINGS).bind(chat.uuid()).bind(Json(&settings)).execute(conn).await?;
    });
    Ok(true)
}

/// Sets the system prompt. Returns false if the chat is deleted.
pub async fn set_system_prompt(tx: &mut Tx, owner: UserId, chat: ChatId, text: &str) -> Result<bool, StoreError> {
    let text = storable_text(text, "the system prompt")?;
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(SET_SYSTEM_PROMPT).bind(owner.uuid()).bind(chat.uuid()).bind(text);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Pins a chat since a moment, or unpins it. Returns false if it is deleted.
pub async fn set_pinned(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    since: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    set_since(tx, SET_PINNED, owner, chat, since).await
}

/// Archives a chat since a moment, or removes it from the archive. Returns false if it is deleted.
pub async fn set_archived(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    since: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    set_since(tx, SET_ARCHIVED, owner, chat, since).await
}

async fn set_since(
    tx: &mut Tx,
    statement: &'static str,
    owner: UserId,
    chat: ChatId,
    since: Option<DateTime<Utc>>,
) -> Result<bool, StoreError> {
    let changed = in_tx!(tx, |conn| {
        let query = sqlx::query(statement).bind(owner.uuid()).bind(chat.uuid()).bind(since);
        query.execute(conn).await?.rows_affected()
    });
    Ok(changed > 0)
}

/// Stores the reader's position. Returns false if the chat is deleted or has no such turn. The chat is locked first:
/// on PostgreSQL a statement that waits for the chat's row sees the turns as they were before the wait.
pub async fn set_last_viewed(tx: &mut Tx, owner: UserId, chat: ChatId, turn: TurnId) -> Result<bool, StoreError> {
    if lock_for_update(tx, owner, chat).await?.is_none() {
        return Ok(false);
    }
    let changed = defer_last_viewed_of_locked(tx, owner, chat, turn).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Works like [`set_last_viewed`], as a deferred write, for a chat whose row this transaction has locked.
pub async fn defer_last_viewed_of_locked(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    turn: TurnId,
) -> Result<ChangedRows, StoreError> {
    tx.defer(SET_LAST_VIEWED).bind(owner.uuid()).bind(chat.uuid()).bind(turn.uuid()).run().await
}

/// Sets the default branch of a chat that the caller has found by its owner.
pub async fn set_default_branch(tx: &mut Tx, chat: ChatId, branch: BranchId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(SET_DEFAULT_BRANCH).bind(chat.uuid()).bind(branch.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Allocates the position of the next turn, and locks the chat row until the transaction ends, which serializes all
/// writers that add turns to a chat. `None` if the chat is deleted.
pub async fn allocate_ord(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    now: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    allocate_ords(tx, owner, chat, 1, now).await
}

/// Works like [`allocate_ord`], for this many turns in a row; returns the first of their positions.
pub async fn allocate_ords(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    count: i64,
    now: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    Ok(in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(TAKE_ORDS).bind(owner.uuid()).bind(chat.uuid()).bind(now).bind(count);
        query.fetch_optional(conn).await?
    }))
}

/// Works like [`allocate_ord`], for an imported turn: the chat stays in the archive, and keeps its position in the
/// list unless the turn is newer.
pub async fn allocate_ord_for_import(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    written_at: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    Ok(in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(TAKE_ORD_OF_ELSEWHERE).bind(owner.uuid()).bind(chat.uuid()).bind(written_at);
        query.fetch_optional(conn).await?
    }))
}

/// Locks the chat's row until the transaction ends, and returns its settings; `None` if the chat is deleted. Reads of
/// the chat after this are stable until then, because every writer that adds or deletes turns takes this lock first.
pub async fn lock_for_update(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<Option<ChatSettings>, StoreError> {
    let settings: Option<Lossy<Json<ChatSettings>>> = in_tx!(tx, |conn| {
        sqlx::query_scalar(HOLD).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(conn).await?
    });
    Ok(settings.map(|settings| settings.unwrap_or_log(TABLE, "settings", chat.uuid(), Json::default).0))
}

/// Locks the chat's row as [`lock_for_update`] does, and returns the chat.
pub async fn lock_and_find(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<Option<Chat>, StoreError> {
    tx.defer(HOLD).bind(owner.uuid()).bind(chat.uuid()).run().await?;
    let row: Option<ChatRow> =
        in_tx!(tx, |conn| sqlx::query_as(FIND).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(conn).await?);
    let mut damages = Vec::new();
    let found = row.map(|row| row.into_chat(&mut damages));
    readable::log_damages(&damages);
    Ok(found)
}
