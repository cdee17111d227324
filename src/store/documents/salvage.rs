//! Salvage of documents with damaged rows: the head without its versions, and each version by itself.

use chrono::{DateTime, Utc};

use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{Damage, Lossy, RowReader, SalvagedText};
use crate::database::rows::to_bigint;
use turnleaf_domain::{DocumentId, UserId};

sql! {
    HEAD = "SELECT d.title, d.kind, d.created_at, d.updated_at FROM documents d \
        WHERE d.owner_id = $1 AND d.id = $2 AND d.deleted_at IS NULL";
    VERSIONS = "SELECT v.version_timestamp, v.origin, v.mime, v.notes FROM document_versions v \
        JOIN documents d ON d.id = v.document_id WHERE d.owner_id = $1 AND d.id = $2 AND d.deleted_at IS NULL \
        ORDER BY v.version_timestamp LIMIT $3";
    CONTENT = "SELECT v.content FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2 AND v.version_timestamp = $3 AND d.deleted_at IS NULL";
    /// A version whose time cannot be read is found by its position among the others.
    CONTENT_AT = "SELECT v.content FROM document_versions v JOIN documents d ON d.id = v.document_id \
        WHERE d.owner_id = $1 AND d.id = $2 AND d.deleted_at IS NULL ORDER BY v.version_timestamp LIMIT 1 OFFSET $3";
}

const DOCUMENTS: &str = "documents";
const TABLE: &str = "document_versions";

/// A document without its versions, as far as its row can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHead {
    pub title: String,
    pub kind: String,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// A version without its text, as far as its row can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentVersionHead {
    /// Its position among the versions, from 0.
    pub place: u64,
    /// None if it cannot be read.
    pub version_timestamp: Option<DateTime<Utc>>,
    pub origin: Option<String>,
    pub mime: String,
    pub notes: Vec<String>,
}

/// Returns the media type for text whose stored type cannot be read.
fn unknown_kind() -> String {
    "text/plain".to_owned()
}

/// Returns a document of this owner that is not in Trash, and records unreadable values.
pub async fn find_head(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    damages: &mut Vec<Damage>,
) -> Result<Option<DocumentHead>, StoreError> {
    type DamagedDocumentRow = (SalvagedText, Lossy<String>, Lossy<DateTime<Utc>>, Lossy<DateTime<Utc>>);
    let row: Option<DamagedDocumentRow> =
        with_pool!(db, |pool| sqlx::query_as(HEAD).bind(owner.uuid()).bind(id.uuid()).fetch_optional(pool).await?);
    let mut reader = RowReader { table: DOCUMENTS, id: id.uuid(), damages };
    Ok(row.map(|(title, kind, created_at, updated_at)| DocumentHead {
        title: reader.text("title", title),
        kind: reader.value("kind", kind).unwrap_or_else(unknown_kind),
        created_at: reader.moment("created_at", created_at),
        updated_at: reader.moment("updated_at", updated_at),
    }))
}

/// Returns the versions of such a document, the oldest first, and records unreadable values.
pub async fn list_version_heads(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    limit: u64,
    damages: &mut Vec<Damage>,
) -> Result<Vec<DocumentVersionHead>, StoreError> {
    type DamagedVersionRow = (Lossy<DateTime<Utc>>, Lossy<Option<String>>, Lossy<String>, Lossy<String>);
    let rows: Vec<DamagedVersionRow> = with_pool!(db, |pool| {
        let query = sqlx::query_as(VERSIONS).bind(owner.uuid()).bind(id.uuid()).bind(to_bigint(limit));
        query.fetch_all(pool).await?
    });
    let mut versions = Vec::with_capacity(rows.len());
    for ((at, origin, mime, notes), place) in rows.into_iter().zip(0..) {
        let mut of_row = Vec::new();
        let mut reader = RowReader { table: TABLE, id: id.uuid(), damages: &mut of_row };
        versions.push(DocumentVersionHead {
            place,
            version_timestamp: reader.value("version_timestamp", at),
            origin: reader.value("origin", origin).flatten(),
            mime: reader.value("mime", mime).unwrap_or_else(unknown_kind),
            notes: reader.value("notes", notes).and_then(|text| reader.json("notes", &text)).unwrap_or_default(),
        });
        damages.extend(of_row.into_iter().map(|damage| damage_of_version(damage, id, place)));
    }
    Ok(versions)
}

/// Returns the text of a version, and records an unreadable part; none if it is deleted.
pub async fn content(
    db: &Db,
    owner: UserId,
    id: DocumentId,
    version: &DocumentVersionHead,
    damages: &mut Vec<Damage>,
) -> Result<Option<String>, StoreError> {
    let mut content: Option<SalvagedText> = None;
    if let Some(at) = version.version_timestamp {
        content = with_pool!(db, |pool| {
            sqlx::query_scalar(CONTENT).bind(owner.uuid()).bind(id.uuid()).bind(at).fetch_optional(pool).await?
        });
    }
    if content.is_none() {
        content = with_pool!(db, |pool| {
            let query = sqlx::query_scalar(CONTENT_AT).bind(owner.uuid()).bind(id.uuid());
            query.bind(to_bigint(version.place)).fetch_optional(pool).await?
        });
    }
    let mut of_row = Vec::new();
    let mut reader = RowReader { table: TABLE, id: id.uuid(), damages: &mut of_row };
    let text = content.map(|content| reader.text("content", content));
    damages.extend(of_row.into_iter().map(|damage| damage_of_version(damage, id, version.place)));
    Ok(text)
}

fn damage_of_version(damage: Damage, id: DocumentId, place: u64) -> Damage {
    Damage { id: format!("{} of document {id}", place + 1), ..damage }
}
