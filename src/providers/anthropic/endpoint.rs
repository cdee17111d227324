//! [`Provider`] for a configured endpoint that speaks Anthropic Messages.

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;

use crate::anthropic::models::ClaudeGeneration;
use crate::anthropic::{MessagesDecoder, models, repair, request};
use crate::http_client::{ApiKeyHeader, HttpClient, ProviderTarget};
use crate::inline_reasoning::InlineReasoningDecoder;
use crate::provider::{ChatRequest, Decoder, ListedModel, Provider, ProviderError, ProviderReply};
use crate::streaming_redaction::RedactingDecoder;
use turnleaf_domain::Capabilities;
use turnleaf_domain::providers::repair::RequestRepair;
use turnleaf_domain::tools::tool::OfferedTool;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// The API version. A later one refuses parts of this request format (docs/reference/providers.md 3.1).
const VERSION: &str = "2023-06-01";
/// Beta that lets older model generations think between tool calls.
const INTERLEAVED: &str = "interleaved-thinking-2025-05-14";
/// Beta that lets a request decide what happens to thinking that no longer fits its conversation.
const BINDING: &str = "thinking-binding-controls-2026-08-01";
/// Upper bound on pages of the model list. A page has at most 1,000 models; a longer list is not a plausible model
/// list.
const PAGES: usize = 5;

/// A configured endpoint with its HTTP client.
#[derive(Debug, Clone)]
pub struct MessagesEndpoint {
    id: String,
    target: ProviderTarget,
    client: HttpClient,
}

impl MessagesEndpoint {
    /// Returns true for Anthropic's own endpoint.
    fn is_official(&self) -> bool {
        let url = reqwest::Url::parse(&self.target.base_url).ok();
        let host = url.as_ref().and_then(reqwest::Url::host_str).unwrap_or_default();
        host == "anthropic.com" || host.ends_with(".anthropic.com")
    }

    pub fn new(endpoint: &ProviderEndpoint, client: HttpClient) -> Self {
        let target = ProviderTarget {
            auth: ApiKeyHeader::Header("x-api-key"),
            headers: vec![("anthropic-version", VERSION.to_owned())],
            ..ProviderTarget::new(endpoint)
        };
        Self { id: endpoint.id.clone(), target, client }
    }
}

impl Provider for MessagesEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        ProviderApi::Anthropic.as_str()
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn base_url(&self) -> Option<&str> {
        Some(&self.target.base_url)
    }

    fn preferred_model(&self) -> Option<&'static str> {
        Some("claude-sonnet-5-5")
    }

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<ListedModel>, ProviderError>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let mut all = Vec::new();
            let mut path = "/models?limit=1000".to_owned();
            for _ in 0..PAGES {
                let page = client.get_json(&target, &path).await?;
                all.extend(
                    page.get("data").and_then(Value::as_array).into_iter().flatten().filter_map(parse_listed_model),
                );
                match next_page(&page) {
                    Some(last) => path = format!("/models?limit=1000&after_id={last}"),
                    None => break,
                }
            }
            Ok(all)
        };
        Some(asking.boxed())
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        models::capabilities(model)
    }

    fn provider_tools(&self, model: &str) -> Vec<OfferedTool> {
        models::provider_tools(model).iter().map(|tool| OfferedTool::provider_tool(tool)).collect()
    }

    fn accepts_tool_result_images(&self, _model: &str) -> bool {
        true
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request, self.is_official())
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        repair::repair(refused, request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        let (client, mut target) = (self.client.clone(), self.target.clone());
        target.headers.extend(betas(&body).map(|betas| ("anthropic-beta", betas.to_owned())));
        async move { client.post(&target, "/messages", body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder: Box<dyn Decoder> =
            Box::new(MessagesDecoder::for_provider(self.name(), self.target.secrets.clone()));
        let decoder = if self.is_official() { decoder } else { InlineReasoningDecoder::wrap(decoder) };
        RedactingDecoder::wrap(decoder, self.target.reply_secrets.clone())
    }
}

/// Returns the betas that a body needs, as the value of the header. They are derived from the body, so that a stored
/// request that is sent again gets the same ones.
fn betas(body: &[u8]) -> Option<&'static str> {
    #[derive(Deserialize)]
    struct Body {
        model: String,
        thinking: Option<RequestedThinking>,
    }
    #[derive(Deserialize)]
    struct RequestedThinking {
        r#type: String,
    }
    let body: Body = serde_json::from_slice(body).ok()?;
    let generation = ClaudeGeneration::from_model(&body.model);
    let has_budget = body.thinking.is_some_and(|thinking| thinking.r#type == "enabled");
    match generation {
        ClaudeGeneration { is_bound_to_prefix: true, .. } => Some(BINDING),
        ClaudeGeneration { interleaves_by_beta: true, .. } if has_budget => Some(INTERLEAVED),
        _ => None,
    }
}

/// Parses a model of the list with the capabilities that the list states.
fn parse_listed_model(model: &Value) -> Option<ListedModel> {
    let id = model.get("id")?.as_str()?;
    Some(ListedModel {
        name: model.get("display_name").and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned),
        ..ListedModel::new(id, models::refine_capabilities(model, models::capabilities(id)))
    })
}

