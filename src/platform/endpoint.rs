//! Provider endpoints: the interface between the configuration, which produces them, and the room `providers`.

use std::ops::RangeInclusive;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use crate::credentials;
use turnleaf_domain::{InvalidField, limits};

/// The protocol of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ProviderApi {
    /// OpenAI chat completions, in one of many dialects.
    #[default]
    OpenaiChat,
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini's native API, `streamGenerateContent`.
    Gemini,
    /// Ollama's native API, `/api/chat`.
    Ollama,
}

impl ProviderApi {
    pub const ALL: &[Self] = &[Self::OpenaiChat, Self::OpenaiResponses, Self::Anthropic, Self::Gemini, Self::Ollama];

    /// Returns the name in configurations and on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenaiChat => "openai_chat",
            Self::OpenaiResponses => "openai_responses",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::Anthropic => "anthropic",
        }
    }

    /// Adds `/v1` to Anthropic base URLs without it: they are usually written without, because Anthropic's own
    /// clients add it.
    pub fn with_version_path(self, base_url: String) -> String {
        if self == Self::Anthropic && !base_url.ends_with("/v1") { format!("{base_url}/v1") } else { base_url }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|api| api.as_str() == name)
    }
}

/// One provider, as the environment, the configuration file or a person in Settings defines it.
#[derive(Debug, Clone, Default)]
pub struct ProviderEndpoint {
    /// The stable id that branch locks refer to (`openai`, `my-server`).
    pub id: String,
    /// The display name.
    pub name: String,
    pub api: ProviderApi,
    /// The row of the dialect table for `openai_chat` (`openai`, `ollama`, `llamacpp`, `vllm`, `openrouter`,
    /// `deepseek`, `lmstudio`, `groq`, `mistral`, `xai`, `zai`, `moonshot`, `qwen`). If empty, it is derived from the
    /// base URL, else `generic`.
    pub dialect: String,
    /// The URL that the API's paths are appended to. `openai_chat` and `openai_responses`: `/chat/completions` or
    /// `/responses`, and `/models`, below a URL that usually ends in `/v1`. `anthropic`: `/messages` and `/models`
    /// below a URL that always does. `gemini`: `/models/…` below a URL that ends in `/v1beta`, which is added if
    /// there is no path. `ollama`: `/api/chat` and `/api/tags` below the server's own URL; a final `/api` or `/v1` is
    /// ignored.
    pub base_url: String,
    /// The API key. Absent for servers without keys. `SecretString` redacts itself when printed.
    pub api_key: Option<SecretString>,
    /// Additional headers of every request. Their values may be secrets.
    pub headers: Vec<(String, SecretString)>,
    /// The models to offer. If empty, the provider's model list is used.
    pub models: Vec<String>,
    pub default_model: Option<String>,
    /// Models that no menu shows.
    pub hidden_models: Vec<String>,
    /// True if the endpoint may be on this machine or the local network. If not, only public addresses are connected
    /// to.
    pub local_network: bool,
    /// True if the provider may keep conversations (`openai_responses` only, `store`), so that a request can continue
    /// from its last response. Otherwise nothing is kept, and every request has the whole conversation.
    pub keeps_responses: bool,
    pub retry_policy: RetryPolicy,
    /// The setting that defines the endpoint, such as a variable's name. `None` if a person can edit it.
    pub set_by: Option<String>,
}

/// The retry and timeout settings of a provider. Unset values have defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The number of retries of a request without any content.
    pub retries: Option<u32>,
    /// The timeout for the first byte and between bytes. A thinking model has a longer one.
    pub silence: Option<Duration>,
}

impl RetryPolicy {
    /// Creates a policy from stored or configured values.
    ///
    /// # Errors
    /// A number is out of range; the error names it.
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
    /// Returns true if both are set in the same way, secrets included.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let exposed = |endpoint: &Self| -> Vec<String> {
            endpoint.secrets().map(|secret| secret.expose_secret().to_owned()).collect()
        };
        let plain = |endpoint: &Self| {
            let Self { id, name, dialect, base_url, models, default_model, hidden_models, set_by, .. } =
                endpoint.clone();
            let header_names: Vec<String> = endpoint.headers.iter().map(|(name, _)| name.clone()).collect();
            ((id, name, dialect, base_url, set_by), (models, default_model, hidden_models), header_names)
        };
        let switches =
            |endpoint: &Self| (endpoint.api, endpoint.local_network, endpoint.keeps_responses, endpoint.retry_policy);
        let has_same_key = self.api_key.is_some() == other.api_key.is_some();
        plain(self) == plain(other)
            && switches(self) == switches(other)
            && has_same_key
            && exposed(self) == exposed(other)
    }

    /// Returns everything that is sent to the endpoint and must not be displayed.
    pub fn secrets(&self) -> impl Iterator<Item = &SecretString> {
        self.api_key.iter().chain(self.headers.iter().map(|(_, value)| value))
    }

    /// Returns the credentials to redact from its replies and from exports: its key and those in its headers. Other
    /// header values are ordinary text, which replies may contain.
    pub fn credentials(&self) -> impl Iterator<Item = SecretString> {
        let key = self.api_key.clone().filter(|key| credentials::is_credential(key.expose_secret()));
        let of_headers = self.headers.iter().flat_map(|(name, value)| credentials::extract_credentials(name, value));
        key.into_iter().chain(of_headers)
    }
}

/// Returns true for a valid provider id: 1 to 64 characters of a-z, 0-9, - and _, except that of the demo.
pub fn is_provider_id(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_';
    (1..=64).contains(&text.len()) && text.bytes().all(is_plain) && text != "demo"
}

/// Returns true for a valid tool server id: 1 to 32 characters of a-z, 0-9 and -, so that wire names (`server__tool`)
/// are unambiguous, except the id of provider tools.
pub fn is_tool_server_id(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=32).contains(&text.len()) && text.bytes().all(is_plain) && text != "provider"
}
