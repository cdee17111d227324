//! What a screen reader is told: one queue for the page's two live regions (ux.md 12). Nothing else on the page is live.

use std::time::Duration;

use leptos::prelude::*;

use crate::browser::document;
use crate::ui::erased::{effect, view};

/// Two announcements are never closer than this, or the second cuts off the first.
const APART: Duration = Duration::from_millis(500);

/// Says things politely, one after the other, or at once where it matters. In context.
#[derive(Clone, Copy)]
pub struct Announcer {
    waiting: StoredValue<Option<String>>,
    is_resting: StoredValue<bool>,
}

/// Puts the announcer into the context.
pub fn provide_announcer() -> Announcer {
    let announcer = Announcer { waiting: StoredValue::new(None), is_resting: StoredValue::new(false) };
    provide_context(announcer);
    announcer
}

impl Announcer {
    /// Says this when there is a pause. What was waiting and has not been said yet is old by now and is dropped.
    pub fn say(self, text: impl Into<String>) {
        self.waiting.set_value(Some(text.into()));
        if !self.is_resting.get_value() {
            self.say_waiting();
        }
    }

    /// Interrupts: for errors and for questions that block a reply.
    pub fn alert(self, text: &str) {
        speak("alert", text);
    }

    fn say_waiting(self) {
        let Some(text) = self.waiting.try_update_value(Option::take).flatten() else {
            return self.is_resting.set_value(false);
        };
        speak("say", &text);
        self.is_resting.set_value(true);
        set_timeout(move || self.say_waiting(), APART);
    }
}

/// Says where the reader is now, once, when another page of the application is shown. Not of the page that was loaded:
/// of that the browser tells.
pub fn say_arrival(title: impl FnOnce() -> String + 'static) {
    let announcer = use_context::<Announcer>();
    let mut title = Some(title);
    effect(move || {
        let is_change = document::has_settled();
        if let (Some(announcer), Some(title)) = (announcer.filter(|_| is_change), title.take()) {
            announcer.say(untrack(title));
        }
    });
}

/// A region speaks when its text changes, so the same words twice need something in between.
fn speak(region: &'static str, text: &str) {
    document::set_text(region, "");
    let text = text.to_owned();
    request_animation_frame(move || document::set_text(region, &text));
}

/// The two regions, empty: a region that arrives together with its text is not read.
#[component]
pub fn LiveRegions() -> impl IntoView {
    view! {
        <div id="say" class="quiet" role="status"></div>
        <div id="alert" class="quiet" role="alert"></div>
    }
}
