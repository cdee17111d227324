//! Converts the messages of a SillyTavern chat. The swipes of a message are its versions.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::chat_file::{ChatFile, is_message};
use super::dates::{ClockOffset, MessageDate, message_date};
use super::keys;
use super::media::{self, StoredFiles};
use crate::conversation::{ImportedMessage, PieceBody};
use crate::domain::turns::turn::Role;
use crate::input::json_lines::JsonLine;
use crate::reading::fields::{count, id, is_set, list, text};
use crate::reading::message_builder::{call_body, empty_message};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::SourceNode;
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;

/// The author of the program's own notices.
const PROGRAM: &str = "SillyTavern System";

/// Returns whether a message is a notice of the program.
pub(super) fn is_notice(row: &Value) -> bool {
    text(row, "name") == Some(PROGRAM) || (is_set(row, "is_group") && is_set(row, "is_system"))
}

/// One version of a message: the message itself, or one of its swipes.
struct MessageVersion<'a> {
    text: &'a str,
    extra: &'a Value,
    sent: Option<MessageDate>,
    started: Option<MessageDate>,
    finished: Option<MessageDate>,
    /// The date as it is written, for the id.
    sent_text: String,
}

impl<'a> MessageVersion<'a> {
    /// Returns a version with these words; `details` has its dates and its `extra`.
    fn new(row: &'a Value, text: &'a str, details: &'a Value) -> Self {
        let sent = details.get("send_date").filter(|sent| !sent.is_null()).or_else(|| row.get("send_date"));
        let date = |name: &str| details.get(name).and_then(message_date);
        Self {
            text,
            extra: details.get("extra").unwrap_or(&Value::Null),
            sent: sent.and_then(message_date),
            started: date("gen_started"),
            finished: date("gen_finished"),
            sent_text: sent.map(date_text).unwrap_or_default(),
        }
    }
}

/// Builds the tree of a chat.
pub(super) struct MessageLinker<'a> {
    files: &'a StoredFiles,
    notes: &'a mut ConversationNotes,
    /// True if replies have several authors.
    has_speakers: bool,
    /// True if messages of the user have several authors.
    has_personas: bool,
    offset: ClockOffset,
    ids: UniqueIds,
    nodes: Vec<SourceNode>,
    tip: Option<String>,
    /// The time of the last message.
    above: Option<DateTime<Utc>>,
}

impl<'a> MessageLinker<'a> {
    pub(super) fn new(chat: &ChatFile, files: &'a StoredFiles, notes: &'a mut ConversationNotes) -> Self {
        let names = |is_user: bool| {
            let is_aside = |row: &Value| is_notice(row) || has_type(row, "narrator") || has_type(row, "comment");
            let own = chat.rows().filter(move |row| is_message(row) && !is_aside(row));
            let own = own.filter(move |row| is_set(row, "is_user") == is_user);
            own.filter_map(|row| text(row, "name")).collect::<HashSet<_>>().len()
        };
        let (has_speakers, has_personas) = (names(false) > 1, names(true) > 1);
        Self {
            files,
            notes,
            has_speakers,
            has_personas,
            offset: ClockOffset::default(),
            ids: UniqueIds::default(),
            nodes: Vec::with_capacity(chat.messages.lines.len()),
            tip: None,
            above: None,
        }
    }

    /// Returns the nodes of the tree, and the id of the last shown message.
    pub(super) fn link(mut self, chat: &ChatFile) -> (Vec<SourceNode>, Option<String>) {
        // The first reply with both dates tells the zone of the messages before it.
        for row in chat.rows().rev() {
            let date = |name: &str| row.get(name).and_then(message_date);
            self.offset.observe(date("send_date"), date("gen_finished"));
        }
        for line in &chat.messages.lines {
            self.add(line);
        }
        (self.nodes, self.tip)
    }

    fn add(&mut self, line: &JsonLine) {
        let row = &line.value;
        let extra = row.get("extra").unwrap_or(&Value::Null);
        if !list(extra, "tool_invocations").is_empty() {
            return self.add_invocations(row, extra);
        }
        if !is_message(row) {
            return self.notes.add_not_a_message(&format!("line {}", line.number));
        }
        if is_notice(row) {
            return self.notes.add(IssueKind::Lost, "", "notices of the program are not imported");
        }
        if has_type(row, "comment") {
            return self.notes.add(IssueKind::Lost, "", "comments beside the conversation are not imported");
        }
        let (versions, shown) = versions(row);
        let (parent, above) = (self.tip.clone(), self.above);
        for (at, version) in versions.iter().enumerate() {
            let id = self.new_id(row, &version.sent_text);
            let message = self.message(row, version, &id, above);
            if at == shown {
                self.tip = Some(id.clone());
                self.above = message.ended_at.or(message.created_at).or(above);
            }
            self.push(id, parent.clone(), message);
        }
    }

    fn push(&mut self, id: String, parent: Option<String>, message: ImportedMessage) {
        self.nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
    }

    /// Makes an id of the date and the author, which stay when other messages are deleted.
    fn new_id(&mut self, row: &Value, sent: &str) -> String {
        let name: String = text(row, "name").unwrap_or_default().chars().take(100).collect();
        self.ids.assign(format!("{sent}/{name}")).0
    }

