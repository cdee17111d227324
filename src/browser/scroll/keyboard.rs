//! A keyboard that lies over the page instead of making it lower, as on iPhones (docs/reference/ux.md 3.1): how much
//! it covers is told to the style sheet. Where the page gets lower instead (`interactive-widget`), nothing is
//! covered. Only in the browser.

use std::cell::Cell;

use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, VisualViewport};

use super::page::{ScrollListener, document};

/// Less than this, in pixels, is no keyboard: bars of the browser, rounding.
const LEAST: f64 = 60.0;

thread_local! {
    static COVERED: Cell<i32> = const { Cell::new(0) };
}

/// What is seen of the page tells when it changes.
pub(super) fn listen(listener: &ScrollListener) {
    for_each(|seen, name| seen.add_event_listener_with_callback(name, listener.as_ref().unchecked_ref()));
}

pub(super) fn stop(listener: &ScrollListener) {
    for_each(|seen, name| seen.remove_event_listener_with_callback(name, listener.as_ref().unchecked_ref()));
    // Nobody hears any more that the keyboard goes.
    set_covered_height(0);
}

fn for_each(change: impl Fn(&VisualViewport, &str) -> Result<(), JsValue>) {
    if let Some(seen) = window().visual_viewport() {
        for name in ["resize", "scroll"] {
            let _ = change(&seen, name);
        }
    }
}

/// Tells how much of the bottom is covered, if that changed. A page that is magnified has a smaller view, and no
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
