//! Context sizes from the price list, for models whose provider does not report them.

use std::sync::Arc;

use super::ProviderRegistry;
use turnleaf_platform::tasks;

impl ProviderRegistry {
    /// Looks up the missing context sizes on a blocking thread.
    pub(super) async fn look_up_context_sizes(&self) {
        let (prices, before) = (self.prices(), self.entries());
        let looking = tasks::spawn_blocking(move || {
            let mut looked_up = Vec::clone(&before);
            for entry in &mut looked_up {
                let Some(base_url) = entry.provider.base_url() else { continue };
                for listed in entry.models.iter_mut().filter(|listed| listed.capabilities.context_tokens.is_none()) {
                    listed.capabilities.context_tokens = prices.context_tokens(base_url, &listed.id);
                }
            }
            looked_up
        });
        match looking.await {
            Ok(looked_up) => self.update(|entries| {
                for entry in entries {
                    let found = looked_up.iter().find(|found| Arc::ptr_eq(&found.provider, &entry.provider));
                    for listed in &mut entry.models {
                        let same = found.and_then(|found| found.models.iter().find(|same| same.id == listed.id));
                        let known = &mut listed.capabilities.context_tokens;
                        *known = known.or(same.and_then(|same| same.capabilities.context_tokens));
                    }
                }
            }),
            Err(error) => tracing::error!(%error, "context lengths could not be fetched"),
        }
    }
}
