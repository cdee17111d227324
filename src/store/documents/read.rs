//! Reads documents: a title and immutable versions. Each version is identified by its time, which rises strictly within
//! a document (`docs/reference/domain.md C19`).

use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::like_pattern::contains_pattern;
use crate::database::readable::{self, Readable, RowReader, SalvagedText};
use crate::database::rows::{to_bigint, to_unsigned};
use turnleaf_domain::text::text_matcher::is_case_ambiguous;
use turnleaf_domain::{ChatId, DocumentId, TextMatcher, UserId, limits};

/// The number of chats in which a message that is not deleted references the document `d`.
macro_rules! used_in {
    () => {
        "(SELECT COUNT(DISTINCT b.chat_id) FROM block_documents r JOIN turn_blocks b ON b.id = r.block_id \
         JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id \
         WHERE r.document_id = d.id AND t.deleted_at IS NULL AND c.deleted_at IS NULL)"
    };
}

/// A document with its newest version, without the text.
macro_rules! with_newest {
    () => {
        concat!(
            "SELECT d.id, d.title, d.kind, d.rev, d.created_at, d.updated_at, d.deleted_at, v.version_timestamp, \
             v.origin, v.mime, v.byte_count, v.char_count, v.line_count, v.notes, ",
            used_in!(),
            " AS used_in FROM documents d JOIN document_versions v ON v.document_id = d.id AND v.version_timestamp = ( \
             SELECT MAX(n.version_timestamp) FROM document_versions n WHERE n.document_id = d.id) \
             WHERE d.owner_id = $1"
        )
    };
}

sql! {
    FIND = concat!(with_newest!(), " AND d.id = $2");
    LIST = concat!(with_newest!(), " AND d.deleted_at IS NULL AND (d.updated_at < $2 OR (d.updated_at = $2 AND d.id < $3)) \
        AND LOWER(d.title) LIKE $5 ESCAPE '!' ORDER BY d.updated_at DESC, d.id DESC LIMIT $4");
    DELETED = concat!(with_newest!(), " AND d.deleted_at IS NOT NULL AND NOT EXISTS ( \
            SELECT 1 FROM import_documents m WHERE m.document_id = d.id AND m.deletion_id = d.deletion_id) \
        ORDER BY d.deleted_at DESC, d.id DESC LIMIT $2");
    VERSIONS = "SELECT v.version_timestamp, v.origin, v.mime, v.byte_count, v.char_count, v.line_count, v.notes \
        FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2 ORDER BY v.version_timestamp DESC LIMIT $3";
    /// The text of a document in Trash is not served.
    VERSION = "SELECT v.version_timestamp, v.origin, v.mime, v.byte_count, v.char_count, v.line_count, v.notes \
        FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2 AND v.version_timestamp = $3 AND d.deleted_at IS NULL";
    CONTENT = "SELECT v.content FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2 AND v.version_timestamp = $3 AND d.deleted_at IS NULL";
    FROM_FILES = "SELECT COUNT(*), COUNT(v.origin) FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2";
    CHATS = "SELECT DISTINCT c.id, c.title, c.updated_at FROM block_documents r JOIN turn_blocks b ON b.id = r.block_id \
        JOIN turns t ON t.id = b.turn_id JOIN chats c ON c.id = b.chat_id \
        WHERE c.owner_id = $1 AND r.document_id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
        ORDER BY c.updated_at DESC, c.id DESC LIMIT $3";
}

/// A document as a list entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub id: DocumentId,
    pub title: String,
    /// The media type of its source.
    pub kind: String,
    /// The revision, which rises with every change.
    pub rev: i64,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
    /// The time at which it was moved to Trash.
    pub deleted_at: Option<DateTime<Utc>>,
    /// The number of chats in which a message that is not deleted references it.
    pub used_in: u64,
    /// The newest version.
    pub version: StoredDocumentVersion,
}

/// A version without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredDocumentVersion {
    pub version_timestamp: DateTime<Utc>,
    /// The sha256 of the file from which it was converted, if any.
    pub origin: Option<String>,
    pub mime: String,
    pub byte_count: u64,
    /// The number of Unicode scalar values, the unit of selections.
    pub char_count: u64,
    pub line_count: u64,
    /// Notes about the conversion of the file, for people.
    pub notes: Vec<String>,
}

struct DocumentVersionRow {
    version_timestamp: DateTime<Utc>,
    origin: Option<String>,
    mime: String,
    byte_count: i64,
    char_count: i64,
    line_count: i64,
    notes: String,
}
from_row!(DocumentVersionRow { version_timestamp, origin, mime, byte_count, char_count, line_count, notes });

impl DocumentVersionRow {
    fn into_version(self) -> StoredDocumentVersion {
        StoredDocumentVersion {
            version_timestamp: self.version_timestamp,
            origin: self.origin,
            mime: self.mime,
            byte_count: to_unsigned(self.byte_count),
            char_count: to_unsigned(self.char_count),
            line_count: to_unsigned(self.line_count),
            // Unknown notes of a newer version of Turnleaf must not hide a document.
            notes: serde_json::from_str(&self.notes).unwrap_or_default(),
        }
    }
}

struct DocumentRow {
    id: Uuid,
    title: String,
    kind: String,
    rev: i64,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    deleted_at: Option<DateTime<Utc>>,
    used_in: i64,
    version: DocumentVersionRow,
}
from_row!(DocumentRow { id, title, kind, rev, created_at, updated_at, deleted_at, used_in, version: flatten });

