//! Putting an element at a place on screen, and keeping it there while what is around it changes. Only in the browser.

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::page::{element, follow, go, header, metrics, report, with};
use super::reader::Reader;
use super::will::is_waiting;

/// How many frames a held place waits for the element that will be there.
const FRAMES_TO_WAIT: u32 = 180;

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
    let Some(y) = element(old).map(|element| element.get_bounding_client_rect().top()) else { return };
    with(|watch| watch.holds += 1);
    settle(new.to_owned(), focus.map(str::to_owned), y, FRAMES_TO_WAIT);
}

/// Waits for the element and puts it at `y`; a second time one frame later, because what is drawn may still grow.
fn settle(id: String, focus: Option<String>, y: f64, frames: u32) {
    request_animation_frame(move || match element(&id) {
        None if frames > 0 => settle(id, focus, y, frames - 1),
        None => release(),
        Some(_) => {
            put_at(&id, y);
            if let Some(focus) = focus {
                focus_quietly(&focus);
            }
            request_animation_frame(move || {
                put_at(&id, y);
                release();
            });
        }
    });
}

pub(super) fn put_at(id: &str, y: f64) {
    let (Some(held), Some(now)) = (element(id), metrics()) else { return };
    let moved = held.get_bounding_client_rect().top() - y;
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
