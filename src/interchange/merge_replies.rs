//! The one rule that makes replies of a source's messages. Many programs keep a reply as several messages in a row:
//! reasoning and a call, the tool's answer, the next step. In Turnleaf a reply is one turn, so such a run becomes one
//! message. The same for every source; a reader never does it itself.

use crate::conversation::{Conversation, ImportedMessage, MessageEnding, MessagePiece};
use crate::domain::turn::Role;

/// The conversation with every run of replies made one message: its pieces in their order, the first message's id,
/// the sum of the usage, the last message's ending and end. Everything else stays as it is.
///
/// A run is as long as it can be. It ends at a fork (what was forked off stands on top, each on its own), where the
/// model or the provider changes, and behind a message that failed, whose words would otherwise have no place. Messages
/// of the user and of the system are never joined. A piece without a time gets its message's, which is lost otherwise.
pub fn merge_replies(conversation: Conversation) -> Conversation {
    let Conversation { messages, current, .. } = conversation;
    let mut children = vec![0_usize; messages.len()];
    for (at, message) in messages.iter().enumerate() {
        if let Some(parent) = message.parent.filter(|parent| *parent < at) {
            children[parent] += 1;
        }
    }
    let mut replies: Vec<ImportedMessage> = Vec::with_capacity(messages.len());
    // Where each message has gone. A run's newest message is always the end of its reply: a message with two children
    // is joined by neither.
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

/// Whether a message goes on with the reply that it stands on.
fn continues_reply(reply: &ImportedMessage, message: &ImportedMessage) -> bool {
    let differ = |one: &Option<String>, other: &Option<String>| one.is_some() && other.is_some() && one != other;
    reply.role == Role::Assistant
        && message.role == Role::Assistant
        && !matches!(reply.ending, MessageEnding::Failed(_))
        && !differ(&reply.model, &message.model)
        && !differ(&reply.provider, &message.provider)
}

fn append(reply: &mut ImportedMessage, message: ImportedMessage) {
    set_times(&mut reply.pieces, reply.created_at);
    let ImportedMessage { provider, model, created_at, ended_at, ending, mut pieces, usage, is_thinking_mode, .. } =
        message;
    set_times(&mut pieces, created_at);
    reply.pieces.append(&mut pieces);
    reply.provider = reply.provider.take().or(provider);
    reply.model = reply.model.take().or(model);
    reply.created_at = reply.created_at.or(created_at);
    reply.ended_at = ended_at.or(reply.ended_at);
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
