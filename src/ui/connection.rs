//! The line that says how the connection is, when it is not as it should be (ux.md 14), and when it is tried again.

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

/// A connection that comes back within this was never worth a word.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long "Connected" stays.
const RELIEF: Duration = Duration::from_secs(2);
const SECOND: Duration = Duration::from_secs(1);
/// So many answers that did not come, one after the other, are no accident.
const FAILURES: u32 = 3;
/// Seconds until a server that does not answer is tried again: doubling from the first to the last.
const PAUSE_FIRST: u32 = 2;
const PAUSE_LAST: u32 = 30;

/// The connection of the page; in context. Whoever follows a reply reports what happens to its stream, whoever asks
/// again and again whether there was an answer.
#[derive(Clone, Copy)]
pub struct PageConnection {
    shown: RwSignal<ConnectionStatus>,
    is_lost: StoredValue<bool>,
    /// Answers that did not come, in a row.
    failures: StoredValue<u32>,
    /// How often it was tried while offline.
    tries: StoredValue<u32>,
    /// Seconds until the next try.
    left: RwSignal<u32>,
    /// Rises with every countdown: those before are over.
    countdown: StoredValue<u32>,
    /// Counts the tries, for those to obey who ask.
    wanted: RwSignal<u32>,
    /// Whether the server has a newer page than this one.
    is_old: RwSignal<bool>,
    announcer: Option<Announcer>,
}

/// Puts the connection into the context, which should have the announcer.
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
        announcer: use_context(),
    };
    provide_context(connection);
    connection
}

impl PageConnection {
    /// Shows this state and nothing else, for a page of samples.
    pub fn show_fixed(self, link: ConnectionStatus, is_old: bool) {
        self.left.set(PAUSE_LAST);
        self.shown.set(link);
        self.is_old.set(is_old);
    }

    /// A stream broke. Said after a while, because most come back at once.
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

    /// Nobody waits for a stream any more that broke: another page is shown.
    pub fn stream_released(self) {
        if self.is_lost.try_set_value(false).is_none()
            && self.shown.try_get_untracked() == Some(ConnectionStatus::Reconnecting)
        {
            self.show(ConnectionStatus::Live);
        }
    }

    /// A stream works (again).
    pub fn stream_works(self) {
        self.is_lost.set_value(false);
        self.record_success();
        if self.shown.get_untracked() == ConnectionStatus::Reconnecting {
            self.come_back_online();
        }
    }

    /// What became of a question that is asked again and again.
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
            // A stream that is still broken tells when it works.
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

    /// Whether nobody should ask by themselves at the moment: it is tried at the end of the countdown.
    pub fn is_waiting(self) -> bool {
        self.shown.get_untracked() == ConnectionStatus::Offline
    }

    /// The same, to be followed.
    pub fn is_offline(self) -> bool {
        self.shown.get() == ConnectionStatus::Offline
    }

    /// Changes whenever it is to be tried now.
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

    /// The server says which build its pages are of.
    pub fn compare_build(self, build: &str) {
        let is_old = document::build_id().is_some_and(|own| own != build) && !build.is_empty();
        if is_old && !self.is_old.get_untracked() {
            self.is_old.set(true);
            self.say(messages::new_version());
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
            ) => self.say(messages::connection_lost()),
            (_, ConnectionStatus::Restored) => self.say(messages::connected()),
            _ => {}
        }
    }

    fn say(self, text: &'static str) {
        if let Some(announcer) = self.announcer {
            announcer.say(text);
        }
    }
}

/// Whether the server is there, by what became of a question; nothing where something answered that may not be it.
fn server_reachability(error: Option<&ApiError>) -> Option<bool> {
    match error {
        Some(error) if error.is_server_unreachable() => Some(false),
        Some(ApiError::Unavailable { .. }) => None,
        _ => Some(true),
    }
}

/// Seconds until the next try, after so many.
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
        for (error, there) in [
            (None, Some(true)),
            (Some(ApiError::TooMany { retry_after_s: 1 }), Some(true)),
            (Some(ApiError::NotFound), Some(true)),
            (Some(ApiError::server_unreachable()), Some(false)),
            (Some(ApiError::Unavailable { message: "Some gateway".into() }), None),
        ] {
            assert_eq!(server_reachability(error.as_ref()), there, "{error:?}");
        }
    }
}
