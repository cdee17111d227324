//! Watching how the reader moves and the page grows, from the start to the end of a page. Only in the browser.

use std::cell::Cell;

use leptos::prelude::request_animation_frame;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AddEventListenerOptions, Event, ResizeObserver};

use super::page::{Listener, Watch, ease, element, metrics, replace_watch, report, window, with};
use super::reader::{Place, Reader};
use super::{keyboard, place, room};

/// How many frames the list may take to appear in the page.
const FRAMES_TO_WAIT: u32 = 180;

thread_local! {
    static STARTS: Cell<u32> = const { Cell::new(0) };
}

pub(super) fn start(list_id: &str, on_place: impl Fn(Place) + 'static) -> u32 {
    stop(STARTS.get());
    let start = STARTS.get().wrapping_add(1);
    STARTS.set(start);
    watch(start, list_id, on_place);
    start
}

fn watch(start: u32, list_id: &str, on_place: impl Fn(Place) + 'static) {
    let (Some(window), Some(now)) = (window(), metrics()) else { return };
    let on_scroll = Listener::new(|event: Event| {
        keyboard::tell();
        if event.type_() == "resize" { resized() } else { scrolled() }
    });
    let on_pointer = Listener::new(|event: Event| {
        let is_down = event.type_() == "touchstart";
        with(|watch| watch.is_touched = is_down);
    });
    let on_resize = Closure::<dyn FnMut()>::new(resized);
    let Ok(observer) = ResizeObserver::new(on_resize.as_ref().unchecked_ref()) else { return };
    let passive = AddEventListenerOptions::new();
    passive.set_passive(true);
    let listen = |name: &str, listener: &Listener| {
        let callback = listener.as_ref().unchecked_ref();
        let _ = window.add_event_listener_with_callback_and_add_event_listener_options(name, callback, &passive);
    };
    listen("scroll", &on_scroll);
    listen("resize", &on_scroll);
    keyboard::listen(&on_scroll);
    for name in ["touchstart", "touchend", "touchcancel"] {
        listen(name, &on_pointer);
    }
    let reader = Reader::new(now);
    let shown = Place { is_following: reader.is_following(), is_far: reader.is_far(), ..Place::default() };
    on_place(shown);
    let watch = Watch {
        start,
        reader,
        list_id: list_id.to_owned(),
        shown,
        on_place: Box::new(on_place),
        is_touched: false,
        holds: 0,
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

/// Listens to the list's growth once it is in the page; a page that is still being built has none.
fn observe(start: u32, frames: u32) {
    let observed = with(|watch| {
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

pub(super) fn stop(start: u32) {
    let is_ours = with(|watch| watch.start == start) == Some(true);
    let watch = if is_ours { replace_watch(None) } else { None };
    let Some(watch) = watch else { return };
    place::close();
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

fn scrolled() {
    let Some(now) = metrics() else { return };
    with(|watch| if watch.holds == 0 { watch.reader.scrolled(now) } else { watch.reader.arrived(now) });
    report();
    place::save_soon();
}

fn resized() {
    let Some(now) = metrics() else { return };
    room::keep();
    with(|watch| watch.reader.resized(now));
    ease();
    report();
}
