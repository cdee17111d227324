//! Raw responses, byte for byte: rows of pieces while they arrive, then one compressed body with the sha256 of the
//! original.

mod compression;
pub(crate) mod pieces;

use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use sqlx::QueryBuilder;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Readable, keep_decoded, keep_readable, ok_or_log};
use crate::database::rows::inconsistent;
use crate::usage::storage;
use turnleaf_domain::{GenerationId, TurnId, UserId};
use turnleaf_platform::tasks;

pub(crate) use self::compression::{PackedBody, compress, decompress, decompress_column};
pub use self::pieces::{RawChunk, append_chunks, complete_append_chunks, defer_append_chunks};

/// Bodies up to this many bytes are compressed inside the transaction that ends the generation, which takes a few
/// milliseconds.
pub const PACKED_AT_ONCE: usize = 1 << 20;

/// The number of turns per query, far below the parameter limit of either database.
const TURNS_AT_ONCE: usize = 1_000;

sql! {
    PACK = "UPDATE generations SET raw_response = $2, raw_sha256 = $3, raw_bytes = $4 \
        WHERE id = $1 AND raw_response IS NULL AND status <> 'running'";
    DELETE = "DELETE FROM generation_chunks WHERE generation_id = $1";
    DELETE_PACKED = "DELETE FROM generation_chunks WHERE generation_id = $1 \
        AND EXISTS (SELECT 1 FROM generations g WHERE g.id = $1 AND g.raw_response IS NOT NULL)";
    /// The query starts with the pieces, of which few are kept, and not with the responses, of which all are.
    UNPACKED = "SELECT g.id FROM (SELECT DISTINCT generation_id FROM generation_chunks) k CROSS JOIN generations g \
        WHERE g.id = k.generation_id AND g.status <> 'running' AND g.raw_response IS NULL ORDER BY g.id LIMIT $1";
    FIND = "SELECT g.raw_response, g.raw_bytes FROM generations g JOIN turns t ON t.id = g.turn_id \
        JOIN chats c ON c.id = t.chat_id \
        WHERE c.owner_id = $1 AND g.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL";
    /// A list of turn ids follows.
    PACKED = "SELECT raw_response, raw_bytes FROM generations WHERE id = $1";
    OF_TURNS = "SELECT g.turn_id, g.id, g.raw_response, g.raw_bytes, g.raw_complete, g.status, g.api, \
        EXISTS (SELECT 1 FROM generation_chunks k WHERE k.generation_id = g.id) AS has_pieces FROM generations g ";
}

/// The raw response of one step of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawStep {
    pub generation_id: GenerationId,
    /// True if the provider finished the response and the generation succeeded: only then may it be replayed raw.
    pub is_complete: bool,
    /// The API whose format the bytes have; none for rows from before this was recorded.
    pub api: Option<String>,
    pub body: RawBody,
}

/// A response in memory, plain or packed, which is a tenth of the size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RawBody {
    Plain(Vec<u8>),
    /// Packed bytes that were unpacked once, which verified them.
    Packed {
        bytes: Vec<u8>,
        length: usize,
    },
}

impl RawBody {
    fn from_packed(bytes: Vec<u8>, length: i64, id: Uuid) -> Result<Self, StoreError> {
        let length = decompress(&bytes, length, id)?.len();
        Ok(Self::Packed { bytes, length })
    }

    /// Returns whether no bytes were kept.
    pub fn is_empty(&self) -> bool {
        self.byte_count() == 0
    }

    /// Returns the length of the response in bytes.
    pub fn byte_count(&self) -> usize {
        match self {
            Self::Plain(bytes) => bytes.len(),
            Self::Packed { length, .. } => *length,
        }
    }

    /// Returns its memory in bytes.
    pub fn memory_bytes(&self) -> usize {
        match self {
            Self::Plain(bytes) | Self::Packed { bytes, .. } => bytes.len(),
        }
    }

