//! The page "Providers": a card for each connection, and a form for a new one.

mod card;
mod models;
pub mod provider_form;

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::messages::providers as words;
use super::{ActionNotice, PageSection, ServerPage};
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use turnleaf_service::providers::{OTHER_TEMPLATE, ProviderTemplate, ProviderView};

pub use provider_form::{ProviderForm, ProviderFormValues};

/// The content of the page.
pub struct ProvidersPage {
    pub providers: Vec<ProviderView>,
    /// True if the demo is offered beside other models; `None` while there are no others.
    pub demo: Option<bool>,
    pub starts: Vec<ProviderTemplate>,
    pub now: DateTime<Utc>,
    pub notice: Option<ActionNotice>,
    /// The form of a new connection that is being filled in.
    pub adding: Option<ProviderForm>,
    /// The connection that is being edited, with its form.
    pub editing: Option<(String, ProviderForm)>,
    /// The connection with the error of its submitted key.
    pub key_error: Option<(String, String)>,
    /// The connection with unfolded models, and the search among them.
    pub model_search: Option<(String, String)>,
}

impl ProvidersPage {
    /// Renders the page.
    pub fn draw(self) -> ServerPage {
        let cards: Vec<AnyView> = self.providers.iter().map(|provider| self.card(provider)).collect();
        let empty = cards.is_empty().then(|| view! { <p class="lead">{words::none_yet()}</p> });
        let adding = self.adding();
        ServerPage {
            section: PageSection::Providers,
            title: super::messages::providers_title().into(),
            notice: self.notice,
            body: view! {
                <p class="lead">{words::lead()}</p>
                {empty}
                {cards}
                {adding}
                {self.demo.map(demo)}
            },
        }
    }

    fn card(&self, provider: &ProviderView) -> AnyView {
        match &self.editing {
            Some((id, form)) if *id == provider.id => form.draw_change(provider),
            _ => card::draw(
                provider,
                self.now,
                self.key_error.as_ref().filter(|(id, _)| *id == provider.id).map(|(_, error)| error.as_str()),
                self.model_search.as_ref().filter(|(id, _)| *id == provider.id).map(|(_, text)| text.as_str()),
            ),
        }
    }

    fn adding(&self) -> AnyView {
        let body = match &self.adding {
            Some(form) => form.draw_new(),
            None => {
                let link = |start: &ProviderTemplate| {
                    let name = if start.id == OTHER_TEMPLATE { words::other().to_owned() } else { start.name.clone() };
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

/// Renders the row of the demo, with the button that shows or hides it.
fn demo(is_shown: bool) -> AnyView {
    let (action, word) = if is_shown { ("hide", words::hide_demo()) } else { ("show", words::show_demo()) };
    view! {
        <section id="demo" class="panel" aria-labelledby="demo-title">
            <div class="card-head">
                <h2 id="demo-title">{words::demo()}</h2>
                <form method="post" action="/forms/demo">
                    <button type="submit" class="button" name="how" value=action>{word}</button>
                </form>
            </div>
            <p class="hint">{words::demo_hint()}</p>
        </section>
    }
}
