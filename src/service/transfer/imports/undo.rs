//! Undoing an import: what it created goes to Trash as one deletion, and can be restored together. What was written
//! here since stays: chats that were continued or have a draft, messages that others follow, documents that were
//! changed or renamed, or that other chats or drafts use.
//!
//! Each chat is deleted in a transaction of its own, because one transaction over thousands of chats would block the
//! journal of running replies. An undo that is interrupted can be repeated, and continues.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Serialize;

use super::recording::read_report;
use crate::{Service, ServiceError};
use turnleaf_domain::import_record::AdditionsUndo;
use turnleaf_domain::{ChatId, CodedMessage, DocumentId, ImportCreations, ImportId, ImportState, MessageCode, UserId};
use turnleaf_platform::{ids, tasks};
use turnleaf_store::deletions::DeletionRoot;
use turnleaf_store::documents::write;
use turnleaf_store::imports;

/// The result of undoing an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportUndo {
    /// What was moved to Trash: chats, added messages as the number of their chats, documents.
    pub removed: ImportCreations,
    /// What stays, because it was continued, changed or is used elsewhere.
    pub kept: ImportCreations,
}

/// The result of restoring an undone import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ImportRestore {
    /// The number of restored chats, and of restored messages with what is below them.
    pub deletions: u64,
    pub documents: u64,
}

impl Service {
    /// Moves what an import created to Trash. Running replies of its chats are stopped first. The undo is detached
    /// from the request.
    ///
    /// # Errors
    /// `import_running` while it runs, `import_created_nothing` for a dry run, a preview, and an import that could not
    /// be recorded, `import_not_undoable` when it is undone already, and `import_partly_undone` when something could
    /// not be deleted: the rest is in Trash, and the undo can be repeated.
    pub async fn undo_import(&self, owner: UserId, id: ImportId) -> Result<ImportUndo, ServiceError> {
        // A job without a record exists, too.
        self.find_import(owner, id).await?;
        // While the slot is held, no import can add to the chats.
        let slot = self.import_slot(owner)?;
        let stored = self.ended_import(owner, id).await.map_err(|error| match error {
            ServiceError::NotFound => {
                ServiceError::conflict("import_created_nothing", MessageCode::ImportCreatedNothing)
            }
            error => error,
        })?;
        if !stored.state.can_undo() {
            return Err(ServiceError::conflict("import_not_undoable", MessageCode::ImportNotUndoable));
        }
        let service = self.clone();
        let undoing = tasks::spawn(async move {
            let _slot = slot;
            service.undo_recorded(owner, id).await
        });
        undoing.await.unwrap_or_else(|error| {
            tracing::error!(%error, "undoing an import broke off");
            Err(partly_undone())
        })
    }

    async fn undo_recorded(&self, owner: UserId, id: ImportId) -> Result<ImportUndo, ServiceError> {
        let mut undo = ImportUndo::default();
        let mut chats: BTreeMap<ChatId, Vec<RangeInclusive<i64>>> = BTreeMap::new();
        for turns in imports::undo::list_turns(self.db(), owner, id).await? {
            chats.entry(turns.chat_id).or_default().push(turns.ords);
        }
        let mut has_failed = false;
        for (chat, ords) in chats {
            let undone = match ords.iter().any(|range| *range.start() == 0) {
                true => self.undo_new_chat(owner, id, chat, &mut undo).await,
                false => self.undo_additions(owner, id, (chat, &ords), &mut undo).await,
            };
            match undone {
                // Another request deleted it in between.
                Ok(()) | Err(ServiceError::NotFound) => {}
                Err(error @ ServiceError::Conflict { .. }) => {
                    tracing::warn!(%error, %chat, "a chat could not be deleted");
                    has_failed = true;
                }
                Err(error) => return Err(error),
            }
        }
        // Only now are the documents no longer used by these chats.
        for document in imports::undo::list_untouched_documents(self.db(), owner, id).await? {
            self.undo_document(owner, id, document, &mut undo).await?;
        }
        if has_failed {
            return Err(partly_undone());
        }
        let mut tx = self.db().begin().await?;
        imports::undo::mark_undone(&mut tx, owner, id, self.clock().now()).await?;
        tx.commit().await?;
        let left = imports::find(self.db(), owner, id).await?;
        undo.kept = left.map(|stored| stored.present).unwrap_or_default();
        Ok(undo)
    }

