//! Provider registry: the providers, their models, and the default of new chats.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use bytes::Bytes;
use secrecy::SecretString;

use crate::demo::{self, DemoProvider};
use crate::http_client::HttpClient;
use crate::prices::Prices;
use crate::provider::{ListedModel, Provider};
use crate::redaction::SecretSet;
use turnleaf_domain::branch::ModelLock;
use turnleaf_domain::provider::Model;
use turnleaf_domain::{Capabilities, ToolServerId};
use turnleaf_platform::endpoint::{ProviderEndpoint, RetryPolicy};
use turnleaf_platform::price::ModelPrice;

pub mod check;
mod entry;
mod known_credentials;
pub mod local_servers;
pub mod models;
mod price_list;
mod refresh;

pub use check::{ProviderCheck, ProviderHealth};
pub use entry::{KnownEndpoint, ProviderOrigin};
pub use local_servers::LocalServer;

use entry::RegisteredProvider;
use known_credentials::KnownCredentials;

/// The providers of this server. Those from the settings change at run time; a running reply keeps the provider that
/// it started with.
pub struct ProviderRegistry {
    entries: RwLock<Arc<Vec<RegisteredProvider>>>,
    /// The default of new chats.
    default: RwLock<Option<ModelLock>>,
    /// The local servers that `refresh` probes.
    candidates: RwLock<Vec<ProviderEndpoint>>,
    client: HttpClient,
    prices: RwLock<Arc<Prices>>,
    keys: RwLock<KnownCredentials>,
    /// Ids and URLs of the stored endpoints that are suspended.
    resting: Mutex<HashMap<String, String>>,
    /// URLs of detected servers that a user accepted. Any program on this machine can listen on such a port, so the
    /// others are listed but not used.
    accepted: RwLock<HashSet<String>>,
}

impl ProviderRegistry {
    /// Creates a registry with the configured endpoints and the demo. Nothing is requested before `refresh`.
    /// `candidates` are the local servers to probe ([`local_servers::candidates`]), or none.
    pub fn new(
        endpoints: Vec<ProviderEndpoint>,
        default: Option<ModelLock>,
        candidates: Vec<ProviderEndpoint>,
        demo: DemoProvider,
    ) -> Self {
        let client = HttpClient::default();
        let mut entries: Vec<RegisteredProvider> = endpoints
            .into_iter()
            .map(|endpoint| RegisteredProvider::from_endpoint(endpoint, &client, ProviderOrigin::Configured))
            .collect();
        entries.push(RegisteredProvider {
            models: models::models_from_names(&demo, demo::MODELS.iter().map(|model| model.name)),
            provider: Arc::new(demo),
            endpoint: None,
            default_model: demo::MODELS.first().map(|model| model.name.to_owned()),
            is_listed: true,
            origin: ProviderOrigin::Demo,
            check: None,
        });
        let keys =
            entries.iter().filter_map(|entry| entry.endpoint.as_ref()).flat_map(|endpoint| endpoint.credentials());
        let keys = RwLock::new(keys.collect());
        let (entries, default) = (RwLock::new(Arc::new(entries)), RwLock::new(default));
        let (candidates, prices) = (RwLock::new(candidates), RwLock::default());
        let (resting, accepted) = (Mutex::default(), RwLock::default());
        Self { entries, default, candidates, client, prices, keys, resting, accepted }
    }

    /// Adds the configured prices.
    pub fn with_prices(self, configured: Vec<ModelPrice>) -> Self {
        self.set_prices(configured);
        self
    }

