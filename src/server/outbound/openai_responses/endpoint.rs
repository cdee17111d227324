//! A configured endpoint that speaks Responses, as a [`Provider`].

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::domain::provider::Reasoning;
use crate::domain::repair::Repair;
use crate::server::outbound::http_client::{HttpClient, Target};
use crate::server::outbound::openai_responses::{ResponsesDecoder, models, repair, request};
use crate::server::outbound::provider::{ChatRequest, Decoder, Listed, Provider, Refused, Reply};
use crate::server::platform::endpoint::Endpoint;

/// One endpoint.
#[derive(Debug, Clone)]
pub struct ResponsesEndpoint {
    id: String,
    target: Target,
    client: HttpClient,
    /// It refused to summarise reasoning: OpenAI does so for organisations that it has not verified. From then on it is
    /// not asked any more, so that trying again helps.
    refuses_summaries: Arc<AtomicBool>,
}

impl ResponsesEndpoint {
    pub fn new(endpoint: &Endpoint, client: HttpClient) -> Self {
        Self {
            id: endpoint.id.clone(),
            target: Target::new(endpoint),
            client,
            refuses_summaries: Arc::new(AtomicBool::new(false)),
        }
    }
}

impl Provider for ResponsesEndpoint {
    fn id(&self) -> &str {
        &self.id
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

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<Listed>, Refused>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let document = client.get_json(&target, "/models").await?;
            let list = document.get("data").or_else(|| document.get("models")).unwrap_or(&document);
            Ok(list.as_array().into_iter().flatten().filter_map(listed).collect())
        };
        Some(asking.boxed())
    }

    fn reasoning(&self, model: &str) -> Reasoning {
        models::reasoning(model)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request, !self.refuses_summaries.load(Ordering::Relaxed))
    }

    fn repair(&self, refused: &Refused, request: &ChatRequest) -> Option<Repair> {
        repair::repair(refused, request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<Reply, Refused>> {
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
        Box::new(ResponsesDecoder::of(self.name(), self.target.secrets.clone()))
    }
}

/// What a list says of a model. OpenAI says no more than the id; gateways say more, in words of their own.
fn listed(model: &Value) -> Option<Listed> {
    let text = |field: &str| model.get(field).and_then(Value::as_str);
    let first = |paths: &[&str]| paths.iter().find_map(|path| model.pointer(path).and_then(Value::as_u64));
    let id = text("id").or_else(|| text("name"))?;
    Some(Listed {
        name: text("name").filter(|name| *name != id).map(str::to_owned),
        context_tokens: first(&["/context_length", "/context_window", "/max_model_len", "/max_context_length"]),
        output_tokens: first(&["/top_provider/max_completion_tokens", "/max_completion_tokens"]),
        ..Listed::of(id)
    })
}

fn is_about_summaries(refused: &Refused) -> bool {
    let document: Value = serde_json::from_slice(&refused.body).unwrap_or_default();
    document.pointer("/error/param").and_then(Value::as_str) == Some("reasoning.summary")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_read_in_every_wording() {
        for (said, expected) in [
            (json!({"id": "gpt-5", "object": "model", "owned_by": "system"}), Some(Listed::of("gpt-5"))),
            (
                json!({"id": "openai/gpt-5", "name": "OpenAI: GPT-5", "context_length": 400_000,
                    "top_provider": {"max_completion_tokens": 128_000}}),
                Some(Listed {
                    name: Some("OpenAI: GPT-5".into()),
                    context_tokens: Some(400_000),
                    output_tokens: Some(128_000),
                    ..Listed::of("openai/gpt-5")
                }),
            ),
            (json!({"name": "local"}), Some(Listed::of("local"))),
            (json!({"object": "model"}), None),
        ] {
            assert_eq!(listed(&said), expected, "{said}");
        }
    }
}
