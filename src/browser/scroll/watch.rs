//! The watch of a page: listens to the reader's scrolling and the page's growth from its creation to its removal.
//! Browser only.

use std::cell::Cell;

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AddEventListenerOptions, Event, ResizeObserver};

use super::follow_state::{FollowState, ScrollStatus};
use super::page::{
    ScrollListener, ScrollWatch, ease_to_bottom, element, metrics, replace_watch, report_status, window, with_watch,
};
use super::{bottom_spacer, keyboard, restoration};

/// Number of frames within which the list must appear in the page.
const FRAMES_TO_WAIT: u32 = 180;

thread_local! {
    static STARTS: Cell<u32> = const { Cell::new(0) };
}

pub(super) fn start_watching(list_id: &str, on_place: impl Fn(ScrollStatus) + 'static) -> u32 {
    stop_watching(STARTS.get());
    bottom_spacer::forget_space();
    let start = STARTS.get().wrapping_add(1);
    STARTS.set(start);
    watch(start, list_id, on_place);
    start
}

fn watch(start: u32, list_id: &str, on_place: impl Fn(ScrollStatus) + 'static) {
    let (Some(window), Some(now)) = (window(), metrics()) else { return };
    let on_scroll = ScrollListener::new(|event: Event| {
        keyboard::update_covered_height();
        if event.type_() == "resize" { handle_resize() } else { handle_scroll() }
    });
    let on_pointer = ScrollListener::new(|event: Event| {
        let is_down = event.type_() == "touchstart";
        with_watch(|watch| watch.is_touched = is_down);
    });
    let on_resize = Closure::<dyn FnMut()>::new(handle_resize);
    let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else { return };
    let passive = AddEventListenerOptions::new();
    passive.set_passive(true);
    let listen = |name: &str, listener: &ScrollListener| {
        let callback = listener.as_ref().unchecked_ref();
        let _ = window.add_event_listener_with_callback_and_add_event_listener_options(name, callback, &passive);
    };
    listen("scroll", &on_scroll);
    listen("resize", &on_scroll);
    keyboard::listen(&on_scroll);
    for name in ["touchstart", "touchend", "touchcancel"] {
        listen(name, &on_pointer);
    }
    let reader = FollowState::new(now);
    let shown =
        ScrollStatus { is_following: reader.is_following(), is_far: reader.is_far(), ..ScrollStatus::default() };
    on_place(shown);
    let watch = ScrollWatch {
        start,
        reader,
        list_id: list_id.to_owned(),
        shown,
        on_place: Box::new(on_place),
        is_touched: false,
        anchors: 0,
        is_easing: false,
        is_placed: false,
        sent: None,
        on_scroll,
        on_pointer,
        observer,
        _on_resize: on_resize,
    };
    replace_watch(Some(watch));
    observe(start, FRAMES_TO_WAIT);
}

/// Observes the growth of the list once it is in the page; a page that is still being created has none.
fn observe(start: u32, frames: u32) {
    let observed = with_watch(|watch| {
        if watch.start != start {
            return true;
        }
        let list = element(&watch.list_id);
        if let Some(list) = &list {
            watch.observer.observe(list);
        }
        list.is_some()
    });
    if observed == Some(false) && frames > 0 {
        request_animation_frame(move || observe(start, frames - 1));
    }
}

pub(super) fn stop_watching(start: u32) {
    let is_ours = with_watch(|watch| watch.start == start) == Some(true);
    let watch = if is_ours { replace_watch(None) } else { None };
    let Some(watch) = watch else { return };
    restoration::forget_open_list();
    watch.observer.disconnect();
    keyboard::stop(&watch.on_scroll);
    let Some(window) = window() else { return };
    for (name, listener) in [
        ("scroll", &watch.on_scroll),
        ("resize", &watch.on_scroll),
        ("touchstart", &watch.on_pointer),
        ("touchend", &watch.on_pointer),
        ("touchcancel", &watch.on_pointer),
    ] {
        let _ = window.remove_event_listener_with_callback(name, listener.as_ref().unchecked_ref());
    }
}

fn handle_scroll() {
    let Some(now) = metrics() else { return };
    with_watch(|watch| if watch.anchors == 0 { watch.reader.on_scroll(now) } else { watch.reader.on_own_scroll(now) });
    bottom_spacer::release_unseen_space();
    report_status();
    restoration::save_soon();
}

fn handle_resize() {
    let Some(now) = metrics() else { return };
    bottom_spacer::update_spacer();
    with_watch(|watch| watch.reader.on_resize(now));
    ease_to_bottom();
    report_status();
}
