//! The way from the path on screen to another one that the reader asked for. Between the press and the answer the screen
//! shows the one before, so whoever sends a message, or hears that a reply began, asks here where the reader stands.

use leptos::prelude::*;

use super::ChatState;
use crate::domain::TurnId;

/// What is known of the paths that were asked for. In the context of a chat's page.
#[derive(Clone, Copy)]
pub struct Way {
    known: StoredValue<Known>,
    state: ChatState,
    /// Another value whenever a way has ended, well or not.
    pub ends: RwSignal<bool>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    /// The number of the newest path that was asked for; a number is never given twice.
    asked: u64,
    /// The number of the path on screen.
    shown: u64,
    is_open: bool,
    /// Where the writer stood of a message that waits, and of one that failed.
    waits_at: Option<Stand>,
    failed_at: Option<Stand>,
}

impl Known {
    /// Which path is wanted.
    fn wanted(self) -> u64 {
        if self.is_open { self.asked } else { self.shown }
    }
}

/// What the message box asks. It knows nothing of paths itself: it is a part of every first page, and they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// Whether a path that was asked for is not on screen yet.
    IsOpen,
    /// A message begins to wait for what its writer sees, or has asked for. True.
    Wait,
    /// Whether the message that waits may go on: its writer has not asked for another path since.
    MayGoOn,
    /// Whether the writer stands where the last message failed, and what it followed is still there.
    IsWhereItFailed,
}

/// Where the reader stood at some moment: at a path's end, or on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    wanted: u64,
    /// The end of the path on screen; not where another one was on its way already.
    leaf: Option<Option<TurnId>>,
}

impl Way {
    /// Nothing was asked for yet.
    pub fn new(state: ChatState) -> Self {
        Self { known: StoredValue::new(Known::default()), state, ends: RwSignal::new(false) }
    }

    /// Another path is asked for. Gives the number that its answer must name; an answer to an older question comes too
    /// late.
    pub fn ask(self) -> u64 {
        let known = self.known();
        let asked = known.asked + 1;
        self.known.set_value(Known { asked, is_open: true, ..known });
        asked
    }

    /// Whether this path is still the one that is wanted, and the page is still there.
    pub fn is_asked(self, number: u64) -> bool {
        let known = self.known();
        known.is_open && known.asked == number
    }

    /// The path that was asked for under this number is on screen.
    pub fn came(self, number: u64) {
        if self.is_asked(number) {
            self.end(number, number);
        }
    }

    /// Another path is on screen in the place of the one that was asked for.
    pub fn strayed(self, number: u64) {
        if self.is_asked(number) {
            self.end(number + 1, number + 1);
        }
    }

    /// The path that was asked for under this number does not come.
    pub fn failed(self, number: u64) {
        if self.is_asked(number) {
            self.end(number, self.known().shown);
        }
    }

    /// What was asked for is not wanted any more.
    pub fn give_up(self) {
        self.failed(self.known().asked);
    }

    /// Whether a path that was asked for is not on screen yet.
    pub fn is_open(self) -> bool {
        self.known().is_open
    }

    /// Where the reader stands now.
    pub fn stand(self) -> Stand {
        let known = self.known();
        Stand { wanted: known.wanted(), leaf: (!known.is_open).then(|| self.state.leaf_id()) }
    }

    /// Where they stand with what they do to a turn on screen, whatever is on its way.
    pub fn stand_on_screen(self) -> Stand {
        Stand { wanted: self.known().shown, leaf: Some(self.state.leaf_id()) }
    }

    /// Whether the reader still wants what they saw, or had asked for, when they stood there. Other turns of the same path
    /// are no other path.
    pub fn is_still_at(self, stand: Stand) -> bool {
        let known = self.known();
        known.wanted() == stand.wanted || (!known.is_open && stand.leaf == Some(self.state.leaf_id()))
    }

    /// A message failed that was sent from there.
    pub fn message_failed(self, stand: Stand) {
        self.known.set_value(Known { failed_at: Some(stand), ..self.known() });
    }

    /// Answers the message box.
    pub fn answer(self, asks: Asks) -> bool {
        let (known, is_still) = (self.known(), |stand| self.is_still_at(stand));
        let is_there = |stand: Stand| stand.leaf.flatten().is_none_or(|leaf| self.state.shown(leaf).is_some());
        match asks {
            Asks::IsOpen => known.is_open,
            Asks::Wait => {
                self.known.set_value(Known { waits_at: Some(self.stand()), ..known });
                true
            }
            Asks::MayGoOn => known.waits_at.is_none_or(is_still),
            Asks::IsWhereItFailed => known.failed_at.is_none_or(|stand| is_still(stand) && is_there(stand)),
        }
    }

    /// Of a page that is gone nothing is on its way.
    fn known(self) -> Known {
        self.known.try_get_value().unwrap_or_default()
    }

