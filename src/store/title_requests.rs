//! Requests for titles of chats: provider calls that belong to no reply's steps. Request, manifest and response are small
//! or shrink well, so each is one compressed value.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::generations::raw::{PackedBody, compress, decompress_column};
use crate::generations::{Generation, GenerationEnd, GenerationStatus, RawKind};
use crate::readable::{Lossy, Readable, keep_decoded, keep_readable, ok_or_log, time_of_id};
use crate::rows::{UsageRow, from_json, parse_word, storable_text, to_bigint, to_unsigned, to_word};
use turnleaf_domain::{ChatId, CostBasis, Failure, TitleRequestId, TurnId, UserId};

const TABLE: &str = "title_requests";

/// A request ($2) of an owner ($1) whose reply and chat are not in Trash.
macro_rules! owned_request {
    ($columns:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM title_requests r JOIN turns t ON t.id = r.turn_id JOIN chats c ON c.id = r.chat_id \
             WHERE r.owner_id = $1 AND r.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL"
        )
    };
}

sql! {
    INSERT = "INSERT INTO title_requests (id, owner_id, chat_id, turn_id, provider, api, model_requested, body, \
        body_sha256, body_bytes, manifest, manifest_bytes, status, started_at) \
        SELECT $1, c.owner_id, c.id, t.id, $4, $5, $6, $7, $8, $9, $10, $11, 'running', $12 \
        FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE t.id = $3 AND c.owner_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    FINISH = "UPDATE title_requests SET status = $3, raw_complete = $4, model_returned = $5, stop_reason = $6, \
        input_tokens = $7, output_tokens = $8, cache_read_tokens = $9, cache_write_tokens = $10, \
        reasoning_tokens = $11, error = $12, first_token_at = $13, ended_at = $14, cost_micros = $15, \
        cost_basis = $16, price_version = $17, raw_response = $18, raw_sha256 = $19, raw_bytes = $20, title = $21 \
        WHERE owner_id = $1 AND id = $2 AND status = 'running'";
    INTERRUPT = "UPDATE title_requests SET status = 'error', error = $1, ended_at = $2 WHERE status = 'running'";
    INTERRUPT_OF_CHAT = "UPDATE title_requests SET status = 'error', error = $3, ended_at = $4 \
        WHERE owner_id = $1 AND chat_id = $2 AND status = 'running'";
    COUNT_OF_CHAT = "SELECT COUNT(*) FROM title_requests WHERE owner_id = $1 AND chat_id = $2";
    FIND = owned_request!("r.id, r.chat_id, r.turn_id, r.provider, r.model_requested, r.model_returned, r.manifest, \
        r.manifest_bytes, r.raw_sha256, r.raw_bytes, r.raw_complete, r.status, r.stop_reason, r.input_tokens, \
        r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.reasoning_tokens, r.cost_micros, r.cost_basis, \
        r.price_version, r.error, r.title, r.first_token_at, r.started_at, r.ended_at");
    LIST = "SELECT r.id, r.title, r.status, r.started_at FROM title_requests r JOIN turns t ON t.id = r.turn_id \
        JOIN chats c ON c.id = r.chat_id WHERE r.owner_id = $1 AND r.chat_id = $2 AND t.deleted_at IS NULL \
        AND c.deleted_at IS NULL ORDER BY r.id DESC LIMIT $3";
    BODY = owned_request!("r.body, r.body_bytes");
    RAW = owned_request!("r.raw_response, r.raw_bytes");
}

/// A request that is about to be sent.
#[derive(Debug, Clone)]
pub struct NewTitleRequest {
    pub id: TitleRequestId,
    /// The reply at the end of the path that it sends.
    pub turn_id: TurnId,
    pub provider: String,
    /// The API of the provider, as configurations name it.
    pub api: String,
    pub model_requested: String,
    /// The body exactly as it is sent, without headers and so without an API key.
    pub body: Bytes,
    /// How each turn is sent ([`turnleaf_domain::context::RequestManifest`]), as JSON.
    pub manifest: Bytes,
    pub started_at: DateTime<Utc>,
}

/// A stored request.
#[derive(Debug, Clone, PartialEq)]
pub struct TitleRequest {
    pub id: TitleRequestId,
    pub chat_id: ChatId,
    /// The suggested title; none while it runs and if it failed.
    pub title: Option<String>,
    /// The provider call. It has the id of the request, and its turn is the reply at the end of the path that was sent.
    pub call: Generation,
}

/// A request in the list of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTitleRequest {
    pub id: TitleRequestId,
    pub title: Option<String>,
    pub status: GenerationStatus,
    pub started_at: DateTime<Utc>,
}

/// The columns of [`LIST`].
type ListedTitleRequestRow = (Uuid, Lossy<Option<String>>, String, Lossy<DateTime<Utc>>);

