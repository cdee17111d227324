//! Documents: read, compare, delete and restore. [`change`] creates and changes them. A version is immutable, so a
//! message that references one keeps its content.

use chrono::{DateTime, Utc};

use crate::branches::compare::text_diff::TextDiff;
use crate::error::UnfitReason;
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, DocumentId, MessageCode, TextMatcher, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_run::purge::{delete_documents, purge_scheduled};
use turnleaf_store::documents;
use turnleaf_store::documents::purge::DocumentPurgeTarget;
use turnleaf_store::documents::write;

mod attachments;
pub mod change;
pub mod spools;
pub mod uploads;

pub use change::{DocumentChange, DocumentTextSource, NewDocumentRequest, TEXT_KINDS};
pub use turnleaf_store::documents::read::{Document, StoredDocumentVersion};

impl Service {
    /// Stores the text of an earlier version as the newest version.
    pub async fn restore_version(
        &self,
        owner: UserId,
        id: DocumentId,
        version: DateTime<Utc>,
    ) -> Result<Document, ServiceError> {
        let (_, text) = self.document_text(owner, id, Some(version)).await?;
        let change = DocumentChange { source: Some(DocumentTextSource::Text(text)), ..DocumentChange::default() };
        self.change_document(owner, id, change).await
    }

    /// Returns a document that is not in Trash.
    pub async fn document(&self, owner: UserId, id: DocumentId) -> Result<Document, ServiceError> {
        let found = documents::read::find(self.db(), owner, id).await?.filter(|document| document.deleted_at.is_none());
        found.ok_or(ServiceError::NotFound)
    }

    /// Returns a version with its text; the newest when none is named.
    pub async fn document_text(
        &self,
        owner: UserId,
        id: DocumentId,
        version: Option<DateTime<Utc>>,
    ) -> Result<(StoredDocumentVersion, String), ServiceError> {
        let document = self.document(owner, id).await?;
        let gone = || ServiceError::unfit(UnfitReason::Gone, "version_gone", "version", MessageCode::NoSuchVersion);
        let version = match version {
            None => document.version,
            Some(at) => documents::read::version(self.db(), owner, id, at).await?.ok_or_else(gone)?,
        };
        let text = documents::read::content(self.db(), owner, id, version.version_timestamp).await?;
        Ok((version, text.ok_or_else(gone)?))
    }

    /// Returns the documents outside Trash, last changed first, after `behind` when given.
    pub async fn documents(
        &self,
        owner: UserId,
        behind: Option<(DateTime<Utc>, DocumentId)>,
        title: Option<&TextMatcher>,
        limit: u32,
    ) -> Result<Vec<Document>, ServiceError> {
        Ok(documents::read::list(self.db(), owner, behind, title, limit).await?)
    }

    /// Returns the document with exactly this title; of several, the one that changed last.
    pub async fn document_titled(&self, owner: UserId, title: &str) -> Result<Option<Document>, ServiceError> {
        Ok(self.documents_titled(owner, title).await?.into_iter().next())
    }

    /// Returns the documents with exactly this title, last changed first.
    async fn documents_titled(&self, owner: UserId, title: &str) -> Result<Vec<Document>, ServiceError> {
        let Ok(matcher) = TextMatcher::new(title) else { return Ok(Vec::new()) };
        let mut found = documents::read::list(self.db(), owner, None, Some(&matcher), limits::PAGE_MAX).await?;
        found.retain(|document| document.title == title);
        Ok(found)
    }

    /// Returns the documents in Trash.
    pub async fn deleted_documents(&self, owner: UserId) -> Result<Vec<Document>, ServiceError> {
        Ok(documents::read::list_deleted(self.db(), owner, limits::PAGE_MAX).await?)
    }

    /// Returns all versions, newest first.
    pub async fn document_versions(
        &self,
        owner: UserId,
        id: DocumentId,
    ) -> Result<Vec<StoredDocumentVersion>, ServiceError> {
        self.document(owner, id).await?;
        Ok(documents::read::versions(self.db(), owner, id, limits::DOCUMENT_VERSIONS.unsigned_abs()).await?)
    }

    /// Returns the chats that reference the document, last changed first.
    pub async fn chats_of_document(
        &self,
        owner: UserId,
        id: DocumentId,
    ) -> Result<Vec<(ChatId, String)>, ServiceError> {
        Ok(documents::read::list_referencing_chats(self.db(), owner, id, limits::PAGE_DEFAULT).await?)
    }

    /// Returns the text diff of two versions.
    pub async fn compare_versions(
        &self,
        owner: UserId,
        id: DocumentId,
        left: DateTime<Utc>,
        right: DateTime<Utc>,
    ) -> Result<TextDiff, ServiceError> {
        let (_, left) = self.document_text(owner, id, Some(left)).await?;
        let (_, right) = self.document_text(owner, id, Some(right)).await?;
        let compared = tasks::spawn_blocking(move || TextDiff::from_texts(&left, &right)).await;
        compared.map_err(|error| {
            tracing::error!(%error, "two versions could not be compared");
            ServiceError::unfit(UnfitReason::Content, "not_compared", "version", MessageCode::NotComparable)
        })
    }

    /// Moves a document to Trash. Messages that reference it show that it is deleted.
    pub async fn delete_document(&self, owner: UserId, id: DocumentId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        if !write::move_to_trash(&mut tx, owner, id, ids::mint(), self.clock().now()).await? {
            return Err(ServiceError::NotFound);
        }
        Ok(tx.commit().await?)
    }

    /// Restores a document from Trash.
    ///
    /// # Errors
    /// `not_in_trash` when it was not deleted.
    pub async fn restore_document(&self, owner: UserId, id: DocumentId) -> Result<Document, ServiceError> {
        let mut tx = self.db().begin().await?;
        if !write::restore(&mut tx, owner, id).await? {
            tx.rollback().await?;
            self.document(owner, id).await?;
            return Err(ServiceError::conflict("not_in_trash", MessageCode::NotInTrash));
        }
        tx.commit().await?;
        self.document(owner, id).await
    }

    /// Deletes a document in Trash permanently.
    ///
    /// # Errors
    /// `not_in_trash` when it was not deleted.
    pub async fn purge_document(&self, owner: UserId, id: DocumentId) -> Result<(), ServiceError> {
        let found = documents::read::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        if found.deleted_at.is_none() {
            return Err(ServiceError::conflict("not_in_trash", MessageCode::NotInTrash));
        }
        self.purge_documents(DocumentPurgeTarget::One(owner, id)).await.map(drop)
    }

    /// Deletes documents permanently and returns their number.
    pub(super) async fn purge_documents(&self, of: DocumentPurgeTarget) -> Result<u64, ServiceError> {
        let gone = delete_documents(self.db(), of).await?;
        purge_scheduled(self.db(), self.clock().now()).await?;
        self.note_purge();
        Ok(gone)
    }
}
