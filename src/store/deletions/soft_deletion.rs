//! Soft deletion: turns and branches are marked with the deletion's id, and pointers to them are moved to what
//! remains.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::rows::{to_bigint, to_word};
use turnleaf_domain::chats::chat::derive_title;
use turnleaf_domain::chats::deletion::DeletionKind;
use turnleaf_domain::{BranchId, ChatId, DeletionId, TurnId, UserId};

/// The condition for the turn $2 of the chat $1 and everything below it.
macro_rules! turns_below {
    () => {
        "id IN ( \
            WITH RECURSIVE below (id) AS ( \
                SELECT t.id FROM turns t WHERE t.chat_id = $1 AND t.id = $2 AND t.deleted_at IS NULL \
                UNION SELECT t.id FROM below JOIN turns t ON t.prev_turn_id = below.id WHERE t.deleted_at IS NULL) \
            SELECT id FROM below)"
    };
}

/// The condition for everything of the chat $1 but the path to the turn $2 and the turns below it.
macro_rules! turns_elsewhere {
    () => {
        "chat_id = $1 AND deleted_at IS NULL \
            AND id NOT IN ( \
                WITH RECURSIVE up (id, prev_turn_id) AS ( \
                    SELECT t.id, t.prev_turn_id FROM turns t WHERE t.id = $2 \
                    UNION SELECT t.id, t.prev_turn_id FROM up JOIN turns t ON t.id = up.prev_turn_id) \
                SELECT id FROM up) \
            AND id NOT IN ( \
                WITH RECURSIVE below (id) AS ( \
                    SELECT t.id FROM turns t WHERE t.id = $2 \
                    UNION SELECT t.id FROM below JOIN turns t ON t.prev_turn_id = below.id) \
                SELECT id FROM below)"
    };
}

macro_rules! turns_of_chat {
    () => {
        "chat_id = $1 AND deleted_at IS NULL"
    };
}

macro_rules! unfinished {
    () => {
        " AND status IN ('pending', 'streaming', 'waiting_subagents')"
    };
}

