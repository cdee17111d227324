//! What could not be done, told where it was asked for: it stays until it worked or is put away (ux.md 4.10).

use std::sync::Arc;

use leptos::prelude::*;

use super::Icon;
use crate::browser::focus;
use crate::ui::erased::{live_view, view};
use crate::ui::messages;

/// One failure, and how the same is tried again. It outlives whoever asked, so nothing in it may belong to a page.
#[derive(Clone)]
pub struct RetryableFailure {
    pub why: String,
    pub retry: Arc<dyn Fn() + Send + Sync>,
}

/// The newest failure of one place of the page.
pub type FailureSignal = RwSignal<Option<RetryableFailure>>;

/// The panel goes with the button that was pressed: the focus goes to what is always there.
fn close(failing: FailureSignal) {
    failing.set(None);
    if !focus::focus_first(".new-chat") {
        focus::focus_first("#message");
    }
}

/// The panel in its place, which takes no room while nothing failed.
#[component]
pub fn FailurePanel(failing: FailureSignal) -> impl IntoView {
    let panel = live_view(move || {
        let RetryableFailure { why, retry } = failing.get()?;
        let on_retry = move |_| {
            close(failing);
            retry();
        };
        Some(view! {
            <div class="refused failed-deed">
                <Icon name="alert"/>
                <p dir="auto">{why}</p>
                <button type="button" class="button" on:click=on_retry>{messages::retry()}</button>
                <button
                    type="button"
                    class="button bare"
                    aria-label=messages::close()
                    title=messages::close()
                    on:click=move |_| close(failing)
                >
                    <Icon name="close"/>
                </button>
            </div>
        })
    });
    view! { <div class="failed-place no-print">{panel}</div> }
}
