//! Factory: creates the provider for a configured endpoint.

use std::sync::Arc;

use crate::anthropic::MessagesEndpoint;
use crate::gemini::GeminiEndpoint;
use crate::http_client::HttpClient;
use crate::ollama::OllamaEndpoint;
use crate::openai_chat::ChatEndpoint;
use crate::openai_responses::ResponsesEndpoint;
use crate::provider::Provider;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// Creates the provider for the API of an endpoint.
pub fn create_provider(endpoint: &ProviderEndpoint, client: HttpClient) -> Arc<dyn Provider> {
    match endpoint.api {
        ProviderApi::Anthropic => Arc::new(MessagesEndpoint::new(endpoint, client)),
        ProviderApi::OpenaiChat => Arc::new(ChatEndpoint::new(endpoint, client)),
        ProviderApi::Gemini => Arc::new(GeminiEndpoint::new(endpoint, client)),
        ProviderApi::Ollama => Arc::new(OllamaEndpoint::new(endpoint, client)),
        ProviderApi::OpenaiResponses => Arc::new(ResponsesEndpoint::new(endpoint, client)),
    }
}
