//! Views of a provider connection for its owner, in the API and on the page: everything but the secrets.

use chrono::{DateTime, Utc};
use secrecy::ExposeSecret;
use serde::Serialize;

use super::secrets::key_ending;
use crate::coded_sentence::CodedSentence;
use turnleaf_domain::{CodedMessage, MessageCode, ModelLock};
use turnleaf_platform::sealing::UnsealError;
use turnleaf_providers::registry::{KnownEndpoint, ProviderCheck};
use turnleaf_store::providers::StoredProvider;

/// A provider connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ProviderView {
    /// The id that branches reference.
    pub id: String,
    pub name: String,
    pub api: String,
    pub dialect: String,
    pub base_url: String,
    pub key: ProviderKeyView,
    /// Names of extra headers. Values are never returned.
    pub headers: Vec<String>,
    /// All known models, in the order of the menus.
    pub models: Vec<ModelView>,
    /// Models listed by hand instead of requested from the provider.
    pub listed_models: Vec<String>,
    pub default_model: Option<String>,
    /// The default model if one was set; `default_model` may be derived from the list.
    #[serde(skip)]
    pub set_default_model: Option<String>,
    pub is_enabled: bool,
    pub local_network: bool,
    /// True when an `openai_responses` provider may store responses, so that a request continues from the last one;
    /// otherwise every request contains the whole conversation.
    pub keeps_responses: bool,
    /// Number of retries of a request that produced no content; null uses the default.
    pub retries: Option<u32>,
    /// Response timeout in seconds, before the first byte and between any two; null uses the default.
    pub silence_seconds: Option<u32>,
    /// True when the connection can only be changed where it is configured.
    pub locked: bool,
    /// The place of that configuration; null for a server found on this machine.
    pub set_by: Option<String>,
    /// True when its models can be chosen. A server found on this machine requires a person's approval first.
    pub is_in_use: bool,
    pub status: ProviderStatusView,
}

impl ProviderView {
    /// Removes the ending of the key and the names of extra headers, which help only whoever keeps them.
    pub(super) fn without_key_details(self) -> Self {
        let key = ProviderKeyView { set: self.key.set, ends_in: None };
        Self { key, headers: Vec::new(), ..self }
    }
}

/// The visible facts about an API key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ProviderKeyView {
    pub set: bool,
    pub ends_in: Option<String>,
}

/// A model of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ModelView {
    pub model: String,
    pub is_hidden: bool,
    /// True for the default model of new chats.
    pub is_default: bool,
}

/// The status of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ProviderStatusView {
    /// `working`, `key_refused`, `wrong_address`, `unreachable`, `failing`, `not_tested`, `off` or `key_unreadable`.
    pub state: &'static str,
    #[serde(flatten)]
    pub message: CodedSentence,
    /// The sentence in the language of the request, in the answer to a test, if that is not English.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub localized: Option<String>,
    pub checked_at: Option<DateTime<Utc>>,
    /// A base URL that does respond.
    pub suggestion: Option<String>,
}

impl ProviderStatusView {
    fn new(state: &'static str, message: impl Into<CodedMessage>) -> Self {
        let message = CodedSentence::new(message);
        Self { state, message, localized: None, checked_at: None, suggestion: None }
    }

    /// Returns the sentence with its code.
    pub fn message(&self) -> CodedMessage {
        self.message.message()
    }

    fn from_known(known: Option<&KnownEndpoint>) -> Self {
        let check = known.and_then(|known| known.check.clone());
        check.map_or_else(|| Self::new("not_tested", MessageCode::NotTested), Self::from)
    }
}

impl From<ProviderCheck> for ProviderStatusView {
    fn from(check: ProviderCheck) -> Self {
        Self {
            checked_at: Some(check.at),
            suggestion: check.suggestion,
            ..Self::new(check.state.as_str(), check.message)
        }
    }
}

/// Returns the view of an endpoint without a row: a configured one or a local server found on this machine.
pub fn known_provider_view(known: &KnownEndpoint, default: &ModelLock) -> ProviderView {
    let endpoint = &known.endpoint;
    ProviderView {
        id: endpoint.id.clone(),
        name: endpoint.name.clone(),
        api: endpoint.api.as_str().to_owned(),
        dialect: endpoint.dialect.clone(),
        base_url: endpoint.base_url.clone(),
        key: ProviderKeyView {
            set: endpoint.api_key.is_some(),
            ends_in: endpoint.api_key.as_ref().and_then(|key| key_ending(key.expose_secret())),
        },
        headers: endpoint.headers.iter().map(|(name, _)| name.clone()).collect(),
        models: models(&endpoint.id, &known.models, &endpoint.hidden_models, default),
        listed_models: endpoint.models.clone(),
        default_model: known.default_model.clone(),
        set_default_model: endpoint.default_model.clone(),
        is_enabled: true,
        local_network: endpoint.local_network,
        keeps_responses: endpoint.keeps_responses,
        retries: endpoint.retry_policy.retries,
        silence_seconds: endpoint.retry_policy.silence.and_then(|silence| u32::try_from(silence.as_secs()).ok()),
        locked: true,
        set_by: endpoint.set_by.clone(),
        is_in_use: known.is_in_use,
        status: ProviderStatusView::from_known(Some(known)),
    }
}

/// Returns the view of a stored connection; `known` is the registry's entry while it is enabled.
pub fn stored_provider_view(
    row: &StoredProvider,
    known: Option<&KnownEndpoint>,
    unopened: Option<UnsealError>,
    default: &ModelLock,
) -> ProviderView {
    let settings = &row.settings;
    let status = match unopened {
        Some(error) => ProviderStatusView::new("key_unreadable", MessageCode::KeyUnreadable.with("reason", error)),
        None if !row.is_enabled => ProviderStatusView::new("off", MessageCode::SwitchedOff),
        None => ProviderStatusView::from_known(known),
    };
    let listed = known.map_or(&settings.models, |known| &known.models);
    ProviderView {
        id: row.slug.clone(),
        name: row.name.clone(),
        api: row.kind.clone(),
        dialect: settings.dialect.clone(),
        base_url: row.base_url.clone(),
        key: ProviderKeyView { set: settings.has_key, ends_in: settings.key_ends_in.clone() },
        headers: settings.header_names.clone(),
        models: models(&row.slug, listed, &settings.hidden_models, default),
        listed_models: settings.models.clone(),
        default_model: known.map_or(&settings.default_model, |known| &known.default_model).clone(),
        set_default_model: settings.default_model.clone(),
        is_enabled: row.is_enabled,
        local_network: settings.local_network,
        keeps_responses: settings.keeps_responses,
        retries: settings.retries,
        silence_seconds: settings.silence_seconds,
        locked: false,
        set_by: None,
        is_in_use: row.is_enabled,
        status,
    }
}

fn models(provider: &str, models: &[String], hidden: &[String], default: &ModelLock) -> Vec<ModelView> {
    let view = |model: &String| ModelView {
        model: model.clone(),
        is_hidden: hidden.contains(model),
        is_default: default.provider == provider && default.model == *model,
    };
    models.iter().map(view).collect()
}
