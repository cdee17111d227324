//! What the reader wants of the page's own moves: none, jumps, or none just now. Only in the browser.

use std::cell::{Cell, OnceCell};

use leptos::prelude::{request_animation_frame, window};
use web_sys::MediaQueryList;

use super::page::ease;
use crate::browser::clock;

/// The longest that the page does not follow because more is coming, ms.
const PATIENCE_MS: i64 = 6_000;

thread_local! {
    /// How many texts are still coming into the page, and since when there are any, ms.
    static WAITS: Cell<(u32, i64)> = const { Cell::new((0, 0)) };
    /// Asked with every frame of a move; the list itself follows the system.
    static STILL: OnceCell<Option<MediaQueryList>> = const { OnceCell::new() };
}

/// Whether jumps are to be jumps: the system says so, or the reader chose it.
pub(super) fn is_still() -> bool {
    let query = || window().match_media("(prefers-reduced-motion: reduce)").ok().flatten();
    let is_wanted = || STILL.with(|still| still.get_or_init(query).as_ref().is_some_and(MediaQueryList::matches));
    super::super::document::root_attribute("data-motion").is_some() || is_wanted()
}

/// Whether the reader is busy with something that a move would spoil: selected text, an open menu (S14).
pub(super) fn is_reader_busy() -> bool {
    let selection = window().get_selection().ok().flatten();
    selection.is_some_and(|selection| !selection.is_collapsed()) || super::super::dialog::is_any_open()
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
