//! Which providers there are, which models they offer, and which of them a new chat gets.

use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use futures::future::join_all;

use crate::domain::Capabilities;
use crate::domain::branch::Lock;
use crate::domain::limits;
use crate::domain::provider::Model;
use crate::server::outbound::connect::connect;
use crate::server::outbound::demo::{self, Demo};
use crate::server::outbound::http_client::HttpClient;
use crate::server::outbound::prices::Prices;
use crate::server::outbound::provider::{Listed, Provider};
use crate::server::outbound::redact::Secrets;
use crate::server::platform::endpoint::Endpoint;
use crate::server::platform::price::Price;

pub mod local;
pub mod models;

pub use local::LocalServer;

/// One provider with the models it is known to offer.
#[derive(Clone)]
struct Entry {
    provider: Arc<dyn Provider>,
    /// In the order of the menu, with what the provider's list says of them.
    models: Vec<Listed>,
    default_model: Option<String>,
    /// The configuration lists the models, so the provider is not asked.
    is_listed: bool,
    origin: Origin,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Configured,
    FoundLocally,
    Demo,
}

/// The providers of this server.
pub struct Registry {
    entries: RwLock<Arc<Vec<Entry>>>,
    /// What the configuration names as the default.
    default: Option<Lock>,
    /// Where `refresh` looks for local servers.
    candidates: Vec<Endpoint>,
    client: HttpClient,
    prices: Arc<Prices>,
    /// The keys of all endpoints.
    secrets: Secrets,
}

impl Registry {
    /// The configured endpoints and the demo. Nobody is asked yet: that is `refresh`. `candidates` are the local
    /// servers to look for ([`local::candidates`]), or none.
    pub fn new(endpoints: Vec<Endpoint>, default: Option<Lock>, candidates: Vec<Endpoint>, demo: Demo) -> Self {
        let client = HttpClient::default();
        let mut entries: Vec<Entry> =
            endpoints.iter().map(|endpoint| configured(endpoint, &client, Origin::Configured)).collect();
        entries.push(Entry {
            models: models::unlisted(&demo, demo::MODELS.iter().map(|model| model.name)),
            provider: Arc::new(demo),
            default_model: demo::MODELS.first().map(|model| model.name.to_owned()),
            is_listed: true,
            origin: Origin::Demo,
        });
        let is_taken = |candidate: &Endpoint| {
            endpoints.iter().any(|known| known.id == candidate.id || local::is_same_server(known, candidate))
        };
        let candidates = candidates.into_iter().filter(|candidate| !is_taken(candidate)).collect();
        let prices = Arc::default();
        let secrets = Secrets::of_replies(endpoints.iter().filter_map(|endpoint| endpoint.api_key.clone()));
        Self { entries: RwLock::new(Arc::new(entries)), default, candidates, client, prices, secrets }
    }

    /// The same with what the configuration says of prices.
    pub fn with_prices(self, configured: Vec<Price>) -> Self {
        Self { prices: Arc::new(Prices::new(configured)), ..self }
    }

    /// What answers cost.
    pub fn prices(&self) -> &Arc<Prices> {
        &self.prices
    }

    /// Providers that are there already, each with its models; the first model of the first is the default. For tests
    /// of what uses providers.
    pub fn of_providers(providers: Vec<(Arc<dyn Provider>, Vec<String>)>) -> Self {
        let entry = |(provider, models): (Arc<dyn Provider>, Vec<String>)| Entry {
            default_model: models.first().cloned(),
            models: models::unlisted(provider.as_ref(), models.iter().map(String::as_str)),
            provider,
            is_listed: true,
            origin: Origin::Configured,
        };
        Self {
            entries: RwLock::new(Arc::new(providers.into_iter().map(entry).collect())),
            default: None,
            candidates: Vec::new(),
            client: HttpClient::default(),
            prices: Arc::default(),
            secrets: Secrets::default(),
        }
    }

    /// Every model that can be chosen, provider by provider: configured ones first, the demo last.
    pub fn models(&self) -> Vec<Model> {
        let default = self.default_lock();
        let mut models = Vec::new();
        for entry in self.entries().iter() {
            for Listed { id, name, capabilities } in &entry.models {
                let lock = Lock::new(entry.provider.id(), id.as_str());
                models.push(Model {
                    provider_name: entry.provider.name().to_owned(),
                    name: name.clone().unwrap_or_else(|| models::display_name(id)),
                    description: (entry.origin == Origin::Demo).then(|| demo::description(id)).flatten(),
                    reasoning: capabilities.reasoning,
                    thinking_levels: capabilities.thinking_levels.clone(),
                    context_tokens: capabilities.context_tokens,
                    output_tokens: capabilities.max_tokens.most.map(u64::from),
                    is_demo: entry.origin == Origin::Demo,
                    is_default: lock == default,
                    lock,
                });
            }
        }
        models
    }

    /// The provider with this id.
    pub fn find(&self, provider: &str) -> Option<Arc<dyn Provider>> {
        self.entries().iter().find(|entry| entry.provider.id() == provider).map(|entry| Arc::clone(&entry.provider))
    }

