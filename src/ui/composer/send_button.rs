//! The composer's main button: it sends, and while the reply runs it stops that, in the same place. It stays the same
//! element, so that it keeps the focus.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::ui::composer::state::{ComposerPhase, ComposerState};
use crate::ui::erased::{effect, view};
use crate::ui::kit::Icon;
use crate::ui::messages;

/// The id of the form that stops the running reply; the button belongs to it while one runs.
pub const STOP_FORM: &str = "stop-reply";

/// "Send", "Stop reply" or "Stopping…".
#[component]
pub fn SendButton() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    // A reply can be stopped while its message is still being sent, before the reply is known.
    let is_stop = move || state.running.get().is_some() || state.phase.get() == ComposerPhase::Sending;
    let word = move || match state.phase.get() {
        ComposerPhase::Stopping | ComposerPhase::Withdrawing => messages::stopping(),
        _ if is_stop() => messages::stop_reply(),
        _ => messages::send(),
    };
    // Without script nothing would reset the state, so it is shown only after hydration.
    let is_live = RwSignal::new(false);
    effect(move || is_live.set(true));
    let is_refused = move || {
        let is_refused = match state.phase.get() {
            ComposerPhase::Stopping | ComposerPhase::Withdrawing => true,
            _ => !is_stop() && (state.is_empty() || state.is_full()),
        };
        (is_refused && is_live.get()).then_some("true")
    };
    // The second click of a double click on "Send" must not stop the reply that the first one started.
    let on_click = move |event: MouseEvent| {
        if is_stop() && event.detail() > 1 {
            event.prevent_default();
        }
    };
    view! {
        <button
            type="submit"
            class="send"
            class:stop=move || is_stop()
            form=move || is_stop().then_some(STOP_FORM)
            aria-disabled=move || is_refused()
            title=move || word()
            on:click=on_click
        >
            {move || if is_stop() { view! { <Icon name="stop"/> } } else { view! { <Icon name="send"/> } }}
            <span class="quiet">{move || word()}</span>
        </button>
    }
}
