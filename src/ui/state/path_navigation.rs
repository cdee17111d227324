//! The way from the path on screen to another one that the reader asked for. Between the press and the answer the screen
//! shows the one before, so whoever sends a message, or hears that a reply began, asks here where the reader stands.

use leptos::prelude::*;

use super::ChatState;
use crate::domain::TurnId;

/// What is known of the paths that were asked for. In the context of a chat's page.
#[derive(Clone, Copy)]
pub struct PathNavigation {
    known: StoredValue<NavigationRecord>,
    state: ChatState,
    /// Another value whenever a way has ended, well or not.
    pub ended: RwSignal<bool>,
}

#[derive(Clone, Copy, Default)]
struct NavigationRecord {
    /// The number of the newest path that was asked for; a number is never given twice.
    asked: u64,
    /// The number of the path on screen.
    shown: u64,
    is_open: bool,
    /// Where the writer stood of a message that waits, and of one that failed.
    waits_at: Option<ReaderPosition>,
    failed_at: Option<ReaderPosition>,
}

impl NavigationRecord {
    /// Which path is wanted.
    fn wanted(self) -> u64 {
        if self.is_open { self.asked } else { self.shown }
    }
}

/// What the message box asks. It knows nothing of paths itself: it is a part of every first page, and they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationQuery {
    /// Whether a path that was asked for is not on screen yet.
    IsNavigating,
    /// A message begins to wait for what its writer sees, or has asked for. True.
    StartWaiting,
    /// Whether the message that waits may go on: its writer has not asked for another path since.
    MayContinue,
    /// Whether the writer stands where the last message failed, and what it followed is still there.
    IsAtFailedSend,
}

/// Where the reader stood at some moment: at a path's end, or on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderPosition {
    wanted: u64,
    /// The end of the path on screen; not where another one was on its way already.
    leaf: Option<Option<TurnId>>,
}

impl PathNavigation {
    /// Nothing was asked for yet.
    pub fn new(state: ChatState) -> Self {
        Self { known: StoredValue::new(NavigationRecord::default()), state, ended: RwSignal::new(false) }
    }

    /// Another path is asked for. Gives the number that its answer must name; an answer to an older question comes too
    /// late.
    pub fn start(self) -> u64 {
        let known = self.record();
        let asked = known.asked + 1;
        self.known.set_value(NavigationRecord { asked, is_open: true, ..known });
        asked
    }

    /// Whether this path is still the one that is wanted, and the page is still there.
    pub fn is_current(self, number: u64) -> bool {
        let known = self.record();
        known.is_open && known.asked == number
    }

