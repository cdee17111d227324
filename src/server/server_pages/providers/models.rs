//! The models of a connection: which ones the menus show, and the default of new chats. A long list has a search.

use leptos::prelude::*;

use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::providers as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::colon;
use turnleaf_service::providers::{ModelView, ProviderView};

/// The number of rows on one page.
const SHOWN: usize = 100;
/// The number of models from which on there is a search.
const MANY: usize = 12;

/// Renders the list, unfolded during a search.
pub fn draw(provider: &ProviderView, search: Option<&str>) -> Option<AnyView> {
    if provider.models.is_empty() {
        return None;
    }
    let wanted = search.unwrap_or_default().to_lowercase();
    let found: Vec<&ModelView> =
        provider.models.iter().filter(|model| model.model.to_lowercase().contains(&wanted)).collect();
    let hidden = provider.models.iter().filter(|model| model.is_hidden).count();
    let rest = found.len().saturating_sub(SHOWN);
    let rest = (rest > 0).then(|| view! { <p class="hint">{words::more_models(rest)}</p> });
    let none = found
        .is_empty()
        .then(|| view! { <p class="lead" dir="auto">{words::no_model(search.unwrap_or_default())}</p> });
    let rows = found.iter().take(SHOWN).map(|model| row(provider, model)).collect_view();
    let id = provider.id.clone();
    let list = (!found.is_empty()).then(|| {
        view! {
            <form class="form" method="post" action="/forms/providers/models">
                <input type="hidden" name="id" value=id.clone()/>
                <input type="hidden" name="q" value=search.unwrap_or_default().to_owned()/>
                <fieldset>
                    <legend class="hint">{if provider.locked { words::models_locked() } else { words::models_hint() }}</legend>
                    <ul class="model-rows">{rows}</ul>
                </fieldset>
                {rest}
                <div class="deeds without-script"><button type="submit" class="button">{words::save_models()}</button></div>
            </form>
        }
    });
    let looking = (provider.models.len() > MANY).then(|| search_form(provider, search.unwrap_or_default()));
    Some(view! {
        <details class="fold" id=format!("models-{}", provider.id) data-saves="" open=search.is_some()>
            <summary>{words::models(provider.models.len(), hidden)}<Icon name="chevron-down"/></summary>
            <div class="form">{looking}<div id=format!("found-{id}") class="form">{none}{list}</div></div>
        </details>
    })
}

fn search_form(provider: &ProviderView, search: &str) -> AnyView {
    let form = format!("{}-search", provider.id);
    let field = TextField {
        label: words::find_model(),
        name: "q",
        form: &form,
        value: search,
        kind: FieldKind::Search,
        ..TextField::default()
    };
    view! {
        <form
            class="search-row"
            method="get"
            action=format!("/settings/providers#models-{}", provider.id)
            role="search"
            data-filters=format!("found-{}", provider.id)
        >
            <input type="hidden" name="models" value=provider.id.clone()/>
            {field.draw()}
            <button type="submit" class="button without-script">{words::find()}</button>
        </form>
    }
}

fn row(provider: &ProviderView, model: &ModelView) -> AnyView {
    let name = model.model.clone();
    let shown = if provider.locked {
        view! { <span class="tick"><bdi>{name.clone()}</bdi></span> }
    } else {
        view! {
            <input type="hidden" name="listed" value=name.clone()/>
            <label class="tick">
                <input type="checkbox" name="shown" value=name.clone() checked=!model.is_hidden/>
                <bdi>{name.clone()}</bdi>
            </label>
        }
    };
    view! {
        <li>
            {shown}
            <label class="tick default">
                <input type="radio" name="default" value=name.clone() checked=model.is_default/>
                <span>{words::default()}<span class="quiet">{colon()}{name}</span></span>
            </label>
        </li>
    }
}
