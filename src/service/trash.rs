//! Deleting and bringing back: a turn with everything below it, a branch, a whole chat, or everything but one path. All
//! of it goes to Trash first (domain.md I13). The rules of what goes are `store::deletions`'.

use serde_json::json;

use crate::{Service, ServiceError};
use turnleaf_domain::deletion::{DeletionKind, DeletionSummary, RestoreSummary};
use turnleaf_domain::{BranchId, Chat, ChatId, DeletionId, TurnId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_platform::tasks;
use turnleaf_run::purge::purge_scheduled;
use turnleaf_store::deletions::{
    self, DeletedItem, Deletion, DeletionOutcome, DeletionRoot, NewDeletion, RestoreOutcome, purge,
};
use turnleaf_store::documents::purge::DocumentPurgeTarget;
use turnleaf_store::{branches, turns};

impl Service {
    /// Deletes a turn with everything below it.
    pub async fn delete_turn(&self, owner: UserId, id: TurnId) -> Result<DeletionSummary, ServiceError> {
        let turn = turns::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let beside = self.sibling_of(owner, id).await?;
        self.delete(owner, turn.chat_id, DeletionRoot::Turn(id), [beside, turn.prev_turn_id]).await
    }

    /// Deletes a branch: its first turn with everything below it, so also the branches that leave its turns. One without
    /// turns goes alone.
    ///
    /// # Errors
    /// `last_branch` when nothing would be left of the chat.
    pub async fn delete_branch(&self, owner: UserId, id: BranchId) -> Result<DeletionSummary, ServiceError> {
        let branch = branches::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)?;
        let beside = match deletions::first_turn_of_branch(self.db(), owner, id).await? {
            Some(first) => self.sibling_of(owner, first).await?,
            None => None,
        };
        self.delete(owner, branch.chat_id, DeletionRoot::Branch(id), [beside, branch.fork_turn_id]).await
    }

    /// Deletes everything in a chat but the path to one turn and what is below it.
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

    /// Deletes a chat with everything in it.
    pub async fn delete_chat(&self, owner: UserId, id: ChatId) -> Result<DeletionSummary, ServiceError> {
        self.delete(owner, id, DeletionRoot::Chat, [None, None]).await
    }

    /// How many turns go with this one, itself included.
    pub async fn count_turns_below(&self, owner: UserId, id: TurnId) -> Result<u64, ServiceError> {
        match deletions::count_below(self.db(), owner, id).await? {
            0 => Err(ServiceError::NotFound),
            count => Ok(count),
        }
    }

    /// Where to read on from a turn that may be deleted: `Some(None)` where nothing is left on the way to it.
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

    /// Brings back what a deletion took, exactly.
    ///
    /// # Errors
    /// `parent_deleted` when it hangs on something that was deleted later, with that deletion's id.
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
                Ok(RestoreSummary { chat_id, turns, branches, leaf: self.leaf_of(owner, &deletion).await? })
            }
        }
    }

    /// Brings back the deletion that took this chat, branch or turn.
    pub async fn restore(&self, owner: UserId, thing: DeletedItem) -> Result<RestoreSummary, ServiceError> {
        let id = deletions::find_by_target(self.db(), owner, thing).await?.ok_or(ServiceError::NotFound)?;
        self.restore_deletion(owner, id).await
    }

    pub async fn restore_chat(&self, owner: UserId, id: ChatId) -> Result<Chat, ServiceError> {
        self.restore(owner, DeletedItem::Chat(id)).await?;
        self.chat(owner, id).await
    }

    /// What can come back, newest first, older than `before` where given.
    pub async fn list_trash(
        &self,
        owner: UserId,
        before: Option<DeletionId>,
        limit: u32,
    ) -> Result<Vec<Deletion>, ServiceError> {
        Ok(deletions::list(self.db(), owner, before, limit).await?)
    }

    /// One deletion of it.
    pub async fn deletion(&self, owner: UserId, id: DeletionId) -> Result<Deletion, ServiceError> {
        deletions::find(self.db(), owner, id).await?.ok_or(ServiceError::NotFound)
    }

    /// Deletes for ever what a deletion took, with what was deleted below it before.
    pub async fn purge_deletion(&self, owner: UserId, id: DeletionId) -> Result<(), ServiceError> {
        let mut tx = self.db().begin().await?;
        if !purge::schedule_purge(&mut tx, owner, id, self.clock().now()).await? {
            return Err(ServiceError::NotFound);
        }
        tx.commit().await?;
        self.purge_now().await
    }

    /// The same for all that is in Trash, documents with it; gives how many deletions that were.
    pub async fn empty_trash(&self, owner: UserId) -> Result<u64, ServiceError> {
        let mut tx = self.db().begin().await?;
        let doomed = purge::schedule_purge_of_trash(&mut tx, owner, self.clock().now()).await?;
        tx.commit().await?;
        let documents = self.purge_documents(DocumentPurgeTarget::OwnedBy(owner)).await?;
        self.purge_now().await?;
        Ok(doomed + documents)
    }

    /// In a task of its own: who asked may go away, and housekeeping would only come by later.
    async fn purge_now(&self) -> Result<(), ServiceError> {
        let (db, now) = (self.db().clone(), self.clock().now());
        let purged = tasks::spawn(async move { purge_scheduled(&db, now).await }).await;
        self.note_purge();
        match purged {
            Ok(purged) => Ok(purged?),
            // It is hidden and will be purged by housekeeping.
            Err(error) => {
                tracing::error!(%error, "a purge broke off");
                Ok(())
            }
        }
    }

    /// Deletes, once the replies that it would take are over. `near` is where the reader goes, the first that is left.
    async fn delete(
        &self,
        owner: UserId,
        chat_id: ChatId,
        root: DeletionRoot,
        near: [Option<TurnId>; 2],
    ) -> Result<DeletionSummary, ServiceError> {
        let mut running_stopped = 0;
        for _ in 0..limits::STOP_ROUNDS {
            let id = ids::mint();
            let new = NewDeletion { id, owner_id: owner, chat_id, root, at: self.clock().now() };
            let mut tx = self.db().begin().await?;
            match deletions::soft_delete(&mut tx, &new).await? {
                DeletionOutcome::Gone => return Err(ServiceError::NotFound),
                DeletionOutcome::LastBranch => {
                    let message = "a chat has at least one branch; delete the chat instead";
                    return Err(ServiceError::conflict("last_branch", message));
                }
                DeletionOutcome::Nothing => {
                    return Err(ServiceError::conflict("nothing_to_prune", "the chat has no other turns"));
                }
                DeletionOutcome::Running(running) => {
                    tx.rollback().await?;
                    for turn in running {
                        running_stopped += u64::from(self.stop_for_deletion(owner, turn).await?);
                    }
                }
                DeletionOutcome::Done { turns, branches } => {
                    tx.commit().await?;
                    let leaf = self.leaf_near(owner, chat_id, root, near).await?;
                    return Ok(DeletionSummary { deletion_id: id, chat_id, turns, branches, running_stopped, leaf });
                }
            }
        }
        Err(ServiceError::conflict("turn_running", "replies keep beginning in what is to be deleted"))
    }

    /// False when it was over before.
    async fn stop_for_deletion(&self, owner: UserId, turn: TurnId) -> Result<bool, ServiceError> {
        match tokio::time::timeout(limits::STOP_TIME, self.stop_turn(owner, turn)).await {
            Ok(Ok(_)) => Ok(true),
            // Another deletion was first.
            Ok(Err(ServiceError::NotFound)) => Ok(false),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(ServiceError::conflict("turn_running", "a reply below did not stop in time; try again")),
        }
    }

    /// The version before this one, else the one after it.
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

    /// The end of the path through what a deletion brought back.
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
        let what = match deletions::find(self.db(), owner, other).await? {
            Some(deletion) if deletion.kind == DeletionKind::Chat => "its chat was deleted too".to_owned(),
            Some(deletion) => format!("it hangs on something that was deleted later (“{}”)", deletion.title),
            None => "what it hangs on is being purged".to_owned(),
        };
        Ok(ServiceError::Conflict {
            code: "parent_deleted",
            message: format!("{what}; bring that back first"),
            extra: json!({ "deletion_id": other }),
        })
    }
}
