//! Builds the conversation of a recorded session of the Gemini CLI.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::contents::{self, CallBook};
use super::keys;
use super::recording::{RecordedMessage, Recording};
use crate::conversation::{Conversation, ImportedMessage, PieceBody};
use crate::domain::text::plural::counted;
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::reading::fields::{self, printable};
use crate::reading::message_builder::{empty_message, report_missing_files};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;

/// Builds the conversation; `None`, with an issue, if it has no messages.
pub(super) fn conversation(session: &Recording, notes: &mut ConversationNotes) -> Option<Conversation> {
    let meta = Value::Object(session.meta.clone());
    let source_id = session.id().unwrap_or_else(|| {
        let first: Vec<&Value> = session.messages.iter().map(|message| &message.value).take(2).collect();
        fields::content_id(&json!(first))
    });
    notes.set_conversation(&source_id);
    if session.left_out > 0 {
        let count = counted(session.left_out, "message was skipped", "messages were skipped");
        notes.add(IssueKind::LeftOut, "", format!("the session is too large: {count}"));
    }
    keys::SESSION.report_lost(&meta, "", notes);
    if fields::text(&meta, "kind") == Some("subagent") {
        notes.add(IssueKind::PutRight, "", "it is the work of a subagent, imported as a chat of its own");
    }
    let answered = answered(&session.messages);
    let mut reader = RecordedMessageReader { answered, calls: CallBook::default(), model: None, notes };
    let nodes = session.messages.iter().map(|message| reader.node(message)).collect();
    let (messages, current) = order_messages(nodes, session.tip.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_missing_files(&messages, notes);
    Some(Conversation {
        title: fields::text(&meta, "summary").unwrap_or_default().to_owned(),
        created_at: notes.date(&meta, "startTime", ""),
        updated_at: notes.date(&meta, "lastUpdated", ""),
        source_id,
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the ids of the messages that a response or an error follows, whatever notices stand in between.
fn answered(messages: &[RecordedMessage]) -> HashSet<&str> {
    let by_id: HashMap<&str, &RecordedMessage> =
        messages.iter().map(|message| (message.id.as_str(), message)).collect();
    let mut answered = HashSet::new();
    for answer in messages.iter().filter(|message| matches!(kind_of(message), "gemini" | "error")) {
        let mut above = answer.parent.as_deref();
        // Memoization: above an id that is in the set already, everything is in it too.
        while let Some(id) = above.filter(|id| answered.insert(*id)) {
            let notice = by_id.get(id).copied().filter(|it| matches!(kind_of(it), "info" | "warning" | "error"));
            above = notice.and_then(|notice| notice.parent.as_deref());
        }
    }
    answered
}

fn kind_of(message: &RecordedMessage) -> &str {
    fields::text(&message.value, "type").unwrap_or_default()
}

struct RecordedMessageReader<'s, 'n> {
    /// The messages that a response or an error follows.
    answered: HashSet<&'s str>,
    calls: CallBook,
    /// The last model that responded.
    model: Option<String>,
    notes: &'n mut ConversationNotes,
}

impl RecordedMessageReader<'_, '_> {
    fn node(&mut self, recorded: &RecordedMessage) -> SourceNode {
        let RecordedMessage { id, parent, value, .. } = recorded;
        let mut message = None;
        if value.is_object() {
            keys::MESSAGE.report_lost(value, id, self.notes);
            message = self.message(recorded);
        } else {
            self.notes.add_not_a_message(id);
        }
        if let Some(message) = &mut message {
            message.created_at = self.notes.date(value, "timestamp", id);
        }
        SourceNode { id: id.clone(), parent: parent.clone(), children: Vec::new(), message }
    }

    /// Returns the message; `None` for a record that only concerns the program.
    fn message(&mut self, recorded: &RecordedMessage) -> Option<ImportedMessage> {
        let RecordedMessage { id, value, .. } = recorded;
        let content = value.get("content").unwrap_or(&Value::Null);
        let message = match fields::text(value, "type").unwrap_or_default() {
            "user" => self.user_message(recorded, content),
            "gemini" => Some(self.reply(id, value, content)),
            "error" => {
                let mut message = empty_message(id, Role::Assistant);
                message.provider = Some("google".to_owned());
                message.model.clone_from(&self.model);
                message.add_failure(&contents::text_of(content));
                return Some(message);
            }
            "info" | "warning" => {
                self.notes.add(IssueKind::Lost, id, "notices of the Gemini CLI are not imported");
                None
            }
            other => {
                let kind = printable(other, 60);
                self.notes.add(IssueKind::Lost, id, format!("messages of type “{kind}” are not imported"));
                None
            }
        };
        message.filter(|message| !message.pieces.is_empty())
    }

    fn user_message(&mut self, recorded: &RecordedMessage, content: &Value) -> Option<ImportedMessage> {
        let id = &recorded.id;
        // Results of tools are recorded in the name of the user, although they are steps of the reply.
        let is_results = contents::is_only_results(content);
        let role = match (is_results, recorded.is_replacement) {
            (true, _) => Role::Assistant,
            (false, true) => Role::System,
            (false, false) => Role::User,
        };
        let text = contents::text_of(content);
        let text = text.trim();
        if text.starts_with("<session_context>") || text.starts_with("<hook_context>") {
            self.notes.add(IssueKind::Lost, id, "text that the Gemini CLI added for the model is not imported");
            return None;
        }
        if role == Role::User && text.starts_with(['/', '?']) && !self.answered.contains(id.as_str()) {
            self.notes.add(IssueKind::Lost, id, "commands that only ran in the Gemini CLI are not imported");
            return None;
        }
        let mut message = empty_message(id, role);
        contents::add_parts(&mut message, content, &mut self.calls, self.notes);
        Some(message)
    }

    fn reply(&mut self, id: &str, value: &Value, content: &Value) -> ImportedMessage {
        let mut message = empty_message(id, Role::Assistant);
        message.provider = Some("google".to_owned());
        // A text that the program wrote in the name of the model names no model, so the last named one applies.
        self.model = fields::text(value, "model").map(str::to_owned).or_else(|| self.model.take());
        message.model.clone_from(&self.model);
        // Later versions record the thoughts within the content, too.
        let has_thoughts = contents::parts_of(content).iter().any(|part| fields::is_set(part, "thought"));
        for thought in fields::list(value, "thoughts").iter().filter(|_| !has_thoughts) {
            let title = fields::text(thought, "subject").map(str::to_owned);
            let text = fields::text(thought, "description").unwrap_or_default().to_owned();
            if title.is_some() || !text.is_empty() {
                message.add_piece(PieceBody::Thinking { text, title, duration_ms: None });
            }
        }
        contents::add_parts(&mut message, content, &mut self.calls, self.notes);
        for call in fields::list(value, "toolCalls") {
            contents::add_recorded_call(&mut message, call, &mut self.calls, self.notes);
        }
        message.usage = usage(value.get("tokens").unwrap_or(&Value::Null));
        message
    }
}

/// Returns the usage of a response. The API counts thoughts beside the output, and the results of its own tools beside
/// the input.
fn usage(tokens: &Value) -> Usage {
    let count = |name| fields::count(tokens, name);
    let sum = |name, more| count(name).map(|count: u64| count.saturating_add(fields::count(tokens, more).unwrap_or(0)));
    Usage {
        input_tokens: sum("input", "tool"),
        output_tokens: sum("output", "thoughts"),
        cache_read_tokens: count("cached"),
        cache_write_tokens: None,
        reasoning_tokens: count("thoughts"),
    }
}
