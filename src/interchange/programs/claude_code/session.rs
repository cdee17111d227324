//! Builds the conversation of a Claude Code session from its lines.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::content::{self, INSERTED};
use super::keys;
use super::lines::{self, LineKind};
use super::steps::{StepKey, Steps};
use super::user_text;
use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::input::json_lines::JsonLine;
use crate::reading::fields::{self, printable};
use crate::reading::message_builder::{CallNames, empty_message, report_missing_files};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;

/// The issue for slash commands that were not sent to the model.
const LOCAL_COMMANDS: &str = "commands that only ran in Claude Code are not imported";

/// Builds the conversation; `None`, with an issue, if no line holds a message.
pub(super) fn conversation(
    lines: &[JsonLine],
    id: Option<String>,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let is_agent = |line: &JsonLine| fields::is_set(&line.value, "isSidechain");
    let is_of_agent = lines.iter().all(|line| is_agent(line) || line.value.get("uuid").is_none());
    let source_id = source_id(lines, id, is_of_agent);
    notes.set_conversation(&source_id);
    let mut session = SessionBuilder {
        sent_commands: lines::sent_commands(lines),
        is_of_agent,
        steps: Steps::default(),
        nodes: Vec::new(),
        node_of: HashMap::new(),
        calls: CallNames::new(),
        usages: HashMap::new(),
        models: HashMap::new(),
        agent_lines: HashSet::new(),
        last_line: None,
        current: None,
        notes,
    };
    for line in lines {
        session.add(line);
    }
    session.set_usages();
    let SessionBuilder { nodes, current, notes, .. } = session;
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    if !is_of_agent && lines.iter().any(is_agent) {
        let text = "the work of each subagent was imported as a branch with its own beginning";
        notes.add(IssueKind::PutRight, "", text);
    }
    if let Some(fork) = lines.iter().find_map(|line| line.value.get("forkedFrom")) {
        let from: String = fields::text(fork, "sessionId").unwrap_or_default().chars().take(60).collect();
        let text = format!("it is a fork of the session {from}: both chats have the messages before the fork");
        notes.add(IssueKind::PutRight, "", text);
    }
    report_missing_files(&messages, notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (created_at, updated_at) = (times().min(), times().max());
    let title = title(lines);
    Some(Conversation { source_id, title, created_at, updated_at, current, messages, ..Conversation::default() })
}

/// Returns the id of the chat. The file of a subagent names the session of its caller.
fn source_id(lines: &[JsonLine], id: Option<String>, is_of_agent: bool) -> String {
    let agent = lines.iter().find_map(|line| fields::id(&line.value, "agentId")).filter(|_| is_of_agent);
    match (id, agent) {
        (Some(session), Some(agent)) => format!("{session}/{agent}"),
        (Some(id), None) | (None, Some(id)) => id,
        (None, None) => {
            let values: Vec<&Value> = lines.iter().map(|line| &line.value).take(8).collect();
            fields::content_id(&json!(values))
        }
    }
}

/// Returns the name that the user gave the session, else that of the program. A summary may belong to another session.
fn title(lines: &[JsonLine]) -> String {
    let ids: HashSet<&str> = lines.iter().filter_map(|line| fields::text(&line.value, "uuid")).collect();
    let last = |kind: &str, name: &str| {
        let named = lines.iter().rev().filter(|line| fields::text(&line.value, "type") == Some(kind));
        let mut own = named.filter(|line| fields::text(&line.value, "leafUuid").is_none_or(|leaf| ids.contains(leaf)));
        own.find_map(|line| fields::text(&line.value, name)).map(str::to_owned)
    };
    let names =
        [("custom-title", "customTitle"), ("agent-name", "agentName"), ("ai-title", "aiTitle"), ("summary", "summary")];
    names.into_iter().find_map(|(kind, name)| last(kind, name)).unwrap_or_default()
}

/// The messages of a session while it is read.
struct SessionBuilder<'n> {
    sent_commands: HashSet<String>,
    /// All lines are those of a subagent.
    is_of_agent: bool,
    steps: Steps,
    nodes: Vec<SourceNode>,
    /// Maps a message to its index in `nodes`.
    node_of: HashMap<String, usize>,
    calls: CallNames,
    /// Maps a response to its last message and its usage, which all of its lines repeat.
    usages: HashMap<String, (usize, Usage)>,
    /// The last model of the main chain, and that of the subagents.
    models: HashMap<bool, String>,
    agent_lines: HashSet<String>,
    last_line: Option<String>,
    /// The last message of the main chain.
    current: Option<String>,
    notes: &'n mut ConversationNotes,
}

