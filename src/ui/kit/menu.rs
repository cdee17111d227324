//! A button with a panel that opens from it. The browser's own popover does the opening, the light dismissal, Esc and
//! the way back of the focus, so it works before the page is hydrated and without script.

use leptos::prelude::*;

use crate::ui::erased::view;
use crate::ui::kit::Icon;

/// A button named `label` that opens `children` in a panel. The panel is not an ARIA menu: it holds ordinary links,
/// buttons and forms, in reading order.
#[component]
pub fn Menu(
    /// Unique on the page: the panel's id.
    #[prop(into)]
    id: String,
    /// The button's accessible name.
    #[prop(into)]
    label: Signal<String>,
    /// The button's picture; without one the label itself is shown.
    #[prop(optional)]
    icon: Option<&'static str>,
    /// More classes of the button.
    #[prop(optional)]
    class: &'static str,
    children: Children,
) -> impl IntoView {
    let face = match icon {
        Some(name) => view! { <Icon name/><span class="quiet">{label}</span> }.into_any(),
        None => view! { <span>{label}</span><Icon name="chevron-down"/> }.into_any(),
    };
    view! {
        <button
            type="button"
            id=format!("{id}-button")
            class=format!("button {class}")
            popovertarget=id.clone() title=move || label.get()
        >
            {face}
        </button>
        <div class="menu" id=id popover="auto">
            {children()}
        </div>
    }
}
