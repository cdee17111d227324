//! Capabilities of models by dialect and name (docs/reference/providers.md 4.1, 5): reasoning, its levels, and
//! refused parameters. Unknown models get no claims.

use serde_json::{Value, json};

use crate::anthropic::models as anthropic;
use crate::gemini::models as gemini;
use crate::openai_chat::dialect::{Dialect, PrefillFormat, ThinkingSwitch};
use crate::openai_responses::models as openai;
use turnleaf_domain::providers::capabilities::{ImageBounds, ParamSupport, ValueRange};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::tools::tool::WEB_SEARCH;
use turnleaf_domain::{Capabilities, Thinking};

use Thinking::{High, Low, Medium, Off};

/// The levels of models that can only switch thinking on or off.
const ON_OR_OFF: &[Thinking] = &[Off, Medium];
const LOW_TO_HIGH: &[Thinking] = &[Low, Medium, High];

/// Returns the capabilities of a model in this dialect.
pub fn capabilities(dialect: &Dialect, model: &str) -> Capabilities {
    let model = model.to_ascii_lowercase();
    let base = match dialect.thinking {
        ThinkingSwitch::OpenAi => openai::capabilities(&model),
        _ => {
            let (reasoning, levels) = thinking(dialect, &model);
            Capabilities::default().with_thinking(reasoning, levels)
        }
    };
    let most_stops = |_| dialect.max_stop_sequences;
    let known = Capabilities {
        temperature: base.temperature.map(|range| ValueRange { most: Some(dialect.max_temperature), ..range }),
        top_k: if dialect.takes_top_k { ParamSupport::always(ValueRange::at_least(1)) } else { ParamSupport::never() },
        stop_sequences: base.stop_sequences.map(most_stops),
        thinking_budget: takes_budget(dialect).then_some(ValueRange::at_least(1)),
        images: base.images.or_else(|| supports_images(dialect, &model)),
        image_bounds: image_bounds(dialect).unwrap_or(base.image_bounds),
        continues_text: dialect.prefill != PrefillFormat::Nothing,
        ..base
    };
    match dialect.thinking {
        // The server accepts these parameters and ignores them.
        ThinkingSwitch::DeepSeek => {
            Capabilities { stop_sequences: known.stop_sequences, ..known.without_sampling(true) }
        }
        // These models have fixed values and refuse any other.
        ThinkingSwitch::Moonshot if model.contains("kimi-k2.") || model.contains("kimi-k3") => {
            Capabilities { stop_sequences: known.stop_sequences, ..known.without_sampling(false) }
        }
        ThinkingSwitch::Xai if known.reasoning == ReasoningSupport::Always => {
            Capabilities { stop_sequences: ParamSupport::never(), ..known }
        }
        _ => known,
    }
}

/// Returns whether a model accepts images; `None` if its name does not tell. Gateways serve the models of others, so the
/// families are known in every dialect.
fn supports_images(dialect: &Dialect, model: &str) -> Option<bool> {
    if dialect.name == "demo" {
        return Some(true);
    }
    if dialect.thinking == ThinkingSwitch::DeepSeek {
        return Some(false);
    }
    let name = model.rsplit('/').next().unwrap_or(model);
    if name.contains("claude") {
        return Some(anthropic::supports_images(name));
    }
    let known = if name.starts_with("gemini-") { gemini::supports_images(name) } else { None };
    known.or_else(|| is_local_vision_model(model)).or_else(|| openai::supports_images(model))
}

/// Returns whether a model accepts images, by its name in lower case: open weights, and those that only their maker's
/// service and gateways have.
pub fn is_local_vision_model(model: &str) -> Option<bool> {
    const BLIND: [&str; 5] = ["gpt-oss", "deepseek-r1", "deepseek-v3", "grok-3", "grok-code"];
    const FAMILIES: [&str; 38] = [
        "llava",
        "moondream",
        "minicpm-v",
        "-vl",
        "2.5vl",
        "qvq",
        "vision",
        "multimodal",
        "pixtral",
        "llama-4",
        "llama4",
        "gemma-3-4b",
        "gemma-3-12b",
        "gemma-3-27b",
        "gemma3:4b",
        "gemma3:12b",
        "gemma3:27b",
        "gemma3:latest",
        "grok-4",
        "mistral-medium",
        "mistral-large-3",
        "mistral-large-2512",
        "mistral-small3.",
        "mistral-small-3.",
        "mistral-small-2503",
        "mistral-small-2506",
        "mistral-small-latest",
        "magistral-small-2509",
        "magistral-medium-2509",
        "ministral-3-",
        "internvl",
        "kimi-k2.5",
        "kimi-k2.6",
        "kimi-k3",
        "glm-4v",
        "glm-4.5v",
        "glm-4.6v",
        "nova-pro",
    ];
    let has = |parts: &[&str]| parts.iter().any(|part| model.contains(part));
    match has(&BLIND) {
        true => Some(false),
        false => (has(&FAMILIES) || model == "gemma3").then_some(true),
    }
}