/// The position of a line.
struct LinePlacement {
    id: String,
    parent: Option<String>,
    is_main: bool,
}

impl SessionBuilder<'_> {
    fn add(&mut self, line: &JsonLine) {
        let (number, line) = (line.number, &line.value);
        let kind = lines::kind_of(line);
        if !line.is_object() {
            return self.notes.add_not_a_message(&format!("line {number}"));
        }
        if kind == LineKind::Outside {
            return self.report_outside(line);
        }
        let place = self.place_of(line, number);
        if !keys::IGNORED_LINES.contains(&fields::text(line, "type").unwrap_or_default()) {
            keys::LINE.report_lost(line, &place.id, self.notes);
        }
        match kind {
            LineKind::Prompt => self.add_user(line, place, |message, content, notes| {
                content::add_prompt(message, content, notes);
            }),
            LineKind::Command if self.sent_commands.contains(&place.id) => {
                self.add_user(line, place, |message, content, _| {
                    message.add_text(&user_text::command(&plain(content)))
                });
            }
            LineKind::Shell => {
                self.add_user(line, place, |message, content, _| message.add_text(&user_text::shell(&plain(content))));
            }
            LineKind::CompactSummary => self.add_note(line, place, &plain(content_of(line))),
            LineKind::Notification => {
                let prompt = line.get("attachment").and_then(|attachment| attachment.get("prompt"));
                self.add_note(line, place, &plain(prompt.unwrap_or_else(|| content_of(line))));
            }
            LineKind::QueuedPrompt => self.add_queued(line, place),
            LineKind::AttachedFile => self.add_file(line, place),
            LineKind::Results => self.add_results(line, place),
            LineKind::Reply => self.add_reply(line, place),
            LineKind::ReplyFailure => self.add_failure(line, place),
            LineKind::Interruption => self.interrupt(place),
            LineKind::Command | LineKind::CommandOutput => {
                self.notes.add(IssueKind::Lost, &place.id, LOCAL_COMMANDS);
                self.pass(&place);
            }
            LineKind::Inserted | LineKind::Link | LineKind::Outside => self.add_inserted(kind, line, place),
        }
    }

    /// Returns the position of a line. A line without a link follows the line before it.
    fn place_of(&mut self, line: &Value, number: u64) -> LinePlacement {
        let id = fields::id(line, "uuid").unwrap_or_else(|| format!("line-{number}"));
        let is_agent = fields::is_set(line, "isSidechain");
        let before = self.last_line.replace(id.clone());
        let mut parent = if line.get("parentUuid").is_some() { lines::parent_of(line) } else { before };
        if is_agent {
            // A subagent sees nothing of the chat, so its first line begins a branch.
            parent = parent.filter(|parent| self.agent_lines.contains(parent));
            self.agent_lines.insert(id.clone());
        }
        LinePlacement { id, parent, is_main: self.is_of_agent || !is_agent }
    }

    fn pass(&mut self, place: &LinePlacement) {
        self.steps.pass(&place.id, place.parent.as_deref());
    }

    /// Adds a message at its place. A message without pieces only links those around it.
    fn push(&mut self, place: &LinePlacement, mut message: ImportedMessage, line: &Value, key: &StepKey<'_>) {
        if message.pieces.is_empty() && message.ending == MessageEnding::Complete {
            return self.pass(place);
        }
        message.created_at = self.notes.date(line, "timestamp", &place.id);
        let parent = self.steps.place(&place.id, place.parent.as_deref(), key);
        self.node_of.insert(place.id.clone(), self.nodes.len());
        if place.is_main {
            self.current = Some(place.id.clone());
        }
        self.nodes.push(SourceNode { id: place.id.clone(), parent, children: Vec::new(), message: Some(message) });
    }

    fn add_user(
        &mut self,
        line: &Value,
        place: LinePlacement,
        add: impl FnOnce(&mut ImportedMessage, &Value, &mut ConversationNotes),
    ) {
        let mut message = empty_message(&place.id, Role::User);
        self.report_message(line, &place.id);
        add(&mut message, content_of(line), self.notes);
        self.push(&place, message, line, &StepKey::Alone);
    }

    /// Adds what the program told the model as a system message.
    fn add_note(&mut self, line: &Value, place: LinePlacement, text: &str) {
        let mut message = empty_message(&place.id, Role::System);
        message.add_text(text);
        self.push(&place, message, line, &StepKey::Alone);
    }

    fn add_queued(&mut self, line: &Value, place: LinePlacement) {
        let attachment = line.get("attachment").unwrap_or(&Value::Null);
        keys::ATTACHMENT.report_lost(attachment, &place.id, self.notes);
        let mut message = empty_message(&place.id, Role::User);
        content::add_prompt(&mut message, attachment.get("prompt").unwrap_or(&Value::Null), self.notes);
        self.push(&place, message, line, &StepKey::Alone);
    }

    /// Adds a named file to the user's message above.
    fn add_file(&mut self, line: &Value, place: LinePlacement) {
        self.pass(&place);
        let above = self.steps.message_at(Some(&place.id)).and_then(|above| self.node_of.get(&above).copied());
        let message = above.and_then(|at| self.nodes[at].message.as_mut()).filter(|found| found.role == Role::User);
        let Some(message) = message else {
            return self.notes.add(IssueKind::Lost, &place.id, "a named file without a message is not imported");
        };
        let file = content::attached_file(line.get("attachment").unwrap_or(&Value::Null), &place.id, self.notes);
        message.add_piece(file);
    }

    /// Adds results as part of the reply; a text of the user beside them is a message of its own.
    fn add_results(&mut self, line: &Value, place: LinePlacement) {
        self.report_message(line, &place.id);
        let body = content_of(line);
        let mut results = empty_message(&place.id, Role::Assistant);
        content::add_results(&mut results, body, &self.calls);
        let answered = content::answered_calls(body);
        self.push(&place, results, line, &StepKey::Results(&answered));
        let beside =
            LinePlacement { id: format!("{}/text", place.id), parent: Some(place.id.clone()), is_main: place.is_main };
        let mut message = empty_message(&beside.id, Role::User);
        content::add_prompt(&mut message, body, self.notes);
        if !message.pieces.is_empty() {
            self.push(&beside, message, line, &StepKey::Alone);
            self.steps.show_as(&place.id, &beside.id);
        }
        let texts = body.as_array().into_iter().flatten().filter_map(|block| fields::text(block, "text"));
        if texts.map(user_text::parse).any(|text| text == user_text::UserText::Interruption) {
            self.cancel(&place.id);
        }
    }

    fn add_reply(&mut self, line: &Value, place: LinePlacement) {
        self.report_message(line, &place.id);
        let source = line.get("message").unwrap_or(&Value::Null);
        let mut message = empty_message(&place.id, Role::Assistant);
        message.provider = Some("anthropic".to_owned());
        message.model = fields::text(source, "model").map(str::to_owned);
        self.models.extend(message.model.clone().map(|model| (place.is_main, model)));
        content::add_reply(&mut message, content_of(line), &mut self.calls, self.notes);
        let calls: Vec<String> = message.pieces.iter().filter_map(call_id).map(str::to_owned).collect();
        let reply = fields::text(source, "id");
        let is_shown = !message.pieces.is_empty();
        self.push(&place, message, line, &StepKey::Reply(reply));
        calls.iter().for_each(|call| self.steps.add_call(&place.id, call));
        if is_shown {
            // Without an id, each line is a response of its own.
            let reply = reply.unwrap_or(&place.id).to_owned();
            self.usages.insert(reply, (self.nodes.len() - 1, content::usage(source)));
        } else if let Some((_, usage)) = reply.and_then(|reply| self.usages.get_mut(reply)) {
            *usage = content::usage(source);
        }
    }

    fn add_failure(&mut self, line: &Value, place: LinePlacement) {
        let mut message = empty_message(&place.id, Role::Assistant);
        message.provider = Some("anthropic".to_owned());
        message.model = self.models.get(&place.is_main).cloned();
        message.add_failure(&plain(content_of(line)));
        self.push(&place, message, line, &StepKey::Alone);
    }

    fn interrupt(&mut self, place: LinePlacement) {
        self.pass(&place);
        if let Some(above) = self.steps.message_at(Some(&place.id)) {
            self.cancel(&above);
        }
    }

    /// Marks a part of a reply as stopped by the user.
    fn cancel(&mut self, id: &str) {
        let message = self.node_of.get(id).and_then(|at| self.nodes[*at].message.as_mut());
        if let Some(message) = message.filter(|message| message.role == Role::Assistant) {
            message.ending = MessageEnding::Cancelled;
        }
    }

    /// Passes a line of the program, which is reported if it may hold something for a person.
    fn add_inserted(&mut self, kind: LineKind, line: &Value, place: LinePlacement) {
        self.pass(&place);
        let attachment = line.get("attachment").and_then(|attachment| fields::text(attachment, "type"));
        let word = |text: &str| printable(text, 60);
        match (fields::text(line, "type").unwrap_or_default(), attachment) {
            ("attachment", Some(found)) if !keys::IGNORED_ATTACHMENTS.contains(&found) => {
                let text = format!("context that Claude Code attached for the model is not imported ({})", word(found));
                self.notes.add(IssueKind::Lost, &place.id, text);
            }
            ("attachment" | "assistant", _) => {}
            ("system", _) => {
                let subtype = fields::text(line, "subtype").unwrap_or("none");
                if subtype == "local_command" {
                    self.notes.add(IssueKind::Lost, &place.id, LOCAL_COMMANDS);
                } else if fields::text(line, "content").is_some() && !keys::IGNORED_SYSTEM_LINES.contains(&subtype) {
                    let text = format!("notices of Claude Code are not imported ({})", word(subtype));
                    self.notes.add(IssueKind::Lost, &place.id, text);
                }
            }
            (known, _) if keys::IGNORED_LINES.contains(&known) => {}
            ("user", _) if kind == LineKind::Inserted => self.notes.add(IssueKind::Lost, &place.id, INSERTED),
            (other, _) => self.report_unknown_line(other),
        }
    }

    /// Reports a line outside of the chain, unless it names the session or is about the program.
    fn report_outside(&mut self, line: &Value) {
        let kind = fields::text(line, "type").unwrap_or("none");
        if keys::TITLE_LINES.contains(&kind) {
            keys::LINE.report_lost(line, "", self.notes);
        } else if !keys::IGNORED_LINES.contains(&kind) {
            self.report_unknown_line(kind);
        }
    }

    fn report_unknown_line(&mut self, kind: &str) {
        let kind = printable(kind, 60);
        self.notes.add(IssueKind::Lost, "", format!("lines of type “{kind}” are not imported"));
    }

    fn report_message(&mut self, line: &Value, id: &str) {
        if let Some(message) = line.get("message") {
            keys::MESSAGE.report_lost(message, id, self.notes);
        }
    }

    /// Sets the usage of each response once, on its last message.
    fn set_usages(&mut self) {
        for (at, usage) in self.usages.values() {
            if let Some(message) = &mut self.nodes[*at].message {
                message.usage = *usage;
            }
        }
    }
}

fn call_id(piece: &MessagePiece) -> Option<&str> {
    match &piece.body {
        PieceBody::ToolCall { id, .. } => Some(id),
        _ => None,
    }
}

fn content_of(line: &Value) -> &Value {
    line.get("message").and_then(|message| message.get("content")).unwrap_or(&Value::Null)
}

/// Returns the text of a content.
fn plain(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let texts = content.as_array().into_iter().flatten().filter_map(|block| fields::text(block, "text"));
    texts.collect::<Vec<_>>().join("\n")
}
