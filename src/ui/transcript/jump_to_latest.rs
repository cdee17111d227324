//! The button that returns a reader who scrolled up to the bottom (docs/reference/ux.md S7).

use leptos::prelude::*;

use super::load_more::go_to_latest;
use crate::api::view::PathDirection;
use crate::browser::scroll;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::messages::transcript as words;
use crate::ui::state::ChatState;

/// The button; shown only when the bottom is far.
#[component]
pub fn JumpToLatest(state: ChatState, place: RwSignal<scroll::ScrollStatus>) -> impl IntoView {
    let is_far = Memo::new(move |_| place.get().is_far || state.has_more(PathDirection::Newer));
    let is_running = Memo::new(move |_| state.running_reply().is_some());
    let name = move || if is_running.get() { words::to_latest_running() } else { words::to_latest() };
    let text = move || if is_running.get() { words::new_text() } else { words::latest() };
    live_view(move || {
        is_far.get().then(|| {
            view! {
                <div class="jump">
                    <button type="button" class="button jump-button needs-script" aria-label=move || name() on:click=move |_| go_to_latest(state)>
                        <Icon name="arrow-down"/>
                        {move || text()}
                    </button>
                </div>
            }
        })
    })
}