/// Returns the image limits of servers that differ from the default.
fn image_bounds(dialect: &Dialect) -> Option<ImageBounds> {
    let usual = ImageBounds::default();
    match dialect.thinking {
        ThinkingSwitch::Groq => Some(ImageBounds { count: 5, bytes: 4 << 20, bytes_in_all: 16 << 20, ..usual }),
        ThinkingSwitch::Mistral => Some(ImageBounds { count: 8, ..usual }),
        ThinkingSwitch::Xai => Some(ImageBounds { kinds: &["image/png", "image/jpeg"], ..usual }),
        _ => None,
    }
}

fn takes_budget(dialect: &Dialect) -> bool {
    matches!(dialect.thinking, ThinkingSwitch::OpenRouter | ThinkingSwitch::Qwen)
}

fn thinking(dialect: &Dialect, model: &str) -> (ReasoningSupport, &'static [Thinking]) {
    let has = |part: &str| model.contains(part);
    let always = |levels: &'static [Thinking]| (ReasoningSupport::Always, levels);
    let optional = |levels: &'static [Thinking]| (ReasoningSupport::Optional, levels);
    const NEVER: (ReasoningSupport, &[Thinking]) = (ReasoningSupport::Never, &[]);
    match dialect.thinking {
        // OpenAI's models have a table of their own.
        ThinkingSwitch::Nothing | ThinkingSwitch::OpenAi => optional(&[]),
        ThinkingSwitch::OllamaEffort if has("gpt-oss") || has("deepseek-r1") => always(LOW_TO_HIGH),
        ThinkingSwitch::OllamaEffort if is_local_reasoner(model) => optional(&Thinking::LEVELS),
        ThinkingSwitch::OllamaEffort => optional(&[]),
        ThinkingSwitch::TemplateOff | ThinkingSwitch::Template => optional(ON_OR_OFF),
        ThinkingSwitch::OpenRouter => optional(&Thinking::LEVELS),
        ThinkingSwitch::DeepSeek if model == "deepseek-chat" => NEVER,
        ThinkingSwitch::DeepSeek if model == "deepseek-reasoner" => always(&[]),
        ThinkingSwitch::DeepSeek => optional(&[Off, Low, High]),
        ThinkingSwitch::Groq if has("gpt-oss") => always(LOW_TO_HIGH),
        ThinkingSwitch::Groq if has("deepseek-r1") => always(&[]),
        ThinkingSwitch::Groq if has("qwen3") => optional(ON_OR_OFF),
        ThinkingSwitch::Groq if has("llama") || has("gemma") => NEVER,
        ThinkingSwitch::Groq => optional(&[]),
        ThinkingSwitch::Mistral if has("magistral") => always(&[]),
        ThinkingSwitch::Mistral if has("codestral") || has("ministral") || has("nemo") => NEVER,
        ThinkingSwitch::Mistral if model.starts_with("mistral-small") || model.starts_with("mistral-medium") => {
            optional(&[Off, High])
        }
        ThinkingSwitch::Mistral => optional(&[]),
        ThinkingSwitch::Xai if has("grok-3-mini") => always(&[Low, High]),
        ThinkingSwitch::Xai if has("non-reasoning") => NEVER,
        ThinkingSwitch::Xai if has("grok-4") => always(&[]),
        ThinkingSwitch::Xai => optional(&[]),
        ThinkingSwitch::Zai => optional(ON_OR_OFF),
        ThinkingSwitch::Moonshot if has("kimi-k2.5") || has("kimi-k2.6") => optional(ON_OR_OFF),
        ThinkingSwitch::Moonshot if has("kimi-k2.") || has("kimi-k3") || has("-thinking") => always(&[]),
        ThinkingSwitch::Moonshot if has("moonshot-v1") => NEVER,
        ThinkingSwitch::Moonshot => optional(&[]),
        ThinkingSwitch::Qwen if has("qwq") || has("-thinking") => always(&[Medium]),
        ThinkingSwitch::Qwen => optional(ON_OR_OFF),
    }
}

/// Returns true for open-weight models that accept a thinking switch, by their name in lower case. Servers refuse it
/// for other models ("does not support thinking").
pub fn is_local_reasoner(model: &str) -> bool {
    const FAMILIES: [&str; 13] = [
        "gpt-oss",
        "qwen3",
        "qwq",
        "deepseek-r1",
        "deepseek-v3.1",
        "deepseek-v4",
        "magistral",
        "glm-4",
        "granite-4",
        "phi4-reasoning",
        "cogito",
        "exaone-deep",
        "tour",
    ];
    model == "reasoning" || FAMILIES.iter().any(|family| model.contains(family))
}

/// Returns the provider tools of an endpoint: OpenRouter offers web search for every model.
pub fn provider_tools(dialect: &Dialect) -> &'static [&'static str] {
    if dialect.name == "openrouter" { &[WEB_SEARCH] } else { &[] }
}

/// Returns the declaration of a provider tool in a request.
pub fn provider_tool(dialect: &Dialect, tool: &str) -> Option<Value> {
    provider_tools(dialect).contains(&tool).then(|| json!({"type": format!("openrouter:{tool}")}))
}

#[cfg(test)]
mod tests;
