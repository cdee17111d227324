//! Reader for ChatGPT's data export: `conversations.json` alone, the archive, and the newer archive with
//! `conversations-000.json` and its siblings.
//!
//! OpenAI publishes no definition (help.openai.com, "How do I export my ChatGPT history and data?", names only the
//! archive and its chats). Derived from the types and notes of public readers and exporters:
//! - `mohamed-chs/convoviz`, its specification of the export: archive, file names, conversation, content types, tools
//! - `pionxzh/chatgpt-exporter`, `src/api.ts`: nodes, messages, metadata, `aggregate_result`, citations
//! - `jamesmoore/chatgpt-export`, `ChatGPTExport/Formatters/Markdown/MarkdownContentVisitor.cs` and
//!   `ChatGPTExport/Assets/AssetLocator.cs`: parts, recordings, `content_references`, file pointers
//! - `Sinity/polylogue`, `polylogue/sources/parsers/chatgpt.py`: fields of three dated exports (the one of July 2026
//!   has no `children`, `status` and `recipient`), code runs, searches, durations
//! - `danny-avila/LibreChat` issues 13630 and 15229: archives of many files; messages without metadata, the model
//!   named only by the conversation
//!
//! Confirmed by several of them: `mapping` with `parent`, `children` and `message`, `current_node`, roles, the
//! content types read in `content`, file ids as prefixes of entry names, `conversation_asset_file_names.json`.
//! Inferred: a message to a `recipient` is a call that the next tool message answers (only the tree connects them);
//! of several answers in a row the first belongs to the call, and the others get calls of their own;
//! `finished_duration_sec` of a recap is the duration of the thoughts before it; the text range that a source
//! supports (see `citations`).
//!
//! Samples: `samples/chatgpt`, hand-written after the specification of `convoviz` and the fields of `polylogue`.

use serde_json::{Map, Value};

use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::domain::usage::token_counts::Usage;
use crate::input::Input;
use crate::programs::deepseek;
use crate::reading::notes::ConversationNotes;
use crate::reading::parts::read_parts;
use crate::reading::tree::{self, SourceNode};
use crate::reading::{export_entries, fields};
use crate::report::{IssueKind, IssueLocation};
use crate::sink::{ImportError, ImportSink};
use assets::ExportAssets;
use citations::SearchBudget;
use content::{MessageContent, MessageSpeaker};

mod assets;
mod calls;
mod citations;
mod content;
mod keys;

/// User data of an export that is not imported, with the text of the issue.
const NOT_READ: [(&str, &str); 7] = [
    ("textdocs/", "canvas documents are only imported as the tool calls that wrote them"),
    ("message_feedback.json", "ratings are not imported"),
    ("group_chats.json", "group chats are not imported"),
    ("sora.json", "Sora content is not imported"),
    ("model_comparisons.json", "replies that were compared are not imported"),
    ("shared_conversations.json", "shared links are not imported"),
    ("library_files.json", "the list of files in the library is not imported"),
];

/// Entries about the account and the page, which hold nothing of a chat, and the list of file names, which is read.
const NO_CHATS: [&str; 7] = [
    "user.json",
    "user_settings.json",
    "chat.html",
    "export_manifest.json",
    "conversation_asset_file_names.json",
    "tool_messages.json",
    "README.json",
];

/// Returns whether the value is a conversation of ChatGPT.
pub(crate) fn is_conversation(value: &Value) -> bool {
    value.get("mapping").is_some_and(Value::is_object) && !deepseek::is_conversation(value)
}

/// Reads an export.
pub(crate) fn read(input: &mut Input, taker: &mut dyn ImportSink) -> Result<(), ImportError> {
    let assets = ExportAssets::from_input(input);
    export_entries::report_unread_entries(input, taker, &NOT_READ)?;
    export_entries::report_unknown_entries(input, taker, &NOT_READ, &NO_CHATS)?;
    let is_chats = export_entries::conversation_filter(input);
    read_parts(input, taker, &["conversations"], &is_chats, &mut |value, notes| conversation(value, &assets, notes))
}

