//! The web search on the page "Tools": the engine, its status, and the form to choose one. Typed values are kept when
//! one is invalid, except the key, which is never rendered into a page.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::card_actions::fact;
use crate::server::server_pages::form_fields::{FieldKind, FormFields, SelectField, checkbox};
use crate::server::server_pages::messages::providers::{status_detail, time_ago};
use crate::server::server_pages::messages::web_search as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use turnleaf_service::tools::web_search::WebSearchView;

/// The web search of a person, and the form that is being filled in.
pub struct WebSearchPanel {
    pub view: WebSearchView,
    pub form: WebSearchForm,
}

/// The values of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebSearchFormValues {
    pub engine: String,
    pub url: String,
    pub local_network: bool,
}

/// The form with what was typed and the error of one field.
#[derive(Debug, Clone, Default)]
pub struct WebSearchForm {
    /// The submitted values; those of the engine if there are none.
    pub values: Option<WebSearchFormValues>,
    pub error: Option<InvalidField>,
    /// True when a key was typed and must be typed again.
    pub lost_key: bool,
}

/// The names of the fields, for errors that belong to none of them.
const FIELDS: [&str; 4] = ["engine", "url", "key", "local_network"];

impl WebSearchPanel {
    /// Renders the section.
    pub fn draw(&self, now: DateTime<Utc>) -> AnyView {
        let state = self.view.status.state;
        let content = if self.view.locked { self.facts() } else { self.form() };
        let is_set_up = self.view.engine.is_some();
        let test = (is_set_up && state != "key_unreadable").then(|| {
            view! {
                <form method="post" action="/forms/tools/search/test">
                    <button type="submit" class="button" data-busy=words::trying()>{words::try_it()}</button>
                </form>
            }
        });
        let remove = (is_set_up && !self.view.locked).then(|| {
            view! {
                <form method="post" action="/forms/tools/search/remove">
                    <button type="submit" class="button">{words::remove()}<span class="quiet">" "{self.view.name}</span></button>
                </form>
            }
        });
        let actions = is_set_up.then(|| view! { <div class="deeds">{test}{remove}</div> });
        view! {
            <section id="web-search" class="panel provider" aria-labelledby="web-search-title">
                <header class="card-head">
                    <h2 id="web-search-title">{words::title()}</h2>
                    <span class="state" data-state=state><span class="state-dot" aria-hidden="true"></span>{words::search_state(state)}</span>
                </header>
                <p class="hint">{words::lead()}</p>
                {self.status_line(now)}
                {content}
                {actions}
            </section>
        }
    }

    /// Renders the result of the last test.
    fn status_line(&self, now: DateTime<Utc>) -> Option<AnyView> {
        let status = &self.view.status;
        let detail = status_detail(&status.message()).filter(|_| self.view.engine.is_some())?;
        let since = status.checked_at.map(|at| {
            let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
            let ago = time_ago((now - at).num_seconds());
            view! { <span class="hint">" "<time datetime=at.to_rfc3339() title=exact>{ago}</time></span> }
        });
        Some(view! { <p class="status-line" dir="auto">{detail}{since}</p> })
    }

    /// Renders an engine that the configuration sets.
    fn facts(&self) -> AnyView {
        let set_by = self.view.set_by.as_deref().unwrap_or_default();
        view! {
            <p class="said warn"><Icon name="lock"/><span>{words::locked_by(set_by)}</span></p>
            <dl class="facts">
                {fact(words::engine(), self.view.name.unwrap_or_default().to_owned())}
                {fact(words::address(), self.view.url.clone().unwrap_or_default())}
                {fact(words::key(), words::key_state(&self.view.key))}
            </dl>
        }
    }

    fn form(&self) -> AnyView {
        let shown = &self.view;
        let of_engine = || WebSearchFormValues {
            engine: shown.engine.unwrap_or("searxng").to_owned(),
            url: shown.url.clone().filter(|_| !shown.has_usual_address).unwrap_or_default(),
            local_network: shown.local_network,
        };
        let values = self.form.values.clone().unwrap_or_else(of_engine);
        let fields = FormFields { form: "web-search", error: self.form.error.as_ref() };
        let key_hint = match (self.form.lost_key, shown.key.set) {
            (true, _) => words::key_again(),
            (false, true) => words::key_keeps(),
            (false, false) => words::key_hint(),
        };
        let engine = SelectField {
            label: words::engine(),
            name: "engine",
            form: "web-search",
            options: &words::engines(),
            chosen: &values.engine,
            hint: None,
            error: fields.error("engine").as_deref(),
        }
        .draw();
        view! {
            <form class="form" method="post" action="/forms/tools/search">
                {fields.unassigned_error(&FIELDS)}
                {engine}
                {fields.text(words::address(), "url", &values.url, Some(words::address_hint()), FieldKind::Code, false)}
                {fields.text(words::key(), "key", "", Some(key_hint), FieldKind::Secret, false)}
                {checkbox("web-search", "local_network", "1", words::network(), Some(words::network_hint()), values.local_network)}
                {fields.checkbox_error("local_network")}
                <div class="deeds"><button type="submit" class="button primary" data-busy=words::trying()>{words::test_and_save()}</button></div>
            </form>
        }
    }
}
