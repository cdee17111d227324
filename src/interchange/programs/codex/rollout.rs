//! Builds the conversation of a Codex session from its lines.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::contexts;
use super::items;
use super::keys;
use super::records::{self, Record};
use crate::conversation::{Conversation, ImportedMessage, MessageEnding, PieceBody};
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::input::json_lines::JsonLine;
use crate::reading::fields::{self, SourceDate, printable};
use crate::reading::message_builder::{CallNames, empty_message, report_missing_files};
use crate::reading::notes::ConversationNotes;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;

/// Builds the conversation; `None`, with an issue, if no line holds a message. `names` are those that the user gave
/// sessions.
pub(super) fn conversation(
    lines: &[JsonLine],
    file: &str,
    names: &HashMap<String, String>,
    notes: &mut ConversationNotes,
) -> Option<Conversation> {
    let meta = lines.iter().find_map(|line| match Record::of(&line.value) {
        Record::Meta(meta) => Some(meta),
        _ => None,
    });
    let meta = meta.unwrap_or(&Value::Null);
    let source_id = source_id(meta, file, lines);
    notes.set_conversation(&source_id);
    keys::META.report_lost(meta, "", notes);
    report_origin(meta, notes);
    // The lines that a subagent got from its caller.
    let inherited = fields::count(meta, "subagent_history_start_ordinal").unwrap_or_default();
    let is_own = |line: &&JsonLine| fields::count(&line.value, "ordinal").is_none_or(|ordinal| ordinal >= inherited);
    let mut rollout = Rollout::new(fields::text(meta, "model_provider"), notes);
    lines.iter().filter(is_own).for_each(|line| rollout.add(line));
    rollout.flush_reasoning();
    let Rollout { nodes, tip, title, notes, .. } = rollout;
    let (messages, current) = order_messages(nodes, tip.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_missing_files(&messages, notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        title: title.or_else(|| names.get(&source_id).cloned()).unwrap_or_default(),
        created_at: notes.date(meta, "timestamp", "").or(times().min()),
        updated_at: times().max(),
        source_id,
        current,
        messages,
        ..Conversation::default()
    })
}

/// Returns the id of the session: its own, else the one at the end of the file's name.
fn source_id(meta: &Value, file: &str, lines: &[JsonLine]) -> String {
    const UUID: usize = 36;
    let stem = file.strip_suffix(".jsonl").or_else(|| file.strip_suffix(".json")).unwrap_or(file);
    let named = stem.len().checked_sub(UUID).and_then(|at| stem.get(at..)).filter(|_| stem.starts_with("rollout-"));
    fields::id(meta, "id")
        .or_else(|| fields::id(meta, "session_id"))
        .or_else(|| named.map(str::to_owned))
        .unwrap_or_else(|| {
            let values: Vec<&Value> = lines.iter().map(|line| &line.value).take(8).collect();
            fields::content_id(&json!(values))
        })
}

/// Reports the relation of the session to other sessions.
fn report_origin(meta: &Value, notes: &mut ConversationNotes) {
    let word = |text: &str| printable(text, 60);
    if let Some(base) = meta.get("history_base").filter(|base| !base.is_null()) {
        let from = fields::first_text(base, &["thread_id", "id"]).map(word).unwrap_or_default();
        let text = format!("it continues the session {from}, which is a chat of its own: its beginning is not here");
        notes.add(IssueKind::Lost, "", text);
    } else if let Some(from) = fields::text(meta, "forked_from_id").map(word) {
        let text = format!("it is a fork of the session {from}: both chats have the messages before the fork");
        notes.add(IssueKind::PutRight, "", text);
    }
    let is_subagent = fields::text(meta, "thread_source") == Some("subagent")
        || meta.get("source").is_some_and(|source| source.get("subagent").is_some());
    if is_subagent {
        notes.add(IssueKind::PutRight, "", "it is the work of a subagent, imported as a chat of its own");
    }
}

/// The messages of a session while it is read.
struct Rollout<'n> {
    nodes: Vec<SourceNode>,
    node_of: HashMap<String, usize>,
    /// The last message of the current path.
    tip: Option<String>,
    /// The message that precedes each user turn of the current path.
    turns: Vec<Option<String>>,
    provider: Option<String>,
    model: Option<String>,
    calls: CallNames,
    /// Reasoning text of models that show it, which is in an event beside the item.
    shown_reasoning: Vec<String>,
    /// The id and the time of the first event of it.
    shown_from: Option<(String, SourceDate)>,
    /// The text of the last reasoning among the items.
    item_reasoning: String,
    /// The last message of the current response.
    last_reply: Option<usize>,
    total_usage: Value,
    title: Option<String>,
    notes: &'n mut ConversationNotes,
}

impl<'n> Rollout<'n> {
    fn new(provider: Option<&str>, notes: &'n mut ConversationNotes) -> Self {
        Self {
            nodes: Vec::new(),
            node_of: HashMap::new(),
            tip: None,
            turns: Vec::new(),
            provider: provider.map(str::to_owned),
            model: None,
            calls: CallNames::new(),
            shown_reasoning: Vec::new(),
            shown_from: None,
            item_reasoning: String::new(),
            last_reply: None,
            total_usage: Value::Null,
            title: None,
            notes,
        }
    }

