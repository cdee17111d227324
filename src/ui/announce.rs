//! What a screen reader is told: one queue for the page's two live regions (ux.md 12). Nothing else on the page is live,
//! but a dialog has two of its own, because it makes the rest inert.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::{clock, document};
use crate::domain::TurnId;
use crate::ui::erased::{effect, view};

/// Two announcements are never closer than this, or the second cuts off the first.
const APART: Duration = Duration::from_millis(500);

/// How long the end of a reply is news, ms.
const NEWS_MS: i64 = 60_000;

/// Says things politely, one after the other, or at once where it matters. In context.
#[derive(Clone, Copy)]
pub struct Announcer {
    /// Where the reader is now: said before what happened there, and never in its place.
    place: StoredValue<Option<String>>,
    waiting: StoredValue<Option<String>>,
    is_resting: StoredValue<bool>,
    /// The reply that was asked for on the page before this one, and when, until this one tells of it.
    awaited: StoredValue<Option<(TurnId, i64)>>,
}

/// Puts the announcer into the context.
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
    /// Says this when there is a pause. What was waiting and has not been said yet is old by now and is dropped.
    pub fn say(self, text: impl Into<String>) {
        self.waiting.set_value(Some(text.into()));
        self.say_next();
    }

    /// The reply to what was sent here is shown by another page, where it may be over before that page is there.
    pub fn expect_reply(self, reply: TurnId) {
        self.awaited.set_value(Some((reply, clock::now_ms())));
    }

    /// Whether the page before this one asked for this reply just now. True once.
    pub fn take_expected_reply(self, reply: TurnId) -> bool {
        let Some((_, since)) = self.awaited.get_value().filter(|(awaited, _)| *awaited == reply) else { return false };
        self.awaited.set_value(None);
        clock::now_ms() - since < NEWS_MS
    }

    /// Interrupts: for errors and for questions that block a reply.
    pub fn alert(self, text: &str) {
        set_region_text("alert", text);
    }

    fn say_next(self) {
        if self.is_resting.get_value() {
            return;
        }
        let next = |of: StoredValue<Option<String>>| of.try_update_value(Option::take).flatten();
        let Some(text) = next(self.place).or_else(|| next(self.waiting)) else { return };
        set_region_text("say", &text);
        self.is_resting.set_value(true);
        let rested = move || {
            self.is_resting.set_value(false);
            self.say_next();
        };
        set_timeout(rested, APART);
    }
}

/// Says where the reader is now, once, when another page of the application is shown. Not of the page that was loaded:
/// of that the browser tells.
pub fn announce_arrival(title: impl FnOnce() -> String + 'static) {
    let announcer = use_context::<Announcer>();
    let mut title = Some(title);
    effect(move || {
        let is_change = document::is_hydrated();
        if let (Some(announcer), Some(title)) = (announcer.filter(|_| is_change), title.take()) {
            // What waits is of the page before.
            announcer.waiting.set_value(None);
            announcer.place.set_value(Some(untrack(title)));
            announcer.say_next();
        }
    });
}

/// A region speaks when its text changes, so the same words twice need something in between.
fn set_region_text(region: &'static str, text: &str) {
    document::set_live_region_text(region, "");
    let text = text.to_owned();
    request_animation_frame(move || document::set_live_region_text(region, &text));
}

/// The two regions, empty: a region that arrives together with its text is not read.
#[component]
pub fn LiveRegions() -> impl IntoView {
    view! {
        <div id="say" class="quiet" role="status"></div>
        <div id="alert" class="quiet" role="alert"></div>
    }
}
