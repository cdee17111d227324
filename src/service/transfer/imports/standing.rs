//! Whether a chat that comes in is here already, and what is told of one that is.

use super::report::{ImportReport, ImportedChat, Outcome};
use crate::{Service, ServiceError};
use turnleaf_domain::{ChatId, UserId};
use turnleaf_interchange::{Finding, Place, What};
use turnleaf_run::purge::purge_doomed;
use turnleaf_store::archive::{self, Standing};
use turnleaf_store::{StoreError, Tx};

impl Service {
    /// Whether a chat of this id is here, and what that means for one that comes in. What an import left that was killed
    /// is taken away; what may be another import's is not.
    pub(super) async fn standing_of(&self, owner: UserId, chat: ChatId) -> Result<Option<Outcome>, ServiceError> {
        let now = self.clock().now();
        let mut seen = self.db().snapshot().await?;
        let standing = archive::standing(&mut seen, owner, chat).await?;
        seen.commit().await?;
        if matches!(standing, Some(Standing::Going(from)) if from <= now) {
            purge_doomed(self.db(), now).await?;
            return Ok(None);
        }
        Ok(standing.map(outcome))
    }
}

/// The same as a transaction sees it.
pub(super) async fn standing(tx: &mut Tx, owner: UserId, chat: ChatId) -> Result<Option<Outcome>, StoreError> {
    Ok(archive::standing(tx, owner, chat).await?.map(outcome))
}

fn outcome(standing: Standing) -> Outcome {
    match standing {
        Standing::Here => Outcome::Known,
        Standing::InTrash => Outcome::InTrash,
        Standing::Going(_) => Outcome::LeftOut,
    }
}

impl ImportReport {
    /// Tells of a chat that is not stored, because it stands here so.
    pub(super) fn stood(&mut self, id: ChatId, title: String, outcome: Outcome) {
        if outcome == Outcome::LeftOut {
            let place = Place { conversation: title.clone(), ..Place::default() };
            let text =
                "another import of it is under way, or broke off a moment ago: it can come in again in a few minutes";
            self.tell(&Finding { what: What::LeftOut, place, text: text.to_owned() });
        }
        let id = Some(id).filter(|_| outcome != Outcome::LeftOut);
        self.add(ImportedChat { id, title, turns: 0, branches: 0, outcome });
    }
}
