//! Pending navigation from the path on screen to a requested one. Until the response arrives the screen shows the
//! previous path, so code that sends a message or handles a started reply asks here for the reader's position.

use leptos::prelude::*;

use super::ChatState;
use crate::domain::TurnId;

/// The navigation state. Provided as context by a chat's page.
#[derive(Clone, Copy)]
pub struct PathNavigation {
    known: StoredValue<NavigationRecord>,
    state: ChatState,
    /// Changes whenever a navigation has ended, successfully or not.
    pub ended: RwSignal<bool>,
}

#[derive(Clone, Copy, Default)]
struct NavigationRecord {
    /// The number of the newest request; numbers are unique.
    requested: u64,
    /// The number of the path on screen.
    shown: u64,
    is_open: bool,
    /// The writer's position for a message that waits, and for one that failed.
    waits_at: Option<ReaderPosition>,
    failed_at: Option<ReaderPosition>,
}

impl NavigationRecord {
    /// Returns the number of the wanted path.
    fn wanted(self) -> u64 {
        if self.is_open { self.requested } else { self.shown }
    }
}

/// A query of the message box. The message box does not depend on paths: it is on every first page, and they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NavigationQuery {
    /// True if the requested path is not on screen yet.
    IsNavigating,
    /// Records that a message begins to wait for the path that its writer sees or has requested. True.
    StartWaiting,
    /// True if the waiting message may be sent: its writer has not requested another path since.
    MayContinue,
    /// Records that the message that waited at the recorded position failed.
    RecordFailure,
    /// True if the writer is at the position of the last failed message, and the turn that it followed still exists.
    IsAtFailedSend,
}

/// A reader's position at some moment: at a path's end, or on the way to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReaderPosition {
    wanted: u64,
    /// The end of the path on screen; none while another path was pending.
    leaf: Option<Option<TurnId>>,
}

impl PathNavigation {
    /// Creates the state before any navigation.
    pub fn new(state: ChatState) -> Self {
        Self { known: StoredValue::new(NavigationRecord::default()), state, ended: RwSignal::new(false) }
    }

    /// Starts a navigation. Returns the number that its response must name; responses to older requests are obsolete.
    pub fn start(self) -> u64 {
        let known = self.record();
        let requested = known.requested + 1;
        self.known.set_value(NavigationRecord { requested, is_open: true, ..known });
        requested
    }

    /// Returns whether this navigation is still the wanted one, and the page still exists.
    pub fn is_current(self, number: u64) -> bool {
        let known = self.record();
        known.is_open && known.requested == number
    }

