//! Reads the content of one Grok response.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::assets::{ExportedAssets, by_file_id};
use super::cards::Cards;
use super::sources::FoundSources;
use super::steps;
use crate::conversation::{ImportedMessage, MessageEnding, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{first_text, is_set, list, text};
use crate::reading::message_builder::{FAILED_IN_SOURCE, QUOTE_BEFORE_TEXT, as_quote, attachment_body, call_body};
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Lists of what tools of the service found.
const FOUND: [&str; 5] = [
    "rag_results",
    "cited_rag_results",
    "search_product_results",
    "connector_search_results",
    "collection_search_results",
];

/// Adds everything of a response to its message, in the order of the page: quotes and files of a person; reasoning,
/// text and sources of a reply.
pub(super) fn add(
    message: &mut ImportedMessage,
    response: &Value,
    assets: &ExportedAssets,
    notes: &mut ConversationNotes,
) {
    let is_reply = message.role == Role::Assistant;
    let mut sources = FoundSources::default();
    add_quotes(message, response, notes);
    if !is_reply {
        add_files(message, response, assets);
    }
    steps::add(message, response, &mut sources, notes);
    for name in FOUND {
        steps::add_found(message, name, list(response, name));
    }
    add_tool_responses(message, list(response, "tool_responses"));
    let words = first_text(response, &["message", "query"]).unwrap_or_default();
    Cards::new(response, assets).add_text(message, words, &mut sources, notes);
    add_pictures(message, response, assets);
    if is_reply {
        add_files(message, response, assets);
    }
    sources.add_all_of(response);
    add_pages(message, response, words, &mut sources);
    let sources = sources.into_sources();
    if !sources.is_empty() {
        message.add_piece(PieceBody::Sources(sources));
    }
    if is_reply {
        add_ending(message, response);
    }
}

/// Adds the passages that a person answers.
fn add_quotes(message: &mut ImportedMessage, response: &Value, notes: &mut ConversationNotes) {
    for quoted in ["selected_file_text_content", "parent_quoted_text"].iter().filter_map(|name| text(response, name)) {
        notes.add(IssueKind::PutRight, &message.source_id, QUOTE_BEFORE_TEXT);
        message.add_text(&as_quote(quoted));
    }
}

fn add_files(message: &mut ImportedMessage, response: &Value, assets: &ExportedAssets) {
    let metadata = by_file_id(list(response, "file_attachments_metadata"));
    let mut known: HashSet<String> = HashSet::new();
    for (name, is_picture) in [("file_attachments", false), ("image_attachments", true), ("file_uris", false)] {
        for attached in list(response, name) {
            let Some(file) = assets.attached(attached, &metadata) else { continue };
            let place = format!("{:?}", file.bytes);
            if known.insert(place) {
                message.add_piece(attachment_body(file, "", is_picture));
            }
        }
    }
    let edited = text(response, "image_edit_uri").into_iter();
    let edited = edited.chain(list(response, "image_edit_uris").iter().filter_map(Value::as_str));
    for address in edited {
        let file = assets.picture(address);
        let place = format!("{:?}", file.bytes);
        if known.insert(place) {
            message.add_piece(attachment_body(file, "", true));
        }
    }
}

/// Adds generated pictures that no card has shown.
fn add_pictures(message: &mut ImportedMessage, response: &Value, assets: &ExportedAssets) {
    let place = |body: &PieceBody| match body {
        PieceBody::Picture { file, .. } => Some(format!("{:?}", file.bytes)),
        _ => None,
    };
    let mut shown: HashSet<String> = message.pieces.iter().filter_map(|piece| place(&piece.body)).collect();
    for address in list(response, "generated_image_urls").iter().filter_map(Value::as_str) {
        let file = assets.picture(address);
        if shown.insert(format!("{:?}", file.bytes)) {
            message.add_piece(PieceBody::Picture { file, alt: String::new() });
        }
    }
}

/// Adds the pages that were given by their addresses: as sources of a reply, and to a message of a person unless its
/// text has them.
fn add_pages(message: &mut ImportedMessage, response: &Value, words: &str, sources: &mut FoundSources) {
    let pages = list(response, "webpage_urls");
    if message.role == Role::Assistant {
        sources.add_pages(pages);
        return;
    }
    let missing: Vec<&str> = pages.iter().filter_map(Value::as_str).filter(|url| !words.contains(*url)).collect();
    message.add_text(&missing.join("\n"));
}

fn add_tool_responses(message: &mut ImportedMessage, responses: &[Value]) {
    for response in responses {
        let parsed = response.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let response = parsed.as_ref().unwrap_or(response);
        let id = format!("{}/{}", message.source_id, message.pieces.len());
        let name = first_text(response, &["tool_name", "toolName", "name"]).unwrap_or("tool").to_owned();
        message.add_piece(call_body(id.clone(), &name, Some(response.get("args").unwrap_or(&json!({})))));
        message.add_tool_result(&id, &name, response.clone(), true);
    }
}

fn add_ending(message: &mut ImportedMessage, response: &Value) {
    let errors = list(response, "stream_errors");
    if let Some(error) = text(response, "error") {
        message.add_failure(error);
    } else if let Some(error) = errors.first().filter(|_| message.pieces.is_empty()) {
        message.add_failure(text(error, "message").unwrap_or(FAILED_IN_SOURCE));
    } else if is_set(response, "partial") {
        message.ending = MessageEnding::Cancelled;
    }
}
