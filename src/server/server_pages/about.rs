//! The page "About".

use leptos::prelude::*;

use super::messages::preferences as words;
use super::{PageSection, ServerPage};
use crate::ui::erased::view;

/// The facts about the installation.
pub struct AboutPage {
    /// `SQLite` or `PostgreSQL`.
    pub database: &'static str,
    /// The build id of the pages' scripts and styles in this binary.
    pub build: String,
    /// The path of the notices of the libraries, if the site has them.
    pub notices: Option<String>,
}

impl AboutPage {
    pub fn draw(self) -> ServerPage {
        let fact = |name: &'static str, value: String| view! { <div><dt>{name}</dt><dd>{value}</dd></div> };
        let body = view! {
            <p>{words::about_lead()}</p>
            <dl class="facts">
                {fact(words::version(), env!("CARGO_PKG_VERSION").to_owned())}
                {fact(words::build(), self.build)}
                {fact(words::database(), self.database.to_owned())}
                {fact(words::licence(), env!("CARGO_PKG_LICENSE").to_owned())}
            </dl>
            <p><a href="/readyz">{words::health()}</a>" · "{words::health_hint()}</p>
            <p><a href="/api/docs">{words::api()}</a></p>
            {self.notices.map(|path| view! { <p><a href=path>{words::third_party()}</a></p> })}
            <p><a href="/settings/about/gallery">{words::gallery()}</a>" · "{words::gallery_hint()}</p>
        };
        ServerPage { section: PageSection::About, title: PageSection::About.name().to_owned(), notice: None, body }
    }
}
