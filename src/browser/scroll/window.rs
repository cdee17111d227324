//! The window of turns: turns are added and removed at the ends of the list without moving the reader's view. Browser
//! only.

use leptos::task::spawn_local;
use web_sys::Node;

use super::anchor::scroll_to_height;
use super::page::{document, element, report_status};
use super::restoration::first_visible;

pub(super) fn change_keeping_view(list_id: &str, change: impl FnOnce(), done: impl FnOnce() + 'static) {
    let seen = first_visible(list_id);
    change();
    // Runs after the tasks that render the change and before the next frame, so that the browser's own scroll
    // anchoring does not interfere.
    spawn_local(async move {
        leptos::task::tick().await;
        if let Some((id, y)) = seen {
            scroll_to_height(&id, y);
        }
        report_status();
        done();
    });
}

pub(super) fn is_in_use(id: &str, by_focus: bool) -> bool {
    let held = || {
        let document = document()?;
        let element = element(id)?;
        let node: &Node = element.as_ref();
        let has_focus = by_focus && node.contains(document.active_element().as_deref());
        let selection = web_sys::window()?.get_selection().ok()??;
        let is_selected =
            !selection.is_collapsed() && selection.contains_node_with_allow_partial_containment(node, true).ok()?;
        Some(has_focus || is_selected || element.query_selector("textarea").ok()?.is_some())
    };
    held().unwrap_or(false)
}