    /// The path that was asked for under this number is on screen.
    pub fn finish(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number, number);
        }
    }

    /// Another path is on screen in the place of the one that was asked for.
    pub fn redirected(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number + 1, number + 1);
        }
    }

    /// The path that was asked for under this number does not come.
    pub fn fail(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number, self.record().shown);
        }
    }

    /// What was asked for is not wanted any more.
    pub fn cancel(self) {
        self.fail(self.record().asked);
    }

    /// Whether a path that was asked for is not on screen yet.
    pub fn is_navigating(self) -> bool {
        self.record().is_open
    }

    /// Where the reader stands now.
    pub fn reader_position(self) -> ReaderPosition {
        let known = self.record();
        ReaderPosition { wanted: known.wanted(), leaf: (!known.is_open).then(|| self.state.leaf_id()) }
    }

    /// Where they stand with what they do to a turn on screen, whatever is on its way.
    pub fn position_on_screen(self) -> ReaderPosition {
        ReaderPosition { wanted: self.record().shown, leaf: Some(self.state.leaf_id()) }
    }

    /// Whether the reader still wants what they saw, or had asked for, when they stood there. Other turns of the same path
    /// are no other path.
    pub fn is_still_at(self, stand: ReaderPosition) -> bool {
        let known = self.record();
        known.wanted() == stand.wanted || (!known.is_open && stand.leaf == Some(self.state.leaf_id()))
    }

    /// A message failed that was sent from there.
    pub fn record_failed_message(self, stand: ReaderPosition) {
        self.known.set_value(NavigationRecord { failed_at: Some(stand), ..self.record() });
    }

    /// Answers the message box.
    pub fn answer_query(self, asks: NavigationQuery) -> bool {
        let (known, is_still) = (self.record(), |stand| self.is_still_at(stand));
        let is_there =
            |stand: ReaderPosition| stand.leaf.flatten().is_none_or(|leaf| self.state.find_if_alive(leaf).is_some());
        match asks {
            NavigationQuery::IsNavigating => known.is_open,
            NavigationQuery::StartWaiting => {
                self.known.set_value(NavigationRecord { waits_at: Some(self.reader_position()), ..known });
                true
            }
            NavigationQuery::MayContinue => known.waits_at.is_none_or(is_still),
            NavigationQuery::IsAtFailedSend => known.failed_at.is_none_or(|stand| is_still(stand) && is_there(stand)),
        }
    }

    /// Of a page that is gone nothing is on its way.
    fn record(self) -> NavigationRecord {
        self.known.try_get_value().unwrap_or_default()
    }

    fn conclude(self, asked: u64, shown: u64) {
        self.known.set_value(NavigationRecord { asked, shown, is_open: false, ..self.record() });
        self.ended.update(|ends| *ends = !*ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::fixtures::turn_id;
    use crate::domain::{Role, TurnStatus, fixtures};
    use crate::ui::state::tests::{chat, in_owner, view};

    /// A state whose path has these turns.
    fn path(turns: &[i64]) -> ChatState {
        chat(turns.iter().map(|ord| view(fixtures::turn(*ord, Role::Assistant, TurnStatus::Complete))).collect())
    }

    /// A way from a path with one turn.
    fn with_navigation(run: impl FnOnce(PathNavigation, ChatState)) {
        in_owner(|| {
            let state = path(&[2]);
            run(PathNavigation::new(state), state);
        });
    }

    fn show(state: ChatState, turns: &[i64]) {
        state.path.set(path(turns).path.get_untracked());
    }

    #[test]
    fn position_taken_during_navigation_is_on_requested_path() {
        with_navigation(|way, state| {
            let (before, on_screen) = (way.reader_position(), way.position_on_screen());
            let number = way.start();
            let on_the_way = way.reader_position();
            assert!(!way.is_still_at(before), "another one is wanted now");
            assert_eq!(way.position_on_screen(), on_screen, "but this one is seen");
            assert!(way.is_still_at(on_the_way));
            show(state, &[4]);
            way.finish(number);
            assert!(way.is_still_at(on_the_way));
            assert!(!way.is_still_at(before));
        });
    }

    #[test]
    fn failed_navigation_leaves_reader_where_they_were() {
        with_navigation(|way, state| {
            let before = way.reader_position();
            let number = way.start();
            let on_the_way = way.reader_position();
            way.fail(number);
            assert!(way.is_still_at(before));
            assert!(!way.is_still_at(on_the_way), "what was meant is not");
            // Another tab may lengthen it.
            show(state, &[2, 4]);
            assert!(way.is_still_at(before));
        });
    }

    #[test]
    fn redirected_path_is_neither_requested_nor_previous_one() {
        with_navigation(|way, state| {
            let before = way.reader_position();
            let number = way.start();
            let on_the_way = way.reader_position();
            show(state, &[4]);
            way.redirected(number);
            assert!(!way.is_still_at(on_the_way) && !way.is_still_at(before) && !way.is_navigating());
            assert_ne!(way.start(), number + 1, "a number is not given twice");
        });
    }

    #[test]
    fn newest_navigation_counts_and_late_response_ends_nothing() {
        with_navigation(|way, state| {
            let older = way.start();
            let on_the_way = way.reader_position();
            let newer = way.start();
            assert!(!way.is_still_at(on_the_way));
            assert!(!way.is_current(older));
            way.finish(older);
            assert!(way.is_navigating());
            show(state, &[4]);
            way.finish(newer);
            assert!(!way.is_navigating());
            assert!(!way.is_still_at(on_the_way));
        });
    }

    #[test]
    fn other_turns_of_same_path_are_no_other_path() {
        with_navigation(|way, state| {
            let before = way.reader_position();
            let number = way.start();
            show(state, &[1, 2]);
            way.finish(number);
            assert!(way.is_still_at(before));
        });
    }

    #[test]
    fn every_end_of_navigation_is_signalled_and_nothing_else() {
        with_navigation(|way, _| {
            let told = StoredValue::new(way.ended.get_untracked());
            let was_told = || {
                way.ended.get_untracked()
                    != told.try_update_value(|told| std::mem::replace(told, way.ended.get_untracked())).unwrap()
            };
            way.cancel();
            assert!(!was_told(), "nothing was on its way");
            let number = way.start();
            assert!(!was_told());
            way.cancel();
            assert!(was_told());
            way.finish(number);
            assert!(!was_told());
            let number = way.start();
            way.finish(number);
            assert!(was_told());
        });
    }

    #[test]
    fn message_waits_for_path_requested_last() {
        with_navigation(|way, _| {
            way.start();
            assert!(
                way.answer_query(NavigationQuery::IsNavigating)
                    && way.answer_query(NavigationQuery::StartWaiting)
                    && way.answer_query(NavigationQuery::MayContinue)
            );
            let number = way.start();
            assert!(!way.answer_query(NavigationQuery::MayContinue));
            way.finish(number);
            assert!(
                !way.answer_query(NavigationQuery::IsNavigating) && !way.answer_query(NavigationQuery::MayContinue)
            );
        });
    }

    #[test]
    fn failed_message_belongs_to_its_path_and_turn() {
        with_navigation(|way, state| {
            assert!(way.answer_query(NavigationQuery::IsAtFailedSend), "none has failed");
            way.record_failed_message(way.reader_position());
            assert!(way.answer_query(NavigationQuery::IsAtFailedSend));
            // It may have arrived all the same, and another tab, or this one, shows it.
            show(state, &[2, 4]);
            assert!(way.answer_query(NavigationQuery::IsAtFailedSend));
            state.remove_from(turn_id(2));
            assert!(!way.answer_query(NavigationQuery::IsAtFailedSend), "what it followed is deleted");
            show(state, &[2]);
            let number = way.start();
            show(state, &[4]);
            way.finish(number);
            assert!(!way.answer_query(NavigationQuery::IsAtFailedSend));
        });
    }
}
