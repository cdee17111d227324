//! Ensures that every tool result has its call: a missing call is created with only the tool's name.

use std::collections::HashSet;

use serde_json::Value;

use crate::conversation::{Conversation, ImportedMessage, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::reading::notes::ConversationNotes;
use crate::report::IssueKind;

/// Number of ancestors that are searched for the call of a result.
const STEPS: usize = 64;

/// Creates the missing calls of a conversation. Every reader's conversations pass through here before they are
/// delivered.
pub(crate) fn add_missing_calls(mut conversation: Conversation, notes: &mut ConversationNotes) -> Conversation {
    // The call ids of each message.
    let mut calls: Vec<HashSet<String>> = conversation.messages.iter().map(calls_of).collect();
    let parents: Vec<Option<usize>> = conversation.messages.iter().map(|message| message.parent).collect();
    for (at, message) in conversation.messages.iter_mut().enumerate() {
        // The call ids before the current piece.
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
                    let text = "a tool result had no tool call: one was added";
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

/// Returns whether an ancestor of the message contains the call.
fn is_above(parents: &[Option<usize>], calls: &[HashSet<String>], at: usize, answered: &str) -> bool {
    let above = std::iter::successors(parents[at], |&above| parents[above]);
    above.take(STEPS).any(|above| calls[above].contains(answered))
}
