//! The failure panel: a failed action is reported where it was requested, until it succeeded or was dismissed
//! (docs/reference/ux.md 4.10).

use std::sync::Arc;

use leptos::prelude::*;

use super::Icon;
use crate::browser::focus;
use crate::ui::erased::{live_view, view};
use crate::ui::messages;

/// A failure and its retry action. It outlives the page that caused it, so nothing in it may belong to a page.
#[derive(Clone)]
pub struct RetryableFailure {
    pub reason: String,
    pub retry: Arc<dyn Fn() + Send + Sync>,
}

/// The newest failure of one part of the page.
pub type FailureSignal = RwSignal<Option<RetryableFailure>>;

/// Closes the panel. The pressed button disappears with it, so the focus moves to an element that is always there.
fn close(failing: FailureSignal) {
    failing.set(None);
    if !focus::focus_first(".new-chat") {
        focus::focus_first("#message");
    }
}

/// The panel; takes no space while nothing failed.
#[component]
pub fn FailurePanel(failing: FailureSignal) -> impl IntoView {
    let panel = live_view(move || {
        let RetryableFailure { reason, retry } = failing.get()?;
        let on_retry = move |_| {
            close(failing);
            retry();
        };
        Some(view! {
            <div class="refused failed-deed">
                <Icon name="alert"/>
                <p dir="auto">{reason}</p>
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