struct TitleRequestRow {
    id: Uuid,
    chat_id: Uuid,
    turn_id: Uuid,
    provider: String,
    model_requested: String,
    model_returned: Lossy<Option<String>>,
    manifest: Vec<u8>,
    manifest_bytes: i64,
    raw_sha256: Option<Vec<u8>>,
    raw_bytes: Option<i64>,
    raw_complete: bool,
    status: String,
    stop_reason: Lossy<Option<String>>,
    usage: UsageRow,
    cost_micros: Option<i64>,
    cost_basis: Option<String>,
    price_version: Lossy<Option<String>>,
    error: Lossy<Option<Json<Failure>>>,
    title: Lossy<Option<String>>,
    first_token_at: Lossy<Option<DateTime<Utc>>>,
    started_at: Lossy<DateTime<Utc>>,
    ended_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(TitleRequestRow {
    id,
    chat_id,
    turn_id,
    provider,
    model_requested,
    model_returned,
    manifest,
    manifest_bytes,
    raw_sha256,
    raw_bytes,
    raw_complete,
    status,
    stop_reason,
    usage: flatten,
    cost_micros,
    cost_basis,
    price_version,
    error,
    title,
    first_token_at,
    started_at,
    ended_at,
});

impl TitleRequestRow {
    /// Returns the manifest; null if it is damaged.
    fn read_manifest(&self) -> Result<Value, StoreError> {
        const COLUMN: &str = "manifest";
        let read = decompress_column(&self.manifest, self.manifest_bytes, (TABLE, COLUMN, self.id));
        let read = read.and_then(|bytes| from_json(&String::from_utf8_lossy(&bytes), TABLE, COLUMN, self.id));
        Ok(ok_or_log(read, TABLE)?.unwrap_or_default())
    }

    fn into_request(self) -> Result<TitleRequest, StoreError> {
        let id = self.id;
        let request_manifest = self.read_manifest()?;
        let status: GenerationStatus = parse_word(self.status, TABLE, "status", id)?;
        let is_kept = status == GenerationStatus::Running || self.raw_bytes.is_some();
        let call = Generation {
            id: id.into(),
            turn_id: self.turn_id.into(),
            step: 0,
            provider: self.provider,
            model_requested: self.model_requested,
            model_returned: self.model_returned.unwrap_or_default(TABLE, "model_returned", id),
            request_manifest,
            raw_sha256: self.raw_sha256,
            raw_bytes: self.raw_bytes.map(to_unsigned),
            raw_kind: if is_kept { RawKind::SseEvents } else { RawKind::None },
            raw_complete: self.raw_complete,
            status,
            stop_reason: self.stop_reason.unwrap_or_default(TABLE, "stop_reason", id),
            usage: self.usage.into(),
            cost_micros: self.cost_micros.map(to_unsigned),
            cost_basis: match self.cost_basis {
                Some(word) => Some(parse_word::<CostBasis>(word, TABLE, "cost_basis", id)?),
                None => None,
            },
            price_version: self.price_version.unwrap_or_default(TABLE, "price_version", id),
            error: self.error.unwrap_or_log(TABLE, "error", id, || None).map(|Json(error)| error),
            first_token_at: self.first_token_at.unwrap_or_log(TABLE, "first_token_at", id, || None),
            started_at: self.started_at.unwrap_or_log(TABLE, "started_at", id, || time_of_id(id)),
            ended_at: self.ended_at.unwrap_or_log(TABLE, "ended_at", id, || None),
        };
        let title = self.title.unwrap_or_default(TABLE, "title", id);
        Ok(TitleRequest { id: id.into(), chat_id: self.chat_id.into(), title, call })
    }
}

/// Stores a request before it is sent. Returns false if the owner has no such reply.
///
/// # Errors
/// `NotUnique` while another request for a title of this chat runs.
pub async fn insert(tx: &mut Tx, owner: UserId, new: &NewTitleRequest) -> Result<bool, StoreError> {
    let (body, manifest) = (compress(&new.body)?, compress(&new.manifest)?);
    let model = storable_text(&new.model_requested, "the model")?;
    let stored = in_tx!(tx, |conn| {
        let query = sqlx::query(INSERT).bind(new.id.uuid()).bind(owner.uuid()).bind(new.turn_id.uuid());
        let query = query.bind(new.provider.as_str()).bind(new.api.as_str()).bind(model);
        let query = query.bind(&body.bytes[..]).bind(&body.sha256[..]).bind(body.length);
        let query = query.bind(&manifest.bytes[..]).bind(manifest.length).bind(new.started_at);
        query.execute(conn).await?.rows_affected()
    });
    Ok(stored > 0)
}

/// Stores the end of a request with its response, and the title if it suggests one. Returns false if it had an end
/// already.
pub async fn finish(tx: &mut Tx, owner: UserId, end: &GenerationEnd, title: Option<&str>) -> Result<bool, StoreError> {
    // Strings of the provider are cleaned, so that they never make the ending fail.
    let cleaned = |text: &str| text.replace('\0', "\u{2400}");
    let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(end.usage).counts();
    let packed = end.body.as_ref().filter(|body| !body.is_empty()).map(|body| compress(body)).transpose()?;
    let (body, sha256, length) = match packed {
        Some(PackedBody { bytes, sha256, length }) => (Some(bytes), Some(sha256), Some(length)),
        None => (None, None, None),
    };
    let changed = in_tx!(tx, |conn| {
        sqlx::query(FINISH)
            .bind(owner.uuid())
            .bind(end.id.uuid())
            .bind(to_word(end.status))
            .bind(end.raw_complete)
            .bind(end.model_returned.as_deref().map(cleaned))
            .bind(end.stop_reason.as_deref().map(cleaned))
            .bind(input)
            .bind(output)
            .bind(cache_read)
            .bind(cache_write)
            .bind(reasoning)
            .bind(end.error.as_ref().map(Json))
            .bind(end.first_token_at)
            .bind(end.ended_at)
            .bind(end.charge.as_ref().map(|charge| to_bigint(charge.micros)))
            .bind(end.charge.as_ref().map(|charge| to_word(charge.basis)))
            .bind(end.charge.as_ref().and_then(|charge| charge.price_version.as_deref()))
            .bind(body)
            .bind(sha256)
            .bind(length)
            .bind(title)
            .execute(conn)
            .await?
            .rows_affected()
    });
    Ok(changed > 0)
}

/// Ends the requests of all owners that an earlier process left running.
pub async fn interrupt_running(tx: &mut Tx, error: &Failure, at: DateTime<Utc>) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(INTERRUPT).bind(Json(error)).bind(at).execute(conn).await?;
    });
    Ok(())
}

