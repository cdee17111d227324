//! The present status of references in messages: a document may have a newer version or be deleted, an image may be
//! missing. Statuses are looked up for a whole page at once.

use std::collections::{HashMap, HashSet};

use crate::{Service, ServiceError};
use turnleaf_domain::documents::attachment::{Attachment, ReferenceStatus};
use turnleaf_domain::{BlockId, Content, DocumentId, Turn, UserId};
use turnleaf_store::documents::attachments;

/// The number of ids in one statement.
const IDS_AT_ONCE: usize = 1_000;

impl Service {
    /// Returns the blocks of these turns whose reference is outdated or gone.
    pub async fn reference_statuses(
        &self,
        owner: UserId,
        turns: &[&Turn],
    ) -> Result<HashMap<BlockId, ReferenceStatus>, ServiceError> {
        let blocks = || turns.iter().flat_map(|turn| &turn.blocks);
        let newest = self.newest(owner, blocks().map(|block| &block.content)).await?;
        // An image of a running reply may be stored only after the turn was read.
        let over = turns.iter().filter(|turn| turn.status.is_terminal()).flat_map(|turn| &turn.blocks);
        let images: Vec<BlockId> = over.filter(|block| block.is_image()).map(|block| block.id).collect();
        let mut kept = HashSet::new();
        for some in images.chunks(IDS_AT_ONCE) {
            kept.extend(attachments::blocks_with_stored_images(self.db(), owner, some).await?);
        }
        let lost = images.into_iter().filter(|id| !kept.contains(id)).map(|id| (id, ReferenceStatus::Deleted));
        let named = blocks().filter_map(|block| Some((block.id, newest.status(&block.content)?)));
        Ok(named.chain(lost).collect())
    }

    /// Returns the outdated references among a draft's attachments, by position.
    pub async fn draft_reference_statuses(
        &self,
        owner: UserId,
        attached: &[Attachment],
    ) -> Result<Vec<(usize, ReferenceStatus)>, ServiceError> {
        let newest = self.newest(owner, attached.iter().map(|one| &one.content)).await?;
        let named = attached.iter().enumerate().filter_map(|(at, one)| Some((at, newest.status(&one.content)?)));
        Ok(named.collect())
    }

    async fn newest<'a>(
        &self,
        owner: UserId,
        contents: impl Iterator<Item = &'a Content>,
    ) -> Result<NewestVersions, ServiceError> {
        let named: HashSet<DocumentId> =
            contents.filter_map(|content| document_of(content).map(|(id, _)| id)).collect();
        let named: Vec<DocumentId> = named.into_iter().collect();
        let mut newest = HashMap::with_capacity(named.len());
        for some in named.chunks(IDS_AT_ONCE) {
            newest.extend(attachments::newest_document_versions(self.db(), owner, some).await?);
        }
        Ok(NewestVersions(newest))
    }
}

/// The newest versions of the documents that exist.
struct NewestVersions(HashMap<DocumentId, chrono::DateTime<chrono::Utc>>);

impl NewestVersions {
    fn status(&self, content: &Content) -> Option<ReferenceStatus> {
        let (id, version) = document_of(content)?;
        match (self.0.get(&id), version) {
            (None, _) => Some(ReferenceStatus::Deleted),
            (Some(newest), Some(version)) if version < *newest => Some(ReferenceStatus::Older),
            _ => None,
        }
    }
}

fn document_of(content: &Content) -> Option<(DocumentId, Option<chrono::DateTime<chrono::Utc>>)> {
    match content {
        Content::Reference { ref_id, version_timestamp, .. }
        | Content::PartialReference { ref_id, version_timestamp, .. } => {
            Some((ref_id.parse().ok()?, *version_timestamp))
        }
        _ => None,
    }
}
