//! Soft deletion and restoring: a turn with its descendants, a branch, a chat, or everything but one path. Deleted
//! items go to Trash first (docs/reference/domain.md I13). `store::deletions` decides which rows belong to a
//! deletion.

use serde_json::json;

use crate::{Service, ServiceError};
use turnleaf_domain::chats::deletion::{DeletionKind, DeletionSummary, RestoreSummary};
use turnleaf_domain::{
    AccountChange, BranchId, Chat, ChatId, DeletionId, ImportId, MessageCode, TurnId, UndoScope, UserId, limits,
};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_run::purge::purge_scheduled;
use turnleaf_store::deletions::{
    self, DeletedItem, Deletion, DeletionOutcome, DeletionRoot, NewDeletion, RestoreOutcome, purge,
};
use turnleaf_store::documents::purge::DocumentPurgeTarget;
use turnleaf_store::transfer::imports;
use turnleaf_store::{branches, chats, turns};

impl Service {
    /// Deletes a turn with its descendants.
    pub async fn delete_turn(&self, owner: UserId, id: TurnId) -> Result<DeletionSummary, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let sibling = self.sibling_of(owner, id).await?;
        self.delete(owner, turn.chat_id, DeletionRoot::Turn(id), [sibling, turn.prev_turn_id]).await
    }

    /// Deletes a branch: its first turn with all descendants, and so the branches that fork from them. A branch
    /// without turns is deleted alone.
    ///
    /// # Errors
    /// `last_branch` when nothing of the chat would be left.
    pub async fn delete_branch(&self, owner: UserId, id: BranchId) -> Result<DeletionSummary, ServiceError> {
        let branch = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let sibling = match deletions::first_turn_of_branch(self.db(), owner, id).await? {
            Some(first) => self.sibling_of(owner, first).await?,
            None => None,
        };
        self.delete(owner, branch.chat_id, DeletionRoot::Branch(id), [sibling, branch.fork_turn_id]).await
    }

    /// Deletes everything in a chat except the path to one turn and its descendants.
    ///
    /// # Errors
    /// `nothing_to_prune` when there is nothing else.
    pub async fn prune_others(
        &self,
        owner: UserId,
        chat: ChatId,
        keep: TurnId,
    ) -> Result<DeletionSummary, ServiceError> {
        turns::find(self.db(), owner, keep).await?.filter(|turn| turn.chat_id == chat).ok_or(ServiceError::NotFound)?;
        self.delete(owner, chat, DeletionRoot::AllBut(keep), [Some(keep), None]).await
    }

    /// Deletes a chat with all its turns.
    pub async fn delete_chat(&self, owner: UserId, id: ChatId) -> Result<DeletionSummary, ServiceError> {
        let deleted = self.delete(owner, id, DeletionRoot::Chat, [None, None]).await?;
        if let Some(title) = self.supervisor().stop_title(id) {
            // A purge may follow, and what the request has spent is not known without its row.
            let ended = self.supervisor().wait_for_title(title);
            if tokio::time::timeout(limits::STOP_TIME, ended).await.is_err() {
                tracing::warn!(chat = %id, "the request for a title ends later");
            }
        }
        Ok(deleted)
    }

    /// Returns the number of turns that a deletion of this turn removes, itself included.
    pub async fn count_turns_below(&self, owner: UserId, id: TurnId) -> Result<u64, ServiceError> {
        match deletions::count_below(self.db(), owner, id).await? {
            0 => Err(ServiceError::NotFound),
            count => Ok(count),
        }
    }

    /// Returns the turn at which to continue reading when this one may be deleted: the nearest remaining ancestor,
    /// `None` when no ancestor is left.
    ///
    /// # Errors
    /// `NotFound` when this chat never had the turn.
    pub async fn nearest_remaining_turn(
        &self,
        owner: UserId,
        chat: ChatId,
        turn: TurnId,
    ) -> Result<Option<TurnId>, ServiceError> {
        deletions::nearest_remaining(self.db(), owner, chat, turn).await?.ok_or(ServiceError::NotFound)
    }

    /// Restores exactly the rows of a deletion.
    ///
    /// # Errors
    /// `parent_deleted` when its parent was deleted later, with the id of that deletion.
    pub async fn restore_deletion(&self, owner: UserId, id: DeletionId) -> Result<RestoreSummary, ServiceError> {
        let deletion = deletions::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let mut tx = self.db().begin().await?;
        match deletions::restore(&mut tx, owner, id).await? {
            RestoreOutcome::Gone => Err(ServiceError::NotFound),
            RestoreOutcome::BlockedBy(other) => {
                tx.rollback().await?;
                Err(self.refuse_below(owner, other).await?)
            }
            RestoreOutcome::Done { chat_id, turns, branches } => {
                tx.commit().await?;
                self.publish_deletion(owner, chat_id);
                Ok(RestoreSummary { chat_id, turns, branches, leaf: self.leaf_of(owner, &deletion).await? })
            }
        }
    }

    /// Restores the deletion that contains this chat, branch or turn.
    ///
    /// # Errors
    /// `not_in_trash` when it was not deleted, and those of [`Self::restore_deletion`].
    pub async fn restore(&self, owner: UserId, thing: DeletedItem) -> Result<RestoreSummary, ServiceError> {
        let Some(id) = deletions::find_by_target(self.db(), owner, thing).await? else {
            let is_here = match thing {
                DeletedItem::Chat(id) => chats::find(self.db(), owner, id).await?.is_some(),
                DeletedItem::Branch(id) => branches::find(self.db(), owner, id).await?.is_some(),
                DeletedItem::Turn(id) => turns::find(self.db(), owner, id).await?.is_some(),
            };
            let not_in_trash = || ServiceError::conflict("not_in_trash", MessageCode::NotInTrash);
            return Err(if is_here { not_in_trash() } else { ServiceError::NotFound });
        };
        self.restore_deletion(owner, id).await
    }

    pub async fn restore_chat(&self, owner: UserId, id: ChatId) -> Result<Chat, ServiceError> {
        self.restore(owner, DeletedItem::Chat(id)).await?;
        self.chat(owner, id).await
    }

    /// Returns the restorable deletions, newest first, older than `before` if given.
    pub async fn list_trash(
        &self,
        owner: UserId,
        before: Option<DeletionId>,
        limit: u32,
    ) -> Result<Vec<Deletion>, ServiceError> {
        Ok(deletions::list(self.db(), owner, before, limit).await?)
    }

    /// Returns one deletion.
    pub async fn deletion(&self, owner: UserId, id: DeletionId) -> Result<Deletion, ServiceError> {
        deletions::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Permanently deletes the rows of a deletion, and those that were deleted below them earlier.
    pub async fn purge_deletion(&self, owner: UserId, id: DeletionId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        if !purge::schedule_purge(&mut tx, owner, id, self.clock().now()).await? {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        self.purge_now().await
    }

    /// Permanently deletes everything in Trash, documents included; returns the number of deletions.
    pub async fn empty_trash(&self, owner: UserId) -> Result<u64, ServiceError> {
        let mut tx = self.db().begin().await?;
        let doomed = purge::schedule_purge_of_trash(&mut tx, owner, self.clock().now()).await?;
        tx.commit().await?;
        let documents = self.purge_documents(DocumentPurgeTarget::OwnedBy(owner)).await?;
        self.purge_now().await?;
        Ok(doomed + documents)
    }

    /// Purges in a detached task: the client may disconnect, and housekeeping would purge only later.
    async fn purge_now(&self) -> Result<(), ServiceError> {
        let (db, now) = (self.db().clone(), self.clock().now());
        let purged = tasks::spawn(async move { purge_scheduled(&db, now).await }).await;
        self.note_purge();
        match purged {
            Ok(purged) => Ok(purged?),
            // The rows are hidden and housekeeping will purge them.
            Err(error) => {
                tracing::error!(%error, "a purge broke off");
                Ok(())
            }
        }
    }

    /// Deletes once the affected running replies have stopped. `near` are the turns at which the reader continues, of
    /// which the first remaining one is taken.
    async fn delete(
        &self,
        owner: UserId,
        chat_id: ChatId,
        root: DeletionRoot,
        near: [Option<TurnId>; 2],
    ) -> Result<DeletionSummary, ServiceError> {
        let summary = self.delete_root(owner, chat_id, root, None).await?;
        let mut summary = summary.ok_or(ServiceError::NotFound)?;
        summary.leaf = self.leaf_near(owner, chat_id, root, near).await?;
        Ok(summary)
    }

    /// Deletes as a part of undoing an import, unless it would take what was written here although that is to be kept;
    /// returns whether it did.
    pub(crate) async fn delete_for_import(
        &self,
        owner: UserId,
        chat_id: ChatId,
        root: DeletionRoot,
        import: (ImportId, UndoScope),
    ) -> Result<bool, ServiceError> {
        Ok(self.delete_root(owner, chat_id, root, Some(import)).await?.is_some())
    }

    /// Deletes once the affected running replies have stopped. For the undo of an import that keeps what was written
    /// here, nothing is deleted or stopped if something of it was; the result is `None` then.
    async fn delete_root(
        &self,
        owner: UserId,
        chat_id: ChatId,
        root: DeletionRoot,
        import: Option<(ImportId, UndoScope)>,
    ) -> Result<Option<DeletionSummary>, ServiceError> {
        let mut running_stopped = 0;
        for _ in 0..limits::STOP_ROUNDS {
            let id = ids::mint();
            let new = NewDeletion { id, owner_id: owner, chat_id, root, at: self.clock().now() };
            let mut tx = self.db().begin().await?;
            let outcome = deletions::soft_delete(&mut tx, &new).await?;
            // A message may have been sent since the undo was planned; the chat is locked now. No import creates replies
            // that run.
            if let Some((import, UndoScope::Unchanged)) = import
                && match &outcome {
                    DeletionOutcome::Running(_) => true,
                    DeletionOutcome::Done { .. } => imports::undo::takes_writing(&mut tx, owner, import, &new).await?,
                    _ => false,
                }
            {
                tx.rollback().await?;
                return Ok(None);
            }
            match outcome {
                DeletionOutcome::Gone => return Err(ServiceError::NotFound),
                DeletionOutcome::LastBranch => {
                    return Err(ServiceError::conflict("last_branch", MessageCode::LastBranch));
                }
                DeletionOutcome::Nothing => {
                    return Err(ServiceError::conflict("nothing_to_prune", MessageCode::NothingToPrune));
                }
                DeletionOutcome::Running(running) => {
                    tx.rollback().await?;
                    for turn in running {
                        running_stopped += u64::from(self.stop_for_deletion(owner, turn).await?);
                    }
                }
                DeletionOutcome::Done { turns, branches } => {
                    if let Some((import, _)) = import {
                        imports::undo::record_deletion(&mut tx, owner, import, id).await?;
                    }
                    tx.commit().await?;
                    self.publish_deletion(owner, chat_id);
                    let leaf = None;
                    let summary = DeletionSummary { deletion_id: id, chat_id, turns, branches, running_stopped, leaf };
                    return Ok(Some(summary));
                }
            }
        }
        Err(ServiceError::conflict("turn_running", MessageCode::RepliesKeepStarting))
    }

    /// Publishes that something in a chat, or the chat, was deleted or restored, and with it replies that are unread.
    fn publish_deletion(&self, owner: UserId, chat: ChatId) {
        self.publish_listed_chat(owner, chat);
        self.publish_change(owner, AccountChange::UnreadChanged);
    }

    /// Stops a reply that would be deleted; returns false when it had ended before.
    async fn stop_for_deletion(&self, owner: UserId, turn: TurnId) -> Result<bool, ServiceError> {
        match tokio::time::timeout(limits::STOP_TIME, self.stop_turn(owner, turn)).await {
            Ok(Ok(_)) => Ok(true),
            // Another deletion came first.
            Ok(Err(ServiceError::NotFound)) => Ok(false),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ServiceError::conflict("turn_running", MessageCode::LowerReplyRunning)),
        }
    }

    /// Returns the previous version, else the next one.
    async fn sibling_of(&self, owner: UserId, id: TurnId) -> Result<Option<TurnId>, ServiceError> {
        let versions = turns::siblings(self.db(), owner, &[id]).await?.remove(&id).unwrap_or_default();
        let Some(at) = versions.iter().position(|version| *version == id) else { return Ok(None) };
        Ok(at.checked_sub(1).and_then(|before| versions.get(before)).or_else(|| versions.get(at + 1)).copied())
    }

    async fn leaf_near(
        &self,
        owner: UserId,
        chat: ChatId,
        root: DeletionRoot,
        near: [Option<TurnId>; 2],
    ) -> Result<Option<TurnId>, ServiceError> {
        if root == DeletionRoot::Chat {
            return Ok(None);
        }
        for turn in near.into_iter().flatten() {
            if let Some(leaf) = turns::leaf_below(self.db(), owner, turn).await? {
                return Ok(Some(leaf));
            }
        }
        Ok(turns::leaf_of_chat(self.db(), owner, chat).await?)
    }

    /// Returns the end of the path through the restored rows.
    async fn leaf_of(&self, owner: UserId, deletion: &Deletion) -> Result<Option<TurnId>, ServiceError> {
        let root = match (deletion.root_turn(), deletion.root_branch()) {
            (Some(turn), _) => Some(turn),
            (None, Some(branch)) => deletions::first_turn_of_branch(self.db(), owner, branch).await?,
            (None, None) => None,
        };
        Ok(match root {
            Some(root) => turns::leaf_below(self.db(), owner, root).await?,
            None => None,
        })
    }

    async fn refuse_below(&self, owner: UserId, other: DeletionId) -> Result<ServiceError, ServiceError> {
        let message = match deletions::find(self.db(), owner, other).await? {
            Some(deletion) if deletion.kind == DeletionKind::Chat => MessageCode::ChatDeleted.into(),
            Some(deletion) => MessageCode::ParentDeleted.with("title", deletion.title),
            None => MessageCode::ParentPurged.into(),
        };
        Ok(ServiceError::Conflict { code: "parent_deleted", message, extra: json!({ "deletion_id": other }) })
    }
}
