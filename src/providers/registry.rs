//! Provider registry: the providers by scope, and what is common to all of them.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use secrecy::SecretString;
use tokio::sync::watch;

use crate::demo::{self, DemoProvider};
use crate::http_client::HttpClient;
use crate::prices::Prices;
use crate::provider::Provider;
use crate::redaction::SecretSet;
use turnleaf_domain::accounts::access_rights::AccessRights;
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_domain::{ToolServerId, UserId};
use turnleaf_platform::endpoint::ProviderEndpoint;
use turnleaf_platform::price::ModelPrice;

pub mod check;
mod entry;
mod known_credentials;
pub mod local_servers;
mod lookup;
pub mod models;
mod price_list;
mod refresh;
mod scope;
mod stored_endpoints;

pub use check::{ProviderCheck, ProviderHealth};
pub use entry::{KnownEndpoint, ProviderOrigin, SharedModels};
pub use local_servers::LocalServer;
pub use scope::{ProviderScope, ScopedProvider};

use entry::RegisteredProvider;
use known_credentials::KnownCredentials;
use scope::{ProviderScopes, ProvidersOfScope, VisibleProviders};

/// The providers of this server, by scope. Those from the settings change at run time; a running reply keeps the
/// provider that it started with.
pub struct ProviderRegistry {
    scopes: RwLock<ProviderScopes>,
    /// Which of the shared models each account may use.
    rights: RwLock<Arc<AccessRights>>,
    /// The local servers that `refresh` probes.
    candidates: RwLock<Vec<ProviderEndpoint>>,
    client: HttpClient,
    prices: RwLock<Arc<Prices>>,
    keys: RwLock<KnownCredentials>,
    /// Changes whenever what somebody can choose from may have changed.
    changed: watch::Sender<()>,
}

impl ProviderRegistry {
    /// Creates a registry with the configured endpoints and the demo. Nothing is requested before `refresh`.
    /// `default` is that of users who chose none; `candidates` are the local servers to probe
    /// ([`local_servers::candidates`]), or none.
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
        let shared = ProvidersOfScope { entries, default, ..ProvidersOfScope::default() };
        let (scopes, candidates) = (RwLock::new(ProviderScopes::new(shared)), RwLock::new(candidates));
        let changed = watch::Sender::new(());
        Self { scopes, rights: RwLock::default(), candidates, client, prices: RwLock::default(), keys, changed }
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
        self.update(|scopes| {
            let shared = scopes.providers_of(ProviderScope::Shared);
            for entry in &mut configured {
                let is_same =
                    |old: &&RegisteredProvider| old.origin == ProviderOrigin::Configured && old.has_same_id(entry);
                if let Some(old) = shared.entries.iter().find(is_same) {
                    entry.inherit_from(old);
                }
            }
            // Stored endpoints with the same id are replaced, whosever they are.
            for scope in scopes.keys() {
                scopes.providers_of_mut(scope).entries.retain(|old| match old.origin {
                    ProviderOrigin::Configured => false,
                    ProviderOrigin::Stored => !configured.iter().any(|entry| old.has_same_id(entry)),
                    ProviderOrigin::FoundLocally | ProviderOrigin::Demo => true,
                });
            }
            scopes.providers_of_mut(ProviderScope::Shared).entries.extend(configured);
            scopes.drop_unwanted_servers();
        });
    }

    /// Creates a registry of existing providers for everybody, each with its models; the first model of the first one
    /// is the default. For tests of the registry's clients.
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
        let shared =
            ProvidersOfScope { entries: providers.into_iter().map(entry).collect(), ..ProvidersOfScope::default() };
        Self {
            scopes: RwLock::new(ProviderScopes::new(shared)),
            rights: RwLock::default(),
            candidates: RwLock::default(),
            client: HttpClient::default(),
            prices: RwLock::default(),
            keys: RwLock::default(),
            changed: watch::Sender::new(()),
        }
    }

    /// Subscribes to changes of providers, models, defaults and rights. Most of them change nothing for one account.
    pub fn subscribe_changes(&self) -> watch::Receiver<()> {
        self.changed.subscribe()
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

    /// Applies a change to the present scopes under the write lock, because they may have changed since the caller read
    /// them.
    fn update(&self, change: impl FnOnce(&mut ProviderScopes)) {
        change(&mut self.scopes.write().unwrap_or_else(PoisonError::into_inner));
        self.changed.send_replace(());
    }

    fn scopes(&self) -> ProviderScopes {
        self.scopes.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn visible_to(&self, user: UserId) -> VisibleProviders {
        let rights = self.rights();
        self.scopes.read().unwrap_or_else(PoisonError::into_inner).visible_to(user, rights)
    }

    fn rights(&self) -> Arc<AccessRights> {
        Arc::clone(&self.rights.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the rights of accounts. The next call that is made, and the next list, follow them.
    pub fn set_rights(&self, rights: Arc<AccessRights>) {
        *self.rights.write().unwrap_or_else(PoisonError::into_inner) = rights;
        self.changed.send_replace(());
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
}

fn is_same_server(one: &dyn Provider, other: &dyn Provider) -> bool {
    matches!((one.base_url(), other.base_url()), (Some(one), Some(other)) if local_servers::is_same_server(one, other))
}

#[cfg(test)]
mod tests;