/// Ends the request of a chat that runs nowhere, although its end is not stored.
pub async fn interrupt_running_of_chat(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    error: &Failure,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(INTERRUPT_OF_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(Json(error)).bind(at).execute(conn).await?;
    });
    Ok(())
}

/// Returns the number of stored requests of a chat.
pub async fn count(db: &Db, owner: UserId, chat: ChatId) -> Result<u64, StoreError> {
    let count: i64 = with_pool!(db, |pool| sqlx::query_scalar(COUNT_OF_CHAT)
        .bind(owner.uuid())
        .bind(chat.uuid())
        .fetch_one(pool)
        .await?);
    Ok(to_unsigned(count))
}

/// Returns a request of this owner.
pub async fn find(db: &Db, owner: UserId, id: TitleRequestId) -> Result<Option<TitleRequest>, StoreError> {
    let row: Option<TitleRequestRow> =
        with_pool!(db, |pool| { sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    row.map(TitleRequestRow::into_request).transpose()
}

/// Returns the requests of a chat, newest first.
pub async fn list(db: &Db, owner: UserId, chat: ChatId, limit: u32) -> Result<Vec<ListedTitleRequest>, StoreError> {
    let rows: Vec<Readable<ListedTitleRequestRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(LIST).bind(owner.uuid()).bind(chat.uuid()).bind(i64::from(limit));
        query.fetch_all(pool).await?
    });
    let listed = |(id, title, status, started_at): ListedTitleRequestRow| {
        Ok::<_, StoreError>(ListedTitleRequest {
            id: id.into(),
            title: title.unwrap_or_default(TABLE, "title", id),
            status: parse_word(status, TABLE, "status", id)?,
            started_at: started_at.unwrap_or_log(TABLE, "started_at", id, || time_of_id(id)),
        })
    };
    Ok(keep_decoded(keep_readable(rows, TABLE).into_iter().map(listed), TABLE))
}

/// Returns the body exactly as it was sent.
pub async fn find_body(db: &Db, owner: UserId, id: TitleRequestId) -> Result<Option<Vec<u8>>, StoreError> {
    let row: Option<(Vec<u8>, i64)> =
        with_pool!(db, |pool| { sqlx::query_as(BODY).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    row.map(|(packed, length)| decompress_column(&packed, length, (TABLE, "body", id.uuid()))).transpose()
}

/// Returns the response as it came; none if it was not kept, or has not ended.
pub async fn find_raw(db: &Db, owner: UserId, id: TitleRequestId) -> Result<Option<Vec<u8>>, StoreError> {
    let row: Option<(Option<Vec<u8>>, Option<i64>)> =
        with_pool!(db, |pool| { sqlx::query_as(RAW).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await? });
    let Some((Some(packed), Some(length))) = row else { return Ok(None) };
    decompress_column(&packed, length, (TABLE, "raw_response", id.uuid())).map(Some)
}
