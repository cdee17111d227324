//! Converts one message of LobeHub.

use std::collections::HashMap;

use chrono::TimeDelta;
use serde_json::Value;

use super::keys;
use crate::conversation::{FileBytes, ImportedMessage, ImportedSource, MessageFile, PieceBody};
use crate::domain::blocks::sources::is_web_url;
use crate::domain::turns::turn::Role;
use crate::reading::fields::{as_id, count, first_text, id, list, text};
use crate::reading::media::mime_of;
use crate::reading::message_builder::{FAILED_IN_SOURCE, attachment_body, call_body, empty_message, resolve_address};
use crate::reading::notes::ConversationNotes;

/// The text of a reply that is still to be written.
const PLACEHOLDER: &str = "...";

/// Maps the ids of calls to the names of their tools, because results contain only the id.
pub(super) fn names_of_calls(rows: &[Value]) -> HashMap<String, String> {
    let tools = rows.iter().flat_map(|row| list(row, "tools"));
    tools.filter_map(|tool| Some((id(tool, "id")?, tool_name(tool)))).collect()
}

/// Returns the name by which a model calls a tool: that of its plugin and its own.
fn tool_name(tool: &Value) -> String {
    let api = text(tool, "apiName").unwrap_or("tool");
    text(tool, "identifier").map_or_else(|| api.to_owned(), |plugin| format!("{plugin}____{api}"))
}

pub(super) fn message(
    row: &Value,
    id: &str,
    calls: &HashMap<String, String>,
    notes: &mut ConversationNotes,
) -> ImportedMessage {
    let role_name = text(row, "role").unwrap_or_default();
    let role = notes.role(role_name, &["tool", "function", "supervisor"], id);
    keys::MESSAGE.report_lost(row, id, notes);
    let extra = row.get("extra").unwrap_or(&Value::Null);
    keys::EXTRA.report_lost(extra, id, notes);
    let mut message = empty_message(id, role);
    message.created_at = notes.date(row, "createdAt", id);
    add_files(&mut message, row);
    match role_name {
        "tool" | "function" => add_result(&mut message, row, calls, notes),
        _ => add_content(&mut message, row, notes),
    }
    if role == Role::Assistant {
        let model = text(extra, "fromModel").or_else(|| first_text(row, &["fromModel", "model"]));
        let provider = text(extra, "fromProvider").or_else(|| first_text(row, &["fromProvider", "provider"]));
        (message.model, message.provider) = (model.map(str::to_owned), provider.map(str::to_owned));
        add_measurements(&mut message, row);
    }
    message
}

/// Adds the content in the product's display order: pages, reasoning, text, calls.
fn add_content(message: &mut ImportedMessage, row: &Value, notes: &mut ConversationNotes) {
    let reasoning = row.get("reasoning").unwrap_or(&Value::Null);
    keys::REASONING.report_lost(reasoning, &message.source_id, notes);
    if let Some(thought) = text(reasoning, "content") {
        let duration_ms = count(reasoning, "duration").filter(|ms| *ms > 0);
        message.add_piece(PieceBody::Thinking { text: thought.to_owned(), title: None, duration_ms });
    }
    let content = text(row, "content").filter(|content| *content != PLACEHOLDER || message.role == Role::User);
    message.add_text(content.unwrap_or_default());
    for (at, tool) in list(row, "tools").iter().enumerate() {
        keys::TOOL.report_lost(tool, &message.source_id, notes);
        let call_id = id(tool, "id").unwrap_or_else(|| format!("{}/{at}", message.source_id));
        message.add_piece(call_body(call_id, &tool_name(tool), tool.get("arguments")));
    }
    let search = row.get("search").unwrap_or(&Value::Null);
    keys::SEARCH.report_lost(search, &message.source_id, notes);
    let pages: Vec<ImportedSource> = list(search, "citations").iter().filter_map(cited_page).collect();
    if !pages.is_empty() {
        message.add_piece(PieceBody::Sources(pages));
    }
    if let Some(error) = row.get("error").filter(|error| error.is_object()) {
        message.add_failure(first_text(error, &["message", "type"]).unwrap_or(FAILED_IN_SOURCE));
    }
}

