//! On-screen keyboards that cover the page instead of resizing it, as on iPhones (docs/reference/ux.md 3.1): publishes
//! the covered height to the style sheet. Where the page is resized (`interactive-widget`), nothing is covered.
//! Browser only.

use std::cell::Cell;

use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, VisualViewport};

use super::page::{ScrollListener, document};

/// A smaller difference, in pixels, is no keyboard but a bar of the browser or rounding.
const LEAST: f64 = 60.0;

thread_local! {
    static COVERED: Cell<i32> = const { Cell::new(0) };
}

/// Listens for changes of the visual viewport.
pub(super) fn listen(listener: &ScrollListener) {
    for_each(|seen, name| seen.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()));
}

pub(super) fn stop(listener: &ScrollListener) {
    for_each(|seen, name| seen.remove_event_listener_with_callback(name, listener.as_ref().unchecked_ref()));
    // Without the listener, the disappearance of the keyboard would be missed.
    set_covered_height(0);
}

fn for_each(change: impl Fn(&VisualViewport, &str) -> Result<(), JsValue>) {
    if let Some(seen) = window().visual_viewport() {
        for name in ["resize", "scroll"] {
            let _ = change(&seen, name);
        }
    }
}

/// Publishes the covered height at the bottom if it has changed. A magnified page has a smaller viewport and no
/// keyboard.
pub(super) fn update_covered_height() {
    let root = document().and_then(|document| document.document_element());
    let (Some(seen), Some(root)) = (window().visual_viewport(), root) else { return };
    let hidden = f64::from(root.client_height()) - seen.offset_top() - seen.height();
    let covered = if hidden >= LEAST && seen.scale() <= 1.01 { hidden as i32 } else { 0 };
    set_covered_height(covered);
}

fn set_covered_height(covered: i32) {
    let root = document().and_then(|document| document.document_element());
    if COVERED.replace(covered) != covered
        && let Some(root) = root.and_then(|root| root.dyn_into::<HtmlElement>().ok())
    {
        let _ = root.style().set_property("--keyboard", &format!("{covered}px"));
    }
}
