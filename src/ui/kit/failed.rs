//! What could not be done, told where it was asked for: it stays until it worked or is put away (ux.md 4.10).

use std::sync::Arc;

use leptos::prelude::*;

use super::Icon;
use crate::browser::focus;
use crate::ui::erased::{live, view};
use crate::ui::words;

/// One failure, and how the same is tried again. It outlives whoever asked, so nothing in it may belong to a page.
#[derive(Clone)]
pub struct Failure {
    pub why: String,
    pub again: Arc<dyn Fn() + Send + Sync>,
}

/// The newest failure of one place of the page.
pub type Failing = RwSignal<Option<Failure>>;

/// The panel goes with the button that was pressed: the focus goes to what is always there.
fn close(failing: Failing) {
    failing.set(None);
    if !focus::on(".new-chat") {
        focus::on("#message");
    }
}

/// The panel in its place, which takes no room while nothing failed.
#[component]
pub fn FailedDeed(failing: Failing) -> impl IntoView {
    let panel = live(move || {
        let Failure { why, again } = failing.get()?;
        let retry = move |_| {
            close(failing);
            again();
        };
        Some(view! {
            <div class="refused failed-deed">
                <Icon name="alert"/>
                <p dir="auto">{why}</p>
                <button type="button" class="button" on:click=retry>{words::retry()}</button>
                <button
                    type="button"
                    class="button bare"
                    aria-label=words::close()
                    title=words::close()
                    on:click=move |_| close(failing)
                >
                    <Icon name="close"/>
                </button>
            </div>
        })
    });
    view! { <div class="failed-place no-print">{panel}</div> }
}
