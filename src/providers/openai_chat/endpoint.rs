//! [`Provider`] for a configured endpoint that speaks chat completions.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::http_client::{HttpClient, ProviderTarget};
use crate::model_list;
use crate::openai_chat::{ChatDecoder, Dialect, models, repair, request};
use crate::provider::{ChatRequest, Decoder, ListedModel, Provider, ProviderError, ProviderReply};
use crate::streaming_redaction::RedactingDecoder;
use turnleaf_domain::Capabilities;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// A configured endpoint with its HTTP client.
#[derive(Debug, Clone)]
pub struct ChatEndpoint {
    id: String,
    dialect: &'static Dialect,
    target: ProviderTarget,
    client: HttpClient,
}

impl ChatEndpoint {
    pub fn new(endpoint: &ProviderEndpoint, client: HttpClient) -> Self {
        Self {
            id: endpoint.id.clone(),
            dialect: Dialect::for_endpoint(&endpoint.dialect, &endpoint.base_url),
            target: ProviderTarget::new(endpoint),
            client,
        }
    }
}

impl Provider for ChatEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        ProviderApi::OpenaiChat.as_str()
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.target.base_url)
    }

    fn preferred_model(&self) -> Option<&'static str> {
        self.dialect.default_model
    }

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        let (client, target, dialect) = (self.client.clone(), self.target.clone(), self.dialect);
        let asking = async move {
            let document = client.get_json(&target, "/models").await?;
            Ok(model_list::read(&document, |name| models::capabilities(dialect, name)))
        };
        Some(asking.boxed())
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        models::capabilities(self.dialect, model)
    }

    fn provider_tools(&self, _model: &str) -> Vec<OfferedTool> {
        models::provider_tools(self.dialect).iter().map(|tool| OfferedTool::provider_tool(tool)).collect()
    }

    /// Most servers take only text in a tool message, so the images follow it in a user message.
    fn accepts_tool_result_images(&self, _model: &str) -> bool {
        true
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(self.dialect, request)
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        repair::repair(self.dialect, refused, request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        async move { client.post(&target, "/chat/completions", body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = Box::new(ChatDecoder::for_provider(self.dialect, self.name(), self.target.secrets.clone()));
        RedactingDecoder::wrap(decoder, self.target.reply_secrets.clone())
    }
}
