//! What one row says, and the order of what rows say.

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
    order: i64,
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
    /// What a row says; none, told, where that is nothing.
    pub fn read(schema: Schema, row: &Row, notes: &mut Notes) -> Option<Self> {
        let place = row.place();
        let said = match row.kind {
            Kind::Message => message(schema, row, &place, notes),
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
            order: order.unwrap_or(i64::MAX),
            turn: row.id(Field::Turn),
            message: row.id(Field::Message),
            model: named(row, Field::Model, notes),
            said,
        })
    }

    pub fn is_question(&self) -> bool {
        matches!(self.said, Said::Question(_))
    }

    /// By time. At the same time a question comes first, then what the source counts; then, in the schema of four
    /// tables, reasoning before a call before text, because a reply was kept in one go; in the other the text that the
    /// calls hang on. What has no time comes last, the messages in the order of their ids before the others.
    pub fn order(&self, schema: Schema) -> impl Ord + '_ {
        let rank = match (schema, self.kind) {
            (Schema::Messages, Kind::Thought) | (Schema::Actions, Kind::Message) => 0,
            (_, Kind::Call) => 1,
            _ => 2,
        };
        let number = self.id.parse::<u64>().unwrap_or(u64::MAX);
        let is_first = if self.at.is_some() { self.is_question() } else { self.kind == Kind::Message };
        let rank = if self.at.is_none() && self.kind == Kind::Message { 0 } else { rank };
        (self.at.is_none(), self.at, !is_first, self.order, rank, number, self.id.as_str())
    }
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

fn message(schema: Schema, row: &Row, place: &str, notes: &mut Notes) -> Option<Said> {
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
    if is_empty {
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
