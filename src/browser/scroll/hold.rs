//! Putting an element at a place on screen, and keeping it there while what is around it changes. Only in the browser.

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

use super::page::{element, follow, go, header, is_waiting, metrics, report, with};
use super::reader::Reader;
use crate::browser::clock;
use crate::browser::focus::is_in_text;

/// How long a held place waits for the element that will be there, ms.
const PATIENCE_MS: i64 = 3_000;

pub(super) fn to_element(id: &str, focus: Option<&str>) {
    follow(false);
    let (id, focus) = (id.to_owned(), focus.map(str::to_owned));
    request_animation_frame(move || {
        let (Some(target), Some(now)) = (element(&id), metrics()) else { return };
        go(target.get_bounding_client_rect().top() + now.top - header());
        report();
        if let Some(focus) = focus {
            focus_quietly(&focus);
        }
    });
}

fn focus_quietly(id: &str) {
    if let Some(target) = element(id).and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let options = web_sys::FocusOptions::new();
        options.set_prevent_scroll(true);
        let _ = target.focus_with_options(&options);
    }
}

pub(super) fn hold(old: &str, new: &str, focus: Option<&str>) {
    let (new, focus) = (new.to_owned(), focus.map(str::to_owned));
    let Some(y) = element(old).map(|element| top(&element)) else { return };
    begin(move || element(&new), y, focus);
}

pub(super) fn hold_clicked(event: &Event) {
    let clicked = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    if let Some(summary) = clicked.and_then(|clicked| clicked.closest("summary").ok().flatten()) {
        let y = top(&summary);
        begin(move || Some(summary.clone()), y, None);
    }
}

fn begin(find: impl Fn() -> Option<Element> + 'static, y: f64, focus: Option<String>) {
    let sent = with(|watch| {
        watch.holds += 1;
        watch.sent.clone()
    });
    let hold = Hold { find: Box::new(find), y, focus, was_in_text: is_in_text(), sent: sent.flatten() };
    settle(hold, clock::now_ms() + PATIENCE_MS);
}

/// What is held: an element, at a height on screen.
struct Hold {
    find: Box<dyn Fn() -> Option<Element>>,
    y: f64,
    focus: Option<String>,
    was_in_text: bool,
    sent: Option<String>,
}

impl Hold {
    /// A message that was sent meanwhile has the page.
    fn put(&self, held: &Element) {
        if with(|watch| watch.sent == self.sent) == Some(true) {
            put(held, self.y);
        }
    }
}

/// Waits for the element and puts it at its height; a second time one frame later, because what is drawn may still grow.
/// Who has begun to write meanwhile keeps the focus.
fn settle(hold: Hold, until: i64) {
    request_animation_frame(move || match (hold.find)() {
        // Frames come as often as the screen draws, so that they are no measure of a wait.
        None if clock::now_ms() < until => settle(hold, until),
        None => release(),
        Some(held) => {
            hold.put(&held);
            if let Some(focus) = hold.focus.as_deref().filter(|_| hold.was_in_text || !is_in_text()) {
                focus_quietly(focus);
            }
            request_animation_frame(move || {
                if let Some(held) = (hold.find)() {
                    hold.put(&held);
                }
                release();
            });
        }
    });
}

pub(super) fn put_at(id: &str, y: f64) {
    if let Some(held) = element(id) {
        put(&held, y);
    }
}

fn top(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}

fn put(held: &Element, y: f64) {
    let Some(now) = metrics() else { return };
    let moved = top(held) - y;
    if moved.abs() >= 1.0 {
        go(now.top + moved);
    }
}

fn release() {
    let Some(now) = metrics() else { return };
    with(|watch| {
        watch.holds = watch.holds.saturating_sub(1);
        let is_following = is_waiting() && watch.reader.is_following();
        watch.reader = Reader::new(now);
        if is_following {
            watch.reader.set_following(true);
        }
    });
    report();
}
