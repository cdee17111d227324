//! Spending: tokens and cost of a turn, and of everything in a period by day, model, provider, API token, chat or
//! branch.
//!
//! Spending is never undone: it is read from the ledger, which keeps the calls of deleted turns and chats. A deleted
//! chat is no longer named, but its sums are included. The branches of a chat are the exception: they have the calls
//! that are stored with their turns. Requests for titles count with the chat and the branch of their reply.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_decoded, keep_readable};
use crate::database::rows::{UsageRow, parse_word, to_unsigned};
use turnleaf_domain::{ApiTokenId, BranchId, Charge, ChatId, Cost, CostBasis, TurnId, Usage, UserId};

const LEDGER: &str = "ledger";

macro_rules! token_sums {
    () => {
        concat!(
            "CAST(",
            bounded_sum!("g.input_tokens"),
            " AS BIGINT) AS input_tokens, CAST(",
            bounded_sum!("g.output_tokens"),
            " AS BIGINT) AS output_tokens, CAST(",
            bounded_sum!("g.cache_read_tokens"),
            " AS BIGINT) AS cache_read_tokens, CAST(",
            bounded_sum!("g.cache_write_tokens"),
            " AS BIGINT) AS cache_write_tokens, CAST(",
            bounded_sum!("g.reasoning_tokens"),
            " AS BIGINT) AS reasoning_tokens"
        )
    };
}

pub(crate) use token_sums;

/// The finished calls of a table that are stored with their turns, of this owner ($1), that started from $2 on and
/// before $3. `$which` is a further condition.
macro_rules! calls {
    ($table:literal, $which:literal) => {
        concat!(
            "SELECT c.id AS chat_id, c.title, c.deleted_at, t.branch_id, ",
            $table,
            ".started_at, ",
            $table,
            ".provider, ",
            $table,
            ".model_requested, ",
            $table,
            ".model_returned, ",
            $table,
            ".input_tokens, ",
            $table,
            ".output_tokens, ",
            $table,
            ".cache_read_tokens, ",
            $table,
            ".cache_write_tokens, ",
            $table,
            ".reasoning_tokens, ",
            $table,
            ".cost_micros, ",
            $table,
            ".cost_basis FROM chats c JOIN turns t ON t.chat_id = c.id JOIN ",
            $table,
            " ON ",
            $table,
            ".turn_id = t.id WHERE c.owner_id = $1 AND ",
            $table,
            ".started_at >= $2 AND ",
            $table,
            ".started_at < $3 AND ",
            $table,
            ".status <> 'running'",
            $which
        )
    };
}

/// The calls in the ledger, with the parameters of [`calls`].
macro_rules! ledger_calls {
    ($joins:literal) => {
        concat!("ledger g ", $joins, " WHERE g.owner_id = $1 AND g.started_at >= $2 AND g.started_at < $3")
    };
}

/// Sums over the calls `g` of `$from`. `$keys` are the grouping columns.
macro_rules! sums {
    ($keys:literal, $from:expr, $group:literal) => {
        concat!(
            "SELECT ",
            $keys,
            ", COUNT(*) AS generations, ",
            token_sums!(),
            ", CAST(SUM(CASE WHEN g.input_tokens IS NULL OR g.output_tokens IS NULL THEN 1 ELSE 0 END) AS BIGINT) \
             AS unknown_token_generations, CAST(",
            bounded_sum!("g.cost_micros"),
            " AS BIGINT) AS cost_micros, CAST(SUM(CASE WHEN g.cost_micros IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown_cost_generations, \
             CAST(SUM(CASE WHEN g.cost_basis IN ('configured', 'listed') THEN 1 ELSE 0 END) AS BIGINT) \
             AS estimated_generations FROM ",
            $from,
            " GROUP BY ",
            $group,
            " ORDER BY ",
            $group
        )
    };
}