    /// Ends this navigation: its path is on screen.
    pub fn finish(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number, number);
        }
    }

    /// Ends this navigation: another path is shown instead of the requested one.
    pub fn redirected(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number + 1, number + 1);
        }
    }

    /// Ends this navigation: its path could not be loaded.
    pub fn fail(self, number: u64) {
        if self.is_current(number) {
            self.conclude(number, self.record().shown);
        }
    }

    /// Cancels the pending navigation.
    pub fn cancel(self) {
        self.fail(self.record().requested);
    }

    /// Returns whether the requested path is not on screen yet.
    pub fn is_navigating(self) -> bool {
        self.record().is_open
    }

    /// Returns the reader's current position.
    pub fn reader_position(self) -> ReaderPosition {
        let known = self.record();
        ReaderPosition { wanted: known.wanted(), leaf: (!known.is_open).then(|| self.state.leaf_id()) }
    }

    /// Returns the position for an action on a turn on screen, whatever navigation is pending.
    pub fn position_on_screen(self) -> ReaderPosition {
        ReaderPosition { wanted: self.record().shown, leaf: Some(self.state.leaf_id()) }
    }

    /// Returns whether the reader still wants the path that they saw, or had requested, at this position. Other turns
    /// of the same path are still that path.
    pub fn is_still_at(self, stand: ReaderPosition) -> bool {
        let known = self.record();
        known.wanted() == stand.wanted || (!known.is_open && stand.leaf == Some(self.state.leaf_id()))
    }

    /// Counts a request that starts a reply on the path on screen, until its response.
    pub fn count_start(self, is_pending: bool) {
        self.state.count_start(is_pending);
    }

    /// Records that a message sent at this position failed.
    pub fn record_failed_message(self, stand: ReaderPosition) {
        self.known.set_value(NavigationRecord { failed_at: Some(stand), ..self.record() });
    }

    /// Answers a query of the message box.
    pub fn answer_query(self, query: NavigationQuery) -> bool {
        let (known, is_still) = (self.record(), |stand| self.is_still_at(stand));
        let is_there =
            |stand: ReaderPosition| stand.leaf.flatten().is_none_or(|leaf| self.state.find_if_alive(leaf).is_some());
        match query {
            NavigationQuery::IsNavigating => known.is_open,
            NavigationQuery::StartWaiting => {
                self.known.set_value(NavigationRecord { waits_at: Some(self.reader_position()), ..known });
                true
            }
            NavigationQuery::RecordFailure => {
                self.known.set_value(NavigationRecord { failed_at: known.waits_at, ..known });
                true
            }
            NavigationQuery::MayContinue => known.waits_at.is_none_or(is_still),
            NavigationQuery::IsAtFailedSend => known.failed_at.is_none_or(|stand| is_still(stand) && is_there(stand)),
        }
    }

    /// A page that is gone has no pending navigation.
    fn record(self) -> NavigationRecord {
        self.known.try_get_value().unwrap_or_default()
    }

    fn conclude(self, requested: u64, shown: u64) {
        self.known.set_value(NavigationRecord { requested, shown, is_open: false, ..self.record() });
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

    /// Runs a test with the navigation of a path with one turn.
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
        with_navigation(|navigation, state| {
            let (before, on_screen) = (navigation.reader_position(), navigation.position_on_screen());
            let number = navigation.start();
            let on_the_way = navigation.reader_position();
            assert!(!navigation.is_still_at(before), "another one is wanted now");
            assert_eq!(navigation.position_on_screen(), on_screen, "but this one is seen");
            assert!(navigation.is_still_at(on_the_way));
            show(state, &[4]);
            navigation.finish(number);
            assert!(navigation.is_still_at(on_the_way));
            assert!(!navigation.is_still_at(before));
        });
    }

    #[test]
    fn failed_navigation_leaves_reader_where_they_were() {
        with_navigation(|navigation, state| {
            let before = navigation.reader_position();
            let number = navigation.start();
            let on_the_way = navigation.reader_position();
            navigation.fail(number);
            assert!(navigation.is_still_at(before));
            assert!(!navigation.is_still_at(on_the_way), "what was meant is not");
            // Another tab may extend the path.
            show(state, &[2, 4]);
            assert!(navigation.is_still_at(before));
        });
    }

    #[test]
    fn redirected_path_is_neither_requested_nor_previous_one() {
        with_navigation(|navigation, state| {
            let before = navigation.reader_position();
            let number = navigation.start();
            let on_the_way = navigation.reader_position();
            show(state, &[4]);
            navigation.redirected(number);
            assert!(
                !navigation.is_still_at(on_the_way) && !navigation.is_still_at(before) && !navigation.is_navigating()
            );
            assert_ne!(navigation.start(), number + 1, "a number is not given twice");
        });
    }

    #[test]
    fn newest_navigation_counts_and_late_response_ends_nothing() {
        with_navigation(|navigation, state| {
            let older = navigation.start();
            let on_the_way = navigation.reader_position();
            let newer = navigation.start();
            assert!(!navigation.is_still_at(on_the_way));
            assert!(!navigation.is_current(older));
            navigation.finish(older);
            assert!(navigation.is_navigating());
            show(state, &[4]);
            navigation.finish(newer);
            assert!(!navigation.is_navigating());
            assert!(!navigation.is_still_at(on_the_way));
        });
    }

    #[test]
    fn other_turns_of_same_path_are_no_other_path() {
        with_navigation(|navigation, state| {
            let before = navigation.reader_position();
            let number = navigation.start();
            show(state, &[1, 2]);
            navigation.finish(number);
            assert!(navigation.is_still_at(before));
        });
    }

    #[test]
    fn every_end_of_navigation_is_signalled_and_nothing_else() {
        with_navigation(|navigation, _| {
            let last_signal = StoredValue::new(navigation.ended.get_untracked());
            let was_signalled = || {
                navigation.ended.get_untracked()
                    != last_signal
                        .try_update_value(|last_signal| {
                            std::mem::replace(last_signal, navigation.ended.get_untracked())
                        })
                        .unwrap()
            };
            navigation.cancel();
            assert!(!was_signalled(), "nothing was on its way");
            let number = navigation.start();
            assert!(!was_signalled());
            navigation.cancel();
            assert!(was_signalled());
            navigation.finish(number);
            assert!(!was_signalled());
            let number = navigation.start();
            navigation.finish(number);
            assert!(was_signalled());
        });
    }

    #[test]
    fn message_waits_for_path_requested_last() {
        with_navigation(|navigation, _| {
            navigation.start();
            assert!(
                navigation.answer_query(NavigationQuery::IsNavigating)
                    && navigation.answer_query(NavigationQuery::StartWaiting)
                    && navigation.answer_query(NavigationQuery::MayContinue)
            );
            let number = navigation.start();
            assert!(!navigation.answer_query(NavigationQuery::MayContinue));
            navigation.finish(number);
            assert!(
                !navigation.answer_query(NavigationQuery::IsNavigating)
                    && !navigation.answer_query(NavigationQuery::MayContinue)
            );
        });
    }

    #[test]
    fn failed_message_belongs_to_its_path_and_turn() {
        with_navigation(|navigation, state| {
            assert!(navigation.answer_query(NavigationQuery::IsAtFailedSend), "none has failed");
            navigation.record_failed_message(navigation.reader_position());
            assert!(navigation.answer_query(NavigationQuery::IsAtFailedSend));
            // The message may have arrived after all, and be shown by this or another tab.
            show(state, &[2, 4]);
            assert!(navigation.answer_query(NavigationQuery::IsAtFailedSend));
            state.remove_from(turn_id(2));
            assert!(!navigation.answer_query(NavigationQuery::IsAtFailedSend), "what it followed is deleted");
            show(state, &[2]);
            let number = navigation.start();
            show(state, &[4]);
            navigation.finish(number);
            assert!(!navigation.answer_query(NavigationQuery::IsAtFailedSend));
        });
    }
}
