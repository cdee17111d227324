//! Deleting all that a person has here: chats with what was used for them, documents, files, drafts. What is set stays:
//! connections with their keys, tools, preferences.

use std::collections::HashSet;

use uuid::Uuid;

use crate::{Service, ServiceError};
use turnleaf_domain::UserId;
use turnleaf_platform::tasks;
use turnleaf_store::fsck::repair;
use turnleaf_store::inventory;
use turnleaf_store::{StoreError, drafts};

pub use turnleaf_store::inventory::InventoryCounts;

/// Chats, or documents, that are looked up at once.
const AT_A_TIME: u32 = 100;

impl Service {
    /// How much would go.
    pub async fn count_everything(&self, owner: UserId) -> Result<InventoryCounts, ServiceError> {
        Ok(inventory::count(self.db(), owner).await?)
    }

    /// Deletes all of it for ever. Replies that run are stopped first. It goes on where who asked goes away; what a crash
    /// leaves is in Trash or still there, and asking again deletes the rest.
    ///
    /// # Errors
    /// `import_running` while chats still come in, and `deletion_running` where somebody asked twice: then nothing was
    /// done. Any other conflict is about the first thing that could not go; all the others went.
    pub async fn delete_everything(&self, owner: UserId) -> Result<(), ServiceError> {
        // The place of a file that comes in: while it is taken, none begins.
        let place = self.deletion_slot(owner)?;
        let service = self.clone();
        let deleting = tasks::spawn(async move {
            let _place = place;
            service.delete_all_owned(owner).await
        });
        deleting.await.unwrap_or_else(|error| {
            tracing::error!(%error, "deleting everything broke off");
            Err(ServiceError::conflict("not_deleted", "not everything was deleted; try again"))
        })
    }

    async fn delete_all_owned(&self, owner: UserId) -> Result<(), ServiceError> {
        let mut tried = FailedDeletions::default();
        loop {
            let chats = inventory::list_chats(self.db(), owner, tried.page()).await?;
            let new: Vec<_> = chats.into_iter().filter(|chat| tried.is_new(chat.uuid())).collect();
            if new.is_empty() {
                break;
            }
            for chat in new {
                tried.note(chat.uuid(), self.delete_chat(owner, chat).await.map(drop))?;
            }
        }
        loop {
            let documents = inventory::list_documents(self.db(), owner, tried.page()).await?;
            let new: Vec<_> = documents.into_iter().filter(|document| tried.is_new(document.uuid())).collect();
            if new.is_empty() {
                break;
            }
            for document in new {
                tried.note(document.uuid(), self.delete_document(owner, document).await)?;
            }
        }
        self.clear_unsent_state(owner).await?;
        self.forget_imports(owner);
        self.empty_trash(owner).await?;
        tried.why.map_or(Ok(()), Err)
    }

    /// What is written for a chat that does not exist yet, what was brought for it, and what came in only in part.
    async fn clear_unsent_state(&self, owner: UserId) -> Result<(), StoreError> {
        let (mut tx, now) = (self.db().begin().await?, self.clock().now());
        drafts::clear(&mut tx, owner, None, now).await?;
        self.clear_next_chat(&mut tx, owner).await?;
        inventory::delete_uploads(&mut tx, owner).await?;
        inventory::schedule_purge_of_hidden(&mut tx, owner, now).await?;
        // What of the chats was damaged goes with them; this is the rest.
        repair::delete_quarantined(&mut tx, owner).await?;
        tx.commit().await
    }
}

/// What could not be deleted: it is still listed, is not tried again, and keeps nothing else from being deleted.
#[derive(Default)]
struct FailedDeletions {
    left: HashSet<Uuid>,
    /// Of the first.
    why: Option<ServiceError>,
}

impl FailedDeletions {
    /// How many are looked up: what is left never fills a page.
    fn page(&self) -> u32 {
        AT_A_TIME.saturating_add(u32::try_from(self.left.len()).unwrap_or(u32::MAX))
    }

    fn is_new(&self, id: Uuid) -> bool {
        !self.left.contains(&id)
    }

    /// # Errors
    /// Where nothing else can be deleted, either.
    fn note(&mut self, id: Uuid, done: Result<(), ServiceError>) -> Result<(), ServiceError> {
        match done {
            Ok(()) => return Ok(()),
            // Somebody else deleted it meanwhile.
            Err(ServiceError::NotFound) => {}
            Err(conflict @ ServiceError::Conflict { .. }) => drop(self.why.get_or_insert(conflict)),
            Err(error) => return Err(error),
        }
        self.left.insert(id);
        Ok(())
    }
}
