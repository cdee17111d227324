//! A configured way to a provider, as plain values: what the configuration reads and what the outbound room connects to.

use secrecy::SecretString;

/// One configured connection to a provider that speaks a dialect of the chat API.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Stable name in URLs, locks and settings: `openai`, `ollama`, or the id from the configuration file.
    pub id: String,
    /// What people read.
    pub name: String,
    /// Name of the dialect table (providers.md 5), such as `openai`, `ollama`, `deepseek`.
    pub dialect: String,
    /// Up to and with the version segment, without a final slash: `https://api.openai.com/v1`.
    pub base_url: String,
    /// Absent for servers that need none.
    pub api_key: Option<SecretString>,
    /// Models to offer when the provider cannot list them, or to limit the list to.
    pub models: Vec<String>,
    pub default_model: Option<String>,
    /// Set by the environment, so shown as such in Settings and not editable there.
    pub from_environment: bool,
}
