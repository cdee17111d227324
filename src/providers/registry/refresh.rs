//! Refresh of the registry: requests model lists and detects local servers. Other tasks may change the registry
//! meanwhile, so results are merged into the current entries.

use std::sync::{Arc, PoisonError};

use futures::future::join_all;

use super::entry::{self, RegisteredProvider};
use super::{ProviderCheck, ProviderOrigin, ProviderRegistry, ProviderScope, ScopedProvider, check, local_servers};
use turnleaf_domain::UserId;
use turnleaf_platform::endpoint::ProviderEndpoint;

impl ProviderRegistry {
    /// Requests the models of every provider and probes the local servers, concurrently and each for at most
    /// `limits::MODEL_LIST`. A provider that does not answer keeps its models.
    pub async fn refresh(&self) {
        let checks = self.unlisted_providers().into_iter().map(|ScopedProvider { scope, provider }| async move {
            let answer = check::check_provider(&*provider).await;
            (scope, provider, answer)
        });
        let found = self.unconfigured_candidates().into_iter().map(|candidate| async {
            let models = local_servers::probe(&candidate, &self.client).await?;
            let mut entry = RegisteredProvider::from_endpoint(candidate, &self.client, ProviderOrigin::FoundLocally);
            entry.check = Some(ProviderCheck::working(models.len()));
            entry.default_model = models.first().map(|listed| listed.id.clone());
            entry.models = models;
            Some(entry)
        });
        let (checks, found) = futures::join!(join_all(checks), join_all(found));
        self.update(|scopes| {
            for (scope, provider, answer) in checks {
                entry::record_check(&mut scopes.providers_of_mut(scope).entries, &provider, answer);
            }
            let shared = scopes.providers_of_mut(ProviderScope::Shared);
            shared.entries.retain(|entry| entry.origin != ProviderOrigin::FoundLocally);
            shared.entries.extend(found.into_iter().flatten());
            scopes.drop_unwanted_servers();
        });
        self.look_up_prices(self.scopes().keys()).await;
    }

    /// Returns the providers of all scopes whose models have to be requested.
    fn unlisted_providers(&self) -> Vec<ScopedProvider> {
        let scopes = self.scopes();
        let mut unlisted = Vec::new();
        for scope in scopes.keys() {
            let of = scopes.providers_of(scope);
            let is_unlisted =
                |entry: &&RegisteredProvider| entry.origin != ProviderOrigin::FoundLocally && !entry.is_listed;
            let scoped = |entry: &RegisteredProvider| ScopedProvider { scope, provider: Arc::clone(&entry.provider) };
            unlisted.extend(of.entries.iter().filter(is_unlisted).map(scoped));
        }
        unlisted
    }

    /// Returns the local servers that are neither in the settings nor in the configuration.
    pub(super) fn unconfigured_candidates(&self) -> Vec<ProviderEndpoint> {
        let scopes = self.scopes();
        let is_wanted = |candidate: &&ProviderEndpoint| scopes.is_wanted(candidate);
        self.candidates.read().unwrap_or_else(PoisonError::into_inner).iter().filter(is_wanted).cloned().collect()
    }

    /// Checks one provider of this user now, including whether another base URL would work. `None` if there is no such
    /// endpoint.
    pub async fn check(&self, user: UserId, id: &str) -> Option<ProviderCheck> {
        let seen = self.visible_to(user);
        let (scope, entry) = seen.find_any(id)?;
        let endpoint = entry.endpoint.as_ref()?;
        let answer = check::diagnose_endpoint(&entry.provider, endpoint, &self.client).await;
        let check = answer.check.clone();
        self.update(|scopes| entry::record_check(&mut scopes.providers_of_mut(scope).entries, &entry.provider, answer));
        self.look_up_prices(vec![scope]).await;
        Some(check)
    }
}
