//! Merges the messages of a source into replies, in the same way for every source. Many programs store a reply as
//! several consecutive messages: reasoning and a call, the tool's result, the next step. In Turnleaf a reply is one
//! turn, so such a run becomes one message. Readers never merge on their own.

use std::collections::HashSet;

use crate::conversation::{Conversation, ImportedMessage, MergedPart, MessageEnding, MessagePiece};
use crate::domain::turns::turn::Role;

/// Returns the conversation with every run of reply messages merged into one message: its pieces in order, the id of
/// the first message, the sum of the usage, ending and end time of the last message. Everything else is unchanged.
///
/// A run is as long as possible. It ends at a fork (each forked message starts its own run), where the model or the
/// provider changes, and after a failed message, whose error text would otherwise be lost. User and system messages
/// are never merged. A piece without a time inherits that of its message, because the message's time is lost in the
/// merge.
pub fn merge_replies(conversation: Conversation) -> Conversation {
    let Conversation { messages, current, .. } = conversation;
    let mut children = vec![0_usize; messages.len()];
    for (at, message) in messages.iter().enumerate() {
        if let Some(parent) = message.parent.filter(|parent| *parent < at) {
            children[parent] += 1;
        }
    }
    let mut replies: Vec<ImportedMessage> = Vec::with_capacity(messages.len());
    // Maps each message to its merged message. The last message of a run is always the end of its reply, because a
    // message with two children continues into neither.
    let mut gone: Vec<usize> = Vec::with_capacity(messages.len());
    for (at, mut message) in messages.into_iter().enumerate() {
        let parent = message.parent.filter(|parent| *parent < at);
        let reply = parent.map(|parent| gone[parent]);
        match (parent, reply) {
            (Some(parent), Some(to)) if children[parent] == 1 && continues_reply(&replies[to], &message) => {
                append(&mut replies[to], message);
                gone.push(to);
            }
            _ => {
                message.parent = reply;
                gone.push(replies.len());
                replies.push(message);
            }
        }
    }
    let current = current.and_then(|current| gone.get(current).copied());
    Conversation { messages: replies, current, ..conversation }
}

/// Returns whether a message continues the reply that is its parent.
fn continues_reply(reply: &ImportedMessage, message: &ImportedMessage) -> bool {
    let differ = |one: &Option<String>, other: &Option<String>| one.is_some() && other.is_some() && one != other;
    reply.role == Role::Assistant
        && message.role == Role::Assistant
        && !matches!(reply.ending, MessageEnding::Failed(_))
        && !differ(&reply.model, &message.model)
        && !differ(&reply.provider, &message.provider)
}

/// Splits merged replies again: each of the parts with these ids begins a message of its own.
pub fn split_replies(conversation: Conversation, begins: &HashSet<String>) -> Conversation {
    let Conversation { messages, current, .. } = conversation;
    let mut split: Vec<ImportedMessage> = Vec::with_capacity(messages.len() + begins.len());
    // Maps each message to the last one that it was split into.
    let mut gone: Vec<usize> = Vec::with_capacity(messages.len());
    for (at, mut message) in messages.into_iter().enumerate() {
        message.parent = message.parent.filter(|parent| *parent < at).and_then(|parent| gone.get(parent).copied());
        let parts = std::mem::take(&mut message.parts);
        let starts: Vec<usize> = (1..parts.len()).filter(|&part| begins.contains(&parts[part].source_id)).collect();
        if starts.is_empty() {
            split.push(ImportedMessage { parts, ..message });
            gone.push(split.len() - 1);
            continue;
        }
        let (role, mut parent) = (message.role, message.parent);
        let mut pieces = message.pieces.into_iter();
        let ends = starts.iter().copied().chain([parts.len()]);
        for (start, end) in [0].into_iter().chain(starts.iter().copied()).zip(ends) {
            let run = parts[start..end].iter().map(|part| {
                let own = pieces.by_ref().take(part.pieces).collect();
                message_of_part(part.clone(), role, own)
            });
            let Some(mut reply) = run.reduce(|mut reply, message| {
                append(&mut reply, message);
                reply
            }) else {
                continue;
            };
            reply.parent = parent;
            parent = Some(split.len());
            split.push(reply);
        }
        // Pieces that were added after the merge stay with the last message.
        if let Some(last) = split.last_mut() {
            last.pieces.extend(pieces);
        }
        gone.push(split.len() - 1);
    }
    let current = current.and_then(|current| gone.get(current).copied());
    Conversation { messages: split, current, ..conversation }
}

fn message_of_part(part: MergedPart, role: Role, pieces: Vec<MessagePiece>) -> ImportedMessage {
    let MergedPart { source_id, provider, model, created_at, ended_at, ending, usage, is_thinking_mode, .. } = part;
    ImportedMessage {
        source_id,
        parent: None,
        role,
        provider,
        model,
        created_at,
        ended_at,
        ending,
        pieces,
        usage,
        is_thinking_mode,
        parts: Vec::new(),
    }
}

fn part_of(message: &ImportedMessage) -> MergedPart {
    MergedPart {
        source_id: message.source_id.clone(),
        pieces: message.pieces.len(),
        provider: message.provider.clone(),
        model: message.model.clone(),
        created_at: message.created_at,
        ended_at: message.ended_at,
        ending: message.ending.clone(),
        usage: message.usage,
        is_thinking_mode: message.is_thinking_mode,
    }
}

fn append(reply: &mut ImportedMessage, message: ImportedMessage) {
    if reply.parts.is_empty() {
        reply.parts.push(part_of(reply));
    }
    reply.parts.push(part_of(&message));
    set_times(&mut reply.pieces, reply.created_at);
    let ImportedMessage { provider, model, created_at, ended_at, ending, mut pieces, usage, is_thinking_mode, .. } =
        message;
    set_times(&mut pieces, created_at);
    reply.pieces.append(&mut pieces);
    reply.provider = reply.provider.take().or(provider);
    reply.model = reply.model.take().or(model);
    reply.created_at = reply.created_at.or(created_at);
    // Without the end of the last message, the end of the reply is unknown.
    reply.ended_at = ended_at;
    reply.ending = ending;
    reply.usage = reply.usage + usage;
    reply.is_thinking_mode = reply.is_thinking_mode.or(is_thinking_mode);
}

fn set_times(pieces: &mut [MessagePiece], time: Option<chrono::DateTime<chrono::Utc>>) {
    for piece in pieces {
        piece.created_at = piece.created_at.or(time);
    }
}

#[cfg(test)]
mod tests;
