//! Other ids for a chat that comes in: nothing of it may meet what is there, and the same archive read again must come
//! to the same ids.

use std::collections::HashSet;

use serde_json::Value;
use uuid::Uuid;

use super::filed::Part;
use super::{ArchivedBranch, ArchivedGeneration};
use crate::domain::attachment::DOCUMENT;
use crate::domain::id::parse_uuid;
use crate::domain::{Chat, Content, DocumentId, Exchange, Turn};

/// Gives other ids. The function gives the same new id for the same old one.
pub trait Renamed {
    #[must_use]
    fn renamed(self, rename: &dyn Fn(Uuid) -> Uuid) -> Self;
}

macro_rules! rename {
    ($rename:expr; $($id:expr),* $(,)?) => {$( $id = $rename($id.uuid()).into(); )*};
}

macro_rules! rename_option {
    ($rename:expr; $($id:expr),* $(,)?) => {$( $id = $id.map(|id| $rename(id.uuid()).into()); )*};
}

/// The chat's own row.
impl Renamed for Chat {
    fn renamed(mut self, new: &dyn Fn(Uuid) -> Uuid) -> Self {
        rename!(new; self.id);
        rename_option!(new; self.default_branch_id, self.last_viewed_turn_id);
        // What it was copied from is not in here.
        self.copied_from_turn_id = None;
        self
    }
}

impl Renamed for Part {
    fn renamed(mut self, new: &dyn Fn(Uuid) -> Uuid) -> Self {
        match &mut self {
            Self::Branch(of) => branch(of, new),
            Self::Exchange(of) => exchange(of, new),
            Self::Turn(of) => turn(of, new),
            Self::Generation(of) => generation(of, new),
        }
        self
    }
}

fn branch(of: &mut ArchivedBranch, new: &dyn Fn(Uuid) -> Uuid) {
    let branch = &mut of.branch;
    rename!(new; branch.id, branch.chat_id);
    rename_option!(new; branch.parent_branch_id, branch.fork_turn_id, branch.head_turn_id);
}

fn exchange(exchange: &mut Exchange, new: &dyn Fn(Uuid) -> Uuid) {
    rename!(new; exchange.id, exchange.chat_id, exchange.branch_id);
    rename_option!(new; exchange.user_turn_id);
}

fn turn(turn: &mut Turn, new: &dyn Fn(Uuid) -> Uuid) {
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
                if ref_type == DOCUMENT =>
            {
                if let Ok(id) = parse_uuid(ref_id) {
                    *ref_id = DocumentId::from(new(id)).to_string();
                }
            }
            _ => {}
        }
    }
}

fn generation(generation: &mut ArchivedGeneration, new: &dyn Fn(Uuid) -> Uuid) {
    rename!(new; generation.id, generation.turn_id);
    rename_in(&mut generation.request_manifest, new);
}

/// A manifest names turns and blocks by their ids.
fn rename_in(value: &mut Value, new: &dyn Fn(Uuid) -> Uuid) {
    match value {
        Value::String(text) => {
            if let Ok(id) = parse_uuid(text) {
                *text = new(id).hyphenated().to_string();
            }
        }
        Value::Array(list) => list.iter_mut().for_each(|one| rename_in(one, new)),
        Value::Object(map) => map.values_mut().for_each(|one| rename_in(one, new)),
        _ => {}
    }
}

/// The documents that the messages of a turn's blocks name.
pub(super) fn document_ids<'c>(contents: impl Iterator<Item = &'c Content>) -> HashSet<DocumentId> {
    let named = contents.filter_map(|content| match content {
        Content::Reference { ref_id, ref_type, .. } | Content::PartialReference { ref_id, ref_type, .. }
            if ref_type == DOCUMENT =>
        {
            ref_id.parse().ok()
        }
        _ => None,
    });
    named.collect()
}
