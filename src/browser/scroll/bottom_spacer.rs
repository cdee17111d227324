//! The spacer below the turns: it lets a message that was just sent stand under the header (docs/reference/ux.md S6), and
//! a header that closes its disclosure stay under the pointer (S9), however short the page is. Browser only.

use std::cell::{Cell, RefCell};

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::page::{
    ease_to_bottom, element, header_height, is_following, metrics, parse_pixels, scroll_to, set_following, set_pinned,
    with_watch,
};

/// The part of the view that the end of a long sent message keeps.
const QUESTION_SHARE: f64 = 0.3;
/// A message is at the beginning of the page within this distance of it, in pixels.
const AT_START: f64 = 32.0;

thread_local! {
    /// The first message of a chat whose page is about to open.
    static EXPECTED: RefCell<Option<String>> = const { RefCell::new(None) };
    /// The height that the spacer keeps for a closed disclosure.
    static KEPT: Cell<f64> = const { Cell::new(0.0) };
}

/// Forgets the previous page's space.
pub(super) fn forget_space() {
    KEPT.set(0.0);
    set_pinned(false);
}

/// Keeps the scroll position possible although the page is about to become shorter by this height.
pub(super) fn keep_position_without(height: f64) {
    let list = with_watch(|watch| watch.list_id.clone()).and_then(|id| html(&id));
    let Some((list, now)) = list.zip(metrics()) else { return };
    let missing = now.top + now.view + height - now.height;
    if missing > 0.0 {
        let kept = spacer_height(&list) + missing;
        KEPT.set(kept);
        set_spacer_height(&list, kept);
    }
}

/// Gives up what is out of sight of the space for a closed disclosure.
pub(super) fn release_unseen_space() {
    let kept = KEPT.get();
    if kept <= 0.0 {
        return;
    }
    // At the top of the page nothing depends on the space.
    let unseen = metrics().map_or(0.0, |now| if now.top < 1.0 { kept } else { now.distance_to_bottom() });
    if unseen >= 1.0 {
        KEPT.set((kept - unseen).max(0.0));
        match with_watch(|watch| (watch.sent.is_none(), watch.list_id.clone())) {
            Some((true, list)) => html(&list).map_or((), |list| set_spacer_height(&list, KEPT.get())),
            _ => {
                update_spacer();
            }
        }
    }
}

pub(super) fn scroll_to_sent(id: &str) {
    KEPT.set(0.0);
    with_watch(|watch| watch.sent = Some(id.to_owned()));
    set_pinned(true);
    set_following(true);
    // The turn is in the page after this task.
    request_animation_frame(|| {
        // The list may have grown since and filled the screen: then the page has stopped and stays there.
        let end = || metrics().filter(|_| is_following()).map(|now| now.bottom_position());
        if let Some(top) = update_spacer().or_else(end) {
            scroll_to(top);
        }
        ease_to_bottom();
    });
}

/// Remembers the first message of a chat, whose page is about to open.
pub(super) fn expect_sent(id: &str) {
    EXPECTED.set(Some(id.to_owned()));
}

/// Pins the message with which the page was expected, if it is in the page.
pub(super) fn scroll_to_expected() {
    if let Some(id) = EXPECTED.take().filter(|id| element(id).is_some()) {
        scroll_to_sent(&id);
    }
}

/// Makes the page just high enough for the sent message to stand under the header. The reply grows into the space, and
/// when it shrinks again (reasoning that closes) the space returns, so that nothing moves. An optimistic message
/// is below the list and has its own spacer, so that nothing moves when its turn replaces it. Returns the position at
/// which the page stays where following stops.
pub(super) fn update_spacer() -> Option<f64> {
    let (list_id, sent) = with_watch(|watch| (watch.list_id.clone(), watch.sent.clone()))?;
    let (list, sent) = (html(&list_id)?, sent?);
    let sent = html(&sent);
    let place = match &sent {
        Some(sent) if !list.contains(Some(sent)) => {
            // The spacer of the previous message must not remain above this one.
            set_spacer_height(&list, 0.0);
            sent.clone()
        }
        _ => list,
    };
    let now = metrics()?;
    let end = now.height - spacer_height(&place) - now.view;
    let (wanted, stop) = sent.map_or((0.0, None), |sent| {
        let rect = sent.get_bounding_client_rect();
        let top = rect.top() + now.top - header_height();
        let stop = stop_at_screen(end, top.max(top + rect.height() - now.view * QUESTION_SHARE));
        // The first message of a chat is at the top without space.
        (if top > AT_START { top - end } else { 0.0 }, stop)
    });
    set_spacer_height(&place, wanted.max(KEPT.get()));
    stop
}

/// Stops following, once, where the end of the reply would take the sent message out of view: the reply is read from its
/// beginning (S6). Returns the position at which the page stays then.
fn stop_at_screen(end: f64, last_top: f64) -> Option<f64> {
    if end <= last_top + 1.0 || !set_pinned(false) {
        return None;
    }
    set_following(false);
    if metrics().is_some_and(|now| now.top < last_top) {
        scroll_to(last_top);
    }
    Some(last_top)
}

fn html(id: &str) -> Option<HtmlElement> {
    element(id)?.dyn_into().ok()
}

fn spacer_height(place: &HtmlElement) -> f64 {
    place.style().get_property_value("--room").ok().and_then(|room| parse_pixels(&room)).unwrap_or(0.0)
}

fn set_spacer_height(place: &HtmlElement, wanted: f64) {
    if (wanted - spacer_height(place)).abs() >= 1.0 {
        let _ = place.style().set_property("--room", &format!("{}px", wanted.round() as i64));
    }
}
