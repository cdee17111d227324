//! The message that is on its way: shown at once, before the server has stored it.

use leptos::prelude::*;

use crate::ui::erased::{live, view};
use crate::ui::words;

/// The text that is being sent, in the look of a user's turn; nothing when none is.
#[component]
pub fn SendingTurn(#[prop(into)] text: Signal<Option<String>>) -> impl IntoView {
    live(move || {
        text.get().map(|text| {
            view! {
                <div class="sending" aria-hidden="true">
                    <p class="sending-text" dir="auto">{text}</p>
                    <span class="sending-word">{words::sending()}</span>
                </div>
            }
        })
    })
}
