//! Timeline entries: the content of one row, and their order.

use std::collections::HashSet;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{LegacyField, LegacyRow, LegacyRowKind, LegacySchema};
use crate::reading::fields::{SourceDate, as_date};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// A message, a call or a piece of reasoning in the timeline.
#[derive(Debug)]
pub(super) struct TimelineEntry {
    /// The id in its table; a new one if another row had it before.
    pub id: String,
    pub kind: LegacyRowKind,
    /// The name of the row in issues.
    pub place: String,
    pub at: Option<DateTime<Utc>>,
    /// The order column of the source.
    order: Option<i64>,
    /// The order in which its table got the rows.
    position: Option<i64>,
    /// The turn and the message that the row names.
    pub turn: Option<String>,
    pub message: Option<String>,
    pub model: Option<String>,
    pub content: EntryContent,
}

/// The content of an entry.
#[derive(Debug)]
pub(super) enum EntryContent {
    Question(String),
    Reply {
        text: String,
        failure: FailureSign,
    },
    System(String),
    /// Tool output that is stored as a message.
    ToolOutput(String),
    Call(Box<LegacyCall>),
    Thought(String),
}

/// Sign that an assistant's text is the reason why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureSign {
    No,
    /// The text looks like an error; it counts as one only if the reply has no other content.
    ByText,
    Yes,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct LegacyCall {
    pub name: String,
    pub arguments: Option<Value>,
    /// `None` while the tool was running.
    pub result: Option<Value>,
    pub success: bool,
    pub metadata: Value,
}

impl TimelineEntry {
    /// Builds the entry of a row; `None`, with an issue, if it has no content. An empty reply has content if it is in
    /// `acting`, the messages that calls belong to.
    pub fn from_row(
        schema: LegacySchema,
        row: &LegacyRow,
        acting: &HashSet<String>,
        notes: &mut ConversationNotes,
    ) -> Option<Self> {
        let place = row.label();
        let content = match row.kind {
            LegacyRowKind::Message => message(schema, row, acting, notes),
            LegacyRowKind::Call => Some(EntryContent::Call(Box::new(call(row, notes)))),
            LegacyRowKind::Thought => {
                row.text(LegacyField::Text, notes).filter(|text| !text.trim().is_empty()).map(EntryContent::Thought)
            }
            LegacyRowKind::Conversation | LegacyRowKind::Turn => None,
        };
        let Some(content) = content else {
            // An unknown role was already reported.
            if row.kind == LegacyRowKind::Thought {
                notes.add(IssueKind::LeftOut, &place, "it has no text");
            }
            return None;
        };
        let order = row.text(LegacyField::Order, notes).and_then(|text| text.trim().parse().ok());
        Some(Self {
            id: row.id(LegacyField::Id).unwrap_or_default(),
            kind: row.kind,
            at: read_date(row, LegacyField::CreatedAt, &place, notes),
            place,
            order,
            position: row.position,
            turn: row.id(LegacyField::Turn),
            message: row.id(LegacyField::Message),
            model: read_name(row, LegacyField::Model, notes),
            content,
        })
    }

    pub fn is_question(&self) -> bool {
        matches!(self.content, EntryContent::Question(_))
    }

    fn number(&self) -> Option<u64> {
        self.id.parse().ok()
    }
}

/// Sorts the timeline by time; entries without a time come last.
pub(super) fn sort(schema: LegacySchema, timeline: &mut [TimelineEntry]) {
    timeline.sort_by_key(|entry| (entry.at.is_none(), entry.at));
    timeline.chunk_by_mut(|one, next| one.at == next.at).for_each(|run| sort_same_time(schema, run));
}

/// Orders entries with equal times. The source's order column decides if it distinguishes all of them. Otherwise it,
/// numeric ids, or the order in which their table got them order the messages; without any of these, questions come
/// first. Reasoning and calls take their position
/// by the order column after the last question. Without that they precede the text in the schema of four tables,
/// which stores a reply at once, and follow the text that they belong to in the other schema, as do entries without a
/// time.
fn sort_same_time(schema: LegacySchema, run: &mut [TimelineEntry]) {
    if has_distinct_numbers(run, |entry| entry.order) {
        return run.sort_by_key(|entry| entry.order);
    }
    run.sort_by_key(|entry| entry.kind != LegacyRowKind::Message);
    let count = run.partition_point(|entry| entry.kind == LegacyRowKind::Message);
    let (messages, others) = run.split_at_mut(count);
    let is_dated = messages.first().or(others.first()).is_some_and(|entry| entry.at.is_some());
    let order = |entry: &TimelineEntry| entry.order.unwrap_or(i64::MAX);
    let number = |entry: &TimelineEntry| entry.number().unwrap_or(u64::MAX);
    if has_distinct_numbers(messages, |entry| entry.order) {
        messages.sort_by_key(|entry| entry.order);
    } else if has_distinct_numbers(messages, TimelineEntry::number) {
        messages.sort_by_key(TimelineEntry::number);
    } else if has_distinct_numbers(messages, |entry| entry.position) {
        messages.sort_by_key(|entry| entry.position);
    } else {
        let key = |entry: &TimelineEntry| (is_dated && !entry.is_question(), order(entry), number(entry));
        messages.sort_by(|one, other| (key(one), &one.id).cmp(&(key(other), &other.id)));
    }
    let key = |entry: &TimelineEntry| {
        (order(entry), entry.kind == LegacyRowKind::Call, number(entry), entry.position.unwrap_or(i64::MAX))
    };
    others.sort_by(|one, other| (key(one), &one.id).cmp(&(key(other), &other.id)));
    let behind = messages.iter().rposition(TimelineEntry::is_question).map_or(0, |at| at + 1);
    let reply = &mut run[behind..];
    if has_distinct_numbers(reply, |entry| entry.order) {
        reply.sort_by_key(|entry| entry.order);
    } else if schema == LegacySchema::Messages && is_dated {
        reply.rotate_left(count - behind);
    }
}