    /// Returns the exact response bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Plain(bytes) => bytes.clone(),
            Self::Packed { bytes, length } => zstd::bulk::decompress(bytes, *length).unwrap_or_default(),
        }
    }
}

struct StepRow {
    turn_id: Uuid,
    id: Uuid,
    raw_response: Option<Vec<u8>>,
    raw_bytes: Option<i64>,
    raw_complete: bool,
    status: String,
    api: Option<String>,
    has_pieces: bool,
}
from_row!(StepRow { turn_id, id, raw_response, raw_bytes, raw_complete, status, api, has_pieces });

/// Deletes the pieces of a generation whose body is packed, as a deferred write.
pub(super) async fn drop_packed_pieces(tx: &mut Tx, generation: GenerationId) -> Result<(), StoreError> {
    tx.defer(DELETE_PACKED).bind(generation.uuid()).run().await.map(drop)
}

/// Generations whose pieces this process could not pack. They are read in pieces and not retried before the next
/// start. This is kept in memory, because a damaged row may refuse every change.
static NOT_PACKED: LazyLock<Mutex<HashSet<Uuid>>> = LazyLock::new(Mutex::default);

fn with_not_packed<T>(act: impl FnOnce(&mut HashSet<Uuid>) -> T) -> T {
    act(&mut NOT_PACKED.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Packs a finished generation: compresses its pieces into one body and deletes them, in one transaction. Does
/// nothing if that was done. Pieces that cannot be read or packed are logged and left unchanged.
pub async fn pack(db: &Db, generation: GenerationId) -> Result<(), StoreError> {
    match pack_pieces(db, generation).await {
        Err(error) if !error.is_database_wide() => {
            tracing::error!(%generation, %error, "a raw body cannot be packed and stays in pieces");
            with_not_packed(|all| all.insert(generation.uuid()));
            Ok(())
        }
        packed => packed,
    }
}

async fn pack_pieces(db: &Db, generation: GenerationId) -> Result<(), StoreError> {
    let pieces = pieces::list(db, generation.uuid()).await?;
    if pieces.is_empty() {
        return Ok(());
    }
    let packed = tasks::spawn_blocking(move || compress(&pieces.concat()))
        .await
        .map_err(|error| inconsistent("generations", "raw_response", generation, error))??;
    let mut tx = db.begin().await?;
    store_packed(&mut tx, generation, packed).await?;
    storage::invalidate_turn_size_of_call(&mut tx, generation.uuid()).await?;
    tx.commit().await
}

/// Returns finished generations whose pieces [`pack`] has yet to compress, at most `limit`.
pub async fn list_unpacked(db: &Db, limit: u32) -> Result<Vec<GenerationId>, StoreError> {
    let known = with_not_packed(|all| i64::try_from(all.len()).unwrap_or(i64::MAX));
    let rows = i64::from(limit).saturating_add(known);
    let ids: Vec<Readable<(Uuid,)>> =
        with_pool!(db, |pool| sqlx::query_as(UNPACKED).bind(rows).fetch_all(pool).await?);
    let mut ids: Vec<Uuid> = keep_readable(ids, "generations").into_iter().map(|(id,)| id).collect();
    with_not_packed(|all| ids.retain(|id| !all.contains(id)));
    ids.truncate(limit as usize);
    Ok(ids.into_iter().map(GenerationId::from).collect())
}

/// Returns the exact response bytes that have arrived so far. `None` if the owner has no such generation or nothing
/// was kept.
pub async fn find(db: &Db, owner: UserId, generation: GenerationId) -> Result<Option<Vec<u8>>, StoreError> {
    let row: Option<(Option<Vec<u8>>, Option<i64>)> = with_pool!(db, |pool| {
        sqlx::query_as(FIND).bind(owner.uuid()).bind(generation.uuid()).fetch_optional(pool).await?
    });
    match row {
        None => Ok(None),
        Some((Some(packed), Some(length))) => decompress(&packed, length, generation.uuid()).map(Some),
        Some(_) => {
            let pieces = pieces::list(db, generation.uuid()).await?;
            Ok(Some(pieces.concat()).filter(|bytes| !bytes.is_empty()))
        }
    }
}

/// Returns the responses of these turns, by step, for context assembly. The caller has found the turns by their
/// owner.
pub async fn list_by_turns(db: &Db, turns: &[TurnId]) -> Result<HashMap<TurnId, Vec<RawStep>>, StoreError> {
    let mut map: HashMap<TurnId, Vec<RawStep>> = HashMap::new();
    // A path may have more turns than a statement has parameters.
    for some in turns.chunks(TURNS_AT_ONCE) {
        let rows: Vec<Readable<StepRow>> = with_pool!(db, |pool| {
            let mut query = QueryBuilder::new(OF_TURNS);
            query.push("WHERE g.turn_id IN (");
            let mut list = query.separated(", ");
            for turn in some {
                list.push_bind(turn.uuid());
            }
            query.push(") ORDER BY g.turn_id, g.step");
            query.build_query_as().persistent(false).fetch_all(pool).await?
        });
        for row in keep_readable(rows, "generations") {
            let body = match (row.raw_response, row.raw_bytes) {
                // A damaged body counts as missing: the turn is sent to its model as text.
                (Some(bytes), Some(length)) => {
                    keep_decoded([RawBody::from_packed(bytes, length, row.id)], "generations")
                        .pop()
                        .unwrap_or(RawBody::Plain(Vec::new()))
                }
                _ if !row.has_pieces => RawBody::Plain(Vec::new()),
                _ => match ok_or_log(pieces::list(db, row.id).await, "generation_chunks")? {
                    None => RawBody::Plain(Vec::new()),
                    // The pieces may have been packed since the row was read.
                    Some(none) if none.is_empty() => RawBody::Plain(packed_bytes(db, row.id).await?),
                    Some(pieces) => RawBody::Plain(pieces.concat()),
                },
            };
            let is_complete = row.raw_complete && row.status == "complete" && !body.is_empty();
            let step = RawStep { generation_id: row.id.into(), is_complete, api: row.api, body };
            map.entry(row.turn_id.into()).or_default().push(step);
        }
    }
    Ok(map)
}

/// Returns the unpacked body of a response; empty if there is none.
async fn packed_bytes(db: &Db, generation: Uuid) -> Result<Vec<u8>, StoreError> {
    let row: Option<(Option<Vec<u8>>, Option<i64>)> =
        with_pool!(db, |pool| sqlx::query_as(PACKED).bind(generation).fetch_optional(pool).await?);
    match row {
        Some((Some(packed), Some(length))) => decompress(&packed, length, generation),
        _ => Ok(Vec::new()),
    }
}

/// Packs within the transaction that ends the generation, if the body is small.
pub(super) async fn pack_if_small(tx: &mut Tx, generation: GenerationId) -> Result<(), StoreError> {
    // A failure of an earlier write is not one of the pieces.
    tx.flush().await?;
    let pieces = match pieces::list_small(tx, generation.uuid(), PACKED_AT_ONCE as i64).await {
        // A damaged piece must not keep the generation from ending.
        Err(error) if !error.is_database_wide() => {
            tracing::error!(%generation, %error, "a raw body cannot be packed and stays in pieces");
            with_not_packed(|all| all.insert(generation.uuid()));
            return Ok(());
        }
        pieces => pieces?,
    };
    if pieces.is_empty() {
        return Ok(());
    }
    store_packed(tx, generation, compress(&pieces.concat())?).await
}

async fn store_packed(tx: &mut Tx, generation: GenerationId, packed: PackedBody) -> Result<(), StoreError> {
    let id = generation.uuid();
    in_tx!(tx, |conn| {
        let query = sqlx::query(PACK).bind(id).bind(packed.bytes).bind(packed.sha256).bind(packed.length);
        if query.execute(&mut *conn).await?.rows_affected() > 0 {
            sqlx::query(DELETE).bind(id).execute(&mut *conn).await?;
        }
    });
    Ok(())
}