    /// Adds the calls that the program ran for the reply that follows.
    fn add_invocations(&mut self, row: &Value, extra: &Value) {
        let sent = row.get("send_date").map(date_text).unwrap_or_default();
        let id = self.new_id(row, &sent);
        let mut message = empty_message(&id, Role::Assistant);
        message.created_at = row.get("send_date").and_then(message_date).map(|date| self.offset.time(date, self.above));
        for (at, call) in list(extra, "tool_invocations").iter().enumerate() {
            keys::INVOCATION.report_lost(call, &id, self.notes);
            let call_id = self::id(call, "id").unwrap_or_else(|| format!("{id}/{at}"));
            let name = text(call, "name").unwrap_or("tool");
            message.add_piece(call_body(call_id.clone(), name, call.get("parameters")));
            let error = call.get("error").filter(|error| !error.is_null());
            let result = call.get("result").or(error).cloned().unwrap_or_default();
            message.add_tool_result(&call_id, name, result, error.is_none());
        }
        let parent = self.tip.replace(id.clone());
        self.push(id, parent, message);
    }

    fn message(
        &mut self,
        row: &Value,
        version: &MessageVersion<'_>,
        id: &str,
        above: Option<DateTime<Utc>>,
    ) -> ImportedMessage {
        let role = match is_set(row, "is_user") {
            true => Role::User,
            false if has_type(row, "narrator") => Role::System,
            false => Role::Assistant,
        };
        keys::MESSAGE.report_lost(row, id, self.notes);
        keys::EXTRA.report_lost(version.extra, id, self.notes);
        if is_set(row, "is_system") {
            let text = "messages that were hidden from the model were imported as ordinary messages";
            self.notes.add(IssueKind::PutRight, id, text);
        }
        let mut message = empty_message(id, role);
        message.created_at = self.begun(role, version, above, id);
        let needs_name = if role == Role::User { self.has_personas } else { self.has_speakers };
        let name = text(row, "name").filter(|_| needs_name && role != Role::System);
        if role == Role::Assistant {
            add_reasoning(&mut message, version.extra);
        }
        if let Some(name) = name {
            self.notes.add(IssueKind::PutRight, id, "the names of the speakers were placed before their messages");
            message.add_text(&format!("{name}: {}", version.text));
        } else {
            message.add_text(version.text);
        }
        media::add(&mut message, version.extra, self.files);
        if role == Role::User {
            // Files of the user precede the text.
            let texts = message.pieces.iter().take_while(|piece| matches!(piece.body, PieceBody::Text(_))).count();
            message.pieces.rotate_left(texts);
        } else if role == Role::Assistant {
            add_generation(&mut message, version, &self.offset);
        }
        message
    }

    /// Returns when a message was written: a reply when its generation began.
    fn begun(
        &mut self,
        role: Role,
        version: &MessageVersion<'_>,
        above: Option<DateTime<Utc>>,
        id: &str,
    ) -> Option<DateTime<Utc>> {
        let date = version.started.filter(|_| role == Role::Assistant).or(version.sent);
        if date.is_none() && !version.sent_text.is_empty() {
            self.notes.add(IssueKind::PutRight, id, "an invalid date (send_date) was skipped");
        }
        date.map(|date| self.offset.time(date, above))
    }
}

/// Returns whether a message has a type, which those of people and characters do not have.
fn has_type(row: &Value, kind: &str) -> bool {
    row.get("extra").and_then(|extra| text(extra, "type")) == Some(kind)
}

/// Returns a date as it is written.
fn date_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.chars().take(60).collect(),
        other => other.to_string().chars().take(60).collect(),
    }
}

/// Returns the versions of a message, its swipes or itself if it has at most one, and the index of the shown one.
fn versions(row: &Value) -> (Vec<MessageVersion<'_>>, usize) {
    let swipes = list(row, "swipes");
    let whole = || MessageVersion::new(row, text(row, "mes").unwrap_or_default(), row);
    if swipes.len() < 2 {
        return (vec![whole()], 0);
    }
    let shown = count(row, "swipe_id").and_then(|shown| usize::try_from(shown).ok());
    let shown = shown.filter(|shown| *shown < swipes.len()).unwrap_or_default();
    let mut versions = Vec::with_capacity(swipes.len());
    for (at, swipe) in swipes.iter().enumerate() {
        if at == shown {
            versions.push(whole());
            continue;
        }
        // Exports of other programs have an object in place of the text.
        let words = swipe.as_str().or_else(|| text(swipe, "message")).unwrap_or_default();
        let details = list(row, "swipe_info").get(at).unwrap_or(&Value::Null);
        versions.push(MessageVersion::new(row, words, details));
    }
    (versions, shown)
}

/// Adds the reasoning of a reply.
fn add_reasoning(message: &mut ImportedMessage, extra: &Value) {
    let Some(thought) = text(extra, "reasoning").filter(|thought| !thought.trim().is_empty()) else { return };
    let duration_ms = count(extra, "reasoning_duration").filter(|ms| *ms > 0);
    message.add_piece(PieceBody::Thinking { text: thought.to_owned(), title: None, duration_ms });
}

/// Reads the model of a reply and the end of its generation.
fn add_generation(message: &mut ImportedMessage, version: &MessageVersion<'_>, offset: &ClockOffset) {
    message.model = text(version.extra, "model").map(str::to_owned);
    message.provider = text(version.extra, "api").and_then(provider);
    let ended = version.finished.filter(|_| version.started.is_some()).map(|finished| offset.time(finished, None));
    message.ended_at = ended.filter(|ended| message.created_at.is_some_and(|begun| begun <= *ended));
}

/// Returns Turnleaf's name of a provider; `None` for an API that any server may speak.
fn provider(api: &str) -> Option<String> {
    match api {
        "claude" => Some("anthropic".to_owned()),
        "makersuite" | "vertexai" => Some("google".to_owned()),
        "mistralai" => Some("mistral".to_owned()),
        "custom" | "openai-compatible" => None,
        other => Some(other.to_lowercase()),
    }
}
