//! [`Provider`] for a configured endpoint that speaks Ollama's native API.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::http_client::{HttpClient, ProviderTarget};
use crate::ollama::{OllamaDecoder, request, thinking};
use crate::provider::{ChatRequest, Decoder, ListedModel, Provider, ProviderError, ProviderReply};
use crate::streaming_redaction::RedactingDecoder;
use turnleaf_domain::Capabilities;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// A configured endpoint with its HTTP client.
#[derive(Debug, Clone)]
pub struct OllamaEndpoint {
    id: String,
    target: ProviderTarget,
    client: HttpClient,
}

impl OllamaEndpoint {
    /// Creates the provider of an endpoint, without any request.
    pub fn new(endpoint: &ProviderEndpoint, client: HttpClient) -> Self {
        let mut target = ProviderTarget::new(endpoint);
        target.base_url = root_of(&endpoint.base_url).into();
        Self { id: endpoint.id.clone(), target, client }
    }
}

impl Provider for OllamaEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        ProviderApi::Ollama.as_str()
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.target.base_url)
    }

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let document = client.get_json(&target, "/api/tags").await?;
            let list = document.get("models").and_then(Value::as_array);
            Ok(list.into_iter().flatten().filter_map(parse_listed_model).collect())
        };
        Some(asking.boxed())
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        thinking::capabilities(model)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        async move { client.post(&target, "/api/chat", body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = Box::new(OllamaDecoder::for_provider(self.name(), self.target.secrets.clone()));
        RedactingDecoder::wrap(decoder, self.target.reply_secrets.clone())
    }
}

/// Returns the root URL of the server: many users configure it with `/api`, or with the `/v1` of the other API.
fn root_of(base_url: &str) -> &str {
    let bare = base_url.trim_end_matches('/');
    bare.strip_suffix("/api").or_else(|| bare.strip_suffix("/v1")).unwrap_or(bare)
}

/// Parses a model of the list. Newer servers state its capabilities.
fn parse_listed_model(model: &Value) -> Option<ListedModel> {
    let id = ["model", "name"].into_iter().find_map(|key| model.get(key)?.as_str())?;
    Some(ListedModel::new(id, thinking::refine_capabilities(model, thinking::capabilities(id))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::providers::provider::ReasoningSupport;

    #[test]
    fn base_url_is_reduced_to_server_root() {
        for base_url in ["http://box:11434", "http://box:11434/", "http://box:11434/api", "http://box:11434/v1"] {
            assert_eq!(root_of(base_url), "http://box:11434");
        }
        assert_eq!(root_of("http://box/ollama"), "http://box/ollama");
    }

    #[test]
    fn model_list_refines_capabilities() {
        for (model, id, reasoning, levels) in [
            (json!({"name": "a:latest", "model": "a:1b"}), "a:1b", ReasoningSupport::Optional, 1),
            (json!({"name": "a:latest", "size": 1}), "a:latest", ReasoningSupport::Optional, 1),
            (json!({"name": "a", "capabilities": ["completion"]}), "a", ReasoningSupport::Never, 0),
            (json!({"name": "a", "capabilities": ["thinking", "tools"]}), "a", ReasoningSupport::Optional, 2),
            (json!({"name": "gpt-oss", "capabilities": ["thinking"]}), "gpt-oss", ReasoningSupport::Always, 3),
        ] {
            let listed = parse_listed_model(&model).unwrap();
            let known = listed.capabilities;
            assert_eq!((listed.id.as_str(), known.reasoning, known.thinking_levels.len()), (id, reasoning, levels));
            let has_tools = model.get("capabilities").map(|_| model.to_string().contains("tools"));
            assert_eq!(known.tools, has_tools, "{model}");
        }
        assert_eq!(parse_listed_model(&json!({"size": 1})), None);
    }
}
