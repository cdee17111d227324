//! A provider of the registry with its state: models, default and last check.

use std::sync::Arc;

use secrecy::ExposeSecret;

use crate::http_client::HttpClient;
use crate::provider::{ListedModel, Provider};
use crate::provider_factory::create_provider;
use crate::registry::check::{ProviderCheck, ProviderCheckResult, ProviderHealth};
use crate::registry::{local_servers, models};
use turnleaf_platform::endpoint::ProviderEndpoint;

/// A provider with the models that it is known to offer.
#[derive(Clone)]
pub struct RegisteredProvider {
    pub provider: Arc<dyn Provider>,
    /// The endpoint that it was created from; `None` for stand-ins.
    pub endpoint: Option<Arc<ProviderEndpoint>>,
    /// The models in menu order, including hidden ones, with the capabilities from the provider's list.
    pub models: Vec<ListedModel>,
    pub default_model: Option<String>,
    /// The configuration lists the models, so the provider's list is not requested.
    pub is_listed: bool,
    pub origin: ProviderOrigin,
    /// The result of the last check.
    pub check: Option<ProviderCheck>,
}

impl RegisteredProvider {
    /// Returns true if this provider is the endpoint's server, by id or base URL.
    pub(super) fn is_server_of(&self, endpoint: &ProviderEndpoint) -> bool {
        self.provider.id() == endpoint.id
            || self.provider.base_url().is_some_and(|url| local_servers::is_same_server(url, &endpoint.base_url))
    }

    /// Returns true if both have the same id.
    pub(super) fn has_same_id(&self, other: &Self) -> bool {
        self.provider.id() == other.provider.id()
    }

    /// Creates the entry of an endpoint that was not checked yet.
    pub fn from_endpoint(endpoint: ProviderEndpoint, client: &HttpClient, origin: ProviderOrigin) -> Self {
        let provider = create_provider(&endpoint, client.clone());
        let default_model = endpoint
            .default_model
            .clone()
            .or_else(|| endpoint.models.first().cloned())
            .or_else(|| provider.preferred_model().map(str::to_owned));
        Self {
            models: models::sort_for_menu(
                models::models_from_names(&*provider, endpoint.models.iter().map(String::as_str)),
                default_model.as_deref(),
                &*provider,
            ),
            default_model,
            is_listed: !endpoint.models.is_empty(),
            provider,
            endpoint: Some(Arc::new(endpoint)),
            origin,
            check: None,
        }
    }

    /// Takes over models, default and check from the same server's earlier settings, so that the menu is not empty
    /// until the next check.
    pub fn inherit_from(&mut self, old: &Self) {
        let (Some(new), Some(was)) = (&self.endpoint, &old.endpoint) else { return };
        if new.base_url != was.base_url || new.api != was.api {
            return;
        }
        let key = |endpoint: &ProviderEndpoint| endpoint.api_key.as_ref().map(|key| key.expose_secret().to_owned());
        if key(new) == key(was) {
            self.check = old.check.clone();
        }
        if !self.is_listed && !old.is_listed {
            if self.default_model.is_none() && was.default_model.is_none() {
                self.default_model = old.default_model.clone();
            }
            self.models = models::sort_for_menu(old.models.clone(), self.default_model.as_deref(), &*self.provider);
        }
    }

    /// Returns true if the provider offers this model, as far as is known.
    pub fn offers(&self, model: &str) -> bool {
        let has_key = self.endpoint.as_ref().is_none_or(|endpoint| endpoint.api_key.is_some());
        match self.check.as_ref().map(|check| check.state) {
            Some(ProviderHealth::KeyRefused) => has_key,
            // A configured list is a selection by the owner, not all available models.
            Some(ProviderHealth::Working) if !self.is_listed && !self.models.is_empty() => {
                self.models.iter().any(|listed| is_same_model(&listed.id, model))
            }
            _ => true,
        }
    }

    /// Returns true if a model of this name is in the list.
    pub fn lists(&self, model: &str) -> bool {
        self.models.iter().any(|listed| listed.id == model)
    }

    pub fn is_hidden(&self, model: &str) -> bool {
        self.endpoint.as_ref().is_some_and(|endpoint| endpoint.hidden_models.iter().any(|hidden| hidden == model))
    }
}

/// Returns true if a requested name means a listed model: also without the default tag `:latest`, and with a variant
/// that lists omit (`vendor/model:online`).
fn is_same_model(listed: &str, requested: &str) -> bool {
    listed == requested
        || listed.strip_suffix(":latest") == Some(requested)
        || requested.rsplit_once(':').is_some_and(|(model, _)| model == listed)
}

/// The source of a provider, in menu order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProviderOrigin {
    /// The environment or the configuration file.
    Configured,
    /// The settings page or the API; stored in the database.
    Stored,
    FoundLocally,
    Demo,
}

/// An endpoint of the registry with its state.
#[derive(Debug, Clone)]
pub struct KnownEndpoint {
    pub endpoint: Arc<ProviderEndpoint>,
    pub origin: ProviderOrigin,
    /// All models in menu order, including hidden ones.
    pub models: Vec<String>,
    pub default_model: Option<String>,
    pub check: Option<ProviderCheck>,
    /// A detected server is used only after a user accepted it.
    pub is_in_use: bool,
}

/// A shared provider with its models, for those who grant them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedModels {
    pub provider: String,
    pub provider_name: String,
    /// All models in menu order, including hidden ones.
    pub models: Vec<String>,
}

/// Records the result of a check. The provider is compared by identity: an endpoint that was changed meanwhile has a
/// new provider, and the result is dropped.
pub fn record_check(entries: &mut [RegisteredProvider], checked: &Arc<dyn Provider>, answer: ProviderCheckResult) {
    let Some(entry) = entries.iter_mut().find(|entry| Arc::ptr_eq(&entry.provider, checked)) else { return };
    entry.check = Some(answer.check);
    if let Some(listed) = answer.listed.filter(|_| !entry.is_listed) {
        // A default that no one configured must be one of the listed models.
        let is_chosen = entry.endpoint.as_ref().is_some_and(|endpoint| endpoint.default_model.is_some());
        let is_there = || listed.iter().any(|model| Some(&model.id) == entry.default_model.as_ref());
        if entry.default_model.is_none() || !(is_chosen || listed.is_empty() || is_there()) {
            entry.default_model = models::pick_default(entry.provider.preferred_model(), &listed);
        }
        entry.models = models::sort_for_menu(listed, entry.default_model.as_deref(), &*entry.provider);
    }
}
