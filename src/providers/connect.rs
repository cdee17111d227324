//! From a configured endpoint to the provider that speaks its API.

use std::sync::Arc;

use crate::anthropic::MessagesEndpoint;
use crate::gemini::GeminiEndpoint;
use crate::http_client::HttpClient;
use crate::ollama::OllamaEndpoint;
use crate::openai_chat::ChatEndpoint;
use crate::openai_responses::ResponsesEndpoint;
use crate::provider::Provider;
use turnleaf_platform::endpoint::{Api, Endpoint};

/// The provider of an endpoint.
pub fn connect(endpoint: &Endpoint, client: HttpClient) -> Arc<dyn Provider> {
    match endpoint.api {
        Api::Anthropic => Arc::new(MessagesEndpoint::new(endpoint, client)),
        Api::OpenaiChat => Arc::new(ChatEndpoint::new(endpoint, client)),
        Api::Gemini => Arc::new(GeminiEndpoint::new(endpoint, client)),
        Api::Ollama => Arc::new(OllamaEndpoint::new(endpoint, client)),
        Api::OpenaiResponses => Arc::new(ResponsesEndpoint::new(endpoint, client)),
    }
}
