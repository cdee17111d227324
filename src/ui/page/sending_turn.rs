//! The optimistic turn of a message in flight: shown at once, before the server has stored it.

use leptos::prelude::*;

use crate::ui::erased::{live_view, view};
use crate::ui::messages;

/// The id of the optimistic turn, for scrolling it into view.
pub const SENDING_ID: &str = "sending";

/// The text in flight, styled as a user's turn; empty when there is none. Its container is always there: an element
/// that is inserted into the page's main part by itself makes Chromium recompute the style of everything in it once
/// there is a formula on the page (its style sheet for MathML counts siblings of every kind).
#[component]
pub fn SendingTurn(#[prop(into)] text: Signal<Option<String>>) -> impl IntoView {
    let sent = live_view(move || {
        text.get().map(|text| {
            view! {
                <div id=SENDING_ID class="sending" aria-hidden="true">
                    <p class="sending-text" dir="auto">{text}</p>
                    <span class="sending-word">{messages::sending()}</span>
                </div>
            }
        })
    });
    view! { <div class="sending-place">{sent}</div> }
}
