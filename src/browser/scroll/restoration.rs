//! Scroll restoration: stores the reading position of each page for this session and returns to it
//! (docs/reference/ux.md S11).

use std::cell::RefCell;
use std::time::Duration;

use super::bottom_spacer::scroll_to_expected;
use super::page::{document, element, header_height, is_following, report_status, scroll_to, set_following};
use crate::browser::history;
use crate::browser::local_store::session_storage;
use leptos::prelude::{request_animation_frame, set_timeout};
use wasm_bindgen::JsCast;
use web_sys::{Element, NodeList};

/// Throttle: the position is stored this long after the first scroll event of a series.
const SOON: Duration = Duration::from_millis(300);

/// The saved position: a turn, or the part of its text that the reader was in, and its place on screen.
struct SavedPosition {
    turn: String,
    /// The part within the turn. The turn alone would be inexact, because the heights of distant parts are estimates
    /// (`transcript.css`).
    part: Option<u32>,
    y: f64,
}

struct RestoredPage {
    /// Number of this restoration, so that a page that was left at once does not continue the next one.
    number: u32,
    list_id: String,
    key: String,
    /// The path of the page. Once the location differs, this page is about to be replaced, and its scroll positions
    /// belong to the navigation.
    path: String,
    /// The position at which the reader left the page.
    kept: Option<SavedPosition>,
    /// The initial position was reached; nothing is saved before that.
    is_begun: bool,
    is_saving: bool,
}

thread_local! {
    static OPEN: RefCell<Option<RestoredPage>> = const { RefCell::new(None) };
}

pub(super) fn restore_position(
    list_id: &str,
    key: &str,
    as_left: bool,
    on_missing: impl FnOnce(String, u32) + 'static,
) {
    let kept = session_storage().filter(|_| as_left).and_then(|storage| storage.get_item(key).ok().flatten());
    let kept = kept.and_then(|kept| {
        let mut kept = kept.split(' ');
        let (turn, y) = (kept.next()?.to_owned(), f64::from(kept.next()?.parse::<i32>().ok()?));
        Some(SavedPosition { turn, y, part: kept.next().and_then(|part| part.parse().ok()) })
    });
    let missing = kept.as_ref().map(|kept| kept.turn.clone());
    let (list_id, key, path) = (list_id.to_owned(), key.to_owned(), history::path());
    let number = OPEN.with(|open| {
        let number = open.borrow().as_ref().map_or(0, |open| open.number.wrapping_add(1));
        *open.borrow_mut() = Some(RestoredPage { number, list_id, key, path, kept, is_begun: false, is_saving: false });
        number
    });
    request_animation_frame(move || match missing.filter(|id| element(id).is_none()) {
        Some(id) => on_missing(id, number),
        None => resume_restoration(number),
    });
}

/// Scrolls to the saved position, or to the bottom if its turn is not in the page.
pub(super) fn resume_restoration(number: u32) {
    let kept = OPEN.with(|open| {
        let mut open = open.borrow_mut();
        let open = open.as_mut().filter(|open| open.number == number)?;
        open.is_begun = true;
        Some(open.kept.take())
    });
    let Some(kept) = kept else { return };
    match kept.and_then(|kept| Some((target(&kept)?, kept.y))) {
        Some((target, y)) => {
            set_following(false);
            scroll_to_target(&target, y);
            // Elements get their real heights when they come near the viewport, so the position is corrected in the
            // next two frames.
            request_animation_frame(move || {
                scroll_to_target(&target, y);
                request_animation_frame(move || scroll_to_target(&target, y));
            });
        }
        None => {
            set_following(true);
            let height = document().and_then(|d| d.document_element()).map_or(0, |root| root.scroll_height());
            scroll_to(f64::from(height));
            scroll_to_expected();
        }
    }
    report_status();
}

fn target(kept: &SavedPosition) -> Option<Element> {
    let turn = element(&kept.turn)?;
    let part = kept.part.and_then(|at| parts(&turn)?.item(at)?.dyn_into().ok());
    Some(part.unwrap_or(turn))
}

fn scroll_to_target(target: &Element, y: f64) {
    // The page may have been replaced since.
    if !target.is_connected() {
        return;
    }
    let scroll_y = web_sys::window().and_then(|window| window.scroll_y().ok()).unwrap_or(0.0);
    scroll_to(target.get_bounding_client_rect().top() + scroll_y - y);
}

fn parts(turn: &Element) -> Option<NodeList> {
    turn.query_selector_all(".md > .parts > .part").ok()
}

/// Returns the first visible part of a turn that begins above the header, and its place on screen. Groups are checked
/// first, because the parts of distant groups are not laid out.
fn first_visible_part(turn: &str) -> Option<(u32, f64)> {
    let (turn, header) = (element(turn)?, header_height());
    if turn.get_bounding_client_rect().top() >= header {
        return None;
    }
    let groups = turn.query_selector_all(".md > .parts").ok()?;
    let mut before = 0;
    for group in (0..groups.length()).filter_map(|at| groups.item(at)?.dyn_into::<Element>().ok()) {
        let parts = group.children();
        if group.get_bounding_client_rect().bottom() > header {
            let place = |at| parts.item(at).map(|part: Element| part.get_bounding_client_rect());
            let seen =
                (0..parts.length()).find_map(|at| Some((at, place(at).filter(|place| place.bottom() > header)?)));
            if let Some((at, place)) = seen {
                return Some((before + at, place.top()));
            }
        }
        before += parts.length();
    }
    None
}

/// Stops saving, because the open page is being left.
pub(super) fn forget_open_list() {
    OPEN.with(|open| {
        if let Some(open) = open.borrow_mut().as_mut() {
            open.is_begun = false;
        }
    });
}

/// Throttled save of the scroll position.
pub(super) fn save_soon() {
    let starts =
        OPEN.with(|open| open.borrow_mut().as_mut().is_some_and(|open| !std::mem::replace(&mut open.is_saving, true)));
    if starts {
        set_timeout(save, SOON);
    }
}

fn save() {
    OPEN.with(|open| {
        let mut open = open.borrow_mut();
        let (Some(open), Some(storage)) = (open.as_mut(), session_storage()) else { return };
        open.is_saving = false;
        if !open.is_begun || open.path != history::path() {
            return;
        }
        let seen = if is_following() { None } else { first_visible(&open.list_id) };
        let place = seen.map(|(turn, y)| match first_visible_part(&turn) {
            Some((part, y)) => format!("{turn} {} {part}", y.round() as i32),
            None => format!("{turn} {}", y.round() as i32),
        });
        let _ = match place {
            Some(place) => storage.set_item(&open.key, &place),
            None => storage.remove_item(&open.key),
        };
    });
}

/// Returns the first turn that is at least partly below the header, and its place on screen. Only rows are measured:
/// measuring inside a distant row would force its layout.
pub(super) fn first_visible(list_id: &str) -> Option<(String, f64)> {
    let rows = element(list_id)?.children();
    let header = header_height();
    let seen =
        (0..rows.length()).filter_map(|at| rows.item(at)).find(|row| row.get_bounding_client_rect().bottom() > header);
    let turn = seen?.query_selector("article[id]").ok()??;
    Some((turn.id(), turn.get_bounding_client_rect().top()))
}
