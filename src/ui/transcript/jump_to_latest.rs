//! The way back to the bottom for a reader who scrolled up (ux.md S7).

use leptos::prelude::*;

use super::more::to_latest;
use crate::api::view::Side;
use crate::browser::scroll;
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::state::ChatState;
use crate::ui::words::transcript as words;

/// The button; there only when the bottom is far.
#[component]
pub fn JumpToLatest(state: ChatState, place: RwSignal<scroll::Place>) -> impl IntoView {
    let is_far = Memo::new(move |_| place.get().is_far || state.has_more(Side::Newer));
    let is_running = Memo::new(move |_| state.running().is_some());
    let name = move || if is_running.get() { words::to_latest_running() } else { words::to_latest() };
    let text = move || if is_running.get() { words::new_text() } else { words::latest() };
    live(move || {
        is_far.get().then(|| {
            view! {
                <div class="jump">
                    <button type="button" class="button jump-button needs-script" aria-label=move || name() on:click=move |_| to_latest(state)>
                        <Icon name="arrow-down"/>
                        {move || text()}
                    </button>
                </div>
            }
        })
    })
}