sql! {
    TURN_USAGE = concat!("SELECT ", token_sums!(), " FROM generations g WHERE g.turn_id = $1");
    TURN_CHARGES = "SELECT cost_micros, cost_basis, price_version FROM generations WHERE turn_id = $1 ORDER BY step";
    // A time is text in SQLite, and casts to the same text in PostgreSQL, up to the day.
    BY_DAY = sums!("SUBSTR(CAST(g.started_at AS TEXT), 1, 10) AS day", ledger_calls!(""), "1");
    BY_MODEL = sums!("g.provider AS provider, g.model AS model", ledger_calls!(""), "1, 2");
    BY_PROVIDER = sums!("g.provider AS provider", ledger_calls!(""), "1");
    /// A token that was deleted has no name.
    BY_TOKEN = sums!("g.token_id AS token_id, k.name AS token_name",
        ledger_calls!("LEFT JOIN api_tokens k ON k.id = g.token_id AND k.owner_id = g.owner_id"), "1, 2");
    BY_CHAT = sums!("c.id AS chat_id, c.title AS title",
        ledger_calls!("LEFT JOIN chats c ON c.id = g.chat_id AND c.owner_id = g.owner_id AND c.deleted_at IS NULL"),
        "1, 2");
    BY_BRANCH = sums!("g.branch_id AS branch_id, (SELECT b.name FROM branches b WHERE b.id = g.branch_id) AS branch_name",
        concat!("(", calls!("generations", " AND NOT generations.is_copy"), " UNION ALL ", calls!("title_requests", ""),
            ") g WHERE g.chat_id = $4 AND g.deleted_at IS NULL"),
        "1, 2");
}

/// The grouping of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpendingGrouping {
    /// The day on which the provider was called, in UTC.
    Day,
    /// Provider and model, by the model name in the response.
    Model,
    Provider,
    /// The API token whose requests began the calls.
    Token,
    Chat,
    /// The branches of one chat that is not deleted, each with the turns that were written on it.
    Branch(ChatId),
}

/// A sum of usage and cost. Of the fields before `generations`, those of the grouping are set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, utoipa::ToSchema)]
pub struct SpendingSum {
    /// The day, as `YYYY-MM-DD`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Absent in the sum of all deleted chats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat_id: Option<ChatId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_id: Option<BranchId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch_name: Option<String>,
    /// Absent in the sum of all calls that no API token began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_id: Option<ApiTokenId>,
    /// The name of the API token, unless it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_name: Option<String>,
    /// The number of provider calls.
    pub generations: u64,
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of calls with unknown input or output tokens, which the token sums lack.
    pub unknown_token_generations: u64,
    /// The sum of known costs in millionths of a US dollar; null if none is known.
    pub cost_micros: Option<u64>,
    /// The number of calls with unknown cost, which the cost lacks.
    pub unknown_cost_generations: u64,
    /// The number of calls whose cost was computed from a price list.
    pub estimated_generations: u64,
}

impl SpendingSum {
    /// Adds up disjoint sums.
    pub fn total(sums: &[Self]) -> Self {
        sums.iter().fold(Self::default(), |total, sum| Self {
            generations: total.generations + sum.generations,
            usage: total.usage + sum.usage,
            unknown_token_generations: total.unknown_token_generations + sum.unknown_token_generations,
            cost_micros: match (total.cost_micros, sum.cost_micros) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            },
            unknown_cost_generations: total.unknown_cost_generations + sum.unknown_cost_generations,
            estimated_generations: total.estimated_generations + sum.estimated_generations,
            ..Self::default()
        })
    }
}

struct SumRow {
    day: Lossy<Option<String>>,
    provider: Lossy<Option<String>>,
    model: Lossy<Option<String>>,
    chat_id: Lossy<Option<Uuid>>,
    title: Lossy<Option<String>>,
    branch_id: Lossy<Option<Uuid>>,
    branch_name: Lossy<Option<String>>,
    token_id: Lossy<Option<Uuid>>,
    token_name: Lossy<Option<String>>,
    generations: i64,
    usage: UsageRow,
    unknown_token_generations: i64,
    cost_micros: Option<i64>,
    unknown_cost_generations: i64,
    estimated_generations: i64,
}
from_row!(SumRow {
    day: default,
    provider: default,
    model: default,
    chat_id: default,
    title: default,
    branch_id: default,
    branch_name: default,
    token_id: default,
    token_name: default,
    generations,
    usage: flatten,
    unknown_token_generations,
    cost_micros,
    unknown_cost_generations,
    estimated_generations,
});

