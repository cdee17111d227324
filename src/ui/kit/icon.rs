//! Icons: pictures beside words, never instead of them.

use leptos::prelude::*;

use crate::ui::erased::view;

/// One symbol of `kit/icons.svg`, 20 × 20, drawn in the colour of the surrounding text. It has no accessible name:
/// its parent must have one. The symbols are in the document ([`icon_sprite`](crate::ui::escape::icon_sprite)).
#[component]
pub fn Icon(
    /// The symbol's id in the sprite.
    name: &'static str,
) -> impl IntoView {
    // Icons that point along the line are mirrored in right-to-left text.
    let class = if matches!(name, "chevron-left" | "chevron-right" | "external") { "icon mirrors" } else { "icon" };
    view! {
        <svg class=class width="20" height="20" aria-hidden="true" focusable="false">
            <use_ href=format!("#icon-{name}")></use_>
        </svg>
    }
}
