//! Chats that are here and went on where they come from: what their source has said since is added to them, in one
//! transaction, and nothing that is here is changed.

use std::collections::HashSet;

use chrono::{DateTime, Utc};

use super::differences::{self, Apart};
use super::files::AttachedDocument;
use super::incoming::IncomingConversation;
use super::key::Key;
use super::report::{Import, ImportReport, ImportedChat, Outcome};
use super::rows::{self, insert_turn};
use super::told::{format_name, provider_of};
use crate::{Service, ServiceError};
use turnleaf_domain::{BranchId, ChatId, ImportedFrom, TurnId, UserId, limits};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::grow::changed::{CHANGED, any_files, changed};
use turnleaf_interchange::grow::onward::onward;
use turnleaf_interchange::grow::part_of_turn;
use turnleaf_interchange::report::messages;
use turnleaf_interchange::{Conversation, Finding, Format, Place, What};
use turnleaf_store::{StoreError, Tx, archive, branches, chat_sources, chats, exchanges};

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

    /// Adds to a chat, which the transaction then holds, and gives what was added and true. Where the database refuses it,
    /// or the chat was deleted meanwhile, all of it stays behind, and what the transaction did has to be undone.
    pub async fn added(
        tx: &mut Tx,
        owner: UserId,
        key: &Key,
        grown: &ArchivedChat,
        documents: &[AttachedDocument],
    ) -> Result<(Self, bool), StoreError> {
        let is_here = chats::hold(tx, owner, grown.chat.id).await?.is_some();
        let mut onward = Self::of(tx, owner, key, grown).await?;
        let added = if is_here { onward.add(tx, owner, documents).await } else { Err(StoreError::Deleted("the chat")) };
        match added {
            Ok(()) => Ok((onward, true)),
            Err(error) if error.is_of_a_value() => Ok((onward.refused(), false)),
            Err(error) => Err(error),
        }
    }

    /// The turns that are added.
    pub fn ids(&self) -> HashSet<TurnId> {
        self.added.turns.iter().map(|turn| turn.id).collect()
    }

    fn refused(self) -> Self {
        let Self { added, behind } = self;
        let behind = behind + added.turns.len();
        let (turns, generations, exchanges, branches) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { added: ArchivedChat { turns, generations, exchanges, branches, ..added }, behind }
    }

    async fn add(&mut self, tx: &mut Tx, owner: UserId, documents: &[AttachedDocument]) -> Result<(), StoreError> {
        let chat = self.added.chat.id;
        for document in documents {
            document.insert(tx, owner).await?;
        }
        for of in &self.added.branches {
            rows::insert_branch(tx, of).await?;
        }
        for exchange in &self.added.exchanges {
            exchanges::insert(tx, owner, exchange, None).await?;
        }
        let begun: HashSet<BranchId> = self.added.branches.iter().map(|of| of.branch.id).collect();
        for turn in &mut self.added.turns {
            let ord = chats::take_ord_of_elsewhere(tx, owner, chat, turn.created_at).await?;
            turn.ord = ord.ok_or(StoreError::Deleted("the chat"))?;
            rows::place_blocks(turn);
            insert_turn(tx, owner, turn).await?;
            if !begun.contains(&turn.branch_id)
                && !branches::set_head(tx, turn.branch_id, turn.prev_turn_id, turn.id).await?
            {
                return Err(StoreError::Deleted("the branch"));
            }
        }
        for generation in &self.added.generations {
            archive::insert_generation(tx, generation).await?;
        }
        Ok(())
    }
}

/// The turns here that their source has made others of, of a chat that grew again with [`any_files`]. A few at a time:
/// what is here may be larger than the memory.
pub(super) async fn changed_turns(tx: &mut Tx, owner: UserId, grown: &ArchivedChat) -> Result<Vec<TurnId>, StoreError> {
    let mut all = Vec::new();
    for some in grown.turns.chunks(limits::PAGE_MAX as usize) {
        let ids: Vec<TurnId> = some.iter().map(|turn| turn.id).collect();
        all.extend(changed(some, &archive::said(tx, owner, grown.chat.id, &ids).await?));
    }
    Ok(all)
}

/// Keeps with a chat that is here what was told of it now, beside what was told before.
pub(super) async fn keep_told(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    source: ImportedFrom,
) -> Result<(), StoreError> {
    let kept = chat_sources::seen(tx, owner, chat).await?;
    match differences::with_more(kept, source) {
        Some(all) => chat_sources::put(tx, owner, chat, &all).await,
        None => Ok(()),
    }
}

