//! Undoing an import: what it created goes to Trash as one deletion, and can be restored together. What was written
//! here since stays: chats that were continued or have a draft, messages that others follow, documents that were
//! changed or renamed, or that other chats or drafts use. A second undo takes that, too, where it is asked for; only
//! documents in use stay.
//!
//! Each chat is deleted in a transaction of its own, because one transaction over thousands of chats would block the
//! journal of running replies. An undo that is interrupted can be repeated, and continues.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::jobs::reversals::RunningReversal;
use super::recording::read_report;
use crate::{Service, ServiceError};
use turnleaf_domain::transfer::import_record::AdditionsUndo;
use turnleaf_domain::{
    AccountChange, ChatId, CodedMessage, DocumentId, ImportId, ImportState, MessageCode, UndoScope, UserId,
};
use turnleaf_platform::ids;
use turnleaf_store::deletions::DeletionRoot;
use turnleaf_store::documents::write;
use turnleaf_store::transfer::imports;

/// The import that is undone.
#[derive(Clone, Copy)]
struct UndoneImport {
    owner: UserId,
    id: ImportId,
    scope: UndoScope,
}

impl Service {
    /// Starts to move what an import created to Trash, in the background; [`Self::find_import`] shows the progress.
    /// Running replies of its chats are stopped first. A repeated call of the same scope changes nothing while it runs.
    ///
    /// # Errors
    /// `import_running` while another import or its undo runs, `import_created_nothing` for a dry run, a preview, and an
    /// import that could not be recorded, and `import_not_undoable` when it is undone already, or nothing is left of it.
    pub async fn undo_import(&self, owner: UserId, id: ImportId, scope: UndoScope) -> Result<(), ServiceError> {
        // A job without a record exists, too.
        self.find_import(owner, id).await?;
        if self.is_reversing(owner, id, Some(scope)) {
            return Ok(());
        }
        // While the slot is held, no import can add to the chats.
        let slot = self.reversal_slot(owner)?;
        let stored = self.ended_import(owner, id).await.map_err(|error| match error {
            ServiceError::NotFound => {
                ServiceError::conflict("import_created_nothing", MessageCode::ImportCreatedNothing)
            }
            error => error,
        })?;
        let has_rest = scope == UndoScope::Changed && stored.state == ImportState::Undone;
        if !(stored.state.can_undo() || has_rest && !stored.present.is_empty()) {
            return Err(ServiceError::conflict("import_not_undoable", MessageCode::ImportNotUndoable));
        }
        let running = self.import_job_registry().start_reversal(owner, id, Some(scope), slot);
        let service = self.clone();
        tokio::spawn(async move {
            let undone = service.undo_recorded(UndoneImport { owner, id, scope }, &running).await;
            running.end(undone);
        });
        Ok(())
    }

    /// Returns whether this process undoes an import with this scope, or without one restores it.
    fn is_reversing(&self, owner: UserId, id: ImportId, scope: Option<UndoScope>) -> bool {
        let reversal = self.import_job_registry().reversal(owner, id);
        reversal.is_some_and(|reversal| reversal.scope == scope && !reversal.is_over)
    }

    async fn undo_recorded(&self, import: UndoneImport, running: &RunningReversal) -> Result<(), ServiceError> {
        let UndoneImport { owner, id, scope } = import;
        let mut chats: BTreeMap<ChatId, Vec<RangeInclusive<i64>>> = BTreeMap::new();
        for turns in imports::undo::list_turns(self.db(), owner, id).await? {
            chats.entry(turns.chat_id).or_default().push(turns.ords);
        }
        running.update(|seen| seen.total = chats.len() as u64);
        let mut has_failed = false;
        for (chat, ords) in chats {
            if running.is_stopping() {
                return Err(partly_undone());
            }
            let undone = match ords.iter().any(|range| *range.start() == 0) {
                true => self.undo_new_chat(import, chat, running).await,
                false => self.undo_additions(import, (chat, &ords), running).await,
            };
            running.update(|seen| seen.done += 1);
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
        let documents = imports::undo::list_documents_to_undo(self.db(), owner, id, scope).await?;
        running.update(|seen| seen.total += documents.len() as u64);
        for document in documents {
            if running.is_stopping() {
                return Err(partly_undone());
            }
            self.undo_document(import, document, running).await?;
            running.update(|seen| seen.done += 1);
        }
        if has_failed {
            return Err(partly_undone());
        }
        let mut tx = self.db().begin().await?;
        imports::undo::mark_undone(&mut tx, owner, id, self.clock().now()).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::NotificationsChanged);
        Ok(())
    }

    async fn undo_new_chat(
        &self,
        UndoneImport { owner, id, scope }: UndoneImport,
        chat: ChatId,
        running: &RunningReversal,
    ) -> Result<(), ServiceError> {
        // Asking first avoids the lock of a chat that stays anyway.
        let stays = scope == UndoScope::Unchanged && imports::undo::is_written_in(self.db(), owner, chat).await?;
        if !stays && self.delete_for_import(owner, chat, DeletionRoot::Chat, (id, scope)).await? {
            running.update(|seen| seen.removed.chats += 1);
        }
        Ok(())
    }

