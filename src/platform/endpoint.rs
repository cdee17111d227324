//! A configured provider endpoint: what the configuration produces and the room `providers` consumes.

use std::ops::RangeInclusive;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use crate::credentials;
use turnleaf_domain::{InvalidField, limits};

/// The protocol that an endpoint speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProviderApi {
    /// Chat completions, in one of many dialects.
    #[default]
    OpenaiChat,
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's own, `streamGenerateContent`.
    Gemini,
    /// Ollama's own, `/api/chat`.
    Ollama,
}

impl ProviderApi {
    pub const ALL: &[Self] = &[Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// The name in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Anthropic => "anthropic",
        }
    }

    /// An address as this API's paths hang on it. Anthropic's is usually written without the `/v1` that everybody else's
    /// has: its own clients add that part.
    pub fn with_version_path(self, base_url: String) -> String {
        if self == Self::Anthropic && !base_url.ends_with("/v1") { format!("{base_url}/v1") } else { base_url }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|api| api.as_str() == name)
    }
}

/// One provider as the environment, the configuration file or a person in the settings names it.
#[derive(Debug, Clone, Default)]
pub struct ProviderEndpoint {
    /// The stable id that locks name (`openai`, `my-server`).
    pub id: String,
    /// The name for people.
    pub name: String,
    pub api: ProviderApi,
    /// For `openai_chat`: the row of the dialect table (`openai`, `ollama`, `llamacpp`, `vllm`, `openrouter`, `deepseek`, `lmstudio`,
    /// `groq`, `mistral`, `xai`, `zai`, `moonshot`, `qwen`); empty lets the base URL decide, `generic` when it cannot.
    pub dialect: String,
    /// What the API's paths hang on. `openai_chat` and `openai_responses`: `/chat/completions` or `/responses`, and
    /// `/models`, below an address that usually ends in `/v1`. `anthropic`: `/messages` and `/models` below one that always does. `gemini`: `/models/…` below one that ends in `/v1beta`,
    /// which is added where there is no path at all. `ollama`: `/api/chat` and `/api/tags` below the server's own
    /// address; a final `/api` or `/v1` does not matter.
    pub base_url: String,
    /// Absent for keyless servers. Never printed: `SecretString` redacts itself.
    pub api_key: Option<SecretString>,
    /// Further headers of every request. Their values may be secrets too.
    pub headers: Vec<(String, SecretString)>,
    /// Models to offer without asking the provider; empty asks it.
    pub models: Vec<String>,
    pub default_model: Option<String>,
    /// Models that no menu shows.
    pub hidden_models: Vec<String>,
    /// Whether it may be on this machine or the local network. Where not, only addresses of the open internet are
    /// connected to.
    pub local_network: bool,
    /// For `openai_responses`: the provider may keep what is said (`store`), and a request may go on from its last
    /// response. Otherwise nothing is kept there, and every request has the whole conversation.
    pub keeps_responses: bool,
    pub retry_policy: RetryPolicy,
    /// The setting that makes it, such as a variable's name; nothing where a person can edit it.
    pub set_by: Option<String>,
}

/// How long a provider is waited for, where somebody said so. What is not said is as usual.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a request that nothing came of is sent again.
    pub retries: Option<u32>,
    /// How long it may be silent: before the first byte, and between any two. A model that thinks may be silent longer.
    pub silence: Option<Duration>,
}

impl RetryPolicy {
    /// Of what is stored or configured.
    ///
    /// # Errors
    /// A number out of its bounds, by its name.
    pub fn new(retries: Option<u32>, silence_seconds: Option<u32>) -> Result<Self, InvalidField> {
        let within = |name: &str, number: Option<u32>, bounds: RangeInclusive<u32>| {
            number.map(|number| InvalidField::check_range(name, number, bounds)).transpose()
        };
        let retries = within("retries", retries, limits::PROVIDER_RETRIES)?;
        let silence = within("silence_seconds", silence_seconds, limits::PROVIDER_SILENCE_SECONDS)?;
        Ok(Self { retries, silence: silence.map(|seconds| Duration::from_secs(u64::from(seconds))) })
    }
}

impl ProviderEndpoint {
    /// What is sent to it and shown to nobody.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value))
    }

    /// What is taken out of its replies and of exports: its key and the credentials in its headers. Other header values
    /// are ordinary text, which replies may well hold.
    pub fn credentials(&self) -> impl Iterator<Item = SecretString> {
        let key = self.api_key.clone().filter(|key| credentials::is_credential(key.expose_secret()));
        let of_headers = self.headers.iter().flat_map(|(name, value)| credentials::extract_credentials(name, value));
        key.into_iter().chain(of_headers)
    }
}

/// Whether a text can be a provider's id: 1 to 64 of a-z, 0-9, - and _, and not the demo's.
pub fn is_provider_id(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && text != "demo"
}

/// Whether a text can be a tool server's id: 1 to 32 of a-z, 0-9 and -, so that a tool's name on the wire
/// (`server__tool`) can be another's in no way, and not the word under which providers' own tools are chosen.
pub fn is_tool_server_id(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(is_plain) && text != "provider"
}
