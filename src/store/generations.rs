//! Generations: single provider calls. Their requests are in [`requests`], the raw bytes of their responses in
//! [`raw`].

use bytes::Bytes;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use sqlx::types::Json;
use uuid::Uuid;

use crate::db::{Db, Tx};
use crate::deferred_write::ChangedRows;
use crate::error::StoreError;
use crate::readable::{Lossy, Readable, keep_decoded, keep_readable, time_of_id};
use crate::rows::{UsageRow, inconsistent, parse_word, to_bigint, to_unsigned, to_word};
use turnleaf_domain::{Charge, CostBasis, Failure, GenerationId, TurnId, Usage, UserId};

mod kinds;
pub mod raw;
pub mod requests;

pub use kinds::{GenerationStatus, RawKind};

use requests::{RequestManifestRow, StoredRequest, base_request_joins, manifest_columns};

macro_rules! generation_columns {
    () => {
        concat!(
            "g.id, g.turn_id, g.step, g.provider, g.model_requested, g.model_returned, ",
            manifest_columns!(),
            ", g.raw_sha256, g.raw_bytes, g.raw_kind, g.raw_complete, g.status, g.stop_reason, g.input_tokens, g.output_tokens, \
         g.cache_read_tokens, g.cache_write_tokens, g.reasoning_tokens, g.cost_micros, g.cost_basis, g.price_version, g.error, g.first_token_at, \
         g.started_at, g.ended_at"
        )
    };
}

/// Generations with their requests, in chats of this owner ($1).
macro_rules! owned_generations {
    () => {
        concat!(
            " FROM generations g ",
            base_request_joins!(),
            "JOIN turns t ON t.id = g.turn_id JOIN chats c ON c.id = t.chat_id \
             WHERE c.owner_id = $1 AND t.deleted_at IS NULL AND c.deleted_at IS NULL"
        )
    };
}

sql! {
    INSERT = "INSERT INTO generations (id, turn_id, step, provider, model_requested, raw_kind, raw_complete, api, \
        status, started_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9) ON CONFLICT DO NOTHING";
    IS_STEP = "SELECT id FROM generations WHERE id = $1 AND turn_id = $2 AND step = $3";
    IS_OVER = "SELECT id FROM generations WHERE id = $1 AND status = $2 AND ended_at = $3";
    FINISH = "UPDATE generations SET status = $2, raw_complete = $3, model_returned = $4, stop_reason = $5, \
        input_tokens = $6, output_tokens = $7, cache_read_tokens = $8, cache_write_tokens = $9, \
        reasoning_tokens = $10, error = $11, first_token_at = $12, ended_at = $13, cost_micros = $14, \
        cost_basis = $15, price_version = $16, raw_response = $17, raw_sha256 = $18, raw_bytes = $19 \
        WHERE id = $1 AND status = 'running'";
    IDS = concat!("SELECT g.id ", owned_generations!(), " AND g.turn_id = $2 ORDER BY g.step");
    LIST = concat!("SELECT ", generation_columns!(), owned_generations!(), " AND g.turn_id = $2 ORDER BY g.step");
    FIND = concat!("SELECT ", generation_columns!(), owned_generations!(), " AND g.id = $2");
    RUNNING = "SELECT id, model_returned, first_token_at FROM generations \
        WHERE turn_id = $1 AND status = 'running' ORDER BY step";
    CLOSE_OTHERS = "UPDATE generations SET status = $2, ended_at = $3 WHERE turn_id = $1 AND status = 'running'";
}

/// A provider call that is about to be made.
#[derive(Debug, Clone)]
pub struct NewGeneration {
    pub id: GenerationId,
    pub turn_id: TurnId,
    /// The position among the turn's generations, from 0.
    pub step: u32,
    pub provider: String,
    /// The API of the provider, as configurations name it.
    pub api: String,
    pub model_requested: String,
    /// The request with its manifest, which records how each turn was sent and which parameters were dropped
    /// ([`turnleaf_domain::context::RequestManifest`]).
    pub request: StoredRequest,
    pub raw_kind: RawKind,
    pub started_at: DateTime<Utc>,
}

