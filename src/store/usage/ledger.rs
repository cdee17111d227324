//! The ledger: a row per provider call that has ended, with its tokens and its cost and without texts. Rows are written
//! in the transaction that ends the call, and stay when its chat or its API token is deleted. So a purge neither lowers
//! what was spent nor refunds a budget.

use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::database::rows::{UsageRow, to_bigint, to_unsigned};
use crate::usage::spending::token_sums;
use turnleaf_domain::{
    ApiTokenId, ChatId, ExchangeId, GenerationId, SpendingAmount, TitleRequestId, TurnId, Usage, UserId,
};

const TABLE: &str = "ledger";

/// A count of a call `g`, unless it is impossible: the end of a call does not depend on it.
macro_rules! possible {
    ($column:literal) => {
        concat!("CASE WHEN g.", $column, " >= 0 THEN g.", $column, " END")
    };
}

/// Writes the rows of calls `g`. `$counted` are the parameters with what counts in budgets, the rest of the statement
/// names the tables and selects the calls. A row that is written stays.
macro_rules! record {
    ($chat:literal, $token:literal, $status:expr, $counted:expr, $from:literal) => {
        concat!(
            "INSERT INTO ledger (id, owner_id, chat_id, token_id, provider, model, status, started_at, input_tokens, \
             output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micros, cost_basis, \
             counted_tokens, counted_micros) SELECT g.id, u.id, ",
            $chat,
            ", ",
            $token,
            ", g.provider, COALESCE(g.model_returned, g.model_requested), ",
            $status,
            ", g.started_at, ",
            possible!("input_tokens"),
            ", ",
            possible!("output_tokens"),
            ", ",
            possible!("cache_read_tokens"),
            ", ",
            possible!("cache_write_tokens"),
            ", ",
            possible!("reasoning_tokens"),
            ", ",
            possible!("cost_micros"),
            ", CASE WHEN g.cost_basis IN ('reported', 'configured', 'listed', 'refused') THEN g.cost_basis END, ",
            $counted,
            $from,
            " ON CONFLICT DO NOTHING"
        )
    };
}

/// The part of budgets that a call uses up if nobody estimates it, as its provider reported it.
macro_rules! reported_counts {
    () => {
        "CASE WHEN g.input_tokens >= 0 THEN g.input_tokens ELSE 0 END \
         + CASE WHEN g.output_tokens >= 0 THEN g.output_tokens ELSE 0 END, \
         CASE WHEN g.cost_micros >= 0 THEN g.cost_micros ELSE 0 END"
    };
}

/// The status of a call that has ended.
macro_rules! ended_status {
    () => {
        "CASE WHEN g.status IN ('complete', 'cancelled') THEN g.status ELSE 'error' END"
    };
}

/// Sums by model from $1 on and before $2, at most $3 of them. They name neither chats nor tokens. `$id` and `$name` are
/// those of whose they are, and `$join` has the tables for it.
macro_rules! sums_by {
    ($id:literal, $name:literal, $join:expr) => {
        concat!(
            "SELECT ",
            $id,
            " AS spender_id, MAX(",
            $name,
            ") AS name, g.provider, g.model, COUNT(*) AS calls, ",
            token_sums!(),
            ", CAST(",
            bounded_sum!("g.cost_micros"),
            " AS BIGINT) AS cost_micros, \
             CAST(SUM(CASE WHEN g.cost_micros IS NULL THEN 1 ELSE 0 END) AS BIGINT) AS unknown_costs, \
             CAST(SUM(CASE WHEN g.cost_basis IN ('configured', 'listed') THEN 1 ELSE 0 END) AS BIGINT) \
             AS estimated_costs FROM ledger g ",
            $join,
            " WHERE g.started_at >= $1 AND g.started_at < $2 \
             GROUP BY 1, g.provider, g.model ORDER BY 1, g.provider, g.model LIMIT $3"
        )
    };
}

