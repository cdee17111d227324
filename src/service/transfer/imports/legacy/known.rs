//! A chat of a database from before that is here already: what its source has more is added to it.

use std::collections::HashSet;

use uuid::Uuid;

use super::super::key::Key;
use super::super::onward::{self, Onward};
use super::super::report::ImportReport;
use super::{Ended, Target};
use crate::Service;
use turnleaf_domain::TurnId;
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::grow::part_of_turn;
use turnleaf_interchange::{Conversation, Finding};

impl Service {
    /// Adds to a chat that is here what its source has more.
    pub(super) async fn take_onward(
        &self,
        target: &mut Target<'_>,
        (key, conversation): (&Key, &Conversation),
        chat: &ArchivedChat,
        findings: &[Finding],
        report: &mut ImportReport,
    ) -> Result<(), Ended> {
        let (owner, id) = (target.import.owner, chat.chat.id);
        let (onward, changed) = match &mut target.tx {
            None => {
                let mut seen = self.db().snapshot().await?;
                let looked = Onward::of(&mut seen, owner, key, chat).await?;
                let changed = onward::changed_turns(&mut seen, owner, chat).await?;
                seen.commit().await?;
                (looked, changed)
            }
            Some(tx) => {
                let changed = onward::changed_turns(tx, owner, chat).await?;
                tx.mark().await?;
                let (onward, is_added) = Onward::added(tx, owner, key, chat, &[]).await?;
                if is_added {
                    tx.forget_mark().await?
                } else {
                    tx.back_to_mark().await?
                }
                (onward, changed)
            }
        };
        report.tell_changed(conversation, key, &changed);
        let added: HashSet<Uuid> = onward.ids().into_iter().map(TurnId::uuid).collect();
        let is_added = |finding: &&Finding| added.contains(&key.id(&part_of_turn(&finding.place.message)));
        findings.iter().filter(is_added).for_each(|finding| report.tell(finding));
        report.tell_behind(conversation, &onward);
        let source = target.source(conversation, report);
        if let Some(tx) = &mut target.tx {
            onward::keep_told(tx, owner, id, source).await?;
        }
        report.grew(conversation, id, &onward);
        Ok(())
    }
}