/// The end of a provider call.
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationEnd {
    pub id: GenerationId,
    /// Never `Running`.
    pub status: GenerationStatus,
    /// True if the response is complete; only then may it be replayed to its model.
    pub raw_complete: bool,
    pub model_returned: Option<String>,
    /// The provider's own word for it.
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// `None` if it is unknown.
    pub charge: Option<Charge>,
    pub error: Option<Failure>,
    pub first_token_at: Option<DateTime<Utc>>,
    pub ended_at: DateTime<Utc>,
    /// The whole response, if the caller still has it and it is small: then its pieces need not be read again.
    pub body: Option<Bytes>,
}

impl GenerationEnd {
    /// Returns the response to pack together with the end.
    fn small_body(&self) -> Option<&Bytes> {
        self.body.as_ref().filter(|body| !body.is_empty() && body.len() <= raw::PACKED_AT_ONCE)
    }

    /// Returns whether the pieces of the response no longer need to be stored.
    pub fn has_small_body(&self) -> bool {
        self.small_body().is_some()
    }
}

/// A stored provider call, without its bodies.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Generation {
    pub id: GenerationId,
    pub turn_id: TurnId,
    pub step: u32,
    pub provider: String,
    pub model_requested: String,
    pub model_returned: Option<String>,
    pub request_manifest: Value,
    /// The sha256 and the length in bytes of the raw response; null while it arrives and if it is not kept.
    pub raw_sha256: Option<Vec<u8>>,
    pub raw_bytes: Option<u64>,
    pub raw_kind: RawKind,
    pub raw_complete: bool,
    pub status: GenerationStatus,
    pub stop_reason: Option<String>,
    pub usage: Usage,
    /// The cost in millionths of a US dollar; null if it is unknown.
    pub cost_micros: Option<u64>,
    pub cost_basis: Option<CostBasis>,
    /// The price list with which the cost was computed.
    pub price_version: Option<String>,
    pub error: Option<Failure>,
    pub first_token_at: Option<DateTime<Utc>>,
    pub started_at: DateTime<Utc>,
    pub ended_at: Option<DateTime<Utc>>,
}

