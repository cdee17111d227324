//! Dialects: a table of the differences between servers that implement chat completions
//! (docs/reference/providers.md 5). The configured endpoint determines the dialect; it is never guessed from the name
//! of a model.

use crate::tool_schema::subset::SchemaSubset;

/// The form in which reasoning is sent back to the same model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningFormat {
    Nothing,
    /// In this field of the message.
    Field(&'static str),
    /// In the members in which it was received: a field, `reasoning_details` or both.
    AsItCame,
    /// The same, but only in replies with tool calls.
    AsItCameWithTools,
    /// As the unmodified `reasoning_details` array.
    Details,
    /// As a `thinking` part of a content array.
    ContentParts,
}

/// The form in which a request controls reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingSwitch {
    Nothing,
    /// `reasoning_effort` with the values that the model's generation accepts.
    OpenAi,
    /// `reasoning_effort` with `none`, for models that are known to reason.
    OllamaEffort,
    /// `chat_template_kwargs`, only to switch reasoning off: the server's default is on.
    TemplateOff,
    /// `chat_template_kwargs`, to switch reasoning on or off.
    Template,
    OpenRouter,
    DeepSeek,
    Groq,
    Mistral,
    Xai,
    Zai,
    Moonshot,
    Qwen,
}

/// The form in which a request ends with the beginning of the reply, for the model to continue
/// (docs/reference/providers.md 2.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefillFormat {
    /// The server has no documented form, and would begin another reply.
    Nothing,
    /// The last message is the assistant's.
    LastMessage,
    /// The last message is the assistant's, and this member of it is true.
    Member(&'static str),
    /// The last message is the assistant's, and parameters of the chat template leave it open.
    TemplateParams,
}

/// One row of the table.
#[derive(Debug, PartialEq)]
pub struct Dialect {
    pub name: &'static str,
    /// Other names of the same dialect.
    pub aliases: &'static [&'static str],
    /// The domains of the dialect: the endpoint's host equals one of them or is below it.
    pub hosts: &'static [&'static str],
    pub reasoning_format: ReasoningFormat,
    /// A turn with tool calls must have the reasoning field, even an empty one.
    pub reasoning_required_with_tools: bool,
    pub thinking: ThinkingSwitch,
    pub max_tokens_key: &'static str,
    pub takes_top_k: bool,
    /// The highest temperature.
    pub max_temperature: f64,
    /// The maximum number of stop sequences.
    pub max_stop_sequences: u32,
    /// The server accepts `stream_options.include_usage`.
    pub takes_stream_options: bool,
    /// A message that has only tool calls has `content: null` instead of `""`.
    pub empty_content_is_null: bool,
    /// A refusal goes back in its own field; otherwise it goes back as text.
    pub sends_refusal: bool,
    /// Vendor members of messages and calls go back where they came from. Servers that never send any, or that refuse
    /// what they do not know, get none.
    pub sends_vendor_members: bool,
    /// Images of the model go back unchanged.
    pub sends_images: bool,
    pub prefill: PrefillFormat,
    /// The server refuses a user message directly after a tool message.
    pub answers_tools_before_user: bool,
    /// `[DONE]` alone proves completeness, because the server sends no `finish_reason`.
    pub done_completes: bool,
    /// The model to use if the configuration names none.
    pub default_model: Option<&'static str>,
}

/// The dialect of an unknown server. It sends nothing that a server could refuse, except reasoning in the members in
/// which the server sent it: many models need it in tool loops, and a refusal is repaired.
const GENERIC: Dialect = Dialect {
    name: "generic",
    aliases: &[
        "aihubmix",
        "cerebras",
        "copilot",
        "crusoe",
        "doubleword",
        "fireworks",
        "githubcopilot",
        "gpustack",
        "huggingface",
        "openaicompat",
        "perplexity",
        "together",
        "venice",
    ],
    hosts: &[],
    reasoning_format: ReasoningFormat::AsItCameWithTools,
    reasoning_required_with_tools: false,
    thinking: ThinkingSwitch::Nothing,
    max_tokens_key: "max_tokens",
    takes_top_k: false,
    max_temperature: 2.0,
    max_stop_sequences: 4,
    takes_stream_options: true,
    empty_content_is_null: false,
    sends_refusal: false,
    sends_vendor_members: true,
    sends_images: false,
    prefill: PrefillFormat::Nothing,
    answers_tools_before_user: false,
    done_completes: false,
    default_model: None,
};

