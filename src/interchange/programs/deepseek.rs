//! Reader for DeepSeek's data export: `conversations.json` alone, or the archive with it.
//!
//! DeepSeek publishes no definition. Derived from public readers of the export and from the site's own responses:
//! - `xionglongztz/DeepSeekDataExporter`, `deepseek_exporter.py`: conversation, `mapping`, fragments, search results
//!   (`cite_index`, `site_name`, `snippet`), files with their text, search steps without content
//! - `DavidShiang/DeepSeek2md`, `main.py` and `model/structs.go`: the tree below `root`, who wrote a message,
//!   `elapsed_secs`
//! - `ceyaima/deepseek-exporter`, `samples/`: members of a message on the site (`role`, `status`, `thinking_enabled`)
//!
//! Confirmed by several of them: `mapping` with `parent`, `children` and `message`, `inserted_at`, `fragments` with the
//! types `REQUEST`, `THINK`, `RESPONSE`, `SEARCH`, `TOOL_SEARCH` and `TOOL_OPEN`; the older form of a message with
//! `content` and `reasoning_content`. Inferred: an older message names no author, and people and the model take turns;
//! the newest reply was shown last; `[citation:3]` in a text means the search result with that `cite_index`. A search
//! is imported as a tool call, because the model decided on it and read its results. Files are never included.
//!
//! Hand-written samples for the tests follow these definitions: `samples/deepseek/`.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::conversation::{Conversation, ImportedMessage, MessageEnding};
use crate::domain::turns::turn::Role;
use crate::input::Input;
use crate::reading::export_entries;
use crate::reading::fields::{self, first_text, list, text};
use crate::reading::message_builder::empty_message;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{SourceNode, order_messages};
use crate::report::IssueKind;
use crate::sink::{ImportError, ImportSink};

mod fragments;
mod keys;

/// Entries about the account, which hold nothing of a chat.
const NO_CHATS: [&str; 1] = ["user.json"];

/// Returns whether the value is a conversation of DeepSeek. Its tree looks like that of ChatGPT, its messages do not.
pub(crate) fn is_conversation(value: &Value) -> bool {
    let Some(mapping) = value.get("mapping").and_then(Value::as_object) else { return false };
    let mut messages = mapping.values().filter_map(|node| node.get("message")).filter(|message| message.is_object());
    let has_no_author = |message: &Value| message.get("author").is_none() && message.get("inserted_at").is_some();
    value.get("inserted_at").is_some() || messages.next().is_some_and(has_no_author)
}

/// Reads an export.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    export_entries::report_unknown_entries(input, taker, &[], &NO_CHATS)?;
    let is_chats = export_entries::conversation_filter(input);
    read_parts(input, taker, &["conversations"], &is_chats, &mut conversation)
}

/// Reads one conversation.
fn conversation(value: &Value, notes: &mut ConversationNotes) -> Option<Conversation> {
    let source_id = fields::id(value, "id").unwrap_or_else(|| fields::content_id(value));
    notes.set_conversation(&source_id);
    let mapping = value.get("mapping").and_then(Value::as_object).filter(|_| is_conversation(value));
    let Some(mapping) = mapping else {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation of DeepSeek");
        return None;
    };
    let roles = message_roles(mapping);
    let mut nodes: Vec<SourceNode> = Vec::with_capacity(mapping.len());
    for (id, node) in mapping {
        let role = roles.get(id.as_str()).copied().flatten().unwrap_or(Role::User);
        add_nodes(id, node, role, &mut nodes, notes);
    }
    let current = fields::id(value, "current_message_id");
    let (messages, current) = order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    keys::CONVERSATION.report_lost(value, "", notes);
    Some(Conversation {
        source_id,
        title: text(value, "title").unwrap_or_default().to_owned(),
        created_at: notes.date(value, "inserted_at", ""),
        updated_at: notes.date(value, "updated_at", ""),
        is_pinned: fields::is_set(value, "pinned"),
        messages,
        current,
        ..Conversation::default()
    })
}

