//! Pieces of responses that are still arriving: rows of bytes, most of them compressed, until the whole response is
//! packed.

use std::borrow::Cow;
use std::cell::RefCell;

use uuid::Uuid;
use zstd::bulk::Compressor;

use crate::database::db::{Db, Tx};
use crate::database::deferred_write::{ChangedRows, insert_of_rows};
use crate::database::error::StoreError;
use crate::database::readable::Lossy;
use crate::database::rows::{inconsistent, to_bigint};
use crate::turns::events::{IGNORE_CONFLICTS, fixed_chunks};
use crate::turns::generations::raw::compression::decompress;
use turnleaf_domain::GenerationId;

/// The level of compression: pieces are many, and packed again at the end.
const LEVEL: i32 = 1;
/// Shorter pieces are stored as they are, because compression would gain nothing.
const COMPRESSED_BYTES: usize = 256;

/// Rows of values and `IGNORE_CONFLICTS` follow.
const INSERT: &str = "INSERT INTO generation_chunks (generation_id, n, bytes, length) ";
/// The number of columns of [`INSERT`].
const COLUMNS: usize = 4;

sql! {
    SIZE = "SELECT CAST(SUM(COALESCE(length, LENGTH(bytes))) AS BIGINT) FROM generation_chunks WHERE generation_id = $1";
    CHUNKS = "SELECT bytes, length FROM generation_chunks WHERE generation_id = $1 ORDER BY n";
    STORED = "SELECT bytes, length FROM generation_chunks WHERE generation_id = $1 AND n = $2";
}

/// A piece of a response, with its offset in bytes, stored as `n`.
#[derive(Debug, Clone, Copy)]
pub struct RawChunk<'a> {
    pub generation_id: GenerationId,
    pub offset: u64,
    pub bytes: &'a [u8],
}

/// Appends pieces of any number of responses. Idempotent: stored bytes are left unchanged, even if they were split
/// differently, because the acknowledgement of an earlier commit may have been lost.
///
/// # Errors
/// `NotUnique` when different bytes are stored at this offset of the response.
pub async fn append_chunks(tx: &mut Tx, chunks: &[RawChunk<'_>]) -> Result<(), StoreError> {
    let inserted = defer_append_chunks(tx, chunks).await?;
    complete_append_chunks(tx, chunks, &inserted).await
}

/// Works like [`append_chunks`], as deferred writes, which [`complete_append_chunks`] must follow.
pub async fn defer_append_chunks(tx: &mut Tx, chunks: &[RawChunk<'_>]) -> Result<Vec<ChangedRows>, StoreError> {
    let mut inserted = Vec::new();
    for some in fixed_chunks(chunks) {
        inserted.push(defer_insert(tx, some).await?);
    }
    Ok(inserted)
}

/// Stores what of appended pieces was not inserted with them, because others are stored at their offsets.
///
/// # Errors
/// As of [`append_chunks`].
pub async fn complete_append_chunks(
    tx: &mut Tx,
    chunks: &[RawChunk<'_>],
    inserted: &[ChangedRows],
) -> Result<(), StoreError> {
    for (some, inserted) in fixed_chunks(chunks).zip(inserted) {
        if tx.rows_affected(*inserted).await? < some.len() as u64 {
            for chunk in some {
                append_missing(tx, *chunk).await?;
            }
        }
    }
    Ok(())
}

/// Stores the missing part of a piece.
async fn append_missing(tx: &mut Tx, mut chunk: RawChunk<'_>) -> Result<(), StoreError> {
    while !chunk.bytes.is_empty() {
        let inserted = defer_insert(tx, &[chunk]).await?;
        if tx.rows_affected(inserted).await? > 0 {
            break;
        }
        let stored: StoredPiece = in_tx!(&mut *tx, |conn| {
            let query = sqlx::query_as(STORED).bind(chunk.generation_id.uuid()).bind(to_bigint(chunk.offset));
            query.fetch_one(conn).await?
        });
        // A damaged piece is not known to hold these bytes.
        let stored = unpack_piece(stored, chunk.generation_id.uuid()).map_err(|_| StoreError::NotUnique)?;
        let (overlap, beyond) = chunk.bytes.split_at(stored.len().min(chunk.bytes.len()));
        if stored.is_empty() || !stored.starts_with(overlap) {
            return Err(StoreError::NotUnique);
        }
        chunk = RawChunk { offset: chunk.offset + overlap.len() as u64, bytes: beyond, ..chunk };
    }
    Ok(())
}

/// Inserts one batch of a fixed size.
async fn defer_insert(tx: &mut Tx, some: &[RawChunk<'_>]) -> Result<ChangedRows, StoreError> {
    let mut insert = tx.defer(insert_of_rows(INSERT, some.len(), COLUMNS, IGNORE_CONFLICTS));
    for chunk in some {
        let (bytes, length) = pack_piece(chunk.bytes);
        insert = insert.bind(chunk.generation_id.uuid()).bind(to_bigint(chunk.offset));
        insert = insert.bind(bytes.into_owned()).bind(length);
    }
    insert.run().await
}

/// A piece as it is stored: its bytes, and the length of the original if they are compressed.
type StoredPiece = (Vec<u8>, Lossy<Option<i64>>);

/// Compresses a piece unless that gains nothing.
fn pack_piece(bytes: &[u8]) -> (Cow<'_, [u8]>, Option<i64>) {
    thread_local! {
        /// A compressor is larger than most pieces, so each thread keeps one.
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    }
    if bytes.len() < COMPRESSED_BYTES {
        return (Cow::Borrowed(bytes), None);
    }
    let packed = COMPRESSOR.with_borrow_mut(|compressor| compressor.as_mut()?.compress(bytes).ok());
    match packed.filter(|packed| packed.len() < bytes.len()) {
        Some(packed) => (Cow::Owned(packed), Some(i64::try_from(bytes.len()).unwrap_or(i64::MAX))),
        None => (Cow::Borrowed(bytes), None),
    }
}

fn unpack_piece((bytes, length): StoredPiece, generation: Uuid) -> Result<Vec<u8>, StoreError> {
    let failed = |error| inconsistent("generation_chunks", "length", generation, error);
    match length.into_result().map_err(failed)? {
        Some(length) => decompress(&bytes, length, generation),
        None => Ok(bytes),
    }
}

fn unpack_all(pieces: Vec<StoredPiece>, generation: Uuid) -> Result<Vec<Vec<u8>>, StoreError> {
    pieces.into_iter().map(|piece| unpack_piece(piece, generation)).collect()
}

/// Returns the pieces of a response.
///
/// # Errors
/// Among others, a piece is damaged.
pub(super) async fn list(db: &Db, generation: Uuid) -> Result<Vec<Vec<u8>>, StoreError> {
    let pieces = with_pool!(db, |pool| sqlx::query_as(CHUNKS).bind(generation).fetch_all(pool).await?);
    unpack_all(pieces, generation)
}

/// Returns the pieces of a response if it has at most this many bytes; none if it is longer.
///
/// # Errors
/// As of [`list`].
pub(super) async fn list_small(tx: &mut Tx, generation: Uuid, at_most: i64) -> Result<Vec<Vec<u8>>, StoreError> {
    let pieces = in_tx!(&mut *tx, |conn| {
        let size: Option<i64> = sqlx::query_scalar(SIZE).bind(generation).fetch_one(&mut *conn).await?;
        match size {
            Some(size) if size <= at_most => sqlx::query_as(CHUNKS).bind(generation).fetch_all(&mut *conn).await?,
            _ => Vec::new(),
        }
    });
    unpack_all(pieces, generation)
}
