//! Exchanges: one user message and one reply, with the idempotency key of the request that created them
//! (`docs/reference/domain.md I14`).

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{self, Damage, Lossy, Readable, RowReader, keep_decoded};
use crate::database::rows::{parse_word, storable_text, to_word};
use turnleaf_domain::{DroppedParam, Exchange, ExchangeId, ModelParams, TurnId, UserId};

sql! {
    INSERT = "INSERT INTO exchanges (id, owner_id, chat_id, branch_id, user_turn_id, kind, is_thinking_mode, params, \
        client_request_id, request_hash, created_at, not_sent) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    FIND = "SELECT id, chat_id, branch_id, user_turn_id, kind, is_thinking_mode, params, not_sent, \
        client_request_id, created_at FROM exchanges WHERE owner_id = $1 AND id = $2";
    FIND_BY_REQUEST = "SELECT e.id, e.chat_id, e.branch_id, e.user_turn_id, e.kind, e.is_thinking_mode, e.params, \
        e.not_sent, e.client_request_id, e.created_at, e.request_hash, t.id AS assistant_turn_id \
        FROM exchanges e LEFT JOIN turns t ON t.exchange_id = e.id AND t.role = 'assistant' \
        WHERE e.owner_id = $1 AND e.client_request_id = $2";
    REPLY = "SELECT t.id FROM turns t JOIN exchanges e ON e.id = t.exchange_id \
        WHERE e.owner_id = $1 AND e.id = $2 AND t.role = 'assistant' AND t.deleted_at IS NULL";
    SET_THINKING = "UPDATE exchanges SET is_thinking_mode = $3 WHERE owner_id = $1 AND id = $2";
    /// A list of turn ids follows. `CROSS` makes SQLite start with the turns; otherwise it would scan all exchanges
    /// of the owner for each page of a chat.
    OF_TURNS = "SELECT t.id AS turn_id, e.id, e.chat_id, e.branch_id, e.user_turn_id, e.kind, e.is_thinking_mode, \
        e.params, e.not_sent, e.client_request_id, e.created_at FROM turns t CROSS JOIN exchanges e ";
}

/// The earlier request with an idempotency key.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownRequest {
    pub exchange: Exchange,
    /// The hash of the request's content, as the caller computed it: a different hash means that the key was reused.
    pub request_hash: Vec<u8>,
    pub assistant_turn_id: Option<TurnId>,
}

const TABLE: &str = "exchanges";

struct ExchangeRow {
    id: Uuid,
    chat_id: Uuid,
    branch_id: Uuid,
    user_turn_id: Option<Uuid>,
    kind: String,
    is_thinking_mode: bool,
    params: Lossy<Json<ModelParams>>,
    not_sent: Lossy<Json<Vec<DroppedParam>>>,
    client_request_id: Option<String>,
    created_at: Lossy<DateTime<Utc>>,
}
from_row!(ExchangeRow {
    id,
    chat_id,
    branch_id,
    user_turn_id,
    kind,
    is_thinking_mode,
    params,
    not_sent,
    client_request_id,
    created_at,
});

impl ExchangeRow {
    /// Returns the exchange, unless a required value is unreadable. Other unreadable values are recorded in
    /// `damages`.
    fn into_exchange(self, damages: &mut Vec<Damage>) -> Result<Exchange, StoreError> {
        let mut row = RowReader { table: TABLE, id: self.id, damages };
        Ok(Exchange {
            id: self.id.into(),
            chat_id: self.chat_id.into(),
            branch_id: self.branch_id.into(),
            user_turn_id: self.user_turn_id.map(TurnId::from),
            kind: parse_word(self.kind, "exchanges", "kind", self.id)?,
            is_thinking_mode: self.is_thinking_mode,
            params: row.value("params", self.params).unwrap_or_default().0,
            not_sent: row.value("not_sent", self.not_sent).unwrap_or_default().0,
            client_request_id: self.client_request_id,
            created_at: row.moment("created_at", self.created_at),
        })
    }

    fn into_exchange_and_log(self) -> Result<Exchange, StoreError> {
        let mut damages = Vec::new();
        let exchange = self.into_exchange(&mut damages);
        readable::log_damages(&damages);
        exchange
    }
}

struct RequestRow {
    exchange: ExchangeRow,
    request_hash: Option<Vec<u8>>,
    assistant_turn_id: Option<Uuid>,
}
from_row!(RequestRow { exchange: flatten, request_hash, assistant_turn_id });

struct TurnExchangeRow {
    turn_id: Uuid,
    exchange: ExchangeRow,
}
from_row!(TurnExchangeRow { turn_id, exchange: flatten });

