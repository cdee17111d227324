//! Reader for Grok's data export: `prod-grok-backend.json` alone, or the archive with it.
//!
//! xAI publishes no definition. Derived from public readers of the export:
//! - `portable-ai-memory/portable-ai-memory`, `importer-mappings.md`: archive, wrappers, members of a response, the
//!   several senders, citations, assets
//! - `V0raOnline/MemorIA2GO`, `providers/grok_adapter.py`: members of a conversation, `leaf_response_id`, assets
//! - `Sinity/polylogue`, `polylogue/sources/parsers/grok.py`: responses with and without their wrapper, the forms of
//!   dates
//!
//! Confirmed by several of them: `conversations` of `conversation` and `responses`, each response within `response`,
//! `parent_response_id`, `sender` as `human`, `assistant`, `ASSISTANT` or the name of a model, dates as
//! `{"$date": {"$numberLong": …}}`, `thinking_trace` with calls as `<xai:tool_usage_card>`, `steps` with `tagged_text`
//! and `tool_usage_results`, `file_attachments` as ids of `prod-mc-asset-server/ID/content`. Inferred: without any
//! parent the responses follow each other; a step's `header` is the title of the `summary` after it; `query` is the
//! message of a response without one; `<grok:render card_id="…">` stands where the card with that id is shown.
//!
//! Hand-written samples for the tests follow these definitions: `samples/grok/`.

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessageEnding};
use crate::domain::turns::turn::Role;
use crate::input::{Input, InputPart};
use crate::reading::fields::{self, first_text, is_set, list, printable, text};
use crate::reading::message_builder::{self, empty_message};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};
use assets::ExportedAssets;

mod assets;
mod cards;
mod keys;
mod response;
mod sources;
mod steps;
mod unread;

/// The file with the conversations.
const BACKEND: &str = "prod-grok-backend.json";

/// Returns whether the value is a conversation of Grok.
pub(crate) fn is_conversation(value: &Value) -> bool {
    value.get("conversation").is_some_and(Value::is_object) && value.get("responses").is_some_and(Value::is_array)
}

/// Reads an export.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let assets = ExportedAssets::from_parts(&input.parts());
    let is_archive = input.is_archive();
    let has_backend = input.parts().all().iter().any(|part| part.base_name() == BACKEND);
    let is_chats = move |part: &InputPart| match is_archive {
        true if has_backend => part.base_name() == BACKEND,
        true => part.base_name().to_ascii_lowercase().ends_with(".json"),
        false => true,
    };
    unread::report(input, taker, &is_chats)?;
    read_parts(input, taker, &["conversations"], &is_chats, &mut |value, notes| conversation(value, &assets, notes))
}

/// Reads one conversation.
fn conversation(value: &Value, assets: &ExportedAssets, notes: &mut ConversationNotes) -> Option<Conversation> {
    let head = value.get("conversation").unwrap_or(&Value::Null);
    let source_id = fields::id(head, "id").unwrap_or_else(|| fields::content_id(value));
    notes.set_conversation(&source_id);
    if !is_conversation(value) {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation of Grok");
        return None;
    }
    let nodes = nodes(list(value, "responses"), assets, notes);
    let current = fields::id(head, "leaf_response_id");
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    keys::WRAPPER.report_lost(value, "", notes);
    keys::CONVERSATION.report_lost(head, "", notes);
    let persona = text(head, "system_prompt_name").filter(|name| !name.eq_ignore_ascii_case("default"));
    if let Some(persona) = persona {
        let persona = printable(persona, 80);
        notes.add(IssueKind::Lost, "", format!("the instructions of the persona {persona} are not in the export"));
    }
    message_builder::report_missing_files(&messages, notes);
    Some(Conversation {
        source_id,
        title: text(head, "title").unwrap_or_default().to_owned(),
        created_at: notes.date(head, "create_time", ""),
        updated_at: notes.date(head, "modify_time", ""),
        is_pinned: is_set(head, "starred"),
        messages,
        current,
        ..Conversation::default()
    })
}

/// Reads the responses as a tree; without any parents they are a list.
fn nodes(responses: &[Value], assets: &ExportedAssets, notes: &mut ConversationNotes) -> Vec<SourceNode> {
    let is_tree = responses.iter().any(|entry| fields::id(unwrapped(entry), "parent_response_id").is_some());
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(responses.len());
    for (at, entry) in responses.iter().enumerate() {
        let response = unwrapped(entry);
        let id = fields::id(response, "_id").or_else(|| fields::id(response, "response_id"));
        let id = id.unwrap_or_else(|| format!("response-{}", at + 1));
        if !response.is_object() {
            notes.add_not_an_object(&id);
            continue;
        }
        if entry.get("response").is_some() {
            keys::ENTRY.report_lost(entry, &id, notes);
        }
        let before = nodes.last().map(|node| node.id.clone());
        let parent = if is_tree { fields::id(response, "parent_response_id") } else { before };
        let message = message(response, &id, assets, notes);
        nodes.push(SourceNode { id, parent, children: Vec::new(), message });
    }
    nodes
}

fn unwrapped(entry: &Value) -> &Value {
    entry.get("response").unwrap_or(entry)
}

fn message(
    response: &Value,
    id: &str,
    assets: &ExportedAssets,
    notes: &mut ConversationNotes,
) -> Option<ImportedMessage> {
    keys::RESPONSE.report_lost(response, id, notes);
    if is_set(response, "is_control") {
        notes.add(IssueKind::Lost, id, "hidden messages are not imported");
        return None;
    }
    let sender = text(response, "sender").unwrap_or_default().to_ascii_lowercase();
    let role = match sender.as_str() {
        "human" | "user" => Role::User,
        "system" => Role::System,
        // Grok's own name, or that of a model.
        _ => Role::Assistant,
    };
    let mut message = empty_message(id, role);
    message.created_at = notes.date(response, "create_time", id);
    if role == Role::Assistant {
        message.provider = Some("xai".to_owned());
        let metadata = response.get("metadata").and_then(|metadata| metadata.get("request_metadata"));
        let resolved = metadata.or(response.get("request_metadata"));
        let resolved = resolved.and_then(|request| first_text(request, &["resolved_model", "model"]));
        message.model = text(response, "model").or(resolved).map(str::to_owned);
    }
    response::add(&mut message, response, assets, notes);
    let has_failed = matches!(message.ending, MessageEnding::Failed(_));
    (has_failed || !message.pieces.is_empty()).then_some(message)
}

#[cfg(test)]
mod tests;
