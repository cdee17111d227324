//! [`Provider`] for a configured endpoint that speaks OpenAI Responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::http_client::{HttpClient, ProviderTarget};
use crate::inline_reasoning::InlineReasoningDecoder;
use crate::model_list;
use crate::openai_chat::Dialect;
use crate::openai_responses::{ResponsesDecoder, models, repair, request};
use crate::provider::{ChatRequest, Decoder, ListedModel, Provider, ProviderError, ProviderReply};
use crate::streaming_redaction::RedactingDecoder;
use turnleaf_domain::Capabilities;
use turnleaf_domain::providers::capabilities::{ParamSupport, ValueRange};
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_platform::base_url;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// A configured endpoint with its HTTP client.
#[derive(Debug, Clone)]
pub struct ResponsesEndpoint {
    id: String,
    target: ProviderTarget,
    client: HttpClient,
    /// Set after the endpoint refused to summarize reasoning, which OpenAI does for organizations that it has not
    /// verified. Later requests do not ask for summaries, so that a retry succeeds.
    refuses_summaries: Arc<AtomicBool>,
    /// The provider may keep responses ([`ProviderEndpoint::keeps_responses`]).
    keeps_responses: bool,
}

impl ResponsesEndpoint {
    pub fn new(endpoint: &ProviderEndpoint, client: HttpClient) -> Self {
        Self {
            id: endpoint.id.clone(),
            target: ProviderTarget::new(endpoint),
            client,
            refuses_summaries: Arc::new(AtomicBool::new(false)),
            keeps_responses: endpoint.keeps_responses,
        }
    }
}

impl Provider for ResponsesEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        ProviderApi::OpenaiResponses.as_str()
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.target.base_url)
    }

    fn preferred_model(&self) -> Option<&'static str> {
        self.target.base_url.starts_with("https://api.openai.com/").then_some("gpt-5-mini")
    }

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let document = client.get_json(&target, "/models").await?;
            Ok(model_list::read(&document, capabilities))
        };
        Some(asking.boxed())
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        capabilities(model)
    }

    fn keeps_responses(&self) -> bool {
        self.keeps_responses
    }

    /// Only OpenAI itself: compatible servers have no provider tools, or others.
    fn provider_tools(&self, model: &str) -> Vec<OfferedTool> {
        let is_openai = base_url::host_and_port(&self.target.base_url) == "api.openai.com";
        let all = if is_openai { models::provider_tools(model) } else { &[] };
        all.iter().map(|tool| OfferedTool::provider_tool(tool)).collect()
    }

    /// Only OpenAI's models: compatible servers accept only text.
    fn accepts_tool_result_images(&self, model: &str) -> bool {
        models::supports_images(model) == Some(true)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request, !self.refuses_summaries.load(Ordering::Relaxed), self.keeps_responses)
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        repair::repair(refused, request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let refuses_summaries = self.refuses_summaries.clone();
        let sending = async move {
            let reply = client.post(&target, "/responses", body).await;
            if reply.as_ref().is_err_and(is_about_summaries) {
                refuses_summaries.store(true, Ordering::Relaxed);
            }
            reply
        };
        sending.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let secrets = self.target.secrets.clone();
        let decoder: Box<dyn Decoder> = Box::new(match self.keeps_responses {
            true => ResponsesDecoder::reporting_response_id(self.name(), secrets),
            false => ResponsesDecoder::for_provider(self.name(), secrets),
        });
        let is_official = Dialect::for_endpoint("", &self.target.base_url).name == "openai";
        let decoder = if is_official { decoder } else { InlineReasoningDecoder::wrap(decoder) };
        RedactingDecoder::wrap(decoder, self.target.reply_secrets.clone())
    }
}

/// The API has no parameters for stop sequences and `top_k`, and refuses a limit below sixteen tokens.
fn capabilities(model: &str) -> Capabilities {
    let known = models::capabilities(model);
    Capabilities {
        stop_sequences: ParamSupport::never(),
        top_k: ParamSupport::never(),
        max_tokens: ValueRange { least: 16, ..known.max_tokens },
        ..known
    }
}

fn is_about_summaries(refused: &ProviderError) -> bool {
    let document: Value = serde_json::from_slice(&refused.body).unwrap_or_default();
    document.pointer("/error/param").and_then(Value::as_str) == Some("reasoning.summary")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_sequences_and_top_k_are_unsupported_and_max_tokens_has_minimum() {
        for model in ["gpt-4o", "gpt-5.2", "unheard-of"] {
            let Capabilities { stop_sequences, top_k, max_tokens, .. } = capabilities(model);
            assert_eq!(
                (stop_sequences, top_k, max_tokens.least),
                (ParamSupport::never(), ParamSupport::never(), 16),
                "{model}"
            );
        }
    }
}
