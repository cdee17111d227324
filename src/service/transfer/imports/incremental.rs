//! Incremental imports: adds what the source of an existing chat has gained since its import, in one transaction;
//! existing turns are never changed.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, Utc};

use super::continued_replies::{split_continued_replies, turn_of};
use super::differences::{self, PendingDifferences};
use super::files::AttachedDocument;
use super::format_names::{format_name, format_provider};
use super::import_key::ImportKey;
use super::incoming::IncomingConversation;
use super::report::{ImportOutcome, ImportReport, ImportRequest, ImportedChat};
use super::rows::{self, insert_turn};
use crate::{Service, ServiceError};
use turnleaf_domain::{BranchId, ChatId, ImportId, ImportOrigin, Turn, TurnId, UserId, limits};
use turnleaf_interchange::archive::ArchivedChat;
use turnleaf_interchange::chat_builder::incremental::collect_additions;
use turnleaf_interchange::chat_builder::source_changes::{
    CHANGED_AT_SOURCE, FILE_IN_SOURCE_NOW, has_file_now, placeholder_files, turns_changed_at_source,
};
use turnleaf_interchange::report::message_count;
use turnleaf_interchange::{
    Conversation, ImportFormat, ImportIssue, ImportedMessage, IssueKind, IssueLocation, PieceBody,
};
use turnleaf_store::chats::{self, chat_sources};
use turnleaf_store::transfer::archive;
use turnleaf_store::transfer::imports::{self, ImportedTurns};
use turnleaf_store::turns::exchanges;
use turnleaf_store::{StoreError, Tx, branches};

/// The additions to a chat, and the number of messages that cannot be attached.
pub(super) struct ChatExtension {
    pub added: ArchivedChat,
    pub left_behind: usize,
}

impl ChatExtension {
    /// Collects the additions of a chat that was built again, against the present rows in the transaction.
    pub async fn from_grown_chat(
        tx: &mut Tx,
        owner: UserId,
        key: &ImportKey,
        grown: &ArchivedChat,
    ) -> Result<Self, StoreError> {
        let existing = archive::existing_chat(tx, owner, grown.chat.id).await?;
        let (added, behind) = collect_additions(grown, &existing, &|part| key.part_id(part));
        Ok(Self { added, left_behind: behind })
    }

    /// Applies the additions to a chat, which the transaction locks; returns them and true. When the database refuses
    /// them, or the chat was deleted in between, it returns false with everything left behind, and the transaction
    /// must be rolled back.
    pub async fn apply(
        tx: &mut Tx,
        owner: UserId,
        key: &ImportKey,
        grown: &ArchivedChat,
        documents: &[AttachedDocument],
    ) -> Result<(Self, bool), StoreError> {
        let is_here = chats::lock_for_update(tx, owner, grown.chat.id).await?.is_some();
        let mut onward = Self::from_grown_chat(tx, owner, key, grown).await?;
        let added = if is_here { onward.add(tx, owner, documents).await } else { Err(StoreError::Deleted("the chat")) };
        match added {
            Ok(()) => Ok((onward, true)),
            Err(error) if error.is_value_error() => Ok((onward.refused(), false)),
            Err(error) => Err(error),
        }
    }

    /// Returns the ids of the added turns.
    pub fn turn_ids(&self) -> HashSet<TurnId> {
        self.added.turns.iter().map(|turn| turn.id).collect()
    }

    /// Assigns the added turns and documents to the record of the import, in the transaction that added them.
    pub async fn record(
        &self,
        tx: &mut Tx,
        owner: UserId,
        recorded: Option<ImportId>,
        documents: &[AttachedDocument],
    ) -> Result<(), StoreError> {
        let ords = self.added.turns.iter().map(|turn| turn.ord);
        // The lock on the chat makes the ords of one extension consecutive.
        if let (Some(id), Some((first, last))) = (recorded, ords.clone().min().zip(ords.max())) {
            let turns = ImportedTurns { chat_id: self.added.chat.id, ords: first..=last };
            imports::record_turns(tx, owner, id, &turns).await?;
        }
        for document in documents {
            document.record(tx, owner, recorded).await?;
        }
        Ok(())
    }

