//! Automatic disclosures: parts of a reply that open and close by themselves until the reader toggles them
//! (docs/reference/ux.md 6.2).

use std::time::Duration;

use leptos::ev::Event;
use leptos::prelude::*;

use crate::browser::{disclosure, scroll};
use crate::domain::BlockId;
use crate::ui::erased::{effect, on_change};
use crate::ui::state::ChatState;

/// The delay before a finished part closes by itself.
const CLOSES_AFTER: Duration = Duration::from_millis(600);

/// Returns the handler of a toggle by a click, a key or the browser's search. Every toggle counts as the reader's
/// choice.
pub fn toggle_listener(
    state: ChatState,
    key: BlockId,
    panel_id: String,
    open: RwSignal<bool>,
) -> impl Fn(Event) + 'static {
    move |_| {
        let is_open = disclosure::is_open(&panel_id);
        if is_open != open.get_untracked() {
            open.set(is_open);
            state.remember_toggle(key, is_open);
        }
    }
}

/// Opens the part while it grows and closes it a moment after; the reader's choice takes precedence.
pub fn follow_growth(state: ChatState, key: BlockId, panel_id: String, open: RwSignal<bool>, is_streaming: Memo<bool>) {
    let close = {
        let panel_id = panel_id.clone();
        move || {
            let is_untouched = is_streaming.try_get_untracked() == Some(false) && state.manual_toggle(key).is_none();
            let moves_nothing = || scroll::is_following() || scroll::is_below_view(&panel_id);
            if is_untouched && moves_nothing() && !disclosure::is_in_use(&panel_id) {
                let _ = open.try_set(false);
            }
        }
    };
    effect(move || {
        let is_open = disclosure::is_open(&panel_id);
        if is_open != open.get_untracked() {
            // The part was toggled before hydration.
            open.set(is_open);
            state.remember_toggle(key, is_open);
        } else if let Some(chosen) = state.manual_toggle(key) {
            open.set(chosen);
        }
    });
    on_change(
        move || is_streaming.get(),
        move |_, is| {
            if !is {
                set_timeout(close.clone(), CLOSES_AFTER);
            } else if state.manual_toggle(key).is_none() {
                open.set(true);
            }
        },
    );
}
