//! Extends an existing chat from a database of an earlier program.

use std::collections::HashSet;

use uuid::Uuid;

use super::super::import_key::ImportKey;
use super::super::incremental::{self, ChatExtension};
use super::super::report::ImportReport;
use super::{LegacyImportEnd, LegacyTarget};
use crate::Service;
use turnleaf_domain::TurnId;
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::chat_builder::turn_id_key;
use turnleaf_interchange::{Conversation, ImportIssue};
use turnleaf_store::chats;

impl Service {
    /// Adds to an existing chat what its source has gained.
    pub(super) async fn extend_legacy_chat(
        &self,
        target: &mut LegacyTarget<'_>,
        (key, conversation): (&ImportKey, &Conversation),
        chat: &ArchivedChat,
        findings: &[ImportIssue],
        report: &mut ImportReport,
    ) -> Result<(), LegacyImportEnd> {
        let (owner, id) = (target.import.owner, chat.chat.id);
        let (onward, changed) = match &mut target.tx {
            None => {
                let mut seen = self.db().snapshot().await?;
                let looked = ChatExtension::from_grown_chat(&mut seen, owner, key, chat).await?;
                let changed = incremental::changed_turns(&mut seen, owner, chat).await?;
                seen.commit().await?;
                (looked, changed)
            }
            Some(tx) => {
                let changed = incremental::changed_turns(tx, owner, chat).await?;
                tx.savepoint().await?;
                let (onward, is_added) = ChatExtension::apply(tx, owner, key, chat, &[]).await?;
                if is_added {
                    onward.record(tx, owner, report.recorded, &[]).await?;
                    tx.release_savepoint().await?
                } else {
                    tx.rollback_to_savepoint().await?
                }
                (onward, changed)
            }
        };
        report.report_changed(conversation, key, &changed);
        if let Some(here) = chats::find(self.db(), owner, id).await? {
            report.report_renamed(conversation, &chat.chat.title, &here.title);
        }
        let added: HashSet<Uuid> = onward.turn_ids().into_iter().map(TurnId::uuid).collect();
        let is_added = |finding: &&ImportIssue| added.contains(&key.part_id(&turn_id_key(&finding.location.message)));
        findings.iter().filter(is_added).for_each(|finding| report.add_finding(finding));
        report.report_left_behind(conversation, &onward);
        let source = target.source(conversation, report);
        if let Some(tx) = &mut target.tx {
            incremental::store_differences(tx, owner, id, source).await?;
        }
        report.report_grown(conversation, id, &onward);
        Ok(())
    }
}
