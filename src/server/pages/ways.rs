//! The ways to connect a provider that a server without one offers.

use crate::api::view::Way;
use turnleaf_service::providers::{OTHER, Start, starts};

/// What is connected most, in the order of the first page.
const FIRST: [&str; 6] = ["anthropic", "openai", "gemini", "openrouter", "ollama", OTHER];

/// The ways to connect a provider that are offered first.
pub(super) fn ways() -> Vec<Way> {
    let starts = starts();
    let way = |start: &Start| Way {
        id: start.id.to_owned(),
        name: start.name.clone(),
        api: start.api.to_owned(),
        dialect: start.dialect.clone(),
        base_url: start.base_url.clone(),
        local_network: start.local_network,
        keys_at: start.keys_at.map(str::to_owned),
    };
    FIRST.iter().filter_map(|id| starts.iter().find(|start| start.id == *id)).map(way).collect()
}