/// Reads one conversation.
fn conversation(value: &Value, assets: &ExportAssets, notes: &mut ConversationNotes) -> Option<Conversation> {
    let source_id = fields::id(value, "conversation_id").or_else(|| fields::id(value, "id"));
    let source_id = source_id.unwrap_or_else(|| fields::content_id(value));
    notes.set_conversation(&source_id);
    let Some(mapping) = value.get("mapping").and_then(Value::as_object) else {
        notes.add(IssueKind::LeftOut, "", "it is not a conversation: it has no messages (mapping)");
        return None;
    };
    if deepseek::is_conversation(value) {
        notes.add(IssueKind::LeftOut, "", "it is a conversation of DeepSeek: import it with that format");
        return None;
    }
    let model = model_of(value).or_else(|| default_model(value));
    let mut reader = NodeReader { mapping, assets, instructions: Vec::new(), model };
    let mut nodes: Vec<SourceNode> = mapping.iter().map(|(id, node)| reader.node(id, node, notes)).collect();
    calls::set_thinking_durations(&mut nodes, mapping, notes);
    let current = fields::id(value, "current_node");
    let (messages, current) = tree::order_messages(nodes, current.as_deref(), notes);
    if messages.is_empty() {
        notes.add_no_messages();
        return None;
    }
    let system_prompt = reader.system_prompt(notes);
    report_place(value, notes);
    keys::CONVERSATION.report_lost(value, "", notes);
    Some(Conversation {
        source_id,
        title: fields::text(value, "title").unwrap_or_default().to_owned(),
        system_prompt,
        created_at: notes.date(value, "create_time", ""),
        updated_at: notes.date(value, "update_time", ""),
        model: reader.model,
        messages,
        current,
        is_pinned: fields::is_set(value, "is_starred") || value.get("pinned_time").is_some_and(Value::is_number),
        is_archived: fields::is_set(value, "is_archived"),
    })
}

/// Reads the nodes of a conversation and collects conversation-wide data.
struct NodeReader<'a> {
    mapping: &'a Map<String, Value>,
    assets: &'a ExportAssets,
    /// The user's custom instructions, each text once.
    instructions: Vec<String>,
    /// The model of replies that name none: the conversation's model, or the first default that a message names.
    model: Option<String>,
}

