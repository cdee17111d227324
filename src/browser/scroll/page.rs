//! The state of the page's scrolling: the active watch, measurements and moves. Browser only.

use std::cell::{Cell, RefCell};

use leptos::prelude::{request_animation_frame, set_timeout};
use send_wrapper::SendWrapper;
use wasm_bindgen::closure::Closure;
use web_sys::{Document, Element, Event, ResizeObserver, Window};

use super::follow_state::{FollowState, ScrollMetrics, ScrollStatus};
use super::intent::{is_motion_reduced, is_reader_busy};
use crate::browser::clock;

/// A box within this distance of its end, in pixels, is kept at its end.
const BOX_NEAR: f64 = 24.0;
/// More turns are loaded within this distance, in pixels, of the list's first or last one (S8).
const LIST_NEAR: f64 = 800.0;

/// Height of elements that may float below the header, in pixels.
const FLOATING: f64 = 64.0;
/// Longest pause of following while content is arriving, in ms.
const PATIENCE_MS: i64 = 6_000;

pub(super) type ScrollListener = Closure<dyn FnMut(Event)>;

/// The watch of the open page: its follow state, listeners and observer.
pub(super) struct ScrollWatch {
    /// Number of this watch, so that a page that is torn down late does not stop the next one.
    pub(super) start: u32,
    pub(super) reader: FollowState,
    pub(super) list_id: String,
    pub(super) shown: ScrollStatus,
    pub(super) on_place: Box<dyn Fn(ScrollStatus)>,
    /// A finger is on the screen. Neither then nor while an anchor is active does the page move by itself.
    pub(super) is_touched: bool,
    pub(super) anchors: u32,
    pub(super) is_easing: bool,
    /// The initial position was reached; the position means nothing before.
    pub(super) is_placed: bool,
    /// The turn that was sent last, which has space below it.
    pub(super) sent: Option<String>,
    pub(super) on_scroll: ScrollListener,
    pub(super) on_pointer: ScrollListener,
    pub(super) observer: ResizeObserver,
    pub(super) _on_resize: Closure<dyn FnMut()>,
}

