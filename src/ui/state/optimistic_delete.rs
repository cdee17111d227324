//! Optimistic delete: turns are hidden before the server has answered, and shown again where it refuses.

use leptos::prelude::*;

use super::{ChatState, HiddenTurns};
use crate::domain::TurnId;

impl ChatState {
    /// Hides a turn that is being deleted, with all that follow it. False when it is not on screen.
    pub fn hide_from(self, from: TurnId) -> bool {
        let is_here = self.is_page_alive() && self.is_on_screen(from);
        if is_here {
            let (path, beyond) = (self.path.get_untracked(), self.beyond.get_untracked());
            self.remove_from(from);
            let moves = self.moves.get_value();
            self.hidden.update_value(|all| all.push(HiddenTurns { from, path, beyond, moves }));
        }
        is_here
    }

    /// Returns whether a deletion is pending: until the response, the server still has the hidden turns.
    pub fn has_pending_deletion(self) -> bool {
        self.hidden.try_with_value(Vec::is_empty) == Some(false)
    }

    /// Confirms the deletion of a hidden turn. Returns whether the screen has not changed since; none where it was
    /// not hidden.
    pub fn forget_hidden(self, from: TurnId) -> Option<bool> {
        Some(self.is_current_move(self.take_hidden(from)?.moves))
    }

    /// Shows hidden turns again. False when other turns are on screen by now.
    pub fn unhide_from(self, from: TurnId) -> bool {
        let Some(hidden) = self.take_hidden(from).filter(|hidden| self.is_current_move(hidden.moves)) else {
            return false;
        };
        self.path.set(hidden.path);
        self.beyond.set(hidden.beyond);
        self.start_move();
        true
    }

    fn take_hidden(self, from: TurnId) -> Option<HiddenTurns> {
        self.hidden
            .try_update_value(|all| Some(all.remove(all.iter().position(|hidden| hidden.from == from)?)))
            .flatten()
    }
}
