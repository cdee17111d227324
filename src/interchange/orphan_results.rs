//! Every answer of a tool has its call: where a source has lost it, one is made that says only its name.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessagePiece, PieceBody};
use crate::domain::block::Author;
use crate::notes::ConversationNotes;
use crate::report::IssueKind;

/// How far up from an answer its call is looked for.
const STEPS: usize = 64;

/// Makes the calls that answers lack. Every reader's conversations go through here before they are handed over.
pub(crate) fn add_missing_calls(mut conversation: Conversation, notes: &mut ConversationNotes) -> Conversation {
    // The ids of each message's calls.
    let mut calls: Vec<HashSet<String>> = conversation.messages.iter().map(calls_of).collect();
    let parents: Vec<Option<usize>> = conversation.messages.iter().map(|message| message.parent).collect();
    for (at, message) in conversation.messages.iter_mut().enumerate() {
        // Those that stand before the piece that is looked at.
        let mut before: HashSet<String> = HashSet::new();
        let mut pieces = Vec::with_capacity(message.pieces.len());
        for piece in std::mem::take(&mut message.pieces) {
            match &piece.body {
                PieceBody::ToolCall { id, .. } => {
                    before.insert(id.clone());
                }
                PieceBody::ToolResult { id, name, .. }
                    if !before.contains(id) && !is_above(&parents, &calls, at, id) =>
                {
                    let text = "an answer of a tool had no call: one was made for it";
                    notes.add(IssueKind::PutRight, &message.source_id, text);
                    before.insert(id.clone());
                    let (id, name) = (id.clone(), name.clone());
                    let body = PieceBody::ToolCall { id, name, arguments: Value::Null, arguments_raw: None };
                    pieces.push(MessagePiece { author: Author::Assistant, created_at: piece.created_at, body });
                }
                _ => {}
            }
            pieces.push(piece);
        }
        message.pieces = pieces;
        calls[at] = before;
    }
    conversation
}

fn calls_of(message: &ImportedMessage) -> HashSet<String> {
    let call = |piece: &MessagePiece| match &piece.body {
        PieceBody::ToolCall { id, .. } => Some(id.clone()),
        _ => None,
    };
    message.pieces.iter().filter_map(call).collect()
}

/// Whether the call stands in a message above the answer's.
fn is_above(parents: &[Option<usize>], calls: &[HashSet<String>], at: usize, answered: &str) -> bool {
    let above = std::iter::successors(parents[at], |&above| parents[above]);
    above.take(STEPS).any(|above| calls[above].contains(answered))
}
