//! Finds replies that their source continued after the import, so that the continuation becomes a reply of its own: a
//! stored reply is never changed.

use std::collections::{HashMap, HashSet};

use super::import_key::ImportKey;
use super::incoming::IncomingConversation;
use turnleaf_domain::{ChatId, Turn, TurnId, limits};
use turnleaf_interchange::chat_builder::source_changes::{first_part_behind, placeholder_files};
use turnleaf_interchange::chat_builder::turn_id_key;
use turnleaf_interchange::{Conversation, split_replies};
use turnleaf_store::transfer::archive;
use turnleaf_store::{StoreError, Tx};

/// Splits the merged replies of a conversation where the stored ones end; `None` if there is nothing to split.
pub(super) async fn split_continued_replies(
    tx: &mut Tx,
    incoming: &IncomingConversation<'_>,
    chat: ChatId,
) -> Result<Option<Conversation>, StoreError> {
    let conversation = incoming.conversation;
    if conversation.messages.iter().all(|message| message.parts.is_empty()) {
        return Ok(None);
    }
    let turn_of = |message: &str| turn_of(incoming.key, message);
    let here = archive::existing_chat(tx, incoming.owner, chat).await?;
    let is_stored = |id: &TurnId| here.turns.contains_key(id) || here.deleted.contains(id);
    // Continuations that an earlier import added.
    let parts = conversation.messages.iter().flat_map(|message| message.parts.iter().skip(1));
    let mut begins: HashSet<String> =
        parts.filter(|part| is_stored(&turn_of(&part.source_id))).map(|part| part.source_id.clone()).collect();
    let known = split_replies(conversation.clone(), &begins);
    let grown = known
        .messages
        .iter()
        .filter(|message| !message.parts.is_empty() && here.turns.contains_key(&turn_of(&message.source_id)));
    let grown: Vec<Vec<&str>> =
        grown.map(|message| message.parts.iter().map(|part| part.source_id.as_str()).collect()).collect();
    if !grown.is_empty() {
        let all: HashSet<String> = grown.iter().flatten().map(|id| (*id).to_owned()).collect();
        let apart = split_replies(known.clone(), &all);
        let incoming = IncomingConversation { conversation: &apart, ..*incoming };
        let built = incoming.build_chat(placeholder_files(&apart), &mut Vec::new());
        let turns: HashMap<TurnId, &Turn> = built.turns.iter().map(|turn| (turn.id, turn)).collect();
        for some in grown.chunks(limits::PAGE_MAX as usize) {
            let ids: Vec<TurnId> = some.iter().filter_map(|parts| parts.first()).map(|id| turn_of(id)).collect();
            let contents = archive::turn_contents(tx, incoming.owner, chat, &ids).await?;
            for (parts, id) in some.iter().zip(&ids) {
                let parts: Vec<(&str, &Turn)> =
                    parts.iter().filter_map(|part| Some((*part, *turns.get(&turn_of(part))?))).collect();
                let behind = contents.get(id).and_then(|here| first_part_behind(&parts, here));
                begins.extend(behind.map(str::to_owned));
            }
        }
    }
    Ok((!begins.is_empty()).then(|| split_replies(conversation.clone(), &begins)))
}

/// Returns the id of a message's turn.
pub(super) fn turn_of(key: &ImportKey, message: &str) -> TurnId {
    TurnId::from(key.part_id(&turn_id_key(message)))
}
