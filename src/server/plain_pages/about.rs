//! The pages "Shortcuts" and "About".

use leptos::prelude::*;

use super::words::preferences as words;
use super::{Page, Section};
use crate::ui::erased::view;
use crate::ui::words as app_words;

/// The page of the keys.
pub fn shortcuts() -> Page {
    let row = |(keys, does): (&'static [&'static str], &'static str)| {
        let keys = keys.iter().map(|key| view! { <kbd>{*key}</kbd> }).collect_view();
        view! { <tr><th scope="row" class="keys">{keys}</th><td>{does}</td></tr> }
    };
    let body = view! {
        <p class="hint">{words::on_a_mac()}</p>
        <table class="shortcut-table">
            <thead><tr><th scope="col">{words::keys()}</th><th scope="col">{words::does()}</th></tr></thead>
            <tbody>{app_words::keys().into_iter().map(row).collect_view()}</tbody>
        </table>
    };
    Page { section: Section::Shortcuts, title: Section::Shortcuts.name().to_owned(), said: None, body }
}

/// What runs here.
pub struct AboutPage {
    /// `SQLite` or `PostgreSQL`.
    pub database: &'static str,
    /// The mark of the assets that this binary carries.
    pub build: String,
}

impl AboutPage {
    pub fn draw(self) -> Page {
        let fact = |name: &'static str, value: String| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
        let body = view! {
            <p>{words::about_lead()}</p>
            <dl class="facts">
                {fact(words::version(), env!("CARGO_PKG_VERSION").to_owned())}
                {fact(words::build(), self.build)}
                {fact(words::database(), self.database.to_owned())}
                {fact(words::licence(), env!("CARGO_PKG_LICENSE").to_owned())}
            </dl>
            <p><a href="/readyz">{words::health()}</a>" · "{words::health_what()}</p>
            <p><a href="/api/docs">{words::api()}</a></p>
        };
        Page { section: Section::About, title: Section::About.name().to_owned(), said: None, body }
    }
}