/// The table. The first row is the default of `turnleaf replay`.
pub static DIALECTS: &[Dialect] = &[
    Dialect {
        name: "openai",
        aliases: &["azure", "azureopenai"],
        hosts: &["api.openai.com", "openai.azure.com", "services.ai.azure.com"],
        reasoning_format: ReasoningFormat::Nothing,
        thinking: ThinkingSwitch::OpenAi,
        max_tokens_key: "max_completion_tokens",
        empty_content_is_null: true,
        sends_refusal: true,
        default_model: Some("gpt-5-mini"),
        sends_vendor_members: false,
        ..GENERIC
    },
    Dialect {
        name: "ollama",
        aliases: &["ollamacloud"],
        hosts: &["ollama.com"],
        reasoning_format: ReasoningFormat::Field("reasoning"),
        thinking: ThinkingSwitch::OllamaEffort,
        ..GENERIC
    },
    Dialect {
        name: "llamacpp",
        aliases: &["llama", "llamaserver"],
        reasoning_format: ReasoningFormat::Field("reasoning_content"),
        thinking: ThinkingSwitch::TemplateOff,
        max_stop_sequences: 16,
        takes_top_k: true,
        empty_content_is_null: true,
        prefill: PrefillFormat::LastMessage,
        ..GENERIC
    },
    Dialect {
        name: "vllm",
        aliases: &["sglang"],
        reasoning_format: ReasoningFormat::AsItCame,
        thinking: ThinkingSwitch::Template,
        max_stop_sequences: 16,
        takes_top_k: true,
        empty_content_is_null: true,
        prefill: PrefillFormat::TemplateParams,
        ..GENERIC
    },
    Dialect {
        name: "openrouter",
        aliases: &[],
        hosts: &["openrouter.ai"],
        reasoning_format: ReasoningFormat::Details,
        thinking: ThinkingSwitch::OpenRouter,
        takes_top_k: true,
        default_model: Some("openrouter/auto"),
        sends_images: true,
        ..GENERIC
    },
    Dialect {
        name: "deepseek",
        aliases: &[],
        hosts: &["api.deepseek.com"],
        reasoning_format: ReasoningFormat::Field("reasoning_content"),
        reasoning_required_with_tools: true,
        thinking: ThinkingSwitch::DeepSeek,
        max_stop_sequences: 16,
        default_model: Some("deepseek-chat"),
        sends_vendor_members: false,
        ..GENERIC
    },
    Dialect { name: "lmstudio", aliases: &[], ..GENERIC },
    Dialect {
        name: "groq",
        aliases: &[],
        hosts: &["api.groq.com"],
        reasoning_format: ReasoningFormat::Nothing,
        thinking: ThinkingSwitch::Groq,
        default_model: Some("openai/gpt-oss-120b"),
        sends_vendor_members: false,
        prefill: PrefillFormat::LastMessage,
        ..GENERIC
    },
    Dialect {
        name: "mistral",
        aliases: &[],
        hosts: &["api.mistral.ai"],
        reasoning_format: ReasoningFormat::ContentParts,
        max_temperature: 1.5,
        thinking: ThinkingSwitch::Mistral,
        answers_tools_before_user: true,
        takes_stream_options: false,
        default_model: Some("mistral-small-latest"),
        sends_vendor_members: false,
        prefill: PrefillFormat::Member("prefix"),
        ..GENERIC
    },
    Dialect {
        name: "xai",
        aliases: &["grok"],
        hosts: &["api.x.ai"],
        reasoning_format: ReasoningFormat::Nothing,
        thinking: ThinkingSwitch::Xai,
        default_model: Some("grok-4"),
        sends_vendor_members: false,
        ..GENERIC
    },
    Dialect {
        name: "zai",
        aliases: &["glm", "zhipu"],
        hosts: &["api.z.ai", "open.bigmodel.cn"],
        reasoning_format: ReasoningFormat::Field("reasoning_content"),
        thinking: ThinkingSwitch::Zai,
        default_model: Some("glm-4.7"),
        ..GENERIC
    },
    Dialect {
        name: "moonshot",
        aliases: &["kimi"],
        hosts: &["api.moonshot.ai", "api.moonshot.cn"],
        reasoning_format: ReasoningFormat::Field("reasoning_content"),
        reasoning_required_with_tools: true,
        thinking: ThinkingSwitch::Moonshot,
        max_temperature: 1.0,
        prefill: PrefillFormat::Member("partial"),
        ..GENERIC
    },
    Dialect {
        name: "qwen",
        aliases: &["alibaba", "dashscope"],
        hosts: &["aliyuncs.com"],
        thinking: ThinkingSwitch::Qwen,
        takes_top_k: true,
        prefill: PrefillFormat::Member("partial"),
        ..GENERIC
    },
    Dialect { name: "snowflake", aliases: &[], hosts: &["snowflakecomputing.com"], done_completes: true, ..GENERIC },
    Dialect {
        name: "demo",
        aliases: &[],
        reasoning_format: ReasoningFormat::Field("reasoning_content"),
        thinking: ThinkingSwitch::OllamaEffort,
        ..GENERIC
    },
    GENERIC,
];

