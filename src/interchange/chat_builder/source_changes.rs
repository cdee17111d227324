//! Detects messages that changed at their source since the last import. Stored messages are never rewritten, so a
//! changed one is only reported.

use std::collections::HashMap;

use serde_json::Value;

use super::calls::is_placeholder_result;
use crate::conversation::{Conversation, PieceBody};
use crate::domain::turn::{Role, Turn};
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

fn is_same(turn: &Turn, stored: &[String]) -> bool {
    let stored: Vec<Value> =
        stored.iter().filter_map(|text| serde_json::from_str(text).ok()).map(without_call_status).collect();
    let mut stored = stored.iter().filter(|content| !is_placeholder_result(content));
    let any = serde_json::to_value(placeholder_content()).unwrap_or_default();
    // Both sides pass through text, because parsing a number again may change its last digit.
    let text = |content: &Content| serde_json::to_string(content).ok();
    let imported = turn.blocks.iter().filter_map(|block| text(&block.content));
    let imported = imported.filter_map(|text| serde_json::from_str(&text).ok()).map(without_call_status);
    let mut imported = imported.filter(|content| !is_placeholder_result(content));
    let are_same = imported.all(|content| stored.next().is_some_and(|stored| content == any || *stored == content));
    are_same && stored.next().is_none()
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
