//! A provider that is not configured (any more): it has a name and says no to everything. Stands where a reply waits for
//! a person and needs its provider only afterwards.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::openai_chat::{ChatDecoder, Dialect};
use crate::provider::{ChatRequest, Decoder, Provider, ProviderError, ProviderReply};
use crate::redaction::SecretSet;
use turnleaf_domain::{Capabilities, Failure, FailureKind};

/// The stand-in.
#[derive(Debug, Clone)]
pub struct MissingProvider {
    id: String,
}

impl MissingProvider {
    /// What it is said to speak, so that it can be told from those that are there.
    pub const API: &'static str = "absent";

    /// For the provider of this id.
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
