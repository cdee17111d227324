//! Icons: pictures beside words, never instead of them.

use leptos::prelude::*;

use crate::ui::erased::view;

/// One symbol of `kit/icons.svg`, 20 × 20 and drawn in the colour of the text around it. It has no name of its own:
/// whatever holds it must have one. The symbols are in the document ([`icon_sprite`](crate::ui::escape::sprite)).
#[component]
pub fn Icon(
    /// The symbol's id in the sprite.
    name: &'static str,
) -> impl IntoView {
    // What points along the line points the other way where lines begin on the right.
    let class = if matches!(name, "chevron-left" | "chevron-right" | "external") { "icon mirrors" } else { "icon" };
    view! {
        <svg class=class width="20" height="20" aria-hidden="true" focusable="false">
            <use_ href=format!("#icon-{name}")></use_>
        </svg>
    }
}
