//! Whether what a chat has here is still what its source says. A message that is here is never written anew, so one that
//! got longer at its source, or was made another one there, can only be told.

use std::collections::HashMap;

use serde_json::Value;

use super::calls::is_placeholder_result;
use crate::conversation::{Conversation, PieceBody};
use crate::domain::turn::{Role, Turn};
use crate::domain::{Content, TurnId};

/// What is told of such a message.
pub const CHANGED_AT_SOURCE: &str = "it was changed at its source since it came in: the chat here keeps what it had";

/// What the files of a conversation became, where nobody knows it: each is a block all the same, and holds anything.
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

/// Those of these turns that say something else at their source, of a chat as it grew again with [`placeholder_files`]. `said`
/// has the contents of each of them that is here, as their JSON.
pub fn turns_changed_at_source(grown: &[Turn], said: &HashMap<TurnId, Vec<String>>) -> Vec<TurnId> {
    // What a system says has no files: they became words of it, which only their bytes tell.
    let turns = grown.iter().filter(|turn| turn.role != Role::System);
    turns.filter(|turn| said.get(&turn.id).is_some_and(|here| !is_same(turn, here))).map(|turn| turn.id).collect()
}

fn is_same(turn: &Turn, here: &[String]) -> bool {
    let here: Vec<Value> =
        here.iter().filter_map(|text| serde_json::from_str(text).ok()).map(without_call_status).collect();
    let mut here = here.iter().filter(|content| !is_placeholder_result(content));
    let any = serde_json::to_value(placeholder_content()).unwrap_or_default();
    // By way of text, as what is here: a number that is read once more may be another one in its last place.
    let text = |content: &Content| serde_json::to_string(content).ok();
    let there = turn.blocks.iter().filter_map(|block| text(&block.content));
    let there = there.filter_map(|text| serde_json::from_str(&text).ok()).map(without_call_status);
    let mut there = there.filter(|content| !is_placeholder_result(content));
    let are_same = there.all(|content| here.next().is_some_and(|here| content == any || *here == content));
    are_same && here.next().is_none()
}

/// Without what is no word of the source's: how a call stands follows from what answers it.
fn without_call_status(mut content: Value) -> Value {
    if content["type"] == "tool_use"
        && let Some(fields) = content.as_object_mut()
    {
        fields.remove("status");
    }
    content
}
