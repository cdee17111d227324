//! Light, dark or as the system: a form that works without script and answers at once with it.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::browser::dialog;
use crate::ui::erased::view;
use crate::ui::kit::{Icon, Menu};
use crate::ui::preferences::{Preferences, Theme};
use crate::ui::words;

/// The menu "Theme".
#[component]
pub fn ThemeMenu() -> impl IntoView {
    view! {
        <Menu id="theme-menu" label=words::THEME icon="sun" class="bare">
            <ThemeForm/>
        </Menu>
    }
}

#[component]
fn ThemeForm() -> impl IntoView {
    let location = use_location();
    let next = move || format!("{}{}", location.pathname.get(), query(&location.search.get()));
    view! {
        <form method="post" action="/forms/theme">
            <input type="hidden" name="next" value=move || next()/>
            {Theme::ALL.into_iter().map(|theme| view! { <Choice theme/> }).collect_view()}
        </form>
    }
}

fn query(search: &str) -> String {
    if search.is_empty() { String::new() } else { format!("?{}", search.trim_start_matches('?')) }
}

#[component]
fn Choice(theme: Theme) -> impl IntoView {
    let preferences = expect_context::<RwSignal<Preferences>>();
    let is_chosen = move || preferences.get().theme == theme;
    let choose = move |event: leptos::ev::MouseEvent| {
        event.prevent_default();
        preferences.update(|chosen| chosen.theme = theme);
        preferences.get_untracked().apply();
        dialog::close_popovers();
    };
    let icon = match theme {
        Theme::System => "system",
        Theme::Light => "sun",
        Theme::Dark => "moon",
    };
    view! {
        <button
            type="submit"
            class="menu-row"
            name="theme"
            value=theme.as_str()
            aria-pressed=move || is_chosen().to_string()
            on:click=choose
        >
            <Icon name=icon/>
            {words::theme(theme)}
            {move || is_chosen().then(|| view! { <Icon name="check"/> })}
        </button>
    }
}