    async fn undo_additions(
        &self,
        UndoneImport { owner, id, scope }: UndoneImport,
        (chat, ords): (ChatId, &[RangeInclusive<i64>]),
        running: &RunningReversal,
    ) -> Result<(), ServiceError> {
        let turns = imports::undo::placed_turns(self.db(), owner, chat).await?;
        let plan = match scope {
            UndoScope::Unchanged => AdditionsUndo::plan(&turns, ords),
            UndoScope::Changed => AdditionsUndo::plan_with_followers(&turns, ords),
        };
        let mut is_removed = false;
        for root in &plan.roots {
            is_removed |= self.delete_for_import(owner, chat, DeletionRoot::Turn(*root), (id, scope)).await?;
        }
        running.update(|seen| seen.removed.extended_chats += u64::from(is_removed));
        Ok(())
    }

    async fn undo_document(
        &self,
        UndoneImport { owner, id, scope }: UndoneImport,
        document: DocumentId,
        running: &RunningReversal,
    ) -> Result<(), ServiceError> {
        let (deletion, mut tx) = (ids::mint(), self.db().begin().await?);
        let is_moved = write::move_to_trash(&mut tx, owner, document, deletion, self.clock().now()).await?;
        // Only now is the document locked, so that it cannot change after the check.
        if !is_moved || !imports::undo::can_undo_document(&mut tx, owner, (id, scope), document).await? {
            return Ok(tx.rollback().await?);
        }
        imports::undo::record_document_deletion(&mut tx, owner, id, (document, deletion)).await?;
        tx.commit().await?;
        running.update(|seen| seen.removed.documents += 1);
        Ok(())
    }

    /// Starts to restore what the undo of an import moved to Trash, in the background. What was deleted permanently
    /// since stays deleted. A repeated call changes nothing while it runs.
    ///
    /// # Errors
    /// `import_not_undone` when there is nothing to restore, `import_running` while another import or its undo runs.
    pub async fn restore_import(&self, owner: UserId, id: ImportId) -> Result<(), ServiceError> {
        self.find_import(owner, id).await?;
        if self.is_reversing(owner, id, None) {
            return Ok(());
        }
        // A job without a record has nothing to restore either.
        let stored = imports::find(self.db(), owner, id).await?.filter(|stored| stored.in_trash > 0);
        let not_undone = || ServiceError::conflict("import_not_undone", MessageCode::ImportNotUndone);
        let stored = stored.ok_or_else(not_undone)?;
        let slot = self.reversal_slot(owner)?;
        let state = read_report(stored.report).end_state();
        let running = self.import_job_registry().start_reversal(owner, id, None, slot);
        let service = self.clone();
        tokio::spawn(async move {
            let restored = service.restore_recorded((owner, id), state, &running).await;
            running.end(restored);
        });
        Ok(())
    }

    /// Gives the import the state that it had before the undo, and restores. That comes first, so that an interruption
    /// leaves an import that is partly in Trash, as that of an undo does, and no undone one that kept something.
    async fn restore_recorded(
        &self,
        (owner, id): (UserId, ImportId),
        state: ImportState,
        running: &RunningReversal,
    ) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        imports::undo::mark_restored(&mut tx, owner, id, state).await?;
        tx.commit().await?;
        self.publish_change(owner, AccountChange::NotificationsChanged);
        let documents = imports::undo::list_deleted_documents(self.db(), owner, id).await?;
        let deletions = imports::undo::list_deletions(self.db(), owner, id).await?;
        running.update(|seen| seen.total = (documents.len() + deletions.len()) as u64);
        let mut refusal = None;
        // Documents come first, so that the restored messages find them.
        for document in documents {
            if running.is_stopping() {
                return Err(partly_restored(None));
            }
            match self.restore_document(owner, document).await {
                Ok(_) => running.update(|seen| seen.restored += 1),
                // Another request restored or purged it in between.
                Err(ServiceError::NotFound | ServiceError::Conflict { code: "not_in_trash", .. }) => {}
                Err(error) => return Err(error),
            }
            running.update(|seen| seen.done += 1);
        }
        for deletion in deletions {
            if running.is_stopping() {
                return Err(partly_restored(None));
            }
            match self.restore_deletion(owner, deletion).await {
                Ok(_) => running.update(|seen| seen.restored += 1),
                Err(ServiceError::NotFound) => {}
                Err(ServiceError::Conflict { message, .. }) => refusal = Some(message),
                Err(error) => return Err(error),
            }
            running.update(|seen| seen.done += 1);
        }
        refusal.map_or(Ok(()), |reason| Err(partly_restored(Some(reason))))
    }
}

fn partly_undone() -> ServiceError {
    ServiceError::conflict("import_partly_undone", MessageCode::ImportPartlyUndone)
}

fn partly_restored(reason: Option<CodedMessage>) -> ServiceError {
    let message = CodedMessage::from(MessageCode::ImportPartlyRestored);
    let message = match reason {
        Some(reason) => message.with_cause(reason),
        None => message,
    };
    ServiceError::conflict("import_partly_restored", message)
}
