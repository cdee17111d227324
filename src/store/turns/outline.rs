//! The outline of a chat's tree: one small row per turn, the turns with certain words, and the number of leaves.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::like_pattern::contains_pattern;
use crate::database::rows::inconsistent;
use turnleaf_domain::branches::tree::TurnNode;
use turnleaf_domain::branches::tree::outline::{TurnSketch, WORDS_CHARS};
use turnleaf_domain::text::excerpt::first_words;
use turnleaf_domain::{ChatId, Role, TurnId, TurnStatus, UserId, limits};

sql! {
    // More characters than are displayed, because white space is folded afterwards.
    SKETCHES = "SELECT t.id, t.prev_turn_id, t.ord, t.role, t.status, t.branch_id, \
        SUBSTR(t.content_text, 1, 240) AS words, t.created_at FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND t.chat_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY t.ord LIMIT $3";
    /// Conditions on the owner, the chat and the text follow.
    MATCHING = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE t.deleted_at IS NULL \
        AND c.deleted_at IS NULL ";
    /// Every leaf is the head of its branch (`docs/reference/domain.md I4`), so only the branches are counted,
    /// however many turns there are.
    COUNT_LEAVES = "SELECT COUNT(*) FROM branches b JOIN chats c ON c.id = b.chat_id \
        JOIN turns h ON h.id = b.head_turn_id AND h.branch_id = b.id \
        WHERE c.owner_id = $1 AND b.chat_id = $2 AND b.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND h.deleted_at IS NULL \
        AND NOT EXISTS (SELECT 1 FROM turns n WHERE n.prev_turn_id = h.id AND n.deleted_at IS NULL)";
}

struct SketchRow {
    id: Uuid,
    prev_turn_id: Option<Uuid>,
    ord: i64,
    role: String,
    status: String,
    branch_id: Uuid,
    words: String,
    created_at: DateTime<Utc>,
}
from_row!(SketchRow { id, prev_turn_id, ord, role, status, branch_id, words, created_at });

impl SketchRow {
    fn into_sketch(self) -> Result<TurnSketch, StoreError> {
        let role = Role::parse(&self.role).ok_or_else(|| inconsistent("turns", "role", self.id, &self.role))?;
        let status =
            TurnStatus::parse(&self.status).ok_or_else(|| inconsistent("turns", "status", self.id, &self.status))?;
        Ok(TurnSketch {
            node: TurnNode {
                id: self.id.into(),
                prev: self.prev_turn_id.map(TurnId::from),
                ord: self.ord,
                role,
                status,
            },
            branch: self.branch_id.into(),
            words: first_words(&self.words, WORDS_CHARS),
            created_at: self.created_at,
        })
    }
}

/// Returns every turn of the chat with the start of its text, by creation.
pub async fn sketches(db: &Db, owner: UserId, chat: ChatId) -> Result<Vec<TurnSketch>, StoreError> {
    let rows: Vec<SketchRow> = with_pool!(db, |pool| {
        sqlx::query_as(SKETCHES)
            .bind(owner.uuid())
            .bind(chat.uuid())
            .bind(limits::TURNS_PER_CHAT)
            .fetch_all(pool)
            .await?
    });
    rows.into_iter().map(SketchRow::into_sketch).collect()
}

/// Returns the turns whose text contains every one of these words, regardless of case; on SQLite only ASCII letters
/// are folded.
pub async fn turns_containing(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    words: &[String],
) -> Result<HashSet<TurnId>, StoreError> {
    let rows: Vec<Uuid> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(MATCHING);
        query.push("AND c.owner_id = ").push_bind(owner.uuid()).push(" AND t.chat_id = ").push_bind(chat.uuid());
        for word in words {
            query
                .push(" AND LOWER(t.content_text) LIKE LOWER(")
                .push_bind(contains_pattern(word, |_| false))
                .push(") ESCAPE '!'");
        }
        query.build_query_scalar().persistent(false).fetch_all(pool).await?
    });
    Ok(rows.into_iter().map(TurnId::from).collect())
}

/// Returns the number of leaves of the chat; 0 for a chat without turns, or of another owner.
pub async fn count_leaves(db: &Db, owner: UserId, chat: ChatId) -> Result<i64, StoreError> {
    Ok(with_pool!(db, |pool| {
        sqlx::query_scalar(COUNT_LEAVES).bind(owner.uuid()).bind(chat.uuid()).fetch_one(pool).await?
    }))
}
