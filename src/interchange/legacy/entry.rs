//! What one row says, and the order of what rows say.

use std::collections::HashSet;
use std::hash::Hash;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{Field, Kind, Row, Schema};
use crate::fields::{Dated, as_date};
use crate::notes::Notes;
use crate::report::What;

/// A message, a call or a piece of reasoning, in its place in time.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its id in its table; made new where another row had it before.
    pub id: String,
    pub kind: Kind,
    /// How it is called in findings.
    pub place: String,
    pub at: Option<DateTime<Utc>>,
    /// What the source counts.
    order: Option<i64>,
    /// The turn and the message that it names.
    pub turn: Option<String>,
    pub message: Option<String>,
    pub model: Option<String>,
    pub said: Said,
}

/// What it says.
#[derive(Debug)]
pub(super) enum Said {
    Question(String),
    Reply {
        text: String,
        failure: Failure,
    },
    System(String),
    /// What a tool brought, as a message.
    Brought(String),
    Call(Box<Call>),
    Thought(String),
}

/// Whether a text of the assistant is why there is no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    No,
    /// Its words say so: it is one where nothing else was said.
    ByWords,
    Yes,
}

/// A call with its result.
#[derive(Debug)]
pub(super) struct Call {
    pub name: String,
    pub arguments: Option<Value>,
    /// None while the tool had not ended.
    pub result: Option<Value>,
    pub success: bool,
    pub metadata: Value,
}

impl Entry {
    /// What a row says; none, told, where that is nothing. A reply without words says something if it is one of those
    /// `acting`, on which calls hang.
    pub fn read(schema: Schema, row: &Row, acting: &HashSet<String>, notes: &mut Notes) -> Option<Self> {
        let place = row.place();
        let said = match row.kind {
            Kind::Message => message(schema, row, acting, notes),
            Kind::Call => Some(Said::Call(Box::new(call(row, notes)))),
            Kind::Thought => row.text(Field::Text, notes).filter(|text| !text.trim().is_empty()).map(Said::Thought),
            Kind::Conversation | Kind::Turn => None,
        };
        let Some(said) = said else {
            // A role that is not known was told.
            if row.kind == Kind::Thought {
                notes.add(What::LeftOut, &place, "there are no words in it");
            }
            return None;
        };
        let order = row.text(Field::Order, notes).and_then(|text| text.trim().parse().ok());
        Some(Self {
            id: row.id(Field::Id).unwrap_or_default(),
            kind: row.kind,
            at: date(row, Field::CreatedAt, &place, notes),
            place,
            order,
            turn: row.id(Field::Turn),
            message: row.id(Field::Message),
            model: named(row, Field::Model, notes),
            said,
        })
    }

    pub fn is_question(&self) -> bool {
        matches!(self.said, Said::Question(_))
    }

    fn number(&self) -> Option<u64> {
        self.id.parse().ok()
    }
}

/// Puts what was said in its order: by time; what has no time comes last.
pub(super) fn sort(schema: Schema, timeline: &mut [Entry]) {
    timeline.sort_by_key(|entry| (entry.at.is_none(), entry.at));
    timeline.chunk_by_mut(|one, next| one.at == next.at).for_each(|run| arrange(schema, run));
}

/// Puts what has the same time in its order. What the source counts decides, if it tells all of it apart. Else it puts
/// the messages in order, or their ids do where they are numbers; of others, which say nothing, a question comes first.
/// Reasoning and calls then stand where the source counts them behind the last question; else, in the schema of four
/// tables, before the text there, because a reply was kept in one go, and in the other behind the text that they hang
/// on, as does what has no time at all.
fn arrange(schema: Schema, run: &mut [Entry]) {
    if tells_apart(run, |entry| entry.order) {
        return run.sort_by_key(|entry| entry.order);
    }
    run.sort_by_key(|entry| entry.kind != Kind::Message);
    let count = run.partition_point(|entry| entry.kind == Kind::Message);
    let (messages, others) = run.split_at_mut(count);
    let is_dated = messages.first().or(others.first()).is_some_and(|entry| entry.at.is_some());
    let order = |entry: &Entry| entry.order.unwrap_or(i64::MAX);
    let number = |entry: &Entry| entry.number().unwrap_or(u64::MAX);
    if tells_apart(messages, |entry| entry.order) {
        messages.sort_by_key(|entry| entry.order);
    } else if tells_apart(messages, Entry::number) {
        messages.sort_by_key(Entry::number);
    } else {
        let key = |entry: &Entry| (is_dated && !entry.is_question(), order(entry), number(entry));
        messages.sort_by(|one, other| (key(one), &one.id).cmp(&(key(other), &other.id)));
    }
    let key = |entry: &Entry| (order(entry), entry.kind == Kind::Call, number(entry));
    others.sort_by(|one, other| (key(one), &one.id).cmp(&(key(other), &other.id)));
    let behind = messages.iter().rposition(Entry::is_question).map_or(0, |at| at + 1);
    let reply = &mut run[behind..];
    if tells_apart(reply, |entry| entry.order) {
        reply.sort_by_key(|entry| entry.order);
    } else if schema == Schema::Messages && is_dated {
        reply.rotate_left(count - behind);
    }
}

