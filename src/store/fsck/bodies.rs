//! Checks raw responses, what was sent for a title, and snapshots of shares against the length and sha256 that were taken
//! of the originals, and image references against the stored blobs.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::finding::{FsckFinding, finding, note_unreadable, readable_ids};
use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::turns::generations::raw::{decompress, decompress_column};
use crate::turns::generations::requests::{
    RequestBodyRow, RequestManifestRow, base_request_joins, manifest_columns, request_columns,
};
use turnleaf_platform::hex::hex;

sql! {
    PACKED = "SELECT id FROM generations WHERE raw_response IS NOT NULL ORDER BY id";
    BODY = "SELECT raw_response, raw_sha256, raw_bytes FROM generations WHERE id = $1 AND raw_response IS NOT NULL";
    REQUESTS = "SELECT generation_id FROM generation_requests ORDER BY generation_id";
    REQUEST = concat!("SELECT ", request_columns!(), ", ", manifest_columns!(), " FROM generations g ", base_request_joins!(), "WHERE g.id = $1");
    TITLES = "SELECT id FROM title_requests ORDER BY id";
    TITLE = "SELECT body, body_sha256, body_bytes, manifest, manifest_bytes, raw_response, raw_sha256, raw_bytes \
        FROM title_requests WHERE id = $1";
    SHARES = "SELECT id FROM shares ORDER BY id";
    SNAPSHOT = "SELECT snapshot, snapshot_sha256, snapshot_bytes, turns, turns_sha256, turns_bytes FROM shares \
        WHERE id = $1";
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
    check_title_requests(db, findings).await?;
    check_shares(db, findings).await?;
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

/// The compressed values of a request for a title.
struct TitleBodies {
    body: Vec<u8>,
    body_sha256: Vec<u8>,
    body_bytes: i64,
    manifest: Vec<u8>,
    manifest_bytes: i64,
    raw_response: Option<Vec<u8>>,
    raw_sha256: Option<Vec<u8>>,
    raw_bytes: Option<i64>,
}
from_row!(TitleBodies { body, body_sha256, body_bytes, manifest, manifest_bytes, raw_response, raw_sha256, raw_bytes });

async fn check_title_requests(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    const TABLE: &str = "title_requests";
    let ids = with_pool!(db, |pool| sqlx::query_as(TITLES).fetch_all(pool).await?);
    for id in readable_ids::<Uuid>(ids) {
        let row: Option<TitleBodies> =
            with_pool!(db, |pool| sqlx::query_as(TITLE).bind(id).fetch_optional(pool).await?);
        let Some(row) = row else { continue };
        let manifest = decompress_column(&row.manifest, row.manifest_bytes, (TABLE, "manifest", id));
        note_unreadable(manifest, findings)?;
        let response = row.raw_response.zip(row.raw_sha256).zip(row.raw_bytes);
        let response = response.map(|((packed, sha256), length)| ("raw_response", packed, sha256, length));
        let body = ("body", row.body, row.body_sha256, row.body_bytes);
        for (column, packed, sha256, length) in std::iter::once(body).chain(response) {
            let read = decompress_column(&packed, length, (TABLE, column, id));
            if let Some(bytes) = note_unreadable(read, findings)?
                && Sha256::digest(&bytes).as_slice() != sha256
            {
                findings.push(finding("I9", TABLE, id, format!("its {column} does not match its sha256")));
            }
        }
    }
    Ok(())
}

/// The compressed values of a share.
struct ShareBodies {
    snapshot: Vec<u8>,
    snapshot_sha256: Vec<u8>,
    snapshot_bytes: i64,
    turns: Option<Vec<u8>>,
    turns_sha256: Option<Vec<u8>>,
    turns_bytes: Option<i64>,
}
from_row!(ShareBodies { snapshot, snapshot_sha256, snapshot_bytes, turns, turns_sha256, turns_bytes });

async fn check_shares(db: &Db, findings: &mut Vec<FsckFinding>) -> Result<(), StoreError> {
    const TABLE: &str = "shares";
    let ids = with_pool!(db, |pool| sqlx::query_as(SHARES).fetch_all(pool).await?);
    for id in readable_ids::<Uuid>(ids) {
        let row: Option<ShareBodies> =
            with_pool!(db, |pool| sqlx::query_as(SNAPSHOT).bind(id).fetch_optional(pool).await?);
        let Some(row) = row else { continue };
        let turns = row.turns.zip(row.turns_sha256).zip(row.turns_bytes);
        let turns = turns.map(|((packed, sha256), length)| ("turns", packed, sha256, length));
        let snapshot = ("snapshot", row.snapshot, row.snapshot_sha256, row.snapshot_bytes);
        for (column, packed, sha256, length) in std::iter::once(snapshot).chain(turns) {
            let read = decompress_column(&packed, length, (TABLE, column, id));
            if let Some(bytes) = note_unreadable(read, findings)?
                && Sha256::digest(&bytes).as_slice() != sha256
            {
                findings.push(finding("I9", TABLE, id, format!("its {column} does not match its sha256")));
            }
        }
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