impl DocumentRow {
    fn into_document(self) -> Document {
        Document {
            id: self.id.into(),
            title: self.title,
            kind: self.kind,
            rev: self.rev,
            created_at: self.created_at,
            updated_at: self.updated_at,
            deleted_at: self.deleted_at,
            used_in: to_unsigned(self.used_in),
            version: self.version.into_version(),
        }
    }
}

/// Returns a document of this owner, including Trash.
pub async fn find(db: &Db, owner: UserId, id: DocumentId) -> Result<Option<Document>, StoreError> {
    let row: Option<DocumentRow> =
        with_pool!(db, |pool| sqlx::query_as(FIND).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await?);
    Ok(row.map(DocumentRow::into_document))
}

/// Returns the documents that are not in Trash, most recently changed first, after `behind` if given, and only those
/// whose title matches.
pub async fn list(
    db: &Db,
    owner: UserId,
    behind: Option<(DateTime<Utc>, DocumentId)>,
    title: Option<&TextMatcher>,
    limit: u32,
) -> Result<Vec<Document>, StoreError> {
    // Later than any document.
    let newest = (DateTime::from_timestamp(253_402_300_799, 0).unwrap_or_default(), DocumentId::from(Uuid::max()));
    let (mut at, mut id) = behind.unwrap_or(newest);
    let pattern = contains_pattern(title.map_or("", TextMatcher::prefilter_literal), is_case_ambiguous);
    // Case folding of the database differs: the SQL filter is a superset, so every title is matched again here.
    let some = if title.is_some() { limit.max(limits::PAGE_MAX) } else { limit };
    let mut documents = Vec::new();
    loop {
        let rows: Vec<Readable<DocumentRow>> = with_pool!(db, |pool| {
            let query = sqlx::query_as(LIST).bind(owner.uuid()).bind(at).bind(id.uuid());
            query.bind(i64::from(some)).bind(&pattern).fetch_all(pool).await?
        });
        let is_end = rows.len() < some as usize;
        let rows = readable::keep_readable(rows, "documents").into_iter().map(DocumentRow::into_document);
        for document in rows {
            (at, id) = (document.updated_at, document.id);
            if title.is_none_or(|title| title.is_match(&document.title)) {
                documents.push(document);
            }
        }
        if is_end || documents.len() >= limit as usize {
            documents.truncate(limit as usize);
            return Ok(documents);
        }
    }
}

/// Returns the documents in Trash, the last deleted first, without those of an import that was undone.
pub async fn list_deleted(db: &Db, owner: UserId, limit: u32) -> Result<Vec<Document>, StoreError> {
    let rows: Vec<Readable<DocumentRow>> = with_pool!(db, |pool| {
        sqlx::query_as(DELETED).bind(owner.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(readable::keep_readable(rows, "documents").into_iter().map(DocumentRow::into_document).collect())
}

/// Returns the versions of a document, the newest first.
pub async fn versions(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    limit: u64,
) -> Result<Vec<StoredDocumentVersion>, StoreError> {
    let rows: Vec<Readable<DocumentVersionRow>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(VERSIONS).bind(owner.uuid()).bind(id.uuid()).bind(to_bigint(limit));
        query.fetch_all(pool).await?
    });
    Ok(readable::keep_readable(rows, "document_versions").into_iter().map(DocumentVersionRow::into_version).collect())
}

/// Returns one version of a document that is not in Trash.
pub async fn version(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    version: DateTime<Utc>,
) -> Result<Option<StoredDocumentVersion>, StoreError> {
    let row: Option<DocumentVersionRow> = with_pool!(db, |pool| {
        sqlx::query_as(VERSION).bind(owner.uuid()).bind(id.uuid()).bind(version).fetch_optional(pool).await?
    });
    Ok(row.map(DocumentVersionRow::into_version))
}

/// Returns the text of a version of a document that is not in Trash. U+FFFD replaces invalid bytes.
pub async fn content(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    version: DateTime<Utc>,
) -> Result<Option<String>, StoreError> {
    let content: Option<SalvagedText> = with_pool!(db, |pool| {
        sqlx::query_scalar(CONTENT).bind(owner.uuid()).bind(id.uuid()).bind(version).fetch_optional(pool).await?
    });
    let mut damages = Vec::new();
    let mut row = RowReader { table: "document_versions", id: id.uuid(), damages: &mut damages };
    let text = content.map(|content| row.text("content", content));
    readable::log_damages(&damages);
    Ok(text)
}

/// Returns whether the owner typed the whole document: it exists, and no version of it was converted from a file.
pub async fn is_written_by_owner(db: &Db, owner: UserId, id: DocumentId) -> Result<bool, StoreError> {
    let (versions, from_files): (i64, i64) =
        with_pool!(db, |pool| sqlx::query_as(FROM_FILES).bind(owner.uuid()).bind(id.uuid()).fetch_one(pool).await?);
    Ok(versions > 0 && from_files == 0)
}

/// Returns the chats with a message that references it, most recently changed first: id and title.
pub async fn list_referencing_chats(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    limit: u32,
) -> Result<Vec<(ChatId, String)>, StoreError> {
    let rows: Vec<Readable<(Uuid, String, DateTime<Utc>)>> = with_pool!(db, |pool| {
        sqlx::query_as(CHATS).bind(owner.uuid()).bind(id.uuid()).bind(i64::from(limit)).fetch_all(pool).await?
    });
    Ok(readable::keep_readable(rows, "chats").into_iter().map(|(id, title, _)| (id.into(), title)).collect())
}
