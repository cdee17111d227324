//! The form of a connection, new or changed. Typed values are kept when one is invalid, except the key, which is
//! never rendered into a page.

use leptos::prelude::*;

use crate::domain::InvalidField;
use crate::server::server_pages::form_fields::{FieldKind, FormFields, SelectField, checkbox};
use crate::server::server_pages::messages::providers as words;
use crate::ui::erased::view;
use crate::ui::kit::Icon;
use crate::ui::locale::join_list;
use crate::ui::messages as app_words;
use turnleaf_service::providers::{ProviderTemplate, ProviderView};

/// The values of the fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderFormValues {
    pub name: String,
    pub api: String,
    pub dialect: String,
    pub base_url: String,
    /// One `name: value` per line.
    pub headers: String,
    /// One per line.
    pub models: String,
    pub default_model: String,
    pub local_network: bool,
    pub keeps_responses: bool,
    pub retries: String,
    pub silence_seconds: String,
}

/// A form with its values and the error of one of them.
#[derive(Debug, Clone, Default)]
pub struct ProviderForm {
    pub values: ProviderFormValues,
    pub error: Option<InvalidField>,
    /// True when a key was typed and must be typed again.
    pub lost_key: bool,
    /// The page where its owner gets a key.
    pub key_page: Option<&'static str>,
    /// The page that follows when the new connection works.
    pub next: Option<String>,
}

/// The names of the fields, for errors that belong to none of them.
const FIELDS: [&str; 12] = [
    "name",
    "api",
    "dialect",
    "base_url",
    "key",
    "headers",
    "models",
    "default_model",
    "local_network",
    "keeps_responses",
    "retries",
    "silence_seconds",
];

/// The fields in the folded part.
const ADVANCED: [&str; 7] =
    ["dialect", "headers", "models", "default_model", "keeps_responses", "retries", "silence_seconds"];

impl ProviderForm {
    /// Fills the form from a template.
    pub fn from_start(start: &ProviderTemplate) -> Self {
        let values = ProviderFormValues {
            name: start.name.clone(),
            api: start.api.to_owned(),
            dialect: start.dialect.clone(),
            base_url: start.base_url.clone(),
            local_network: start.local_network,
            ..ProviderFormValues::default()
        };
        Self { values, key_page: start.keys_at, ..Self::default() }
    }

    /// Fills the form from a connection.
    pub fn from_provider(provider: &ProviderView) -> Self {
        let values = ProviderFormValues {
            name: provider.name.clone(),
            api: provider.api.clone(),
            dialect: provider.dialect.clone(),
            base_url: provider.base_url.clone(),
            headers: String::new(),
            models: provider.listed_models.join("\n"),
            default_model: provider.set_default_model.clone().unwrap_or_default(),
            local_network: provider.local_network,
            keeps_responses: provider.keeps_responses,
            retries: provider.retries.map(|times| times.to_string()).unwrap_or_default(),
            silence_seconds: provider.silence_seconds.map(|seconds| seconds.to_string()).unwrap_or_default(),
        };
        Self { values, ..Self::default() }
    }

    /// Renders the form of a new connection.
    pub fn draw_new(&self) -> AnyView {
        view! {
            <form class="form" method="post" action="/forms/providers/add">
                {self.next.clone().map(|next| view! { <input type="hidden" name="next" value=next/> })}
                {self.fields("new", None)}
                <div class="deeds">
                    <button type="submit" class="button primary" data-busy=words::testing()>{words::test_and_save()}</button>
                    <a class="button bare" href="/settings/providers#add">{app_words::cancel()}</a>
                </div>
            </form>
        }
    }