sql! {
    /// Locks the chat's row until the transaction ends, as every writer that adds turns does.
    HOLD = "UPDATE chats SET rev = rev + 1 WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL \
        RETURNING last_viewed_turn_id, title";
    UNFINISHED_BELOW = concat!("SELECT id FROM turns WHERE ", turns_below!(), unfinished!());
    UNFINISHED_OTHERS = concat!("SELECT id FROM turns WHERE ", turns_elsewhere!(), unfinished!());
    UNFINISHED_IN_CHAT = concat!("SELECT id FROM turns WHERE ", turns_of_chat!(), unfinished!());
    MARK_BELOW = concat!("UPDATE turns SET deletion_id = $3, deleted_at = $4 WHERE ", turns_below!());
    MARK_OTHERS = concat!("UPDATE turns SET deletion_id = $3, deleted_at = $4 WHERE ", turns_elsewhere!());
    MARK_ALL = concat!("UPDATE turns SET deletion_id = $2, deleted_at = $3 WHERE ", turns_of_chat!());
    LIVE_TEXT = "SELECT SUBSTR(content_text, 1, 400) FROM turns \
        WHERE chat_id = $1 AND id = $2 AND deleted_at IS NULL";
    LIVE_NAME = "SELECT name FROM branches WHERE chat_id = $1 AND id = $2 AND deleted_at IS NULL";
    MARK_BRANCH = "UPDATE branches SET deleted_at = $3, deletion_id = $4 \
        WHERE chat_id = $1 AND id = $2 AND deleted_at IS NULL";
    MARK_ALL_BRANCHES = "UPDATE branches SET deleted_at = $2, deletion_id = $3 \
        WHERE chat_id = $1 AND deleted_at IS NULL";
    /// Branches that lost their last turn or their fork turn.
    MARK_EMPTIED = "UPDATE branches SET deleted_at = $2, deletion_id = $3 WHERE chat_id = $1 AND deleted_at IS NULL \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = branches.id AND t.deleted_at IS NULL) \
        AND (EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = branches.id AND t.deletion_id = $3) \
            OR EXISTS (SELECT 1 FROM turns f WHERE f.id = branches.fork_turn_id AND f.deletion_id = $3))";
    /// Branches without turns that do not fork from $4 or a turn below it.
    MARK_EMPTY = "UPDATE branches SET deleted_at = $2, deletion_id = $3 WHERE chat_id = $1 AND deleted_at IS NULL \
        AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.branch_id = branches.id AND t.deleted_at IS NULL) \
        AND (fork_turn_id IS NULL OR fork_turn_id NOT IN ( \
            WITH RECURSIVE below (id) AS ( \
                SELECT t.id FROM turns t WHERE t.id = $4 \
                UNION SELECT t.id FROM below JOIN turns t ON t.prev_turn_id = below.id) \
            SELECT id FROM below))";
    LIVE_BRANCH = "SELECT id FROM branches WHERE chat_id = $1 AND deleted_at IS NULL LIMIT 1";
    /// A chat that loses its last turn keeps its first branch, so that it can continue.
    KEEP_ONE = "UPDATE branches SET deleted_at = NULL, deletion_id = NULL WHERE id = ( \
        SELECT b.id FROM branches b WHERE b.deletion_id = $1 AND b.fork_turn_id IS NULL \
        ORDER BY b.created_at, b.id LIMIT 1)";
    SET_HEADS = "UPDATE branches SET head_turn_id = ( \
            SELECT t.id FROM turns t WHERE t.branch_id = branches.id AND t.deleted_at IS NULL \
            ORDER BY t.depth DESC LIMIT 1) \
        WHERE deleted_at IS NULL AND id IN (SELECT t.branch_id FROM turns t WHERE t.deletion_id = $1)";
    MARK_CHAT = "UPDATE chats SET deleted_at = $2, deletion_id = $3 WHERE id = $1";
    /// The turn itself, or the nearest above it that is not deleted.
    NEAREST_ABOVE = "WITH RECURSIVE up (id, prev_turn_id, deleted_at, step) AS ( \
            SELECT t.id, t.prev_turn_id, t.deleted_at, CAST(0 AS BIGINT) FROM turns t WHERE t.id = $1 \
            UNION ALL \
            SELECT t.id, t.prev_turn_id, t.deleted_at, up.step + 1 FROM up JOIN turns t ON t.id = up.prev_turn_id \
            WHERE up.deleted_at IS NOT NULL AND up.step < 100000) \
        SELECT id FROM up WHERE deleted_at IS NULL ORDER BY step LIMIT 1";
    NEWEST = newest_turn_of!("$1");
    SET_LAST_VIEWED = "UPDATE chats SET last_viewed_turn_id = $2 WHERE id = $1";
    INSERT = "INSERT INTO deletions (id, owner_id, chat_id, kind, root_id, title, turns, branches, \
        last_viewed_turn_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    FIRST_OF_BRANCH = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.branch_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY t.depth LIMIT 1";
}

/// The root of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletionRoot {
    Chat,
    /// The branch's first turn with everything below it; only the branch if it has no turns.
    Branch(BranchId),
    /// The turn with everything below.
    Turn(TurnId),
    /// Everything in the chat but the path to this turn and what is below it.
    AllBut(TurnId),
}

impl DeletionRoot {
    fn kind(self) -> DeletionKind {
        match self {
            Self::Chat => DeletionKind::Chat,
            Self::Branch(_) => DeletionKind::Branch,
            Self::Turn(_) => DeletionKind::Turn,
            Self::AllBut(_) => DeletionKind::Prune,
        }
    }
}

/// A deletion to create.
#[derive(Debug, Clone, Copy)]
pub struct NewDeletion {
    pub id: DeletionId,
    pub owner_id: UserId,
    pub chat_id: ChatId,
    pub root: DeletionRoot,
    pub at: DateTime<Utc>,
}

/// The result of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeletionOutcome {
    /// The owner has no such item, or it is already deleted.
    Gone,
    /// These replies are unfinished, and nothing is marked. The caller rolls back, stops them and retries, because only
    /// finished replies are deleted.
    Running(Vec<TurnId>),
    /// The deletion would leave no branch in the chat. The caller rolls back.
    LastBranch,
    /// There is nothing else to prune. The caller rolls back.
    Nothing,
    Done {
        turns: u64,
        branches: u64,
    },
}

