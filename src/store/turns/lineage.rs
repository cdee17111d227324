//! Lineages: the turns of a path without their blocks, from which statistics of a whole path are computed, however
//! long it is.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::keep_decoded;
use crate::database::rows::{UsageRow, from_json, inconsistent, to_unsigned};
use turnleaf_domain::{BranchId, ChatId, Content, Cost, Role, TurnId, TurnStatus, Usage, UserId, limits};

sql! {
    LINEAGE = concat!(up_from_leaf!(), "SELECT t.id, t.chat_id, t.branch_id, t.role, t.status, t.input_tokens, \
        t.output_tokens, t.cache_read_tokens, t.cache_write_tokens, t.reasoning_tokens, t.cost_micros, \
        t.is_cost_estimated, t.created_at, t.completed_at, \
        (SELECT MIN(g.first_token_at) FROM generations g WHERE g.turn_id = t.id) AS first_token_at \
        FROM path JOIN turns t ON t.id = path.id ORDER BY path.step DESC");
    /// `CROSS` makes SQLite start with the path; otherwise it would read every block in the database.
    CALLS = concat!(up_from_leaf!(), "SELECT b.id, b.content FROM path CROSS JOIN turn_blocks b \
        WHERE b.turn_id = path.id AND b.block_type = 'tool_use' ORDER BY path.step DESC, b.seq");
}

/// One turn of a path, with its statistics.
#[derive(Debug, Clone, PartialEq)]
pub struct Ancestor {
    pub id: TurnId,
    pub chat_id: ChatId,
    pub branch_id: BranchId,
    pub role: Role,
    pub status: TurnStatus,
    pub usage: Usage,
    pub cost: Option<Cost>,
    pub created_at: DateTime<Utc>,
    /// The time of the first token of any of its provider calls.
    pub first_token_at: Option<DateTime<Utc>>,
    pub completed_at: Option<DateTime<Utc>>,
}

struct AncestorRow {
    id: Uuid,
    chat_id: Uuid,
    branch_id: Uuid,
    role: String,
    status: String,
    usage: UsageRow,
    cost_micros: Option<i64>,
    is_cost_estimated: Option<bool>,
    created_at: DateTime<Utc>,
    completed_at: Option<DateTime<Utc>>,
    first_token_at: Option<DateTime<Utc>>,
}
from_row!(AncestorRow {
    id,
    chat_id,
    branch_id,
    role,
    status,
    usage: flatten,
    cost_micros,
    is_cost_estimated,
    created_at,
    completed_at,
    first_token_at,
});

impl AncestorRow {
    fn into_ancestor(self) -> Result<Ancestor, StoreError> {
        let cost = |micros| Cost { micros: to_unsigned(micros), is_estimated: self.is_cost_estimated.unwrap_or(true) };
        Ok(Ancestor {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            branch_id: self.branch_id.into(),
            role: Role::parse(&self.role).ok_or_else(|| inconsistent("turns", "role", self.id, &self.role))?,
            status: TurnStatus::parse(&self.status)
                .ok_or_else(|| inconsistent("turns", "status", self.id, &self.status))?,
            usage: self.usage.into(),
            cost: self.cost_micros.map(cost),
            created_at: self.created_at,
            first_token_at: self.first_token_at,
            completed_at: self.completed_at,
        })
    }
}

/// Returns the path that ends at `leaf`, from root to leaf; empty if the owner has no such turn.
pub async fn lineage(db: &Db, owner: UserId, leaf: TurnId) -> Result<Vec<Ancestor>, StoreError> {
    let rows: Vec<AncestorRow> = with_pool!(db, |pool| {
        sqlx::query_as(LINEAGE)
            .bind(owner.uuid())
            .bind(leaf.uuid())
            .bind(limits::TURNS_PER_CHAT)
            .fetch_all(pool)
            .await?
    });
    rows.into_iter().map(AncestorRow::into_ancestor).collect()
}

/// Returns the names of the tools that the last `turns` turns of the path to `leaf` called, in order.
pub async fn tools_called(db: &Db, owner: UserId, leaf: TurnId, turns: usize) -> Result<Vec<String>, StoreError> {
    let steps = i64::try_from(turns).unwrap_or(i64::MAX);
    let rows: Vec<(Uuid, String)> = with_pool!(db, |pool| {
        sqlx::query_as(CALLS).bind(owner.uuid()).bind(leaf.uuid()).bind(steps).fetch_all(pool).await?
    });
    let mut names = Vec::with_capacity(rows.len());
    for (id, content) in rows {
        let content = from_json(&content, "turn_blocks", "content", id);
        if let Some(Content::ToolUse { tool_name, .. }) = keep_decoded([content], "turn_blocks").pop() {
            names.push(tool_name);
        }
    }
    Ok(names)
}