/// Returns the role of each message. A message that does not show its author answers the nearest message above it;
/// nodes without a message have the role of the nearest one above.
fn message_roles(mapping: &Map<String, Value>) -> HashMap<&str, Option<Role>> {
    let mut roles: HashMap<&str, Option<Role>> = HashMap::with_capacity(mapping.len());
    for start in mapping.keys() {
        // The nodes from this one up to the first whose role is known.
        let mut path: Vec<(&str, &Value)> = Vec::new();
        let mut visited: HashSet<&str> = HashSet::new();
        let mut above = None;
        let mut at = mapping.get_key_value(start);
        while let Some((id, node)) = at {
            if let Some(known) = roles.get(id.as_str()) {
                above = *known;
                break;
            }
            if !visited.insert(id) {
                break;
            }
            path.push((id, node));
            at = fields::id(node, "parent").and_then(|parent| mapping.get_key_value(&parent));
        }
        for (id, node) in path.into_iter().rev() {
            if let Some(message) = node.get("message").filter(|message| message.is_object()) {
                let answering = if above == Some(Role::User) { Role::Assistant } else { Role::User };
                above = Some(shown_role(message).unwrap_or(answering));
            }
            roles.insert(id, above);
        }
    }
    roles
}

/// Returns the role that a message shows by its members; `None` for an older message with nothing but a text.
fn shown_role(message: &Value) -> Option<Role> {
    let named = text(message, "role").map(str::to_ascii_lowercase);
    match named.as_deref() {
        Some("user") => return Some(Role::User),
        Some("assistant") => return Some(Role::Assistant),
        _ => {}
    }
    let fragments = list(message, "fragments");
    let is_reply = first_text(message, &["reasoning_content", "thinking_content"]).is_some()
        || !list(message, "search_results").is_empty();
    match fragments.iter().any(|fragment| text(fragment, "type") == Some("REQUEST")) {
        true => Some(Role::User),
        false => (is_reply || !fragments.is_empty()).then_some(Role::Assistant),
    }
}

/// Adds the node of a message. One that holds a question and its answer becomes two.
fn add_nodes(id: &str, node: &Value, role: Role, nodes: &mut Vec<SourceNode>, notes: &mut ConversationNotes) {
    let parent = fields::id(node, "parent");
    let children: Vec<String> = list(node, "children").iter().filter_map(fields::as_id).collect();
    let message = match node.get("message") {
        Some(message) if message.is_object() => message,
        other => {
            if other.is_some_and(|message| !message.is_null()) {
                notes.add_not_an_object(id);
            }
            nodes.push(SourceNode { id: id.to_owned(), parent, children, message: None });
            return;
        }
    };
    keys::NODE.report_lost(node, id, notes);
    keys::MESSAGE.report_lost(message, id, notes);
    let is_of_person = |fragment: &&Value| matches!(text(fragment, "type"), Some("REQUEST" | "FILE"));
    let (asked, answered): (Vec<&Value>, Vec<&Value>) = list(message, "fragments").iter().partition(is_of_person);
    if asked.is_empty() || answered.is_empty() {
        let fragments = if asked.is_empty() { answered } else { asked };
        let message = read_message(message, id, role, &fragments, notes);
        nodes.push(SourceNode { id: id.to_owned(), parent, children, message });
        return;
    }
    let question = format!("{id}/request");
    let asked = read_message(message, &question, Role::User, &asked, notes);
    nodes.push(SourceNode { id: question.clone(), parent, children: Vec::new(), message: asked });
    let answered = read_message(message, id, Role::Assistant, &answered, notes);
    nodes.push(SourceNode { id: id.to_owned(), parent: Some(question), children, message: answered });
}

/// Reads the part of a message that these fragments hold; without fragments, the older form. `None` if it is empty.
fn read_message(
    value: &Value,
    id: &str,
    role: Role,
    fragments: &[&Value],
    notes: &mut ConversationNotes,
) -> Option<ImportedMessage> {
    let mut message = empty_message(id, role);
    message.created_at = notes.date(value, "inserted_at", id);
    let is_reply = role == Role::Assistant;
    if is_reply {
        message.provider = Some("deepseek".to_owned());
        message.model = text(value, "model").map(str::to_owned);
        message.is_thinking_mode = value.get("thinking_enabled").and_then(Value::as_bool);
        match text(value, "status") {
            Some("INCOMPLETE") => message.ending = MessageEnding::Cancelled,
            Some("CONTENT_FILTER") => message.add_failure("The provider stopped this reply."),
            _ => {}
        }
    } else {
        fragments::add_files(&mut message, list(value, "files"), notes);
    }
    if fragments.is_empty() {
        fragments::add_older_content(&mut message, value);
    } else {
        fragments::add(&mut message, fragments, notes);
    }
    if is_reply && list(value, "fragments").iter().all(|fragment| text(fragment, "type") != Some("REQUEST")) {
        fragments::add_files(&mut message, list(value, "files"), notes);
    }
    let is_empty = message.pieces.is_empty() && !matches!(message.ending, MessageEnding::Failed(_));
    (!is_empty).then_some(message)
}

#[cfg(test)]
mod tests;