sql! {
    RECORD_GENERATION = record!("c.id", "e.token_id", ended_status!(), "CAST($2 AS BIGINT), CAST($3 AS BIGINT)",
        " FROM generations g JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id \
        JOIN users u ON u.id = c.owner_id LEFT JOIN exchanges e ON e.id = t.exchange_id \
        WHERE g.id = $1 AND g.status <> 'running' AND NOT g.is_copy");
    RECORD_TURN = record!("c.id", "e.token_id", ended_status!(), reported_counts!(),
        " FROM generations g JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id \
        JOIN users u ON u.id = c.owner_id LEFT JOIN exchanges e ON e.id = t.exchange_id \
        WHERE g.turn_id = $1 AND g.status <> 'running' AND NOT g.is_copy");
    RECORD_TITLE = record!("g.chat_id", "g.token_id", ended_status!(), "CAST($2 AS BIGINT), CAST($3 AS BIGINT)",
        " FROM title_requests g JOIN users u ON u.id = g.owner_id WHERE g.id = $1 AND g.status <> 'running'");
    /// Those of all owners that are about to be interrupted.
    RECORD_RUNNING_TITLES = record!("g.chat_id", "g.token_id", "'error'", reported_counts!(),
        " FROM title_requests g JOIN users u ON u.id = g.owner_id WHERE g.status = 'running'");
    RECORD_RUNNING_TITLES_OF_CHAT = record!("g.chat_id", "g.token_id", "'error'", reported_counts!(),
        " FROM title_requests g JOIN users u ON u.id = g.owner_id \
        WHERE g.owner_id = $1 AND g.chat_id = $2 AND g.status = 'running'");
    SET_TOKEN_OF_EXCHANGE = "UPDATE exchanges SET token_id = $3 WHERE owner_id = $1 AND id = $2";
    SET_TOKEN_OF_TITLE = "UPDATE title_requests SET token_id = $3 WHERE owner_id = $1 AND id = $2";
    /// The spending of an owner ($1) since the beginnings of a month ($2) and of a day in it ($3).
    SPENT = concat!("SELECT CAST(COALESCE(", bounded_sum!("g.counted_tokens"), ", 0) AS BIGINT) AS month_tokens, \
        CAST(COALESCE(", bounded_sum!("g.counted_micros"), ", 0) AS BIGINT) AS month_micros, \
        CAST(COALESCE(", bounded_sum!("CASE WHEN g.started_at >= $3 THEN g.counted_tokens END"),
        ", 0) AS BIGINT) AS day_tokens, \
        CAST(COALESCE(", bounded_sum!("CASE WHEN g.started_at >= $3 THEN g.counted_micros END"),
        ", 0) AS BIGINT) AS day_micros, COUNT(*) AS month_requests, \
        COUNT(CASE WHEN g.started_at >= $3 THEN 1 END) AS day_requests \
        FROM ledger g WHERE g.owner_id = $1 AND g.started_at >= $2");
    /// Those of all accounts; no account that was deleted is named.
    BY_ACCOUNT = sums_by!("CASE WHEN u.deleted_at IS NULL THEN g.owner_id END", "u.name",
        "LEFT JOIN users u ON u.id = g.owner_id");
    /// Those of the present members of each group. Who is in several groups counts in each of them.
    BY_GROUP = sums_by!("a.id", "a.name",
        concat!("JOIN ", memberships!(), " m ON m.user_id = g.owner_id JOIN account_groups a ON a.id = m.group_id"));
    MOVE = "UPDATE ledger SET owner_id = $2, chat_id = NULL, token_id = NULL WHERE owner_id = $1 AND started_at >= $3";
    ANONYMIZE = "UPDATE ledger SET owner_id = NULL, chat_id = NULL, token_id = NULL WHERE owner_id = $1";
}

/// Writes the row of a generation whose end the transaction has written. `counted` is what it counts in budgets. A
/// deferred write.
pub(crate) async fn record_generation(
    tx: &mut Tx,
    id: GenerationId,
    counted: SpendingAmount,
) -> Result<(), StoreError> {
    let insert = tx.defer(RECORD_GENERATION).bind(id.uuid());
    insert.bind(to_bigint(counted.tokens)).bind(to_bigint(counted.micros)).run().await.map(drop)
}

/// Writes the rows of a turn's generations that have ended and have none.
pub async fn record_turn(tx: &mut Tx, turn: TurnId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(RECORD_TURN).bind(turn.uuid()).execute(conn).await?;
    });
    Ok(())
}

/// Works like [`record_generation`], for a request for a title.
pub(crate) async fn record_title(tx: &mut Tx, id: TitleRequestId, counted: SpendingAmount) -> Result<(), StoreError> {
    let insert = tx.defer(RECORD_TITLE).bind(id.uuid());
    insert.bind(to_bigint(counted.tokens)).bind(to_bigint(counted.micros)).run().await.map(drop)
}

/// Writes the rows of the running requests for titles, of all owners or of one chat, which the transaction then ends.
pub(crate) async fn record_running_titles(tx: &mut Tx, of: Option<(UserId, ChatId)>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| match of {
        None => {
            sqlx::query(RECORD_RUNNING_TITLES).execute(conn).await?;
        }
        Some((owner, chat)) => {
            let query = sqlx::query(RECORD_RUNNING_TITLES_OF_CHAT).bind(owner.uuid()).bind(chat.uuid());
            query.execute(conn).await?;
        }
    });
    Ok(())
}

/// Notes the API token whose request began an exchange of this owner, in the transaction that stores it. A deferred
/// write.
pub async fn set_exchange_token(
    tx: &mut Tx,
    owner: UserId,
    exchange: ExchangeId,
    token: ApiTokenId,
) -> Result<(), StoreError> {
    let update = tx.defer(SET_TOKEN_OF_EXCHANGE).bind(owner.uuid()).bind(exchange.uuid());
    update.bind(token.uuid()).run().await.map(drop)
}

