//! Iterates over the parts of an input and delivers each conversation once.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::conversation::Conversation;
use crate::input::{Input, InputPart};
use crate::reading::notes::ConversationNotes;
use crate::reading::orphan_results;
use crate::reading::unique_ids::UniqueIds;
use crate::report::{ImportIssue, IssueKind, IssueLocation, SAME_CONVERSATION};
use crate::sink::{ImportError, ImportSink, hand_over, report_issue};

/// Parses one element into a conversation; `None`, with an issue in the notes, if it cannot.
pub(crate) type ConversationParser<'a> = &'a mut dyn FnMut(&Value, &mut ConversationNotes) -> Option<Conversation>;

/// Reads the conversations of all parts that `is_chats` selects: elements of a top-level list, or of a list in one of
/// the members `within` of a top-level object. A damaged or oversized part does not stop the others.
pub(crate) fn read_parts(
    input: &mut Input,
    taker: &mut dyn ImportSink,
    within: &[&str],
    is_chats: &dyn Fn(&InputPart) -> bool,
    conversing: ConversationParser<'_>,
) -> Result<(), ImportError> {
    let parts = input.parts();
    let mut seen = SeenConversations::default();
    let mut outcomes = PartOutcomes::default();
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        let read = input.for_each_element(number, within, taker, &mut |value, place, taker| {
            let mut notes = ConversationNotes::new(place);
            let conversation = conversing(&value, &mut notes);
            let conversation = conversation.and_then(|conversation| seen.admit(conversation, &value, &mut notes));
            // The parsed JSON is freed before the conversation is delivered.
            drop(value);
            deliver(conversation, notes, taker)
        });
        outcomes.add(&part.name, read, input.is_exhausted(), taker)?;
    }
    outcomes.finish()
}

/// Reads one part; its errors are those of the walk over the content.
pub(crate) type PartReader<'a> = &'a mut dyn FnMut(&mut Input, usize, &mut dyn ImportSink) -> Result<(), ImportError>;

/// Reads all parts that `is_chats` selects, each as a whole. A damaged or oversized part does not stop the others.
pub(crate) fn read_each_part(
    input: &mut Input,
    taker: &mut dyn ImportSink,
    is_chats: &dyn Fn(&InputPart) -> bool,
    read: PartReader<'_>,
) -> Result<(), ImportError> {
    let parts = input.parts();
    let mut outcomes = PartOutcomes::default();
    for (number, part) in parts.all().iter().enumerate().filter(|(_, part)| is_chats(part)) {
        let outcome = read(input, number, taker).map(|()| 1);
        outcomes.add(&part.name, outcome, input.is_exhausted(), taker)?;
    }
    outcomes.finish()
}

/// Reports the issues of a conversation, then hands it over if there is one.
pub(crate) fn deliver(
    conversation: Option<Conversation>,
    notes: ConversationNotes,
    taker: &mut dyn ImportSink,
) -> Result<(), ImportError> {
    notes.report(taker)?;
    conversation.map_or(Ok(()), |conversation| hand_over(taker, conversation))
}

/// The outcomes of reading several parts: a part that cannot be read is reported and does not stop the others.
#[derive(Default)]
pub(crate) struct PartOutcomes {
    is_any_read: bool,
    last_failure: Option<ImportError>,
}

impl PartOutcomes {
    /// Adds the outcome of a part.
    ///
    /// # Errors
    /// The failure concerns the whole input: nothing more can be unpacked or read, or the sink stopped the import.
    pub(crate) fn add(
        &mut self,
        part: &str,
        outcome: Result<u64, ImportError>,
        is_exhausted: bool,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        match outcome {
            Ok(_) => self.is_any_read = true,
            Err(error @ ImportError::TooLarge(_)) if is_exhausted => return Err(error),
            Err(error @ (ImportError::Damaged(_) | ImportError::WrongFormat(_) | ImportError::TooLarge(_))) => {
                let location = IssueLocation { file: part.to_owned(), ..IssueLocation::default() };
                let text = format!("reading the file stopped: {error}");
                report_issue(taker, ImportIssue { kind: IssueKind::LeftOut, location, text })?;
                self.last_failure = Some(error);
            }
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// # Errors
    /// No part could be read.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        if self.is_any_read {
            return Ok(());
        }
        Err(self.last_failure.unwrap_or(ImportError::WrongFormat("a file with conversations")))
    }
}

/// The conversations that were already delivered; removes duplicates.
#[derive(Default)]
pub(crate) struct SeenConversations {
    /// Content hashes by id.
    hashes: HashMap<String, HashSet<u64>>,
    names: UniqueIds,
}

impl SeenConversations {
    /// Admits a conversation once, with a call for each of its results. Another one with the same id gets a new id;
    /// `source` is what the conversation was read from.
    pub(crate) fn admit(
        &mut self,
        mut conversation: Conversation,
        source: &impl Hash,
        notes: &mut ConversationNotes,
    ) -> Option<Conversation> {
        let mut hasher = DefaultHasher::new();
        source.hash(&mut hasher);
        if !self.hashes.entry(conversation.source_id.clone()).or_default().insert(hasher.finish()) {
            notes.add(IssueKind::LeftOut, "", SAME_CONVERSATION);
            return None;
        }
        let (name, is_new) = self.names.assign(conversation.source_id);
        if is_new {
            notes.add(IssueKind::PutRight, "", "another conversation has the same id: this one got a new id");
        }
        conversation.source_id = name;
        Some(orphan_results::add_missing_calls(conversation, notes))
    }

    /// Admits and delivers what was read from `source`; nothing if it could not be read.
    pub(crate) fn deliver(
        &mut self,
        conversation: Option<Conversation>,
        source: &impl Hash,
        mut notes: ConversationNotes,
        taker: &mut dyn ImportSink,
    ) -> Result<(), ImportError> {
        let conversation = conversation.and_then(|conversation| self.admit(conversation, source, &mut notes));
        deliver(conversation, notes, taker)
    }
}