impl NodeReader<'_> {
    fn node(&mut self, id: &str, node: &Value, notes: &mut ConversationNotes) -> SourceNode {
        let children = fields::list(node, "children").iter().filter_map(fields::as_id).collect();
        let message = match node.get("message") {
            None | Some(Value::Null) => None,
            Some(message) if message.is_object() => {
                keys::NODE.report_lost(node, id, notes);
                keys::MESSAGE.report_lost(message, id, notes);
                self.message(id, node, message, notes)
            }
            Some(_) => {
                notes.add_not_an_object(id);
                None
            }
        };
        SourceNode { id: id.to_owned(), parent: fields::id(node, "parent"), children, message }
    }

    fn message(
        &mut self,
        id: &str,
        node: &Value,
        message: &Value,
        notes: &mut ConversationNotes,
    ) -> Option<ImportedMessage> {
        let null = Value::Null;
        let metadata = message.get("metadata").unwrap_or(&null);
        let content = message.get("content").unwrap_or(&null);
        let speaker = self.speaker(id, message, notes);
        let created_at = notes.date(message, "create_time", id);
        let read = MessageContent {
            message,
            content,
            metadata,
            id,
            speaker,
            created_at,
            assets: self.assets,
            search_budget: SearchBudget::default(),
        };
        let call = calls::recipient(message);
        if self.is_left_out(&read, call, notes) {
            return None;
        }
        keys::METADATA.report_lost(metadata, id, notes);
        keys::CONTENT.report_lost(content, id, notes);
        let ending = ending(&read);
        let pieces = match (speaker, call) {
            (MessageSpeaker::Tool, _) => self.tool_result(&read, node, notes),
            (MessageSpeaker::Assistant, Some(recipient)) => self.call_pieces(&read, recipient, notes),
            // The text of a system error becomes the ending of the message, not content of the model.
            (MessageSpeaker::Assistant, None) if read.kind() == "system_error" => Vec::new(),
            _ => read.pieces(notes),
        };
        // A message without content only structures the tree.
        if pieces.is_empty() && !matches!(ending, MessageEnding::Failed(_)) {
            return None;
        }
        // Tool output belongs to no model; it is part of the reply that made the call.
        let model = model_of(metadata).filter(|_| speaker == MessageSpeaker::Assistant);
        self.model = self.model.take().or_else(|| default_model(metadata));
        let (role, is_reply) = match speaker {
            MessageSpeaker::User => (Role::User, false),
            MessageSpeaker::System => (Role::System, false),
            MessageSpeaker::Assistant | MessageSpeaker::Tool => (Role::Assistant, true),
        };
        Some(ImportedMessage {
            source_id: id.to_owned(),
            parent: None,
            role,
            provider: is_reply.then(|| "openai".to_owned()),
            model,
            created_at,
            ended_at: None,
            ending,
            pieces,
            usage: Usage::default(),
            is_thinking_mode: None,
            parts: Vec::new(),
        })
    }

    fn speaker(&self, id: &str, message: &Value, notes: &mut ConversationNotes) -> MessageSpeaker {
        let author = message.get("author").unwrap_or(&Value::Null);
        match fields::text(author, "role").or_else(|| fields::text(message, "role")) {
            Some("user") => MessageSpeaker::User,
            Some("assistant") => MessageSpeaker::Assistant,
            Some("system") => MessageSpeaker::System,
            Some("tool" | "function") => MessageSpeaker::Tool,
            other => {
                let role = content::shortened_word(other.unwrap_or_default());
                notes.add_unknown_role(id, &role);
                MessageSpeaker::Assistant
            }
        }
    }

    /// Returns whether a message is left out: it holds custom instructions or memories, or it is hidden.
    fn is_left_out(&mut self, read: &MessageContent<'_>, call: Option<&str>, notes: &mut ConversationNotes) -> bool {
        let is_memory = read.kind() == "model_editable_context";
        if is_memory && fields::text(read.content, "model_set_context").is_some() {
            notes.add(IssueKind::Lost, read.id, "ChatGPT memories are not imported");
        }
        if self.take_instructions(read) || is_memory {
            return true;
        }
        let is_hidden = fields::is_set(read.metadata, "is_visually_hidden_from_conversation");
        if !is_hidden || call.is_some() || read.speaker == MessageSpeaker::Tool || read.kind() == "thoughts" {
            return false;
        }
        // Issues about its files are discarded, because the message itself is left out.
        if !read.pieces(&mut ConversationNotes::new(IssueLocation::default())).is_empty() {
            notes.add(IssueKind::Lost, read.id, "hidden messages are not imported");
        }
        true
    }

    /// Collects custom instructions; returns whether the message holds them and is therefore no message of the
    /// conversation.
    fn take_instructions(&mut self, read: &MessageContent<'_>) -> bool {
        let is_context = read.kind() == "user_editable_context";
        if !is_context && !fields::is_set(read.metadata, "is_user_system_message") {
            return false;
        }
        let context_data = read.metadata.get("user_context_message_data").unwrap_or(&Value::Null);
        let texts = [(context_data, "about_user_message"), (context_data, "about_model_message")];
        let mut text = texts.iter().filter_map(|(of, name)| fields::text(of, name)).collect::<Vec<_>>().join("\n\n");
        if text.is_empty() {
            let names = ["user_profile", "user_instructions", "text"];
            text = names.iter().filter_map(|name| fields::text(read.content, name)).collect::<Vec<_>>().join("\n\n");
        }
        if !text.is_empty() && !self.instructions.contains(&text) {
            self.instructions.push(text);
        }
        true
    }

    fn system_prompt(&mut self, notes: &mut ConversationNotes) -> String {
        if self.instructions.len() > 1 {
            notes.add(
                IssueKind::Lost,
                "",
                "the custom instructions changed during the conversation: only the first ones are imported",
            );
        }
        self.instructions.drain(..).next().unwrap_or_default()
    }

    /// Attaches tool output to the preceding call, or to a call that is created for it.
    fn tool_result(&self, read: &MessageContent<'_>, node: &Value, notes: &mut ConversationNotes) -> Vec<MessagePiece> {
        let (result, success, others) = read.tool_result(notes);
        let owner = calls::answered_call(self.mapping, node);
        let is_empty = others.is_empty() && result.as_str().is_some_and(str::is_empty);
        if owner.is_none() && is_empty {
            return Vec::new();
        }
        let author = read.message.get("author").unwrap_or(&Value::Null);
        let name = fields::text(author, "name").or(owner.map(|(_, name)| name)).unwrap_or("tool").to_owned();
        let mut pieces = Vec::new();
        let id = owner.map_or(read.id, |(id, _)| id).to_owned();
        if owner.is_none() {
            let arguments = read.metadata.get("search_model_queries").cloned().unwrap_or_default();
            let call = PieceBody::ToolCall { id: id.clone(), name: name.clone(), arguments, arguments_raw: None };
            pieces.push(MessagePiece { author: Author::Assistant, created_at: read.created_at, body: call });
        }
        pieces.push(read.piece(PieceBody::ToolResult { id, name, result, success, metadata: Value::Null }));
        pieces.extend(others.into_iter().map(|body| read.piece(body)));
        pieces
    }

    /// Returns a call with the files that its message carries.
    fn call_pieces(
        &self,
        read: &MessageContent<'_>,
        recipient: &str,
        notes: &mut ConversationNotes,
    ) -> Vec<MessagePiece> {
        let mut pieces = vec![read.piece(calls::call_from_content(read.id, recipient, read.content, read.metadata))];
        // The text of the message is the arguments of the call, also for unknown types.
        if !fields::list(read.content, "parts").is_empty() {
            let is_file =
                |piece: &MessagePiece| matches!(piece.body, PieceBody::Picture { .. } | PieceBody::Attachment { .. });
            pieces.extend(read.pieces(notes).into_iter().filter(is_file));
        }
        pieces
    }
}