/// Notes the API token whose request asked for a title, in the transaction that stores it. A deferred write.
pub async fn set_title_token(
    tx: &mut Tx,
    owner: UserId,
    request: TitleRequestId,
    token: ApiTokenId,
) -> Result<(), StoreError> {
    let update = tx.defer(SET_TOKEN_OF_TITLE).bind(owner.uuid()).bind(request.uuid());
    update.bind(token.uuid()).run().await.map(drop)
}

/// The spending of an account in a month and in its last day, as budgets count it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PeriodSpending {
    pub month: SpendingAmount,
    pub day: SpendingAmount,
}

struct PeriodSpendingRow {
    month_tokens: i64,
    month_micros: i64,
    day_tokens: i64,
    day_micros: i64,
    month_requests: i64,
    day_requests: i64,
}
from_row!(PeriodSpendingRow { month_tokens, month_micros, day_tokens, day_micros, month_requests, day_requests });

/// Returns what an owner has spent since the beginnings of a month and of a day in it. Running calls are missing.
pub async fn spent(
    db: &Db,
    owner: UserId,
    (month, day): (DateTime<Utc>, DateTime<Utc>),
) -> Result<PeriodSpending, StoreError> {
    let row: PeriodSpendingRow = with_pool!(db, |pool| {
        sqlx::query_as(SPENT).bind(owner.uuid()).bind(month).bind(day).fetch_one(pool).await?
    });
    let amount = |tokens, micros, requests| SpendingAmount {
        tokens: to_unsigned(tokens),
        micros: to_unsigned(micros),
        requests: to_unsigned(requests),
    };
    Ok(PeriodSpending {
        month: amount(row.month_tokens, row.month_micros, row.month_requests),
        day: amount(row.day_tokens, row.day_micros, row.day_requests),
    })
}

/// The grouping of spending for administrators, besides by model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpenderGrouping {
    #[default]
    Account,
    Group,
}

/// The spending of an account or of the members of a group on a model, for administrators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountSpending {
    /// The id of the account or of the group; `None` for all accounts that were deleted.
    pub spender: Option<Uuid>,
    /// The name of the account or of the group; empty for the owner of a server without accounts.
    pub name: String,
    pub provider: String,
    pub model: String,
    pub calls: u64,
    pub usage: Usage,
    /// The sum of known costs in millionths of a US dollar; `None` if none is known.
    pub cost_micros: Option<u64>,
    pub unknown_costs: u64,
    pub estimated_costs: u64,
}

struct AccountSpendingRow {
    spender_id: Lossy<Option<Uuid>>,
    name: Lossy<Option<String>>,
    provider: Lossy<String>,
    model: Lossy<String>,
    calls: i64,
    usage: UsageRow,
    cost_micros: Option<i64>,
    unknown_costs: i64,
    estimated_costs: i64,
}
from_row!(AccountSpendingRow {
    spender_id,
    name,
    provider,
    model,
    calls,
    usage: flatten,
    cost_micros,
    unknown_costs,
    estimated_costs,
});

impl From<AccountSpendingRow> for AccountSpending {
    /// An unreadable label is omitted; its spending still counts.
    fn from(row: AccountSpendingRow) -> Self {
        let spender = row.spender_id.unwrap_or_default(TABLE, "owner_id", Uuid::nil());
        let id = spender.unwrap_or_default();
        Self {
            spender,
            name: row.name.unwrap_or_default("users", "name", id).unwrap_or_default(),
            provider: row.provider.unwrap_or_default(TABLE, "provider", id),
            model: row.model.unwrap_or_default(TABLE, "model", id),
            calls: to_unsigned(row.calls),
            usage: row.usage.into(),
            cost_micros: row.cost_micros.map(to_unsigned),
            unknown_costs: to_unsigned(row.unknown_costs),
            estimated_costs: to_unsigned(row.estimated_costs),
        }
    }
}

/// Returns the sums of every account or group by model, over the calls that started from `from` on and before `to`.
pub async fn sums_by_spender(
    db: &Db,
    grouping: SpenderGrouping,
    (from, to): (DateTime<Utc>, DateTime<Utc>),
    limit: u32,
) -> Result<Vec<AccountSpending>, StoreError> {
    let text = match grouping {
        SpenderGrouping::Account => BY_ACCOUNT,
        SpenderGrouping::Group => BY_GROUP,
    };
    let rows: Vec<Readable<AccountSpendingRow>> = with_pool!(db, |pool| {
        sqlx::query_as(text).bind(from).bind(to).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(keep_readable(rows, TABLE).into_iter().map(AccountSpending::from).collect())
}

/// Gives the rows of an account since a moment to another one, without their chats and tokens.
pub async fn move_to(tx: &mut Tx, (from, to): (UserId, UserId), since: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(MOVE).bind(from.uuid()).bind(to.uuid()).bind(since).execute(conn).await?;
    });
    Ok(())
}

/// Removes the account, its chats and its tokens from its rows, before the account is deleted. What was spent stays.
pub async fn anonymize(tx: &mut Tx, owner: UserId) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(ANONYMIZE).bind(owner.uuid()).execute(conn).await?;
    });
    Ok(())
}
