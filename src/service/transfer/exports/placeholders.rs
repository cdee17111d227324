//! Placeholders for branches and turns whose rows cannot be read, built from their remaining values under the same
//! ids.

use super::plan::PlannedTurn;
use super::redaction::redact_turn;
use super::tree::ChatTree;
use crate::{Service, ServiceError};
use turnleaf_domain::{
    Author, Block, Branch, BranchOrigin, ChatId, ModelLock, Turn, TurnLocation, TurnStatus, UNKNOWN_MODEL,
};
use turnleaf_store::transfer::archive::salvage;

impl Service {
    /// Builds a branch for turns whose own branch cannot be read; `original` is the one that they were on.
    pub(super) async fn placeholder_branch(
        &self,
        chat_id: ChatId,
        first: &PlannedTurn,
        original: Option<Branch>,
    ) -> Result<Branch, ServiceError> {
        let left = salvage::branch(self.db(), first.branch).await?;
        let lock = left.lock.or(original.map(|branch| branch.lock));
        let (name, label) = match first.branch.uuid() == first.id.uuid() {
            true => (None, None),
            false => (left.name.filter(|name| !name.is_empty()), left.label),
        };
        let name = name.unwrap_or_else(|| format!("damaged-{}", &first.branch.uuid().simple().to_string()[..12]));
        let lock = lock.unwrap_or_else(|| ModelLock::new(UNKNOWN_MODEL, UNKNOWN_MODEL));
        let created_at = left.created_at.unwrap_or(first.created_at);
        Ok(Branch {
            fork_turn_id: first.prev,
            origin: if first.prev.is_some() { BranchOrigin::Fork } else { BranchOrigin::Root },
            label,
            ..Branch::new(first.branch, chat_id, name, lock, created_at)
        })
    }

    /// Builds a placeholder for a turn whose row cannot be read, with its readable blocks.
    pub(super) async fn placeholder_turn(
        &self,
        tree: &mut ChatTree,
        planned: &PlannedTurn,
    ) -> Result<Turn, ServiceError> {
        let id = planned.id;
        tree.damages.note_lost(
            "turns",
            id,
            "its row cannot be read; its content is exported as far as it is readable".into(),
        );
        let mut blocks = Vec::new();
        if planned.has_blocks {
            let mut unread = Vec::new();
            blocks = salvage::blocks(self.db(), id, &mut unread).await?;
            tree.damages.note_unreadable(unread);
        }
        let notice = salvage::unreadable_row_notice("turns", id.to_string(), None);
        blocks.push(Block::new(id.uuid().into(), (0, 0), Author::System, notice, planned.created_at));
        let location = TurnLocation {
            chat_id: tree.id,
            ord: planned.ord,
            depth: 0,
            branch_id: planned.branch,
            exchange_id: planned.exchange,
            prev_turn_id: planned.prev,
        };
        let turn = Turn {
            status: TurnStatus::Complete,
            completed_at: Some(planned.created_at),
            blocks,
            ..Turn::new(id, location, planned.role, planned.created_at)
        };
        Ok(redact_turn(&self.supervisor().registry().known_keys(), turn))
    }
}
