//! The connection state of the page and its retries; a banner shows it when something is wrong (docs/reference/ux.md
//! 14).

mod banner;
mod status;

pub use banner::{ConnectionBanner, ConnectionBars};
pub use status::ConnectionStatus;

use std::time::Duration;

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::browser::document;
use crate::ui::announce::Announcer;
use crate::ui::messages;

/// A connection that recovers within this time is not reported.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time for which "Connected" is shown.
const RELIEF: Duration = Duration::from_secs(2);
const SECOND: Duration = Duration::from_secs(1);
/// This many consecutive failed responses count as offline.
const FAILURES: u32 = 3;
/// The seconds until an unreachable server is tried again: exponential backoff from the first to the last.
const PAUSE_FIRST: u32 = 2;
const PAUSE_LAST: u32 = 30;

/// The connection of the page, provided as context. Followers report the state of their streams, pollers report
/// whether there was a response.
#[derive(Clone, Copy)]
pub struct PageConnection {
    shown: RwSignal<ConnectionStatus>,
    is_lost: StoredValue<bool>,
    /// The number of consecutive failed responses.
    failures: StoredValue<u32>,
    /// The number of tries while offline.
    tries: StoredValue<u32>,
    /// The seconds until the next try.
    left: RwSignal<u32>,
    /// Incremented with every countdown; earlier countdowns are obsolete.
    countdown: StoredValue<u32>,
    /// Counts the tries; pollers follow it.
    wanted: RwSignal<u32>,
    /// True if the server has a newer build than this page.
    is_old: RwSignal<bool>,
    /// True if something between page and server holds the live channel back.
    is_held_back: RwSignal<bool>,
    announcer: Option<Announcer>,
}

/// Provides the connection as context. Uses the announcer if there is one.
pub fn provide_connection() -> PageConnection {
    let connection = PageConnection {
        shown: RwSignal::new(ConnectionStatus::Live),
        is_lost: StoredValue::new(false),
        failures: StoredValue::new(0),
        tries: StoredValue::new(0),
        left: RwSignal::new(0),
        countdown: StoredValue::new(0),
        wanted: RwSignal::new(0),
        is_old: RwSignal::new(false),
        is_held_back: RwSignal::new(false),
        announcer: use_context(),
    };
    provide_context(connection);
    connection
}

impl PageConnection {
    /// Shows this state permanently, for the gallery.
    pub fn show_fixed(self, link: ConnectionStatus, is_old: bool) {
        self.left.set(PAUSE_LAST);
        self.shown.set(link);
        self.is_old.set(is_old);
    }

    /// Records a lost stream. It is reported after a delay, because most reconnect at once.
    pub fn stream_lost(self) {
        self.record_failure();
        if self.is_lost.get_value() {
            return;
        }
        self.is_lost.set_value(true);
        set_timeout(
            move || {
                if self.is_lost.get_value() && self.shown.get_untracked() == ConnectionStatus::Live {
                    self.show(ConnectionStatus::Reconnecting);
                }
            },
            PATIENCE,
        );
    }

    /// Records that a lost stream is no longer needed: another page is shown.
    pub fn stream_released(self) {
        if self.is_lost.try_set_value(false).is_none()
            && self.shown.try_get_untracked() == Some(ConnectionStatus::Reconnecting)
        {
            self.show(ConnectionStatus::Live);
        }
    }

    /// Records that a stream works (again).
    pub fn stream_works(self) {
        self.is_lost.set_value(false);
        self.record_success();
        if self.shown.get_untracked() == ConnectionStatus::Reconnecting {
            self.come_back_online();
        }
    }

    /// Records the result of a polling request.
    pub fn record_response<T>(self, answer: &Result<T, ApiError>) {
        match server_reachability(answer.as_ref().err()) {
            Some(true) => self.record_success(),
            Some(false) => self.record_failure(),
            None => {}
        }
    }

    fn record_failure(self) {
        let failures = self.failures.get_value().saturating_add(1);
        self.failures.set_value(failures);
        if failures >= FAILURES {
            self.go_offline();
        }
    }

    fn record_success(self) {
        self.failures.set_value(0);
        if self.shown.get_untracked() == ConnectionStatus::Offline {
            // A stream that is still lost reports when it works again.
            if self.is_lost.get_value() { self.show(ConnectionStatus::Reconnecting) } else { self.come_back_online() }
        }
    }