/// Returns whether every entry has a number and all numbers differ.
fn has_distinct_numbers<N: Eq + Hash>(entries: &[TimelineEntry], number: impl Fn(&TimelineEntry) -> Option<N>) -> bool {
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().all(|entry| number(entry).is_some_and(|number| seen.insert(number)))
}

/// Reads a date of a row; an implausible one is reported and dropped.
pub(super) fn read_date(
    row: &LegacyRow,
    field: LegacyField,
    place: &str,
    notes: &mut ConversationNotes,
) -> Option<DateTime<Utc>> {
    let date = row.text(field, notes).map_or(SourceDate::Absent, |text| as_date(&Value::String(text)));
    match (date, field) {
        (SourceDate::Implausible, _) => notes.add(IssueKind::PutRight, place, "an invalid date was skipped"),
        (SourceDate::Absent, LegacyField::CreatedAt) => notes.add(IssueKind::PutRight, place, "it has no date"),
        _ => {}
    }
    date.valid_time()
}

/// Reads a non-blank name.
pub(super) fn read_name(row: &LegacyRow, field: LegacyField, notes: &mut ConversationNotes) -> Option<String> {
    row.text(field, notes).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Reads a flag; `None` if the value is unknown.
pub(super) fn read_flag(row: &LegacyRow, notes: &mut ConversationNotes) -> Option<bool> {
    match row.text(LegacyField::Flag, notes)?.trim().to_lowercase().as_str() {
        "1" | "true" | "t" | "yes" => Some(true),
        "0" | "false" | "f" | "no" => Some(false),
        _ => None,
    }
}

fn message(
    schema: LegacySchema,
    row: &LegacyRow,
    acting: &HashSet<String>,
    notes: &mut ConversationNotes,
) -> Option<EntryContent> {
    let place = &row.label();
    let role = row.text(LegacyField::Role, notes).unwrap_or_default();
    let text = row.text(LegacyField::Text, notes).unwrap_or_default();
    let is_empty = text.is_empty();
    let content = match role.trim().to_lowercase().as_str() {
        "user" | "human" => {
            if is_empty {
                notes.add(IssueKind::PutRight, place, "a question has no content: it was imported as empty");
            }
            return Some(EntryContent::Question(text));
        }
        "assistant" | "ai" | "bot" | "model" => {
            let failure = match read_flag(row, notes) {
                Some(true) => FailureSign::Yes,
                None if schema == LegacySchema::Messages && text.starts_with("Error: ") => FailureSign::ByText,
                _ => FailureSign::No,
            };
            EntryContent::Reply { text, failure }
        }
        "system" | "developer" => EntryContent::System(text),
        "tool" | "function" => EntryContent::ToolOutput(text),
        _ => {
            notes.add(IssueKind::LeftOut, place, "its role is unknown");
            return None;
        }
    };
    let acts = || {
        matches!(content, EntryContent::Reply { .. }) && row.id(LegacyField::Id).is_some_and(|id| acting.contains(&id))
    };
    if is_empty && !acts() {
        notes.add(IssueKind::LeftOut, place, "it has no content");
        return None;
    }
    Some(content)
}

fn call(row: &LegacyRow, notes: &mut ConversationNotes) -> LegacyCall {
    let name = read_name(row, LegacyField::Name, notes).map(|name| name.chars().filter(|c| !c.is_control()).collect());
    let result = row.text(LegacyField::Result, notes).map(value);
    let status = row.text(LegacyField::Status, notes).unwrap_or_default().trim().to_lowercase();
    let by_status = match status.as_str() {
        "success" | "succeeded" | "completed" | "complete" | "done" | "ok" => Some(true),
        "error" | "failed" | "failure" | "cancelled" | "canceled" | "timeout" => Some(false),
        _ => None,
    };
    let by_result = || result.as_ref().and_then(|result| result.get("success")).and_then(Value::as_bool);
    let success = read_flag(row, notes).or(by_status).or_else(by_result);
    let has_ended = result.is_some() || success.is_some();
    LegacyCall {
        name: name.unwrap_or_default(),
        arguments: row.text(LegacyField::Arguments, notes).map(Value::String),
        result: has_ended.then(|| result.unwrap_or_default()),
        success: success.unwrap_or(true),
        metadata: row.text(LegacyField::Metadata, notes).map(value).unwrap_or_default(),
    }
}

/// Parses JSON lists, objects, strings and null; anything else stays text, so that a number keeps its notation.
fn value(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Null)) => value,
        _ => Value::String(text),
    }
}
