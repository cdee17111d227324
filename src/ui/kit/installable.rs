//! What a browser is told so that the application can be installed and its window has the colours of the page.

use leptos::attr::media;
use leptos::prelude::*;

use crate::ui::erased::view;

const LIGHT: &str = "#f2f0ec";
const DARK: &str = "#0a0c10";

/// Elements of the document's head, with a theme chosen.
pub fn installable(theme: &str) -> impl IntoView {
    let [in_light, in_dark] = frame_colours(theme);
    view! {
        <link rel="manifest" href="/manifest.webmanifest"/>
        <link rel="apple-touch-icon" href="/apple-touch-icon.png"/>
        <meta name="theme-color" content={in_light} {..media("(prefers-color-scheme: light)")}/>
        <meta name="theme-color" content={in_dark} {..media("(prefers-color-scheme: dark)")}/>
    }
}

/// The colours of the browser's frame where the system is light, and where it is dark.
pub fn frame_colours(theme: &str) -> [&'static str; 2] {
    match theme {
        "light" => [LIGHT, LIGHT],
        "dark" => [DARK, DARK],
        _ => [LIGHT, DARK],
    }
}
