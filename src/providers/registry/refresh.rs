//! Refresh of the registry: requests model lists and detects local servers. Other tasks may change the registry
//! meanwhile, so results are merged into the current entries.

use std::collections::HashMap;
use std::sync::PoisonError;

use futures::future::join_all;

use super::entry::{self, RegisteredProvider};
use super::{ProviderCheck, ProviderOrigin, ProviderRegistry, check, is_same_server, local_servers};
use turnleaf_platform::endpoint::ProviderEndpoint;

impl ProviderRegistry {
    /// Requests the models of every provider and probes the local servers, concurrently and each for at most
    /// `limits::MODEL_LIST`. A provider that does not answer keeps its models.
    pub async fn refresh(&self) {
        let before = self.entries();
        let known = before.iter().filter(|entry| entry.origin != ProviderOrigin::FoundLocally && !entry.is_listed);
        let checks = known.map(|entry| async move { (entry, check::check_provider(&*entry.provider).await) });
        let found = self.unconfigured_candidates().into_iter().map(|candidate| async {
            let models = local_servers::probe(&candidate, &self.client).await?;
            let mut entry = RegisteredProvider::from_endpoint(candidate, &self.client, ProviderOrigin::FoundLocally);
            entry.check = Some(ProviderCheck::working(models.len()));
            entry.default_model = models.first().map(|listed| listed.id.clone());
            entry.models = models;
            Some(entry)
        });
        let (checks, found) = futures::join!(join_all(checks), join_all(found));
        self.update(|entries| {
            for (entry, answer) in checks {
                entry::record_check(entries, &entry.provider, answer);
            }
            entries.retain(|entry| entry.origin != ProviderOrigin::FoundLocally);
            let resting = self.suspended().clone();
            let is_new = |found: &RegisteredProvider| {
                !entries.iter().any(|entry| is_same_server(&*entry.provider, &*found.provider))
                    && !found.endpoint.as_ref().is_some_and(|found| is_suspended(&resting, found))
            };
            let found: Vec<RegisteredProvider> = found.into_iter().flatten().filter(is_new).collect();
            entries.extend(found);
        });
        self.look_up_prices().await;
    }

    /// Returns the local servers that are neither in the settings nor in the configuration.
    pub(super) fn unconfigured_candidates(&self) -> Vec<ProviderEndpoint> {
        let (entries, resting) = (self.entries(), self.suspended().clone());
        let is_new = |candidate: &&ProviderEndpoint| {
            !entries.iter().any(|entry| entry.origin != ProviderOrigin::FoundLocally && entry.is_server_of(candidate))
                && !is_suspended(&resting, candidate)
        };
        self.candidates.read().unwrap_or_else(PoisonError::into_inner).iter().filter(is_new).cloned().collect()
    }

    /// Checks one provider now, including whether another base URL would work. `None` if there is no such endpoint.
    pub async fn check(&self, id: &str) -> Option<ProviderCheck> {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.provider.id() == id)?;
        let endpoint = entry.endpoint.as_ref()?;
        let answer = check::diagnose_endpoint(&entry.provider, endpoint, &self.client).await;
        let check = answer.check.clone();
        self.update(|entries| entry::record_check(entries, &entry.provider, answer));
        self.look_up_prices().await;
        Some(check)
    }
}

/// Returns true if an endpoint is suspended, by its id or base URL.
fn is_suspended(resting: &HashMap<String, String>, endpoint: &ProviderEndpoint) -> bool {
    resting.iter().any(|(id, url)| *id == endpoint.id || local_servers::is_same_server(url, &endpoint.base_url))
}
