//! The message that is on its way: shown at once, before the server has stored it.

use leptos::prelude::*;

use crate::ui::erased::{live_view, view};
use crate::ui::messages;

/// The id of what is on its way, for whoever brings it into view.
pub const SENDING_ID: &str = "sending";

/// The text that is being sent, in the look of a user's turn; nothing when none is. It has a place that is always there: an
/// element that comes into the page's main part by itself lets Chromium ask all that is in it for its style again, once there
/// is a formula on the page (its sheet for MathML counts siblings of every kind).
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