/// Stores a new exchange. Its user turn may be inserted later in the same transaction.
///
/// # Errors
/// `NotUnique` when the owner has used the idempotency key before: the caller returns [`find_by_request`].
pub async fn insert(
    tx: &mut Tx,
    owner: UserId,
    exchange: &Exchange,
    request_hash: Option<&[u8]>,
) -> Result<(), StoreError> {
    let request = exchange.client_request_id.as_deref().map(|id| storable_text(id, "client_request_id")).transpose()?;
    in_tx!(tx, |conn| {
        sqlx::query(INSERT)
            .bind(exchange.id.uuid())
            .bind(owner.uuid())
            .bind(exchange.chat_id.uuid())
            .bind(exchange.branch_id.uuid())
            .bind(exchange.user_turn_id.map(TurnId::uuid))
            .bind(to_word(exchange.kind))
            .bind(exchange.is_thinking_mode)
            .bind(Json(&exchange.params))
            .bind(request)
            .bind(request_hash)
            .bind(exchange.created_at)
            .bind(Json(&exchange.not_sent))
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Turns the thinking mode of an exchange of this owner on, because its reply reasons. A deferred write.
pub async fn turn_thinking_on(tx: &mut Tx, owner: UserId, exchange: ExchangeId) -> Result<(), StoreError> {
    tx.defer(SET_THINKING).bind(owner.uuid()).bind(exchange.uuid()).bind(true).run().await.map(drop)
}

/// Returns an exchange of this owner.
pub async fn find(db: &Db, owner: UserId, exchange: ExchangeId) -> Result<Option<Exchange>, StoreError> {
    let row: Option<ExchangeRow> = with_pool!(db, |pool| sqlx::query_as(FIND)
        .bind(owner.uuid())
        .bind(exchange.uuid())
        .fetch_optional(pool)
        .await?);
    row.map(ExchangeRow::into_exchange_and_log).transpose()
}

/// Returns the request that used this idempotency key of the owner, also if its turns were deleted since.
pub async fn find_by_request(
    db: &Db,
    owner: UserId,
    client_request_id: &str,
) -> Result<Option<KnownRequest>, StoreError> {
    let row: Option<RequestRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND_BY_REQUEST).bind(owner.uuid()).bind(client_request_id).fetch_optional(pool).await?
    });
    let Some(row) = row else { return Ok(None) };
    Ok(Some(KnownRequest {
        exchange: row.exchange.into_exchange_and_log()?,
        request_hash: row.request_hash.unwrap_or_default(),
        assistant_turn_id: row.assistant_turn_id.map(TurnId::from),
    }))
}

/// Returns the reply of an exchange of this owner, unless it is deleted.
pub async fn find_reply(db: &Db, owner: UserId, exchange: ExchangeId) -> Result<Option<TurnId>, StoreError> {
    let id: Option<Uuid> = with_pool!(db, |pool| sqlx::query_scalar(REPLY)
        .bind(owner.uuid())
        .bind(exchange.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(id.map(TurnId::from))
}

/// Returns the exchanges of these turns of this owner, by turn; they include whether a reply is in thinking mode.
pub async fn list_by_turns(db: &Db, owner: UserId, turns: &[TurnId]) -> Result<HashMap<TurnId, Exchange>, StoreError> {
    let mut damages = Vec::new();
    let found = list_by_turns_with_damages(db, owner, turns, &mut damages).await?;
    readable::log_damages(&damages);
    Ok(found)
}

/// Works like [`list_by_turns`], and records unreadable values. An unreadable exchange is missing.
pub async fn list_by_turns_with_damages(
    db: &Db,
    owner: UserId,
    turns: &[TurnId],
    damages: &mut Vec<Damage>,
) -> Result<HashMap<TurnId, Exchange>, StoreError> {
    if turns.is_empty() {
        return Ok(HashMap::new());
    }
    let rows: Vec<Readable<TurnExchangeRow>> = with_pool!(db, |pool| {
        let mut query = QueryBuilder::new(OF_TURNS);
        query.push("WHERE e.id = t.exchange_id AND e.owner_id = ").push_bind(owner.uuid()).push(" AND t.id IN (");
        let mut list = query.separated(", ");
        for turn in turns {
            list.push_bind(turn.uuid());
        }
        query.push(")");
        query.build_query_as().persistent(false).fetch_all(pool).await?
    });
    let of_turn =
        |row: TurnExchangeRow| Ok::<_, StoreError>((row.turn_id.into(), row.exchange.into_exchange(damages)?));
    Ok(keep_decoded(readable::keep_readable(rows, TABLE).into_iter().map(of_turn), TABLE).into_iter().collect())
}
