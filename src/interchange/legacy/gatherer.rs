//! Collects the rows of one conversation after the other; only one conversation is in memory.

use super::backfill::{self, ConversationRows};
use super::rows::{LegacyRow, RowCount, shortened_id};
use super::{LegacyField, LegacyRowKind, LegacySchema};
use crate::bounds;
use crate::conversation::Conversation;
use crate::reading::notes::ConversationNotes;
use crate::report::{ImportIssue, IssueKind, IssueLocation};

/// A complete conversation with its issues.
#[derive(Debug, Default)]
pub struct GatheredConversation {
    /// `None` if it could not be built, or if the rows belong to no conversation.
    pub conversation: Option<Conversation>,
    /// Number of the source's conversations that are left out.
    pub left_out: u64,
    pub findings: Vec<ImportIssue>,
    /// Row counts by the index of the kind.
    pub counts: [RowCount; LegacyRowKind::ALL.len()],
}

/// Receives rows and returns conversations.
#[derive(Debug)]
pub struct ConversationGatherer {
    schema: LegacySchema,
    group: Option<ConversationRowGroup>,
}

/// The rows of one conversation.
#[derive(Debug)]
struct ConversationRowGroup {
    id: String,
    head: Option<LegacyRow>,
    rows: ConversationRows,
    bytes: usize,
    is_too_large: bool,
    /// Counts and issues of dropped rows.
    dropped: GatheredConversation,
    notes: ConversationNotes,
}

impl ConversationGatherer {
    pub fn new(schema: LegacySchema) -> Self {
        Self { schema, group: None }
    }

    /// Adds a row. Returns the previous conversation if the row belongs to another one.
    pub fn add(&mut self, row: LegacyRow) -> Option<GatheredConversation> {
        let whole = match &self.group {
            Some(group) if group.id != row.conversation => self.finish(),
            _ => None,
        };
        self.group.get_or_insert_with(|| ConversationRowGroup::new(&row.conversation)).add(row);
        whole
    }

    /// Returns the last conversation.
    pub fn finish(&mut self) -> Option<GatheredConversation> {
        self.group.take().map(|group| group.finish(self.schema))
    }
}

impl ConversationRowGroup {
    fn new(id: &str) -> Self {
        let place = IssueLocation { conversation: shortened_id(id), ..IssueLocation::default() };
        Self {
            id: id.to_owned(),
            head: None,
            rows: ConversationRows::default(),
            bytes: 0,
            is_too_large: false,
            dropped: GatheredConversation::default(),
            notes: ConversationNotes::new(place),
        }
    }

    fn add(&mut self, row: LegacyRow) {
        self.dropped.counts[row.kind.number()].read += 1;
        if row.kind == LegacyRowKind::Conversation {
            return self.set_head(row);
        }
        if self.head.is_none() {
            return self.drop_row(&row, "its conversation is missing");
        }
        let list = match row.kind {
            LegacyRowKind::Turn | LegacyRowKind::Conversation => &mut self.rows.turns,
            LegacyRowKind::Message => &mut self.rows.messages,
            LegacyRowKind::Call => &mut self.rows.calls,
            LegacyRowKind::Thought => &mut self.rows.thoughts,
        };
        if list.len() >= bounds::MESSAGES {
            return self.drop_row(&row, "its conversation has too many of them");
        }
        self.bytes += row.bytes();
        if self.is_too_large {
            return;
        }
        list.push(row);
        if self.bytes > bounds::CONVERSATION_BYTES {
            // The rows of an oversized conversation are freed at once.
            (self.is_too_large, self.rows) = (true, ConversationRows::default());
        }
    }

    fn set_head(&mut self, row: LegacyRow) {
        if row.id(LegacyField::Id).is_none() {
            self.dropped.left_out += 1;
            self.drop_row(&row, "a conversation has no id");
        } else if self.head.is_some() {
            self.dropped.left_out += 1;
            self.drop_row(&row, "another conversation has the same id");
        } else {
            self.head = Some(row);
        }
    }

    fn drop_row(&mut self, row: &LegacyRow, reason: &str) {
        self.dropped.counts[row.kind.number()].left_out += 1;
        self.notes.add(IssueKind::LeftOut, &row.label(), reason);
    }

    fn finish(self, schema: LegacySchema) -> GatheredConversation {
        let Self { head, rows, is_too_large, dropped, mut notes, .. } = self;
        let GatheredConversation { mut left_out, mut counts, .. } = dropped;
        let conversation = head.and_then(|head| {
            if is_too_large {
                let text = format!("the conversation is larger than {} bytes", bounds::CONVERSATION_BYTES);
                notes.add(IssueKind::LeftOut, "", text);
                return None;
            }
            backfill::build_conversation(schema, &head, rows, &mut counts, &mut notes)
        });
        let has_head = counts[LegacyRowKind::Conversation.number()].read > left_out;
        if conversation.is_none() && has_head {
            left_out += 1;
            counts.iter_mut().for_each(|count| count.left_out = count.read);
        }
        GatheredConversation { conversation, left_out, findings: notes.into_issues(), counts }
    }
}