    fn go_offline(self) {
        if self.shown.get_untracked() != ConnectionStatus::Offline {
            self.tries.set_value(0);
            self.show(ConnectionStatus::Offline);
            self.count_down();
        }
    }

    fn come_back_online(self) {
        self.show(ConnectionStatus::Restored);
        set_timeout(
            move || {
                if self.shown.get_untracked() == ConnectionStatus::Restored {
                    self.show(ConnectionStatus::Live);
                }
            },
            RELIEF,
        );
    }

    /// Returns whether polling should pause: the next try is at the end of the countdown.
    pub fn is_waiting(self) -> bool {
        self.shown.get_untracked() == ConnectionStatus::Offline
    }

    /// Like [`Self::is_waiting`], as a reactive read.
    pub fn is_offline(self) -> bool {
        self.shown.get() == ConnectionStatus::Offline
    }

    /// Changes whenever a request is to be retried now.
    pub fn retry_signal(self) -> Signal<u32> {
        self.wanted.into()
    }

    fn try_now(self) {
        if self.is_waiting() {
            self.tries.update_value(|tries| *tries += 1);
            self.count_down();
        }
        self.wanted.update(|count| *count += 1);
    }

    fn count_down(self) {
        let countdown = self.countdown.get_value().wrapping_add(1);
        self.countdown.set_value(countdown);
        self.left.set(retry_pause(self.tries.get_value()));
        self.next_second(countdown);
    }

    fn next_second(self, countdown: u32) {
        set_timeout(
            move || {
                if self.countdown.get_value() != countdown || !self.is_waiting() {
                    return;
                }
                match self.left.get_untracked() {
                    0 | 1 => self.try_now(),
                    left => {
                        self.left.set(left - 1);
                        self.next_second(countdown);
                    }
                }
            },
            SECOND,
        );
    }

    /// Notes whether something between page and server holds the live channel back. The banner explains it.
    pub fn note_held_back(self, is_held_back: bool) {
        if self.is_held_back.try_get_untracked().is_some_and(|before| before != is_held_back) {
            self.is_held_back.set(is_held_back);
        }
    }

    /// Compares the server's build with that of this page.
    pub fn compare_build(self, build: &str) {
        let is_old = document::build_id().is_some_and(|own| own != build) && !build.is_empty();
        if is_old && !self.is_old.get_untracked() {
            self.is_old.set(true);
            self.announce(messages::new_version());
        }
    }

    fn show(self, link: ConnectionStatus) {
        let before = self.shown.get_untracked();
        if before == link {
            return;
        }
        self.shown.set(link);
        match (before, link) {
            (
                ConnectionStatus::Live | ConnectionStatus::Restored,
                ConnectionStatus::Reconnecting | ConnectionStatus::Offline,
            ) => self.announce(messages::connection_lost()),
            (_, ConnectionStatus::Restored) => self.announce(messages::connected()),
            _ => {}
        }
    }

    fn announce(self, text: &'static str) {
        if let Some(announcer) = self.announcer {
            announcer.announce(text);
        }
    }
}

/// Returns whether the server is reachable by the result of a request; none where the response may come from
/// something else.
fn server_reachability(error: Option<&ApiError>) -> Option<bool> {
    match error {
        Some(ApiError::Unreachable) => Some(false),
        Some(ApiError::Unavailable { .. } | ApiError::Outdated) => None,
        _ => Some(true),
    }
}

/// Returns the seconds until the next try after this many tries.
fn retry_pause(tries: u32) -> u32 {
    (PAUSE_FIRST << tries.min(8)).min(PAUSE_LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unresponsive_server_is_retried_with_growing_bounded_pauses() {
        let pauses: Vec<u32> = [0, 1, 2, 3, 4, 5, u32::MAX].map(retry_pause).to_vec();
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn any_response_except_from_gateway_is_sign_of_life() {
        for (error, expected) in [
            (None, Some(true)),
            (Some(ApiError::TooMany { retry_after_s: 1 }), Some(true)),
            (Some(ApiError::NotFound), Some(true)),
            (Some(ApiError::Unreachable), Some(false)),
            (Some(ApiError::Unavailable { message: "Some gateway".into() }), None),
        ] {
            assert_eq!(server_reachability(error.as_ref()), expected, "{error:?}");
        }
    }
}
