//! Turns that are being deleted: off the screen before the server has answered, and back where it refuses.

use leptos::prelude::*;

use super::{ChatState, HiddenTurns};
use crate::domain::TurnId;

impl ChatState {
    /// Takes a turn that is being deleted off the screen, with all that follow it. False when it is not among those on
    /// screen.
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

    /// Whether the server has not answered yet to what is hidden: until then it has more than is to be shown.
    pub fn has_pending_deletion(self) -> bool {
        self.hidden.try_with_value(Vec::is_empty) == Some(false)
    }

    /// The turn that was hidden is deleted. Whether the screen is still as that left it; nothing where it was not hidden.
    pub fn forget_hidden(self, from: TurnId) -> Option<bool> {
        Some(self.is_current_move(self.take_hidden(from)?.moves))
    }

    /// Shows what was hidden again. False when other turns are on screen by now.
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
