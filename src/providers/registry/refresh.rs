//! Asking providers for their models and looking for servers on this machine, beside whoever changes the registry
//! meanwhile.

use std::collections::HashMap;
use std::sync::PoisonError;

use futures::future::join_all;

use super::entry::{self, RegisteredProvider};
use super::{ProviderCheck, ProviderOrigin, ProviderRegistry, check, is_same_server, local_servers};
use turnleaf_platform::endpoint::ProviderEndpoint;

impl ProviderRegistry {
    /// Asks every provider for its models and looks for local servers, all at once and each for at most
    /// `limits::MODEL_LIST`. Who does not answer keeps what was known of it.
    pub async fn refresh(&self) {
        let before = self.entries();
        let known = before.iter().filter(|entry| entry.origin != ProviderOrigin::FoundLocally && !entry.is_listed);
        let asked = known.map(|entry| async move { (entry, check::check_provider(&*entry.provider).await) });
        let found = self.unconfigured_candidates().into_iter().map(|candidate| async {
            let models = local_servers::probe(&candidate, &self.client).await?;
            let mut entry = RegisteredProvider::from_endpoint(candidate, &self.client, ProviderOrigin::FoundLocally);
            entry.check = Some(ProviderCheck::working(models.len()));
            entry.default_model = models.first().map(|listed| listed.id.clone());
            entry.models = models;
            Some(entry)
        });
        let (asked, found) = futures::join!(join_all(asked), join_all(found));
        self.update(|entries| {
            for (entry, answer) in asked {
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
        self.look_up_context_sizes().await;
    }

    /// The local servers that are not in the settings, or the configuration, under any name already.
    pub(super) fn unconfigured_candidates(&self) -> Vec<ProviderEndpoint> {
        let (entries, resting) = (self.entries(), self.suspended().clone());
        let is_new = |candidate: &&ProviderEndpoint| {
            !entries.iter().any(|entry| entry.origin != ProviderOrigin::FoundLocally && entry.is_server_of(candidate))
                && !is_suspended(&resting, candidate)
        };
        self.candidates.read().unwrap_or_else(PoisonError::into_inner).iter().filter(is_new).cloned().collect()
    }

    /// Asks one provider now, as its owner would try it: also whether another address would be right. `None` when there
    /// is no such endpoint.
    pub async fn check(&self, id: &str) -> Option<ProviderCheck> {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.provider.id() == id)?;
        let endpoint = entry.endpoint.as_ref()?;
        let answer = check::diagnose_endpoint(&entry.provider, endpoint, &self.client).await;
        let check = answer.check.clone();
        self.update(|entries| entry::record_check(entries, &entry.provider, answer));
        self.look_up_context_sizes().await;
        Some(check)
    }
}

/// Whether an endpoint is one that rests, by its id or at its address.
fn is_suspended(resting: &HashMap<String, String>, endpoint: &ProviderEndpoint) -> bool {
    resting.iter().any(|(id, url)| *id == endpoint.id || local_servers::is_same_server(url, &endpoint.base_url))
}
