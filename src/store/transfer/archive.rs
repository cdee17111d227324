//! Queries that only archives use: the turns of a chat in order, on any branch; generations with their bytes; and
//! whether an incoming chat exists here.

pub mod salvage;

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;
use sqlx::QueryBuilder;
use sqlx::types::Json;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{
    Damage, Lossy, Readable, RowReader, SalvagedText, keep_readable, keep_readable_with_damages, ok_or_note,
};
use crate::database::rows::{UsageRow, to_bigint, to_json, to_unsigned, to_word};
use crate::turns::generations::requests::{
    self, RequestBodyRow, RequestManifestRow, base_request_joins, manifest_columns, request_columns,
};
use crate::turns::generations::{GenerationStatus, RawKind, raw};
use crate::usage::storage;
use turnleaf_domain::{ChatId, DocumentId, Failure, GenerationId, ModelLock, TurnId, UserId};
use turnleaf_interchange::archive::{ArchivedBytes, ArchivedGeneration};
use turnleaf_interchange::chat_builder::incremental::{ExistingChat, ExistingTurn};

/// The time of a chat's deletion, and the time since when it is being purged.
type DeletionTimes = (Option<DateTime<Utc>>, Option<DateTime<Utc>>);

sql! {
    CHATS = "SELECT c.id FROM chats c WHERE c.owner_id = $1 AND c.deleted_at IS NULL ORDER BY c.created_at, c.id";
    ALL_DOCUMENTS = "SELECT d.id FROM documents d WHERE d.owner_id = $1 AND d.deleted_at IS NULL";
    DELETION_TIMES = "SELECT c.deleted_at, d.purging_since FROM chats c LEFT JOIN deletions d ON d.id = c.deletion_id \
        WHERE c.owner_id = $1 AND c.id = $2";
    /// Turns in Trash are included, because they exist here.
    TURNS = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1 AND c.id = $2";
    /// A turn with an unreadable status counts as finished: the sweep has ended it.
    OVER = "SELECT t.id FROM turns t JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1 AND c.id = $2 \
        AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND t.status NOT IN ('pending', 'streaming', 'waiting_subagents')";
    /// Turns in Trash are included.
    PLACES = "SELECT t.id, t.prev_turn_id, t.branch_id, t.exchange_id, t.depth, t.created_at, t.deleted_at \
        FROM turns t JOIN chats c ON c.id = t.chat_id WHERE c.owner_id = $1 AND c.id = $2";
    /// The outer join keeps turns without blocks. A condition with a list of turn ids follows.
    CONTENTS = "SELECT t.id, b.content FROM turns t JOIN chats c ON c.id = t.chat_id \
        LEFT JOIN turn_blocks b ON b.turn_id = t.id ";
    HEADS = "SELECT b.id, b.name, b.provider, b.model, b.head_turn_id FROM branches b JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND b.deleted_at IS NULL";
    GENERATIONS = concat!("SELECT g.id, g.step, g.provider, g.api, g.model_requested, g.model_returned, ",
        request_columns!(), ", ", manifest_columns!(), ", g.raw_kind, g.raw_complete, g.status, g.stop_reason, g.input_tokens, \
        g.output_tokens, g.cache_read_tokens, g.cache_write_tokens, g.reasoning_tokens, g.cost_micros, g.cost_basis, \
        g.price_version, g.error, g.first_token_at, g.started_at, g.ended_at \
        FROM generations g ", base_request_joins!(), "JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND g.turn_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL ORDER BY g.step");
    /// An imported call is marked as a copy, so that its cost is not counted here.
    INSERT = "INSERT INTO generations (id, turn_id, step, provider, api, model_requested, model_returned, \
        raw_kind, raw_complete, raw_response, raw_sha256, raw_bytes, status, stop_reason, \
        input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_micros, cost_basis, \
        price_version, error, first_token_at, started_at, ended_at, is_copy) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, \
        $23, $24, $25, $26, $27)";
    COUNT_ON = "UPDATE chats SET next_ord = $2 WHERE id = $1";
    BLOBS = "SELECT DISTINCT r.sha256 FROM block_blobs r JOIN turn_blocks b ON b.id = r.block_id \
        JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL ORDER BY r.sha256";
    DOCUMENTS = "SELECT DISTINCT r.document_id FROM block_documents r JOIN turn_blocks b ON b.id = r.block_id \
        JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id JOIN documents d ON d.id = r.document_id \
        WHERE c.owner_id = $1 AND c.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        AND d.owner_id = $1 AND d.deleted_at IS NULL ORDER BY r.document_id";
}

