//! Modal dialogs: the browser's own, which keeps the focus inside and gives it back.

use leptos::html;
use leptos::prelude::*;

use crate::browser::dialog;
use crate::ui::erased::{effect, view};
use crate::ui::kit::Icon;
use crate::ui::words;

/// A modal dialog titled `title`, shown while `open` is true. Esc and its close button set `open` to false.
#[component]
pub fn Dialog(
    /// Unique on the page: the heading's id.
    id: &'static str,
    #[prop(into)] title: Signal<String>,
    open: RwSignal<bool>,
    children: Children,
) -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    effect(move || {
        let wanted = open.get();
        if let Some(node) = node.get() {
            dialog::show(&node, wanted);
        }
    });
    view! {
        <dialog class="dialog" node_ref=node aria-labelledby=id on:close=move |_| open.set(false)>
            <header class="dialog-head">
                <h2 id=id>{title}</h2>
                <button type="button" class="button bare" on:click=move |_| open.set(false)>
                    <Icon name="close"/>
                    <span class="quiet">{words::close()}</span>
                </button>
            </header>
            {children()}
        </dialog>
    }
}
