//! Announcement queue for screen readers: serves the two live regions of the page (docs/reference/ux.md 12). Nothing
//! else on the page is a live region, except that a dialog has two of its own, because it makes the rest inert.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{clock, document};
use crate::domain::TurnId;
use crate::ui::erased::{effect, view};

/// The minimum distance between two announcements; closer ones cut each other off.
const APART: Duration = Duration::from_millis(500);

/// The time during which the end of a reply is still news, in milliseconds.
const NEWS_MS: i64 = 60_000;

/// Queues polite announcements and makes assertive ones at once. Provided as context.
#[derive(Clone, Copy)]
pub struct Announcer {
    /// The announcement of the reader's current page: made before announcements of what happened there, and never
    /// replaced by them.
    place: StoredValue<Option<String>>,
    waiting: StoredValue<Option<String>>,
    is_resting: StoredValue<bool>,
    /// The reply that the previous page requested, and when, until this page has announced it.
    awaited: StoredValue<Option<(TurnId, i64)>>,
}

/// Provides the announcer as context.
pub fn provide_announcer() -> Announcer {
    let announcer = Announcer {
        place: StoredValue::new(None),
        waiting: StoredValue::new(None),
        is_resting: StoredValue::new(false),
        awaited: StoredValue::new(None),
    };
    provide_context(announcer);
    announcer
}

impl Announcer {
    /// Announces the text at the next pause. It replaces an announcement that is still waiting, which is outdated by
    /// now.
    pub fn announce(self, text: impl Into<String>) {
        self.waiting.set_value(Some(text.into()));
        self.announce_next();
    }

    /// Marks the reply to a message that was sent here: another page shows it, and it may have ended before that page
    /// is there.
    pub fn expect_reply(self, reply: TurnId) {
        self.awaited.set_value(Some((reply, clock::now_ms())));
    }

    /// Returns whether the previous page requested this reply just now. True once.
    pub fn take_expected_reply(self, reply: TurnId) -> bool {
        let Some((_, since)) = self.awaited.get_value().filter(|(awaited, _)| *awaited == reply) else { return false };
        self.awaited.set_value(None);
        clock::now_ms() - since < NEWS_MS
    }

    /// Interrupts the screen reader: for errors and for questions that block a reply.
    pub fn alert(self, text: &str) {
        set_region_text("alert", text);
    }

    fn announce_next(self) {
        if self.is_resting.get_value() {
            return;
        }
        let next = |of: StoredValue<Option<String>>| of.try_update_value(Option::take).flatten();
        let Some(text) = next(self.place).or_else(|| next(self.waiting)) else { return };
        set_region_text("say", &text);
        self.is_resting.set_value(true);
        let rested = move || {
            self.is_resting.set_value(false);
            self.announce_next();
        };
        set_timeout(rested, APART);
    }
}

/// Announces the title of the page once when the reader navigates within the application. Not on the initial load:
/// the browser announces that page.
pub fn announce_arrival(title: impl FnOnce() -> String + 'static) {
    let announcer = use_context::<Announcer>();
    let mut title = Some(title);
    effect(move || {
        let is_change = document::is_hydrated();
        if let (Some(announcer), Some(title)) = (announcer.filter(|_| is_change), title.take()) {
            // An announcement that still waits belongs to the previous page.
            announcer.waiting.set_value(None);
            announcer.place.set_value(Some(untrack(title)));
            announcer.announce_next();
        }
    });
}

/// A live region speaks when its text changes, so the text is cleared first: the same words twice are a change, too.
fn set_region_text(region: &'static str, text: &str) {
    document::set_live_region_text(region, "");
    let text = text.to_owned();
    request_animation_frame(move || document::set_live_region_text(region, &text));
}

/// The two live regions, rendered empty: screen readers do not read a region that arrives together with its text.
#[component]
pub fn LiveRegions() -> impl IntoView {
    view! {
        <div id="say" class="quiet" role="status"></div>
        <div id="alert" class="quiet" role="alert"></div>
    }
}