/// The name of a row whose id cannot be read.
const NAMELESS: &str = "with an unreadable id";

/// The presence of an incoming chat in this database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatPresence {
    Live,
    /// The chat is in Trash.
    InTrash,
    /// The chat is being purged since this time, or its import is in progress.
    Purging(DateTime<Utc>),
}

struct TurnPositionRow {
    id: Uuid,
    prev_turn_id: Option<Uuid>,
    branch_id: Uuid,
    exchange_id: Uuid,
    depth: i64,
    created_at: DateTime<Utc>,
    deleted_at: Option<DateTime<Utc>>,
}
from_row!(TurnPositionRow { id, prev_turn_id, branch_id, exchange_id, depth, created_at, deleted_at });

struct ArchivedTurnRow {
    id: Uuid,
    step: i64,
    provider: SalvagedText,
    api: Option<SalvagedText>,
    model_requested: SalvagedText,
    model_returned: Option<SalvagedText>,
    body: RequestBodyRow,
    manifest: RequestManifestRow,
    raw_kind: Lossy<String>,
    raw_complete: bool,
    status: Lossy<String>,
    stop_reason: Option<SalvagedText>,
    usage: UsageRow,
    cost_micros: Option<i64>,
    cost_basis: Lossy<Option<String>>,
    price_version: Option<SalvagedText>,
    error: Lossy<Option<Json<Failure>>>,
    first_token_at: Lossy<Option<DateTime<Utc>>>,
    started_at: Lossy<DateTime<Utc>>,
    ended_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(ArchivedTurnRow {
    id,
    step,
    provider,
    api,
    model_requested,
    model_returned,
    body: flatten,
    manifest: flatten,
    raw_kind,
    raw_complete,
    status,
    stop_reason,
    usage: flatten,
    cost_micros,
    cost_basis,
    price_version,
    error,
    first_token_at,
    started_at,
    ended_at,
});

impl ArchivedTurnRow {
    /// Returns the call as far as its row can be read, and records unreadable values in `damages`.
    fn into_call(self, turn_id: TurnId, damages: &mut Vec<Damage>) -> Result<ArchivedGeneration, StoreError> {
        let request = ok_or_note(self.body.reassemble(self.id), damages)?.unwrap_or_default();
        let request_manifest = ok_or_note(self.manifest.reassemble(self.id), damages)?.unwrap_or_default();
        let mut row = RowReader { table: "generations", id: self.id, damages };
        let step = u32::try_from(self.step).unwrap_or_else(|cause| {
            row.note("step", cause);
            u32::MAX
        });
        let raw_kind = row.value("raw_kind", self.raw_kind).and_then(|kind| row.word::<RawKind>("raw_kind", kind));
        let status = row.value("status", self.status).and_then(|status| row.word::<GenerationStatus>("status", status));
        let cost_basis = row.value("cost_basis", self.cost_basis).flatten();
        let started_at = row.moment("started_at", self.started_at);
        let ended_at = row.value("ended_at", self.ended_at);
        Ok(ArchivedGeneration {
            id: self.id.into(),
            turn_id,
            step,
            provider: row.text("provider", self.provider),
            api: self.api.map(|api| row.text("api", api)),
            model_requested: row.text("model_requested", self.model_requested),
            model_returned: self.model_returned.map(|model| row.text("model_returned", model)),
            request: ArchivedBytes(request),
            request_manifest,
            raw_kind: to_word(raw_kind.unwrap_or(RawKind::SseEvents)),
            raw_complete: self.raw_complete,
            raw: None,
            status: to_word(status.unwrap_or(GenerationStatus::Error)),
            stop_reason: self.stop_reason.map(|reason| row.text("stop_reason", reason)),
            usage: self.usage.into(),
            cost_micros: self.cost_micros.map(to_unsigned),
            cost_basis: cost_basis.and_then(|basis| row.word("cost_basis", basis)),
            price_version: self.price_version.map(|version| row.text("price_version", version)),
            error: row.value("error", self.error).flatten().map(|Json(error)| error),
            first_token_at: row.value("first_token_at", self.first_token_at).flatten(),
            started_at,
            // A call whose end cannot be read counts as ended.
            ended_at: ended_at.unwrap_or(Some(started_at)),
        })
    }
}

/// Returns all chats of an owner, the oldest first, and records unreadable rows.
pub async fn chats(db: &Db, owner: UserId, damages: &mut Vec<Damage>) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(CHATS).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable_with_damages(ids, "chats", NAMELESS, damages).into_iter().map(|(id,)| id.into()).collect())
}

