//! Recorded imports: their state, and the rule for undoing what they added to a chat.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::TurnId;

/// The state of a recorded import.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ImportState {
    Running,
    /// The source was read to its end.
    Finished,
    /// It ended early; what was imported until then is kept.
    Stopped,
    /// The server ended while it ran; what was imported until then is kept.
    Interrupted,
    /// Its chats and documents are in Trash, or were deleted permanently since.
    Undone,
}

impl ImportState {
    /// Returns whether the items that the import created can be moved to Trash.
    pub fn can_undo(self) -> bool {
        matches!(self, Self::Finished | Self::Stopped | Self::Interrupted)
    }
}

/// The numbers of items that an import created and that are not in Trash.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ImportCreations {
    /// New chats.
    pub chats: u64,
    /// Chats that existed before and got new messages.
    pub extended_chats: u64,
    pub documents: u64,
}

impl ImportCreations {
    /// Returns whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The part of an import's items that its undo moves to Trash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoScope {
    /// Only items that were not changed since the import.
    Unchanged,
    /// Also items that were continued or changed since, with everything that was written there.
    Changed,
}

/// A turn of a chat, as the rule for undoing needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedTurn {
    pub id: TurnId,
    pub prev_turn_id: Option<TurnId>,
    pub ord: i64,
}

/// The turns that undo an import's additions to a chat.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdditionsUndo {
    /// The turns to delete with everything below them, which is all from the import.
    pub roots: Vec<TurnId>,
    /// The number of added turns that stay, because turns from elsewhere follow them.
    pub kept: u64,
}

impl AdditionsUndo {
    /// Decides which of the added turns can be deleted: those below which every turn was added by the same import.
    /// `turns` are those of the chat that are not deleted, `added` the ords that the import allocated.
    pub fn plan(turns: &[PlacedTurn], added: &[RangeInclusive<i64>]) -> Self {
        let is_added = |turn: &PlacedTurn| added.iter().any(|range| range.contains(&turn.ord));
        let mut newest_first: Vec<&PlacedTurn> = turns.iter().collect();
        // A turn is older than those below it (docs/reference/domain.md I1).
        newest_first.sort_by_key(|turn| std::cmp::Reverse(turn.ord));
        let (mut removable, mut followed) = (HashSet::new(), HashSet::new());
        let mut kept = 0;
        for turn in &newest_first {
            if is_added(turn) && !followed.contains(&turn.id) {
                removable.insert(turn.id);
            } else {
                kept += u64::from(is_added(turn));
                followed.extend(turn.prev_turn_id);
            }
        }
        let is_root = |turn: &&&PlacedTurn| {
            removable.contains(&turn.id) && turn.prev_turn_id.is_none_or(|prev| !removable.contains(&prev))
        };
        let roots = newest_first.iter().filter(is_root).map(|turn| turn.id).collect();
        Self { roots, kept }
    }

    /// Deletes all of the added turns, with everything that was written below them.
    pub fn plan_with_followers(turns: &[PlacedTurn], added: &[RangeInclusive<i64>]) -> Self {
        let is_added = |turn: &&PlacedTurn| added.iter().any(|range| range.contains(&turn.ord));
        let all: HashSet<TurnId> = turns.iter().filter(is_added).map(|turn| turn.id).collect();
        let is_root = |turn: &&PlacedTurn| turn.prev_turn_id.is_none_or(|prev| !all.contains(&prev));
        let mut roots: Vec<&PlacedTurn> = turns.iter().filter(is_added).filter(is_root).collect();
        // A root may be below another one; it is deleted first, so that restoring brings both back.
        roots.sort_by_key(|turn| std::cmp::Reverse(turn.ord));
        Self { roots: roots.into_iter().map(|turn| turn.id).collect(), kept: 0 }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: u128) -> TurnId {
        Uuid::from_u128(number).into()
    }

    /// Turns by ord, each with the ord of its predecessor; 0 for none.
    fn tree(turns: &[(i64, i64)]) -> Vec<PlacedTurn> {
        let of = |ord: i64| id(u128::try_from(ord).unwrap());
        let placed = |&(ord, prev): &(i64, i64)| PlacedTurn {
            id: of(ord),
            prev_turn_id: Some(prev).filter(|prev| *prev > 0).map(of),
            ord,
        };
        turns.iter().map(placed).collect()
    }

    #[test]
    fn added_turns_are_deleted_unless_others_follow() {
        // Turns 1 and 2 existed; 3 to 6 were added; those from 7 on are from elsewhere.
        type KeptCase = (&'static [(i64, i64)], &'static [u128], u64);
        let cases: [KeptCase; 6] = [
            (&[(1, 0), (2, 1)], &[], 0),
            (&[(1, 0), (2, 1), (3, 2), (4, 3)], &[3], 0),
            // Two branches: the later root first.
            (&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 2), (6, 5)], &[5, 3], 0),
            // A message was written after the last added reply, so all above it stay.
            (&[(1, 0), (2, 1), (3, 2), (4, 3), (7, 4)], &[], 2),
            // It follows an added reply in the middle: everything below that reply is deleted.
            (&[(1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5), (7, 4)], &[5], 2),
            // A new root of its own.
            (&[(1, 0), (3, 0), (4, 3), (7, 1)], &[3], 0),
        ];
        for (turns, roots, kept) in cases {
            let plan = AdditionsUndo::plan(&tree(turns), &[3..=4, 5..=6]);
            let roots: Vec<TurnId> = roots.iter().map(|number| id(*number)).collect();
            assert_eq!(plan, AdditionsUndo { roots, kept }, "{turns:?}");
        }
    }

    #[test]
    fn added_turns_are_deleted_with_those_that_follow() {
        type ForcedCase = (&'static [(i64, i64)], &'static [u128]);
        let cases: [ForcedCase; 4] = [
            (&[(1, 0), (2, 1)], &[]),
            (&[(1, 0), (2, 1), (3, 2), (4, 3), (7, 4)], &[3]),
            // An added turn below one that was written here, which is below an added one.
            (&[(1, 0), (2, 1), (3, 2), (7, 3), (5, 7)], &[5, 3]),
            (&[(1, 0), (3, 0), (4, 3), (7, 1)], &[3]),
        ];
        for (turns, roots) in cases {
            let plan = AdditionsUndo::plan_with_followers(&tree(turns), &[3..=4, 5..=6]);
            let roots: Vec<TurnId> = roots.iter().map(|number| id(*number)).collect();
            assert_eq!(plan, AdditionsUndo { roots, kept: 0 }, "{turns:?}");
        }
    }

    #[test]
    fn only_ended_imports_can_be_undone() {
        let can: Vec<ImportState> = [
            ImportState::Running,
            ImportState::Finished,
            ImportState::Stopped,
            ImportState::Interrupted,
            ImportState::Undone,
        ]
        .into_iter()
        .filter(|state| state.can_undo())
        .collect();
        assert_eq!(can, [ImportState::Finished, ImportState::Stopped, ImportState::Interrupted]);
    }
}