    fn add(&mut self, line: &JsonLine) {
        let id = format!("line-{}", line.number);
        if line.value.get("payload").is_some() {
            keys::LINE.report_lost(&line.value, &id, self.notes);
        }
        let time = records::time_of(&line.value);
        if time == SourceDate::Implausible {
            self.notes.add(IssueKind::PutRight, &id, "an invalid date (timestamp) was skipped");
        }
        let nodes_before = self.nodes.len();
        match Record::of(&line.value) {
            Record::Item(item) => self.add_item(&id, item),
            Record::Event(event) => self.add_event(&id, time, event),
            Record::TurnContext(context) => {
                keys::TURN_CONTEXT.report_lost(context, &id, self.notes);
                self.model = fields::text(context, "model").map(str::to_owned).or_else(|| self.model.take());
            }
            Record::Compacted(summary) => {
                keys::COMPACTED.report_lost(summary, &id, self.notes);
                let mut message = empty_message(&id, Role::System);
                message.add_text(fields::text(summary, "message").unwrap_or_default());
                self.push(message);
            }
            Record::Unknown(kind) => self.report_unknown("lines", kind),
            Record::Meta(_) | Record::Ignored => {}
        }
        for node in &mut self.nodes[nodes_before..] {
            if let Some(message) = &mut node.message {
                message.created_at = message.created_at.or_else(|| time.valid_time());
            }
        }
    }

    fn report_unknown(&mut self, what: &str, kind: &str) {
        let kind = printable(kind, 60);
        self.notes.add(IssueKind::Lost, "", format!("{what} of type “{kind}” are not imported"));
    }

    /// Adds a message at the end of the current path, unless it is empty.
    fn push(&mut self, message: ImportedMessage) {
        if message.pieces.is_empty() && message.ending == MessageEnding::Complete {
            return;
        }
        let id = message.source_id.clone();
        let parent = self.tip.replace(id.clone());
        self.node_of.insert(id.clone(), self.nodes.len());
        self.nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
    }

    /// Adds a part of a response.
    fn push_reply(&mut self, mut message: ImportedMessage) {
        if message.pieces.is_empty() {
            return;
        }
        message.provider.clone_from(&self.provider);
        message.model.clone_from(&self.model);
        self.last_reply = Some(self.nodes.len());
        self.push(message);
    }

    fn add_item(&mut self, id: &str, item: &Value) {
        keys::ITEM.report_lost(item, id, self.notes);
        match fields::text(item, "type").unwrap_or_default() {
            "message" => self.add_message(id, item),
            "reasoning" => self.add_reasoning(id, item),
            // A message of another agent, which no user wrote.
            "agent_message" => self.add_note(id, item),
            "" if item.get("author").is_some() => self.add_note(id, item),
            kind => {
                let mut message = empty_message(id, Role::Assistant);
                let is_tool = items::add_tool_item(&mut message, item, &mut self.calls);
                if is_tool && kind.ends_with("_output") {
                    self.push(message);
                } else if is_tool {
                    self.push_reply(message);
                } else if !keys::IGNORED_ITEMS.contains(&kind) {
                    self.report_unknown("items", if kind.is_empty() { "none" } else { kind });
                }
            }
        }
    }

    fn add_message(&mut self, id: &str, item: &Value) {
        let content = item.get("content").unwrap_or(&Value::Null);
        let role = fields::text(item, "role").unwrap_or_default();
        if role == "assistant" {
            let mut message = empty_message(id, Role::Assistant);
            items::add_content(&mut message, content, self.notes);
            return self.push_reply(message);
        }
        if role == "user" && items::texts_of(content).any(contexts::is_interruption) {
            self.cancel();
        }
        if role != "user" || items::texts_of(content).any(contexts::is_context) {
            return self.notes.add(IssueKind::Lost, id, "text that Codex added for the model is not imported");
        }
        let mut message = empty_message(id, Role::User);
        items::add_content(&mut message, content, self.notes);
        if message.pieces.is_empty() {
            return;
        }
        self.flush_reasoning();
        if !items::texts_of(content).any(contexts::is_shell_command) {
            self.turns.push(self.tip.clone());
        }
        self.last_reply = None;
        self.push(message);
    }

    fn add_note(&mut self, id: &str, item: &Value) {
        let mut message = empty_message(id, Role::System);
        items::add_content(&mut message, item.get("content").unwrap_or(&Value::Null), self.notes);
        self.turns.push(self.tip.clone());
        self.push(message);
    }

    fn add_reasoning(&mut self, id: &str, item: &Value) {
        let mut message = empty_message(id, Role::Assistant);
        let shown = std::mem::take(&mut self.shown_reasoning).join("\n\n");
        self.shown_from = None;
        let text = items::reasoning_text(item);
        match (text.trim().is_empty(), shown.is_empty()) {
            (false, is_alone) => {
                message.add_reasoning(&text);
                if !is_alone && !text.contains(&shown) {
                    self.notes.add(IssueKind::Lost, id, "reasoning beside its summary is not imported");
                }
            }
            (true, false) => message.add_reasoning(&shown),
            (true, true) => self.notes.add(IssueKind::Lost, id, items::ENCRYPTED),
        }
        self.item_reasoning = text;
        self.push_reply(message);
    }

