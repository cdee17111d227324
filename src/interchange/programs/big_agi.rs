//! Reader for big-AGI exports: one conversation, or a backup with all of them.
//!
//! Confirmed by the product's source (repository `enricoros/big-AGI`):
//! - both files: `src/modules/trade/trade.client.ts`, and `DataAtRestV1` in
//!   `src/common/stores/chat/chats.converters.ts` (`{conversations, models, folders}` and the single conversation),
//!   with messages before May 2024 (`text`);
//! - a conversation: `src/common/stores/chat/chat.conversation.ts`; a message: `chat.message.ts`; its fragments and
//!   parts: `chat.fragments.ts`; metrics: `src/common/stores/metrics/metrics.chatgenerate.ts`;
//! - providers: `src/modules/llms/vendors/vendors.registry.ts`.
//!
//! A backup also contains the user's services with their API keys, so the reader looks only at conversations.
//!
//! Inferred: citation ranges count UTF-16 units of the reply's text if it has a single text (the product does not
//! display them); a reply ended after its measured duration; a placeholder at the end is an unfinished reply (the
//! product turns it into an error on loading). Conversations are linear: what the product calls a branch is a copy.
//! The instructions of a persona are present only if the conversation began with them.
//!
//! Hand-written samples for the tests follow these definitions: `samples/big_agi/`.

use std::collections::HashMap;

use chrono::TimeDelta;
use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessageEnding};
use crate::domain::turns::turn::Role;
use crate::input::Input;
use crate::reading::export_entries::candidate_filter;
use crate::reading::fields::{content_id, count, first_text, id, is_set, list, printable, text};
use crate::reading::message_builder::{self, FAILED_IN_SOURCE};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{SourceNode, order_messages};
use crate::reading::unique_ids::UniqueIds;
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};

mod folders;
mod fragments;
mod keys;

/// Returns whether the value is a conversation of big-AGI.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let has_member = |name: &str| value.get(name).is_some();
    let Some(Value::Array(messages)) = value.get("messages") else { return false };
    let is_message = |message: &Value| message.get("fragments").is_some_and(Value::is_array);
    has_member("systemPurposeId") || (!has_member("conversationId") && messages.iter().any(is_message))
}

/// Reads all files.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let may_hold_chats = candidate_filter(input);
    let folders = folders::titles_by_conversation(input);
    read_parts(input, taker, &["conversations"], &may_hold_chats, &mut |value, notes| {
        let conversation = conversation(value, notes)?;
        if let Some(folder) = folders.get(&conversation.source_id) {
            notes.add(IssueKind::Lost, "", format!("it is in the folder “{folder}”; folders are not imported"));
        }
        Some(conversation)
    })
}

/// Reads one conversation.
pub(crate) fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    if !is_conversation(value) {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation of big-AGI");
        return None;
    }
    let source_id = id(value, "id").unwrap_or_else(|| content_id(value));
    notes.set_conversation(&source_id);
    let mut nodes: Vec<SourceNode> = Vec::new();
    let mut names = UniqueIds::default();
    let mut first: HashMap<String, &Value> = HashMap::new();
    for (at, entry) in list(value, "messages").iter().enumerate() {
        let id = id(entry, "id").unwrap_or_else(|| format!("{source_id}/{at}"));
        if !entry.is_object() {
            notes.add_not_a_message(&id);
            continue;
        }
        let before = *first.entry(id.clone()).or_insert(entry);
        let is_same = |name: &str| before.get(name) == entry.get(name);
        if !std::ptr::eq(before, entry) && ["role", "text", "fragments"].into_iter().all(is_same) {
            notes.add_repeated_message(&id);
            continue;
        }
        // Messages are linear: each follows the one before it.
        let (id, _) = names.assign_to_message(id, notes);
        let parent = nodes.last().map(|node| node.id.clone());
        let message = Some(message(entry, &id, notes));
        nodes.push(SourceNode { id, parent, children: Vec::new(), message });
    }
    let last = nodes.last().map(|node| node.id.clone());
    let (messages, current) = order_messages(nodes, last.as_deref(), notes);
    let (system_prompt, messages, current) = message_builder::split_system_prompt(messages, current);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    if system_prompt.is_empty() {
        report_persona(value, notes);
    }
    keys::CONVERSATION.report_lost(value, "", notes);
    message_builder::report_missing_files(&messages, notes);
    let times = || messages.iter().filter_map(|message| message.created_at);
    Some(Conversation {
        source_id,
        title: first_text(value, &["userTitle", "autoTitle"]).unwrap_or_default().to_owned(),
        system_prompt,
        created_at: notes.date(value, "created", "").or_else(|| times().min()),
        updated_at: notes.date(value, "updated", "").or_else(|| times().max()),
        model: None,
        current,
        is_pinned: false,
        is_archived: is_set(value, "isArchived"),
        messages,
    })
}

