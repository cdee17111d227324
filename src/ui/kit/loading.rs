//! The loading state of a screen (docs/reference/ux.md 4.10): nothing at first, then a skeleton, then buttons to
//! retry and to cancel.

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;

use crate::ui::announce::Announcer;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::messages;

/// Screens that load faster than this are not announced.
const SOON: Duration = Duration::from_millis(200);
/// Screens that take longer than this can be retried.
const LONG: Duration = Duration::from_secs(5);

/// The stage of the loading state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LoadingStage {
    Nothing,
    AWhile,
    Long,
}

/// The skeleton of a screen that is being loaded.
#[component]
pub fn Loading(
    /// Announced after a moment, such as "Loading chat…".
    label: &'static str,
    retry: Callback<()>,
    /// Cancels the navigation, where there is a page to return to.
    #[prop(optional_no_strip)]
    cancel: Option<Callback<()>>,
) -> impl IntoView {
    let taking = RwSignal::new(LoadingStage::Nothing);
    let timers = StoredValue::new(Vec::<TimeoutHandle>::new());
    let announcer = use_context::<Announcer>();
    let after = move |wait: Duration, then: LoadingStage, word: &'static str| {
        let reached = move || {
            if taking.try_set(then).is_none()
                && let Some(announcer) = announcer
            {
                announcer.announce(word);
            }
        };
        if let Ok(timer) = set_timeout_with_handle(reached, wait) {
            timers.update_value(|timers| timers.push(timer));
        }
    };
    effect(move || {
        after(SOON, LoadingStage::AWhile, label);
        after(LONG, LoadingStage::Long, messages::still_loading());
    });
    on_cleanup(move || {
        for timer in timers.try_get_value().unwrap_or_default() {
            timer.clear();
        }
    });
    let again = move |_| {
        taking.set(LoadingStage::AWhile);
        after(LONG, LoadingStage::Long, messages::still_loading());
        retry.run(());
    };
    live_view(move || {
        let taking = taking.get();
        (taking != LoadingStage::Nothing).then(|| {
            let is_long = taking == LoadingStage::Long;
            let buttons = is_long.then(|| {
                let leave = cancel.map(|cancel| {
                    view! {
                        <button type="button" class="button" on:click=move |_| cancel.run(())>{messages::cancel()}</button>
                    }
                });
                view! {
                    <div class="loading-ways">
                        <button type="button" class="button" on:click=again>{messages::retry()}</button>
                        {leave}
                    </div>
                }
            });
            loading_outline(if is_long { messages::still_loading() } else { label }, buttons)
        })
    })
}

/// The visible part: the label, the buttons, and the skeleton.
pub fn loading_outline(label: &'static str, buttons: Option<AnyView>) -> AnyView {
    view! {
        <div class="loading">
            <p class="hint">{label}</p>
            {buttons}
            <div class="skeleton" aria-hidden="true">
                <span class="bone asked"></span>
                <span class="bone"></span>
                <span class="bone"></span>
                <span class="bone short"></span>
            </div>
        </div>
    }
}