thread_local! {
    /// The message that was sent last stands under the header, and its reply has not filled the screen yet.
    static PINNED: Cell<bool> = const { Cell::new(false) };
    /// The box that was last scrolled to its end, and its position then.
    static BOX: RefCell<(String, i32)> = const { RefCell::new((String::new(), 0)) };
    static WATCH: RefCell<Option<SendWrapper<ScrollWatch>>> = const { RefCell::new(None) };
    /// Number of active pauses, and when the first of them began, in ms.
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

pub(super) fn metrics() -> Option<ScrollMetrics> {
    let root = document()?.document_element()?;
    Some(ScrollMetrics {
        top: window()?.scroll_y().ok()?,
        height: f64::from(root.scroll_height()),
        view: f64::from(root.client_height()),
    })
}

/// Returns the height of the header, which is the page's scroll padding.
pub(super) fn header_height() -> f64 {
    let padding = || {
        let root = document()?.document_element()?;
        let style = window()?.get_computed_style(&root).ok()??;
        parse_pixels(&style.get_property_value("scroll-padding-top").ok()?)
    };
    padding().unwrap_or(0.0)
}

/// Parses a length in a style. The browser's parser is used, because Rust's parser for floats is a table of 10 KB that
/// does not compress.
pub(super) fn parse_pixels(length: &str) -> Option<f64> {
    Some(js_sys::parse_float(length.strip_suffix("px")?)).filter(|pixels| pixels.is_finite())
}

pub(super) fn with_watch<T>(read: impl FnOnce(&mut ScrollWatch) -> T) -> Option<T> {
    WATCH.with(|watch| watch.try_borrow_mut().ok()?.as_mut().map(|watch| read(watch)))
}

/// Sets the active watch and returns the previous one.
pub(super) fn replace_watch(watch: Option<ScrollWatch>) -> Option<ScrollWatch> {
    WATCH.replace(watch.map(SendWrapper::new)).map(SendWrapper::take)
}

pub(super) fn is_following() -> bool {
    with_watch(|watch| watch.reader.is_following()).unwrap_or(false)
}

/// Eases towards the bottom, one step per frame, while the page follows.
pub(super) fn ease_to_bottom() {
    let starts = with_watch(|watch| watch.reader.is_following() && !std::mem::replace(&mut watch.is_easing, true));
    if starts == Some(true) {
        ease_step();
    }
}

fn ease_step() {
    let Some(now) = metrics() else { return };
    let is_still = is_motion_reduced() || super::super::document::is_hidden();
    let is_busy = is_following_paused() || is_reader_busy();
    let next = with_watch(|watch| {
        let may_move = watch.anchors == 0 && !watch.is_touched && !is_busy;
        let next = may_move.then(|| watch.reader.next_position(now, is_still)).flatten();
        watch.is_easing = next.is_some();
        next
    });
    let Some(Some(top)) = next else { return report_status() };
    scroll_to(top);
    request_animation_frame(ease_step);
}

/// Scrolls at once and records the move as the page's own.
pub(super) fn scroll_to(top: f64) {
    let Some(window) = window() else { return };
    window.scroll_to_with_x_and_y(window.scroll_x().unwrap_or(0.0), top);
    if let Some(now) = metrics() {
        with_watch(|watch| {
            watch.is_placed = true;
            watch.reader.on_own_scroll(now);
        });
    }
}

/// Scrolls a position on screen into the upper half of the view. Returns whether the page moved.
pub(super) fn bring_into_view(y: f64) -> bool {
    let Some(now) = metrics().filter(|now| y < header_height() + FLOATING || y > now.view / 2.0) else { return false };
    scroll_to(now.top + y - header_height() - now.view / 6.0);
    // Near the end of the page there is no further to go.
    metrics().is_some_and(|then| (then.top - now.top).abs() >= 1.0)
}

pub(super) fn is_anchoring() -> bool {
    with_watch(|watch| watch.anchors > 0).unwrap_or(false)
}

pub(super) fn report_status() {
    let changed = with_watch(|watch| {
        let list = element(&watch.list_id).filter(|_| watch.is_placed).map(|list| list.get_bounding_client_rect());
        let view = metrics().map_or(0.0, |now| now.view);
        let place = ScrollStatus {
            is_following: watch.reader.is_following(),
            // The button stays hidden during an eased move, because it would flash whenever much content arrives at
            // once.
            is_far: watch.reader.is_far() && !watch.is_easing,
            is_near_start: list.as_ref().is_some_and(|list| list.top() > -LIST_NEAR),
            is_near_end: list.is_some_and(|list| list.bottom() < view + LIST_NEAR),
        };
        (place != watch.shown).then(|| watch.shown = place).is_some()
    });
    if changed == Some(true) {
        // Runs after this task, so that the callback may scroll.
        set_timeout(
            || {
                with_watch(|watch| (watch.on_place)(watch.shown));
            },
            std::time::Duration::ZERO,
        );
    }
}

pub(super) fn set_following(is_following: bool) {
    with_watch(|watch| watch.reader.set_following(is_following));
    report_status();
}

/// Marks the sent message as pinned under the header, or not. Returns whether it was.
pub(super) fn set_pinned(is_pinned: bool) -> bool {
    PINNED.replace(is_pinned)
}

/// Returns whether an element is below the visible part of the page.
pub(super) fn is_below_view(id: &str) -> bool {
    let top = element(id).map(|element| element.get_bounding_client_rect().top());
    top.zip(metrics()).is_some_and(|(top, now)| top >= now.view)
}

pub(super) fn scroll_to_latest() {
    // Whoever wants the end wants what follows, too.
    set_pinned(false);
    set_following(true);
    if is_motion_reduced() || is_following_paused() {
        metrics().map_or((), |now| scroll_to(now.bottom_position()))
    } else {
        ease_to_bottom()
    }
}

pub(super) fn keep_box_at_end(id: &str) {
    let Some(scroller) = element(id) else { return };
    // Measured before the new content is laid out, because the reader's previous position decides. A reader who has
    // not scrolled up since the last call is at the end, however much has arrived.
    let (top, id) = (scroller.scroll_top(), id.to_owned());
    let rest = f64::from(scroller.scroll_height() - top - scroller.client_height());
    let is_left = BOX.with_borrow(|(left, at)| *left == id && top >= *at);
    if rest <= BOX_NEAR || top == 0 || is_left {
        request_animation_frame(move || scroll_box_to_end(scroller, id));
    }
}

/// Scrolls a box to its end, and again in each frame as long as content arrives, because a long text is put into the page
/// over several frames. A reader who scrolls up meanwhile stays there.
fn scroll_box_to_end(scroller: Element, id: String) {
    scroller.set_scroll_top(scroller.scroll_height());
    let top = scroller.scroll_top();
    BOX.set((id.clone(), top));
    if is_following_paused() {
        request_animation_frame(move || {
            if scroller.scroll_top() >= top {
                scroll_box_to_end(scroller, id);
            }
        });
    }
}

/// Pauses following until it is dropped, because content that is still arriving would be visible for a single frame.
#[derive(Debug)]
pub struct FollowPause(());

/// Starts a pause, which ends when it is dropped or after [`PATIENCE_MS`].
pub(super) fn pause_following() -> FollowPause {
    let (waits, since) = WAITS.get();
    WAITS.set((waits + 1, if waits == 0 { clock::now_ms() } else { since }));
    FollowPause(())
}

impl Drop for FollowPause {
    fn drop(&mut self) {
        let (waits, since) = WAITS.get();
        WAITS.set((waits.saturating_sub(1), since));
        // The content is in the page after this task.
        request_animation_frame(ease_to_bottom);
    }
}

pub(super) fn is_following_paused() -> bool {
    let (waits, since) = WAITS.get();
    waits > 0 && clock::now_ms() - since < PATIENCE_MS
}
