//! Generations: single provider calls. Their requests are in [`requests`], the raw bytes of their responses in
//! [`raw`].

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::deferred_write::ChangedRows;
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_decoded, keep_readable};
use crate::database::rows::{inconsistent, parse_word, to_word};
use crate::usage::ledger;
use turnleaf_domain::{GenerationId, TurnId, UserId};

mod kinds;
pub(crate) mod provider_call;
pub mod raw;
pub mod requests;

pub use kinds::{GenerationStatus, RawKind};
pub use provider_call::{Generation, GenerationEnd};

use provider_call::{ProviderCallRow, bind_end, call_columns, call_end};
use requests::{RequestManifestRow, StoredRequest, base_request_joins, manifest_columns};

macro_rules! generation_columns {
    () => {
        concat!("g.id, g.turn_id, g.step, g.raw_kind, ", manifest_columns!(), ", ", call_columns!())
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
    FINISH = concat!("UPDATE generations SET ", call_end!(), " WHERE id = $1 AND status = 'running'");
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
    /// ([`turnleaf_domain::turns::context::RequestManifest`]).
    pub request: StoredRequest,
    pub raw_kind: RawKind,
    pub started_at: DateTime<Utc>,
}

struct GenerationRow {
    id: Uuid,
    turn_id: Uuid,
    step: i64,
    manifest: RequestManifestRow,
    raw_kind: String,
    call: ProviderCallRow,
}
from_row!(GenerationRow { id, turn_id, step, manifest: flatten, raw_kind, call: flatten });

const TABLE: &str = "generations";

impl GenerationRow {
    fn into_generation(self) -> Result<Generation, StoreError> {
        let id = self.id;
        let manifest = keep_decoded([self.manifest.reassemble(id)], TABLE).pop();
        Ok(Generation {
            step: u32::try_from(self.step).map_err(|cause| inconsistent(TABLE, "step", id, cause))?,
            request_manifest: with_parts(manifest.unwrap_or_default()),
            raw_kind: parse_word(self.raw_kind, TABLE, "raw_kind", id)?,
            ..self.call.into_generation(TABLE, id, self.turn_id)?
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

/// Ends a generation, writes its row in the ledger, and packs its raw bytes if they are small; larger ones are left for
/// [`raw::pack`], so that they never hold up the writer. Returns false if it had another end already. Idempotent:
/// repeating the same end succeeds, because the acknowledgement of an earlier commit may have been lost.
pub async fn finish(tx: &mut Tx, end: &GenerationEnd) -> Result<bool, StoreError> {
    let ended = defer_end(tx, end).await?;
    ledger::record_generation(tx, end.id, end.counted()).await?;
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
        ledger::record_generation(tx, end.id, end.counted()).await?;
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
    bind_end(tx.defer(FINISH), end, end.small_body())?.run().await
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
