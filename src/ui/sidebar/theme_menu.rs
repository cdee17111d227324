//! The theme menu: light, dark or system. A form that works without script, and applies at once with it.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::browser::dialog;
use crate::ui::erased::view;
use crate::ui::kit::{Icon, Menu};
use crate::ui::messages;
use crate::ui::preferences::{PreferenceSetting, Preferences, choose};

/// The menu "Theme".
#[component]
pub fn ThemeMenu() -> impl IntoView {
    view! {
        <Menu id="theme-menu" label=messages::theme_label() icon="sun" class="bare">
            <ThemeForm/>
        </Menu>
    }
}

#[component]
fn ThemeForm() -> impl IntoView {
    let location = use_location();
    let next = move || format!("{}{}", location.pathname.get(), query(&location.search.get()));
    view! {
        <form method="post" action="/forms/preferences">
            <input type="hidden" name="next" value=move || next()/>
            {PreferenceSetting::Theme.values().iter().map(|theme| view! { <Choice theme/> }).collect_view()}
        </form>
    }
}

fn query(search: &str) -> String {
    if search.is_empty() { String::new() } else { format!("?{}", search.trim_start_matches('?')) }
}

#[component]
fn Choice(theme: &'static str) -> impl IntoView {
    let preferences = expect_context::<RwSignal<Preferences>>();
    let is_chosen = move || preferences.get().is_chosen(PreferenceSetting::Theme, theme);
    let press = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        choose(preferences, PreferenceSetting::Theme, theme);
        dialog::close_popovers();
    };
    let icon = match theme {
        "light" => "sun",
        "dark" => "moon",
        _ => "system",
    };
    view! {
        <button
            type="submit"
            class="menu-row"
            name="theme"
            value=theme
            aria-pressed=move || is_chosen().to_string()
            on:click=press
        >
            <Icon name=icon/>
            {messages::theme(theme)}
            {move || is_chosen().then(|| view! { <Icon name="check"/> })}
        </button>
    }
}
