//! The configured identity providers, and the client that asks them.

use crate::Service;
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;
use turnleaf_tools::oauth::SignInClient;

/// An identity provider as people choose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityProviderChoice {
    pub id: String,
    pub name: String,
}

impl From<&IdentityProviderConfig> for IdentityProviderChoice {
    fn from(provider: &IdentityProviderConfig) -> Self {
        Self { id: provider.id.clone(), name: provider.name.clone() }
    }
}

impl Service {
    /// Sets the identity providers, at the start and after a reload of the configuration.
    pub fn set_identity_providers(&self, providers: Vec<IdentityProviderConfig>) {
        self.accounts().set_identity_providers(providers);
    }

    /// Returns the identity providers with whose accounts people can sign in.
    pub fn identity_providers(&self) -> Vec<IdentityProviderChoice> {
        self.accounts().identity_providers().iter().map(IdentityProviderChoice::from).collect()
    }

    pub(super) fn find_identity_provider(&self, id: &str) -> Option<IdentityProviderConfig> {
        self.accounts().identity_providers().iter().find(|provider| provider.id == id).cloned()
    }

    /// Returns the client. The operator has chosen the providers, so they may be in the local network.
    pub(super) fn identity_client(&self) -> SignInClient {
        SignInClient { http: self.tools().search_client().clone(), local_network: true }
    }
}