/// Derives the ending of a message from its status and its finish details.
fn ending(read: &MessageContent<'_>) -> MessageEnding {
    let finish = read.metadata.get("finish_details").and_then(|finish| fields::text(finish, "type"));
    let status = fields::text(read.message, "status");
    let failed = || {
        let text = fields::first_text(read.content, &["text", "name"]).unwrap_or("the reply failed");
        MessageEnding::Failed(text.to_owned())
    };
    match (read.speaker, status, finish) {
        (MessageSpeaker::Assistant, _, _) if read.kind() == "system_error" => failed(),
        (MessageSpeaker::Assistant, Some("error"), _) => MessageEnding::Failed("the reply failed".to_owned()),
        (MessageSpeaker::Assistant, _, Some("interrupted")) => MessageEnding::Cancelled,
        (MessageSpeaker::Assistant, Some("finished_partial_completion" | "in_progress"), _) => MessageEnding::Cancelled,
        _ => MessageEnding::Complete,
    }
}

/// Returns the model of a message.
fn model_of(metadata: &Value) -> Option<String> {
    model_named(metadata, "model_slug")
}

/// Returns the model of replies that name none.
fn default_model(of: &Value) -> Option<String> {
    model_named(of, "default_model_slug")
}

/// `auto` is a setting, not a model.
fn model_named(of: &Value, name: &str) -> Option<String> {
    fields::text(of, name).filter(|model| *model != "auto").map(str::to_owned)
}

/// Reports that the conversation belongs to a GPT or a project.
fn report_place(value: &Value, notes: &mut ConversationNotes) {
    let is_projects = fields::text(value, "gizmo_id").is_some_and(|id| id.starts_with("g-p-"));
    match fields::text(value, "gizmo_type") {
        Some("snorlax") => notes.add(IssueKind::Lost, "", "it belongs to a project; projects are not imported"),
        _ if is_projects => notes.add(IssueKind::Lost, "", "it belongs to a project; projects are not imported"),
        Some("gpt") => notes.add(IssueKind::Lost, "", "it used a custom GPT, which is not imported"),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
