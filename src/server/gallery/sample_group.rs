//! The frame of one group of samples.

use leptos::prelude::*;

use crate::ui::erased::view;

/// Renders the samples under their heading.
pub fn sample_group(title: &'static str, inside: AnyView) -> AnyView {
    view! {
        <section class="board">
            <h2>{title}</h2>
            {inside}
        </section>
    }
}
