//! Destination and credentials of requests to a provider.

use std::sync::Arc;

use secrecy::SecretString;

use crate::redaction::SecretSet;
use turnleaf_platform::endpoint::ProviderEndpoint;

/// An endpoint with its credentials and headers.
#[derive(Debug, Clone)]
pub struct ProviderTarget {
    /// The display name of the provider, for failure messages.
    pub provider: Arc<str>,
    pub base_url: Arc<str>,
    pub api_key: Option<SecretString>,
    /// The header that carries the key.
    pub auth: ApiKeyHeader,
    /// Headers that the API requires besides the key, such as its version; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// Headers that the owner of the endpoint configured.
    pub extra_headers: Arc<[(String, SecretString)]>,
    /// Allows addresses that are not public.
    pub local_network: bool,
    pub secrets: SecretSet,
    /// The secrets that are also removed from replies before anything reads or stores them.
    pub reply_secrets: SecretSet,
}

/// The header format of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyHeader {
    Bearer,
    /// The key alone, in a header of this name.
    Header(&'static str),
}

impl ProviderTarget {
    /// Creates the target of an endpoint with bearer authentication, which most APIs use.
    pub fn new(endpoint: &ProviderEndpoint) -> Self {
        Self {
            provider: endpoint.name.as_str().into(),
            base_url: endpoint.base_url.as_str().into(),
            api_key: endpoint.api_key.clone(),
            auth: ApiKeyHeader::Bearer,
            headers: Vec::new(),
            extra_headers: endpoint.headers.clone().into(),
            local_network: endpoint.local_network,
            secrets: SecretSet::new(endpoint.secrets().cloned()),
            reply_secrets: SecretSet::new(endpoint.credentials()),
        }
    }
}
