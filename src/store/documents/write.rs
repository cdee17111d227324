//! Writes of documents. Every change locks the document first, so that its versions are ordered.

use chrono::{DateTime, TimeDelta, Utc};
use uuid::Uuid;

use super::index;
use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::database::rows::{storable_text, to_bigint};
use turnleaf_domain::documents::selection;
use turnleaf_domain::{DeletionId, DocumentId, UserId};

sql! {
    INSERT = "INSERT INTO documents (id, owner_id, title, kind, rev, created_at, updated_at) \
        VALUES ($1, $2, $3, $4, CAST(1 AS BIGINT), $5, $5)";
    HOLD = "UPDATE documents SET rev = rev + 1, updated_at = $4 WHERE owner_id = $1 AND id = $2 \
        AND deleted_at IS NULL AND (CAST($3 AS BIGINT) IS NULL OR rev = $3) RETURNING rev";
    NEWEST = "SELECT version_timestamp, content FROM document_versions WHERE document_id = $1 \
        ORDER BY version_timestamp DESC LIMIT 1";
    COUNT = "SELECT COUNT(*) FROM document_versions WHERE document_id = $1";
    ADD = "INSERT INTO document_versions (document_id, version_timestamp, content, origin, mime, byte_count, char_count, \
        line_count, notes) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    NAME = "UPDATE documents SET title = $2, kind = $3 WHERE id = $1";
    DATE = "UPDATE documents SET created_at = $2, updated_at = $3 WHERE id = $1";
    TRASH = "UPDATE documents SET deleted_at = $3, deletion_id = $4, rev = rev + 1 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NULL";
    RESTORE = "UPDATE documents SET deleted_at = NULL, deletion_id = NULL, rev = rev + 1 \
        WHERE owner_id = $1 AND id = $2 AND deleted_at IS NOT NULL";
}

/// A document to create.
#[derive(Debug, Clone, Copy)]
pub struct NewDocument<'a> {
    pub id: DocumentId,
    pub owner_id: UserId,
    pub title: &'a str,
    pub kind: &'a str,
}

/// A version to add.
#[derive(Debug, Clone, Copy)]
pub struct NewDocumentVersion<'a> {
    pub content: &'a str,
    /// The sha256 of a stored blob.
    pub origin: Option<&'a str>,
    pub mime: &'a str,
    pub notes: &'a [String],
}

/// Creates a document with its first version, which is identified by this time.
pub async fn insert(
    tx: &mut Tx,
    document: &NewDocument<'_>,
    version: &NewDocumentVersion<'_>,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let title = storable_text(document.title, "the title")?;
    let kind = storable_text(document.kind, "the kind of a document")?;
    in_tx!(&mut *tx, |conn| {
        let query = sqlx::query(INSERT).bind(document.id.uuid()).bind(document.owner_id.uuid());
        query.bind(title).bind(kind).bind(now).execute(conn).await?;
    });
    insert_version(tx, document.id, version, now).await?;
    index::reindex(tx, document.id).await
}

/// Locks a document for a change, and returns its new revision. `None` if it does not exist, is in Trash, or has
/// another revision than `rev` (optimistic concurrency).
pub async fn lock_for_update(
    tx: &mut Tx,
    owner: UserId,
    id: DocumentId,
    rev: Option<i64>,
    now: DateTime<Utc>,
) -> Result<Option<i64>, StoreError> {
    Ok(in_tx!(tx, |conn| {
        sqlx::query_scalar(HOLD).bind(owner.uuid()).bind(id.uuid()).bind(rev).bind(now).fetch_optional(conn).await?
    }))
}

/// Returns the newest version of a locked document: its time and its text.
pub async fn newest_version(tx: &mut Tx, id: DocumentId) -> Result<Option<(DateTime<Utc>, String)>, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_as(NEWEST).bind(id.uuid()).fetch_optional(conn).await?))
}

/// Returns the number of versions of a locked document.
pub async fn count_versions(tx: &mut Tx, id: DocumentId) -> Result<i64, StoreError> {
    Ok(in_tx!(tx, |conn| sqlx::query_scalar(COUNT).bind(id.uuid()).fetch_one(conn).await?))
}

/// Adds a version to a locked document, identified by this time or, if the clock went back, by the microsecond after
/// the newest version. Returns the time of the version.
pub async fn add_version(
    tx: &mut Tx,
    id: DocumentId,
    version: &NewDocumentVersion<'_>,
    newest: Option<DateTime<Utc>>,
    now: DateTime<Utc>,
) -> Result<DateTime<Utc>, StoreError> {
    let after = newest.map(|newest| newest + TimeDelta::microseconds(1));
    let at = after.map_or(now, |after| after.max(now));
    insert_version(tx, id, version, at).await?;
    index::reindex(tx, id).await?;
    Ok(at)
}

/// Sets the title and the kind of a locked document.
pub async fn set_title_and_kind(tx: &mut Tx, id: DocumentId, title: &str, kind: &str) -> Result<(), StoreError> {
    let (title, kind) = (storable_text(title, "the title")?, storable_text(kind, "the kind of a document")?);
    in_tx!(&mut *tx, |conn| sqlx::query(NAME).bind(id.uuid()).bind(title).bind(kind).execute(conn).await.map(drop))?;
    index::reindex(tx, id).await
}

/// Sets the times at which an imported document was created and changed at its source.
pub async fn set_dates(
    tx: &mut Tx,
    id: DocumentId,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
) -> Result<(), StoreError> {
    in_tx!(tx, |conn| {
        sqlx::query(DATE).bind(id.uuid()).bind(created_at).bind(updated_at).execute(conn).await?;
    });
    Ok(())
}

/// Moves a document to Trash; returns false if it does not exist.
pub async fn move_to_trash(
    tx: &mut Tx,
    owner: UserId,
    id: DocumentId,
    deletion: DeletionId,
    now: DateTime<Utc>,
) -> Result<bool, StoreError> {
    let moved = in_tx!(&mut *tx, |conn| {
        let query = sqlx::query(TRASH).bind(owner.uuid()).bind(id.uuid()).bind(now).bind(deletion.uuid());
        query.execute(conn).await?.rows_affected()
    });
    Ok(moved > 0)
}

/// Restores a document from Trash; returns false if it is not there.
pub async fn restore(tx: &mut Tx, owner: UserId, id: DocumentId) -> Result<bool, StoreError> {
    let restored = in_tx!(&mut *tx, |conn| {
        sqlx::query(RESTORE).bind(owner.uuid()).bind(id.uuid()).execute(conn).await?.rows_affected()
    });
    Ok(restored > 0)
}

async fn insert_version(
    tx: &mut Tx,
    id: DocumentId,
    version: &NewDocumentVersion<'_>,
    at: DateTime<Utc>,
) -> Result<(), StoreError> {
    let content = storable_text(version.content, "the document")?;
    let (mime, notes) = (storable_text(version.mime, "the type of a document")?, notes_json(version.notes));
    let notes = storable_text(&notes, "the notes of a document")?;
    let id: Uuid = id.uuid();
    in_tx!(tx, |conn| {
        sqlx::query(ADD)
            .bind(id)
            .bind(at)
            .bind(content)
            .bind(version.origin)
            .bind(mime)
            .bind(to_bigint(content.len() as u64))
            .bind(to_bigint(content.chars().count() as u64))
            .bind(to_bigint(selection::count_lines(content)))
            .bind(notes)
            .execute(conn)
            .await?;
    });
    Ok(())
}

/// Encodes notes for storage.
fn notes_json(notes: &[String]) -> String {
    serde_json::to_string(notes).unwrap_or_else(|_| "[]".to_owned())
}
