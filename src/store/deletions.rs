//! Deletions: what was deleted together, as Trash lists it (`docs/reference/domain.md I13`). [`soft_deletion`]
//! deletes, [`restore`] restores, [`purge`] deletes permanently.
//!
//! The rules, which make a restored deletion exactly what it was:
//! * A deletion takes turns with everything below them, and the branches that it leaves without turns or that fork
//!   from a deleted turn. It never takes what an earlier deletion took.
//! * The head of a branch is always its last turn that is not deleted. Nothing is appended to a branch that has
//!   deleted turns ([`has_deleted_turns`]), because it would take their positions.
//! * A deletion whose parent was taken by a later deletion can only be restored after that one.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable};
use crate::database::rows::{inconsistent, parse_word, to_unsigned};
use turnleaf_domain::chats::deletion::DeletionKind;
use turnleaf_domain::{BranchId, ChatId, DeletionId, Role, TurnId, UserId};

pub mod purge;
mod restore;
mod soft_deletion;

pub use restore::{RestoreOutcome, restore};
pub use soft_deletion::{DeletionOutcome, DeletionRoot, NewDeletion, first_turn_of_branch, soft_delete};

pub(super) fn statements() -> [(&'static str, &'static [(&'static str, &'static str)]); 4] {
    [
        ("deletions", STATEMENTS),
        ("deletions/soft_deletion", soft_deletion::STATEMENTS),
        ("deletions/purge", purge::STATEMENTS),
        ("deletions/restore", restore::STATEMENTS),
    ]
}

macro_rules! columns {
    () => {
        "SELECT d.id, d.chat_id, d.kind, d.root_id, d.title, c.title AS chat_title, \
         c.deletion_id IS NOT NULL AND c.deletion_id <> d.id AS chat_is_deleted, t.role, d.turns, d.branches, \
         d.created_at FROM deletions d JOIN chats c ON c.id = d.chat_id LEFT JOIN turns t ON t.id = d.root_id \
         WHERE d.owner_id = $1 AND d.purging_since IS NULL"
    };
}

sql! {
    FIND = concat!(columns!(), " AND d.id = $2");
    /// Ids are ordered by time. The deletions that undid an import are one entry, that of the import.
    LIST = concat!(columns!(), " AND d.id < $2 \
        AND NOT EXISTS (SELECT 1 FROM import_deletions m WHERE m.deletion_id = d.id) ORDER BY d.id DESC LIMIT $3");
    OF_CHAT = "SELECT deletion_id FROM chats WHERE owner_id = $1 AND id = $2 AND deletion_id IS NOT NULL";
    OF_BRANCH = "SELECT b.deletion_id FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND b.id = $2 AND b.deletion_id IS NOT NULL";
    OF_TURN = "SELECT t.deletion_id FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.id = $2 AND t.deletion_id IS NOT NULL";
    DELETED_OF_BRANCH = "SELECT id FROM turns WHERE branch_id = $1 AND deletion_id IS NOT NULL LIMIT 1";
    COUNT_BELOW = "WITH RECURSIVE below (id) AS ( \
            SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            UNION SELECT t.id FROM below JOIN turns t ON t.prev_turn_id = below.id WHERE t.deleted_at IS NULL) \
        SELECT COUNT(*) FROM below";
    /// From a turn up to the first that is not deleted.
    NEAREST_LEFT = "WITH RECURSIVE up (id, prev_turn_id, is_left, step) AS ( \
            SELECT t.id, t.prev_turn_id, t.deleted_at IS NULL, CAST(1 AS BIGINT) \
            FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE c.owner_id = $1 AND c.id = $2 AND t.id = $3 AND c.deleted_at IS NULL \
            UNION ALL SELECT t.id, t.prev_turn_id, t.deleted_at IS NULL, up.step + 1 \
            FROM up JOIN turns t ON t.id = up.prev_turn_id WHERE NOT up.is_left) \
        SELECT id, is_left FROM up ORDER BY step DESC LIMIT 1";
}

/// A deletion as Trash lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub id: DeletionId,
    pub chat_id: ChatId,
    pub kind: DeletionKind,
    /// The title of the chat, the name of the branch, or the first words of the turn, at the time of the deletion;
    /// for a prune, those of the turn that was kept.
    pub title: String,
    /// The current title.
    pub chat_title: String,
    /// True if the chat was deleted later, by itself: it has to be restored first.
    pub chat_is_deleted: bool,
    /// The role of the turn, for a deleted turn.
    pub role: Option<Role>,
    pub turns: u64,
    pub branches: u64,
    pub created_at: DateTime<Utc>,
    root: Uuid,
}

impl Deletion {
    /// Returns the turn that was deleted, or that a prune kept.
    pub fn root_turn(&self) -> Option<TurnId> {
        matches!(self.kind, DeletionKind::Turn | DeletionKind::Prune).then(|| self.root.into())
    }

