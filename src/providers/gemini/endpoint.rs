//! [`Provider`] for a configured endpoint that speaks Gemini's native API.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::gemini::{GeminiDecoder, models, repair, request};
use crate::http_client::{ApiKeyHeader, HttpClient, ProviderTarget};
use crate::provider::{ChatRequest, Decoder, ListedModel, Provider, ProviderError, ProviderReply};
use crate::streaming_redaction::RedactingDecoder;
use turnleaf_domain::Capabilities;
use turnleaf_domain::encoding::url_encoding;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// Upper bound on pages of the model list; a page has up to 1,000 models.
const MOST_PAGES: usize = 5;

/// A configured endpoint with its HTTP client.
#[derive(Debug, Clone)]
pub struct GeminiEndpoint {
    id: String,
    target: ProviderTarget,
    client: HttpClient,
}

impl GeminiEndpoint {
    /// Creates the provider of an endpoint, without any request.
    pub fn new(endpoint: &ProviderEndpoint, client: HttpClient) -> Self {
        let mut target = ProviderTarget::new(endpoint);
        // The key is never a part of the URL, because URLs are logged by proxies and servers
        // (docs/reference/providers.md 2.2).
        target.auth = ApiKeyHeader::Header("x-goog-api-key");
        target.base_url = with_version(&endpoint.base_url).into();
        Self { id: endpoint.id.clone(), target, client }
    }
}

impl Provider for GeminiEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        ProviderApi::Gemini.as_str()
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.target.base_url)
    }

    fn preferred_model(&self) -> Option<&'static str> {
        Some("gemini-flash-latest")
    }

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let mut list = Vec::new();
            let mut path = "/models?pageSize=1000".to_owned();
            for _ in 0..MOST_PAGES {
                let page = client.get_json(&target, &path).await?;
                list.extend(
                    page.get("models").and_then(Value::as_array).into_iter().flatten().filter_map(parse_listed_model),
                );
                match page.get("nextPageToken").and_then(Value::as_str).filter(|token| !token.is_empty()) {
                    Some(token) => path = format!("/models?pageSize=1000&pageToken={}", url_encoding::encode(token)),
                    None => break,
                }
            }
            Ok(list)
        };
        Some(asking.boxed())
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        models::capabilities(model)
    }

    fn provider_tools(&self, model: &str) -> Vec<OfferedTool> {
        models::provider_tools(model).iter().map(|tool| OfferedTool::provider_tool(tool)).collect()
    }

    fn accepts_tool_result_images(&self, model: &str) -> bool {
        models::accepts_tool_result_images(model)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request)
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        repair::repair(refused, request)
    }

    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let path = path_of(model);
        async move { client.post(&target, &path, body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = Box::new(GeminiDecoder::for_provider(self.name(), self.target.secrets.clone()));
        RedactingDecoder::wrap(decoder, self.target.reply_secrets.clone())
    }
}

/// Appends the API's default version to a base URL without a path.
fn with_version(base_url: &str) -> String {
    let host = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    if host.trim_end_matches('/').contains('/') {
        base_url.to_owned()
    } else {
        format!("{}/v1beta", base_url.trim_end_matches('/'))
    }
}

/// Returns the URL path of a model, whose name may start with `models/` or `tunedModels/`.
fn path_of(model: &str) -> String {
    let known = model.split_once('/').filter(|(collection, _)| matches!(*collection, "models" | "tunedModels"));
    let (collection, name) = known.unwrap_or(("models", model));
    format!("/{collection}/{}:streamGenerateContent?alt=sse", url_encoding::encode(name))
}

/// Parses a model of the list; `None` if it does not generate text.
fn parse_listed_model(model: &Value) -> Option<ListedModel> {
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    let generates = |methods: &Vec<Value>| methods.iter().any(|method| method == "generateContent");
    if methods.is_some_and(|methods| !generates(methods)) {
        return None;
    }
    let name = model.get("name")?.as_str()?;
    let id = name.strip_prefix("models/").unwrap_or(name);
    Some(ListedModel {
        name: model.get("displayName").and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned),
        ..ListedModel::new(id, models::refine_capabilities(model, models::capabilities(id)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::providers::provider::ReasoningSupport;

    #[test]
    fn model_is_one_path_segment() {
        for (model, expected) in [
            ("gemini-2.5-flash", "/models/gemini-2.5-flash"),
            ("models/gemini-2.5-flash", "/models/gemini-2.5-flash"),
            ("tunedModels/mine-1", "/tunedModels/mine-1"),
            ("../files", "/models/..%2Ffiles"),
            ("a b?key=c#d", "/models/a%20b%3Fkey%3Dc%23d"),
        ] {
            assert_eq!(path_of(model), format!("{expected}:streamGenerateContent?alt=sse"), "{model}");
        }
    }

    #[test]
    fn address_without_path_gets_version() {
        for (base_url, expected) in [
            ("https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1beta"),
            ("https://gateway.example/google/v1", "https://gateway.example/google/v1"),
        ] {
            assert_eq!(with_version(base_url), expected);
        }
    }

    #[test]
    fn model_list_refines_capabilities() {
        let flash = json!({"name": "models/gemini-2.5-flash", "displayName": "Gemini 2.5 Flash", "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent", "countTokens"], "thinking": true});
        let listed = parse_listed_model(&flash).unwrap();
        assert_eq!((listed.id.as_str(), listed.name.as_deref()), ("gemini-2.5-flash", Some("Gemini 2.5 Flash")));
        let Capabilities { reasoning, context_tokens, max_tokens, .. } = listed.capabilities;
        assert_eq!(
            (reasoning, context_tokens, max_tokens.most),
            (ReasoningSupport::Optional, Some(1_048_576), Some(65_536))
        );
        assert_eq!(
            parse_listed_model(&json!({"name": "models/imagen-4", "supportedGenerationMethods": ["predict"]})),
            None
        );
        assert_eq!(parse_listed_model(&json!({"displayName": "nameless"})), None);
        for (name, thinking, reasoning) in [
            ("tunedModels/mine", false, ReasoningSupport::Never),
            ("tunedModels/mine", true, ReasoningSupport::Optional),
            ("models/gemini-2.0-flash", true, ReasoningSupport::Optional),
            ("models/gemini-2.5-pro", true, ReasoningSupport::Always),
        ] {
            let listed = parse_listed_model(&json!({"name": name, "thinking": thinking, "maxTemperature": 1.5}))
                .unwrap()
                .capabilities;
            assert_eq!(listed.reasoning, reasoning, "{name} {thinking}");
            assert_eq!(listed.temperature.plain.and_then(|range| range.most), Some(1.5));
        }
    }
}
