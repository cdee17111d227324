//! Chats that are here and went on where they come from: what their source has said since is added to them, in one
//! transaction, and nothing that is here is changed.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::files::{AttachedDocument, Files};
use super::plant::{self, Key, insert_turn};
use super::{Import, ImportReport, ImportedChat, Outcome};
use crate::domain::{BranchId, ChatId, TurnId, UserId};
use crate::interchange::archive::ArchivedChat;
use crate::interchange::grow::onward::onward;
use crate::interchange::{Conversation, Finding, Place, What};
use crate::server::service::{Service, ServiceError};
use crate::server::store::{StoreError, Tx, archive, branches, chats, exchanges};

/// What is to be added to a chat, and how many messages have no place in it.
pub(super) struct Onward {
    pub added: ArchivedChat,
    pub behind: usize,
}

impl Onward {
    /// Of a chat that grew again, as a transaction sees what is here.
    pub async fn of(tx: &mut Tx, owner: UserId, key: &Key, grown: &ArchivedChat) -> Result<Self, StoreError> {
        let here = archive::here(tx, owner, grown.chat.id).await?;
        let (added, behind) = onward(grown, &here, &|part| key.id(part));
        Ok(Self { added, behind })
    }

    /// The turns that are added.
    fn ids(&self) -> HashSet<TurnId> {
        self.added.turns.iter().map(|turn| turn.id).collect()
    }
}

/// Adds to a chat, which the transaction then holds. One that was deleted meanwhile gets nothing.
pub(super) async fn add(
    tx: &mut Tx,
    owner: UserId,
    key: &Key,
    grown: &ArchivedChat,
    documents: &[AttachedDocument],
) -> Result<Onward, StoreError> {
    let chat = grown.chat.id;
    if chats::hold(tx, owner, chat).await?.is_none() {
        return Err(StoreError::Deleted("the chat"));
    }
    let mut onward = Onward::of(tx, owner, key, grown).await?;
    for document in documents {
        document.insert(tx, owner).await?;
    }
    for of in &onward.added.branches {
        plant::insert_branch(tx, of).await?;
    }
    for exchange in &onward.added.exchanges {
        exchanges::insert(tx, owner, exchange, None).await?;
    }
    let begun: HashSet<BranchId> = onward.added.branches.iter().map(|of| of.branch.id).collect();
    for turn in &mut onward.added.turns {
        let ord = chats::take_ord_of_elsewhere(tx, owner, chat, turn.created_at).await?;
        turn.ord = ord.ok_or(StoreError::Deleted("the chat"))?;
        plant::place_blocks(turn);
        insert_turn(tx, owner, turn).await?;
        if !begun.contains(&turn.branch_id)
            && !branches::set_head(tx, turn.branch_id, turn.prev_turn_id, turn.id).await?
        {
            return Err(StoreError::Deleted("the branch"));
        }
    }
    for generation in &onward.added.generations {
        archive::insert_generation(tx, generation).await?;
    }
    Ok(onward)
}

impl Service {
    /// Adds to a chat that is here what its source has more, with its files, and tells of it.
    pub(super) async fn import_onward(
        &self,
        import: &Import,
        (key, provider): (&Key, &str),
        conversation: &Conversation,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let owner = import.owner;
        let grown =
            |files, findings: &mut Vec<Finding>| plant::grown(owner, key, provider, conversation, files, now, findings);
        let chat = grown(HashMap::new(), &mut Vec::new());
        let looked = self.look_onward(owner, key, &chat).await?;
        if looked.added.turns.is_empty() {
            report.grew(conversation, chat.chat.id, &looked);
            return Ok(());
        }
        let ids = looked.ids();
        let is_added = |message: &str| ids.contains(&TurnId::from(key.id(&plant::part_of_turn(message))));
        let files = self.files_of(import, key, conversation, &is_added, now, report).await?;
        let Files { contents, documents } = files;
        let mut findings = Vec::new();
        let mut chat = grown(contents, &mut findings);
        findings.iter().filter(|finding| is_added(&finding.place.message)).for_each(|finding| report.tell(finding));
        self.put_images_right(owner, &mut chat, report).await?;
        if import.dry_run {
            report.grew(conversation, chat.chat.id, &looked);
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        match add(&mut tx, owner, key, &chat, &documents).await {
            Ok(onward) => {
                tx.commit().await?;
                report.grew(conversation, chat.chat.id, &onward);
            }
            Err(error) if error.is_of_a_value() => {
                tx.rollback().await?;
                report.grew(conversation, chat.chat.id, &Onward { behind: ids.len() + looked.behind, ..nothing(chat) });
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What would be added to a chat.
    pub(super) async fn look_onward(
        &self,
        owner: UserId,
        key: &Key,
        grown: &ArchivedChat,
    ) -> Result<Onward, ServiceError> {
        let mut seen = self.db().snapshot().await?;
        let onward = Onward::of(&mut seen, owner, key, grown).await?;
        seen.commit().await?;
        Ok(onward)
    }
}

/// Nothing is added to this chat.
pub(super) fn nothing(chat: ArchivedChat) -> Onward {
    let added = ArchivedChat {
        turns: Vec::new(),
        generations: Vec::new(),
        exchanges: Vec::new(),
        branches: Vec::new(),
        ..chat
    };
    Onward { added, behind: 0 }
}

impl ImportReport {
    /// Tells what was added to a chat that is here.
    pub(super) fn grew(&mut self, conversation: &Conversation, chat: ChatId, onward: &Onward) {
        if onward.behind > 0 {
            let place = Place { conversation: conversation.source_id.clone(), ..Place::default() };
            let text = format!(
                "the chat is here already: {} messages that it has there and not here have no place in it and stay behind",
                onward.behind
            );
            self.tell(&Finding { what: What::LeftOut, place, text });
        }
        let (turns, branches) = (onward.added.turns.len() as u64, onward.added.branches.len() as u64);
        let outcome = if turns == 0 { Outcome::Known } else { Outcome::Grown };
        self.add(ImportedChat { id: Some(chat), title: conversation.title.clone(), turns, branches, outcome });
    }
}
