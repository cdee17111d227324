//! Reads the log of the Gemini CLI, which has only the prompts of the user, session by session.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::keys;
use crate::bounds;
use crate::conversation::Conversation;
use crate::domain::turns::turn::Role;
use crate::reading::fields;
use crate::reading::message_builder::empty_message;
use crate::reading::notes::ConversationNotes;
use crate::reading::session_lines::value_size;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;

/// Returns whether the value is an entry of a log.
pub(super) fn is_entry(value: &Value) -> bool {
    fields::text(value, "sessionId").is_some()
        && fields::count(value, "messageId").is_some()
        && fields::text(value, "message").is_some()
}

/// The entries of all logs, by session in the order of their beginnings.
#[derive(Default)]
pub(super) struct PromptLog {
    sessions: Vec<LoggedSession>,
    index: HashMap<String, usize>,
    bytes: usize,
}

/// The prompts that the user typed in one session.
#[derive(Debug)]
pub(super) struct LoggedSession {
    pub id: String,
    pub file: String,
    pub entries: Vec<Value>,
    left_out: bool,
}

impl PromptLog {
    pub(super) fn add(&mut self, entry: Value, file: &str) {
        let Some(id) = fields::id(&entry, "sessionId") else { return };
        let at = *self.index.entry(id.clone()).or_insert_with(|| {
            self.sessions.push(LoggedSession { id, file: file.to_owned(), entries: Vec::new(), left_out: false });
            self.sessions.len() - 1
        });
        self.bytes = self.bytes.saturating_add(value_size(&entry));
        let session = &mut self.sessions[at];
        if self.bytes > bounds::CONVERSATION_BYTES || session.entries.len() >= bounds::MESSAGES {
            session.left_out = true;
        } else {
            session.entries.push(entry);
        }
    }

    pub(super) fn into_sessions(self) -> impl Iterator<Item = LoggedSession> {
        self.sessions.into_iter()
    }
}

impl LoggedSession {
    /// Builds the conversation; `None`, with an issue, if nothing but commands was typed.
    pub(super) fn conversation(&self, notes: &mut ConversationNotes) -> Option<Conversation> {
        // The recorded session with this id may be imported later, with other messages.
        let source_id = format!("logs-{}", self.id);
        notes.set_conversation(&source_id);
        notes.add(IssueKind::Lost, "", "the log has only what the user typed: the replies are not in it");
        if self.left_out {
            notes.add(IssueKind::LeftOut, "", "the log is too large: the rest of it was skipped");
        }
        let mut nodes: Vec<SourceNode> = Vec::with_capacity(self.entries.len());
        let mut names = UniqueIds::default();
        let mut seen: HashSet<&Value> = HashSet::with_capacity(self.entries.len());
        for entry in &self.entries {
            let id = fields::id(entry, "messageId").unwrap_or_default();
            if !seen.insert(entry) {
                notes.add_repeated_message(&id);
                continue;
            }
            keys::LOG_ENTRY.report_lost(entry, &id, notes);
            let text = fields::text(entry, "message").unwrap_or_default();
            if text.starts_with(['/', '?']) {
                notes.add(IssueKind::Lost, &id, "commands that only ran in the Gemini CLI are not imported");
                continue;
            }
            // Two programs that resumed one session count alike. Each entry follows the one before it.
            let (id, _) = names.assign_to_message(id, notes);
            let mut message = empty_message(&id, Role::User);
            message.add_text(text);
            message.created_at = notes.date(entry, "timestamp", &id);
            let parent = nodes.last().map(|node| node.id.clone());
            let message = Some(message).filter(|message| !message.pieces.is_empty());
            nodes.push(SourceNode { id, parent, children: Vec::new(), message });
        }
        let last = nodes.last().map(|node| node.id.clone());
        let (messages, current) = order_messages(nodes, last.as_deref(), notes);
        if messages.is_empty() {
            notes.add_no_messages();
            return None;
        }
        Some(Conversation { source_id, current, messages, ..Conversation::default() })
    }
}
