//! What a browser is told so that the application can be installed and its window has the colours of the page.

use leptos::attr::media;
use leptos::prelude::*;

use crate::ui::erased::view;

/// Elements of the document's head.
pub fn installable() -> impl IntoView {
    view! {
        <link rel="manifest" href="/manifest.webmanifest"/>
        <link rel="apple-touch-icon" href="/apple-touch-icon.png"/>
        <meta name="theme-color" content="#f2f0ec" {..media("(prefers-color-scheme: light)")}/>
        <meta name="theme-color" content="#0a0c10" {..media("(prefers-color-scheme: dark)")}/>
    }
}
