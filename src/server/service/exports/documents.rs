//! Documents on their way into an archive: version by version, because all of one may be more than the memory.

use super::{Out, unwritable};
use crate::domain::{DocumentId, UserId};
use crate::interchange::archive::{ArchivedDocument, ArchivedVersion};
use crate::interchange::bounds;
use crate::server::service::{Service, ServiceError};
use crate::server::store::documents;

/// The versions of a document that go along; there are fewer.
const VERSIONS: u64 = bounds::VERSIONS as u64;

impl Service {
    pub(super) async fn all_documents(&self, owner: UserId) -> Result<Vec<DocumentId>, ServiceError> {
        let mut ids = Vec::new();
        let mut behind = None;
        loop {
            let page = documents::list(self.db(), owner, behind, None, 200).await?;
            let Some(last) = page.last() else { return Ok(ids) };
            behind = Some((last.updated_at, last.id));
            ids.extend(page.iter().map(|document| document.id));
        }
    }

    /// The blobs that the versions of a document were read from.
    pub(super) async fn origins_of(
        &self,
        owner: UserId,
        id: DocumentId,
    ) -> Result<impl Iterator<Item = String> + use<>, ServiceError> {
        let versions = documents::versions(self.db(), owner, id, VERSIONS).await?;
        Ok(versions.into_iter().filter_map(|version| version.origin))
    }

    /// False when nobody reads any more. A document that was deleted meanwhile is left out.
    pub(super) async fn write_document(
        &self,
        owner: UserId,
        id: DocumentId,
        out: &mut Out<'_>,
    ) -> Result<bool, ServiceError> {
        let found = out.damages.unless_damaged(documents::find(self.db(), owner, id).await)?.flatten();
        let Some(document) = found.filter(|document| document.deleted_at.is_none()) else { return Ok(true) };
        let (created_at, updated_at) = (document.created_at, document.updated_at);
        let (title, kind, versions) = (document.title, document.kind, Vec::new());
        let head = ArchivedDocument { id, title, kind, created_at, updated_at, versions };
        out.writer.begin_document(&head).map_err(unwritable)?;
        let versions = out.damages.unless_damaged(documents::versions(self.db(), owner, id, VERSIONS).await)?;
        for version in versions.into_iter().flatten().rev() {
            let at = version.version_timestamp;
            let content = out.damages.unless_damaged(documents::content(self.db(), owner, id, at).await)?;
            let Some(content) = content.flatten() else { continue };
            let version = ArchivedVersion {
                version_timestamp: at,
                mime: version.mime,
                content,
                notes: version.notes,
                origin: version.origin,
            };
            out.writer.version(&version).map_err(unwritable)?;
            if !out.flush().await {
                return Ok(false);
            }
        }
        out.writer.end_document().map_err(unwritable)?;
        Ok(true)
    }
}
