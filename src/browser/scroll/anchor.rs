//! Scroll anchoring: puts an element at a place on screen and keeps it there while the content around it changes.
//! Browser only.

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlElement};

use super::bottom_spacer;
use super::follow_state::FollowState;
use super::page::{
    element, header_height, is_following_paused, metrics, report_status, scroll_to, set_following, with_watch,
};
use crate::browser::clock;
use crate::browser::focus::is_in_text_field;

/// Maximum time that an anchor waits for its element, in ms.
const PATIENCE_MS: i64 = 3_000;

pub(super) fn scroll_to_element(id: &str, focus: Option<&str>) {
    set_following(false);
    let (id, focus) = (id.to_owned(), focus.map(str::to_owned));
    request_animation_frame(move || {
        let (Some(target), Some(now)) = (element(&id), metrics()) else { return };
        scroll_to(target.get_bounding_client_rect().top() + now.top - header_height());
        report_status();
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

pub(super) fn anchor_element(old: &str, new: &str, focus: Option<&str>) {
    let (new, focus) = (new.to_owned(), focus.map(str::to_owned));
    let Some(y) = element(old).map(|element| top(&element)) else { return };
    start_anchor(move || element(&new), y, focus);
}

pub(super) fn anchor_clicked_header(event: &Event) {
    let clicked = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    if let Some(summary) = clicked.and_then(|clicked| clicked.closest("summary").ok().flatten()) {
        let y = top(&summary);
        // The click opens or closes after this.
        if let Some(open) = summary.parent_element().filter(|details| details.has_attribute("open")) {
            let height = |element: &Element| element.get_bounding_client_rect().height();
            bottom_spacer::keep_position_without(height(&open) - height(&summary));
        }
        start_anchor(move || Some(summary.clone()), y, None);
    }
}

fn start_anchor(find: impl Fn() -> Option<Element> + 'static, y: f64, focus: Option<String>) {
    let sent = with_watch(|watch| {
        watch.anchors += 1;
        watch.sent.clone()
    });
    let hold = ScrollAnchor { find: Box::new(find), y, focus, was_in_text: is_in_text_field(), sent: sent.flatten() };
    settle(hold, clock::now_ms() + PATIENCE_MS);
}

/// An anchor: an element and the height on screen at which it stays.
struct ScrollAnchor {
    find: Box<dyn Fn() -> Option<Element>>,
    y: f64,
    focus: Option<String>,
    was_in_text: bool,
    sent: Option<String>,
}

impl ScrollAnchor {
    /// Does nothing if a message was sent meanwhile, because its own scroll takes precedence.
    fn restore(&self, held: &Element) {
        if with_watch(|watch| watch.sent == self.sent) == Some(true) {
            place_at(held, self.y);
        }
    }
}

/// Waits for the element and puts it at its height, and again one frame later, because it may still grow. The focus
/// does not move if the user has started typing meanwhile.
fn settle(hold: ScrollAnchor, until: i64) {
    request_animation_frame(move || match (hold.find)() {
        // Elapsed time limits the wait, because the frame rate depends on the screen.
        None if clock::now_ms() < until => settle(hold, until),
        None => release_anchor(),
        Some(held) => {
            hold.restore(&held);
            if let Some(focus) = hold.focus.as_deref().filter(|_| hold.was_in_text || !is_in_text_field()) {
                focus_quietly(focus);
            }
            request_animation_frame(move || {
                if let Some(held) = (hold.find)() {
                    hold.restore(&held);
                }
                release_anchor();
            });
        }
    });
}

pub(super) fn scroll_to_height(id: &str, y: f64) {
    if let Some(held) = element(id) {
        place_at(&held, y);
    }
}

fn top(element: &Element) -> f64 {
    element.get_bounding_client_rect().top()
}

fn place_at(held: &Element, y: f64) {
    let Some(now) = metrics() else { return };
    let moved = top(held) - y;
    if moved.abs() >= 1.0 {
        scroll_to(now.top + moved);
    }
}

fn release_anchor() {
    let Some(now) = metrics() else { return };
    with_watch(|watch| {
        watch.anchors = watch.anchors.saturating_sub(1);
        let is_following = is_following_paused() && watch.reader.is_following();
        watch.reader = FollowState::new(now);
        if is_following {
            watch.reader.set_following(true);
        }
    });
    report_status();
}
