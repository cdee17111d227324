//! Turns that come and go at the ends of the list while somebody reads in the middle. Only in the browser.

use leptos::task::spawn_local;
use web_sys::Node;

use super::hold::put_at;
use super::page::{document, element, report};
use super::place::first_seen;

pub(super) fn keeping(list_id: &str, change: impl FnOnce(), done: impl FnOnce() + 'static) {
    let seen = first_seen(list_id);
    change();
    // Behind the tasks that draw the change, and before the next frame: the browser has no time to move anything itself.
    spawn_local(async move {
        leptos::task::tick().await;
        if let Some((id, y)) = seen {
            put_at(&id, y);
        }
        report();
        done();
    });
}

pub(super) fn is_held(id: &str, by_focus: bool) -> bool {
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