impl Dialect {
    /// Returns the schema language of its tools.
    pub fn schema_subset(&self) -> SchemaSubset {
        if self.name == "openai" { SchemaSubset::OpenAi } else { SchemaSubset::Common }
    }

    /// Finds a dialect by name or alias, ignoring case and punctuation.
    pub fn from_name(name: &str) -> Option<&'static Self> {
        let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        DIALECTS.iter().find(|row| row.name == plain || row.aliases.contains(&plain.as_str()))
    }

    /// Returns the dialect of an endpoint: by its configured name, otherwise by its host, otherwise the generic one.
    pub fn for_endpoint(configured: &str, base_url: &str) -> &'static Self {
        let host = host_of(base_url);
        let is_under = |domain: &&str| host == **domain || host.ends_with(&format!(".{domain}"));
        Self::from_name(configured)
            .or_else(|| DIALECTS.iter().find(|row| row.hosts.iter().any(is_under)))
            .unwrap_or(&GENERIC)
    }
}

fn host_of(base_url: &str) -> String {
    reqwest::Url::parse(base_url).ok().and_then(|url| Some(url.host_str()?.to_owned())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_gets_dialect_by_name_or_host() {
        for (configured, base_url, expected) in [
            ("", "https://api.openai.com/v1", "openai"),
            ("", "https://mine.openai.azure.com/openai/v1", "openai"),
            ("", "https://openrouter.ai/api/v1", "openrouter"),
            ("", "https://eu.api.deepseek.com", "deepseek"),
            ("", "https://notopenrouter.ai/v1", "generic"),
            ("", "http://127.0.0.1:9/v1", "generic"),
            ("", "nonsense", "generic"),
            ("llama.cpp", "http://127.0.0.1:8080/v1", "llamacpp"),
            ("vllm", "https://api.openai.com/v1", "vllm"),
            ("SGLang", "http://127.0.0.1:30000/v1", "vllm"),
            ("LM Studio", "http://127.0.0.1:1234/v1", "lmstudio"),
            ("unheard-of", "https://api.groq.com/openai/v1", "groq"),
        ] {
            assert_eq!(Dialect::for_endpoint(configured, base_url).name, expected, "{configured:?} {base_url}");
        }
    }

    #[test]
    fn every_dialect_name_is_unique() {
        let mut names: Vec<&str> =
            DIALECTS.iter().flat_map(|row| row.aliases.iter().chain([&row.name])).copied().collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| Dialect::from_name(name).is_some()));
    }
}
