//! The reader's intent towards the page's own moves: reduced motion, and activities that a move would disturb. Browser
//! only.

use std::cell::OnceCell;

use leptos::prelude::window;
use web_sys::MediaQueryList;

thread_local! {
    /// Cached, because every frame of a move needs it; the list follows the system's setting by itself.
    static STILL: OnceCell<Option<MediaQueryList>> = const { OnceCell::new() };
}

/// Returns whether eased moves are replaced by jumps, by the system's setting or the reader's.
pub(super) fn is_motion_reduced() -> bool {
    let query = || window().match_media("(prefers-reduced-motion: reduce)").ok().flatten();
    let is_wanted = || STILL.with(|still| still.get_or_init(query).as_ref().is_some_and(MediaQueryList::matches));
    super::super::document::root_attribute("data-motion").is_some() || is_wanted()
}

/// Returns whether the reader is doing something that a move would disturb: selected text, an open menu (S14).
pub(super) fn is_reader_busy() -> bool {
    let selection = window().get_selection().ok().flatten();
    selection.is_some_and(|selection| !selection.is_collapsed()) || super::super::dialog::is_any_open()
}
