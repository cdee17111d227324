//! A configured endpoint that speaks Gemini's own API, as a [`Provider`].

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::Value;

use crate::clean::CleanDecoder;
use crate::gemini::{GeminiDecoder, models, repair, request};
use crate::http_client::{Auth, HttpClient, Target};
use crate::provider::{ChatRequest, Decoder, Listed, Provider, Refused, Reply};
use turnleaf_domain::Capabilities;
use turnleaf_domain::percent;
use turnleaf_domain::repair::Repair;
use turnleaf_domain::tool::OfferedTool;
use turnleaf_platform::endpoint::{Api, Endpoint};

/// Pages of the list of models that are asked for; one holds a thousand.
const MOST_PAGES: usize = 5;

/// One endpoint.
#[derive(Debug, Clone)]
pub struct GeminiEndpoint {
    id: String,
    target: Target,
    client: HttpClient,
}

impl GeminiEndpoint {
    /// The provider of an endpoint; nobody is asked yet.
    pub fn new(endpoint: &Endpoint, client: HttpClient) -> Self {
        let mut target = Target::new(endpoint);
        // Never in the URL, which is logged on the way (providers.md 2.2).
        target.auth = Auth::Header("x-goog-api-key");
        target.base_url = with_version(&endpoint.base_url).into();
        Self { id: endpoint.id.clone(), target, client }
    }
}

impl Provider for GeminiEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        Api::Gemini.as_str()
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

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<Listed>, Refused>>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let asking = async move {
            let mut list = Vec::new();
            let mut path = "/models?pageSize=1000".to_owned();
            for _ in 0..MOST_PAGES {
                let page = client.get_json(&target, &path).await?;
                list.extend(page.get("models").and_then(Value::as_array).into_iter().flatten().filter_map(listed));
                match page.get("nextPageToken").and_then(Value::as_str).filter(|token| !token.is_empty()) {
                    Some(token) => path = format!("/models?pageSize=1000&pageToken={}", percent::encoded(token)),
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

    fn own_tools(&self, model: &str) -> Vec<OfferedTool> {
        models::own_tools(model).iter().map(|tool| OfferedTool::run_by_provider(tool)).collect()
    }

    fn shows_results(&self, model: &str) -> bool {
        models::shows_results(model)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(request)
    }

    fn repair(&self, refused: &Refused, request: &ChatRequest) -> Option<Repair> {
        repair::repair(refused, request)
    }

    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<Reply, Refused>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        let path = path_of(model);
        async move { client.post(&target, &path, body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = Box::new(GeminiDecoder::of(self.name(), self.target.secrets.clone()));
        CleanDecoder::around(decoder, self.target.reply_secrets.clone())
    }
}

/// An address without any path gets the version that the API's own has.
fn with_version(base_url: &str) -> String {
    let host = base_url.split_once("://").map_or(base_url, |(_, rest)| rest);
    if host.trim_end_matches('/').contains('/') {
        base_url.to_owned()
    } else {
        format!("{}/v1beta", base_url.trim_end_matches('/'))
    }
}

/// The path that answers for a model; `models/` and `tunedModels/` may stand in its name.
fn path_of(model: &str) -> String {
    let known = model.split_once('/').filter(|(collection, _)| matches!(*collection, "models" | "tunedModels"));
    let (collection, name) = known.unwrap_or(("models", model));
    format!("/{collection}/{}:streamGenerateContent?alt=sse", percent::encoded(name))
}

/// A model of the list, if it generates text.
fn listed(model: &Value) -> Option<Listed> {
    let methods = model.get("supportedGenerationMethods").and_then(Value::as_array);
    let generates = |methods: &Vec<Value>| methods.iter().any(|method| method == "generateContent");
    if methods.is_some_and(|methods| !generates(methods)) {
        return None;
    }
    let name = model.get("name")?.as_str()?;
    let id = name.strip_prefix("models/").unwrap_or(name);
    Some(Listed {
        name: model.get("displayName").and_then(Value::as_str).filter(|name| !name.is_empty()).map(str::to_owned),
        ..Listed::of(id, models::refined(model, models::capabilities(id)))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use turnleaf_domain::provider::Reasoning;

    #[test]
    fn a_model_is_one_segment_of_the_path() {
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
    fn an_address_without_a_path_gets_the_version() {
        for (base_url, expected) in [
            ("https://generativelanguage.googleapis.com", "https://generativelanguage.googleapis.com/v1beta"),
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1beta"),
            ("https://gateway.example/google/v1", "https://gateway.example/google/v1"),
        ] {
            assert_eq!(with_version(base_url), expected);
        }
    }

    #[test]
    fn the_list_says_what_a_model_is() {
        let flash = json!({"name": "models/gemini-2.5-flash", "displayName": "Gemini 2.5 Flash", "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536, "supportedGenerationMethods": ["generateContent", "countTokens"], "thinking": true});
        let said = listed(&flash).unwrap();
        assert_eq!((said.id.as_str(), said.name.as_deref()), ("gemini-2.5-flash", Some("Gemini 2.5 Flash")));
        let Capabilities { reasoning, context_tokens, max_tokens, .. } = said.capabilities;
        assert_eq!((reasoning, context_tokens, max_tokens.most), (Reasoning::Optional, Some(1_048_576), Some(65_536)));
        assert_eq!(listed(&json!({"name": "models/imagen-4", "supportedGenerationMethods": ["predict"]})), None);
        assert_eq!(listed(&json!({"displayName": "nameless"})), None);
        for (name, thinking, reasoning) in [
            ("tunedModels/mine", false, Reasoning::Never),
            ("tunedModels/mine", true, Reasoning::Optional),
            ("models/gemini-2.0-flash", true, Reasoning::Optional),
            ("models/gemini-2.5-pro", true, Reasoning::Always),
        ] {
            let said =
                listed(&json!({"name": name, "thinking": thinking, "maxTemperature": 1.5})).unwrap().capabilities;
            assert_eq!(said.reasoning, reasoning, "{name} {thinking}");
            assert_eq!(said.temperature.plain.and_then(|range| range.most), Some(1.5));
        }
    }
}