/// Returns the id after which the next page starts, if there is one. It goes into a URL, so only plain ids are
/// accepted.
fn next_page(page: &Value) -> Option<&str> {
    let last = page.get("last_id")?.as_str()?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (page.get("has_more")?.as_bool()? && !last.is_empty() && last.bytes().all(is_plain)).then_some(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::providers::provider::ReasoningSupport;

    #[test]
    fn betas_depend_on_model_and_thinking_mode() {
        for (model, thinking, expected) in [
            ("claude-sonnet-4-5", json!({"type": "enabled", "budget_tokens": 2048}), Some(INTERLEAVED)),
            ("claude-sonnet-4-5", json!(null), None),
            ("claude-opus-4-6", json!({"type": "adaptive"}), None),
            ("claude-3-7-sonnet-20250219", json!({"type": "enabled", "budget_tokens": 2048}), None),
            ("claude-opus-4-7", json!({"type": "adaptive"}), None),
            ("claude-sonnet-5-5", json!({"type": "adaptive"}), Some(BINDING)),
            ("claude-fable-5-1", json!({"type": "adaptive"}), Some(BINDING)),
            ("MiniMax-M2.7", json!(null), None),
        ] {
            let body = json!({"model": model, "messages": [], "thinking": thinking}).to_string();
            assert_eq!(betas(body.as_bytes()), expected, "{body}");
        }
        assert_eq!(betas(b"{\"a\":1}"), None);
    }

    #[test]
    fn model_list_refines_capabilities() {
        let full = json!({"type": "model", "id": "claude-opus-4-7", "display_name": "Claude Opus 4.7",
            "max_input_tokens": 1000000, "max_tokens": 128000, "capabilities": {"thinking": {"supported": true}}});
        let listed = parse_listed_model(&full).unwrap();
        assert_eq!((listed.id.as_str(), listed.name.as_deref()), ("claude-opus-4-7", Some("Claude Opus 4.7")));
        let Capabilities { reasoning, context_tokens, max_tokens, .. } = listed.capabilities;
        assert_eq!(
            (reasoning, context_tokens, max_tokens.most),
            (ReasoningSupport::Optional, Some(1_000_000), Some(128_000))
        );
        let of_name = |id: &str| ListedModel::new(id, models::capabilities(id));
        assert_eq!(parse_listed_model(&json!({"id": "m", "max_tokens": 0})), Some(of_name("m")));
        assert_eq!(parse_listed_model(&json!({"name": "m"})), None);
    }

    #[test]
    fn next_page_is_requested_only_under_plain_id() {
        for (page, expected) in [
            (json!({"has_more": true, "last_id": "claude-opus-4.7"}), Some("claude-opus-4.7")),
            (json!({"has_more": false, "last_id": "a"}), None),
            (json!({"has_more": true, "last_id": "a&b=c"}), None),
            (json!({"has_more": true, "last_id": null}), None),
            (json!({}), None),
        ] {
            assert_eq!(next_page(&page), expected, "{page}");
        }
    }
}
