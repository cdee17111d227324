//! Deletes everything that a person has stored: chats with their generations, documents, files, drafts. Settings
//! stay: connections with their keys, tools, preferences. Sign-ins to tool servers end.

use std::collections::HashSet;

use uuid::Uuid;

use crate::accounts::Actor;
use crate::{Service, ServiceError};
use turnleaf_domain::{AccountChange, AuditVerb, MessageCode, UserId};
use turnleaf_platform::tasks;
use turnleaf_store::chats::drafts;
use turnleaf_store::fsck::repair;
use turnleaf_store::tools::tool_sign_ins;
use turnleaf_store::transfer::{imports, inventory};
use turnleaf_store::{StoreError, projects};

pub use turnleaf_store::transfer::inventory::InventoryCounts;

/// The page size for looking up chats or documents.
const AT_A_TIME: u32 = 100;

impl Service {
    /// Counts everything that would be deleted.
    pub async fn count_everything(&self, owner: UserId) -> Result<InventoryCounts, ServiceError> {
        Ok(inventory::count(self.db(), owner).await?)
    }

    /// Permanently deletes everything. Running replies are stopped first. The deletion is detached from the request;
    /// after a crash the rest is in Trash or untouched, and repeating the call deletes it.
    ///
    /// # Errors
    /// `password_needed` in a session whose password was not entered lately; `import_running` while an import runs, and
    /// `deletion_running` while another deletion runs: nothing was deleted then. Any other conflict is about the first item
    /// that could not be deleted; all others were deleted.
    pub async fn delete_everything(&self, owner: UserId, actor: Actor) -> Result<(), ServiceError> {
        self.require_recent_password(actor).await?;
        // The import slot: while it is held, no import can start.
        let place = self.deletion_slot(owner)?;
        // Before it, because it is many transactions.
        let mut tx = self.db().begin().await?;
        self.record(&mut tx, actor, AuditVerb::DeleteEverything, "").await?;
        tx.commit().await?;
        let service = self.clone();
        let deleting = tasks::spawn(async move {
            let _place = place;
            service.delete_all_owned(owner).await
        });
        deleting.await.unwrap_or_else(|error| {
            tracing::error!(%error, "deleting everything broke off");
            Err(ServiceError::conflict("not_deleted", MessageCode::NotAllDeleted))
        })
    }

    /// Deletes everything of an owner whose import slot the caller holds.
    pub(crate) async fn delete_all_owned(&self, owner: UserId) -> Result<(), ServiceError> {
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
        tried.failure.map_or(Ok(()), Err)
    }

    /// Clears the state without a chat: the draft and settings of the next chat, uploads, partial imports, the records
    /// of imports, and projects.
    async fn clear_unsent_state(&self, owner: UserId) -> Result<(), StoreError> {
        let (mut tx, now) = (self.db().begin().await?, self.clock().now());
        drafts::clear(&mut tx, owner, None, now).await?;
        self.clear_next_chat(&mut tx, owner).await?;
        // The sign-ins at tool servers belong to this person, too, unlike the servers, which stay.
        tool_sign_ins::delete_of_owner(&mut tx, owner).await?;
        inventory::delete_uploads(&mut tx, owner).await?;
        inventory::schedule_purge_of_hidden(&mut tx, owner, now).await?;
        imports::delete_all(&mut tx, owner).await?;
        projects::delete_all(&mut tx, owner).await?;
        // Quarantined values of chats are deleted with the chats; this deletes the rest.
        repair::delete_quarantined(&mut tx, owner).await?;
        tx.commit().await?;
        let draft = AccountChange::DraftChanged { chat_id: None, rev: None };
        let changes = [draft, AccountChange::ChatListChanged, AccountChange::NotificationsChanged];
        self.supervisor().changes().publish_all(owner, changes);
        self.forget_sign_ins(owner).await;
        Ok(())
    }
}

/// Items that could not be deleted: they stay listed, are not tried again, and do not prevent the deletion of others.
#[derive(Default)]
struct FailedDeletions {
    left: HashSet<Uuid>,
    /// The error of the first item.
    failure: Option<ServiceError>,
}

impl FailedDeletions {
    /// Returns a page size that the failed items alone cannot fill.
    fn page(&self) -> u32 {
        AT_A_TIME.saturating_add(u32::try_from(self.left.len()).unwrap_or(u32::MAX))
    }

    fn is_new(&self, id: Uuid) -> bool {
        !self.left.contains(&id)
    }

    /// Records a failed deletion.
    ///
    /// # Errors
    /// An error that would prevent every other deletion, too.
    fn note(&mut self, id: Uuid, done: Result<(), ServiceError>) -> Result<(), ServiceError> {
        match done {
            Ok(()) => return Ok(()),
            // Another request deleted it in between.
            Err(ServiceError::NotFound) => {}
            Err(conflict @ ServiceError::Conflict { .. }) => drop(self.failure.get_or_insert(conflict)),
            Err(error) => return Err(error),
        }
        self.left.insert(id);
        Ok(())
    }
}