    /// What a model takes: as its provider's list says, else as its name tells. Of an unknown provider, the usual.
    pub fn capabilities(&self, lock: &Lock) -> Capabilities {
        let entries = self.entries();
        let Some(entry) = entries.iter().find(|entry| entry.provider.id() == lock.provider) else {
            return Capabilities::default();
        };
        let listed = entry.models.iter().find(|listed| listed.id == lock.model);
        listed.map_or_else(|| entry.provider.capabilities(&lock.model), |listed| listed.capabilities.clone())
    }

    /// The model a provider answers with when only the provider is named.
    pub fn default_model(&self, provider: &str) -> Option<String> {
        self.entries().iter().find(|entry| entry.provider.id() == provider)?.default_model.clone()
    }

    /// What a new chat gets when nothing is chosen: the configured default, else the first configured provider's, else
    /// a local server that was found, else the demo.
    pub fn default_lock(&self) -> Lock {
        let of_entry = |entry: &Entry| Some(Lock::new(entry.provider.id(), entry.default_model.clone()?));
        let first = || self.entries().iter().find_map(of_entry);
        self.default.clone().or_else(first).unwrap_or_else(|| Lock::new(demo::ID, demo::MODELS[0].name))
    }

    /// The local servers that answered, as `refresh` last saw them.
    pub fn found_locally(&self) -> Vec<LocalServer> {
        let is_found = |entry: &&Entry| entry.origin == Origin::FoundLocally;
        let server = |entry: &Entry| LocalServer {
            id: entry.provider.id().to_owned(),
            name: entry.provider.name().to_owned(),
            address: entry.provider.base_url().unwrap_or_default().to_owned(),
            models: entry.models.iter().map(|listed| listed.id.clone()).collect(),
        };
        self.entries().iter().filter(is_found).map(server).collect()
    }

    /// Asks every provider for its models and looks for local servers, all at once and each for at most
    /// `limits::MODEL_LIST`. Who does not answer keeps what was known of it.
    pub async fn refresh(&self) {
        let before = self.entries();
        let known = before.iter().filter(|entry| entry.origin != Origin::FoundLocally).map(|entry| async {
            let mut entry = entry.clone();
            if let Some(asking) = entry.provider.list_models().filter(|_| !entry.is_listed)
                && let Ok(Ok(listed)) = tokio::time::timeout(limits::MODEL_LIST, asking).await
            {
                let listed = models::that_chat(listed);
                if entry.default_model.is_none() {
                    entry.default_model = models::default_of(entry.provider.preferred_model(), &listed);
                }
                entry.models = models::in_menu_order(listed, entry.default_model.as_deref(), entry.provider.as_ref());
            }
            entry
        });
        let found = self.candidates.iter().map(|candidate| async {
            let models = local::look(candidate, &self.client).await?;
            let mut entry = configured(candidate, &self.client, Origin::FoundLocally);
            entry.default_model = models.first().map(|listed| listed.id.clone());
            entry.models = models;
            Some(entry)
        });
        let (mut entries, found) = futures::join!(join_all(known), join_all(found));
        entries.extend(found.into_iter().flatten());
        entries.sort_by_key(|entry| entry.origin);
        let entries = self.with_contexts(entries).await;
        *self.entries.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(entries);
    }

    /// Looks up in the list of prices how much context a model takes whose provider does not say it.
    async fn with_contexts(&self, entries: Vec<Entry>) -> Vec<Entry> {
        let (prices, mut looked_up) = (Arc::clone(&self.prices), entries.clone());
        let looking = tokio::task::spawn_blocking(move || {
            for entry in &mut looked_up {
                let Some(base_url) = entry.provider.base_url() else { continue };
                for listed in entry.models.iter_mut().filter(|listed| listed.capabilities.context_tokens.is_none()) {
                    listed.capabilities.context_tokens = prices.context_tokens(base_url, &listed.id);
                }
            }
            looked_up
        });
        looking.await.unwrap_or_else(|error| {
            tracing::error!(%error, "the lengths of contexts could not be looked up");
            entries
        })
    }

    /// What a provider sent, as anybody may see it: some repeat the key that they refuse, also in the middle of a
    /// stream. Everything but the keys stays exact.
    pub fn without_keys(&self, bytes: Bytes) -> Bytes {
        self.secrets.redact_bytes(bytes)
    }

    fn entries(&self) -> Arc<Vec<Entry>> {
        Arc::clone(&self.entries.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn configured(endpoint: &Endpoint, client: &HttpClient, origin: Origin) -> Entry {
    let provider = connect(endpoint, client.clone());
    let default_model = endpoint
        .default_model
        .clone()
        .or_else(|| endpoint.models.first().cloned())
        .or_else(|| provider.preferred_model().map(str::to_owned));
    Entry {
        models: models::in_menu_order(
            models::unlisted(provider.as_ref(), endpoint.models.iter().map(String::as_str)),
            default_model.as_deref(),
            provider.as_ref(),
        ),
        default_model,
        is_listed: !endpoint.models.is_empty(),
        provider,
        origin,
    }
}

#[cfg(test)]
mod tests;
