//! Uploads: files of a person, under their original names. An upload keeps its blob until a message, a document, a
//! draft or a queued message references it, and for a day if none does.

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::rows::{parse_word, storable_text, to_unsigned, to_word};
use turnleaf_domain::UserId;

sql! {
    AGAIN = "UPDATE uploads SET created_at = $4 WHERE owner_id = $1 AND sha256 = $2 AND name = $3";
    INSERT = "INSERT INTO uploads (id, owner_id, sha256, name, kind, width, height, created_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    /// The newest name, with the type and the size of the blob.
    FIND = "SELECT u.name, u.kind, u.width, u.height, b.mime, b.byte_count FROM uploads u \
        JOIN blobs b ON b.sha256 = u.sha256 WHERE u.owner_id = $1 AND u.sha256 = $2 \
        ORDER BY u.created_at DESC, u.id DESC LIMIT 1";
    /// The bytes of a person's files with their forms, and of the texts of documents. A blob counts once.
    USED = concat!("SELECT CAST(COALESCE((SELECT ", bounded_sum!("b.byte_count"), " FROM blobs b WHERE b.sha256 IN ( \
            SELECT u.sha256 FROM uploads u WHERE u.owner_id = $1 \
            UNION SELECT f.is_in FROM uploads u JOIN blob_forms f ON f.sha256 = u.sha256 WHERE u.owner_id = $1 \
            UNION SELECT v.origin FROM document_versions v JOIN documents d ON d.id = v.document_id \
                WHERE d.owner_id = $1)), 0) \
        + COALESCE((SELECT ", bounded_sum!("v.byte_count"), " FROM document_versions v JOIN documents d ON d.id = v.document_id \
            WHERE d.owner_id = $1), 0) AS BIGINT)");
    /// Uploads whose blob nothing else references, not even as a form of a referenced image. Drafts and queued
    /// messages reference theirs in JSON.
    FORGET = "DELETE FROM uploads WHERE id IN (SELECT u.id FROM uploads u WHERE u.created_at < $1 \
        AND NOT EXISTS (SELECT 1 FROM block_blobs r WHERE r.sha256 = u.sha256) \
        AND NOT EXISTS (SELECT 1 FROM document_versions v WHERE v.origin = u.sha256) \
        AND NOT EXISTS (SELECT 1 FROM drafts k WHERE k.owner_id = u.owner_id AND k.attachments <> '[]' \
            AND k.attachments LIKE '%' || u.sha256 || '%') \
        AND NOT EXISTS (SELECT 1 FROM queued_messages q WHERE q.owner_id = u.owner_id AND q.turn_id IS NULL \
            AND q.request LIKE '%' || u.sha256 || '%') \
        ORDER BY u.created_at LIMIT $2)";
}

/// The purpose of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UploadKind {
    /// An image, which is shown and sent to models with image input.
    Image,
    /// A file, which is kept unchanged; documents are converted from it.
    File,
}

/// An upload to store; its blob is stored before, in the same transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload<'a> {
    pub id: Uuid,
    pub owner_id: UserId,
    pub sha256: &'a str,
    pub name: &'a str,
    pub kind: UploadKind,
    /// The size of an image, in pixels.
    pub size: Option<(u32, u32)>,
}

/// A stored upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    pub name: String,
    pub kind: UploadKind,
    pub size: Option<(u32, u32)>,
    pub mime: String,
    pub byte_count: u64,
}

struct UploadRow {
    name: String,
    kind: String,
    width: Option<i64>,
    height: Option<i64>,
    mime: String,
    byte_count: i64,
}
from_row!(UploadRow { name, kind, width, height, mime, byte_count });

/// Stores an upload. Uploading the same file under the same name again refreshes the earlier upload.
pub async fn put(tx: &mut Tx, upload: &NewUpload<'_>, now: DateTime<Utc>) -> Result<(), StoreError> {
    let name = storable_text(upload.name, "the name of a file")?;
    let (width, height) = upload.size.unzip();
    in_tx!(tx, |conn| {
        let again = sqlx::query(AGAIN).bind(upload.owner_id.uuid()).bind(upload.sha256).bind(name).bind(now);
        if again.execute(&mut *conn).await?.rows_affected() == 0 {
            sqlx::query(INSERT)
                .bind(upload.id)
                .bind(upload.owner_id.uuid())
                .bind(upload.sha256)
                .bind(name)
                .bind(to_word(upload.kind))
                .bind(width.map(i64::from))
                .bind(height.map(i64::from))
                .bind(now)
                .execute(&mut *conn)
                .await?;
        }
    });
    Ok(())
}

/// Returns the newest upload of these bytes by this owner.
pub async fn find(db: &Db, owner: UserId, sha256: &str) -> Result<Option<Upload>, StoreError> {
    let row: Option<UploadRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(sha256).fetch_optional(pool).await?);
    let Some(row) = row else { return Ok(None) };
    let side = |n: Option<i64>| n.and_then(|n| u32::try_from(n).ok());
    Ok(Some(Upload {
        kind: parse_word(row.kind, "uploads", "kind", sha256)?,
        size: side(row.width).zip(side(row.height)),
        name: row.name,
        mime: row.mime,
        byte_count: to_unsigned(row.byte_count),
    }))
}

/// Returns the bytes of a person's files and documents.
pub async fn used_bytes(db: &Db, owner: UserId) -> Result<u64, StoreError> {
    let used: i64 = with_pool!(db, |pool| sqlx::query_scalar(USED).bind(owner.uuid()).fetch_one(pool).await?);
    Ok(to_unsigned(used))
}

/// Deletes unused uploads from before this moment, at most `limit`; returns their number.
pub async fn delete_unused(tx: &mut Tx, before: DateTime<Utc>, limit: u32) -> Result<u64, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query(FORGET).bind(before).bind(i64::from(limit)).execute(conn).await?.rows_affected()
    }))
}
