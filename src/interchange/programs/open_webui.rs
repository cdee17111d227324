//! Reader for Open WebUI's export of chats: all chats of a user, one chat, or an administrator's export of all users.
//!
//! Derived from the product's source:
//! - `open-webui/open-webui`, `backend/open_webui/models/chats.py`: `ChatModel`, `ChatResponse`, `ChatImportForm`
//!   (the row of a chat), how the product repairs a broken `currentId`
//! - `open-webui/open-webui`, `backend/open_webui/utils/middleware.py`: `serialize_output` (the items of `output` and
//!   their HTML) and its predecessor `serialize_content_blocks` (the `<details>` of older messages)
//! - `danny-avila/LibreChat` pull request 13802: an importer's description of exports with `output`
//!
//! Confirmed: `chat.history.messages` with `parentId` and `childrenIds`, `currentId`; the items `message`,
//! `reasoning`, `function_call`, `function_call_output`, `open_webui:code_interpreter`; the attributes of
//! `<details>`. Inferred: `output` takes precedence over `content` that was rendered from it, and `content` over
//! `output` where its user edited it (see `edits`); the members of `sources`, `files`, `usage` and `error`, which are read where they exist, as the product's page
//! stores them.
//!
//! Samples: `samples/open_webui`, hand-written after those functions.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece};
use crate::domain::turns::turn::Role;
use crate::input::{Input, InputPart};
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{self, SourceNode};
use crate::reading::{fields, message_builder};
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};

mod content;
mod details;
mod edits;
mod keys;
mod output;
mod usage;

/// Returns whether the value is a chat of Open WebUI: a row that contains `chat`, or the chat alone.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let chat = value.get("chat").unwrap_or(value);
    let history = chat.get("history").and_then(|history| history.get("messages"));
    history.is_some_and(Value::is_object)
        || (value.get("chat").is_some() && chat.get("messages").is_some_and(Value::is_array))
}

/// Reads an export.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let is_archive = input.is_archive();
    let is_chats = |part: &InputPart| !is_archive || part.base_name().to_ascii_lowercase().ends_with(".json");
    let mut first_user: Option<String> = None;
    read_parts(input, taker, &["chats", "items", "data"], &is_chats, &mut |value, notes| {
        let conversation = conversation(value, notes)?;
        // An administrator's export contains the chats of all users.
        if let Some(user) = fields::id(value, "user_id")
            && *first_user.get_or_insert_with(|| user.clone()) != user
        {
            notes.add(
                IssueKind::Lost,
                "",
                "it belongs to a different user than the first chat of the file; the owner is not imported",
            );
        }
        Some(conversation)
    })
}

/// Reads one chat.
fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    let chat = value.get("chat").filter(|chat| chat.is_object()).unwrap_or(value);
    let source_id = fields::id(value, "id").or_else(|| fields::id(chat, "id")).filter(|id| !id.is_empty());
    let source_id = source_id.unwrap_or_else(|| fields::content_id(value));
    notes.set_conversation(&source_id);
    let null = Value::Null;
    let history = chat.get("history").unwrap_or(&null);
    let nodes: Vec<MessageNode> = match history.get("messages") {
        Some(Value::Object(messages)) if !messages.is_empty() => {
            messages.iter().map(|(id, message)| node(id.clone(), message, None, notes)).collect::<Vec<_>>()
        }
        // Older chats store a list instead of a tree.
        _ => {
            let messages = fields::list(chat, "messages");
            if !is_conversation(value) && messages.is_empty() {
                notes.add(IssueKind::LeftOut, "", "it is not a chat: it has no messages (chat.history.messages)");
                return None;
            }
            nodes_of_list(messages, notes)
        }
    };
    let nodes = with_earlier_wordings(nodes);
    let current = fields::id(history, "currentId").or_else(|| fields::id(value, "current_message_id"));
    let (messages, current) = tree::order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    report_lost(value, chat, notes);
    let params = chat.get("params").unwrap_or(&null);
    let system = fields::text(params, "system").or_else(|| fields::text(chat, "system"));
    let mut date = |names: [&str; 2]| {
        let row = notes.date(value, names[0], "");
        row.or_else(|| notes.date(chat, names[1], ""))
    };
    Some(Conversation {
        source_id,
        title: fields::text(value, "title").or_else(|| fields::text(chat, "title")).unwrap_or_default().to_owned(),
        system_prompt: system.unwrap_or_default().to_owned(),
        created_at: date(["created_at", "timestamp"]),
        updated_at: date(["updated_at", "updatedAt"]),
        model: None,
        messages,
        current,
        is_pinned: fields::is_set(value, "pinned"),
        is_archived: fields::is_set(value, "archived"),
    })
}

/// Reports chat metadata that Turnleaf cannot store.
fn report_lost(value: &Value, chat: &Value, notes: &mut ConversationNotes) {
    if value.get("chat").is_some() {
        keys::ROW.report_lost(value, "", notes);
    }
    keys::CHAT.report_lost(chat, "", notes);
    keys::HISTORY.report_lost(chat.get("history").unwrap_or(&Value::Null), "", notes);
    message_builder::report_parameters(chat.get("params").unwrap_or(&Value::Null), &["system"], notes);
    let tags = value.get("meta").map(|meta| fields::list(meta, "tags")).unwrap_or_default();
    if !tags.is_empty() || !fields::list(chat, "tags").is_empty() {
        notes.add(IssueKind::Lost, "", "its tags are not imported");
    }
    if fields::text(value, "folder_id").is_some() {
        notes.add(IssueKind::Lost, "", "its folder is not imported");
    }
    if !fields::list(chat, "files").is_empty() {
        notes.add(IssueKind::Lost, "", "the files attached to the chat are not in the export");
    }
}

