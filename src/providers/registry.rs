//! Which providers there are, which models they offer, and which of them a new chat gets.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use bytes::Bytes;
use secrecy::{ExposeSecret, SecretString};

use crate::demo::{self, DemoProvider};
use crate::http_client::HttpClient;
use crate::prices::Prices;
use crate::provider::{ListedModel, Provider};
use crate::redaction::SecretSet;
use turnleaf_domain::Capabilities;
use turnleaf_domain::branch::ModelLock;
use turnleaf_domain::provider::Model;
use turnleaf_platform::endpoint::{ProviderEndpoint, RetryPolicy};
use turnleaf_platform::price::ModelPrice;

pub mod check;
mod context_sizes;
mod entry;
pub mod local_servers;
pub mod models;
mod refresh;

pub use check::{ProviderCheck, ProviderHealth};
pub use entry::{KnownEndpoint, ProviderOrigin};
pub use local_servers::LocalServer;

use entry::RegisteredProvider;

/// The providers of this server. Those of the settings come and go while it runs; who has a provider in hand keeps it.
pub struct ProviderRegistry {
    entries: RwLock<Arc<Vec<RegisteredProvider>>>,
    /// What new chats get when nothing is chosen.
    default: RwLock<Option<ModelLock>>,
    /// Where `refresh` looks for local servers.
    candidates: RwLock<Vec<ProviderEndpoint>>,
    client: HttpClient,
    prices: RwLock<Arc<Prices>>,
    /// Every key since the start, also of endpoints that are gone: what they said may still be read.
    keys: RwLock<Vec<SecretString>>,
    /// Ids and addresses of the endpoints of the settings that rest.
    resting: Mutex<HashMap<String, String>>,
    /// Addresses of found servers that a person said yes to. Any program of this machine can listen on such a port, so
    /// the others are told of and not used.
    accepted: RwLock<HashSet<String>>,
}

impl ProviderRegistry {
    /// The configured endpoints and the demo. Nobody is asked yet: that is `refresh`. `candidates` are the local
    /// servers to look for ([`local::candidates`]), or none.
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

    /// The same with what the configuration says of prices.
    pub fn with_prices(self, configured: Vec<ModelPrice>) -> Self {
        self.set_prices(configured);
        self
    }

