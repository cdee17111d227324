//! The spacer below the turns: it lets a message that was just sent stand under the header (docs/reference/ux.md S6), and
//! a header that closes its disclosure stay under the pointer (S9), however short the page is. Browser only.

use std::cell::Cell;

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::page::{
    ease_to_bottom, element, header_height, metrics, parse_pixels, scroll_to, set_following, with_watch,
};

thread_local! {
    /// The height that the spacer keeps for a closed disclosure.
    static KEPT: Cell<f64> = const { Cell::new(0.0) };
}

/// Forgets the previous page's space.
pub(super) fn forget_space() {
    KEPT.set(0.0);
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
            _ => update_spacer(),
        }
    }
}

pub(super) fn scroll_to_sent(id: &str) {
    KEPT.set(0.0);
    with_watch(|watch| watch.sent = Some(id.to_owned()));
    set_following(true);
    // The turn is in the page after this task.
    request_animation_frame(|| {
        update_spacer();
        if let Some(now) = metrics() {
            scroll_to(now.bottom_position());
        }
        ease_to_bottom();
    });
}

/// Makes the page just high enough for the sent message to stand under the header. The reply grows into the space, and
/// when it shrinks again (reasoning that closes) the space returns, so that nothing moves. An optimistic message
/// is below the list and has its own spacer, so that nothing moves when its turn replaces it.
pub(super) fn update_spacer() {
    let Some((list_id, Some(sent))) = with_watch(|watch| (watch.list_id.clone(), watch.sent.clone())) else { return };
    let Some(list) = html(&list_id) else { return };
    let sent = html(&sent);
    let place = match &sent {
        Some(sent) if !list.contains(Some(sent)) => {
            // The spacer of the previous message must not remain above this one.
            set_spacer_height(&list, 0.0);
            sent.clone()
        }
        _ => list,
    };
    let Some(now) = metrics() else { return };
    let wanted = sent.map_or(0.0, |sent| {
        let top = sent.get_bounding_client_rect().top() + now.top - header_height();
        (top + now.view - (now.height - spacer_height(&place))).max(0.0)
    });
    let wanted = wanted.max(KEPT.get());
    set_spacer_height(&place, wanted);
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
