//! The page "About".

use leptos::prelude::*;

use super::words::preferences as words;
use super::{Page, Section};
use crate::ui::erased::view;

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
            <p><a href="/settings/about/gallery">{words::gallery()}</a></p>
        };
        Page { section: Section::About, title: Section::About.name().to_owned(), said: None, body }
    }
}
