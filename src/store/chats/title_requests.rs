//! Requests for titles of chats: provider calls that belong to no reply's steps. Request, manifest and response are small
//! or shrink well, so each is one compressed value.

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde_json::Value;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_decoded, keep_readable, ok_or_log, time_of_id};
use crate::database::rows::{from_json, parse_word, storable_text, to_unsigned};
use crate::turns::generations::provider_call::{ProviderCallRow, bind_end, call_columns, call_end};
use crate::turns::generations::raw::{compress, decompress_column};
use crate::turns::generations::{Generation, GenerationEnd, GenerationStatus, RawKind};
use crate::usage::ledger;
use turnleaf_domain::{ChatId, Failure, TitleRequestId, TurnId, UserId};

const TABLE: &str = "title_requests";

/// Requests of an owner ($1) with this id ($2) whose reply and chat are not in Trash.
macro_rules! owned_request {
    () => {
        " FROM title_requests g JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = g.chat_id \
         WHERE g.owner_id = $1 AND g.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL"
    };
}

sql! {
    INSERT = "INSERT INTO title_requests (id, owner_id, chat_id, turn_id, provider, api, model_requested, body, \
        body_sha256, body_bytes, manifest, manifest_bytes, status, started_at) \
        SELECT $1, c.owner_id, c.id, t.id, $4, $5, $6, $7, $8, $9, $10, $11, 'running', $12 \
        FROM turns t JOIN chats c ON c.id = t.chat_id \
        WHERE t.id = $3 AND c.owner_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    FINISH = concat!("UPDATE title_requests SET ", call_end!(),
        ", title = $20 WHERE id = $1 AND owner_id = $21 AND status = 'running'");
    INTERRUPT = "UPDATE title_requests SET status = 'error', error = $1, ended_at = $2 WHERE status = 'running'";
    INTERRUPT_OF_CHAT = "UPDATE title_requests SET status = 'error', error = $3, ended_at = $4 \
        WHERE owner_id = $1 AND chat_id = $2 AND status = 'running'";
    RUNNING_OF_CHAT = "SELECT id FROM title_requests WHERE owner_id = $1 AND chat_id = $2 AND status = 'running'";
    COUNT_OF_CHAT = "SELECT COUNT(*) FROM title_requests WHERE owner_id = $1 AND chat_id = $2";
    FIND = concat!("SELECT g.id, g.chat_id, g.turn_id, g.manifest, g.manifest_bytes, g.title, ", call_columns!(),
        owned_request!());
    LIST = "SELECT r.id, r.title, r.status, r.started_at FROM title_requests r JOIN turns t ON t.id = r.turn_id \
        JOIN chats c ON c.id = r.chat_id WHERE r.owner_id = $1 AND r.chat_id = $2 AND t.deleted_at IS NULL \
        AND c.deleted_at IS NULL ORDER BY r.id DESC LIMIT $3";
    BODY = concat!("SELECT g.body, g.body_bytes", owned_request!());
    RAW = concat!("SELECT g.raw_response, g.raw_bytes", owned_request!());
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
    /// The form in which each turn is sent ([`turnleaf_domain::turns::context::RequestManifest`]), as JSON.
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
    manifest: Vec<u8>,
    manifest_bytes: i64,
    title: Lossy<Option<String>>,
    call: ProviderCallRow,
}
from_row!(TitleRequestRow { id, chat_id, turn_id, manifest, manifest_bytes, title, call: flatten });

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
        let call = self.call.into_generation(TABLE, id, self.turn_id)?;
        let is_kept = call.status == GenerationStatus::Running || call.raw_bytes.is_some();
        let raw_kind = if is_kept { RawKind::SseEvents } else { RawKind::None };
        let call = Generation { request_manifest, raw_kind, ..call };
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
    let body = end.body.as_ref().filter(|body| !body.is_empty());
    let update = bind_end(tx.defer(FINISH), end, body)?.bind(title.map(str::to_owned)).bind(owner.uuid());
    let changed = update.run().await?;
    ledger::record_title(tx, end.id.uuid().into(), end.counted()).await?;
    Ok(tx.rows_affected(changed).await? > 0)
}

/// Ends the requests of all owners that an earlier process left running.
pub async fn interrupt_running(tx: &mut Tx, error: &Failure, at: DateTime<Utc>) -> Result<(), StoreError> {
    ledger::record_running_titles(tx, None).await?;
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
    ledger::record_running_titles(tx, Some((owner, chat))).await?;
    in_tx!(tx, |conn| {
        let query = sqlx::query(INTERRUPT_OF_CHAT).bind(owner.uuid()).bind(chat.uuid());
        query.bind(Json(error)).bind(at).execute(conn).await?;
    });
    Ok(())
}

/// Returns the request of a chat whose end is not stored, if there is one.
pub async fn find_running(db: &Db, owner: UserId, chat: ChatId) -> Result<Option<TitleRequestId>, StoreError> {
    let id: Option<Uuid> = with_pool!(db, |pool| sqlx::query_scalar(RUNNING_OF_CHAT)
        .bind(owner.uuid())
        .bind(chat.uuid())
        .fetch_optional(pool)
        .await?);
    Ok(id.map(TitleRequestId::from))
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
