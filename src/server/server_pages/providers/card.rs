//! The card of a connection: status, address, key, models, actions.

use chrono::{DateTime, Utc};
use leptos::prelude::*;

use super::models;
use crate::domain::encoding::url_encoding;
use crate::domain::{CodedMessage, MessageCode};
use crate::server::server_pages::card_actions::{CardActions, fact};
use crate::server::server_pages::form_fields::{FieldKind, TextField};
use crate::server::server_pages::messages::providers as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::messages::amounts;
use turnleaf_service::providers::ProviderView;

/// Renders the card. `wrong_key` is the error of a submitted key; `search` unfolds the models.
pub fn draw(provider: &ProviderView, now: DateTime<Utc>, wrong_key: Option<&str>, search: Option<&str>) -> AnyView {
    let title = format!("{}-title", provider.id);
    let labelled = title.clone();
    view! {
        <article id=format!("provider-{}", provider.id) class="panel provider" data-provider=provider.id.clone() aria-labelledby=labelled>
            <header class="card-head">
                <h2 id=title><bdi>{provider.name.clone()}</bdi></h2>
                {status(provider)}
            </header>
            {status_line(provider, now)}
            {suggestion(provider)}
            {network_offer(provider)}
            {facts(provider)}
            {(!provider.locked).then(|| key_forms(provider, wrong_key))}
            {models::draw(provider, search)}
            {actions(provider)}
        </article>
    }
}

/// Renders the status as a dot and a word; the dot carries no information of its own.
fn status(provider: &ProviderView) -> AnyView {
    let state = provider.status.state;
    view! { <span class="state" data-state=state><span class="state-dot" aria-hidden="true"></span>{words::connection_state(state)}</span> }
}

/// Renders what there is to say beyond the word of the status, and the time of the last check.
fn status_line(provider: &ProviderView, now: DateTime<Utc>) -> Option<AnyView> {
    let detail = words::status_detail(&provider.status.message());
    let gap = match &detail {
        None => "",
        Some(sentence) if sentence.ends_with(['.', '。']) => " ",
        Some(_) => " · ",
    };
    let checked = provider.status.checked_at.map(|at| {
        let ago = words::time_ago((now - at).num_seconds());
        let exact = at.format("%Y-%m-%d %H:%M UTC").to_string();
        view! {
            <span class="hint">{gap}{words::checked()}" "<time datetime=at.to_rfc3339() title=exact>{ago}</time></span>
        }
    });
    (detail.is_some() || checked.is_some()).then(|| view! { <p class="status-line" dir="auto">{detail}{checked}</p> })
}

fn suggestion(provider: &ProviderView) -> Option<AnyView> {
    let address = provider.status.suggestion.clone().filter(|_| !provider.locked)?;
    let (has_key, id) = (provider.key.set, provider.id.clone());
    // A key is bound to its address, so with a key both must be changed together.
    Some(if has_key {
        let edit = format!("/settings/providers?edit={id}&base_url={}#provider-{id}", url_encoding::encode(&address));
        view! { <p><a class="button" href=edit>{words::use_address(&address)}</a></p> }
    } else {
        view! {
            <form method="post" action="/forms/providers/change">
                <input type="hidden" name="id" value=id/>
                <input type="hidden" name="base_url" value=address.clone()/>
                <button type="submit" class="button">{words::use_address(&address)}</button>
            </form>
        }
    })
}

/// Renders the form that allows the local network, where the last test found the address there.
fn network_offer(provider: &ProviderView) -> Option<AnyView> {
    let found = provider.status.message();
    let cause = found.args.get(CodedMessage::DETAIL_CODE).map(String::as_str);
    let not_public = MessageCode::ProviderNotPublic;
    let is_refused = found.code == not_public || cause == Some(not_public.code());
    (is_refused && !provider.locked).then(|| {
        view! {
            <form method="post" action="/forms/providers/change">
                <input type="hidden" name="id" value=provider.id.clone()/>
                <button type="submit" class="button" name="local_network" value="1">{words::on_network()}</button>
            </form>
        }
    })
}

