//! The line that says how the connection is, when it is not as it should be (ux.md 14), and when it is tried again.

mod banner;
mod link;

pub use banner::{ConnectionBanner, ConnectionBars};
pub use link::Link;

use std::time::Duration;

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::browser::document;
use crate::ui::announce::Announcer;
use crate::ui::words;

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
pub struct Connection {
    shown: RwSignal<Link>,
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
pub fn provide_connection() -> Connection {
    let connection = Connection {
        shown: RwSignal::new(Link::Live),
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

impl Connection {
    /// Shows this state and nothing else, for a page of samples.
    pub fn stand(self, link: Link, is_old: bool) {
        self.left.set(PAUSE_LAST);
        self.shown.set(link);
        self.is_old.set(is_old);
    }

    /// A stream broke. Said after a while, because most come back at once.
    pub fn lost(self) {
        self.failed();
        if self.is_lost.get_value() {
            return;
        }
        self.is_lost.set_value(true);
        set_timeout(
            move || {
                if self.is_lost.get_value() && self.shown.get_untracked() == Link::Live {
                    self.show(Link::Reconnecting);
                }
            },
            PATIENCE,
        );
    }

    /// Nobody waits for a stream any more that broke: another page is shown.
    pub fn let_go(self) {
        if self.is_lost.try_set_value(false).is_none() && self.shown.try_get_untracked() == Some(Link::Reconnecting) {
            self.show(Link::Live);
        }
    }

    /// A stream works (again).
    pub fn works(self) {
        self.is_lost.set_value(false);
        self.reached();
        if self.shown.get_untracked() == Link::Reconnecting {
            self.back();
        }
    }

    /// What became of a question that is asked again and again.
    pub fn heard<T>(self, answer: &Result<T, ApiError>) {
        match is_there(answer.as_ref().err()) {
            Some(true) => self.reached(),
            Some(false) => self.failed(),
            None => {}
        }
    }

    fn failed(self) {
        let failures = self.failures.get_value().saturating_add(1);
        self.failures.set_value(failures);
        if failures >= FAILURES {
            self.offline();
        }
    }

    fn reached(self) {
        self.failures.set_value(0);
        if self.shown.get_untracked() == Link::Offline {
            // A stream that is still broken tells when it works.
            if self.is_lost.get_value() { self.show(Link::Reconnecting) } else { self.back() }
        }
    }

    fn offline(self) {
        if self.shown.get_untracked() != Link::Offline {
            self.tries.set_value(0);
            self.show(Link::Offline);
            self.count_down();
        }
    }

    fn back(self) {
        self.show(Link::Back);
        set_timeout(
            move || {
                if self.shown.get_untracked() == Link::Back {
                    self.show(Link::Live);
                }
            },
            RELIEF,
        );
    }

    /// Whether nobody should ask by themselves at the moment: it is tried at the end of the countdown.
    pub fn is_waiting(self) -> bool {
        self.shown.get_untracked() == Link::Offline
    }

    /// The same, to be followed.
    pub fn is_offline(self) -> bool {
        self.shown.get() == Link::Offline
    }

    /// Changes whenever it is to be tried now.
    pub fn wanted(self) -> Signal<u32> {
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
        self.left.set(pause(self.tries.get_value()));
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
    pub fn of_build(self, build: &str) {
        let is_old = document::build().is_some_and(|own| own != build) && !build.is_empty();
        if is_old && !self.is_old.get_untracked() {
            self.is_old.set(true);
            self.say(words::new_version());
        }
    }

    fn show(self, link: Link) {
        let before = self.shown.get_untracked();
        if before == link {
            return;
        }
        self.shown.set(link);
        match (before, link) {
            (Link::Live | Link::Back, Link::Reconnecting | Link::Offline) => self.say(words::connection_lost()),
            (_, Link::Back) => self.say(words::connected()),
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
fn is_there(error: Option<&ApiError>) -> Option<bool> {
    match error {
        Some(error) if error.is_unreached() => Some(false),
        Some(ApiError::Unavailable { .. }) => None,
        _ => Some(true),
    }
}

/// Seconds until the next try, after so many.
fn pause(tries: u32) -> u32 {
    (PAUSE_FIRST << tries.min(8)).min(PAUSE_LAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_does_not_answer_is_tried_less_and_less_but_always() {
        let pauses: Vec<u32> = [0, 1, 2, 3, 4, 5, u32::MAX].map(pause).to_vec();
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30, 30]);
    }

    #[test]
    fn an_answer_of_any_kind_is_a_sign_of_life_but_not_that_of_a_gateway() {
        for (error, there) in [
            (None, Some(true)),
            (Some(ApiError::TooMany { retry_after_s: 1 }), Some(true)),
            (Some(ApiError::NotFound), Some(true)),
            (Some(ApiError::unreached()), Some(false)),
            (Some(ApiError::Unavailable { message: "Some gateway".into() }), None),
        ] {
            assert_eq!(is_there(error.as_ref()), there, "{error:?}");
        }
    }
}
