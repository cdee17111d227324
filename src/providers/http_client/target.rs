//! Where a request to a provider goes, and as whom.

use std::sync::Arc;

use secrecy::SecretString;

use crate::redaction::SecretSet;
use turnleaf_platform::endpoint::ProviderEndpoint;

/// Whom to ask, and as whom.
#[derive(Debug, Clone)]
pub struct ProviderTarget {
    /// The provider's name for people, for sentences about failures.
    pub provider: Arc<str>,
    pub base_url: Arc<str>,
    pub api_key: Option<SecretString>,
    /// The header that carries the key.
    pub auth: ApiKeyHeader,
    /// What the API wants beside the key, such as its version; names in lower case.
    pub headers: Vec<(&'static str, String)>,
    /// What the endpoint's owner wants beside it.
    pub extra_headers: Arc<[(String, SecretString)]>,
    /// Whether it may be anywhere but on the open internet.
    pub local_network: bool,
    pub secrets: SecretSet,
    /// Those that are taken out of replies too, before anything reads or stores them.
    pub reply_secrets: SecretSet,
}

/// How a key is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApiKeyHeader {
    Bearer,
    /// The key alone under this name.
    Header(&'static str),
}

impl ProviderTarget {
    /// An endpoint that takes its key as most do.
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