    fn end(self, asked: u64, shown: u64) {
        self.known.set_value(Known { asked, shown, is_open: false, ..self.known() });
        self.ends.update(|ends| *ends = !*ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::turn_id;
    use crate::domain::{Role, TurnStatus, sample};
    use crate::ui::state::tests::{chat, in_owner, view};

    /// A state whose path has these turns.
    fn path(turns: &[i64]) -> ChatState {
        chat(turns.iter().map(|ord| view(sample::turn(*ord, Role::Assistant, TurnStatus::Complete))).collect())
    }

    /// A way from a path with one turn.
    fn way(run: impl FnOnce(Way, ChatState)) {
        in_owner(|| {
            let state = path(&[2]);
            run(Way::new(state), state);
        });
    }

    fn show(state: ChatState, turns: &[i64]) {
        state.path.set(path(turns).path.get_untracked());
    }

    #[test]
    fn who_pressed_before_the_path_came_meant_that_path() {
        way(|way, state| {
            let (before, on_screen) = (way.stand(), way.stand_on_screen());
            let number = way.ask();
            let on_the_way = way.stand();
            assert!(!way.is_still_at(before), "another one is wanted now");
            assert_eq!(way.stand_on_screen(), on_screen, "but this one is seen");
            assert!(way.is_still_at(on_the_way));
            show(state, &[4]);
            way.came(number);
            assert!(way.is_still_at(on_the_way));
            assert!(!way.is_still_at(before));
        });
    }

    #[test]
    fn a_path_that_does_not_come_leaves_the_reader_where_they_were() {
        way(|way, state| {
            let before = way.stand();
            let number = way.ask();
            let on_the_way = way.stand();
            way.failed(number);
            assert!(way.is_still_at(before));
            assert!(!way.is_still_at(on_the_way), "what was meant is not");
            // Another tab may lengthen it.
            show(state, &[2, 4]);
            assert!(way.is_still_at(before));
        });
    }

    #[test]
    fn what_comes_in_the_place_of_a_path_is_neither_it_nor_the_one_before() {
        way(|way, state| {
            let before = way.stand();
            let number = way.ask();
            let on_the_way = way.stand();
            show(state, &[4]);
            way.strayed(number);
            assert!(!way.is_still_at(on_the_way) && !way.is_still_at(before) && !way.is_open());
            assert_ne!(way.ask(), number + 1, "a number is not given twice");
        });
    }

    #[test]
    fn the_newest_question_counts_and_a_late_answer_ends_nothing() {
        way(|way, state| {
            let older = way.ask();
            let on_the_way = way.stand();
            let newer = way.ask();
            assert!(!way.is_still_at(on_the_way));
            assert!(!way.is_asked(older));
            way.came(older);
            assert!(way.is_open());
            show(state, &[4]);
            way.came(newer);
            assert!(!way.is_open());
            assert!(!way.is_still_at(on_the_way));
        });
    }

    #[test]
    fn other_turns_of_the_same_path_are_no_other_path() {
        way(|way, state| {
            let before = way.stand();
            let number = way.ask();
            show(state, &[1, 2]);
            way.came(number);
            assert!(way.is_still_at(before));
        });
    }

    #[test]
    fn every_end_is_told_and_only_an_end() {
        way(|way, _| {
            let told = StoredValue::new(way.ends.get_untracked());
            let was_told = || {
                way.ends.get_untracked()
                    != told.try_update_value(|told| std::mem::replace(told, way.ends.get_untracked())).unwrap()
            };
            way.give_up();
            assert!(!was_told(), "nothing was on its way");
            let number = way.ask();
            assert!(!was_told());
            way.give_up();
            assert!(was_told());
            way.came(number);
            assert!(!was_told());
            let number = way.ask();
            way.came(number);
            assert!(was_told());
        });
    }

    #[test]
    fn a_message_waits_for_the_path_that_was_asked_for_last() {
        way(|way, _| {
            way.ask();
            assert!(way.answer(Asks::IsOpen) && way.answer(Asks::Wait) && way.answer(Asks::MayGoOn));
            let number = way.ask();
            assert!(!way.answer(Asks::MayGoOn));
            way.came(number);
            assert!(!way.answer(Asks::IsOpen) && !way.answer(Asks::MayGoOn));
        });
    }

    #[test]
    fn a_message_that_failed_failed_on_its_path_and_behind_its_turn() {
        way(|way, state| {
            assert!(way.answer(Asks::IsWhereItFailed), "none has failed");
            way.message_failed(way.stand());
            assert!(way.answer(Asks::IsWhereItFailed));
            // It may have arrived all the same, and another tab, or this one, shows it.
            show(state, &[2, 4]);
            assert!(way.answer(Asks::IsWhereItFailed));
            state.cut(turn_id(2));
            assert!(!way.answer(Asks::IsWhereItFailed), "what it followed is deleted");
            show(state, &[2]);
            let number = way.ask();
            show(state, &[4]);
            way.came(number);
            assert!(!way.answer(Asks::IsWhereItFailed));
        });
    }
}
