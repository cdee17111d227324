//! The way from the path on screen to another one that the reader asked for. Between the press and the answer the screen
//! shows the one before, so whoever sends a message, or hears that a reply began, asks here where the reader stands.

use leptos::prelude::*;

use super::ChatState;
use crate::domain::TurnId;

/// What is known of the paths that were asked for.
#[derive(Clone, Copy)]
pub(super) struct Way {
    /// Rises with each path that is asked for, and with each that does not come.
    asked: StoredValue<u64>,
    is_open: StoredValue<bool>,
    on_end: StoredValue<Option<Callback<()>>>,
}

impl Way {
    pub(super) fn new() -> Self {
        Self { asked: StoredValue::new(0), is_open: StoredValue::new(false), on_end: StoredValue::new(None) }
    }
}

/// Where the reader stood at some moment: at a path's end, or on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    asked: u64,
    /// The end of the path on screen; not where another one was on its way already.
    leaf: Option<Option<TurnId>>,
}

impl ChatState {
    /// Another path is asked for. Gives the number that its answer must name; an answer to an older question comes too
    /// late.
    pub fn ask_path(self) -> u64 {
        self.way.asked.update_value(|asked| *asked += 1);
        self.way.is_open.set_value(true);
        self.way.asked.get_value()
    }

    /// Whether this path is still the one that is wanted, and the page is still there.
    pub fn is_asked(self, number: u64) -> bool {
        self.is_on_its_way() && self.way.asked.try_get_value() == Some(number)
    }

    /// The path that was asked for under this number is on screen, or does not come.
    pub fn path_came(self, number: u64, is_shown: bool) {
        if self.is_asked(number) {
            self.end_way(is_shown);
        }
    }

    /// What was asked for is not wanted any more.
    pub fn give_up_path(self) {
        if self.is_on_its_way() {
            self.end_way(false);
        }
    }

    /// Whether a path that was asked for is not on screen yet.
    pub fn is_on_its_way(self) -> bool {
        self.way.is_open.try_get_value() == Some(true)
    }

    /// Has this called whenever a way has ended, well or not.
    pub fn on_way_end(self, then: Callback<()>) {
        self.way.on_end.set_value(Some(then));
    }

    /// Where the reader stands now.
    pub fn stand(self) -> Stand {
        let leaf = (!self.is_on_its_way()).then(|| self.leaf_id());
        Stand { asked: self.way.asked.get_value(), leaf }
    }

    /// Whether the reader still wants what they saw, or had asked for, when they stood there. Other turns of the same path
    /// are no other path.
    pub fn is_still_at(self, stand: Stand) -> bool {
        let is_same = self.way.asked.try_get_value() == Some(stand.asked);
        is_same || (!self.is_on_its_way() && stand.leaf == Some(self.leaf_id()))
    }

    fn end_way(self, is_shown: bool) {
        self.way.is_open.set_value(false);
        if !is_shown {
            self.way.asked.update_value(|asked| *asked += 1);
        }
        if let Some(then) = self.way.on_end.get_value() {
            let _ = then.try_run(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::view::TurnView;
    use crate::domain::{Role, TurnStatus, sample};
    use crate::ui::state::tests::{chat, in_owner, view};

    fn path(ends: &[i64]) -> Vec<TurnView> {
        ends.iter().map(|ord| view(sample::turn(*ord, Role::Assistant, TurnStatus::Complete))).collect()
    }

    /// Puts other turns on screen, as the answer to what was asked for does.
    fn arrive(state: ChatState, number: u64, ends: &[i64]) {
        state.path.set(chat(path(ends)).path.get_untracked());
        state.path_came(number, true);
    }

    #[test]
    fn who_pressed_before_the_path_came_meant_that_path() {
        in_owner(|| {
            let state = chat(path(&[2]));
            let before = state.stand();
            let number = state.ask_path();
            let on_the_way = state.stand();
            assert!(!state.is_still_at(before), "another one is wanted now");
            assert!(state.is_still_at(on_the_way));
            arrive(state, number, &[4]);
            assert!(state.is_still_at(on_the_way));
            assert!(!state.is_still_at(before));
        });
    }

    #[test]
    fn a_path_that_does_not_come_leaves_the_reader_where_they_were() {
        in_owner(|| {
            let state = chat(path(&[2]));
            let before = state.stand();
            let number = state.ask_path();
            let on_the_way = state.stand();
            state.path_came(number, false);
            assert!(state.is_still_at(before), "its end is on screen");
            assert!(!state.is_still_at(on_the_way), "what was meant is not");
        });
    }

    #[test]
    fn the_newest_question_counts_and_a_late_answer_ends_nothing() {
        in_owner(|| {
            let state = chat(path(&[2]));
            let older = state.ask_path();
            let on_the_way = state.stand();
            let newer = state.ask_path();
            assert!(!state.is_still_at(on_the_way));
            assert!(!state.is_asked(older));
            state.path_came(older, true);
            assert!(state.is_on_its_way());
            arrive(state, newer, &[4]);
            assert!(!state.is_on_its_way());
            assert!(!state.is_still_at(on_the_way));
        });
    }

    #[test]
    fn other_turns_of_the_same_path_are_no_other_path() {
        in_owner(|| {
            let state = chat(path(&[2, 4]));
            let before = state.stand();
            let number = state.ask_path();
            arrive(state, number, &[1, 4]);
            assert!(state.is_still_at(before));
        });
    }

    #[test]
    fn every_end_is_told_once() {
        in_owner(|| {
            let state = chat(path(&[2]));
            let told = StoredValue::new(0);
            state.on_way_end(Callback::new(move |()| told.update_value(|told| *told += 1)));
            state.give_up_path();
            assert_eq!(told.get_value(), 0);
            let number = state.ask_path();
            state.give_up_path();
            state.path_came(number, true);
            assert_eq!(told.get_value(), 1);
            let number = state.ask_path();
            state.path_came(number, true);
            assert_eq!(told.get_value(), 2);
        });
    }
}