/// Whether each of these says a number, and none says another one's.
fn tells_apart<N: Eq + Hash>(entries: &[Entry], number: impl Fn(&Entry) -> Option<N>) -> bool {
    let mut seen = HashSet::with_capacity(entries.len());
    entries.iter().all(|entry| number(entry).is_some_and(|number| seen.insert(number)))
}

/// A date of a row; an absurd one is told and left out.
pub(super) fn date(row: &Row, field: Field, place: &str, notes: &mut Notes) -> Option<DateTime<Utc>> {
    let date = row.text(field, notes).map_or(Dated::Unsaid, |text| as_date(&Value::String(text)));
    match (date, field) {
        (Dated::Absurd, _) => notes.add(What::PutRight, place, "a date that cannot be right was left out"),
        (Dated::Unsaid, Field::CreatedAt) => notes.add(What::PutRight, place, "it has no date"),
        _ => {}
    }
    date.known()
}

/// A name: something that is not blank.
pub(super) fn named(row: &Row, field: Field, notes: &mut Notes) -> Option<String> {
    row.text(field, notes).map(|name| name.trim().to_owned()).filter(|name| !name.is_empty())
}

/// Whether a value says yes; none where it says nothing that is known.
pub(super) fn flag(row: &Row, notes: &mut Notes) -> Option<bool> {
    match row.text(Field::Flag, notes)?.trim().to_lowercase().as_str() {
        "1" | "true" | "t" | "yes" => Some(true),
        "0" | "false" | "f" | "no" => Some(false),
        _ => None,
    }
}

fn message(schema: Schema, row: &Row, acting: &HashSet<String>, notes: &mut Notes) -> Option<Said> {
    let place = &row.place();
    let role = row.text(Field::Role, notes).unwrap_or_default();
    let text = row.text(Field::Text, notes).unwrap_or_default();
    let is_empty = text.is_empty();
    let said = match role.trim().to_lowercase().as_str() {
        "user" | "human" => {
            if is_empty {
                notes.add(What::PutRight, place, "a question has no content: it is kept empty");
            }
            return Some(Said::Question(text));
        }
        "assistant" | "ai" | "bot" | "model" => {
            let failure = match flag(row, notes) {
                Some(true) => Failure::Yes,
                None if schema == Schema::Messages && text.starts_with("Error: ") => Failure::ByWords,
                _ => Failure::No,
            };
            Said::Reply { text, failure }
        }
        "system" | "developer" => Said::System(text),
        "tool" | "function" => Said::Brought(text),
        _ => {
            notes.add(What::LeftOut, place, "its role is not known");
            return None;
        }
    };
    let acts = || matches!(said, Said::Reply { .. }) && row.id(Field::Id).is_some_and(|id| acting.contains(&id));
    if is_empty && !acts() {
        notes.add(What::LeftOut, place, "it has no content");
        return None;
    }
    Some(said)
}

fn call(row: &Row, notes: &mut Notes) -> Call {
    let name = named(row, Field::Name, notes).map(|name| name.chars().filter(|c| !c.is_control()).collect());
    let result = row.text(Field::Result, notes).map(value);
    let status = row.text(Field::Status, notes).unwrap_or_default().trim().to_lowercase();
    let by_status = match status.as_str() {
        "success" | "succeeded" | "completed" | "complete" | "done" | "ok" => Some(true),
        "error" | "failed" | "failure" | "cancelled" | "canceled" | "timeout" => Some(false),
        _ => None,
    };
    let by_result = || result.as_ref().and_then(|result| result.get("success")).and_then(Value::as_bool);
    let success = flag(row, notes).or(by_status).or_else(by_result);
    let has_ended = result.is_some() || success.is_some();
    Call {
        name: name.unwrap_or_default(),
        arguments: row.text(Field::Arguments, notes).map(Value::String),
        result: has_ended.then(|| result.unwrap_or_default()),
        success: success.unwrap_or(true),
        metadata: row.text(Field::Metadata, notes).map(value).unwrap_or_default(),
    }
}

/// JSON where it is a list, an object, a text or nothing; else the words as they are. A number stays the text it was.
fn value(text: String) -> Value {
    match serde_json::from_str(&text) {
        Ok(value @ (Value::Object(_) | Value::Array(_) | Value::String(_) | Value::Null)) => value,
        _ => Value::String(text),
    }
}
