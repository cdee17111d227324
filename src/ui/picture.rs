//! The picture viewer: shows a picture of the chat in full above the page. Pictures are links to themselves
//! everywhere; this module handles their clicks.

use leptos::ev::{self, MouseEvent};
use leptos::html;
use leptos::prelude::*;

use crate::browser::{dialog, document};
use crate::ui::erased::{effect, live_view, view};
use crate::ui::kit::Icon;
use crate::ui::kit::dialog::DialogRegions;
use crate::ui::messages;
use crate::ui::messages::attachments as texts;

/// The dialog. Esc, the button and a click beside the picture close it; the focus returns to the picture.
#[component]
pub fn PictureDialog() -> impl IntoView {
    let node = NodeRef::<html::Dialog>::new();
    // The address and the alternative text.
    let shown = RwSignal::new(None::<(String, String)>);
    effect(move || {
        let clicked = window_event_listener(ev::click, move |event: MouseEvent| {
            let is_plain = event.button() == 0 && !event.ctrl_key() && !event.meta_key() && !event.shift_key();
            if let Some(picture) = document::clicked_picture(&event).filter(|_| is_plain) {
                event.prevent_default();
                shown.set(Some(picture));
                if let Some(node) = node.get_untracked() {
                    dialog::set_open(&node, true);
                }
            }
        });
        on_cleanup(move || clicked.remove());
    });
    let close = move |_| {
        if let Some(node) = node.get_untracked() {
            dialog::set_open(&node, false);
        }
    };
    view! {
        <dialog
            class="picture-dialog"
            node_ref=node
            aria-label=texts::whole_picture()
            on:click=close
            // The `close` event arrives a task after the end: another picture may be open by then.
            on:close=move |_| if !node.get_untracked().is_some_and(|node| dialog::is_open(&node)) { shown.set(None) }
        >
            <button type="button" class="button" on:click=close>
                <Icon name="close"/>
                <span class="quiet">{messages::close()}</span>
            </button>
            {live_view(move || shown.get().map(|(address, alt)| view! { <img src=address alt=alt/><DialogRegions/> }))}
        </dialog>
    }
}
