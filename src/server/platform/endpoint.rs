//! A configured provider endpoint: what the configuration produces and the room `outbound` consumes.

use secrecy::SecretString;

/// One provider as the environment or the configuration file names it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The stable id that locks name (`openai`, `my-server`).
    pub id: String,
    /// The name for people.
    pub name: String,
    /// The row of the dialect table (`openai`, `ollama`, `llamacpp`, `vllm`, `openrouter`, `deepseek`, `lmstudio`,
    /// `groq`, `mistral`, `xai`, `zai`, `moonshot`, `qwen`); empty lets the base URL decide, `generic` when it cannot.
    pub dialect: String,
    /// Where `/chat/completions` and `/models` hang, usually ending in `/v1`.
    pub base_url: String,
    /// Absent for keyless servers. Never printed: `SecretString` redacts itself.
    pub api_key: Option<SecretString>,
    /// Models to offer without asking the provider; empty asks it.
    pub models: Vec<String>,
    pub default_model: Option<String>,
}
