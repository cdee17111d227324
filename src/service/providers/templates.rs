//! Templates for a new connection: known providers, servers on this machine, and an empty form.

use turnleaf_platform::config::presets::PRESETS;
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::registry::local_servers;

/// One template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderTemplate {
    pub id: &'static str,
    pub name: String,
    pub api: &'static str,
    pub dialect: String,
    pub base_url: String,
    pub local_network: bool,
    /// The page where its owner gets a key.
    pub keys_at: Option<&'static str>,
}

const KEYS_AT: [(&str, &str); 9] = [
    ("openai", "https://platform.openai.com/api-keys"),
    ("openai_responses", "https://platform.openai.com/api-keys"),
    ("gemini", "https://aistudio.google.com/apikey"),
    ("anthropic", "https://console.anthropic.com/settings/keys"),
    ("openrouter", "https://openrouter.ai/settings/keys"),
    ("deepseek", "https://platform.deepseek.com/api_keys"),
    ("groq", "https://console.groq.com/keys"),
    ("mistral", "https://console.mistral.ai/api-keys"),
    ("xai", "https://console.x.ai"),
];

/// The id of the empty template.
pub const OTHER_TEMPLATE: &str = "other";

/// Returns all templates, the empty one last.
pub fn provider_templates() -> Vec<ProviderTemplate> {
    let mut starts: Vec<ProviderTemplate> = PRESETS
        .iter()
        .map(|preset| ProviderTemplate {
            id: preset.id,
            name: preset.name.to_owned(),
            api: preset.api.as_str(),
            dialect: preset.dialect.to_owned(),
            base_url: preset.base_url.to_owned(),
            local_network: false,
            keys_at: KEYS_AT.iter().find(|(id, _)| *id == preset.id).map(|(_, page)| *page),
        })
        .collect();
    for (id, local) in ["ollama", "llamacpp", "lmstudio"].into_iter().zip(local_servers::candidates()) {
        starts.push(ProviderTemplate {
            id,
            name: local.name,
            api: local.api.as_str(),
            dialect: local.dialect,
            base_url: local.base_url,
            local_network: true,
            keys_at: None,
        });
    }
    starts.push(ProviderTemplate {
        id: OTHER_TEMPLATE,
        name: String::new(),
        api: ProviderApi::OpenaiChat.as_str(),
        dialect: String::new(),
        base_url: String::new(),
        local_network: false,
        keys_at: None,
    });
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn template_is_named_after_its_server() {
        for start in provider_templates().iter().filter(|start| start.local_network) {
            let local = local_servers::candidates().into_iter().find(|local| local.id == start.id).unwrap();
            assert_eq!((start.base_url.as_str(), start.name.as_str()), (local.base_url.as_str(), local.name.as_str()));
        }
        assert_eq!(provider_templates().last().map(|start| start.id), Some(OTHER_TEMPLATE));
    }
}
