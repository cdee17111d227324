//! Backfills exchanges: groups messages into questions with their replies. The algorithm walks by time; each question
//! opens an exchange, and what follows belongs to it until the next question. A row that names its turn or its
//! message belongs there, whatever its time. Rows before the first question form a reply without a question.
//!
//! The mode comes from the turn; without a turn it is inferred from whether the reply has reasoning.

mod exchange_messages;
mod exchanges;

use std::collections::HashSet;

use super::entry::{TimelineEntry, read_date, read_name, sort};
use super::{LegacyField, LegacyRow, LegacyRowKind, LegacySchema, RowCount};
use crate::conversation::Conversation;
use crate::domain::turns::turn::Role;
use crate::reading::message_builder::split_system_prompt;
use crate::reading::notes::ConversationNotes;
use crate::reading::orphan_results;
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;
use exchange_messages::build_messages;
use exchanges::{collect_turns, group_exchanges};

/// The rows of a conversation other than its own.
#[derive(Debug, Default)]
pub(super) struct ConversationRows {
    pub turns: Vec<LegacyRow>,
    pub messages: Vec<LegacyRow>,
    pub calls: Vec<LegacyRow>,
    pub thoughts: Vec<LegacyRow>,
}

/// Builds the conversation from its rows; `None`, with an issue, if it has no content.
pub(super) fn build_conversation(
    schema: LegacySchema,
    head: &LegacyRow,
    rows: ConversationRows,
    counts: &mut [RowCount; LegacyRowKind::ALL.len()],
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let id = head.id(LegacyField::Id).unwrap_or_default();
    notes.set_conversation(&id);
    let title = head.text(LegacyField::Name, notes).unwrap_or_default();
    let model = read_name(head, LegacyField::Model, notes);
    let mut system_prompt = read_name(head, LegacyField::Text, notes).unwrap_or_default();
    let place = head.label();
    let (created_at, updated_at) = (
        read_date(head, LegacyField::CreatedAt, &place, notes),
        read_date(head, LegacyField::UpdatedAt, &place, notes),
    );
    let mut turns = collect_turns(&rows.turns, counts, notes);
    let timeline = build_timeline(schema, rows, counts, notes);
    let exchanges = group_exchanges(&timeline, &mut turns, notes);
    for turn in turns.values().filter(|turn| !turn.is_used) {
        counts[LegacyRowKind::Turn.number()].left_out += 1;
        notes.add(IssueKind::LeftOut, &turn.place, "it has no messages");
    }
    let mut messages = build_messages(timeline, exchanges, &turns);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    let only_system = messages.iter().all(|message| message.role == Role::System);
    if system_prompt.is_empty() && !only_system {
        (system_prompt, messages, _) = split_system_prompt(messages, None);
    }
    let conversation = Conversation {
        source_id: source_id(id, head, notes),
        title,
        system_prompt,
        created_at,
        updated_at,
        model,
        current: messages.len().checked_sub(1),
        messages,
        is_pinned: false,
        is_archived: false,
    };
    Some(orphan_results::add_missing_calls(conversation, notes))
}

/// Returns the id of the conversation. A number is unique only within its database, so the creation time is appended.
fn source_id(id: String, head: &LegacyRow, notes: &mut ConversationNotes) -> String {
    if !id.bytes().all(|byte| byte.is_ascii_digit()) {
        return id;
    }
    let began = head.text(LegacyField::CreatedAt, notes).unwrap_or_default();
    format!("{id} of {}", began.trim())
}

/// Builds the timeline of the rows, in order.
fn build_timeline(
    schema: LegacySchema,
    rows: ConversationRows,
    counts: &mut [RowCount; LegacyRowKind::ALL.len()],
    notes: &mut ConversationNotes,
) -> Vec<TimelineEntry> {
    // In that schema tool actions belong to a message, which may have no text.
    let acting: HashSet<String> = match schema {
        LegacySchema::Actions => rows.calls.iter().filter_map(|row| row.id(LegacyField::Message)).collect(),
        LegacySchema::Messages => HashSet::new(),
    };
    let mut timeline = Vec::with_capacity(rows.messages.len() + rows.calls.len() + rows.thoughts.len());
    for rows in [rows.messages, rows.calls, rows.thoughts] {
        let mut names = UniqueIds::default();
        for row in rows {
            let Some(mut entry) = TimelineEntry::from_row(schema, &row, &acting, notes) else {
                counts[row.kind.number()].left_out += 1;
                continue;
            };
            let (id, is_new) = names.assign(entry.id);
            if is_new {
                notes.add(IssueKind::PutRight, &entry.place, "another one has the same id: this one got a new id");
            }
            entry.id = id;
            timeline.push(entry);
        }
    }
    sort(schema, &mut timeline);
    timeline
}
