//! The real page: its metrics, what is watched of it, and its moves. Only in the browser.

use std::cell::{Cell, RefCell};

use leptos::prelude::{request_animation_frame, set_timeout};
use send_wrapper::SendWrapper;
use wasm_bindgen::closure::Closure;
use web_sys::{Document, Element, Event, ResizeObserver, Window};

use super::reader::{Metrics, Place, Reader};
use super::will::{is_reader_busy, is_still};
use crate::browser::clock;

/// How close to its end a box is, in pixels, to be kept at its end.
const BOX_NEAR: f64 = 24.0;
/// How close to the list's first or last turn, in pixels, the next ones are loaded (S8).
const LIST_NEAR: f64 = 800.0;

/// How much below the header may float over the page, in pixels.
const FLOATING: f64 = 64.0;
/// The longest that the page does not follow because more is coming, ms.
const PATIENCE_MS: i64 = 6_000;

pub(super) type Listener = Closure<dyn FnMut(Event)>;

/// What is watched of the page that is open, and by what.
pub(super) struct Watch {
    /// Which start this is, so that a page that goes away late does not stop the next one.
    pub(super) start: u32,
    pub(super) reader: Reader,
    pub(super) list_id: String,
    pub(super) shown: Place,
    pub(super) on_place: Box<dyn Fn(Place)>,
    /// A finger is down, a place is being held: nothing is moved meanwhile.
    pub(super) is_touched: bool,
    pub(super) holds: u32,
    pub(super) is_easing: bool,
    /// The page has been put where the reader should begin; before that its place means nothing.
    pub(super) is_placed: bool,
    /// The turn that was sent last, for which there is room below.
    pub(super) sent: Option<String>,
    pub(super) on_scroll: Listener,
    pub(super) on_pointer: Listener,
    pub(super) observer: ResizeObserver,
    pub(super) _on_resize: Closure<dyn FnMut()>,
}

thread_local! {
    /// The box that was brought to its end last, and where that was.
    static BOX: RefCell<(String, i32)> = const { RefCell::new((String::new(), 0)) };
    static WATCH: RefCell<Option<SendWrapper<Watch>>> = const { RefCell::new(None) };
    /// How many texts are still coming into the page, and since when there are any, ms.
    static WAITS: Cell<(u32, i64)> = const { Cell::new((0, 0)) };
}

pub(super) fn window() -> Option<Window> {
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

/// Gives what was watched before.
pub(super) fn replace_watch(watch: Option<Watch>) -> Option<Watch> {
    WATCH.replace(watch.map(SendWrapper::new)).map(SendWrapper::take)
}

pub(super) fn is_following() -> bool {
    with(|watch| watch.reader.is_following()).unwrap_or(false)
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

/// While one is there the page does not follow: what would come into view would be drawn for one frame only.
#[derive(Debug)]
pub struct Wait(());

/// Lets the page follow when this is dropped, or at last after some seconds.
pub(super) fn wait() -> Wait {
    let (waits, since) = WAITS.get();
    WAITS.set((waits + 1, if waits == 0 { clock::now_ms() } else { since }));
    Wait(())
}

impl Drop for Wait {
    fn drop(&mut self) {
        let (waits, since) = WAITS.get();
        WAITS.set((waits.saturating_sub(1), since));
        // What came is in the page after this task.
        request_animation_frame(ease);
    }
}

pub(super) fn is_waiting() -> bool {
    let (waits, since) = WAITS.get();
    waits > 0 && clock::now_ms() - since < PATIENCE_MS
}