    fn refused(self) -> Self {
        let Self { added, left_behind: behind } = self;
        let behind = behind + added.turns.len();
        let (turns, generations, exchanges, branches) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { added: ArchivedChat { turns, generations, exchanges, branches, ..added }, left_behind: behind }
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
            let ord = chats::allocate_ord_for_import(tx, owner, chat, turn.created_at).await?;
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

/// Returns the turns whose content differs at the source now; `grown` is built with [`placeholder_files`]. Turns are
/// compared a few at a time, because a chat may be larger than the memory.
pub(super) async fn changed_turns(tx: &mut Tx, owner: UserId, grown: &ArchivedChat) -> Result<Vec<TurnId>, StoreError> {
    let mut all = Vec::new();
    for some in grown.turns.chunks(limits::PAGE_MAX as usize) {
        let ids: Vec<TurnId> = some.iter().map(|turn| turn.id).collect();
        all.extend(turns_changed_at_source(some, &archive::turn_contents(tx, owner, grown.chat.id, &ids).await?));
    }
    Ok(all)
}

/// Returns the messages with files that the source has now, of which the chat has only the names; `grown` is built with
/// [`placeholder_files`].
pub(super) async fn messages_with_new_files<'c>(
    tx: &mut Tx,
    incoming: &IncomingConversation<'c>,
    grown: &ArchivedChat,
) -> Result<Vec<&'c str>, StoreError> {
    let has_file = |message: &&ImportedMessage| {
        message.pieces.iter().any(|piece| match &piece.body {
            PieceBody::Picture { file, .. } | PieceBody::Attachment { file } => file.has_content(),
            _ => false,
        })
    };
    let messages: Vec<&ImportedMessage> = incoming.conversation.messages.iter().filter(has_file).collect();
    let turns: HashMap<TurnId, &Turn> = grown.turns.iter().map(|turn| (turn.id, turn)).collect();
    let mut found = Vec::new();
    for some in messages.chunks(limits::PAGE_MAX as usize) {
        let ids: Vec<TurnId> = some.iter().map(|message| turn_of(incoming.key, &message.source_id)).collect();
        let contents = archive::turn_contents(tx, incoming.owner, grown.chat.id, &ids).await?;
        for (message, id) in some.iter().zip(&ids) {
            let stored = turns.get(id).zip(contents.get(id));
            if stored.is_some_and(|(turn, here)| has_file_now(message, turn, here)) {
                found.push(message.source_id.as_str());
            }
        }
    }
    Ok(found)
}

/// Stores new differences of an existing chat with the earlier ones.
pub(super) async fn store_differences(
    tx: &mut Tx,
    owner: UserId,
    chat: ChatId,
    source: ImportOrigin,
) -> Result<(), StoreError> {
    let kept = chat_sources::find_in_tx(tx, owner, chat).await?;
    match differences::merge_source(kept, source) {
        Some(all) => chat_sources::put(tx, owner, chat, &all).await,
        None => Ok(()),
    }
}

impl Service {
    /// Adds what its source has gained to an existing chat, with its files, and reports it.
    pub(super) async fn extend_existing_chat(
        &self,
        import: &ImportRequest,
        (key, format): (&ImportKey, ImportFormat),
        conversation: &Conversation,
        now: DateTime<Utc>,
        report: &mut ImportReport,
    ) -> Result<(), ServiceError> {
        let (owner, provider) = (import.owner, format_provider(format));
        let incoming = IncomingConversation { owner, key, provider, conversation, now };
        let id = ChatId::from(key.part_id("chat"));
        let mut seen = self.db().snapshot().await?;
        let split = split_continued_replies(&mut seen, &incoming, id).await?;
        let conversation = split.as_ref().unwrap_or(conversation);
        let incoming = IncomingConversation { conversation, ..incoming };
        let chat = incoming.build_chat(placeholder_files(conversation), &mut Vec::new());
        let looked = ChatExtension::from_grown_chat(&mut seen, owner, key, &chat).await?;
        let changed = changed_turns(&mut seen, owner, &chat).await?;
        let with_files = messages_with_new_files(&mut seen, &incoming, &chat).await?;
        seen.commit().await?;
        report.report_changed(conversation, key, &changed);
        report.report_lost(conversation, &with_files, FILE_IN_SOURCE_NOW);
        if let Some(here) = chats::find(self.db(), owner, id).await? {
            report.report_renamed(conversation, &chat.chat.title, &here.title);
        }
        let ids = looked.turn_ids();
        let is_added = |message: &str| ids.contains(&turn_of(key, message));
        let (mut chat, mut documents) = (chat, Vec::new());
        if !ids.is_empty() {
            let bytes = conversation.byte_count_where(&is_added);
            if !self.has_import_room(owner, bytes, &conversation.title, report).await? {
                report.report_existing(id, conversation.title.clone(), ImportOutcome::Known);
                return Ok(());
            }
            let files = self.import_files(import, &incoming, &is_added, report).await?;
            let mut findings = Vec::new();
            chat = incoming.build_chat(files.contents, &mut findings);
            documents = files.documents;
            findings
                .iter()
                .filter(|finding| is_added(&finding.location.message))
                .for_each(|finding| report.add_finding(finding));
            self.correct_images(owner, &mut chat, report).await?;
        }
        if import.dry_run {
            report.report_left_behind(conversation, &looked);
            report.report_grown(conversation, id, &looked);
            return Ok(());
        }
        let source = |apart: &mut PendingDifferences| ImportOrigin {
            format: format_name(format).to_owned(),
            file: differences::shorten(&import.name),
            imported_at: now,
            differences: apart.differences_of(&conversation.source_id),
        };
        let mut onward = looked;
        if !ids.is_empty() {
            let mut tx = self.db().begin().await?;
            let is_added;
            (onward, is_added) = ChatExtension::apply(&mut tx, owner, key, &chat, &documents).await?;
            if is_added {
                onward.record(&mut tx, owner, report.recorded, &documents).await?;
                report.report_left_behind(conversation, &onward);
                store_differences(&mut tx, owner, id, source(&mut report.apart)).await?;
                tx.commit().await?;
                self.publish_listed_chat(owner, id);
                report.report_grown(conversation, id, &onward);
                return Ok(());
            }
            tx.rollback().await?;
        }
        report.report_left_behind(conversation, &onward);
        self.store_new_differences(owner, id, source(&mut report.apart)).await?;
        report.report_grown(conversation, id, &onward);
        Ok(())
    }

