//! Links with additional behaviour: handling of clicks and keys.

use leptos::ev::{KeyboardEvent, MouseEvent};

use crate::browser::focus;

/// Clicks a link on the space bar: links with the role of a button do not react to it by themselves.
pub fn click_by_space(event: KeyboardEvent) {
    if event.key() == " " {
        event.prevent_default();
        focus::click_focused();
    }
}

/// Returns whether a click opens the link in this tab; new tabs are left to the browser.
pub fn is_same_tab_click(event: &MouseEvent) -> bool {
    !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
}
