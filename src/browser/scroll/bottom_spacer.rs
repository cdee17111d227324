//! The spacer below a message that was just sent, which lets the message stand under the header
//! (docs/reference/ux.md S6). Browser only.

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::page::{
    ease_to_bottom, element, header_height, metrics, parse_pixels, scroll_to, set_following, with_watch,
};

pub(super) fn scroll_to_sent(id: &str) {
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
