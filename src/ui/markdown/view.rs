//! The component that puts drawn text into the page. This is the only file that sets HTML: what it takes is
//! [`Markup`](super::Markup), which only this module's writer can make.

use leptos::prelude::*;

use crate::ui::erased::{rows, view};

use super::part::Part;

/// A text in parts. A part whose markup has not changed keeps its place in the page, and with it what the reader has
/// selected or scrolled in it.
///
/// On hydration the page is left as it is: the server may have drawn a part more richly than the browser's own first
/// value says. There must be as many parts on both sides, which [`render_with`](super::render_with) promises.
#[component]
pub fn MarkdownText(
    /// All parts, in order.
    #[prop(into)]
    parts: Signal<Vec<Part>>,
    /// What the style knows it by.
    #[prop(default = "md")]
    class: &'static str,
) -> impl IntoView {
    let numbered = move || parts.get().into_iter().enumerate().collect::<Vec<_>>();
    view! {
        <div class=class>
            {rows(
                numbered,
                |(at, part)| (*at as u128) << 64 | u128::from(part.fingerprint()),
                |(_, part)| view! { <div class="part" inner_html=part.markup().as_str().to_owned()></div> },
            )}
        </div>
    }
}

/// The same for a page that is drawn once and never changes.
pub fn drawn(parts: &[Part]) -> AnyView {
    let part = |part: &Part| view! { <div class="part" inner_html=part.markup().as_str().to_owned()></div> };
    view! { <div class="md">{parts.iter().map(part).collect_view()}</div> }
}