/// Reads a list of messages; each follows the one before it unless it names another parent.
fn nodes_of_list(messages: &[Value], notes: &mut ConversationNotes) -> Vec<MessageNode> {
    let mut nodes: Vec<MessageNode> = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        let id = fields::id(message, "id").unwrap_or_else(|| format!("message-{}", at + 1));
        let before = nodes.last().map(|of| of.node.id.clone());
        nodes.push(node(id, message, before, notes));
    }
    nodes
}

/// A message with its earlier wordings.
struct MessageNode {
    node: SourceNode,
    earlier: Vec<ImportedMessage>,
}

/// Places the earlier wordings of edited replies as versions before them, unless another version has the same content.
fn with_earlier_wordings(nodes: Vec<MessageNode>) -> Vec<SourceNode> {
    let words = |message: &ImportedMessage| edits::words_of(&message.pieces);
    let mut said: HashSet<(Option<String>, String)> = HashSet::new();
    if nodes.iter().any(|of| !of.earlier.is_empty()) {
        let shown = nodes.iter().filter_map(|of| Some((of.node.parent.clone(), words(of.node.message.as_ref()?))));
        said.extend(shown);
    }
    // The versions of each message, by its id.
    let mut versions: HashMap<String, Vec<String>> = HashMap::new();
    let mut all = Vec::with_capacity(nodes.len());
    for MessageNode { node, earlier } in nodes {
        for (number, message) in earlier.into_iter().enumerate() {
            if said.insert((node.parent.clone(), words(&message))) {
                let id = format!("{}#version-{number}", node.id);
                versions.entry(node.id.clone()).or_default().push(id.clone());
                let (parent, children) = (node.parent.clone(), Vec::new());
                all.push(SourceNode { id, parent, children, message: Some(message) });
            }
        }
        all.push(node);
    }
    if !versions.is_empty() {
        for node in &mut all {
            let children = std::mem::take(&mut node.children).into_iter();
            let before = |id: &String| versions.get(id).cloned().unwrap_or_default();
            node.children = children.flat_map(|id| before(&id).into_iter().chain([id])).collect();
        }
    }
    all
}

fn node(id: String, message: &Value, before: Option<String>, notes: &mut ConversationNotes) -> MessageNode {
    let parent = if message.get("parentId").is_some() { fields::id(message, "parentId") } else { before };
    let children = fields::list(message, "childrenIds").iter().filter_map(fields::as_id).collect();
    if !message.is_object() {
        notes.add_not_an_object(&id);
        let node = SourceNode { id, parent: None, children: Vec::new(), message: None };
        return MessageNode { node, earlier: Vec::new() };
    }
    let role = match fields::text(message, "role") {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        other => {
            let role: String = other.unwrap_or("none").chars().take(60).collect();
            notes.add_unknown_role(&id, &role);
            Role::Assistant
        }
    };
    let is_reply = role == Role::Assistant;
    let created_at = notes.date(message, "timestamp", &id);
    let content::MessageWording { pieces, output, original } = content::pieces(message, &id, role, created_at, notes);
    let ending = if is_reply { ending(message) } else { MessageEnding::Complete };
    keys::MESSAGE.report_lost(message, &id, notes);
    let is_said = !pieces.is_empty() || matches!(ending, MessageEnding::Failed(_));
    // The text of the model keeps the id of the message, so that a later edit of an imported reply adds a version.
    let source_id = if output.is_some() { format!("{id}#edited") } else { id.clone() };
    let message = is_said.then(|| ImportedMessage {
        source_id,
        parent: None,
        role,
        provider: None,
        model: fields::first_text(message, &["model", "selectedModelId", "modelName"])
            .filter(|_| is_reply)
            .map(str::to_owned),
        created_at,
        ended_at: notes
            .date(message, "completedAt", &id)
            .filter(|ended| created_at.is_none_or(|created| created <= *ended)),
        ending,
        pieces,
        usage: usage::from_message(message),
        is_thinking_mode: None,
        parts: Vec::new(),
    });
    let version = |source_id: String, pieces: Vec<MessagePiece>| {
        let ending = MessageEnding::Complete;
        message.as_ref().map(|message| ImportedMessage { source_id, pieces, ending, ..message.clone() })
    };
    let output = output.and_then(|pieces| version(id.clone(), pieces));
    let original = original.and_then(|pieces| version(format!("{id}#original"), pieces));
    let earlier = output.into_iter().chain(original).collect();
    MessageNode { node: SourceNode { id, parent, children, message }, earlier }
}

/// Derives the ending of a reply. A reply that was unfinished at the time of the export counts as cancelled.
fn ending(message: &Value) -> MessageEnding {
    let failed = |text: Option<&str>| MessageEnding::Failed(text.unwrap_or("the reply failed").to_owned());
    match message.get("error") {
        Some(Value::String(text)) if !text.is_empty() => failed(Some(text)),
        Some(Value::Bool(true)) => failed(fields::text(message, "content")),
        Some(error) if error.is_object() => failed(fields::first_text(error, &["content", "message", "detail"])),
        _ if message.get("done").and_then(Value::as_bool) == Some(false) => MessageEnding::Cancelled,
        _ => MessageEnding::Complete,
    }
}

#[cfg(test)]
mod tests;
