//! Links that do more than lead somewhere: what a click and a key on one mean.

use leptos::ev::{KeyboardEvent, MouseEvent};

use crate::browser::focus;

/// A button answers to the space bar, a link that is called one does not by itself.
pub fn click_by_space(event: KeyboardEvent) {
    if event.key() == " " {
        event.prevent_default();
        focus::click_focused();
    }
}

/// Whether a click on a link leads there in this tab: a new one is the browser's business.
pub fn is_same_tab_click(event: &MouseEvent) -> bool {
    !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
}
