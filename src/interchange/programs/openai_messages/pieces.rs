//! Adds texts, calls, results and sources to a message, whatever form they were read from.

use serde_json::Value;

use crate::conversation::{ImportedMessage, ImportedSource, PieceBody};
use crate::domain::turns::turn::Role;
use crate::reading::fields::{count, first_text, text};
use crate::reading::message_builder::call_body;
use crate::reading::open_calls::OpenCalls;
use crate::reading::thought_tags::split_leading_thought;

/// Adds a text; the reasoning that begins a reply is split from it.
pub(super) fn add_text(message: &mut ImportedMessage, content: &str) {
    match split_leading_thought(content).filter(|_| message.role == Role::Assistant) {
        Some((thought, answer)) => {
            message.add_reasoning(thought);
            message.add_text(answer);
        }
        None => message.add_text(content),
    }
}

/// Adds a call, which waits for its result.
pub(super) fn add_call(
    message: &mut ImportedMessage,
    id: Option<String>,
    name: &str,
    arguments: Option<&Value>,
    open: &mut OpenCalls,
) {
    let id = id.unwrap_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()));
    open.add(id.clone(), name.to_owned());
    message.add_piece(call_body(id, name, arguments));
}

/// Adds a result to the call that it names, else to the first open call of its tool, else to the first open one.
pub(super) fn add_result(
    message: &mut ImportedMessage,
    id: Option<&str>,
    name: Option<&str>,
    result: Value,
    is_success: bool,
    open: &mut OpenCalls,
) {
    let call = open.take(id, name);
    let own = || id.map_or_else(|| format!("{}/{}", message.source_id, message.pieces.len()), str::to_owned);
    let (id, name) = call.unwrap_or_else(|| (own(), name.unwrap_or("tool").to_owned()));
    message.add_tool_result(&id, &name, result, is_success);
}

/// Adds cited pages. Their ranges count in the text before them, if it is the only one.
pub(super) fn add_sources(message: &mut ImportedMessage, annotations: &[Value]) {
    let mut texts = message.pieces.iter().filter_map(|piece| match &piece.body {
        PieceBody::Text(text) => Some(text.chars().count() as u64),
        _ => None,
    });
    let length = texts.next().filter(|_| texts.next().is_none());
    let sources: Vec<ImportedSource> = annotations
        .iter()
        .map(|annotation| annotation.get("url_citation").unwrap_or(annotation))
        .filter_map(|cited| {
            let url = text(cited, "url")?.to_owned();
            let range = count(cited, "start_index").zip(count(cited, "end_index"));
            let is_within = |(start, end): &(u64, u64)| start < end && length.is_some_and(|length| *end <= length);
            Some(ImportedSource {
                title: text(cited, "title").unwrap_or_default().to_owned(),
                url,
                snippet: first_text(cited, &["content", "snippet"]).unwrap_or_default().to_owned(),
                cited_range: range.filter(is_within),
            })
        })
        .collect();
    if !sources.is_empty() {
        message.add_piece(PieceBody::Sources(sources));
    }
}
