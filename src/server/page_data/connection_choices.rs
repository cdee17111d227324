//! The connection options that a server without a provider offers.

use crate::api::view::ConnectionOption;
use turnleaf_service::providers::{OTHER_TEMPLATE, ProviderTemplate, provider_templates};

/// The most common templates, in the order of the first page.
const FIRST_CHOICES: [&str; 6] = ["anthropic", "openai", "gemini", "openrouter", "ollama", OTHER_TEMPLATE];

/// Returns the connection options that are offered first.
pub(super) fn connection_choices() -> Vec<ConnectionOption> {
    let starts = provider_templates();
    let option = |start: &ProviderTemplate| ConnectionOption {
        id: start.id.to_owned(),
        name: start.name.clone(),
        api: start.api.to_owned(),
        dialect: start.dialect.clone(),
        base_url: start.base_url.clone(),
        local_network: start.local_network,
        keys_at: start.keys_at.map(str::to_owned),
    };
    FIRST_CHOICES.iter().filter_map(|id| starts.iter().find(|start| start.id == *id)).map(option).collect()
}