fn cited_page(citation: &Value) -> Option<ImportedSource> {
    let url = text(citation, "url").filter(|url| is_web_url(url))?;
    let title = text(citation, "title").unwrap_or_default();
    Some(ImportedSource { title: title.to_owned(), url: url.to_owned(), snippet: String::new(), cited_range: None })
}

/// Adds the result of a tool. A result of the older role `function` has its call itself, and so has one whose call is
/// gone.
fn add_result(
    message: &mut ImportedMessage,
    row: &Value,
    calls: &HashMap<String, String>,
    notes: &mut ConversationNotes,
) {
    let has_own_call = text(row, "role") == Some("function");
    let plugin_row = row.get(keys::PLUGIN_ROW).unwrap_or(&Value::Null);
    let plugin = row.get("plugin").unwrap_or(plugin_row);
    keys::PLUGIN.report_lost(plugin, &message.source_id, notes);
    let call_id = id(row, "tool_call_id").or_else(|| id(plugin_row, "toolCallId"));
    let call_id = call_id.unwrap_or_else(|| format!("{}/call", message.source_id));
    let name = calls.get(&call_id).cloned().unwrap_or_else(|| tool_name(plugin));
    if (has_own_call || !calls.contains_key(&call_id)) && plugin.is_object() {
        message.add_piece(call_body(call_id.clone(), &name, plugin.get("arguments")));
    }
    let error = [row.get("pluginError"), plugin_row.get("error"), row.get("error")];
    let error = error.into_iter().flatten().find(|error| !error.is_null());
    let content = text(row, "content").map(|content| Value::String(content.to_owned()));
    let result = content.or_else(|| error.cloned()).unwrap_or_default();
    message.add_tool_result(&call_id, &name, result, error.is_none());
}

/// Adds the files of a message, which the export only names.
fn add_files(message: &mut ImportedMessage, row: &Value) {
    for file in list(row, "files").iter().filter_map(as_id) {
        let file = MessageFile { name: "file".to_owned(), mime: String::new(), bytes: FileBytes::Absent(file) };
        message.add_piece(attachment_body(file, "", false));
    }
    for (list_name, is_picture) in [("imageList", true), ("fileList", false), ("videoList", false)] {
        for item in list(row, list_name) {
            let unnamed = if is_picture { "picture" } else { "file" };
            let name = first_text(item, &["name", "alt"]).unwrap_or(unnamed);
            let (mut mime, mut bytes) = resolve_address(first_text(item, &["url", "id"]).unwrap_or_default());
            if mime.is_empty() {
                mime = text(item, "fileType").unwrap_or(mime_of(name)).to_owned();
            }
            if let (FileBytes::Absent(_), Some(taken)) = (&bytes, text(item, "content")) {
                bytes = FileBytes::TextOnly(taken.to_owned());
            }
            let file = MessageFile { name: name.to_owned(), mime, bytes };
            message.add_piece(attachment_body(file, text(item, "alt").unwrap_or_default(), is_picture));
        }
    }
}

/// Reads tokens and the latency, which the first versions keep in `metadata` itself.
fn add_measurements(message: &mut ImportedMessage, row: &Value) {
    let metadata = row.get("metadata").unwrap_or(&Value::Null);
    let tokens = row.get("usage").or_else(|| metadata.get("usage")).unwrap_or(metadata);
    let speed = row.get("performance").or_else(|| metadata.get("performance")).unwrap_or(metadata);
    let usage = &mut message.usage;
    usage.input_tokens = count(tokens, "totalInputTokens");
    usage.output_tokens = count(tokens, "totalOutputTokens");
    usage.cache_read_tokens = count(tokens, "inputCachedTokens");
    usage.cache_write_tokens = count(tokens, "inputWriteCacheTokens");
    usage.reasoning_tokens = count(tokens, "outputReasoningTokens");
    let latency = speed.get("latency").and_then(Value::as_f64).filter(|ms| (1.0..1e10).contains(ms));
    message.ended_at = message
        .created_at
        .zip(latency)
        .and_then(|(begun, ms)| begun.checked_add_signed(TimeDelta::milliseconds(ms.round() as i64)));
}