fn facts(provider: &ProviderView) -> AnyView {
    let headers = (!provider.headers.is_empty()).then(|| fact(words::headers(), provider.headers.join(", ")));
    let set_by = provider.locked.then(|| {
        let of_found = || if provider.is_in_use { words::found() } else { words::found_unused() }.to_owned();
        let origin = provider.set_by.as_deref().map_or_else(of_found, words::locked_by);
        view! { <p class="said warn"><Icon name="lock"/><span>{origin}</span></p>{found_form(provider)} }
    });
    let network = if provider.local_network { words::local_yes() } else { words::local_no() };
    let keeps =
        provider.keeps_responses.then(|| fact(words::keeps_responses(), words::keeps_responses_yes().to_owned()));
    let retries = provider.retries.map(|times| fact(words::retries(), words::tried_again(times)));
    let silence =
        provider.silence_seconds.map(|seconds| fact(words::silence_short(), amounts::seconds(seconds.into())));
    view! {
        {set_by}
        <dl class="facts">
            {fact(words::address(), provider.base_url.clone())}
            {fact(words::API, words::api_name(&provider.api).to_owned())}
            {fact(words::key(), words::key_state(&provider.key))}
            {headers}
            {fact(words::network(), network.to_owned())}
            {keeps}
            {retries}
            {silence}
        </dl>
    }
}

/// Renders the form that accepts or stops using a found server.
fn found_form(provider: &ProviderView) -> Option<AnyView> {
    let (action, word) = if provider.is_in_use { ("stop", words::stop_found()) } else { ("use", words::use_found()) };
    provider.set_by.is_none().then(|| {
        view! {
            <form method="post" action="/forms/found">
                <input type="hidden" name="address" value=provider.base_url.clone()/>
                <button type="submit" class="button" name="how" value=action>{word}<span class="quiet">" "{provider.name.clone()}</span></button>
            </form>
        }
    })
}

fn key_forms(provider: &ProviderView, wrong: Option<&str>) -> AnyView {
    let id = provider.id.clone();
    let field = TextField {
        label: words::new_key(),
        name: "key",
        form: &provider.id,
        hint: Some(words::key_hint()),
        error: wrong,
        kind: FieldKind::Secret,
        is_required: true,
        ..TextField::default()
    };
    let summary = if provider.key.set { words::replace_key() } else { words::set_key() };
    let remove = provider.key.set.then(|| {
        view! {
            <form method="post" action="/forms/providers/key">
                <input type="hidden" name="id" value=id.clone()/>
                <button type="submit" class="button" name="remove" value="1">{words::remove_key()}</button>
            </form>
        }
    });
    view! {
        <details class="fold" open=wrong.is_some()>
            <summary>{summary}<Icon name="chevron-down"/></summary>
            <div class="form">
                <form class="form" method="post" action="/forms/providers/key">
                    <input type="hidden" name="id" value=id.clone()/>
                    {field.draw()}
                    <div class="deeds"><button type="submit" class="button primary" data-busy=words::testing()>{words::save_key()}</button></div>
                </form>
                {remove}
            </div>
        </details>
    }
}

fn actions(provider: &ProviderView) -> AnyView {
    let deeds = CardActions {
        id: &provider.id,
        name: &provider.name,
        page: "/settings/providers",
        form_path: "/forms/providers",
        card: format!("provider-{}", provider.id),
        is_enabled: provider.is_enabled,
        is_locked: provider.locked,
        remove_description: words::remove_description(&provider.name),
    };
    let can_be_tested = !matches!(provider.status.state, "off" | "key_unreadable");
    let test = can_be_tested.then(|| deeds.button("/forms/providers/test", "test", "1", words::test()));
    deeds.draw(test.into_iter().collect())
}
