//! The way from the path on screen to another one that the reader asked for. Between the press and the answer the screen
//! shows the one before, so whoever sends a message, or hears that a reply began, asks here where the reader stands.

use leptos::prelude::*;

use crate::domain::TurnId;

/// What is known of the paths that were asked for. In the context of a chat's page.
#[derive(Clone, Copy)]
pub struct Way {
    known: StoredValue<Known>,
    /// The end of the path on screen.
    leaf: Signal<Option<TurnId>>,
    /// Set whenever a way has ended, well or not; whoever waits for it sets it back.
    pub has_ended: RwSignal<bool>,
}

#[derive(Clone, Copy, Default)]
struct Known {
    /// Rises with each path that is asked for, and with each that does not come.
    asked: u64,
    is_open: bool,
    /// Where the writer stood of a message that waits, and of one that failed.
    waits_at: Option<Stand>,
    failed_at: Option<Stand>,
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
    /// Whether the writer stands where the last message failed.
    IsWhereItFailed,
}

/// Where the reader stood at some moment: at a path's end, or on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stand {
    asked: u64,
    /// The end of the path on screen; not where another one was on its way already.
    leaf: Option<Option<TurnId>>,
}

impl Way {
    /// Nothing was asked for yet, on a path that ends there.
    pub fn new(leaf: Signal<Option<TurnId>>) -> Self {
        Self { known: StoredValue::new(Known::default()), leaf, has_ended: RwSignal::new(false) }
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

    /// The path that was asked for under this number is on screen, or does not come.
    pub fn came(self, number: u64, is_shown: bool) {
        if self.is_asked(number) {
            self.end(is_shown);
        }
    }

    /// What was asked for is not wanted any more.
    pub fn give_up(self) {
        if self.is_open() {
            self.end(false);
        }
    }

    /// Whether a path that was asked for is not on screen yet.
    pub fn is_open(self) -> bool {
        self.known().is_open
    }

    /// Where the reader stands now.
    pub fn stand(self) -> Stand {
        let known = self.known();
        Stand { asked: known.asked, leaf: (!known.is_open).then(|| self.leaf.get_untracked()) }
    }

    /// Whether the reader still wants what they saw, or had asked for, when they stood there. Other turns of the same path
    /// are no other path.
    pub fn is_still_at(self, stand: Stand) -> bool {
        let known = self.known();
        known.asked == stand.asked || (!known.is_open && stand.leaf == Some(self.leaf.get_untracked()))
    }

    /// A message failed that was sent from there.
    pub fn failed(self, stand: Stand) {
        self.known.set_value(Known { failed_at: Some(stand), ..self.known() });
    }

    /// Answers the message box.
    pub fn answer(self, asks: Asks) -> bool {
        let (known, is_still) = (self.known(), |stand| self.is_still_at(stand));
        match asks {
            Asks::IsOpen => known.is_open,
            Asks::Wait => {
                self.known.set_value(Known { waits_at: Some(self.stand()), ..known });
                true
            }
            Asks::MayGoOn => known.waits_at.is_none_or(is_still),
            Asks::IsWhereItFailed => known.failed_at.is_none_or(is_still),
        }
    }

    /// Of a page that is gone nothing is on its way.
    fn known(self) -> Known {
        self.known.try_get_value().unwrap_or_default()
    }

    fn end(self, is_shown: bool) {
        let known = self.known();
        self.known.set_value(Known { is_open: false, asked: known.asked + u64::from(!is_shown), ..known });
        self.has_ended.set(true);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::turn_id;

    /// A way, and what puts another end on screen.
    fn way(run: impl FnOnce(Way, WriteSignal<Option<TurnId>>)) {
        Owner::new().with(|| {
            let (leaf, show) = signal(Some(turn_id(2)));
            run(Way::new(leaf.into()), show);
        });
    }

    #[test]
    fn who_pressed_before_the_path_came_meant_that_path() {
        way(|way, show| {
            let before = way.stand();
            let number = way.ask();
            let on_the_way = way.stand();
            assert!(!way.is_still_at(before), "another one is wanted now");
            assert!(way.is_still_at(on_the_way));
            show.set(Some(turn_id(4)));
            way.came(number, true);
            assert!(way.is_still_at(on_the_way));
            assert!(!way.is_still_at(before));
        });
    }

    #[test]
    fn a_path_that_does_not_come_leaves_the_reader_where_they_were() {
        way(|way, _| {
            let before = way.stand();
            let number = way.ask();
            let on_the_way = way.stand();
            way.came(number, false);
            assert!(way.is_still_at(before), "its end is on screen");
            assert!(!way.is_still_at(on_the_way), "what was meant is not");
        });
    }

    #[test]
    fn the_newest_question_counts_and_a_late_answer_ends_nothing() {
        way(|way, show| {
            let older = way.ask();
            let on_the_way = way.stand();
            let newer = way.ask();
            assert!(!way.is_still_at(on_the_way));
            assert!(!way.is_asked(older));
            way.came(older, true);
            assert!(way.is_open());
            show.set(Some(turn_id(4)));
            way.came(newer, true);
            assert!(!way.is_open());
            assert!(!way.is_still_at(on_the_way));
        });
    }

    #[test]
    fn other_turns_of_the_same_path_are_no_other_path() {
        way(|way, _| {
            let before = way.stand();
            let number = way.ask();
            way.came(number, true);
            assert!(way.is_still_at(before));
        });
    }

    #[test]
    fn every_end_is_told_and_only_an_end() {
        way(|way, _| {
            let was_told = || {
                let was_told = way.has_ended.get_untracked();
                way.has_ended.set(false);
                was_told
            };
            way.give_up();
            assert!(!was_told(), "nothing was on its way");
            let number = way.ask();
            assert!(!was_told());
            way.give_up();
            assert!(was_told());
            way.came(number, true);
            assert!(!was_told());
            let number = way.ask();
            way.came(number, true);
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
            way.came(number, true);
            assert!(!way.answer(Asks::IsOpen) && !way.answer(Asks::MayGoOn));
        });
    }

    #[test]
    fn a_message_that_failed_failed_on_its_path() {
        way(|way, show| {
            assert!(way.answer(Asks::IsWhereItFailed), "none has failed");
            way.failed(way.stand());
            assert!(way.answer(Asks::IsWhereItFailed));
            let number = way.ask();
            show.set(Some(turn_id(4)));
            way.came(number, true);
            assert!(!way.answer(Asks::IsWhereItFailed));
        });
    }
}