    /// Renders the form in place of a card.
    pub fn draw_change(&self, provider: &ProviderView) -> AnyView {
        let id = provider.id.clone();
        let title = format!("{id}-title");
        let labelled = title.clone();
        view! {
            <article id=format!("provider-{id}") class="panel provider" data-provider=id.clone() aria-labelledby=labelled>
                <h2 id=title><bdi>{words::edit_title(&provider.name)}</bdi></h2>
                <form class="form" method="post" action="/forms/providers/change">
                    <input type="hidden" name="id" value=id.clone()/>
                    <input type="hidden" name="whole" value="1"/>
                    {self.fields(&id, Some(provider))}
                    <div class="deeds">
                        <button type="submit" class="button primary" data-busy=words::testing()>{app_words::save()}</button>
                        <a class="button bare" href=format!("/settings/providers#provider-{id}")>{app_words::cancel()}</a>
                    </div>
                </form>
            </article>
        }
    }

    fn fields(&self, form: &str, changed: Option<&ProviderView>) -> AnyView {
        let values = &self.values;
        let fields = FormFields { form, error: self.error.as_ref() };
        let text =
            |label, name, value, hint, kind, is_required| fields.text(label, name, value, hint, kind, is_required);
        let has_key = changed.is_some_and(|provider| provider.key.set);
        let key_hint = match (self.lost_key, has_key) {
            (true, _) => words::key_again(),
            (false, true) => words::key_keeps(),
            (false, false) => words::key_hint(),
        };
        let address_hint = if has_key { words::address_clears() } else { words::address_hint() };
        let keys_at = self.key_page.map(|page| {
            view! { <p><a href=page target="_blank" rel="noopener noreferrer">{words::where_keys()}" "<span class="quiet">{words::new_tab()}</span></a></p> }
        });
        let unfolded = self.error.as_ref().is_some_and(|error| ADVANCED.contains(&error.field.as_str()));
        let headers_hint = match changed.map(|provider| join_list(&provider.headers)).filter(|names| !names.is_empty())
        {
            Some(names) => words::headers_kept(&names),
            None => words::headers_hint().to_owned(),
        };
        let (retries_hint, silence_hint) = (words::retries_hint(), words::silence_hint());
        let no_headers = changed
            .filter(|provider| !provider.headers.is_empty())
            .map(|_| checkbox(form, "no_headers", "1", words::no_headers(), None, false));
        view! {
            {fields.unassigned_error(&FIELDS)}
            {text(words::name(), "name", &values.name, None, FieldKind::Text, true)}
            {SelectField { label: words::API, name: "api", form, options: &words::apis(), chosen: &values.api, hint: None, error: fields.error("api").as_deref() }.draw()}
            {text(words::address(), "base_url", &values.base_url, Some(address_hint), FieldKind::Code, true)}
            {fields.checkbox_error("local_network")}
            {checkbox(form, "local_network", "1", words::on_network(), Some(words::on_network_hint()), values.local_network)}
            // A key that was typed is not shown again: without it the connection would be another.
            {text(words::key(), "key", "", Some(key_hint), FieldKind::Secret, self.lost_key)}
            {keys_at}
            <details class="fold" open=unfolded>
                <summary>{words::advanced()}<Icon name="chevron-down"/></summary>
                <div class="form">
                    {text(words::dialect(), "dialect", &values.dialect, Some(words::dialect_hint()), FieldKind::Code, false)}
                    {text(words::headers(), "headers", &values.headers, Some(&headers_hint), FieldKind::CodeLines(3), false)}
                    {no_headers}
                    {text(words::models_named(), "models", &values.models, Some(words::models_named_hint()), FieldKind::CodeLines(4), false)}
                    {text(words::default_model(), "default_model", &values.default_model, Some(words::default_model_hint()), FieldKind::Code, false)}
                    {checkbox(form, "keeps_responses", "1", words::keeps_responses(), Some(words::keeps_responses_hint()), values.keeps_responses)}
                    {fields.checkbox_error("keeps_responses")}
                    {text(words::retries(), "retries", &values.retries, Some(&retries_hint), FieldKind::Number, false)}
                    {text(words::silence(), "silence_seconds", &values.silence_seconds, Some(&silence_hint), FieldKind::Number, false)}
                </div>
            </details>
        }
    }
}
