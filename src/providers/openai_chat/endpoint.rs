//! A configured endpoint that speaks chat completions, as a [`Provider`].

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::clean::CleanDecoder;
use crate::http_client::{HttpClient, Target};
use crate::model_list;
use crate::openai_chat::{ChatDecoder, Dialect, models, repair, request};
use crate::provider::{ChatRequest, Decoder, Listed, Provider, Refused, Reply};
use turnleaf_domain::Capabilities;
use turnleaf_domain::repair::Repair;
use turnleaf_domain::tool::OfferedTool;
use turnleaf_platform::endpoint::{Api, Endpoint};

/// One endpoint.
#[derive(Debug, Clone)]
pub struct ChatEndpoint {
    id: String,
    dialect: &'static Dialect,
    target: Target,
    client: HttpClient,
}

impl ChatEndpoint {
    pub fn new(endpoint: &Endpoint, client: HttpClient) -> Self {
        Self {
            id: endpoint.id.clone(),
            dialect: Dialect::of_endpoint(&endpoint.dialect, &endpoint.base_url),
            target: Target::new(endpoint),
            client,
        }
    }
}

impl Provider for ChatEndpoint {
    fn id(&self) -> &str {
        &self.id
    }

    fn api(&self) -> &'static str {
        Api::OpenaiChat.as_str()
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

    fn list_models(&self) -> Option<BoxFuture<'static, Result<Vec<Listed>, Refused>>> {
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

    fn own_tools(&self, _model: &str) -> Vec<OfferedTool> {
        models::own_tools(self.dialect).iter().map(|tool| OfferedTool::run_by_provider(tool)).collect()
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        request::body(self.dialect, request)
    }

    fn repair(&self, refused: &Refused, request: &ChatRequest) -> Option<Repair> {
        repair::repair(self.dialect, refused, request)
    }

    fn send(&self, _model: &str, body: Bytes) -> BoxFuture<'static, Result<Reply, Refused>> {
        let (client, target) = (self.client.clone(), self.target.clone());
        async move { client.post(&target, "/chat/completions", body).await }.boxed()
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        let decoder = Box::new(ChatDecoder::of(self.dialect, self.name(), self.target.secrets.clone()));
        CleanDecoder::around(decoder, self.target.reply_secrets.clone())
    }
}
