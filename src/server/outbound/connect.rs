//! From a configured endpoint to the provider that speaks its API.

use std::sync::Arc;

use crate::server::outbound::anthropic::MessagesEndpoint;
use crate::server::outbound::gemini::GeminiEndpoint;
use crate::server::outbound::http_client::HttpClient;
use crate::server::outbound::ollama::OllamaEndpoint;
use crate::server::outbound::openai_chat::ChatEndpoint;
use crate::server::outbound::openai_responses::ResponsesEndpoint;
use crate::server::outbound::provider::Provider;
use crate::server::platform::endpoint::{Api, Endpoint};

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
