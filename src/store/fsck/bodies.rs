//! Raw responses against the length and sha256 that were taken when they came; images against the blobs they name.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::finding::{Finding, finding, names, unreadable};
use crate::db::Db;
use crate::error::StoreError;
use crate::generations::raw::decompress;
use crate::generations::requests::{BodyRow, ManifestRow, manifest_columns, of_base, request_columns};
use turnleaf_platform::hex::hex;

sql! {
    PACKED = "SELECT id FROM generations WHERE raw_response IS NOT NULL ORDER BY id";
    BODY = "SELECT raw_response, raw_sha256, raw_bytes FROM generations WHERE id = $1 AND raw_response IS NOT NULL";
    REQUESTS = "SELECT generation_id FROM generation_requests ORDER BY generation_id";
    REQUEST = concat!("SELECT ", request_columns!(), ", ", manifest_columns!(), " FROM generations g ", of_base!(), "WHERE g.id = $1");
    BLOBS = "SELECT sha256 FROM blobs WHERE bytes IS NOT NULL ORDER BY sha256";
    BYTES = "SELECT bytes FROM blobs WHERE sha256 = $1 AND bytes IS NOT NULL";
    BLOB = "SELECT sha256 FROM blobs WHERE sha256 = $1";
}

pub(super) async fn check(db: &Db, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let ids = on!(db, |pool| sqlx::query_as(PACKED).fetch_all(pool).await?);
    for id in names::<Uuid>(ids) {
        let body: Option<(Vec<u8>, Vec<u8>, i64)> =
            on!(db, |pool| sqlx::query_as(BODY).bind(id).fetch_optional(pool).await?);
        let Some((packed, sha256, length)) = body else { continue };
        if let Some(body) = unreadable(decompress(&packed, length, id), findings)?
            && Sha256::digest(&body).as_slice() != sha256
        {
            findings.push(finding("I9", "generations", id, "its raw response is not the one its sha256 was taken of"));
        }
    }
    requests_can_be_read(db, findings).await?;
    blobs_are_what_they_are_called(db, findings).await
}

/// What was sent, and what one of its kind says that it was made of.
#[derive(sqlx::FromRow)]
struct Request {
    #[sqlx(flatten)]
    body: BodyRow,
    #[sqlx(flatten)]
    manifest: ManifestRow,
}

async fn requests_can_be_read(db: &Db, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let ids = on!(db, |pool| sqlx::query_as(REQUESTS).fetch_all(pool).await?);
    for id in names::<Uuid>(ids) {
        let row: Option<Request> = on!(db, |pool| sqlx::query_as(REQUEST).bind(id).fetch_optional(pool).await?);
        let Some(Request { body, manifest }) = row else { continue };
        unreadable(body.whole(id), findings)?;
        unreadable(manifest.whole(id), findings)?;
    }
    Ok(())
}

async fn blobs_are_what_they_are_called(db: &Db, findings: &mut Vec<Finding>) -> Result<(), StoreError> {
    let called = on!(db, |pool| sqlx::query_as(BLOBS).fetch_all(pool).await?);
    for name in names::<String>(called) {
        let bytes: Option<Vec<u8>> = on!(db, |pool| sqlx::query_scalar(BYTES).bind(&name).fetch_optional(pool).await?);
        if bytes.map(|bytes| hex(Sha256::digest(bytes))).is_some_and(|hash| hash != name) {
            findings.push(finding("R10", "blobs", name, "its bytes are not those that it is called by"));
        }
    }
    Ok(())
}

/// Whether there is a blob of this hash.
pub(super) async fn has_blob(db: &Db, sha256: &str) -> Result<bool, StoreError> {
    let found: Option<String> = on!(db, |pool| sqlx::query_scalar(BLOB).bind(sha256).fetch_optional(pool).await?);
    Ok(found.is_some())
}
