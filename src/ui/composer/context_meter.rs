//! The context meter: how much of the model's context the conversation fills. A quiet line under the composer, with a
//! bar from `BAR` percent and a warning from `WARNING`; nothing where either number is unknown.

use leptos::prelude::*;

use crate::ui::composer::state::ComposerState;
use crate::ui::erased::{live_view, view};
use crate::ui::messages::usage as texts;

/// Percentages of the context from which there is a bar, a warning, and an explanation.
const BAR: u64 = 60;
const WARNING: u64 = 90;
const FULL: u64 = 100;

/// The line. `used` is the number of tokens that the newest reply on the path filled.
#[component]
pub fn ContextMeter(#[prop(into)] used: Signal<Option<u64>>) -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let fill = Memo::new(move |_| {
        let of = state.model()?.context_tokens.filter(|of| *of > 0)?;
        Some((used.get()?, of))
    });
    live_view(move || {
        let (used, of) = fill.get()?;
        let percent = used.saturating_mul(100) / of;
        let warning = match percent {
            FULL.. => Some(texts::context_full()),
            WARNING.. => Some(texts::context_nearly_full()),
            _ => None,
        };
        let text = texts::context(used, of);
        let bar = (percent >= BAR).then(|| {
            view! {
                <meter
                    aria-label=texts::context_in_use()
                    aria-valuetext=text.clone()
                    max="100"
                    high=WARNING.to_string()
                    low=WARNING.to_string()
                    optimum="0"
                    value=percent.min(FULL).to_string()
                ></meter>
            }
        });
        Some(view! {
            <p class="hint context-meter">
                {bar}
                <span>{text}</span>
                {warning.map(|warning| view! { <span class="warning">{warning}</span> })}
            </p>
        })
    })
}
