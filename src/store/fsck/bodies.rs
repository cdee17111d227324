//! Checks raw responses against the length and sha256 that were taken at arrival, and image references against the
//! stored blobs.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::finding::{FsckFinding, finding, note_unreadable, readable_ids};
use crate::db::Db;
use crate::error::StoreError;
use crate::generations::raw::decompress;
use crate::generations::requests::{
    RequestBodyRow, RequestManifestRow, base_request_joins, manifest_columns, request_columns,
};
use turnleaf_platform::hex::hex;

sql! {
    PACKED = "SELECT id FROM generations WHERE raw_response IS NOT NULL ORDER BY id";
    BODY = "SELECT raw_response, raw_sha256, raw_bytes FROM generations WHERE id = $1 AND raw_response IS NOT NULL";
    REQUESTS = "SELECT generation_id FROM generation_requests ORDER BY generation_id";
    REQUEST = concat!("SELECT ", request_columns!(), ", ", manifest_columns!(), " FROM generations g ", base_request_joins!(), "WHERE g.id = $1");
    BLOBS = "SELECT sha256 FROM blobs WHERE bytes IS NOT NULL ORDER BY sha256";
    BYTES = "SELECT bytes FROM blobs WHERE sha256 = $1 AND bytes IS NOT NULL";
    BLOB = "SELECT sha256 FROM blobs WHERE sha256 = $1";
}

pub(super) async fn check(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    let ids = with_pool!(db, |pool| sqlx::query_as(PACKED).fetch_all(pool).await?);
    for id in readable_ids::<Uuid>(ids) {
        let body: Option<(Vec<u8>, Vec<u8>, i64)> =
            with_pool!(db, |pool| sqlx::query_as(BODY).bind(id).fetch_optional(pool).await?);
        let Some((packed, sha256, length)) = body else { continue };
        if let Some(body) = note_unreadable(decompress(&packed, length, id), findings)?
            && Sha256::digest(&body).as_slice() != sha256
        {
            findings.push(finding("I9", "generations", id, "its raw response does not match its sha256"));
        }
    }
    check_requests(db, findings).await?;
    check_blobs(db, findings).await
}

/// A stored request with its manifest.
struct Request {
    body: RequestBodyRow,
    manifest: RequestManifestRow,
}
from_row!(Request { body: flatten, manifest: flatten });

async fn check_requests(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    let ids = with_pool!(db, |pool| sqlx::query_as(REQUESTS).fetch_all(pool).await?);
    for id in readable_ids::<Uuid>(ids) {
        let row: Option<Request> = with_pool!(db, |pool| sqlx::query_as(REQUEST).bind(id).fetch_optional(pool).await?);
        let Some(Request { body, manifest }) = row else { continue };
        note_unreadable(body.reassemble(id), findings)?;
        note_unreadable(manifest.reassemble(id), findings)?;
    }
    Ok(())
}

async fn check_blobs(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    let called = with_pool!(db, |pool| sqlx::query_as(BLOBS).fetch_all(pool).await?);
    for name in readable_ids::<String>(called) {
        let bytes: Option<Vec<u8>> =
            with_pool!(db, |pool| sqlx::query_scalar(BYTES).bind(&name).fetch_optional(pool).await?);
        if bytes.map(|bytes| hex(Sha256::digest(bytes))).is_some_and(|hash| hash != name) {
            findings.push(finding("R10", "blobs", name, "its bytes do not match its hash"));
        }
    }
    Ok(())
}

/// Returns whether a blob with this hash exists.
pub(super) async fn has_blob(db: &Db, sha256: &str) -> Result<bool, StoreError> {
    let found: Option<String> =
        with_pool!(db, |pool| sqlx::query_scalar(BLOB).bind(sha256).fetch_optional(pool).await?);
    Ok(found.is_some())
}
