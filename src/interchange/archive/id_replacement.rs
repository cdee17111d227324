//! Replaces the ids of an imported chat, so that it never collides with stored rows. The mapping is deterministic:
//! importing the same archive again yields the same ids.

use std::collections::HashSet;

use serde_json::Value;
use uuid::Uuid;

use super::spooled_chat::ChatPart;
use super::{ArchivedBranch, ArchivedGeneration};
use crate::domain::documents::attachment::DOCUMENT_REF_TYPE;
use crate::domain::id::parse_uuid;
use crate::domain::{Chat, Content, DocumentId, Exchange, Turn};

/// Replaces ids. The function must map equal ids to equal ids.
pub trait ReplaceIds {
    #[must_use]
    fn replace_ids(self, rename: &dyn Fn(Uuid) -> Uuid) -> Self;
}

macro_rules! rename {
    ($rename:expr; $($id:expr),* $(,)?) => {$( $id = $rename($id.uuid()).into(); )*};
}

macro_rules! rename_option {
    ($rename:expr; $($id:expr),* $(,)?) => {$( $id = $id.map(|id| $rename(id.uuid()).into()); )*};
}

/// Replaces the ids of the chat row.
impl ReplaceIds for Chat {
    fn replace_ids(mut self, new: &dyn Fn(Uuid) -> Uuid) -> Self {
        rename!(new; self.id);
        rename_option!(new; self.default_branch_id, self.last_viewed_turn_id);
        // The turn that the chat was copied from is not in the archive.
        self.copied_from_turn_id = None;
        self
    }
}

impl ReplaceIds for ChatPart {
    fn replace_ids(mut self, new: &dyn Fn(Uuid) -> Uuid) -> Self {
        match &mut self {
            Self::Branch(of) => replace_branch_ids(of, new),
            Self::Exchange(of) => replace_exchange_ids(of, new),
            Self::Turn(of) => replace_turn_ids(of, new),
            Self::Generation(of) => replace_generation_ids(of, new),
        }
        self
    }
}

fn replace_branch_ids(of: &mut ArchivedBranch, new: &dyn Fn(Uuid) -> Uuid) {
    let branch = &mut of.branch;
    rename!(new; branch.id, branch.chat_id);
    rename_option!(new; branch.parent_branch_id, branch.fork_turn_id, branch.head_turn_id);
}

fn replace_exchange_ids(exchange: &mut Exchange, new: &dyn Fn(Uuid) -> Uuid) {
    rename!(new; exchange.id, exchange.chat_id, exchange.branch_id);
    rename_option!(new; exchange.user_turn_id);
}

fn replace_turn_ids(turn: &mut Turn, new: &dyn Fn(Uuid) -> Uuid) {
    rename!(new; turn.id, turn.chat_id, turn.branch_id, turn.exchange_id);
    rename_option!(new; turn.prev_turn_id);
    for block in &mut turn.blocks {
        rename!(new; block.id);
        rename_option!(new; block.parent_block_id, block.generation_id);
        match &mut block.content {
            Content::ThinkingSignature { attaches_to, .. } => {
                rename_option!(new; *attaches_to);
            }
            Content::Reference { ref_id, ref_type, .. } | Content::PartialReference { ref_id, ref_type, .. }
                if ref_type == DOCUMENT_REF_TYPE =>
            {
                if let Ok(id) = parse_uuid(ref_id) {
                    *ref_id = DocumentId::from(new(id)).to_string();
                }
            }
            _ => {}
        }
    }
}

fn replace_generation_ids(generation: &mut ArchivedGeneration, new: &dyn Fn(Uuid) -> Uuid) {
    rename!(new; generation.id, generation.turn_id);
    replace_ids_in_json(&mut generation.request_manifest, new);
}

/// Replaces ids within a manifest, which names turns and blocks.
fn replace_ids_in_json(value: &mut Value, new: &dyn Fn(Uuid) -> Uuid) {
    match value {
        Value::String(text) => {
            if let Ok(id) = parse_uuid(text) {
                *text = new(id).hyphenated().to_string();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|one| replace_ids_in_json(one, new)),
        Value::Object(map) => map.values_mut().for_each(|one| replace_ids_in_json(one, new)),
        _ => {}
    }
}

/// Returns the documents that the blocks reference.
pub(super) fn document_ids<'c>(contents: impl Iterator<Item = &'c Content>) -> HashSet<DocumentId> {
    let named = contents.filter_map(|content| match content {
        Content::Reference { ref_id, ref_type, .. } | Content::PartialReference { ref_id, ref_type, .. }
            if ref_type == DOCUMENT_REF_TYPE =>
        {
            ref_id.parse().ok()
        }
        _ => None,
    });
    named.collect()
}
