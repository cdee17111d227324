//! Builds the messages of the exchanges: each question with the reply of its rows.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::super::LegacyRowKind;
use super::super::entry::{EntryContent, FailureSign, TimelineEntry};
use super::exchanges::{SourceTurn, TimelineExchange};
use crate::chat_builder::FAILURE_CHARS;
use crate::conversation::{ImportedMessage, MessageEnding, MessagePiece, PieceBody};
use crate::domain::blocks::block::Author;
use crate::domain::turns::turn::Role;
use crate::reading::message_builder::{call_body, empty_message};
use crate::reading::unique_ids::UniqueIds;

/// Returns the messages as a chain.
pub(super) fn build_messages(
    timeline: Vec<TimelineEntry>,
    exchanges: Vec<TimelineExchange>,
    turns: &HashMap<String, SourceTurn>,
) -> Vec<ImportedMessage> {
    let mut timeline: Vec<Option<TimelineEntry>> = timeline.into_iter().map(Some).collect();
    let mut names = UniqueIds::default();
    let mut messages: Vec<ImportedMessage> = Vec::new();
    let mut add = |mut message: ImportedMessage| {
        message.source_id = names.assign(message.source_id).0;
        message.parent = messages.len().checked_sub(1);
        messages.push(message);
    };
    for exchange in exchanges {
        let mut take = |places: Vec<usize>| -> Vec<TimelineEntry> {
            places.into_iter().filter_map(|at| timeline.get_mut(at)?.take()).collect()
        };
        let (question, reply_entries, system) =
            (take(exchange.question.into_iter().collect()), take(exchange.reply), take(exchange.system));
        let is_thought = |entry: &TimelineEntry| matches!(entry.content, EntryContent::Thought(_));
        let of_turn = exchange.turn.as_ref().and_then(|turn| turns.get(turn)).and_then(|turn| turn.is_thinking);
        let mode = Some(of_turn.unwrap_or_else(|| reply_entries.iter().any(is_thought)));
        let has_question = !question.is_empty();
        let system = system.into_iter().map(|entry| text_message(entry, Role::System, None));
        let mut reply = reply(reply_entries).map(|reply| ImportedMessage { is_thinking_mode: mode, ..reply });
        question.into_iter().for_each(|entry| add(text_message(entry, Role::User, mode)));
        if has_question {
            reply.take().into_iter().for_each(&mut add);
        }
        // Without a question, the system message comes first.
        system.for_each(&mut add);
        reply.into_iter().for_each(&mut add);
    }
    messages
}

/// Builds a message with a single text.
fn text_message(entry: TimelineEntry, role: Role, mode: Option<bool>) -> ImportedMessage {
    let mut made = ImportedMessage { created_at: entry.at, is_thinking_mode: mode, ..empty_message(&entry.id, role) };
    if let EntryContent::Question(text) | EntryContent::System(text) = entry.content {
        made.add_piece(PieceBody::Text(text));
    }
    made
}

/// Builds the reply from its rows.
fn reply(entries: Vec<TimelineEntry>) -> Option<ImportedMessage> {
    let first = entries.first()?;
    let id = if first.kind == LegacyRowKind::Message { first.id.clone() } else { first.place.clone() };
    let mut made = empty_message(&id, Role::Assistant);
    made.created_at = first.at;
    made.ended_at = entries.iter().filter_map(|entry| entry.at).max();
    made.model = entries.iter().find_map(|entry| entry.model.clone());
    let last = entries.len() - 1;
    for (number, entry) in entries.into_iter().enumerate() {
        match entry.content {
            // A failure takes the place of the reply, or follows its partial content.
            EntryContent::Reply { text, failure }
                if number == last && (failure == FailureSign::Yes || (failure == FailureSign::ByText && last == 0)) =>
            {
                // A text longer than the limit of a failure is also kept as text.
                if text.chars().count() > FAILURE_CHARS {
                    made.pieces.push(piece(entry.at, PieceBody::Text(text.clone())));
                }
                made.ending = MessageEnding::Failed(text);
            }
            // An empty reply only carries calls.
            EntryContent::Reply { text, .. } if text.is_empty() => {}
            EntryContent::Reply { text, .. } | EntryContent::Question(text) | EntryContent::System(text) => {
                made.pieces.push(piece(entry.at, PieceBody::Text(text)));
            }
            EntryContent::Thought(text) => {
                let body = PieceBody::Thinking { text, title: None, duration_ms: None };
                made.pieces.push(piece(entry.at, body));
            }
            EntryContent::ToolOutput(text) => {
                let at = made.pieces.len();
                made.add_tool_result(&format!("message {}", entry.id), "tool", text.into(), true);
                made.pieces[at].created_at = entry.at;
            }
            EntryContent::Call(of) => {
                let of = *of;
                made.pieces.push(piece(entry.at, call_body(entry.id.clone(), &of.name, of.arguments.as_ref())));
                if let Some(result) = of.result {
                    made.add_tool_result(&entry.id, &of.name, result, of.success);
                    let answer = made.pieces.last_mut();
                    if let Some(MessagePiece { created_at, body: PieceBody::ToolResult { metadata, .. }, .. }) = answer
                    {
                        (*created_at, *metadata) = (entry.at, of.metadata);
                    }
                }
            }
        }
    }
    Some(made)
}

fn piece(created_at: Option<DateTime<Utc>>, body: PieceBody) -> MessagePiece {
    MessagePiece { author: Author::Assistant, created_at, body }
}
