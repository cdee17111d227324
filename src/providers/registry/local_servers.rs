//! Detection of model servers on this machine.

use std::net::SocketAddr;

use crate::http_client::HttpClient;
use crate::provider::ListedModel;
use crate::provider_factory::create_provider;
use crate::registry::models;
use turnleaf_domain::limits;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};

/// A local server that was detected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    pub id: String,
    /// The display name.
    pub name: String,
    /// The base URL.
    pub address: String,
    pub models: Vec<String>,
    /// A user accepted the server.
    pub is_in_use: bool,
}

/// Returns the well-known local servers on their default ports.
pub fn candidates() -> Vec<ProviderEndpoint> {
    let candidate = |id: &str, name: &str, port: u16| ProviderEndpoint {
        id: id.to_owned(),
        name: name.to_owned(),
        api: ProviderApi::OpenaiChat,
        dialect: id.to_owned(),
        base_url: format!("http://127.0.0.1:{port}/v1"),
        api_key: None,
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    };
    vec![
        candidate("ollama", "Ollama", 11434),
        candidate("llamacpp", "llama.cpp", 8080),
        candidate("lmstudio", "LM Studio", 1234),
    ]
}

/// Returns true if two URLs have the same host and port; all loopback names are equal.
pub fn is_same_server(one: &str, other: &str) -> bool {
    let place = |base_url: &str| {
        let url = reqwest::Url::parse(base_url).ok()?;
        let host = url.host_str()?.to_owned();
        let host = if host == "localhost" || host == "[::1]" { "127.0.0.1".to_owned() } else { host };
        Some((host, url.port_or_known_default()?))
    };
    place(one).is_some_and(|one| Some(one) == place(other))
}

/// Returns the models of a server that answers in time, in its order; `None` if none answers. The list may be empty.
pub async fn probe(candidate: &ProviderEndpoint, client: &HttpClient) -> Option<Vec<ListedModel>> {
    let url = reqwest::Url::parse(&candidate.base_url).ok()?;
    let address = SocketAddr::new(url.host_str()?.parse().ok()?, url.port_or_known_default()?);
    // Most of these ports are closed, which a short timeout detects sooner than that for providers.
    let connecting = tokio::net::TcpStream::connect(address);
    tokio::time::timeout(limits::LOCAL_CONNECT, connecting).await.ok()?.ok()?;
    let listing = create_provider(candidate, client.clone()).list_models()?;
    let listed = tokio::time::timeout(limits::MODEL_LIST, listing).await.ok()?.ok()?;
    Some(models::filter_chat_models(listed))
}