impl From<SumRow> for SpendingSum {
    /// An unreadable label is omitted; its spending still counts.
    fn from(row: SumRow) -> Self {
        let known = |id: &Lossy<Option<Uuid>>| id.get().copied().flatten().unwrap_or_default();
        let (chat, branch, token) = (known(&row.chat_id), known(&row.branch_id), known(&row.token_id));
        Self {
            day: row.day.unwrap_or_default(LEDGER, "started_at", Uuid::nil()),
            provider: row.provider.unwrap_or_default(LEDGER, "provider", Uuid::nil()),
            model: row.model.unwrap_or_default(LEDGER, "model", Uuid::nil()),
            chat_id: row.chat_id.unwrap_or_default("chats", "id", Uuid::nil()).map(ChatId::from),
            title: row.title.unwrap_or_default("chats", "title", chat),
            branch_id: row.branch_id.unwrap_or_default("branches", "id", Uuid::nil()).map(BranchId::from),
            branch_name: row.branch_name.unwrap_or_default("branches", "name", branch),
            token_id: row.token_id.unwrap_or_default(LEDGER, "token_id", Uuid::nil()).map(ApiTokenId::from),
            token_name: row.token_name.unwrap_or_default("api_tokens", "name", token),
            generations: to_unsigned(row.generations),
            usage: row.usage.into(),
            unknown_token_generations: to_unsigned(row.unknown_token_generations),
            cost_micros: row.cost_micros.map(to_unsigned),
            unknown_cost_generations: to_unsigned(row.unknown_cost_generations),
            estimated_generations: to_unsigned(row.estimated_generations),
        }
    }
}

/// Returns the sums of this owner over the calls that started from `from` on and before `to`, ordered by their
/// grouping.
pub async fn sums(
    db: &Db,
    owner: UserId,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
    by: SpendingGrouping,
) -> Result<Vec<SpendingSum>, StoreError> {
    let (text, chat) = match by {
        SpendingGrouping::Day => (BY_DAY, None),
        SpendingGrouping::Model => (BY_MODEL, None),
        SpendingGrouping::Provider => (BY_PROVIDER, None),
        SpendingGrouping::Token => (BY_TOKEN, None),
        SpendingGrouping::Chat => (BY_CHAT, None),
        SpendingGrouping::Branch(chat) => (BY_BRANCH, Some(chat)),
    };
    let rows: Vec<Readable<SumRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(text).bind(owner.uuid()).bind(from).bind(to);
        match chat {
            Some(chat) => query.bind(chat.uuid()).fetch_all(pool).await?,
            None => query.fetch_all(pool).await?,
        }
    });
    Ok(keep_readable(rows, LEDGER).into_iter().map(SpendingSum::from).collect())
}

struct ChargeRow {
    cost_micros: Option<i64>,
    cost_basis: Option<String>,
    price_version: Option<String>,
}
from_row!(ChargeRow { cost_micros, cost_basis, price_version });

impl ChargeRow {
    fn into_charge(self, turn: TurnId) -> Result<Option<Charge>, StoreError> {
        let (Some(micros), Some(basis)) = (self.cost_micros, self.cost_basis) else { return Ok(None) };
        let basis: CostBasis = parse_word(basis, "generations", "cost_basis", turn)?;
        Ok(Some(Charge { micros: to_unsigned(micros), basis, price_version: self.price_version }))
    }
}

/// Returns the known usage and the cost of a turn's generations (`docs/reference/domain.md I11`).
pub async fn turn_usage_and_cost(db: &Db, turn: TurnId) -> Result<(Usage, Option<Cost>), StoreError> {
    let (usage, rows): (UsageRow, Vec<Readable<ChargeRow>>) = with_pool!(db, |pool| {
        let usage = sqlx::query_as(TURN_USAGE).bind(turn.uuid()).fetch_one(pool).await?;
        (usage, sqlx::query_as(TURN_CHARGES).bind(turn.uuid()).fetch_all(pool).await?)
    });
    let rows = keep_readable(rows, "generations").into_iter();
    let charges = keep_decoded(rows.map(|row| row.into_charge(turn)), "generations");
    Ok((usage.into(), Cost::from_charges(charges.iter().map(Option::as_ref))))
}
