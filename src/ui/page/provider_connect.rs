//! The form of one option to connect a provider, in the panel of a new server: a key, or the address of a server
//! beside this one. The result of the test is shown below it, and the composer appears as soon as the provider works.

use std::collections::HashMap;

use leptos::ev::SubmitEvent;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use serde_json::{Value, json};

use crate::api::chats::load_chat;
use crate::api::view::{ChatPage, ComposerNotice, ConnectionOption};
use crate::browser::{api_request, focus, request_id};
use crate::domain::providers::provider::Model;
use crate::ui::announce::Announcer;
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, live_view, view};
use crate::ui::input_method::InputMethod;
use crate::ui::messages;
use crate::ui::messages::provider_connect as texts;

/// The state that the panel and its form share. Copies share it.
#[derive(Clone, Copy)]
pub struct ProviderConnect {
    /// The option whose form is open.
    pub option: RwSignal<Option<ConnectionOption>>,
    /// The confirmation once a provider works: the panel is gone by then.
    pub done: RwSignal<Option<String>>,
    /// Connections that were stored with a key that did not work, by their options: the next try replaces the key.
    pub stored: StoredValue<HashMap<String, String>>,
    /// The models that the message box offers.
    models: RwSignal<Vec<Model>>,
    /// True while the demo alone can reply.
    is_first_run: RwSignal<bool>,
}

impl ProviderConnect {
    pub fn new(models: RwSignal<Vec<Model>>, is_first_run: RwSignal<bool>) -> Self {
        Self {
            option: RwSignal::new(None),
            done: RwSignal::new(None),
            stored: StoredValue::default(),
            models,
            is_first_run,
        }
    }

    /// Loads the models that are available now. A failed load is repeated with the next change, or by reloading the
    /// page.
    pub async fn reload_models(self) {
        let Ok(page) = load_chat(None, None, None, None).await else { return };
        let _ = self.is_first_run.try_set(is_first_run(&page));
        let _ = self.models.try_set(page.models);
    }
}

/// Returns true if the demo alone can reply.
pub fn is_first_run(page: &ChatPage) -> bool {
    connection_options(&page.notices).is_some()
}

/// Returns the options to connect a provider, where there is none.
pub fn connection_options(notices: &[ComposerNotice]) -> Option<Vec<ConnectionOption>> {
    notices.iter().find_map(|notice| match notice {
        ComposerNotice::NothingConfigured { ways } => Some(ways.clone()),
        ComposerNotice::FoundLocally { .. } | ComposerNotice::ModelUnavailable { .. } => None,
    })
}

/// The input and the result of the form. Copies share it.
#[derive(Clone, Copy)]
struct ConnectForm {
    connecting: ProviderConnect,
    option: StoredValue<ConnectionOption>,
    field: NodeRef<html::Input>,
    typed: RwSignal<String>,
    is_testing: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    announcer: Announcer,
    chats: Option<Chats>,
}

/// Renders the form of the open option; another option starts a new form.
pub fn draw_form(connecting: ProviderConnect) -> AnyView {
    let (announcer, chats) = (expect_context::<Announcer>(), use_context::<Chats>());
    live_view(move || {
        let option = connecting.option.get()?;
        let typed = if option.local_network { option.base_url.clone() } else { String::new() };
        let form = ConnectForm {
            connecting,
            option: StoredValue::new(option),
            field: NodeRef::new(),
            typed: RwSignal::new(typed),
            is_testing: RwSignal::new(false),
            problem: RwSignal::new(None),
            announcer,
            chats,
        };
        Some(form.view())
    })
}

impl ConnectForm {
    fn view(self) -> AnyView {
        let option = self.option.get_value();
        let input_method = InputMethod::default();
        effect(move || {
            if let Some(field) = self.field.get() {
                let _ = field.focus();
            }
        });
        let on_submit = move |event: SubmitEvent| {
            event.prevent_default();
            self.submit();
        };
        let (label, hint) = if option.local_network {
            (texts::address(), texts::address_hint())
        } else {
            (texts::key(), texts::key_kept())
        };
        let all_fields = provider_form_url(&option);
        let keys_at = option.keys_at.map(|page| {
            view! {
                <a href=page target="_blank" rel="noopener noreferrer">
                    {texts::where_keys()}" "<span class="quiet">{texts::new_tab()}</span>
                </a>
            }
        });
        view! {
            <form
                class="connect dialog-form"
                aria-label=option.name.clone()
                on:submit=on_submit
                on:keydown=move |event| input_method.block_composition_key(&event)
                on:compositionend=move |event| input_method.on_composition_end(&event)
            >
                <h3>{option.name.clone()}</h3>
                <label for="connect-field">{label}</label>
                {if option.local_network { self.address() } else { self.key() }}
                <p id="connect-hint" class="hint">{hint}</p>
                <p class="connect-ways">
                    {keys_at}
                    <a rel="external" href=all_fields>{texts::all_fields()}</a>
                </p>
                <p id="connect-problem" class="problem" dir="auto">{move || self.problem.get()}</p>
                <div class="dialog-actions">
                    <button type="button" class="button" on:click=move |_| self.connecting.option.set(None)>{messages::cancel()}</button>
                    <button type="submit" class="button primary" aria-disabled=move || self.is_testing.get().then_some("true")>
                        {move || if self.is_testing.get() { texts::testing() } else { texts::test_and_save() }}
                    </button>
                </div>
            </form>
        }
    }