/// Reports a persona that the file names without its instructions.
fn report_persona(value: &Value, notes: &mut ConversationNotes) {
    if let Some(persona) = text(value, "systemPurposeId").filter(|persona| !matches!(*persona, "Generic" | "Custom")) {
        let persona = printable(persona, 80);
        notes.add(IssueKind::Lost, "", format!("the instructions of the persona {persona} are not in the export"));
    }
}

fn message(value: &Value, id: &str, notes: &mut ConversationNotes) -> ImportedMessage {
    let role = match text(value, "role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => {
            notes.add(IssueKind::PutRight, id, "its author is unknown: imported as the user's");
            Role::User
        }
    };
    keys::MESSAGE.report_lost(value, id, notes);
    keys::METADATA.report_lost(value.get("metadata").unwrap_or(&Value::Null), id, notes);
    keys::GENERATOR.report_lost(value.get("generator").unwrap_or(&Value::Null), id, notes);
    let mut message = message_builder::empty_message(id, role);
    message.created_at = notes.date(value, "created", id);
    if role == Role::Assistant {
        add_generation(&mut message, value);
    }
    let quotes = value.get("metadata").map(quoted_text).unwrap_or_default();
    if !quotes.is_empty() {
        notes.add(IssueKind::PutRight, id, message_builder::QUOTE_BEFORE_TEXT);
        message.add_text(&quotes);
    }
    match value.get("fragments") {
        Some(Value::Array(all)) => fragments::add(&mut message, all, notes),
        _ => message.add_text(text(value, "text").unwrap_or_default()),
    }
    let stopped = value.get("generator").and_then(|generator| text(generator, "tokenStopReason"));
    match (stopped, &message.ending) {
        (Some("client-abort"), MessageEnding::Complete) => message.ending = MessageEnding::Cancelled,
        (Some("issue"), MessageEnding::Complete) => message.add_failure(FAILED_IN_SOURCE),
        (Some("filter"), MessageEnding::Complete) => message.add_failure("The provider stopped this reply."),
        _ => {}
    }
    if list(value, "userFlags").iter().any(|flag| flag.as_str() == Some("starred")) {
        notes.add(IssueKind::Lost, id, "stars on messages are not imported");
    }
    message
}

/// Returns the passages that the user selected to reply to, as quotes.
fn quoted_text(metadata: &Value) -> String {
    let picked = list(metadata, "inReferenceTo").iter().filter_map(|item| text(item, "mText"));
    let quotes: Vec<String> = picked.chain(text(metadata, "inReplyToText")).map(message_builder::as_quote).collect();
    quotes.join("\n\n")
}

/// Reads the model and the token usage.
fn add_generation(message: &mut ImportedMessage, value: &Value) {
    let generator = value.get("generator").unwrap_or(&Value::Null);
    let aix = generator.get("aix").unwrap_or(&Value::Null);
    message.provider = text(aix, "vId").map(provider);
    message.model = first_text(generator, &["name"])
        .or_else(|| text(aix, "mId"))
        .or_else(|| text(value, "originLLM"))
        // These names mark notices of the program itself.
        .filter(|name| !matches!(*name, "web" | "issue" | "help"))
        .map(str::to_owned);
    let metrics = generator.get("metrics").unwrap_or(&Value::Null);
    let (read, cached, put) = (count(metrics, "TIn"), count(metrics, "TCacheRead"), count(metrics, "TCacheWrite"));
    let usage = &mut message.usage;
    (usage.cache_read_tokens, usage.cache_write_tokens) = (cached, put);
    usage.output_tokens = count(metrics, "TOut");
    usage.reasoning_tokens = count(metrics, "TOutR");
    usage.input_tokens =
        [read, cached, put].into_iter().flatten().reduce(u64::saturating_add).filter(|_| read.is_some());
    let took = metrics.get("dtAll").and_then(Value::as_f64).filter(|ms| (0.0..1e10).contains(ms));
    message.ended_at = message
        .created_at
        .zip(took)
        .and_then(|(begun, ms)| begun.checked_add_signed(TimeDelta::milliseconds(ms.round() as i64)));
}

fn provider(vendor: &str) -> String {
    match vendor {
        "googleai" => "google".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests;
