//! The real page: its metrics, its listeners and its moves. Only in the browser.

use std::cell::{Cell, RefCell};

use leptos::prelude::{request_animation_frame, set_timeout};
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AddEventListenerOptions, Document, Element, Event, ResizeObserver, Window};

use super::reader::{Metrics, Reader};
use super::will::{is_reader_busy, is_still, is_waiting};
use super::{Place, keyboard, place, room};

/// How many frames the list may take to appear in the page.
const FRAMES_TO_WAIT: u32 = 180;
/// How close to its end a box is, in pixels, to be kept at its end.
const BOX_NEAR: f64 = 24.0;
/// How close to the list's first or last turn, in pixels, the next ones are loaded (S8).
const LIST_NEAR: f64 = 800.0;

/// How much below the header may float over the page, in pixels.
const FLOATING: f64 = 64.0;

pub(super) type Listener = Closure<dyn FnMut(Event)>;

pub(super) struct Watch {
    /// Which start this is, so that a page that goes away late does not stop the next one.
    start: u32,
    pub(super) reader: Reader,
    pub(super) list_id: String,
    shown: Place,
    on_place: Box<dyn Fn(Place)>,
    /// A finger is down, a place is being held: nothing is moved meanwhile.
    is_touched: bool,
    pub(super) holds: u32,
    is_easing: bool,
    /// The page has been put where the reader should begin; before that its place means nothing.
    is_placed: bool,
    /// The turn that was sent last, for which there is room below.
    pub(super) sent: Option<String>,
    on_scroll: Listener,
    on_pointer: Listener,
    observer: ResizeObserver,
    _on_resize: Closure<dyn FnMut()>,
}

thread_local! {
    static STARTS: Cell<u32> = const { Cell::new(0) };
    /// The box that was brought to its end last, and where that was.
    static BOX: RefCell<(String, i32)> = const { RefCell::new((String::new(), 0)) };
    static WATCH: RefCell<Option<SendWrapper<Watch>>> = const { RefCell::new(None) };
}

fn window() -> Option<Window> {
    web_sys::window()
}

pub(super) fn document() -> Option<Document> {
    window()?.document()
}

pub(super) fn element(id: &str) -> Option<Element> {
    document()?.get_element_by_id(id)
}

pub(super) fn metrics() -> Option<Metrics> {
    let root = document()?.document_element()?;
    Some(Metrics {
        top: window()?.scroll_y().ok()?,
        height: f64::from(root.scroll_height()),
        view: f64::from(root.client_height()),
    })
}

/// How much of the top the header covers: the page's own scroll padding.
pub(super) fn header() -> f64 {
    let padding = || {
        let root = document()?.document_element()?;
        let style = window()?.get_computed_style(&root).ok()??;
        pixels(&style.get_property_value("scroll-padding-top").ok()?)
    };
    padding().unwrap_or(0.0)
}

/// A length in a style. The browser reads it: Rust's reader of fractions is a table of 10 KB that does not compress, and
/// so is its writer.
pub(super) fn pixels(length: &str) -> Option<f64> {
    Some(js_sys::parse_float(length.strip_suffix("px")?)).filter(|pixels| pixels.is_finite())
}

pub(super) fn with<T>(read: impl FnOnce(&mut Watch) -> T) -> Option<T> {
    WATCH.with(|watch| watch.try_borrow_mut().ok()?.as_mut().map(|watch| read(watch)))
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
    WATCH.with(|slot| *slot.borrow_mut() = Some(SendWrapper::new(watch)));
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
    let watch = if is_ours { WATCH.with(|slot| slot.borrow_mut().take()) } else { None };
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

pub(super) fn is_following() -> bool {
    with(|watch| watch.reader.is_following()).unwrap_or(false)
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

/// Moves towards the bottom, a step a frame, while the page follows.
pub(super) fn ease() {
    let starts = with(|watch| watch.reader.is_following() && !std::mem::replace(&mut watch.is_easing, true));
    if starts == Some(true) {
        step();
    }
}

fn step() {
    let Some(now) = metrics() else { return };
    let is_still = is_still() || super::super::document::is_hidden();
    let is_busy = is_waiting() || is_reader_busy();
    let next = with(|watch| {
        let may_move = watch.holds == 0 && !watch.is_touched && !is_busy;
        let next = may_move.then(|| watch.reader.next(now, is_still)).flatten();
        watch.is_easing = next.is_some();
        next
    });
    let Some(Some(top)) = next else { return report() };
    go(top);
    request_animation_frame(step);
}

/// Scrolls by the page's own will, at once.
pub(super) fn go(top: f64) {
    let Some(window) = window() else { return };
    window.scroll_to_with_x_and_y(window.scroll_x().unwrap_or(0.0), top);
    if let Some(now) = metrics() {
        with(|watch| {
            watch.is_placed = true;
            watch.reader.arrived(now);
        });
    }
}

/// Brings a height on screen into the upper half of what is seen.
pub(super) fn bring(y: f64) {
    let Some(now) = metrics() else { return };
    if y < header() + FLOATING || y > now.view / 2.0 {
        go(now.top + y - header() - now.view / 6.0);
    }
}

pub(super) fn is_holding() -> bool {
    with(|watch| watch.holds > 0).unwrap_or(false)
}

pub(super) fn report() {
    let changed = with(|watch| {
        let list = element(&watch.list_id).filter(|_| watch.is_placed).map(|list| list.get_bounding_client_rect());
        let view = metrics().map_or(0.0, |now| now.view);
        let place = Place {
            is_following: watch.reader.is_following(),
            // Who is being taken there needs no way there: much that comes at once would make the button flash.
            is_far: watch.reader.is_far() && !watch.is_easing,
            is_near_start: list.as_ref().is_some_and(|list| list.top() > -LIST_NEAR),
            is_near_end: list.is_some_and(|list| list.bottom() < view + LIST_NEAR),
        };
        (place != watch.shown).then(|| watch.shown = place).is_some()
    });
    if changed == Some(true) {
        // After this task, so that whoever listens may ask for a move.
        set_timeout(
            || {
                with(|watch| (watch.on_place)(watch.shown));
            },
            std::time::Duration::ZERO,
        );
    }
}

pub(super) fn follow(is_following: bool) {
    with(|watch| watch.reader.set_following(is_following));
    report();
}

pub(super) fn to_latest() {
    follow(true);
    if is_still() || is_waiting() { metrics().map_or((), |now| go(now.bottom())) } else { ease() }
}

pub(super) fn keep_end(id: &str) {
    let Some(scroller) = element(id) else { return };
    // Asked before the growth is laid out: what counts is where the reader was. Who did not scroll up since is at the
    // end, however much came meanwhile.
    let (top, id) = (scroller.scroll_top(), id.to_owned());
    let rest = f64::from(scroller.scroll_height() - top - scroller.client_height());
    let is_left = BOX.with_borrow(|(left, at)| *left == id && top >= *at);
    if rest <= BOX_NEAR || top == 0 || is_left {
        request_animation_frame(move || {
            scroller.set_scroll_top(scroller.scroll_height());
            BOX.set((id, scroller.scroll_top()));
        });
    }
}
