//! Room below a message that was just sent, so that it can stand under the header (ux.md S6). Only in the browser.

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::page::{ease, element, follow, go, header, metrics, pixels, with};

pub(super) fn to_sent(id: &str) {
    with(|watch| watch.sent = Some(id.to_owned()));
    follow(true);
    // The turn is in the page after this task.
    request_animation_frame(|| {
        keep();
        if let Some(now) = metrics() {
            go(now.bottom());
        }
        ease();
    });
}

/// Makes the page just high enough for what was sent to be under the header. The reply grows into that room, and where
/// it gets shorter again (reasoning that closes) the room is back, so that nothing moves. What is still on its way stands
/// below the list and has its room there: when its turn takes its place, nothing moves either.
pub(super) fn keep() {
    let Some((list_id, Some(sent))) = with(|watch| (watch.list_id.clone(), watch.sent.clone())) else { return };
    let Some(list) = html(&list_id) else { return };
    let sent = html(&sent);
    let place = match &sent {
        Some(sent) if !list.contains(Some(sent)) => {
            // The room of the message before is not above this one.
            set_room(&list, 0.0);
            sent.clone()
        }
        _ => list,
    };
    let Some(now) = metrics() else { return };
    let wanted = sent.map_or(0.0, |sent| {
        let top = sent.get_bounding_client_rect().top() + now.top - header();
        (top + now.view - (now.height - room_of(&place))).max(0.0)
    });
    set_room(&place, wanted);
}

fn html(id: &str) -> Option<HtmlElement> {
    element(id)?.dyn_into().ok()
}

fn room_of(place: &HtmlElement) -> f64 {
    place.style().get_property_value("--room").ok().and_then(|room| pixels(&room)).unwrap_or(0.0)
}

fn set_room(place: &HtmlElement, wanted: f64) {
    if (wanted - room_of(place)).abs() >= 1.0 {
        let _ = place.style().set_property("--room", &format!("{}px", wanted.round() as i64));
    }
}