    async fn undo_new_chat(
        &self,
        owner: UserId,
        id: ImportId,
        chat: ChatId,
        undo: &mut ImportUndo,
    ) -> Result<(), ServiceError> {
        // Asking first avoids the lock of a chat that stays anyway.
        if !imports::undo::is_written_in(self.db(), owner, chat).await?
            && self.delete_for_import(owner, chat, DeletionRoot::Chat, id).await?
        {
            undo.removed.chats += 1;
        }
        Ok(())
    }

    async fn undo_additions(
        &self,
        owner: UserId,
        id: ImportId,
        (chat, ords): (ChatId, &[RangeInclusive<i64>]),
        undo: &mut ImportUndo,
    ) -> Result<(), ServiceError> {
        let turns = imports::undo::placed_turns(self.db(), owner, chat).await?;
        let plan = AdditionsUndo::plan(&turns, ords);
        let mut is_removed = false;
        for root in &plan.roots {
            is_removed |= self.delete_for_import(owner, chat, DeletionRoot::Turn(*root), id).await?;
        }
        undo.removed.extended_chats += u64::from(is_removed);
        Ok(())
    }

    async fn undo_document(
        &self,
        owner: UserId,
        id: ImportId,
        document: DocumentId,
        undo: &mut ImportUndo,
    ) -> Result<(), ServiceError> {
        let (deletion, mut tx) = (ids::mint(), self.db().begin().await?);
        let is_moved = write::move_to_trash(&mut tx, owner, document, deletion, self.clock().now()).await?;
        // Only now is the document locked, so that it cannot change after the check.
        if !is_moved || !imports::undo::is_document_untouched(&mut tx, owner, id, document).await? {
            return Ok(tx.rollback().await?);
        }
        imports::undo::record_document_deletion(&mut tx, owner, id, (document, deletion)).await?;
        tx.commit().await?;
        undo.removed.documents += 1;
        Ok(())
    }

    /// Restores what the undo of an import moved to Trash. What was deleted permanently since stays deleted.
    ///
    /// # Errors
    /// `import_not_undone` when there is nothing to restore, and `import_partly_restored` when a part was deleted
    /// again together with what it belongs to: the rest is restored.
    pub async fn restore_import(&self, owner: UserId, id: ImportId) -> Result<ImportRestore, ServiceError> {
        self.find_import(owner, id).await?;
        // A job without a record has nothing to restore either.
        let stored = imports::find(self.db(), owner, id).await?.filter(|stored| stored.in_trash > 0);
        let not_undone = || ServiceError::conflict("import_not_undone", MessageCode::ImportNotUndone);
        let stored = stored.ok_or_else(not_undone)?;
        let slot = self.import_slot(owner)?;
        let state = read_report(stored.report).end_state();
        let service = self.clone();
        let restoring = tasks::spawn(async move {
            let _slot = slot;
            service.restore_recorded(owner, id, state).await
        });
        restoring.await.unwrap_or_else(|error| {
            tracing::error!(%error, "restoring an import broke off");
            Err(partly_undone())
        })
    }

    /// Restores, and gives the import the state that it had before the undo.
    async fn restore_recorded(
        &self,
        owner: UserId,
        id: ImportId,
        state: ImportState,
    ) -> Result<ImportRestore, ServiceError> {
        let (mut restore, mut refusal) = (ImportRestore::default(), None);
        // Documents come first, so that the restored messages find them.
        for document in imports::undo::list_deleted_documents(self.db(), owner, id).await? {
            match self.restore_document(owner, document).await {
                Ok(_) => restore.documents += 1,
                Err(ServiceError::NotFound) => {}
                Err(error) => return Err(error),
            }
        }
        for deletion in imports::undo::list_deletions(self.db(), owner, id).await? {
            match self.restore_deletion(owner, deletion).await {
                Ok(_) => restore.deletions += 1,
                Err(ServiceError::NotFound) => {}
                Err(ServiceError::Conflict { message, .. }) => refusal = Some(message),
                Err(error) => return Err(error),
            }
        }
        let mut tx = self.db().begin().await?;
        imports::undo::mark_restored(&mut tx, owner, id, state).await?;
        tx.commit().await?;
        match refusal {
            Some(reason) => {
                let message = CodedMessage::from(MessageCode::ImportPartlyRestored).with_cause(reason);
                Err(ServiceError::conflict("import_partly_restored", message))
            }
            None => Ok(restore),
        }
    }
}

fn partly_undone() -> ServiceError {
    ServiceError::conflict("import_partly_undone", MessageCode::ImportPartlyUndone)
}