/// Soft-deletes chats, branches or turns.
pub async fn soft_delete(tx: &mut Tx, new: &NewDeletion) -> Result<DeletionOutcome, StoreError> {
    let (chat, id) = (new.chat_id.uuid(), new.id.uuid());
    let held: Option<(Option<Uuid>, String)> = in_tx!(&mut *tx, |conn| {
        sqlx::query_as(HOLD).bind(new.owner_id.uuid()).bind(chat).fetch_optional(conn).await?
    });
    let Some((last_viewed, chat_title)) = held else { return Ok(DeletionOutcome::Gone) };
    let (root, title) = match new.root {
        DeletionRoot::Chat => (chat, Some(chat_title)),
        DeletionRoot::Branch(branch) => (branch.uuid(), find_text(tx, LIVE_NAME, chat, branch.uuid()).await?),
        DeletionRoot::Turn(turn) | DeletionRoot::AllBut(turn) => {
            (turn.uuid(), find_text(tx, LIVE_TEXT, chat, turn.uuid()).await?.map(|text| derive_title(&text)))
        }
    };
    let Some(title) = title else { return Ok(DeletionOutcome::Gone) };
    let turns = match AffectedTurns::of_deletion(tx, new).await? {
        Some(affected) => {
            // The chat is locked, so that no other reply can start. The rows of replies that run are not touched: the
            // journal locks several of them in one transaction, in another order.
            let running = affected.find_unfinished(tx, new).await?;
            if !running.is_empty() {
                return Ok(DeletionOutcome::Running(running));
            }
            affected.mark(tx, new).await?
        }
        None => 0,
    };
    let mut branches = mark_branches(tx, new).await?;
    if new.root != DeletionRoot::Chat && !has_live_branch(tx, chat).await? {
        if let DeletionRoot::Branch(_) = new.root {
            return Ok(DeletionOutcome::LastBranch);
        }
        branches -= in_tx!(&mut *tx, |conn| sqlx::query(KEEP_ONE).bind(id).execute(conn).await?.rows_affected());
    }
    if turns == 0 && branches == 0 && new.root != DeletionRoot::Chat {
        return Ok(DeletionOutcome::Nothing);
    }
    let moved_from = match new.root {
        DeletionRoot::Chat => {
            in_tx!(&mut *tx, |conn| {
                sqlx::query(MARK_CHAT).bind(chat).bind(new.at).bind(id).execute(conn).await?;
            });
            None
        }
        _ => {
            in_tx!(&mut *tx, |conn| {
                sqlx::query(SET_HEADS).bind(id).execute(conn).await?;
            });
            move_reader(tx, chat, last_viewed).await?
        }
    };
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(id)
            .bind(new.owner_id.uuid())
            .bind(chat)
            .bind(to_word(new.root.kind()))
            .bind(root)
            .bind(title)
            .bind(to_bigint(turns))
            .bind(to_bigint(branches))
            .bind(moved_from)
            .bind(new.at)
            .execute(conn)
            .await?;
    });
    Ok(DeletionOutcome::Done { turns, branches })
}

async fn find_text(tx: &mut Tx, query: &'static str, chat: Uuid, id: Uuid) -> Result<Option<String>, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(query).bind(chat).bind(id).fetch_optional(conn).await?))
}

/// Returns the first turn of a branch of this owner; `None` for a branch without turns.
pub async fn first_turn_of_branch(db: &Db, owner: UserId, branch: BranchId) -> Result<Option<TurnId>, StoreError> {
    let first: Option<Uuid> = with_pool!(db, |pool| {
        sqlx::query_scalar(FIRST_OF_BRANCH).bind(owner.uuid()).bind(branch.uuid()).fetch_optional(pool).await?
    });
    Ok(first.map(TurnId::from))
}

/// The turns of a deletion: the queries that find the unfinished ones and that mark all, and the turn that bounds them.
struct AffectedTurns {
    unfinished: &'static str,
    mark: &'static str,
    bound: Option<Uuid>,
}

impl AffectedTurns {
    fn below(turn: Uuid) -> Self {
        Self { unfinished: UNFINISHED_BELOW, mark: MARK_BELOW, bound: Some(turn) }
    }