    /// Stores differences of a chat without additions, if they are new. An unchanged chat is not locked.
    async fn store_new_differences(&self, owner: UserId, id: ChatId, source: ImportOrigin) -> Result<(), ServiceError> {
        let kept = chat_sources::find(self.db(), owner, id).await?;
        if differences::merge_source(kept, source.clone()).is_none() {
            return Ok(());
        }
        let mut tx = self.db().begin().await?;
        if chats::lock_for_update(&mut tx, owner, id).await?.is_some() {
            store_differences(&mut tx, owner, id, source).await?;
        }
        Ok(tx.commit().await?)
    }
}

impl ImportReport {
    /// Reports messages whose content differs between the source and the chat.
    pub(super) fn report_changed(&mut self, conversation: &Conversation, key: &ImportKey, changed: &[TurnId]) {
        if changed.is_empty() {
            return;
        }
        let changed: HashSet<&TurnId> = changed.iter().collect();
        let messages = conversation.messages.iter().map(|message| message.source_id.as_str());
        let messages: Vec<&str> = messages.filter(|message| changed.contains(&turn_of(key, message))).collect();
        self.report_lost(conversation, &messages, CHANGED_AT_SOURCE);
    }

    /// Reports the same loss of these messages.
    fn report_lost(&mut self, conversation: &Conversation, messages: &[&str], text: &str) {
        for message in messages {
            let place = IssueLocation {
                conversation: conversation.source_id.clone(),
                message: (*message).to_owned(),
                ..IssueLocation::default()
            };
            self.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text: text.to_owned() });
        }
    }

    /// Reports that the chat has another title in the source than here.
    pub(super) fn report_renamed(&mut self, conversation: &Conversation, there: &str, here: &str) {
        if !conversation.title.trim().is_empty() && there != here {
            let place = IssueLocation { conversation: conversation.source_id.clone(), ..IssueLocation::default() };
            let text = format!("its title in the source is “{there}”: the chat here keeps its title");
            self.add_finding(&ImportIssue { kind: IssueKind::Lost, location: place, text });
        }
    }

    /// Reports messages that cannot be attached to an existing chat.
    pub(super) fn report_left_behind(&mut self, conversation: &Conversation, onward: &ChatExtension) {
        if onward.left_behind > 0 {
            let place = IssueLocation { conversation: conversation.source_id.clone(), ..IssueLocation::default() };
            self.add_finding(&ImportIssue {
                kind: IssueKind::LeftOut,
                location: place,
                text: left_behind_text(onward.left_behind),
            });
        }
    }

    /// Reports the additions to an existing chat.
    pub(super) fn report_grown(&mut self, conversation: &Conversation, chat: ChatId, onward: &ChatExtension) {
        let (turns, branches) = (onward.added.turns.len() as u64, onward.added.branches.len() as u64);
        let outcome = if turns == 0 { ImportOutcome::Known } else { ImportOutcome::Grown };
        self.add_chat(ImportedChat { id: Some(chat), title: conversation.title.clone(), turns, branches, outcome });
    }
}

fn left_behind_text(count: usize) -> String {
    format!("the chat is already here: {} of the source could not be added to it", message_count(count))
}
