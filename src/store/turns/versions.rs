//! Versions of turns, for version lists, and newer turns outside of a path.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable, time_of_id};
use crate::database::rows::to_unsigned;
use turnleaf_domain::{BranchId, ChatId, TurnId, TurnStatus, UserId};

sql! {
    /// A list of turn ids follows. The text of a running turn is stored at its end. `CROSS` makes SQLite start with
    /// the turns; for a long list it would otherwise start with all chats of the owner.
    VERSIONS = "SELECT t.id, t.branch_id, t.depth, t.status, t.model_used, t.created_at, \
        SUBSTR(t.content_text, 1, 200) AS words, EXISTS (SELECT 1 FROM turn_blocks b WHERE b.turn_id = t.id \
            AND b.author = 'user' AND t.role = 'assistant') AS is_edited FROM turns t CROSS JOIN chats c ";
    /// A list of turn ids follows. Deleted versions count.
    NEWEST = "SELECT t.id, COALESCE((SELECT MAX(s.ord) FROM turns s \
            WHERE s.prev_turn_id = CASE WHEN t.role = 'user' THEN t.id ELSE t.prev_turn_id END), t.ord) \
        FROM turns t JOIN chats c ON c.id = t.chat_id ";
    NEWER = "SELECT t.id, COUNT(*) OVER () FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id = $2 AND t.ord > $3 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY t.ord DESC LIMIT 1";
}

/// A turn as one of several versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnVersion {
    pub id: TurnId,
    pub branch_id: BranchId,
    pub depth: i64,
    pub status: TurnStatus,
    pub model_used: Option<String>,
    pub created_at: DateTime<Utc>,
    /// Its first 200 characters; empty while it runs.
    pub words: String,
    /// True for a reply that a person wrote.
    pub is_edited: bool,
}

struct TurnVersionRow {
    id: Uuid,
    branch_id: Uuid,
    depth: i64,
    status: Lossy<String>,
    model_used: Lossy<Option<String>>,
    created_at: Lossy<DateTime<Utc>>,
    words: Lossy<String>,
    is_edited: bool,
}
from_row!(TurnVersionRow { id, branch_id, depth, status, model_used, created_at, words, is_edited });

/// Returns these turns of this owner, by creation. At most a few hundred ids.
pub async fn versions(db: &Db, owner: UserId, turns: &[TurnId]) -> Result<Vec<TurnVersion>, StoreError> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<Readable<TurnVersionRow>> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(VERSIONS);
        query.push("WHERE c.id = t.chat_id AND c.owner_id = ").push_bind(owner.uuid());
        query.push(" AND t.deleted_at IS NULL AND c.deleted_at IS NULL AND t.id IN (");
        let mut list = query.separated(", ");
        for turn in turns {
            list.push_bind(turn.uuid());
        }
        query.push(") ORDER BY t.ord");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    // Unreadable values get the same replacements as in reads of turns.
    let version = |row: TurnVersionRow| TurnVersion {
        id: row.id.into(),
        branch_id: row.branch_id.into(),
        depth: row.depth,
        status: row.status.into_result().ok().and_then(|word| TurnStatus::parse(&word)).unwrap_or(TurnStatus::Error),
        model_used: row.model_used.into_result().ok().flatten(),
        created_at: row.created_at.into_result().unwrap_or_else(|_| time_of_id(row.id)),
        words: row.words.into_result().unwrap_or_default(),
        is_edited: row.is_edited,
    };
    Ok(keep_readable(rows, "turns").into_iter().map(version).collect())
}

/// Returns the position in the chat of the newest version that each of these replies ever had; for a message, of the
/// newest reply to it. Deleted ones count, so that the number never decreases. Turns of other owners, and replies
/// without a message, are missing.
pub async fn newest_versions(db: &Db, owner: UserId, turns: &[TurnId]) -> Result<HashMap<TurnId, i64>, StoreError> {
    if turns.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<(Uuid, i64)> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(NEWEST);
        query.push("WHERE c.owner_id = ").push_bind(owner.uuid());
        query.push(" AND (t.role = 'user' OR t.prev_turn_id IS NOT NULL) AND t.id IN (");
        let mut list = query.separated(", ");
        for turn in turns {
            list.push_bind(turn.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    Ok(rows.into_iter().map(|(turn, ord)| (turn.into(), ord)).collect())
}

/// Returns the newest turn of a chat and the number of turns after this position, if there are any.
pub async fn newest_after(db: &Db, owner: UserId, chat: ChatId, ord: i64) -> Result<Option<(TurnId, u64)>, StoreError> {
    let row: Option<(Uuid, i64)> = with_pool!(db, |pool| {
        sqlx::query_as(NEWER).bind(owner.uuid()).bind(chat.uuid()).bind(ord).fetch_optional(pool).await?
    });
    Ok(row.map(|(turn, count)| (turn.into(), to_unsigned(count))))
}
