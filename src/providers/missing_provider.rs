//! Stand-in for a provider that is no longer configured: it refuses every request. It lets a reply that waits for a
//! user be resumed, because its provider is needed only afterwards.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::openai_chat::{ChatDecoder, Dialect};
use crate::provider::{ChatRequest, Decoder, Provider, ProviderError, ProviderReply};
use crate::redaction::SecretSet;
use turnleaf_domain::{Capabilities, Failure, FailureKind};

/// The stand-in, which has only an id.
#[derive(Debug, Clone)]
pub struct MissingProvider {
    id: String,
}

impl MissingProvider {
    /// The API name that distinguishes it from real providers.
    pub const API: &'static str = "absent";

    /// Creates the stand-in for a provider id.
    pub fn new(id: &str) -> Self {
        Self { id: id.to_owned() }
    }
}

impl Provider for MissingProvider {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        Self::API
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities::default()
    }

    fn build(&self, _request: &ChatRequest) -> Bytes {
        Bytes::new()
    }

    fn send(&self, _model: &str, _body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let failure = Failure::new(FailureKind::ProviderUnreachable, &self.id);
        let refused = ProviderError { retries_by_itself: false, ..ProviderError::not_sent(failure) };
        std::future::ready(Err(refused)).boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ChatDecoder::for_provider(Dialect::for_endpoint("generic", ""), &self.id, SecretSet::default()))
    }
}
