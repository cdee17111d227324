//! The panel of a server without a provider: options to connect one, and the demo (docs/reference/ux.md 4.1). An
//! option opens its form in the panel; without script it leads to the same form on the page "Providers".

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::view::{ComposerNotice, ConnectionOption};
use crate::browser::{focus, form};
use crate::domain::providers::provider::Model;
use crate::ui::erased::{live_view, view};
use crate::ui::kit::Icon;
use crate::ui::kit::link::is_same_tab_click;
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};
use crate::ui::messages;
use crate::ui::messages::provider_connect as texts;
use crate::ui::model_options::model_value;
use crate::ui::page::provider_connect::{self, ProviderConnect, provider_form_url};

/// The id of the option for the address of an unknown server.
const OTHER: &str = "other";

/// Lines on the local servers that were found, for a person without chats. Each is shown until it is dismissed.
pub fn found_server_lines(notices: &[ComposerNotice]) -> Vec<AnyView> {
    let line = |notice: &ComposerNotice| match notice {
        ComposerNotice::FoundLocally { name, address, has_models } => {
            let text = messages::found_locally(name, address, *has_models);
            Some(found_server_line(text, address.clone(), *has_models))
        }
        ComposerNotice::NothingConfigured { .. } | ComposerNotice::ModelUnavailable { .. } => None,
    };
    notices.iter().filter_map(line).collect()
}

fn found_server_line(text: String, address: String, has_models: bool) -> AnyView {
    let is_gone = RwSignal::new(false);
    let dismiss = move |event: SubmitEvent| {
        event.prevent_default();
        let sent = form::submit(&event);
        is_gone.set(true);
        focus::focus_first("#message");
        spawn_local(async move {
            if sent.await.is_err() {
                let _ = is_gone.try_set(false);
            }
        });
    };
    let (class, icon) = if has_models { ("found", "check") } else { ("found empty", "alert") };
    view! {
        <div class=class hidden=move || is_gone.get()>
            <Icon name=icon/>
            <p dir="auto">{text}</p>
            <form method="post" action="/forms/found" on:submit=dismiss>
                <input type="hidden" name="address" value=address/>
                <button type="submit" class="button bare" title=texts::dismiss()>
                    <Icon name="close"/>
                    <span class="quiet">{texts::dismiss()}</span>
                </button>
            </form>
        </div>
    }
}

/// The line that confirms the provider connected on this page.
#[component]
pub fn ConnectedLine(connecting: ProviderConnect) -> impl IntoView {
    live_view(move || {
        let text = connecting.done.get()?;
        Some(view! { <div class="found"><Icon name="check"/><p dir="auto">{text}</p></div> })
    })
}

type DrawProviderConnect = fn(ProviderConnect) -> AnyView;

/// Loads the code part of the form.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<DrawProviderConnect, NotFetched> {
    Ok(provider_connect::draw_form)
}

/// "Connect a model to start", and "Try the demo".
#[component]
pub fn FirstRunPanel(
    models: Vec<Model>,
    options: Vec<ConnectionOption>,
    /// The idempotency key of the page's forms.
    form_request_id: String,
    connecting: ProviderConnect,
) -> impl IntoView {
    let demo = models.into_iter().find(|model| model.is_demo);
    // Not the key of the message box: after the way back, what is written there would count as already sent.
    let demo_request_id = format!("demo-{form_request_id}");
    let options =
        options.into_iter().enumerate().map(|(at, option)| option_link(option, at == 0, connecting)).collect_view();
    let leave = Callback::new(move |()| connecting.option.set(None));
    let form = lazy_part_when(
        move || connecting.option.with(Option::is_some),
        fetch,
        leave,
        move |draw: &DrawProviderConnect| draw(connecting),
    );
    view! {
        <section class="first-run" aria-labelledby="first-run-title">
            <h2 id="first-run-title">{messages::connect_first()}</h2>
            <ul class="ways">{options}</ul>
            <div id="connect">{form}</div>
            <p class="hint">{messages::connect_hint()}</p>
            {demo.map(|demo| view! {
                <form class="try-demo" method="post" action="/forms/send">
                    <input type="hidden" name="text" value=messages::demo_message()/>
                    <input type="hidden" name="model" value=model_value(&demo.lock)/>
                    <input type="hidden" name="client_request_id" value=demo_request_id/>
                    <button type="submit" class="button bare strong">{messages::try_demo()}</button>
                    <span>{messages::try_demo_hint()}</span>
                </form>
            })}
        </section>
    }
}

/// A link to the form; with script it opens the form here, where only a key is missing. The first one is the primary
/// action of the page.
fn option_link(option: ConnectionOption, is_first: bool, connecting: ProviderConnect) -> AnyView {
    let address = provider_form_url(&option);
    let opens = option.id != OTHER;
    let name = if option.name.is_empty() { messages::other_server().to_owned() } else { option.name.clone() };
    let id = option.id.clone();
    let is_open = move || {
        let is_open = connecting.option.with(|open| open.as_ref().is_some_and(|open| open.id == id));
        opens.then(|| is_open.to_string())
    };
    let on_click = move |event: MouseEvent| {
        if opens && is_same_tab_click(&event) {
            event.prevent_default();
            let is_open = connecting.option.with_untracked(|open| open.as_ref() == Some(&option));
            connecting.option.set((!is_open).then(|| option.clone()));
        }
    };
    let class = if is_first { "button primary" } else { "button" };
    view! {
        <li>
            <a class=class rel="external" href=address aria-expanded=is_open on:click=on_click>{name}</a>
        </li>
    }
}