    /// Returns `None` for a branch without turns.
    async fn of_deletion(tx: &mut Tx, new: &NewDeletion) -> Result<Option<Self>, StoreError> {
        Ok(match new.root {
            DeletionRoot::Chat => Some(Self { unfinished: UNFINISHED_IN_CHAT, mark: MARK_ALL, bound: None }),
            DeletionRoot::Branch(branch) => {
                let first: Option<Uuid> = in_tx!(tx, |conn| {
                    let query = sqlx::query_scalar(FIRST_OF_BRANCH).bind(new.owner_id.uuid()).bind(branch.uuid());
                    query.fetch_optional(conn).await?
                });
                first.map(Self::below)
            }
            DeletionRoot::Turn(turn) => Some(Self::below(turn.uuid())),
            DeletionRoot::AllBut(turn) => {
                Some(Self { unfinished: UNFINISHED_OTHERS, mark: MARK_OTHERS, bound: Some(turn.uuid()) })
            }
        })
    }

    async fn find_unfinished(&self, tx: &mut Tx, new: &NewDeletion) -> Result<Vec<TurnId>, StoreError> {
        let running: Vec<Uuid> = in_tx!(tx, |conn| {
            let query = sqlx::query_scalar(self.unfinished).bind(new.chat_id.uuid());
            match self.bound {
                Some(turn) => query.bind(turn).fetch_all(conn).await?,
                None => query.fetch_all(conn).await?,
            }
        });
        Ok(running.into_iter().map(TurnId::from).collect())
    }

    async fn mark(&self, tx: &mut Tx, new: &NewDeletion) -> Result<u64, StoreError> {
        Ok(in_tx!(tx, |conn| {
            let query = sqlx::query(self.mark).bind(new.chat_id.uuid());
            let query = match self.bound {
                Some(turn) => query.bind(turn),
                None => query,
            };
            query.bind(new.id.uuid()).bind(new.at).execute(conn).await?.rows_affected()
        }))
    }
}

async fn mark_branches(tx: &mut Tx, new: &NewDeletion) -> Result<u64, StoreError> {
    let (chat, id, at) = (new.chat_id.uuid(), new.id.uuid(), new.at);
    Ok(in_tx!(tx, |conn| {
        if new.root == DeletionRoot::Chat {
            sqlx::query(MARK_ALL_BRANCHES).bind(chat).bind(at).bind(id).execute(&mut *conn).await?.rows_affected()
        } else {
            let mut marked = 0;
            // A branch without turns is not matched by them.
            if let DeletionRoot::Branch(branch) = new.root {
                let query = sqlx::query(MARK_BRANCH).bind(chat).bind(branch.uuid()).bind(at).bind(id);
                marked += query.execute(&mut *conn).await?.rows_affected();
            }
            if let DeletionRoot::AllBut(turn) = new.root {
                let query = sqlx::query(MARK_EMPTY).bind(chat).bind(at).bind(id).bind(turn.uuid());
                marked += query.execute(&mut *conn).await?.rows_affected();
            }
            let query = sqlx::query(MARK_EMPTIED).bind(chat).bind(at).bind(id);
            marked + query.execute(&mut *conn).await?.rows_affected()
        }
    }))
}

async fn has_live_branch(tx: &mut Tx, chat: Uuid) -> Result<bool, StoreError> {
    let live: Option<Uuid> = in_tx!(tx, |conn| sqlx::query_scalar(LIVE_BRANCH).bind(chat).fetch_optional(conn).await?);
    Ok(live.is_some())
}

/// Moves the reader's position to the nearest remaining turn above, otherwise to the newest of the chat. Returns the
/// old position if it was moved.
async fn move_reader(tx: &mut Tx, chat: Uuid, from: Option<Uuid>) -> Result<Option<Uuid>, StoreError> {
    let Some(from) = from else { return Ok(None) };
    Ok(in_tx!(tx, |conn| {
        let mut to: Option<Uuid> = sqlx::query_scalar(NEAREST_ABOVE).bind(from).fetch_optional(&mut *conn).await?;
        if to == Some(from) {
            return Ok(None);
        }
        if to.is_none() {
            to = sqlx::query_scalar(NEWEST).bind(chat).fetch_optional(&mut *conn).await?;
        }
        sqlx::query(SET_LAST_VIEWED).bind(chat).bind(to).execute(&mut *conn).await?;
        Some(from)
    }))
}
