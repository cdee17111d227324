//! Looks up models in the price list: their prices, and the context sizes that their provider does not report.

use std::sync::Arc;

use super::entry::RegisteredProvider;
use super::{ProviderRegistry, ProviderScope};
use turnleaf_platform::tasks;

impl ProviderRegistry {
    /// Looks up prices and missing context sizes of the providers of these scopes on a blocking thread.
    pub(super) async fn look_up_prices(&self, of: Vec<ProviderScope>) {
        let (prices, before) = (self.prices(), self.scopes());
        let looking = tasks::spawn_blocking(move || {
            let mut looked_up: Vec<(ProviderScope, Vec<RegisteredProvider>)> =
                of.into_iter().map(|scope| (scope, before.providers_of(scope).entries.clone())).collect();
            for entry in looked_up.iter_mut().flat_map(|(_, entries)| entries.iter_mut()) {
                let Some(base_url) = entry.provider.base_url() else { continue };
                for listed in &mut entry.models {
                    listed.prices = prices.token_prices(entry.provider.id(), base_url, &listed.id);
                    let known = &mut listed.capabilities.context_tokens;
                    *known = known.or_else(|| prices.context_tokens(base_url, &listed.id));
                }
            }
            looked_up
        });
        match looking.await {
            Ok(looked_up) => self.update(|scopes| {
                for (scope, looked_up) in looked_up {
                    for entry in &mut scopes.providers_of_mut(scope).entries {
                        let found = looked_up.iter().find(|found| Arc::ptr_eq(&found.provider, &entry.provider));
                        for listed in &mut entry.models {
                            let same = found.and_then(|found| found.models.iter().find(|same| same.id == listed.id));
                            let known = &mut listed.capabilities.context_tokens;
                            *known = known.or(same.and_then(|same| same.capabilities.context_tokens));
                            listed.prices = same.map_or(listed.prices, |same| same.prices);
                        }
                    }
                }
            }),
            Err(error) => tracing::error!(%error, "prices and context lengths could not be looked up"),
        }
    }
}
