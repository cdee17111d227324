//! Lookups for a user: their own provider comes before the shared one with the same id.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::entry::{KnownEndpoint, ProviderOrigin, RegisteredProvider, SharedModels};
use super::scope::VisibleProviders;
use super::{LocalServer, ProviderRegistry, ProviderScope, ScopedProvider, models};
use crate::demo;
use crate::provider::{ListedModel, Provider};
use turnleaf_domain::branches::branch::ModelLock;
use turnleaf_domain::providers::provider::Model;
use turnleaf_domain::{Capabilities, UserId};
use turnleaf_platform::endpoint::{ProviderEndpoint, RetryPolicy};

impl ProviderRegistry {
    /// Returns the provider with this id.
    pub fn find(&self, user: UserId, provider: &str) -> Option<Arc<dyn Provider>> {
        self.find_scoped(user, provider).map(|found| found.provider)
    }

    /// Returns the provider with this id, and its scope.
    pub fn find_scoped(&self, user: UserId, provider: &str) -> Option<ScopedProvider> {
        let seen = self.visible_to(user);
        let (scope, entry) = seen.find(provider)?;
        Some(ScopedProvider { scope, provider: Arc::clone(&entry.provider) })
    }

    /// Returns the endpoint of the configuration with this id.
    pub fn configured_endpoint(&self, id: &str) -> Option<Arc<ProviderEndpoint>> {
        let shared = self.scopes().providers_of(ProviderScope::Shared);
        let is_it =
            |entry: &&RegisteredProvider| entry.origin == ProviderOrigin::Configured && entry.provider.id() == id;
        shared.entries.iter().find(is_it)?.endpoint.clone()
    }

    /// Returns the endpoints of the configuration.
    pub fn configured_endpoints(&self) -> Vec<Arc<ProviderEndpoint>> {
        let shared = self.scopes().providers_of(ProviderScope::Shared);
        let configured = shared.entries.iter().filter(|entry| entry.origin == ProviderOrigin::Configured);
        configured.filter_map(|entry| entry.endpoint.clone()).collect()
    }

    /// Returns true if there is any endpoint, whosever it is.
    pub fn has_endpoints(&self) -> bool {
        self.scopes().has_endpoints()
    }

    /// Returns every endpoint of which the user is granted something, with its state. Stand-ins have no endpoint.
    pub fn known_endpoints(&self, user: UserId) -> Vec<KnownEndpoint> {
        let seen = self.visible_to(user);
        let known = |entry: &RegisteredProvider| {
            let endpoint = entry.endpoint.clone().filter(|_| seen.has_grant(entry))?;
            let models = granted_models(&seen, entry);
            let default_model = entry.default_model.clone().filter(|model| seen.is_granted(entry, model));
            let (check, is_in_use) = (entry.check.clone(), seen.is_in_use(entry));
            Some(KnownEndpoint { endpoint, origin: entry.origin, models, default_model, check, is_in_use })
        };
        seen.entries().into_iter().filter_map(known).collect()
    }

    /// Returns the models that the user can choose, by provider: configured ones first, the demo last.
    pub fn models(&self, user: UserId) -> Vec<Model> {
        self.all_models(user, |entry, model| !entry.is_hidden(model))
    }

    /// Returns the models, including those that are hidden from the menus.
    pub fn models_with_hidden(&self, user: UserId) -> Vec<Model> {
        self.all_models(user, |_, _| true)
    }