impl Service {
    /// Adds to a chat that is here what its source has more, with its files, and tells of it.
    pub(super) async fn import_onward(
        &self,
        import: &Import,
        (key, format): (&Key, Format),
        conversation: &Conversation,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let (owner, provider) = (import.owner, provider_of(format));
        let incoming = IncomingConversation { owner, key, provider, conversation, now };
        let chat = incoming.grow(any_files(conversation), &mut Vec::new());
        let id = chat.chat.id;
        let mut seen = self.db().snapshot().await?;
        let looked = Onward::of(&mut seen, owner, key, &chat).await?;
        let changed = changed_turns(&mut seen, owner, &chat).await?;
        seen.commit().await?;
        report.tell_changed(conversation, key, &changed);
        let ids = looked.ids();
        let is_added = |message: &str| ids.contains(&turn_of(key, message));
        let (mut chat, mut documents) = (chat, Vec::new());
        if !ids.is_empty() {
            let bytes = conversation.byte_count_of(&is_added);
            if !self.fits(owner, bytes, &conversation.title, report).await? {
                report.stood(id, conversation.title.clone(), Outcome::Known);
                return Ok(());
            }
            let files = self.files_of(import, &incoming, &is_added, report).await?;
            let mut findings = Vec::new();
            chat = incoming.grow(files.contents, &mut findings);
            documents = files.documents;
            findings.iter().filter(|finding| is_added(&finding.place.message)).for_each(|finding| report.tell(finding));
            self.put_images_right(owner, &mut chat, report).await?;
        }
        if import.dry_run {
            report.tell_behind(conversation, &looked);
            report.grew(conversation, id, &looked);
            return Ok(());
        }
        let source = |apart: &mut Apart| ImportedFrom {
            format: format_name(format).to_owned(),
            file: differences::short(&import.name),
            imported_at: now,
            differences: apart.of(&conversation.source_id),
        };
        let mut onward = looked;
        if !ids.is_empty() {
            let mut tx = self.db().begin().await?;
            let is_added;
            (onward, is_added) = Onward::added(&mut tx, owner, key, &chat, &documents).await?;
            if is_added {
                report.tell_behind(conversation, &onward);
                keep_told(&mut tx, owner, id, source(&mut report.apart)).await?;
                tx.commit().await?;
                report.grew(conversation, id, &onward);
                return Ok(());
            }
            tx.rollback().await?;
        }
        report.tell_behind(conversation, &onward);
        self.keep_news(owner, id, source(&mut report.apart)).await?;
        report.grew(conversation, id, &onward);
        Ok(())
    }

    /// Keeps what was told of a chat that nothing was added to, where that was not told before. A chat that is as it was
    /// is not held for that.
    async fn keep_news(&self, owner: UserId, id: ChatId, source: ImportedFrom) -> Result<(), ServiceError> {
        let kept = chat_sources::find(self.db(), owner, id).await?;
        if differences::with_more(kept, source.clone()).is_none() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        if chats::hold(&mut tx, owner, id).await?.is_some() {
            keep_told(&mut tx, owner, id, source).await?;
        }
        Ok(tx.commit().await?)
    }
}

fn turn_of(key: &Key, message: &str) -> TurnId {
    TurnId::from(key.id(&part_of_turn(message)))
}

impl ImportReport {
    /// Tells of messages that are others at their source than they are here.
    pub(super) fn tell_changed(&mut self, conversation: &Conversation, key: &Key, changed: &[TurnId]) {
        let changed: HashSet<&TurnId> = changed.iter().collect();
        for message in &conversation.messages {
            if !changed.is_empty() && changed.contains(&turn_of(key, &message.source_id)) {
                let place = Place {
                    conversation: conversation.source_id.clone(),
                    message: message.source_id.clone(),
                    ..Place::default()
                };
                self.tell(&Finding { what: What::Lost, place, text: CHANGED.to_owned() });
            }
        }
    }

    /// Tells of messages that have no place in a chat that is here.
    pub(super) fn tell_behind(&mut self, conversation: &Conversation, onward: &Onward) {
        if onward.behind > 0 {
            let place = Place { conversation: conversation.source_id.clone(), ..Place::default() };
            self.tell(&Finding { what: What::LeftOut, place, text: behind(onward.behind) });
        }
    }

    /// Tells what was added to a chat that is here.
    pub(super) fn grew(&mut self, conversation: &Conversation, chat: ChatId, onward: &Onward) {
        let (turns, branches) = (onward.added.turns.len() as u64, onward.added.branches.len() as u64);
        let outcome = if turns == 0 { Outcome::Known } else { Outcome::Grown };
        self.add(ImportedChat { id: Some(chat), title: conversation.title.clone(), turns, branches, outcome });
    }
}

fn behind(count: usize) -> String {
    let (have, stay) = if count == 1 { ("has", "stays") } else { ("have", "stay") };
    format!(
        "the chat is here already: {} that it has there and not here {have} no place in it and {stay} behind",
        messages(count)
    )
}
