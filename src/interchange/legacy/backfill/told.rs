//! What the exchanges of a legacy conversation are as messages: each question with the one reply that its rows tell.

use std::collections::HashMap;

use chrono::{DateTime, Utc};

use super::super::Kind;
use super::super::entry::{Entry, Failure, Said};
use super::exchanges::{Exchange, Turn};
use crate::conversation::{Body, Ending, Message, Piece};
use crate::domain::block::Author;
use crate::domain::turn::Role;
use crate::grow::FAILURE_CHARS;
use crate::made::{call, message};
use crate::names::Names;

/// The messages, one below the other.
pub(super) fn messages(timeline: Vec<Entry>, exchanges: Vec<Exchange>, turns: &HashMap<String, Turn>) -> Vec<Message> {
    let mut timeline: Vec<Option<Entry>> = timeline.into_iter().map(Some).collect();
    let mut names = Names::default();
    let mut messages: Vec<Message> = Vec::new();
    let mut add = |mut message: Message| {
        message.source_id = names.once(message.source_id).0;
        message.parent = messages.len().checked_sub(1);
        messages.push(message);
    };
    for exchange in exchanges {
        let mut take = |places: Vec<usize>| -> Vec<Entry> {
            places.into_iter().filter_map(|at| timeline.get_mut(at)?.take()).collect()
        };
        let (question, said, system) =
            (take(exchange.question.into_iter().collect()), take(exchange.said), take(exchange.system));
        let is_thought = |entry: &Entry| matches!(entry.said, Said::Thought(_));
        let of_turn = exchange.turn.as_ref().and_then(|turn| turns.get(turn)).and_then(|turn| turn.is_thinking);
        let mode = Some(of_turn.unwrap_or_else(|| said.iter().any(is_thought)));
        let has_question = !question.is_empty();
        let system = system.into_iter().map(|entry| plain(entry, Role::System, None));
        let mut reply = reply(said).map(|reply| Message { is_thinking_mode: mode, ..reply });
        question.into_iter().for_each(|entry| add(plain(entry, Role::User, mode)));
        if has_question {
            reply.take().into_iter().for_each(&mut add);
        }
        // Where there is no question, the system speaks first.
        system.for_each(&mut add);
        reply.into_iter().for_each(&mut add);
    }
    messages
}

/// A message of a text alone.
fn plain(entry: Entry, role: Role, mode: Option<bool>) -> Message {
    let mut made = Message { created_at: entry.at, is_thinking_mode: mode, ..message(&entry.id, role) };
    if let Said::Question(text) | Said::System(text) = entry.said {
        made.say(Body::Text(text));
    }
    made
}

/// The reply that was said in these rows.
fn reply(said: Vec<Entry>) -> Option<Message> {
    let first = said.first()?;
    let id = if first.kind == Kind::Message { first.id.clone() } else { first.place.clone() };
    let mut made = message(&id, Role::Assistant);
    made.created_at = first.at;
    made.ended_at = said.iter().filter_map(|entry| entry.at).max();
    made.model = said.iter().find_map(|entry| entry.model.clone());
    let last = said.len() - 1;
    for (number, entry) in said.into_iter().enumerate() {
        match entry.said {
            // What failed says so in the place of the reply, or behind what came of it.
            Said::Reply { text, failure }
                if number == last && (failure == Failure::Yes || (failure == Failure::ByWords && last == 0)) =>
            {
                // What does not stand with a failure is said as text.
                if text.chars().count() > FAILURE_CHARS {
                    made.pieces.push(piece(entry.at, Body::Text(text.clone())));
                }
                made.ending = Ending::Failed(text);
            }
            // Only calls hang on it.
            Said::Reply { text, .. } if text.is_empty() => {}
            Said::Reply { text, .. } | Said::Question(text) | Said::System(text) => {
                made.pieces.push(piece(entry.at, Body::Text(text)));
            }
            Said::Thought(text) => {
                let body = Body::Thinking { text, title: None, duration_ms: None };
                made.pieces.push(piece(entry.at, body));
            }
            Said::Brought(text) => {
                let at = made.pieces.len();
                made.answer(&format!("message {}", entry.id), "tool", text.into(), true);
                made.pieces[at].created_at = entry.at;
            }
            Said::Call(of) => {
                let of = *of;
                made.pieces.push(piece(entry.at, call(entry.id.clone(), &of.name, of.arguments.as_ref())));
                if let Some(result) = of.result {
                    made.answer(&entry.id, &of.name, result, of.success);
                    let answer = made.pieces.last_mut();
                    if let Some(Piece { created_at, body: Body::Answer { metadata, .. }, .. }) = answer {
                        (*created_at, *metadata) = (entry.at, of.metadata);
                    }
                }
            }
        }
    }
    Some(made)
}

fn piece(created_at: Option<DateTime<Utc>>, body: Body) -> Piece {
    Piece { author: Author::Assistant, created_at, body }
}