/// Returns all documents of an owner that are not in Trash, and records unreadable rows.
pub async fn documents(db: &Db, owner: UserId, damages: &mut Vec<Damage>) -> Result<Vec<DocumentId>, StoreError> {
    let ids: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(ALL_DOCUMENTS).bind(owner.uuid()).fetch_all(pool).await?);
    Ok(keep_readable_with_damages(ids, "documents", NAMELESS, damages).into_iter().map(|(id,)| id.into()).collect())
}

/// Returns the presence of a chat with this id. `None` if it never existed here or was permanently deleted.
pub async fn chat_presence(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<Option<ChatPresence>, StoreError> {
    let row: Option<DeletionTimes> = in_tx!(tx, |conn| {
        sqlx::query_as(DELETION_TIMES).bind(owner.uuid()).bind(chat.uuid()).fetch_optional(conn).await?
    });
    Ok(row.map(|row| match row {
        (None, _) => ChatPresence::Live,
        (Some(_), None) => ChatPresence::InTrash,
        (Some(_), Some(from)) => ChatPresence::Purging(from),
    }))
}

/// Returns the ids of the turns of a chat, including those in Trash.
pub async fn turn_ids(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<HashSet<TurnId>, StoreError> {
    let ids: Vec<Uuid> =
        in_tx!(tx, |conn| sqlx::query_scalar(TURNS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(conn).await?);
    Ok(ids.into_iter().map(TurnId::from).collect())
}

/// Returns the turns of a chat that are finished.
pub async fn finished_turn_ids(db: &Db, owner: UserId, chat: ChatId) -> Result<HashSet<TurnId>, StoreError> {
    let ids: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(OVER).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    Ok(keep_readable(ids, "turns").into_iter().map(|(id,)| id.into()).collect())
}

/// Returns the existing state of a chat: the positions of its turns and the heads of its branches.
pub async fn existing_chat(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<ExistingChat, StoreError> {
    let places: Vec<TurnPositionRow> =
        in_tx!(&mut *tx, |conn| sqlx::query_as(PLACES).bind(owner.uuid()).bind(chat.uuid()).fetch_all(conn).await?);
    let heads: Vec<(Uuid, String, String, String, Option<Uuid>)> =
        in_tx!(tx, |conn| sqlx::query_as(HEADS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(conn).await?);
    let mut existing = ExistingChat::default();
    for row in places {
        if row.deleted_at.is_some() {
            existing.deleted.insert(row.id.into());
            continue;
        }
        let place = ExistingTurn {
            prev_turn_id: row.prev_turn_id.map(TurnId::from),
            branch_id: row.branch_id.into(),
            exchange_id: row.exchange_id.into(),
            depth: row.depth,
            created_at: row.created_at,
        };
        existing.turns.insert(row.id.into(), place);
    }
    for (id, name, provider, model, head) in heads {
        existing.branches.insert(id.into(), (name, ModelLock { provider, model }, head.map(TurnId::from)));
    }
    Ok(existing)
}

/// Returns the contents of those of these turns of a chat that exist and are not deleted: their blocks in order, as
/// JSON. At most a page of turns.
pub async fn turn_contents(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    turns: &[TurnId],
) -> Result<HashMap<TurnId, Vec<String>>, StoreError> {
    let rows: Vec<(Uuid, Option<String>)> = in_tx!(tx, |conn| {
        let mut query = QueryBuilder::new(CONTENTS);
        query.push("WHERE c.owner_id = ").push_bind(owner.uuid()).push(" AND c.id = ").push_bind(chat.uuid());
        query.push(" AND t.deleted_at IS NULL AND t.id IN (");
        let mut list = query.separated(", ");
        for turn in turns {
            list.push_bind(turn.uuid());
        }
        query.push(") ORDER BY t.ord, b.seq");
        query.build_query_as().persistent(false).fetch_all(conn).await?
    });
    let mut contents: HashMap<TurnId, Vec<String>> = HashMap::new();
    for (turn, content) in rows {
        contents.entry(turn.into()).or_default().extend(content);
    }
    Ok(contents)
}

/// Returns the calls of a turn with their requests, and records what cannot be read. Responses are read one by one
/// ([`raw`]), because they may be large.
pub async fn generations(
    db: &Db,
    owner: UserId,
    turn: TurnId,
    damages: &mut Vec<Damage>,
) -> Result<Vec<ArchivedGeneration>, StoreError> {
    let rows: Vec<Readable<ArchivedTurnRow>> =
        with_pool!(db, |pool| sqlx::query_as(GENERATIONS).bind(owner.uuid()).bind(turn.uuid()).fetch_all(pool).await?);
    let rows = keep_readable_with_damages(rows, "generations", format_args!("of turn {turn}"), damages);
    rows.into_iter().map(|row| row.into_call(turn, damages)).collect()
}

/// Returns the raw response of a call; none if it is damaged, which is recorded.
pub async fn raw_response(
    db: &Db,
    owner: UserId,
    call: GenerationId,
    damages: &mut Vec<Damage>,
) -> Result<Option<ArchivedBytes>, StoreError> {
    let raw = raw::find(db, owner, call).await;
    Ok(ok_or_note(raw, damages)?.flatten().map(ArchivedBytes))
}

/// Stores a call that was made on another server.
pub fn insert_generation<'a>(tx: &'a mut Tx, of: &'a ArchivedGeneration) -> BoxFuture<'a, Result<(), StoreError>> {
    // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
    Box::pin(async move {
        // An earlier chunk of the chat may have counted the turn without its calls.
        storage::invalidate_turn_size(tx, of.turn_id).await?;
        let packed = of.raw.as_ref().map(|raw| raw::compress(&raw.0)).transpose()?;
        let (bytes, sha256, length) = match packed {
            Some(packed) => (Some(packed.bytes), Some(packed.sha256), Some(packed.length)),
            None => (None, None, None),
        };
        let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(of.usage).counts();
        in_tx!(tx, |conn| {
            sqlx::query(INSERT)
                .bind(of.id.uuid())
                .bind(of.turn_id.uuid())
                .bind(i64::from(of.step))
                .bind(of.provider.as_str())
                .bind(of.api.as_deref())
                .bind(of.model_requested.as_str())
                .bind(of.model_returned.as_deref())
                .bind(of.raw_kind.as_str())
                .bind(of.raw_complete)
                .bind(bytes)
                .bind(sha256)
                .bind(length)
                .bind(of.status.as_str())
                .bind(of.stop_reason.as_deref())
                .bind(input)
                .bind(output)
                .bind(cache_read)
                .bind(cache_write)
                .bind(reasoning)
                .bind(of.cost_micros.map(to_bigint))
                .bind(of.cost_basis.map(to_word))
                .bind(of.price_version.as_deref())
                .bind(of.error.as_ref().map(Json))
                .bind(of.first_token_at)
                .bind(of.started_at)
                .bind(of.ended_at)
                .bind(true)
                .execute(conn)
                .await?;
        });
        let manifest = to_json(&of.request_manifest, "generation_requests", "manifest")?;
        let call = (of.turn_id, of.step, of.provider.as_str(), of.model_requested.as_str());
        requests::insert_imported(tx, of.id, call, (&of.request.0, manifest)).await
    })
}

/// Sets the position of a chat's next turn.
pub async fn set_next_ord(tx: &mut Tx, chat: ChatId, next_ord: i64) -> Result<(), StoreError> {
    in_tx!(tx, |conn| sqlx::query(COUNT_ON).bind(chat.uuid()).bind(next_ord).execute(conn).await.map(drop))?;
    Ok(())
}

/// Returns the blobs and the documents (not in Trash) that messages of a chat reference. Unreadable rows are
/// recorded.
pub async fn list_attached_ids(
    db: &Db,
    owner: UserId,
    chat: ChatId,
    damages: &mut Vec<Damage>,
) -> Result<(Vec<String>, Vec<DocumentId>), StoreError> {
    let blobs: Vec<Readable<(String,)>> =
        with_pool!(db, |pool| sqlx::query_as(BLOBS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    let documents: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(DOCUMENTS).bind(owner.uuid()).bind(chat.uuid()).fetch_all(pool).await?);
    let of_chat = format_args!("of chat {chat}");
    let blobs = keep_readable_with_damages(blobs, "block_blobs", of_chat, damages);
    let documents = keep_readable_with_damages(documents, "block_documents", of_chat, damages);
    Ok((blobs.into_iter().map(|(sha256,)| sha256).collect(), documents.into_iter().map(|(id,)| id.into()).collect()))
}
