//! Makes a conversation of a topic of Cherry Studio.

use std::collections::HashMap;

use chrono::TimeDelta;
use serde_json::Value;

use super::blocks::{self, MessageFiles};
use super::store::PersistedStore;
use super::{keys, legacy};
use crate::conversation::{Conversation, ImportedMessage, MessageEnding};
use crate::domain::turns::turn::Role;
use crate::input::InputParts;
use crate::reading::fields::{as_id, content_id, count, id, is_set, list, text};
use crate::reading::message_builder::{self, FAILED_IN_SOURCE, empty_message};
use crate::reading::notes::ConversationNotes;
use crate::reading::table_spool::{RowBudget, TableSpool};
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;
use crate::sink::ImportError;

/// The context that all chats of a backup share.
pub(super) struct ChatContext<'a> {
    pub(super) store: &'a PersistedStore,
    pub(super) parts: &'a InputParts,
    /// The folder of `data.json` in the archive, empty or with a slash at its end.
    pub(super) folder: &'a str,
}

/// Builds the conversation of a topic; `None` if it has no messages.
///
/// # Errors
/// The blocks of its messages cannot be read back.
pub(super) fn conversation(
    topic: &Value,
    context: &ChatContext<'_>,
    blocks: &mut TableSpool,
    notes: &mut ConversationNotes,
) -> Result<Option<Conversation>, ImportError> {
    let source_id = id(topic, "id").unwrap_or_else(|| content_id(topic));
    notes.set_conversation(&source_id);
    keys::TOPIC_ROW.report_lost(topic, "", notes);
    let rows = list(topic, "messages");
    let mut budget = RowBudget::default();
    let mut reader = TopicReader { context, blocks, budget: &mut budget, notes };
    let (nodes, current) = reader.link_messages(rows)?;
    notes.add_messages_too_large(budget.left_out);
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return Ok(None);
    }
    message_builder::report_missing_files(&messages, notes);
    let (row, assistant) = context.store.topic(&source_id);
    let assistant = match rows.iter().find_map(|row| text(row, "assistantId")).filter(|_| assistant.is_null()) {
        Some(id) => context.store.assistant(id),
        None => assistant,
    };
    keys::TOPIC.report_lost(row, "", notes);
    report_assistant(assistant, notes);
    // The prompt of a topic is appended to that of its assistant.
    let prompts = [text(assistant, "prompt"), text(row, "prompt")];
    let model = ["model", "defaultModel"].into_iter().find_map(|name| text(assistant.get(name)?, "id"));
    let times = || messages.iter().filter_map(|message| message.created_at);
    let (first, last) = (times().min(), times().max());
    Ok(Some(Conversation {
        source_id,
        title: text(row, "name").unwrap_or_default().to_owned(),
        system_prompt: prompts.into_iter().flatten().collect::<Vec<_>>().join("\n"),
        created_at: notes.date(row, "createdAt", "").or(first),
        updated_at: notes.date(row, "updatedAt", "").or(last),
        model: model.map(str::to_owned),
        is_pinned: is_set(row, "pinned"),
        current,
        messages,
        ..Conversation::default()
    }))
}

/// Reports the parts of an assistant that are not imported. Its instructions and its model are imported.
fn report_assistant(assistant: &Value, notes: &mut ConversationNotes) {
    keys::ASSISTANT.report_lost(assistant, "", notes);
    if let Some(name) = text(assistant, "name") {
        notes.add_assistant(name);
    }
    let settings = assistant.get("settings").unwrap_or(&Value::Null);
    keys::SETTINGS.report_lost(settings, "", notes);
    let is_on = |flag: &str, usually: bool| settings.get(flag).and_then(Value::as_bool).unwrap_or(usually);
    let names = [
        ("temperature", is_on("enableTemperature", true)),
        ("topP", is_on("enableTopP", true)),
        ("maxTokens", is_on("enableMaxTokens", false)),
        ("reasoning_effort", true),
        ("customParameters", !list(settings, "customParameters").is_empty()),
    ];
    let is_given = |(name, is_on): &(&str, bool)| *is_on && settings.get(*name).is_some_and(|value| !value.is_null());
    let names: Vec<&str> = names.into_iter().filter(is_given).map(|(name, _)| name).collect();
    if !names.is_empty() {
        notes.add(IssueKind::Lost, "", format!("its model parameters are not imported ({})", names.join(", ")));
    }
}

/// Reads the messages of a topic with their blocks.
struct TopicReader<'a, 'c> {
    context: &'a ChatContext<'c>,
    blocks: &'a mut TableSpool,
    budget: &'a mut RowBudget,
    notes: &'a mut ConversationNotes,
}

