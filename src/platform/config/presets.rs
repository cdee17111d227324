//! The providers that are known by name.

use crate::endpoint::Api;

/// A provider that is known by name: what its key and its address are called, and where it is.
pub struct Preset {
    pub id: &'static str,
    pub name: &'static str,
    pub api: Api,
    pub dialect: &'static str,
    /// Variables that may hold the key; the first that is set counts.
    pub keys: &'static [&'static str],
    /// Variables that may hold another address; the first that is set counts.
    pub address: &'static [&'static str],
    pub base_url: &'static str,
}

pub const PRESETS: &[Preset] = &[
    Preset {
        id: "openai",
        name: "OpenAI",
        api: Api::OpenaiChat,
        dialect: "openai",
        keys: &["OPENAI_API_KEY"],
        address: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        base_url: "https://api.openai.com/v1",
    },
    Preset {
        id: "openai_responses",
        name: "OpenAI (Responses)",
        api: Api::OpenaiResponses,
        dialect: "",
        keys: &["OPENAI_API_KEY"],
        address: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
        base_url: "https://api.openai.com/v1",
    },
    Preset {
        id: "gemini",
        name: "Gemini",
        api: Api::Gemini,
        dialect: "",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        address: &["GEMINI_BASE_URL"],
        base_url: "https://generativelanguage.googleapis.com/v1beta",
    },
    Preset {
        id: "anthropic",
        name: "Anthropic",
        api: Api::Anthropic,
        dialect: "",
        keys: &["ANTHROPIC_API_KEY"],
        address: &["ANTHROPIC_BASE_URL"],
        base_url: "https://api.anthropic.com/v1",
    },
    Preset {
        id: "openrouter",
        name: "OpenRouter",
        api: Api::OpenaiChat,
        dialect: "openrouter",
        keys: &["OPENROUTER_API_KEY"],
        address: &[],
        base_url: "https://openrouter.ai/api/v1",
    },
    Preset {
        id: "deepseek",
        name: "DeepSeek",
        api: Api::OpenaiChat,
        dialect: "deepseek",
        keys: &["DEEPSEEK_API_KEY"],
        address: &[],
        base_url: "https://api.deepseek.com/v1",
    },
    Preset {
        id: "groq",
        name: "Groq",
        api: Api::OpenaiChat,
        dialect: "groq",
        keys: &["GROQ_API_KEY"],
        address: &[],
        base_url: "https://api.groq.com/openai/v1",
    },
    Preset {
        id: "mistral",
        name: "Mistral",
        api: Api::OpenaiChat,
        dialect: "mistral",
        keys: &["MISTRAL_API_KEY"],
        address: &[],
        base_url: "https://api.mistral.ai/v1",
    },
    Preset {
        id: "xai",
        name: "xAI",
        api: Api::OpenaiChat,
        dialect: "xai",
        keys: &["XAI_API_KEY"],
        address: &[],
        base_url: "https://api.x.ai/v1",
    },
];
