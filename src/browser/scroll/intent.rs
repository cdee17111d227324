//! What the reader wants of the page's own moves: jumps, or none just now. Only in the browser.

use std::cell::OnceCell;

use leptos::prelude::window;
use web_sys::MediaQueryList;

thread_local! {
    /// Asked with every frame of a move; the list itself follows the system.
    static STILL: OnceCell<Option<MediaQueryList>> = const { OnceCell::new() };
}

/// Whether jumps are to be jumps: the system says so, or the reader chose it.
pub(super) fn is_motion_reduced() -> bool {
    let query = || window().match_media("(prefers-reduced-motion: reduce)").ok().flatten();
    let is_wanted = || STILL.with(|still| still.get_or_init(query).as_ref().is_some_and(MediaQueryList::matches));
    super::super::document::root_attribute("data-motion").is_some() || is_wanted()
}

/// Whether the reader is busy with something that a move would spoil: selected text, an open menu (S14).
pub(super) fn is_reader_busy() -> bool {
    let selection = window().get_selection().ok().flatten();
    selection.is_some_and(|selection| !selection.is_collapsed()) || super::super::dialog::is_any_open()
}
