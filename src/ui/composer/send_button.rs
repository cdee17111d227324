//! The one button of the composer: it sends, and while a reply runs it stops that, in the same place. It stays the same
//! element, so the focus stays on it.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::ui::composer::state::{ComposerState, Phase};
use crate::ui::erased::{effect, view};
use crate::ui::kit::Icon;
use crate::ui::words;

/// The form that stops the running reply; the button belongs to it while one runs.
pub const STOP_FORM: &str = "stop-reply";

/// "Send", "Sending…", "Stop reply" or "Stopping…".
#[component]
pub fn SendButton() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let is_stop = move || state.running.get().is_some();
    let word = move || match (state.phase.get(), is_stop()) {
        (Phase::Sending, _) => words::sending(),
        (Phase::Stopping, _) => words::stopping(),
        (Phase::Idle, true) => words::stop_reply(),
        (Phase::Idle, false) => words::send(),
    };
    // Without script nothing would ever set it back, so it is said only once the page is live.
    let is_live = RwSignal::new(false);
    effect(move || is_live.set(true));
    let is_refused = move || {
        let is_refused = state.phase.get() != Phase::Idle || (!is_stop() && state.is_empty());
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