    /// Returns the prices.
    pub fn prices(&self) -> Arc<Prices> {
        Arc::clone(&self.prices.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the configured prices.
    pub fn set_prices(&self, configured: Vec<ModelPrice>) {
        *self.prices.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Prices::new(configured));
    }

    /// Replaces the local servers that [`ProviderRegistry::refresh`] probes.
    pub fn set_candidates(&self, candidates: Vec<ProviderEndpoint>) {
        *self.candidates.write().unwrap_or_else(PoisonError::into_inner) = candidates;
    }

    /// Replaces the configured endpoints. An endpoint that remains keeps its models and check, and running replies
    /// keep the provider that they started with.
    pub fn set_configured(&self, endpoints: Vec<ProviderEndpoint>) {
        endpoints.iter().for_each(|endpoint| self.remember_keys(endpoint));
        let entries = endpoints
            .into_iter()
            .map(|endpoint| RegisteredProvider::from_endpoint(endpoint, &self.client, ProviderOrigin::Configured));
        let mut configured: Vec<RegisteredProvider> = entries.collect();
        self.update(|entries| {
            for entry in &mut configured {
                let is_same =
                    |old: &&RegisteredProvider| old.origin == ProviderOrigin::Configured && old.has_same_id(entry);
                if let Some(old) = entries.iter().find(is_same) {
                    entry.inherit_from(old);
                }
            }
            // A stored or detected endpoint with the same id is replaced.
            entries.retain(|old| match old.origin {
                ProviderOrigin::Configured => false,
                ProviderOrigin::Stored => !configured.iter().any(|entry| old.has_same_id(entry)),
                ProviderOrigin::FoundLocally => !configured
                    .iter()
                    .any(|entry| old.has_same_id(entry) || is_same_server(&*old.provider, &*entry.provider)),
                ProviderOrigin::Demo => true,
            });
            entries.extend(configured);
        });
    }

    /// Creates a registry of existing providers, each with its models; the first model of the first one is the
    /// default. For tests of the registry's clients.
    pub fn from_providers(providers: Vec<(Arc<dyn Provider>, Vec<String>)>) -> Self {
        let entry = |(provider, models): (Arc<dyn Provider>, Vec<String>)| RegisteredProvider {
            endpoint: None,
            default_model: models.first().cloned(),
            models: models::models_from_names(provider.as_ref(), models.iter().map(String::as_str)),
            provider,
            is_listed: true,
            origin: ProviderOrigin::Configured,
            check: None,
        };
        Self {
            entries: RwLock::new(Arc::new(providers.into_iter().map(entry).collect())),
            default: RwLock::default(),
            candidates: RwLock::default(),
            client: HttpClient::default(),
            prices: RwLock::default(),
            keys: RwLock::default(),
            resting: Mutex::default(),
            accepted: RwLock::default(),
        }
    }

    /// Adds a stored endpoint, or replaces the one with its id. Running replies keep the provider that they started
    /// with.
    pub fn put(&self, endpoint: ProviderEndpoint) {
        self.remember_keys(&endpoint);
        self.suspended().remove(&endpoint.id);
        let mut entry = RegisteredProvider::from_endpoint(endpoint, &self.client, ProviderOrigin::Stored);
        self.update(|entries| {
            let provider = entry.provider.clone();
            let is_same = |old: &RegisteredProvider| match old.origin {
                ProviderOrigin::Stored => old.provider.id() == provider.id(),
                ProviderOrigin::FoundLocally => {
                    old.provider.id() == provider.id() || is_same_server(&*old.provider, &*provider)
                }
                ProviderOrigin::Configured | ProviderOrigin::Demo => false,
            };
            if let Some(old) = entries.iter().find(|old| is_same(old)) {
                entry.inherit_from(old);
            }
            entries.retain(|old| !is_same(old));
            entries.push(entry);
        });
    }

    /// Removes a stored endpoint.
    pub fn remove(&self, id: &str) {
        self.suspended().remove(id);
        self.remove_stored(id);
    }

    /// Suspends a stored endpoint: it is not used, and while it is suspended, no local server is detected under its
    /// id or URL.
    pub fn suspend(&self, endpoint: &ProviderEndpoint) {
        self.remember_keys(endpoint);
        self.suspended().insert(endpoint.id.clone(), endpoint.base_url.clone());
        self.remove_stored(&endpoint.id);
        let is_it =
            |entry: &RegisteredProvider| entry.origin == ProviderOrigin::FoundLocally && entry.is_server_of(endpoint);
        self.update(|entries| entries.retain(|entry| !is_it(entry)));
    }

    fn remove_stored(&self, id: &str) {
        self.update(|entries| {
            entries.retain(|entry| entry.origin != ProviderOrigin::Stored || entry.provider.id() != id)
        });
    }

    fn suspended(&self) -> MutexGuard<'_, HashMap<String, String>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember_keys(&self, endpoint: &ProviderEndpoint) {
        self.remember_credentials(endpoint.credentials());
    }