impl TopicReader<'_, '_> {
    /// Returns the nodes of the tree, and the id of the message that is shown last. Messages follow each other, except
    /// for the replies to the same question, which are versions.
    fn link_messages(&mut self, rows: &[Value]) -> Result<(Vec<SourceNode>, Option<String>), ImportError> {
        let shown = shown_replies(rows);
        // The parent of the replies to each question.
        let mut parents: HashMap<&str, Option<String>> = HashMap::new();
        let mut tip: Option<String> = None;
        let mut nodes = Vec::with_capacity(rows.len());
        for (at, row) in rows.iter().enumerate() {
            let id = id(row, "id").unwrap_or_else(|| content_id(row));
            if !row.is_object() {
                self.notes.add_not_a_message(&id);
                continue;
            }
            if text(row, "type") == Some("clear") {
                self.notes.add(IssueKind::PutRight, &id, "a mark that cleared the context was skipped");
                continue;
            }
            let question = question(row);
            let parent = match question {
                Some(question) => parents.entry(question).or_insert_with(|| tip.clone()).clone(),
                None => tip.clone(),
            };
            let message = self.message(row, &id)?;
            if question.is_none_or(|question| shown.get(question) == Some(&at)) {
                tip = Some(id.clone());
            }
            nodes.push(SourceNode { id, parent, children: Vec::new(), message: Some(message) });
        }
        Ok((nodes, tip))
    }

    fn message(&mut self, row: &Value, id: &str) -> Result<ImportedMessage, ImportError> {
        let role = self.notes.role(text(row, "role").unwrap_or_default(), &[], id);
        keys::MESSAGE.report_lost(row, id, self.notes);
        let mut message = empty_message(id, role);
        message.created_at = self.notes.date(row, "createdAt", id);
        if role == Role::Assistant {
            add_generation(&mut message, row);
        }
        let files = MessageFiles { parts: self.context.parts, folder: self.context.folder };
        for block in self.blocks_of(row, id)? {
            blocks::add(&mut message, &block, &files, self.notes);
        }
        match (text(row, "status"), &message.ending) {
            (Some("paused"), MessageEnding::Complete | MessageEnding::Failed(_)) => {
                message.ending = MessageEnding::Cancelled;
            }
            (Some("error"), MessageEnding::Complete) => message.add_failure(FAILED_IN_SOURCE),
            (Some("processing" | "pending" | "searching" | "sending"), MessageEnding::Complete)
                if role == Role::Assistant =>
            {
                message.add_failure("The reply is incomplete.");
            }
            _ => {}
        }
        Ok(message)
    }

    /// Returns the blocks of a message in the order in which it lists them.
    fn blocks_of(&mut self, row: &Value, id: &str) -> Result<Vec<Value>, ImportError> {
        if !row.get("blocks").is_some_and(Value::is_array) {
            return Ok(legacy::blocks(row, id, self.notes));
        }
        let mut unlisted = 0;
        let mut by_id: HashMap<String, Value> = HashMap::new();
        for block in self.blocks.rows(blocks::TABLE, id, self.budget)? {
            let is_dropped = match self::id(&block, "id") {
                Some(id) => by_id.insert(id, block).is_some(),
                None => true,
            };
            unlisted += usize::from(is_dropped);
        }
        let listed: Vec<String> = list(row, "blocks").iter().filter_map(as_id).collect();
        let mut blocks = Vec::with_capacity(listed.len());
        for block in &listed {
            match by_id.remove(block) {
                Some(block) => blocks.push(block),
                None => self.notes.add(IssueKind::Lost, id, "a block of a message is not in the backup"),
            }
        }
        for _ in 0..unlisted + by_id.len() {
            self.notes.add(IssueKind::Lost, id, "a block that its message does not list is not imported");
        }
        Ok(blocks)
    }
}

/// Returns the question of a reply.
fn question(row: &Value) -> Option<&str> {
    text(row, "askId").filter(|_| text(row, "role") == Some("assistant"))
}

/// Returns the index of the reply that is shown for each question: the chosen one, else the first.
fn shown_replies(rows: &[Value]) -> HashMap<&str, usize> {
    let rank = |row: &Value| (is_set(row, "useful"), is_set(row, "foldSelected"));
    let mut shown: HashMap<&str, usize> = HashMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| text(row, "type") != Some("clear")) {
        let Some(question) = question(row) else { continue };
        let best = shown.entry(question).or_insert(at);
        if rank(row) > rank(&rows[*best]) {
            *best = at;
        }
    }
    shown
}

/// Reads the model, the tokens and the time of a reply.
fn add_generation(message: &mut ImportedMessage, row: &Value) {
    let model = row.get("model").unwrap_or(&Value::Null);
    message.model = text(model, "id").or_else(|| text(row, "modelId")).map(str::to_owned);
    message.provider = text(model, "provider").and_then(provider);
    let usage = row.get("usage").unwrap_or(&Value::Null);
    let first = |names: [&str; 2]| names.into_iter().find_map(|name| count(usage, name));
    message.usage.input_tokens = first(["prompt_tokens", "inputTokens"]);
    message.usage.output_tokens = first(["completion_tokens", "outputTokens"]);
    message.usage.reasoning_tokens = first(["thoughts_tokens", "reasoningTokens"]);
    let took = row.get("metrics").and_then(|metrics| metrics.get("time_completion_millsec")?.as_f64());
    let took = took.filter(|ms| (1.0..1e10).contains(ms));
    message.ended_at = message
        .created_at
        .zip(took)
        .and_then(|(begun, ms)| begun.checked_add_signed(TimeDelta::milliseconds(ms.round() as i64)));
}

/// Returns Turnleaf's name of a provider; `None` for the id of one that the user added.
fn provider(name: &str) -> Option<String> {
    match name {
        "gemini" => Some("google".to_owned()),
        "azure-openai" => Some("azure".to_owned()),
        id if uuid::Uuid::try_parse(id).is_ok() => None,
        other => Some(other.to_owned()),
    }
}
