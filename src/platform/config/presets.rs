//! The provider presets.

use crate::endpoint::ProviderApi;

/// A provider known by name: its URL, and the environment variables of its key and URL.
pub struct ProviderPreset {
    pub id: &'static str,
    pub name: &'static str,
    pub api: ProviderApi,
    pub dialect: &'static str,
    /// The variables that may contain the key; the first one set wins.
    pub keys: &'static [&'static str],
    /// The variables that may contain another URL; the first one set wins.
    pub address: &'static [&'static str],
    pub base_url: &'static str,
}

pub const PRESETS: &[ProviderPreset] = &[
    ProviderPreset {
        id: "openai",
        name: "OpenAI",
        api: ProviderApi::OpenaiChat,
        dialect: "openai",
        keys: &["OPENAI_API_KEY"],
        address: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        base_url: "https://api.openai.com/v1",
    },
    ProviderPreset {
        id: "openai_responses",
        name: "OpenAI (Responses)",
        api: ProviderApi::OpenaiResponses,
        dialect: "",
        keys: &["OPENAI_API_KEY"],
        address: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        base_url: "https://api.openai.com/v1",
    },
    ProviderPreset {
        id: "gemini",
        name: "Gemini",
        api: ProviderApi::Gemini,
        dialect: "",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address: &["GEMINI_BASE_URL"],
        base_url: "https://generativelanguage.googleapis.com/v1beta",
    },
    ProviderPreset {
        id: "anthropic",
        name: "Anthropic",
        api: ProviderApi::Anthropic,
        dialect: "",
        keys: &["ANTHROPIC_API_KEY"],
        address: &["ANTHROPIC_BASE_URL"],
        base_url: "https://api.anthropic.com/v1",
    },
    ProviderPreset {
        id: "openrouter",
        name: "OpenRouter",
        api: ProviderApi::OpenaiChat,
        dialect: "openrouter",
        keys: &["OPENROUTER_API_KEY"],
        address: &[],
        base_url: "https://openrouter.ai/api/v1",
    },
    ProviderPreset {
        id: "deepseek",
        name: "DeepSeek",
        api: ProviderApi::OpenaiChat,
        dialect: "deepseek",
        keys: &["DEEPSEEK_API_KEY"],
        address: &[],
        base_url: "https://api.deepseek.com/v1",
    },
    ProviderPreset {
        id: "groq",
        name: "Groq",
        api: ProviderApi::OpenaiChat,
        dialect: "groq",
        keys: &["GROQ_API_KEY"],
        address: &[],
        base_url: "https://api.groq.com/openai/v1",
    },
    ProviderPreset {
        id: "mistral",
        name: "Mistral",
        api: ProviderApi::OpenaiChat,
        dialect: "mistral",
        keys: &["MISTRAL_API_KEY"],
        address: &[],
        base_url: "https://api.mistral.ai/v1",
    },
    ProviderPreset {
        id: "xai",
        name: "xAI",
        api: ProviderApi::OpenaiChat,
        dialect: "xai",
        keys: &["XAI_API_KEY"],
        address: &[],
        base_url: "https://api.x.ai/v1",
    },
];