    /// What answers cost.
    pub fn prices(&self) -> Arc<Prices> {
        Arc::clone(&self.prices.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes what the configuration says of prices from now on.
    pub fn set_prices(&self, configured: Vec<ModelPrice>) {
        *self.prices.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Prices::new(configured));
    }

    /// Where [`ProviderRegistry::refresh`] looks for local servers from now on.
    pub fn set_candidates(&self, candidates: Vec<ProviderEndpoint>) {
        *self.candidates.write().unwrap_or_else(PoisonError::into_inner) = candidates;
    }

    /// Puts these endpoints in the place of those that were configured. What is known of one that stays goes on counting,
    /// and replies that run keep the provider that they began with.
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
            // What a person stored, or what was found, under the same name gives way.
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

    /// Providers that are there already, each with its models; the first model of the first is the default. For tests
    /// of what uses providers.
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

    /// Adds an endpoint of the settings, or puts it in the place of the one with its id. Replies that run keep the
    /// provider that they began with.
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

    /// Takes an endpoint of the settings away.
    pub fn remove(&self, id: &str) {
        self.suspended().remove(id);
        self.remove_stored(id);
    }

    /// Keeps an endpoint of the settings that is not to be used now: it is not found on this machine either, under its
    /// id or at its address, as long as it rests.
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

    /// Takes these, too, out of what is served and of what leaves as a file, from now on: the credentials of servers of
    /// tools, which models are told where a tool repeats them.
    pub fn remember_credentials(&self, credentials: impl IntoIterator<Item = SecretString>) {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        for key in credentials {
            // Reloads bring the same ones again and again.
            if !keys.iter().any(|known| known.expose_secret() == key.expose_secret()) {
                keys.push(key);
            }
        }
    }

    /// Says at which addresses found servers may be used, in the place of what was said before.
    pub fn set_accepted_addresses(&self, addresses: impl IntoIterator<Item = String>) {
        *self.accepted.write().unwrap_or_else(PoisonError::into_inner) = addresses.into_iter().collect();
    }

    /// Whether a provider may be used: one that was found by itself only after a person said yes.
    fn is_in_use(&self, entry: &RegisteredProvider) -> bool {
        let accepted = self.accepted.read().unwrap_or_else(PoisonError::into_inner);
        entry.origin != ProviderOrigin::FoundLocally
            || entry.provider.base_url().is_some_and(|url| accepted.contains(url))
    }

    /// The provider with this id, if it may be used.
    fn entry_of<'e>(&self, entries: &'e [RegisteredProvider], provider: &str) -> Option<&'e RegisteredProvider> {
        entries.iter().find(|entry| entry.provider.id() == provider && self.is_in_use(entry))
    }

    /// Sets what new chats get when nothing is chosen.
    pub fn set_default(&self, lock: Option<ModelLock>) {
        *self.default.write().unwrap_or_else(PoisonError::into_inner) = lock;
    }

    /// Every endpoint with what is known of it: stand-ins are none.
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

    /// Every model that can be chosen, provider by provider: configured ones first, the demo last.
    pub fn models(&self) -> Vec<Model> {
        self.all_models(|entry, model| !entry.is_hidden(model))
    }

    /// The same with those that are hidden from the menus.
    pub fn models_with_hidden(&self) -> Vec<Model> {
        self.all_models(|_, _| true)
    }

    fn all_models(&self, is_wanted: impl Fn(&RegisteredProvider, &str) -> bool) -> Vec<Model> {
        let default = self.default_lock();
        let mut models = Vec::new();
        for entry in self.entries().iter().filter(|entry| self.is_in_use(entry)) {
            for ListedModel { id, name, capabilities } in
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
                    is_demo: entry.origin == ProviderOrigin::Demo,
                    is_default: lock == default,
                    used: None,
                    lock,
                });
            }
        }
        models
    }

    /// The provider with this id.
    pub fn find(&self, provider: &str) -> Option<Arc<dyn Provider>> {
        self.entry_of(&self.entries(), provider).map(|entry| Arc::clone(&entry.provider))
    }

    /// How long this provider is waited for, where that is not as usual.
    pub fn retry_policy(&self, provider: &str) -> RetryPolicy {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.provider.id() == provider);
        entry.and_then(|entry| entry.endpoint.as_ref()).map(|endpoint| endpoint.retry_policy).unwrap_or_default()
    }

    /// Whether a model can be asked, as far as is known: its provider is there, with the key that it asks for, and has not
    /// listed its models without this one. Who lists none, or was not reached, has said nothing.
    pub fn offers(&self, lock: &ModelLock) -> bool {
        let entries = self.entries();
        self.entry_of(&entries, &lock.provider).is_some_and(|entry| entry.offers(&lock.model))
    }

    /// What a model takes: as its provider's list says, else as its name tells. Of an unknown provider, the usual.
    pub fn capabilities(&self, lock: &ModelLock) -> Capabilities {
        let entries = self.entries();
        let Some(entry) = self.entry_of(&entries, &lock.provider) else {
            return Capabilities::default();
        };
        let listed = entry.models.iter().find(|listed| listed.id == lock.model);
        listed.map_or_else(|| entry.provider.capabilities(&lock.model), |listed| listed.capabilities.clone())
    }

    /// The model a provider answers with when only the provider is named.
    pub fn default_model(&self, provider: &str) -> Option<String> {
        self.entry_of(&self.entries(), provider)?.default_model.clone()
    }

    /// What a new chat gets when nothing is chosen: the default that was set as long as its provider is there, else
    /// the first configured provider's, else that of a found local server that a person said yes to, else the demo.
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

    /// The default that somebody set, as long as its provider is there.
    pub fn chosen_default(&self) -> Option<ModelLock> {
        let chosen = self.default.read().unwrap_or_else(PoisonError::into_inner).clone();
        chosen.filter(|lock| self.entry_of(&self.entries(), &lock.provider).is_some())
    }

    /// The local servers that answered, as `refresh` last saw them.
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

    /// Changes the entries as they are at this moment: others may have changed them since they were read.
    fn update(&self, change: impl FnOnce(&mut Vec<RegisteredProvider>)) {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let mut changed = Vec::clone(&entries);
        change(&mut changed);
        changed.sort_by_key(|entry| entry.origin);
        *entries = Arc::new(changed);
    }

    /// What a provider sent, as anybody may see it: some repeat the key that they refuse, also in the middle of a
    /// stream. Everything but the keys stays exact.
    pub fn redact_keys(&self, bytes: Bytes) -> Bytes {
        self.known_keys().redact_bytes(bytes)
    }

    /// The keys that are taken out of what is served and of what leaves as a file, of what was stored before too.
    pub fn known_keys(&self) -> SecretSet {
        SecretSet::new(self.keys.read().unwrap_or_else(PoisonError::into_inner).clone())
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