    /// Adds credentials that are redacted from responses and exports from now on: those of tool servers, because a
    /// tool may repeat them to a model.
    pub fn remember_credentials(&self, credentials: impl IntoIterator<Item = SecretString>) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).add(credentials);
    }

    /// Adds what a sign-in to a tool server was given. Of each server only the newest ones stay known, because tokens
    /// change all the time.
    pub fn remember_issued(&self, server: ToolServerId, credentials: impl IntoIterator<Item = SecretString>) {
        self.keys.write().unwrap_or_else(PoisonError::into_inner).add_issued(server, credentials);
    }

    /// Replaces the URLs at which detected servers may be used.
    pub fn set_accepted_addresses(&self, addresses: impl IntoIterator<Item = String>) {
        *self.accepted.write().unwrap_or_else(PoisonError::into_inner) = addresses.into_iter().collect();
    }

    /// Returns true if a provider may be used: a detected one only after a user accepted it.
    fn is_in_use(&self, entry: &RegisteredProvider) -> bool {
        let accepted = self.accepted.read().unwrap_or_else(PoisonError::into_inner);
        entry.origin != ProviderOrigin::FoundLocally
            || entry.provider.base_url().is_some_and(|url| accepted.contains(url))
    }

    /// Returns the provider with this id, if it may be used.
    fn entry_of<'e>(&self, entries: &'e [RegisteredProvider], provider: &str) -> Option<&'e RegisteredProvider> {
        entries.iter().find(|entry| entry.provider.id() == provider && self.is_in_use(entry))
    }

    /// Sets the default of new chats.
    pub fn set_default(&self, lock: Option<ModelLock>) {
        *self.default.write().unwrap_or_else(PoisonError::into_inner) = lock;
    }

    /// Returns every endpoint with its state. Stand-ins have no endpoint.
    pub fn known_endpoints(&self) -> Vec<KnownEndpoint> {
        let known = |entry: &RegisteredProvider| {
            let endpoint = entry.endpoint.clone()?;
            let models = entry.models.iter().map(|listed| listed.id.clone()).collect();
            let default_model = entry.default_model.clone();
            let (check, is_in_use) = (entry.check.clone(), self.is_in_use(entry));
            Some(KnownEndpoint { endpoint, origin: entry.origin, models, default_model, check, is_in_use })
        };
        self.entries().iter().filter_map(known).collect()
    }

    /// Returns the models that can be chosen, by provider: configured ones first, the demo last.
    pub fn models(&self) -> Vec<Model> {
        self.all_models(|entry, model| !entry.is_hidden(model))
    }

    /// Returns the models, including those that are hidden from the menus.
    pub fn models_with_hidden(&self) -> Vec<Model> {
        self.all_models(|_, _| true)
    }

    fn all_models(&self, is_wanted: impl Fn(&RegisteredProvider, &str) -> bool) -> Vec<Model> {
        let default = self.default_lock();
        let mut models = Vec::new();
        for entry in self.entries().iter().filter(|entry| self.is_in_use(entry)) {
            for ListedModel { id, name, capabilities, prices } in
                entry.models.iter().filter(|model| is_wanted(entry, &model.id))
            {
                let lock = ModelLock::new(entry.provider.id(), id.as_str());
                models.push(Model {
                    provider_name: entry.provider.name().to_owned(),
                    name: name.clone().unwrap_or_else(|| models::display_name(id)),
                    description: (entry.origin == ProviderOrigin::Demo).then(|| demo::description(id)).flatten(),
                    reasoning: capabilities.reasoning,
                    thinking_levels: capabilities.thinking_levels.clone(),
                    context_tokens: capabilities.context_tokens,
                    output_tokens: capabilities.max_tokens.most.map(u64::from),
                    images: capabilities.images,
                    tools: capabilities.tools,
                    input_price: prices.map(|(input, _)| input),
                    output_price: prices.map(|(_, output)| output),
                    is_demo: entry.origin == ProviderOrigin::Demo,
                    is_default: lock == default,
                    used: None,
                    lock,
                });
            }
        }
        models
    }

    /// Returns the provider with this id.
    pub fn find(&self, provider: &str) -> Option<Arc<dyn Provider>> {
        self.entry_of(&self.entries(), provider).map(|entry| Arc::clone(&entry.provider))
    }

    /// Returns the retry policy of a provider, or the default.
    pub fn retry_policy(&self, provider: &str) -> RetryPolicy {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.provider.id() == provider);
        entry.and_then(|entry| entry.endpoint.as_ref()).map(|endpoint| endpoint.retry_policy).unwrap_or_default()
    }

    /// Returns true if a model can be used as far as is known: its provider exists, has the key that it needs, and
    /// has not returned a model list without this model. A provider without a list, or that was not reached, does not
    /// exclude any model.
    pub fn offers(&self, lock: &ModelLock) -> bool {
        let entries = self.entries();
        self.entry_of(&entries, &lock.provider).is_some_and(|entry| entry.offers(&lock.model))
    }

    /// Returns the capabilities of a model: from the provider's list, otherwise from its name; the default ones if
    /// the provider is unknown.
    pub fn capabilities(&self, lock: &ModelLock) -> Capabilities {
        let entries = self.entries();
        let Some(entry) = self.entry_of(&entries, &lock.provider) else {
            return Capabilities::default();
        };
        let listed = entry.models.iter().find(|listed| listed.id == lock.model);
        listed.map_or_else(|| entry.provider.capabilities(&lock.model), |listed| listed.capabilities.clone())
    }

    /// Returns the model to use if only the provider is named.
    pub fn default_model(&self, provider: &str) -> Option<String> {
        self.entry_of(&self.entries(), provider)?.default_model.clone()
    }

    /// Returns the default of new chats: the chosen default if its provider exists, otherwise that of the first
    /// configured provider, otherwise that of a detected local server that a user accepted, otherwise the demo.
    pub fn default_lock(&self) -> ModelLock {
        let entries = self.entries();
        let chosen = self.chosen_default();
        let of_entry = |entry: &RegisteredProvider| {
            let model = entry.first_choice().filter(|_| self.is_in_use(entry))?;
            Some(ModelLock::new(entry.provider.id(), model.as_str()))
        };
        let first = || entries.iter().find_map(of_entry);
        chosen.or_else(first).unwrap_or_else(|| ModelLock::new(demo::ID, demo::MODELS[0].name))
    }

    /// Returns the chosen default if its provider exists.
    pub fn chosen_default(&self) -> Option<ModelLock> {
        let chosen = self.default.read().unwrap_or_else(PoisonError::into_inner).clone();
        chosen.filter(|lock| self.entry_of(&self.entries(), &lock.provider).is_some())
    }

    /// Returns the local servers that the last `refresh` detected.
    pub fn local_servers(&self) -> Vec<LocalServer> {
        let is_found = |entry: &&RegisteredProvider| entry.origin == ProviderOrigin::FoundLocally;
        let server = |entry: &RegisteredProvider| LocalServer {
            id: entry.provider.id().to_owned(),
            name: entry.provider.name().to_owned(),
            address: entry.provider.base_url().unwrap_or_default().to_owned(),
            models: entry.models.iter().map(|listed| listed.id.clone()).collect(),
            is_in_use: self.is_in_use(entry),
        };
        self.entries().iter().filter(is_found).map(server).collect()
    }

    /// Applies a change to the current entries under the write lock, because they may have changed since the caller
    /// read them.
    fn update(&self, change: impl FnOnce(&mut Vec<RegisteredProvider>)) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::clone(&entries);
        change(&mut changed);
        changed.sort_by_key(|entry| entry.origin);
        *entries = Arc::new(changed);
    }

    /// Redacts all known keys from provider output, because some providers repeat the key that they refuse, even
    /// within a stream. All other bytes stay unchanged.
    pub fn redact_keys(&self, bytes: Bytes) -> Bytes {
        self.known_keys().redact_bytes(bytes)
    }

    /// Returns the keys that are redacted from responses and exports, including data that was stored earlier.
    pub fn known_keys(&self) -> SecretSet {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).to_set()
    }

    fn entries(&self) -> Arc<Vec<RegisteredProvider>> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn is_same_server(one: &dyn Provider, other: &dyn Provider) -> bool {
    matches!((one.base_url(), other.base_url()), (Some(one), Some(other)) if local_servers::is_same_server(one, other))
}

#[cfg(test)]
mod tests;
