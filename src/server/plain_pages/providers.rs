//! The page "Providers": a card for each connection, and a form for a new one.

mod card;
pub mod form;
mod models;

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::words::providers as words;
use super::{Page, Said, Section};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use turnleaf_service::providers::{OTHER, ProviderView, Start};

pub use form::{Form, Values};

/// What the page shows.
pub struct ProvidersPage {
    pub providers: Vec<ProviderView>,
    pub starts: Vec<Start>,
    pub now: DateTime<Utc>,
    pub said: Option<Said>,
    /// The new connection that is being filled in.
    pub adding: Option<Form>,
    /// The connection whose card is a form.
    pub editing: Option<(String, Form)>,
    /// What is wrong with a key that was given to a connection.
    pub wrong_key: Option<(String, String)>,
    /// The connection whose models are unfolded, and what is looked for among them.
    pub searching: Option<(String, String)>,
}

impl ProvidersPage {
    /// The page, for its frame.
    pub fn draw(self) -> Page {
        let cards: Vec<AnyView> = self.providers.iter().map(|provider| self.card(provider)).collect();
        let empty = cards.is_empty().then(|| view! { <p class="lead">{words::none_yet()}</p> });
        let adding = self.adding();
        Page {
            section: Section::Providers,
            title: super::words::providers_title().into(),
            said: self.said,
            body: view! {
                <p class="lead">{words::lead()}</p>
                {empty}
                {cards}
                {adding}
            },
        }
    }

    fn card(&self, provider: &ProviderView) -> AnyView {
        match &self.editing {
            Some((id, form)) if *id == provider.id => form.draw_change(provider),
            _ => card::draw(
                provider,
                self.now,
                self.wrong_key.as_ref().filter(|(id, _)| *id == provider.id).map(|(_, what)| what.as_str()),
                self.searching.as_ref().filter(|(id, _)| *id == provider.id).map(|(_, text)| text.as_str()),
            ),
        }
    }

    fn adding(&self) -> AnyView {
        let body = match &self.adding {
            Some(form) => form.draw_new(),
            None => {
                let link = |start: &Start| {
                    let name = if start.id == OTHER { words::other().to_owned() } else { start.name.clone() };
                    let local = start.local_network.then(|| view! { <span class="hint">{words::local()}</span> });
                    view! {
                        <li><a class="button" href=format!("/settings/providers?add={}#add", start.id)>{name}{local}</a></li>
                    }
                };
                view! { <ul class="ways">{self.starts.iter().map(link).collect_view()}</ul> }
            }
        };
        view! {
            <section id="add" class="panel" aria-labelledby="add-title">
                <h2 id="add-title"><Icon name="plus"/>{words::add()}</h2>
                {body}
            </section>
        }
    }
}
