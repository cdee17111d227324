//! Detects messages that changed at their source since the last import. Stored messages are never rewritten, so a
//! changed one is only reported. A reply that its source continued is split where the stored one ends.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::calls::is_placeholder_result;
use crate::conversation::{Conversation, ImportedMessage, PieceBody};
use crate::domain::turns::turn::{Role, Turn};
use crate::domain::{Content, TurnId};

/// The issue text for a changed message.
pub const CHANGED_AT_SOURCE: &str = "it changed in the source after it was imported: the chat here keeps its content";

/// Returns placeholders for the files of a conversation whose stored content is unknown; a placeholder equals any
/// block.
pub fn placeholder_files(conversation: &Conversation) -> HashMap<(usize, usize), Content> {
    let of_message = conversation.messages.iter().enumerate().flat_map(|(at, message)| {
        let pieces = message.pieces.iter().enumerate();
        let files =
            pieces.filter(|(_, piece)| matches!(piece.body, PieceBody::Picture { .. } | PieceBody::Attachment { .. }));
        files.map(move |(number, _)| ((at, number), placeholder_content()))
    });
    of_message.collect()
}

fn placeholder_content() -> Content {
    Content::Image { blob: String::new(), mime: String::new(), alt: String::new() }
}

/// Returns the turns whose content at the source differs from the stored one. The turns are built with
/// [`placeholder_files`]; `stored` holds the stored contents of each turn as JSON.
pub fn turns_changed_at_source(grown: &[Turn], stored: &HashMap<TurnId, Vec<String>>) -> Vec<TurnId> {
    // System messages are skipped: their files became text, which depends on the file contents.
    let turns = grown.iter().filter(|turn| turn.role != Role::System);
    turns
        .filter(|turn| stored.get(&turn.id).is_some_and(|contents| !is_same(turn, contents)))
        .map(|turn| turn.id)
        .collect()
}

fn is_same(turn: &Turn, here: &[String]) -> bool {
    let here = stored_contents(here);
    let any = any_content();
    let mut here = here.iter();
    let are_same = contents_of(turn).all(|content| here.next().is_some_and(|here| content == any || *here == content));
    are_same && here.next().is_none()
}

/// Returns the id of the part of a reply that follows the stored one. `parts` are the parts of the reply in the
/// source now, each built as a turn of its own with [`placeholder_files`]; `here` is the stored content.
///
/// The stored parts may have changed since, so only the kinds of their contents are compared.
pub fn first_part_behind<'p>(parts: &[(&'p str, &Turn)], here: &[String]) -> Option<&'p str> {
    let here = kinds(stored_contents(here).into_iter());
    let any = any_content()["type"].to_string();
    let mut there = Vec::new();
    let mut calls = HashSet::new();
    let mut known = 0;
    for (number, (_, turn)) in parts.iter().enumerate() {
        there.extend(kinds_beside(contents_of(turn), &mut calls));
        let is_same = |(here, there): (&String, &String)| *there == any || here == there;
        if there.len() == here.len() && here.iter().zip(&there).all(is_same) {
            known = number + 1;
        }
    }
    if known == 0 { None } else { parts.get(known).map(|(id, _)| *id) }
}

/// The issue text for files that the source has now, of a message whose chat has only their names.
pub const FILE_IN_SOURCE_NOW: &str = "its file is in the source now, but the chat here keeps only the name: delete the \
    chat for good and import it again to have the file";

/// Returns whether the source has the bytes of a file of which the stored content has only the name. The turn is built
/// with [`placeholder_files`].
pub fn has_file_now(message: &ImportedMessage, turn: &Turn, here: &[String]) -> bool {
    let (here, there) = (stored_contents(here), contents_of(turn).collect::<Vec<_>>());
    let any = any_content();
    let is_name = |content: &Value| {
        let text = content["text"].as_str().unwrap_or_default();
        content["type"] == "text" && text.starts_with('[') && text.ends_with(']')
    };
    let mut files = message.pieces.iter().filter_map(|piece| match &piece.body {
        PieceBody::Picture { file, .. } | PieceBody::Attachment { file } => Some(file.has_content()),
        _ => None,
    });
    let files = there.iter().map(|content| *content == any && files.next() == Some(true));
    here.len() == there.len() && files.zip(&here).any(|(has_content, here)| has_content && is_name(here))
}

fn kinds(contents: impl Iterator<Item = Value>) -> Vec<String> {
    kinds_beside(contents, &mut HashSet::new())
}

/// Returns the kinds of contents. A call that appears again is skipped: a part that only has its result repeats it.
fn kinds_beside(contents: impl Iterator<Item = Value>, calls: &mut HashSet<String>) -> Vec<String> {
    let is_new = |content: &Value| content["type"] != "tool_use" || calls.insert(content["tool_use_id"].to_string());
    contents.filter(is_new).map(|content| content["type"].to_string()).collect()
}

fn stored_contents(here: &[String]) -> Vec<Value> {
    let here = here.iter().filter_map(|text| serde_json::from_str(text).ok()).map(without_call_status);
    here.filter(|content| !is_placeholder_result(content)).collect()
}

fn contents_of(turn: &Turn) -> impl Iterator<Item = Value> {
    // Both sides pass through text, because parsing a number again may change its last digit.
    let text = |content: &Content| serde_json::to_string(content).ok();
    let there = turn.blocks.iter().filter_map(move |block| text(&block.content));
    let there = there.filter_map(|text| serde_json::from_str(&text).ok()).map(without_call_status);
    there.filter(|content| !is_placeholder_result(content))
}

fn any_content() -> Value {
    serde_json::to_value(placeholder_content()).unwrap_or_default()
}

/// Removes the call status, which follows from the result and is not part of the source.
fn without_call_status(mut content: Value) -> Value {
    if content["type"] == "tool_use"
        && let Some(fields) = content.as_object_mut()
    {
        fields.remove("status");
    }
    content
}