    /// Adds the shown reasoning that no item followed, unless the item before it has its words.
    fn flush_reasoning(&mut self) {
        let shown = std::mem::take(&mut self.shown_reasoning).join("\n\n");
        let Some((id, time)) = self.shown_from.take() else { return };
        if !self.item_reasoning.contains(shown.trim()) {
            let mut message = empty_message(&id, Role::Assistant);
            message.created_at = time.valid_time();
            message.add_reasoning(&shown);
            self.push_reply(message);
        }
    }

    fn add_event(&mut self, id: &str, time: SourceDate, event: &Value) {
        let kind = fields::text(event, "type").unwrap_or("none");
        if keys::IGNORED_EVENTS.contains(&kind) {
            return;
        }
        let text_of = |name: &str| fields::text(event, name).map(str::to_owned);
        match kind {
            "token_count" => self.add_usage(event.get("info").unwrap_or(&Value::Null)),
            "turn_aborted" => self.cancel(),
            "thread_rolled_back" => self.roll_back(fields::count(event, "num_turns").unwrap_or_default()),
            "thread_name_updated" => self.title = text_of("thread_name").or_else(|| self.title.take()),
            "agent_reasoning_raw_content" => {
                self.shown_reasoning.extend(text_of("text"));
                self.shown_from.get_or_insert_with(|| (id.to_owned(), time));
            }
            "task_complete" | "turn_complete" => {
                if let Some(reason) = event.get("error").and_then(|error| fields::text(error, "message")) {
                    self.fail(id, reason);
                }
            }
            "error" => self.fail(id, fields::text(event, "message").unwrap_or_default()),
            "item_completed" => self.add_plan(id, event.get("item").unwrap_or(&Value::Null)),
            "warning" | "guardian_warning" | "stream_error" | "deprecation_notice" => {
                self.notes.add(IssueKind::Lost, id, "notices of Codex are not imported");
            }
            other => return self.report_unknown("events", other),
        }
        keys::EVENT.report_lost(event, id, self.notes);
    }

    /// Adds the tokens of a response; the event comes again when nothing but a limit changed.
    fn add_usage(&mut self, info: &Value) {
        let total = info.get("total_token_usage").cloned().unwrap_or_default();
        if total.is_null() || total == self.total_usage {
            return;
        }
        self.total_usage = total;
        let last = info.get("last_token_usage").unwrap_or(&Value::Null);
        let usage = Usage {
            input_tokens: fields::count(last, "input_tokens"),
            output_tokens: fields::count(last, "output_tokens"),
            cache_read_tokens: fields::count(last, "cached_input_tokens"),
            cache_write_tokens: fields::count(last, "cache_write_input_tokens"),
            reasoning_tokens: fields::count(last, "reasoning_output_tokens"),
        };
        let message = self.last_reply.and_then(|at| self.nodes[at].message.as_mut());
        if let Some(message) = message {
            message.usage = message.usage + usage;
        }
    }

    /// Marks the current response as stopped by the user.
    fn cancel(&mut self) {
        self.flush_reasoning();
        if let Some(message) = self.tip_reply() {
            message.ending = MessageEnding::Cancelled;
        }
    }

    /// Marks the current response as failed.
    fn fail(&mut self, id: &str, reason: &str) {
        self.flush_reasoning();
        if let Some(message) = self.tip_reply() {
            return message.add_failure(reason);
        }
        let mut message = empty_message(id, Role::Assistant);
        message.provider.clone_from(&self.provider);
        message.model.clone_from(&self.model);
        message.add_failure(reason);
        self.push(message);
    }

    fn tip_reply(&mut self) -> Option<&mut ImportedMessage> {
        let at = self.tip.as_ref().and_then(|tip| self.node_of.get(tip))?;
        self.nodes[*at].message.as_mut().filter(|message| message.role == Role::Assistant)
    }

    /// Rolls the last turns back: later messages begin a branch where the first of them began.
    fn roll_back(&mut self, count: u64) {
        self.flush_reasoning();
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.turns.len());
        let mut taken = self.turns.split_off(self.turns.len() - count);
        if !taken.is_empty() {
            self.tip = taken.swap_remove(0);
        }
        self.last_reply = None;
    }

    /// Adds a plan, which is not among the items. Other completed items repeat them.
    fn add_plan(&mut self, id: &str, item: &Value) {
        if fields::text(item, "type") != Some("Plan") {
            return;
        }
        let plan = fields::text(item, "text").unwrap_or_default();
        let is_said = self.tip_reply().is_some_and(|message| {
            message
                .pieces
                .iter()
                .any(|piece| matches!(&piece.body, PieceBody::Text(text) if text.contains(plan.trim())))
        });
        if !is_said {
            let mut message = empty_message(id, Role::Assistant);
            message.add_text(plan);
            self.push_reply(message);
        }
    }
}