struct GenerationRow {
    id: Uuid,
    turn_id: Uuid,
    step: i64,
    provider: String,
    model_requested: String,
    model_returned: Lossy<Option<String>>,
    manifest: RequestManifestRow,
    raw_sha256: Option<Vec<u8>>,
    raw_bytes: Option<i64>,
    raw_kind: String,
    raw_complete: bool,
    status: String,
    stop_reason: Option<String>,
    usage: UsageRow,
    cost_micros: Option<i64>,
    cost_basis: Option<String>,
    price_version: Option<String>,
    error: Lossy<Option<Json<Failure>>>,
    first_token_at: Lossy<Option<DateTime<Utc>>>,
    started_at: Lossy<DateTime<Utc>>,
    ended_at: Lossy<Option<DateTime<Utc>>>,
}
from_row!(GenerationRow {
    id,
    turn_id,
    step,
    provider,
    model_requested,
    model_returned,
    manifest: flatten,
    raw_sha256,
    raw_bytes,
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

const TABLE: &str = "generations";

impl GenerationRow {
    fn into_generation(self) -> Result<Generation, StoreError> {
        let id = self.id;
        let manifest = keep_decoded([self.manifest.reassemble(id)], TABLE).pop();
        Ok(Generation {
            id: self.id.into(),
            turn_id: self.turn_id.into(),
            step: u32::try_from(self.step).map_err(|cause| inconsistent(TABLE, "step", self.id, cause))?,
            provider: self.provider,
            model_requested: self.model_requested,
            model_returned: self.model_returned.unwrap_or_log(TABLE, "model_returned", id, || None),
            request_manifest: with_parts(manifest.unwrap_or_default()),
            raw_sha256: self.raw_sha256,
            raw_bytes: self.raw_bytes.map(to_unsigned),
            raw_kind: parse_word(self.raw_kind, TABLE, "raw_kind", self.id)?,
            raw_complete: self.raw_complete,
            status: parse_word(self.status, TABLE, "status", self.id)?,
            stop_reason: self.stop_reason,
            usage: self.usage.into(),
            cost_micros: self.cost_micros.map(to_unsigned),
            cost_basis: match self.cost_basis {
                Some(word) => Some(parse_word(word, TABLE, "cost_basis", self.id)?),
                None => None,
            },
            price_version: self.price_version,
            error: self.error.unwrap_or_log(TABLE, "error", id, || None).map(|Json(error)| error),
            first_token_at: self.first_token_at.unwrap_or_log(TABLE, "first_token_at", id, || None),
            started_at: self.started_at.unwrap_or_log(TABLE, "started_at", id, || time_of_id(id)),
            ended_at: self.ended_at.unwrap_or_log(TABLE, "ended_at", id, || None),
        })
    }
}

/// Normalizes manifests of older versions, which were only the list of turns.
fn with_parts(manifest: Value) -> Value {
    match manifest {
        Value::Null => json!({}),
        Value::Array(turns) => json!({"turns": turns, "not_sent": []}),
        manifest => manifest,
    }
}

/// Stores a provider call before it is made. Idempotent: a stored call is left unchanged, because the acknowledgement
/// of an earlier commit may have been lost.
///
/// # Errors
/// `NotUnique` when the turn has another call with this step: two writers believe that they own it.
pub async fn insert(tx: &mut Tx, new: &NewGeneration) -> Result<(), StoreError> {
    let inserted = defer_insert(tx, &[new]).await?;
    check_inserted(tx, &[new], &inserted).await
}

/// Works like [`insert`], as deferred writes for several calls; [`check_inserted`] returns their failure.
pub async fn defer_insert(tx: &mut Tx, calls: &[&NewGeneration]) -> Result<Vec<ChangedRows>, StoreError> {
    let mut inserted = Vec::with_capacity(calls.len());
    for new in calls {
        let insert = tx.defer(INSERT).bind(new.id.uuid()).bind(new.turn_id.uuid()).bind(i64::from(new.step));
        let insert = insert.bind(new.provider.clone()).bind(new.model_requested.clone());
        let insert = insert.bind(to_word(new.raw_kind)).bind(false).bind(new.api.clone()).bind(new.started_at);
        inserted.push(insert.run().await?);
    }
    for new in calls {
        requests::defer_insert(tx, new.id, &new.request).await?;
    }
    Ok(inserted)
}

/// Checks that each of these calls is stored, now or before.
///
/// # Errors
/// As of [`insert`].
pub async fn check_inserted(tx: &mut Tx, calls: &[&NewGeneration], inserted: &[ChangedRows]) -> Result<(), StoreError> {
    for (new, inserted) in calls.iter().zip(inserted) {
        if tx.rows_affected(*inserted).await? == 0 {
            let stored: Option<Uuid> = in_tx!(&mut *tx, |conn| {
                let query = sqlx::query_scalar(IS_STEP).bind(new.id.uuid()).bind(new.turn_id.uuid());
                query.bind(i64::from(new.step)).fetch_optional(conn).await?
            });
            stored.ok_or(StoreError::NotUnique)?;
        }
    }
    Ok(())
}

/// Ends a generation and packs its raw bytes if they are small; larger ones are left for [`raw::pack`], so that they
/// never hold up the writer. Returns false if it had another end already. Idempotent: repeating the same end
/// succeeds, because the acknowledgement of an earlier commit may have been lost.
pub async fn finish(tx: &mut Tx, end: &GenerationEnd) -> Result<bool, StoreError> {
    let ended = defer_end(tx, end).await?;
    if tx.rows_affected(ended).await? > 0 {
        match end.has_small_body() {
            true => raw::drop_packed_pieces(tx, end.id).await?,
            false => raw::pack_if_small(tx, end.id).await?,
        }
        return tx.flush().await.map(|()| true);
    }
    // Pieces of a repeated write would remain next to the packed body.
    raw::drop_packed_pieces(tx, end.id).await?;
    let same: Option<Uuid> = in_tx!(tx, |conn| {
        let query = sqlx::query_scalar(IS_OVER).bind(end.id.uuid()).bind(to_word(end.status)).bind(end.ended_at);
        query.fetch_optional(conn).await?
    });
    Ok(same.is_some())
}

/// Ends several generations as [`finish`] does, for a caller that does not need to know whether they had another end.
/// These are deferred writes, except for responses that are not packed with their end.
pub async fn defer_finish(tx: &mut Tx, ends: &[&GenerationEnd]) -> Result<(), StoreError> {
    let (packed, others): (Vec<&GenerationEnd>, Vec<&GenerationEnd>) =
        ends.iter().copied().partition(|end| end.has_small_body());
    for end in &packed {
        defer_end(tx, end).await?;
    }
    for end in &packed {
        raw::drop_packed_pieces(tx, end.id).await?;
    }
    for end in others {
        finish(tx, end).await?;
    }
    Ok(())
}

/// Writes the end of a running generation.
async fn defer_end(tx: &mut Tx, end: &GenerationEnd) -> Result<ChangedRows, StoreError> {
    // Strings of the provider are cleaned, so that they never make the ending fail.
    let stop_reason = end.stop_reason.as_deref().map(|text| text.replace('\0', "\u{2400}"));
    let model_returned = end.model_returned.as_deref().map(|text| text.replace('\0', "\u{2400}"));
    let [input, output, cache_read, cache_write, reasoning] = UsageRow::from(end.usage).counts();
    let packed = end.small_body().map(|body| raw::compress(body)).transpose()?;
    let (body, digest) = packed.map(|packed| (packed.bytes, (packed.sha256, packed.length))).unzip();
    let (sha256, length) = digest.unzip();
    let charge = end.charge.as_ref();
    let update = tx.defer(FINISH).bind(end.id.uuid()).bind(to_word(end.status)).bind(end.raw_complete);
    let update = update.bind(model_returned).bind(stop_reason).bind(input).bind(output).bind(cache_read);
    let update = update.bind(cache_write).bind(reasoning).bind(end.error.clone().map(Json)).bind(end.first_token_at);
    let update = update.bind(end.ended_at).bind(charge.map(|charge| to_bigint(charge.micros)));
    let update = update.bind(charge.map(|charge| to_word(charge.basis)));
    let update = update.bind(charge.and_then(|charge| charge.price_version.clone()));
    update.bind(body).bind(sha256).bind(length).run().await
}

/// Returns the generations of this owner's turn, by step.
pub async fn list(db: &Db, owner: UserId, turn: TurnId) -> Result<Vec<Generation>, StoreError> {
    let rows: Vec<Readable<GenerationRow>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(owner.uuid()).bind(turn.uuid()).fetch_all(pool).await?);
    Ok(keep_decoded(keep_readable(rows, TABLE).into_iter().map(GenerationRow::into_generation), TABLE))
}

/// Returns only the ids of a turn's generations, by step.
pub async fn list_ids(db: &Db, owner: UserId, turn: TurnId) -> Result<Vec<GenerationId>, StoreError> {
    let ids: Vec<Uuid> =
        with_pool!(db, |pool| sqlx::query_scalar(IDS).bind(owner.uuid()).bind(turn.uuid()).fetch_all(pool).await?);
    Ok(ids.into_iter().map(GenerationId::from).collect())
}

/// Returns one generation in a chat of this owner.
pub async fn find(db: &Db, owner: UserId, generation: GenerationId) -> Result<Option<Generation>, StoreError> {
    let row: Option<GenerationRow> = with_pool!(db, |pool| {
        sqlx::query_as(FIND).bind(owner.uuid()).bind(generation.uuid()).fetch_optional(pool).await?
    });
    row.map(GenerationRow::into_generation).transpose()
}

/// An unfinished provider call, with the values that its end needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunningGeneration {
    pub id: GenerationId,
    pub model_returned: Option<String>,
    pub first_token_at: Option<DateTime<Utc>>,
}

