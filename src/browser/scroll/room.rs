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

/// Makes the page just high enough for the sent turn to be under the header. The reply grows into that room, and where
/// it gets shorter again (reasoning that closes) the room is back, so that nothing moves.
pub(super) fn keep() {
    let Some((list_id, Some(sent))) = with(|watch| (watch.list_id.clone(), watch.sent.clone())) else { return };
    let (Some(list), Some(now)) = (element(&list_id).and_then(|e| e.dyn_into::<HtmlElement>().ok()), metrics()) else {
        return;
    };
    let style = list.style();
    let before = style.get_property_value("--room").ok().and_then(|room| pixels(&room)).unwrap_or(0.0);
    let wanted = element(&sent).map_or(0.0, |turn| {
        let top = turn.get_bounding_client_rect().top() + now.top - header();
        (top + now.view - (now.height - before)).max(0.0)
    });
    if (wanted - before).abs() >= 1.0 {
        let _ = style.set_property("--room", &format!("{}px", wanted.round() as i64));
    }
}