    /// Returns the branch that was deleted.
    pub fn root_branch(&self) -> Option<BranchId> {
        (self.kind == DeletionKind::Branch).then(|| self.root.into())
    }
}

struct DeletionRow {
    id: Uuid,
    chat_id: Uuid,
    kind: String,
    root_id: Uuid,
    title: String,
    chat_title: String,
    chat_is_deleted: bool,
    role: Option<String>,
    turns: i64,
    branches: i64,
    created_at: DateTime<Utc>,
}
from_row!(DeletionRow {
    id,
    chat_id,
    kind,
    root_id,
    title,
    chat_title,
    chat_is_deleted,
    role,
    turns,
    branches,
    created_at,
});

impl DeletionRow {
    fn into_deletion(self) -> Result<Deletion, StoreError> {
        let role = |word: String| Role::parse(&word).ok_or_else(|| inconsistent("turns", "role", self.root_id, &word));
        Ok(Deletion {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            kind: parse_word(self.kind, "deletions", "kind", self.id)?,
            title: self.title,
            chat_title: self.chat_title,
            chat_is_deleted: self.chat_is_deleted,
            role: self.role.map(role).transpose()?,
            turns: to_unsigned(self.turns),
            branches: to_unsigned(self.branches),
            created_at: self.created_at,
            root: self.root_id,
        })
    }
}

/// Returns a deletion of this owner that can be restored.
pub async fn find(db: &Db, owner: UserId, deletion: DeletionId) -> Result<Option<Deletion>, StoreError> {
    let row: Option<DeletionRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND).bind(owner.uuid()).bind(deletion.uuid()).fetch_optional(pool).await?
    });
    row.map(DeletionRow::into_deletion).transpose()
}

/// Returns the deletions that can be restored, newest first, older than `before` if given, without those that undid an
/// import.
pub async fn list(db: &Db, owner: UserId, before: Option<DeletionId>, limit: u32) -> Result<Vec<Deletion>, StoreError> {
    let before = before.map_or(Uuid::max(), DeletionId::uuid);
    let rows: Vec<Readable<DeletionRow>> = with_pool!(db, |pool| {
        sqlx::query_as(LIST).bind(owner.uuid()).bind(before).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(keep_decoded(keep_readable(rows, "deletions").into_iter().map(DeletionRow::into_deletion), "deletions"))
}

/// A deleted item, by which its deletion can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletedItem {
    Chat(ChatId),
    Branch(BranchId),
    Turn(TurnId),
}

/// Returns the deletion that took this item of the owner.
pub async fn find_by_target(db: &Db, owner: UserId, thing: DeletedItem) -> Result<Option<DeletionId>, StoreError> {
    let (text, id) = match thing {
        DeletedItem::Chat(id) => (OF_CHAT, id.uuid()),
        DeletedItem::Branch(id) => (OF_BRANCH, id.uuid()),
        DeletedItem::Turn(id) => (OF_TURN, id.uuid()),
    };
    let found: Option<Uuid> =
        with_pool!(db, |pool| sqlx::query_scalar(text).bind(owner.uuid()).bind(id).fetch_optional(pool).await?);
    Ok(found.map(DeletionId::from))
}

/// Returns whether turns of this branch are in Trash; if so, nothing may be appended to it. The caller has found the
/// branch by its owner.
pub async fn has_deleted_turns(tx: &mut Tx, branch: BranchId) -> Result<bool, StoreError> {
    let found: Option<Uuid> =
        in_tx!(tx, |conn| sqlx::query_scalar(DELETED_OF_BRANCH).bind(branch.uuid()).fetch_optional(conn).await?);
    Ok(found.is_some())
}

/// Returns the number of turns that are deleted with this one, itself included; 0 if the owner has no such turn.
pub async fn count_below(db: &Db, owner: UserId, turn: TurnId) -> Result<u64, StoreError> {
    let count: i64 = with_pool!(db, |pool| {
        sqlx::query_scalar(COUNT_BELOW).bind(owner.uuid()).bind(turn.uuid()).fetch_one(pool).await?
    });
    Ok(to_unsigned(count))
}

/// Returns the nearest turn that is not deleted, on the way up from this one, itself included: `Some(None)` if all
/// are deleted. `None` if this chat of the owner has no such turn, deleted or not.
pub async fn nearest_remaining(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    turn: TurnId,
) -> Result<Option<Option<TurnId>>, StoreError> {
    let nearest: Option<(Uuid, bool)> = with_pool!(db, |pool| {
        let query = sqlx::query_as(NEAREST_LEFT).bind(owner.uuid()).bind(chat.uuid()).bind(turn.uuid());
        query.fetch_optional(pool).await?
    });
    Ok(nearest.map(|(id, is_left)| is_left.then(|| TurnId::from(id))))
}
