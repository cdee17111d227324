//! Asking providers for their models and looking for servers on this machine, beside whoever changes the registry
//! meanwhile.

use std::collections::HashMap;
use std::sync::PoisonError;

use futures::future::join_all;

use super::entry::{self, Entry};
use super::{Check, Origin, Registry, check, is_same_server, local};
use turnleaf_platform::endpoint::Endpoint;

impl Registry {
    /// Asks every provider for its models and looks for local servers, all at once and each for at most
    /// `limits::MODEL_LIST`. Who does not answer keeps what was known of it.
    pub async fn refresh(&self) {
        let before = self.entries();
        let known = before.iter().filter(|entry| entry.origin != Origin::FoundLocally && !entry.is_listed);
        let asked = known.map(|entry| async move { (entry, check::ask(&*entry.provider).await) });
        let found = self.to_look_for().into_iter().map(|candidate| async {
            let models = local::look(&candidate, &self.client).await?;
            let mut entry = Entry::of(candidate, &self.client, Origin::FoundLocally);
            entry.check = Some(Check::working(models.len()));
            entry.default_model = models.first().map(|listed| listed.id.clone());
            entry.models = models;
            Some(entry)
        });
        let (asked, found) = futures::join!(join_all(asked), join_all(found));
        self.update(|entries| {
            for (entry, answer) in asked {
                entry::note(entries, &entry.provider, answer);
            }
            entries.retain(|entry| entry.origin != Origin::FoundLocally);
            let resting = self.resting().clone();
            let is_new = |found: &Entry| {
                !entries.iter().any(|entry| is_same_server(&*entry.provider, &*found.provider))
                    && !found.endpoint.as_ref().is_some_and(|found| rests(&resting, found))
            };
            let found: Vec<Entry> = found.into_iter().flatten().filter(is_new).collect();
            entries.extend(found);
        });
        self.look_up_contexts().await;
    }

    /// The local servers that are not in the settings, or the configuration, under any name already.
    pub(super) fn to_look_for(&self) -> Vec<Endpoint> {
        let (entries, resting) = (self.entries(), self.resting().clone());
        let is_new = |candidate: &&Endpoint| {
            !entries.iter().any(|entry| entry.origin != Origin::FoundLocally && entry.is(candidate))
                && !rests(&resting, candidate)
        };
        self.candidates.read().unwrap_or_else(PoisonError::into_inner).iter().filter(is_new).cloned().collect()
    }

    /// Asks one provider now, as its owner would try it: also whether another address would be right. `None` when there
    /// is no such endpoint.
    pub async fn check(&self, id: &str) -> Option<Check> {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.provider.id() == id)?;
        let endpoint = entry.endpoint.as_ref()?;
        let answer = check::try_out(&entry.provider, endpoint, &self.client).await;
        let check = answer.check.clone();
        self.update(|entries| entry::note(entries, &entry.provider, answer));
        self.look_up_contexts().await;
        Some(check)
    }
}

/// Whether an endpoint is one that rests, by its id or at its address.
fn rests(resting: &HashMap<String, String>, endpoint: &Endpoint) -> bool {
    resting.iter().any(|(id, url)| *id == endpoint.id || local::is_same_server(url, &endpoint.base_url))
}
