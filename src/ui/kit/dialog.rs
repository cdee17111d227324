//! Modal dialogs: the browser's own, which traps the focus and restores it.

use leptos::ev::Event;
use leptos::html;
use leptos::prelude::*;

use crate::browser::dialog;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages;

/// A modal dialog titled `title`, shown while `open` is true. Esc and its close button set `open` to false.
#[component]
pub fn Dialog(
    /// Unique on the page: the heading's id.
    id: &'static str,
    #[prop(into)] title: Signal<String>,
    open: RwSignal<bool>,
    children: Children,
) -> impl IntoView {
    let (node, closed) = bind_open(open);
    let cancel = move |event: Event| on_cancel(&event, open);
    view! {
        <dialog class="dialog" node_ref=node aria-labelledby=id on:cancel=cancel on:close=move |_| closed.run(())>
            <div class="dialog-head">
                <h2 id=id>{title}</h2>
                <button type="button" class="button bare" on:click=move |_| open.set(false)>
                    <Icon name="close"/>
                    <span class="quiet">{messages::close()}</span>
                </button>
            </div>
            {children()}
            {live_view(move || open.get().then(|| view! { <DialogRegions/> }))}
        </dialog>
    }
}

/// The live regions inside an open dialog, because everything outside of it is inert.
#[component]
pub fn DialogRegions() -> impl IntoView {
    view! {
        <div class="quiet" role="status" data-live="say"></div>
        <div class="quiet" role="alert" data-live="alert"></div>
    }
}

/// Binds the node of a dialog to `open`; returns the node and the handler of the browser's `close` event. That event
/// arrives a task later, and a key may reopen the dialog in between, so `open` is already set by the request to close
/// (`cancel`), and not by the end of a dialog that is open again.
pub fn bind_open(open: RwSignal<bool>) -> (NodeRef<html::Dialog>, Callback<()>) {
    let node = NodeRef::<html::Dialog>::new();
    effect(move || {
        let wanted = open.get();
        if let Some(node) = node.get() {
            dialog::set_open(&node, wanted);
        }
    });
    let closed = Callback::new(move |()| {
        if !node.get_untracked().is_some_and(|node| dialog::is_open(&node)) {
            open.set(false);
        }
    });
    (node, closed)
}

/// Handles a request to close the dialog. A file chooser inside it can be cancelled too, and its event bubbles, so
/// only the dialog's own counts.
pub fn on_cancel(event: &Event, open: RwSignal<bool>) {
    if dialog::is_own_event(event) {
        open.set(false);
    }
}
