//! Wrappers of a real provider: one adds the tools `weather`, `time`, which fails, and `future`, which never returns;
//! the other declares the tools that OpenAI runs itself.

use std::sync::Arc;

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use turnleaf::domain::providers::capabilities::Capabilities;
use turnleaf::domain::providers::repair::RequestRepair;
use turnleaf::domain::tools::tool::{OfferedTool, ToolSpec};
use turnleaf_providers::provider::{ChatRequest, Decoder, Provider, ProviderError, ProviderReply, ToolOutcome};

pub struct ProviderWithTools(pub Arc<dyn Provider>);

impl Provider for ProviderWithTools {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn api(&self) -> &'static str {
        self.0.api()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.0.capabilities(model)
    }

    fn tools(&self) -> Vec<ToolSpec> {
        let place = json!({"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]});
        let spec = |name: &str, parameters: Value| ToolSpec {
            name: name.to_owned(),
            description: format!("Tells the {name}."),
            parameters,
        };
        let nothing = json!({"type": "object", "properties": {}});
        vec![spec("weather", place), spec("time", nothing.clone()), spec("future", nothing)]
    }

    fn keeps_responses(&self) -> bool {
        self.0.keeps_responses()
    }

    fn accepts_tool_result_images(&self, model: &str) -> bool {
        self.0.accepts_tool_result_images(model)
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        self.0.repair(refused, request)
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        self.0.build(request)
    }

    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        self.0.send(model, body)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        self.0.decoder()
    }

    fn run_tool(&self, name: &str, arguments: &Value) -> Option<BoxFuture<'static, ToolOutcome>> {
        let outcome = match name {
            "weather" => ToolOutcome { result: json!({"place": arguments["place"], "degrees": 21}), is_error: false },
            "time" => ToolOutcome { result: json!("the clock has stopped"), is_error: true },
            "future" => return Some(std::future::pending().boxed()),
            _ => return None,
        };
        Some(std::future::ready(outcome).boxed())
    }
}

/// Offers web search and code execution for every model, as OpenAI does at its own address.
pub struct ProviderWithBuiltInTools(pub Arc<dyn Provider>);

impl Provider for ProviderWithBuiltInTools {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn name(&self) -> &str {
        self.0.name()
    }

    fn api(&self) -> &'static str {
        self.0.api()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.0.capabilities(model)
    }

    fn provider_tools(&self, _model: &str) -> Vec<OfferedTool> {
        ["web_search", "code_execution"].map(OfferedTool::provider_tool).to_vec()
    }

    fn keeps_responses(&self) -> bool {
        self.0.keeps_responses()
    }

    fn build(&self, request: &ChatRequest) -> Bytes {
        self.0.build(request)
    }

    fn repair(&self, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
        self.0.repair(refused, request)
    }

    fn send(&self, model: &str, body: Bytes) -> BoxFuture<'static, Result<ProviderReply, ProviderError>> {
        self.0.send(model, body)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        self.0.decoder()
    }
}