    /// Returns a hash that changes whenever the selectable models or the default change. It is stable across restarts.
    pub fn models_fingerprint(&self, user: UserId) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.known_endpoints(user).len().hash(&mut hasher);
        for models in [self.models(user), self.models_with_hidden(user)] {
            // The hash covers exactly what pages receive.
            serde_json::to_string(&models).unwrap_or_default().hash(&mut hasher);
        }
        hasher.finish()
    }

    fn all_models(&self, user: UserId, is_wanted: impl Fn(&RegisteredProvider, &str) -> bool) -> Vec<Model> {
        let seen = self.visible_to(user);
        let default = seen.default_lock();
        let mut models = Vec::new();
        for entry in seen.entries().into_iter().filter(|entry| seen.is_in_use(entry)) {
            let is_shown =
                |model: &&ListedModel| is_wanted(entry, &model.id) && seen.is_listed_granted(entry, &model.id);
            for ListedModel { id, name, capabilities, prices } in entry.models.iter().filter(is_shown) {
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

    /// Returns the retry policy of a provider, or the default.
    pub fn retry_policy(&self, user: UserId, provider: &str) -> RetryPolicy {
        let seen = self.visible_to(user);
        let endpoint = seen.find_any(provider).and_then(|(_, entry)| entry.endpoint.as_ref());
        endpoint.map(|endpoint| endpoint.retry_policy).unwrap_or_default()
    }

    /// Returns true if a model can be used as far as is known: it is granted, its provider exists, has the key that it
    /// needs, and has not returned a model list without this model. A provider without a list, or that was not reached,
    /// does not exclude any model.
    pub fn offers(&self, user: UserId, lock: &ModelLock) -> bool {
        let seen = self.visible_to(user);
        let found = seen.find(&lock.provider);
        found.is_some_and(|(_, entry)| entry.offers(&lock.model) && seen.is_granted(entry, &lock.model))
    }

    /// Returns true unless the provider exists and the user is not granted this model of it, or any if none is named.
    /// Nothing is granted to a disabled account.
    pub fn is_granted(&self, user: UserId, provider: &str, model: Option<&str>) -> bool {
        if self.rights().is_disabled(user) {
            return false;
        }
        let seen = self.visible_to(user);
        let Some((_, entry)) = seen.find(provider) else { return true };
        model.map_or_else(|| seen.has_grant(entry), |model| seen.is_granted(entry, model))
    }

    /// Returns true if the user may call a model of a provider of this scope. A disabled account calls none.
    pub fn may_call(&self, user: UserId, scope: ProviderScope, lock: &ModelLock) -> bool {
        let rights = self.rights();
        if rights.is_disabled(user) {
            return false;
        }
        let shared = self.scopes().providers_of(ProviderScope::Shared);
        let is_it = |entry: &&RegisteredProvider| entry.provider.id() == lock.provider;
        let is_listed = || shared.entries.iter().find(is_it).is_some_and(|entry| entry.lists(&lock.model));
        match scope {
            ProviderScope::User(owner) => owner == user,
            ProviderScope::Shared => {
                rights.may_use_model(user, (lock.provider.as_str(), lock.model.as_str()), is_listed())
            }
        }
    }

    /// Returns the models of the shared providers as they are granted, whoever may use them.
    pub fn shared_models(&self) -> Vec<SharedModels> {
        let shared = self.scopes().providers_of(ProviderScope::Shared);
        let models = |entry: &RegisteredProvider| SharedModels {
            provider: entry.provider.id().to_owned(),
            provider_name: entry.provider.name().to_owned(),
            models: entry.models.iter().map(|listed| listed.id.clone()).collect(),
        };
        shared.entries.iter().map(models).collect()
    }

    /// Returns the capabilities of a model: from the provider's list, otherwise from its name; the default ones if
    /// the provider is unknown.
    pub fn capabilities(&self, user: UserId, lock: &ModelLock) -> Capabilities {
        let seen = self.visible_to(user);
        let Some((_, entry)) = seen.find(&lock.provider) else {
            return Capabilities::default();
        };
        let listed = entry.models.iter().find(|listed| listed.id == lock.model);
        listed.map_or_else(|| entry.provider.capabilities(&lock.model), |listed| listed.capabilities.clone())
    }

    /// Returns the model to use if only the provider is named: its default, or another one if that is not granted.
    pub fn default_model(&self, user: UserId, provider: &str) -> Option<String> {
        let seen = self.visible_to(user);
        let (_, entry) = seen.find(provider)?;
        let default = entry.default_model.as_deref()?;
        if seen.is_granted(entry, default) {
            return Some(default.to_owned());
        }
        seen.first_choice(entry, |model| !entry.is_hidden(model)).cloned()
    }

    /// Returns the default of new chats: the chosen default if it may be used, otherwise that of the first
    /// configured provider, otherwise that of a detected local server that the user accepted, otherwise the demo.
    pub fn default_lock(&self, user: UserId) -> ModelLock {
        self.visible_to(user).default_lock()
    }

    /// Returns the chosen default if it may be used.
    pub fn chosen_default(&self, user: UserId) -> Option<ModelLock> {
        self.visible_to(user).chosen_default().cloned()
    }

    /// Returns the local servers that the last `refresh` detected, without those that the user has in the settings.
    pub fn local_servers(&self, user: UserId) -> Vec<LocalServer> {
        let seen = self.visible_to(user);
        let server = |entry: &RegisteredProvider| LocalServer {
            id: entry.provider.id().to_owned(),
            name: entry.provider.name().to_owned(),
            address: entry.provider.base_url().unwrap_or_default().to_owned(),
            models: granted_models(&seen, entry),
            is_in_use: seen.is_in_use(entry),
        };
        let is_found =
            |entry: &&RegisteredProvider| entry.origin == ProviderOrigin::FoundLocally && seen.has_grant(entry);
        seen.entries().into_iter().filter(is_found).map(server).collect()
    }
}

/// Returns the models of a provider that the user is granted.
fn granted_models(seen: &VisibleProviders, entry: &RegisteredProvider) -> Vec<String> {
    let listed = entry.models.iter().map(|listed| &listed.id);
    listed.filter(|model| seen.is_listed_granted(entry, model)).cloned().collect()
}
