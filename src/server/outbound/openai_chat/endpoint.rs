//! A configured endpoint that speaks chat completions, as a [`Provider`].

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::domain::provider::Reasoning;
use crate::server::outbound::http_client::{HttpClient, Target};
use crate::server::outbound::openai_chat::{ChatDecoder, Dialect, request, thinking};
use crate::server::outbound::provider::{ChatRequest, Decoder, Provider, Refused, Reply};
use crate::server::outbound::redact::Secrets;
use crate::server::platform::endpoint::Endpoint;

/// One endpoint.
#[derive(Debug, Clone)]
pub struct ChatEndpoint {
    id: String,
    dialect: &'static Dialect,
    target: Target,
    client: HttpClient,
}

impl ChatEndpoint {
    /// Where it is, as configured.
    pub fn base_url(&self) -> &str {
        &self.target.base_url
    }

    pub fn new(endpoint: &Endpoint, client: HttpClient) -> Self {
        let target = Target {
            provider: endpoint.name.as_str().into(),
            base_url: endpoint.base_url.as_str().into(),
            api_key: endpoint.api_key.clone(),
            secrets: Secrets::new(endpoint.api_key.clone()),
        };
        Self {
            id: endpoint.id.clone(),
            dialect: Dialect::of_endpoint(&endpoint.dialect, &endpoint.base_url),
            target,
            client,
        }
    }

    pub fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// Asks the endpoint which models it has, in its own order.
    pub fn list_models(&self) -> BoxFuture<'static, Result<Vec<String>, Refused>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        async move {
            let document = client.get_json(&target, "/models").await?;
            let list = document.get("data").or_else(|| document.get("models")).unwrap_or(&document);
            let id =
                |model: &serde_json::Value| Some(model.get("id").or_else(|| model.get("name"))?.as_str()?.to_owned());
            Ok(list.as_array().into_iter().flatten().filter_map(id).collect())
        }
        .boxed()
    }
}

impl Provider for ChatEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.target.provider
    }

    fn reasoning(&self, model: &str) -> Reasoning {
        thinking::reasoning(self.dialect, model)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(self.dialect, request)
    }

    fn send(&self, body: Bytes) -> BoxFuture<'static, Result<Reply, Refused>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        async move { client.post(&target, "/chat/completions", body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ChatDecoder::new(self.dialect, self.name(), self.target.secrets.clone()))
    }
}
