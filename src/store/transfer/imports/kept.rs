//! Items of an undone import that are not in Trash.

use uuid::Uuid;

use super::undo::is_unused;
use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use turnleaf_domain::{ChatId, DocumentId, ImportId, UserId};

sql! {
    /// The chats in which turns of the import are left, and those that it created.
    CHATS = "SELECT c.id, c.title FROM chats c WHERE c.deleted_at IS NULL AND c.id IN ( \
        SELECT m.chat_id FROM import_chats m JOIN imports i ON i.id = m.import_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND (m.first_ord = 0 OR EXISTS ( \
            SELECT 1 FROM turns t WHERE t.chat_id = m.chat_id AND t.ord BETWEEN m.first_ord AND m.last_ord \
            AND t.deleted_at IS NULL))) ORDER BY c.id LIMIT $3";
    /// Documents that an undo of the rest would remove come first.
    DOCUMENTS = concat!("SELECT d.id, d.title, ", is_unused!(), " AS is_unused FROM import_documents m \
        JOIN imports i ON i.id = m.import_id JOIN documents d ON d.id = m.document_id \
        WHERE i.owner_id = $1 AND i.id = $2 AND d.deleted_at IS NULL ORDER BY is_unused DESC, d.id LIMIT $3");
    /// Ids in JSON are text, so the attachments are searched for the text of an id.
    UNSENT = "SELECT k.attachments FROM drafts k LEFT JOIN chats c ON c.id = k.chat_id \
        WHERE k.owner_id = $1 AND c.deleted_at IS NULL AND k.attachments <> '[]' \
        UNION ALL SELECT q.request FROM queued_messages q JOIN chats c ON c.id = q.chat_id \
        WHERE q.owner_id = $1 AND q.turn_id IS NULL AND c.deleted_at IS NULL";
}

/// A chat of an import that is not in Trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentChat {
    pub id: ChatId,
    pub title: String,
}

/// A document of an import that is not in Trash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PresentDocument {
    pub id: DocumentId,
    pub title: String,
    /// True if a message or a draft uses it.
    pub is_used: bool,
}

/// Returns the first chats of an import that are not in Trash, or have turns of it that are not.
pub async fn list_chats(db: &Db, owner: UserId, id: ImportId, limit: u32) -> Result<Vec<PresentChat>, StoreError> {
    let rows: Vec<Readable<(Uuid, Lossy<String>)>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(CHATS).bind(owner.uuid()).bind(id.uuid()).bind(i64::from(limit));
        query.fetch_all(pool).await?
    });
    let kept = |(id, title): (Uuid, Lossy<String>)| PresentChat {
        id: id.into(),
        title: title.unwrap_or_default("chats", "title", id),
    };
    Ok(keep_readable(rows, "chats").into_iter().map(kept).collect())
}

/// Returns the first documents of an import that are not in Trash.
pub async fn list_documents(
    db: &Db,
    owner: UserId,
    id: ImportId,
    limit: u32,
) -> Result<Vec<PresentDocument>, StoreError> {
    let rows: Vec<Readable<(Uuid, Lossy<String>, bool)>> = with_pool!(db, |pool| {
        let query = sqlx::query_as(DOCUMENTS).bind(owner.uuid()).bind(id.uuid()).bind(i64::from(limit));
        query.fetch_all(pool).await?
    });
    let rows = keep_readable(rows, "documents");
    let unsent = if rows.is_empty() { Vec::new() } else { unsent_attachments(db, owner).await? };
    let is_attached = |id: DocumentId| {
        let id = id.to_string();
        unsent.iter().any(|attachments| attachments.contains(&id))
    };
    let kept = |(id, title, is_unused): (Uuid, Lossy<String>, bool)| PresentDocument {
        id: id.into(),
        title: title.unwrap_or_default("documents", "title", id),
        is_used: !is_unused || is_attached(id.into()),
    };
    Ok(rows.into_iter().map(kept).collect())
}

/// Returns the attachments of the drafts, and the queued messages, of chats that are not in Trash, in JSON.
async fn unsent_attachments(db: &Db, owner: UserId) -> Result<Vec<String>, StoreError> {
    let rows: Vec<Readable<(Lossy<String>,)>> =
        with_pool!(db, |pool| sqlx::query_as(UNSENT).bind(owner.uuid()).fetch_all(pool).await?);
    let text = |(text,): (Lossy<String>,)| text.unwrap_or_default("drafts", "attachments", owner.uuid());
    Ok(keep_readable(rows, "drafts").into_iter().map(text).collect())
}
