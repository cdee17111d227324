//! A button with a popover panel. The browser's own popover handles opening, light dismissal, Esc and restoring the
//! focus, so it works before hydration and without script.

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
    label: String,
    /// The button's icon; without one the label itself is shown.
    #[prop(optional)]
    icon: Option<&'static str>,
    /// Additional classes of the button.
    #[prop(optional)]
    class: &'static str,
    /// Called when the panel opens, and when it closes.
    #[prop(optional, into)]
    on_toggle: Option<Callback<()>>,
    children: Children,
) -> impl IntoView {
    let face = match icon {
        Some(name) => view! { <Icon name/><span class="quiet">{label.clone()}</span> }.into_any(),
        None => view! { <span>{label.clone()}</span><Icon name="chevron-down"/> }.into_any(),
    };
    let toggled = move |_| {
        if let Some(run) = on_toggle {
            run.run(());
        }
    };
    view! {
        <button
            type="button"
            id=format!("{id}-button")
            class=format!("button {class}")
            popovertarget=id.clone() title=label.clone()
        >
            {face}
        </button>
        <div class="menu" id=id popover="auto" on:toggle=toggled>
            {children()}
        </div>
    }
}