/// Returns the unfinished provider calls of a turn, as far as their rows are readable, for the sweep at the start.
/// Those with an unreadable id are left to [`close_remaining`].
pub async fn list_running(db: &Db, turn: TurnId) -> Result<Vec<RunningGeneration>, StoreError> {
    type RunningGenerationRow = (Uuid, Lossy<Option<String>>, Lossy<Option<DateTime<Utc>>>);
    let rows: Vec<Readable<RunningGenerationRow>> =
        with_pool!(db, |pool| sqlx::query_as(RUNNING).bind(turn.uuid()).fetch_all(pool).await?);
    let read = |(id, model_returned, first_token_at): RunningGenerationRow| RunningGeneration {
        id: id.into(),
        model_returned: model_returned.unwrap_or_log(TABLE, "model_returned", id, || None),
        first_token_at: first_token_at.unwrap_or_log(TABLE, "first_token_at", id, || None),
    };
    Ok(keep_readable(rows, TABLE).into_iter().map(read).collect())
}

/// Ends all generations of a finished turn that are still running, without reading them.
pub async fn close_remaining(
    tx: &mut Tx,
    turn: TurnId,
    status: GenerationStatus,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        let query = sqlx::query(CLOSE_OTHERS).bind(turn.uuid()).bind(to_word(status));
        query.bind(now).execute(conn).await.map(drop)
    })?;
    Ok(())
}
