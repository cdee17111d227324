//! Detects chats that exist already when they are imported, and reports them.

use super::report::{ImportOutcome, ImportReport, ImportedChat};
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, UserId};
use turnleaf_interchange::{ImportIssue, IssueKind, IssueLocation};
use turnleaf_run::purge::purge_scheduled;
use turnleaf_store::transfer::archive::{self, ChatPresence};
use turnleaf_store::{StoreError, Tx};

impl Service {
    /// Returns the outcome for a chat whose id exists already. The rest of a killed import is purged; one that may
    /// belong to a running import is not.
    pub(super) async fn existing_chat_outcome(
        &self,
        owner: UserId,
        chat: ChatId,
    ) -> Result<Option<ImportOutcome>, ServiceError> {
        let now = self.clock().now();
        let mut seen = self.db().snapshot().await?;
        let presence = archive::chat_presence(&mut seen, owner, chat).await?;
        seen.commit().await?;
        if matches!(presence, Some(ChatPresence::Purging(from)) if from <= now) {
            purge_scheduled(self.db(), now).await?;
            return Ok(None);
        }
        Ok(presence.map(outcome))
    }
}

/// Returns the outcome as a transaction sees it.
pub(super) async fn outcome_in_tx(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
) -> Result<Option<ImportOutcome>, StoreError> {
    Ok(archive::chat_presence(tx, owner, chat).await?.map(outcome))
}

fn outcome(presence: ChatPresence) -> ImportOutcome {
    match presence {
        ChatPresence::Live => ImportOutcome::Known,
        ChatPresence::InTrash => ImportOutcome::InTrash,
        ChatPresence::Purging(_) => ImportOutcome::LeftOut,
    }
}

impl ImportReport {
    /// Reports a chat that is not stored because its id exists.
    pub(super) fn report_existing(&mut self, id: ChatId, title: String, outcome: ImportOutcome) {
        if outcome == ImportOutcome::LeftOut {
            let place = IssueLocation { conversation: title.clone(), ..IssueLocation::default() };
            let text = "another import of it is running or was interrupted a moment ago; try again in a few minutes";
            self.add_finding(&ImportIssue { kind: IssueKind::LeftOut, location: place, text: text.to_owned() });
        }
        let id = Some(id).filter(|_| outcome != ImportOutcome::LeftOut);
        self.add_chat(ImportedChat { id, title, turns: 0, branches: 0, outcome });
    }
}