    fn key(self) -> AnyView {
        let is_shown = RwSignal::new(false);
        view! {
            <div class="secret">
                <input
                    id="connect-field"
                    class="field"
                    node_ref=self.field
                    type=move || if is_shown.get() { "text" } else { "password" }
                    autocomplete="new-password"
                    autocapitalize="none"
                    spellcheck="false"
                    aria-describedby="connect-hint connect-problem"
                    aria-invalid=move || self.problem.with(Option::is_some).then_some("true")
                    on:input=move |event| self.typed.set(event_target_value(&event))
                />
                <button
                    type="button"
                    class="button"
                    aria-pressed=move || is_shown.get().to_string()
                    on:click=move |_| is_shown.update(|shown| *shown = !*shown)
                >
                    {texts::show()}
                    <span class="quiet">" "{texts::key()}</span>
                </button>
            </div>
        }
    }

    fn address(self) -> AnyView {
        view! {
            <input
                id="connect-field"
                class="field"
                node_ref=self.field
                type="text"
                inputmode="url"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
                value=self.typed.get_untracked()
                aria-describedby="connect-hint connect-problem"
                aria-invalid=move || self.problem.with(Option::is_some).then_some("true")
                on:input=move |event| self.typed.set(event_target_value(&event))
            />
        }
    }

    fn submit(self) {
        if self.is_testing.get_untracked() {
            return;
        }
        if self.typed.with_untracked(|typed| typed.trim().is_empty()) {
            let is_address = self.option.with_value(|option| option.local_network);
            return self.fail(if is_address { texts::address_first() } else { texts::key_first() }.to_owned());
        }
        self.is_testing.set(true);
        self.problem.set(None);
        self.announcer.announce(texts::testing());
        spawn_local(async move {
            let result = self.test().await;
            // A message that is written right after the confirmation goes to a model of this provider.
            if result.is_ok() {
                self.connecting.reload_models().await;
            }
            // Another option may have been opened meanwhile, or the page may have noticed that there is a provider.
            let is_gone = self.is_testing.try_set(false).is_some();
            match result {
                Ok(works) => {
                    // The page was left.
                    if self.connecting.done.try_set(Some(works.clone())).is_some() {
                        return;
                    }
                    self.announcer.announce(&works);
                    if !is_gone {
                        self.connecting.option.set(None);
                    }
                    if let Some(chats) = self.chats {
                        chats.refresh();
                    }
                    if !is_gone || focus::is_unfocused() {
                        focus::focus_first("#message");
                    }
                }
                Err(reason) if !is_gone => self.fail(reason),
                Err(_) => {}
            }
        });
    }

    /// Shows the problem beside the field, which takes the focus again.
    fn fail(self, reason: String) {
        self.announcer.alert(&reason);
        self.problem.set(Some(reason));
        if let Some(field) = self.field.get_untracked() {
            let _ = field.focus();
        }
    }

    /// Stores the connection and lists its models. Returns the confirmation.
    ///
    /// # Errors
    /// The problem as a sentence.
    async fn test(self) -> Result<String, String> {
        let refused = |error: api_request::ApiFailureMessage| error.unwrap_or_else(|| texts::not_reached().to_owned());
        let option = self.option.get_value();
        let id = self.store(&option).await.map_err(refused)?;
        let path = format!("/api/providers/{id}/test");
        let status = api_request::post(&path, &json!({})).await.map_err(refused)?;
        let sentence = status["localized"].as_str().or(status["sentence"].as_str()).unwrap_or_default();
        if status["state"] != "working" {
            return Err(texts::failed(&option.name, sentence));
        }
        let all = api_request::get("/api/providers").await.unwrap_or_default();
        let own = all.as_array().into_iter().flatten().find(|provider| provider["id"].as_str() == Some(&id));
        let count = own.and_then(|provider| provider["models"].as_array()).map_or(0, Vec::len);
        Ok(match count {
            0 => texts::failed(&option.name, sentence),
            count => texts::works(&option.name, !option.local_network, count),
        })
    }

    /// Returns the id of the stored connection.
    async fn store(self, option: &ConnectionOption) -> Result<String, api_request::ApiFailureMessage> {
        let typed = self.typed.with_untracked(|typed| typed.trim().to_owned());
        let (name, value) = match option.local_network {
            true if !typed.contains("://") => ("base_url", format!("http://{typed}")),
            true => ("base_url", typed),
            false => ("key", typed),
        };
        let stored = self.connecting.stored;
        if let Some(id) = stored.with_value(|stored| stored.get(&option.id).cloned()) {
            let changed = api_request::patch(&format!("/api/providers/{id}"), &json!({ name: value })).await?;
            return Ok(id_in(&changed).unwrap_or(id));
        }
        let mut body = json!({
            "client_request_id": request_id::mint(),
            "name": option.name,
            "api": option.api,
            "dialect": option.dialect,
            "base_url": option.base_url,
            "local_network": option.local_network,
        });
        body[name] = Value::String(value);
        let id = id_in(&api_request::post("/api/providers", &body).await?).ok_or(None)?;
        let _ = stored.try_update_value(|stored| stored.insert(option.id.clone(), id.clone()));
        Ok(id)
    }
}

fn id_in(answer: &Value) -> Option<String> {
    answer["id"].as_str().map(str::to_owned)
}

/// Returns the address of the form with all fields, which leads back to this page.
pub fn provider_form_url(option: &ConnectionOption) -> String {
    format!("/settings/providers?add={}&next=/#add", option.id)
}
