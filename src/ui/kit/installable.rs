//! Head elements that make the application installable and colour its window.

use leptos::attr::media;
use leptos::prelude::*;

use crate::ui::erased::view;

const LIGHT: &str = "#f2f0ec";
const DARK: &str = "#0a0c10";

/// Elements of the document's head for a theme.
pub fn installable(theme: &str) -> impl IntoView {
    let [in_light, in_dark] = frame_colours(theme);
    view! {
        <link rel="manifest" href="/manifest.webmanifest"/>
        <link rel="apple-touch-icon" href="/apple-touch-icon.png"/>
        <meta name="theme-color" content={in_light} {..media("(prefers-color-scheme: light)")}/>
        <meta name="theme-color" content={in_dark} {..media("(prefers-color-scheme: dark)")}/>
    }
}

/// Returns the colours of the browser's frame for a light and for a dark system.
pub fn frame_colours(theme: &str) -> [&'static str; 2] {
    match theme {
        "light" => [LIGHT, LIGHT],
        "dark" => [DARK, DARK],
        _ => [LIGHT, DARK],
    }
}
