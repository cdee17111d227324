//! One group of samples.

use leptos::prelude::*;

use crate::ui::erased::view;

/// The samples under their name.
pub fn sample_group(title: &'static str, inside: AnyView) -> AnyView {
    view! {
        <section class="board">
            <h2>{title}</h2>
            {inside}
        </section>
    }
}
