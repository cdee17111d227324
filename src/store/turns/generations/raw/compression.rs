//! Compression of responses, and the bounds within which they are unpacked.

use std::cell::RefCell;
use std::io;

use sha2::{Digest, Sha256};
use uuid::Uuid;
use zstd::bulk::Compressor;

use crate::database::error::StoreError;
use crate::database::rows::inconsistent;
use turnleaf_domain::limits;

/// An upper bound on any kept response, of this server or of an archive.
const LENGTH_MAX: usize = 4 * limits::RAW_BYTES;

/// The default level of zstd: JSON streams shrink to a tenth, at several hundred MB/s.
const LEVEL: i32 = 3;
/// Bodies up to this many bytes are compressed by a compressor that each thread keeps: making one costs as much as using
/// it, but one for larger bodies would keep megabytes.
const KEPT_COMPRESSOR_BYTES: usize = 128 << 10;

/// A whole response, compressed.
pub(crate) struct PackedBody {
    pub bytes: Vec<u8>,
    pub sha256: Vec<u8>,
    pub length: i64,
}

pub(crate) fn compress(body: &[u8]) -> Result<PackedBody, StoreError> {
    let failed = |error| inconsistent("generations", "raw_response", "a new body", error);
    let bytes = compressed_bytes(body).map_err(failed)?;
    let length = i64::try_from(body.len()).unwrap_or(i64::MAX);
    Ok(PackedBody { bytes, sha256: Sha256::digest(body).to_vec(), length })
}

fn compressed_bytes(body: &[u8]) -> io::Result<Vec<u8>> {
    thread_local! {
        static COMPRESSOR: RefCell<Option<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL).ok());
    }
    COMPRESSOR.with_borrow_mut(|kept| match kept {
        Some(compressor) if body.len() <= KEPT_COMPRESSOR_BYTES => compressor.compress(body),
        _ => zstd::bulk::compress(body, LEVEL),
    })
}

/// Decompresses a body of [`compress`]. `length` is the stored one, which bounds the expansion of a damaged body.
pub(crate) fn decompress(packed: &[u8], length: i64, id: Uuid) -> Result<Vec<u8>, StoreError> {
    decompress_column(packed, length, ("generations", "raw_response", id))
}

/// Works like [`decompress`], for a value of any table: its table, its column and the id of its row.
pub(crate) fn decompress_column(
    packed: &[u8],
    length: i64,
    (table, column, id): (&'static str, &'static str, Uuid),
) -> Result<Vec<u8>, StoreError> {
    let failed = |error: String| inconsistent(table, column, id, error);
    let length = usize::try_from(length).map_err(|error| failed(error.to_string()))?;
    // The length is allocated up front, so a damaged one must be bounded.
    if length > LENGTH_MAX {
        return Err(failed(format!("its length of {length} bytes is beyond every response")));
    }
    let body = zstd::bulk::decompress(packed, length).map_err(|error| failed(error.to_string()))?;
    if body.len() == length { Ok(body) } else { Err(failed("the length is not the stored one".into())) }
}
