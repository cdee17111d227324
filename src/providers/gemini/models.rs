//! Capabilities of each generation of Gemini models: the form of thinking, support for a system instruction, the
//! maximum length of a reply (docs/reference/providers.md 7.1). Parameters of unknown models are not sent, because
//! the API refuses what a model does not support.

use serde_json::{Map, Value, json};

use turnleaf_domain::providers::capabilities::{ImageBounds, ParamSupport, ValueRange};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::tools::tool::{CODE_EXECUTION, WEB_SEARCH};
use turnleaf_domain::{Capabilities, Thinking};

/// The form in which a request controls thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingControl {
    /// The model cannot think and refuses a `thinkingConfig`.
    Nothing,
    /// Unknown model: only `includeThoughts` is sent, and only if thinking is requested.
    Unknown,
    /// The model decides by itself how much it thinks; thoughts can be included.
    Fixed,
    /// `thinkingBudget` in tokens; 0 switches thinking off if `can_be_off`.
    Budget { least: u32, most: u32, can_be_off: bool },
    /// `thinkingLevel`, with the accepted levels from the lowest to the highest.
    Level(&'static [&'static str]),
}

const ALL_LEVELS: &[&str] = &["minimal", "low", "medium", "high"];
const FROM_LOW: &[&str] = &["low", "medium", "high"];
/// The levels of the first models of generation 3.
const LOW_OR_HIGH: &[&str] = &["low", "high"];

/// Returns the thinking control of a model.
pub fn thinking_control(model: &str) -> ThinkingControl {
    let model = bare_name(model);
    let has = |part: &str| model.contains(part);
    let Some(rest) = model.strip_prefix("gemini-") else {
        let is_older = has("gemma-1") || has("gemma-2") || has("gemma-3") || has("learnlm");
        return if is_older { ThinkingControl::Nothing } else { ThinkingControl::Unknown };
    };
    let is_pro = has("-pro");
    let Some(generation) = generation(rest) else {
        // Aliases of the newest generation.
        return match rest {
            "pro-latest" => ThinkingControl::Level(FROM_LOW),
            "flash-latest" | "flash-lite-latest" => ThinkingControl::Level(FROM_LOW),
            _ => ThinkingControl::Unknown,
        };
    };
    match generation {
        (0 | 1, _) | (2, ..=4) => ThinkingControl::Nothing,
        (2, _) if has("-image") || has("-tts") || has("-audio") => ThinkingControl::Nothing,
        (2, _) if is_pro => ThinkingControl::Budget { least: 128, most: 32_768, can_be_off: false },
        (2, _) if has("-lite") => ThinkingControl::Budget { least: 512, most: 24_576, can_be_off: true },
        (2, _) => ThinkingControl::Budget { least: 1, most: 24_576, can_be_off: true },
        _ if has("-image") || has("-tts") || has("-audio") => ThinkingControl::Fixed,
        (3, 0) if is_pro => ThinkingControl::Level(LOW_OR_HIGH),
        (3, ..=6) if !is_pro => ThinkingControl::Level(ALL_LEVELS),
        _ => ThinkingControl::Level(FROM_LOW),
    }
}

/// Returns the capabilities that are known from the name of a model.
pub fn capabilities(model: &str) -> Capabilities {
    let control = thinking_control(model);
    // The level `minimal` counts as off.
    let can_be_off = match control {
        ThinkingControl::Budget { can_be_off, .. } => can_be_off,
        ThinkingControl::Level(words) => words.contains(&"minimal"),
        _ => false,
    };
    let reasoning = match control {
        ThinkingControl::Nothing => ReasoningSupport::Never,
        ThinkingControl::Unknown => ReasoningSupport::Optional,
        _ if can_be_off => ReasoningSupport::Optional,
        _ => ReasoningSupport::Always,
    };
    let supports = |level: Thinking| match control {
        ThinkingControl::Nothing | ThinkingControl::Unknown | ThinkingControl::Fixed => false,
        _ if level == Thinking::Off => can_be_off,
        ThinkingControl::Budget { .. } => true,
        ThinkingControl::Level(words) => words.contains(&level.as_str()),
    };
    let levels: Vec<Thinking> = Thinking::LEVELS.into_iter().filter(|level| supports(*level)).collect();
    Capabilities {
        thinking_budget: match control {
            ThinkingControl::Budget { least, most, .. } => Some(ValueRange::new(least, most)),
            _ => None,
        },
        top_k: ParamSupport::always(ValueRange::at_least(1)),
        stop_sequences: ParamSupport::always(5),
        max_tokens: ValueRange { least: 1, most: most_output_tokens(model) },
        images: supports_images(model),
        image_bounds: IMAGES,
        ..Capabilities::default().with_thinking(reasoning, &levels)
    }
}

/// Image limits of a request of at most 20 MB, including base64.
const IMAGES: ImageBounds = ImageBounds {
    kinds: &["image/png", "image/jpeg", "image/webp"],
    count: 1_000,
    bytes: 18 << 20,
    bytes_in_all: 18 << 20,
    side: u32::MAX,
    side_of_many: None,
};

/// Returns whether a model accepts images; `None` if its name does not tell.
pub fn supports_images(model: &str) -> Option<bool> {
    let model = bare_name(model);
    let has = |part: &str| model.contains(part);
    match model.strip_prefix("gemini-") {
        Some(_) if has("-tts") || has("-audio") || has("embedding") => Some(false),
        Some(rest) => match generation(rest) {
            Some((0 | 1, 0)) => Some(has("vision")),
            Some(_) => Some(true),
            None => rest.ends_with("latest").then_some(true),
        },
        None if has("gemma-3-1b") || has("gemma-1") || has("gemma-2") => Some(false),
        None => has("gemma-3-").then_some(true),
    }
}

/// Returns true if a function response may contain images, which is so since generation 3.
pub fn accepts_tool_result_images(model: &str) -> bool {
    let model = bare_name(model);
    let generation = model.strip_prefix("gemini-").and_then(generation);
    generation.is_some_and(|(major, _)| major >= 3) && supports_images(&model) == Some(true)
}

/// Refines the capabilities by an entry of the API's model list.
pub fn refine_capabilities(model: &Value, known: Capabilities) -> Capabilities {
    let count = |key: &str| model.get(key).and_then(Value::as_u64).filter(|count| *count > 0);
    let most_temperature = model.get("maxTemperature").and_then(Value::as_f64).filter(|most| *most > 0.0);
    let sized = Capabilities {
        context_tokens: count("inputTokenLimit").or(known.context_tokens),
        temperature: known.temperature.map(|range| ValueRange { most: most_temperature.or(range.most), ..range }),
        ..known.with_max_tokens(count("outputTokenLimit"))
    };
    match model.get("thinking").and_then(Value::as_bool) {
        Some(false) => sized.without_thinking(),
        // The list does not say whether thinking can be switched off.
        Some(true) if sized.reasoning == ReasoningSupport::Never => {
            sized.with_thinking(ReasoningSupport::Optional, &[])
        }
        _ => sized,
    }
}

/// Returns the `thinkingConfig` of a request; `None` if the model accepts none. Thoughts are included whenever the
/// model thinks. `thinking` must be supported by the model.
///
/// `max_tokens` is the limit of the reply: thoughts count against it, so a level gets at most half of it.
pub fn thinking_config(
    model: &str,
    reasoning: ReasoningSupport,
    thinking: Thinking,
    max_tokens: Option<u32>,
) -> Option<Value> {
    if reasoning == ReasoningSupport::Never {
        return None;
    }
    let is_on = thinking != Thinking::Off;
    let mut config = Map::new();
    if is_on || reasoning == ReasoningSupport::Always {
        config.insert("includeThoughts".into(), json!(true));
    }
    match thinking_control(model) {
        ThinkingControl::Nothing | ThinkingControl::Unknown | ThinkingControl::Fixed => {}
        ThinkingControl::Budget { least, most, can_be_off } => {
            let half_limit = max_tokens.map_or(u32::MAX, |max| max / 2);
            let wanted = match thinking {
                Thinking::Off if can_be_off => 0,
                Thinking::Budget(tokens) => tokens,
                level => budget_of_level(level).min(half_limit).clamp(least, most),
            };
            config.insert("thinkingBudget".into(), json!(wanted));
        }
        ThinkingControl::Level(words) => {
            let word = words.iter().find(|word| **word == thinking.as_str()).or(words.first());
            config.insert("thinkingLevel".into(), json!(word));
        }
    }
    (!config.is_empty()).then_some(Value::Object(config))
}

/// Returns true if the model accepts a system instruction; the older Gemma models refuse one.
pub fn takes_system_instruction(model: &str) -> bool {
    let model = bare_name(model);
    !(model.contains("gemma-1") || model.contains("gemma-2") || model.contains("gemma-3"))
}

/// Returns the maximum tokens of a reply, including thoughts; the API refuses higher limits. `None` for models of an
/// unknown generation.
fn most_output_tokens(model: &str) -> Option<u32> {
    match generation(bare_name(model).strip_prefix("gemini-")?)? {
        (0 | 1, _) | (2, ..=4) => Some(8_192),
        (2, _) if bare_name(model).contains("-image") => Some(32_768),
        _ => Some(65_536),
    }
}

fn bare_name(model: &str) -> String {
    let model = model.to_ascii_lowercase();
    model.strip_prefix("models/").map_or_else(|| model.clone(), str::to_owned)
}

/// Parses the generation: `2.5-flash` is (2, 5); `3-pro-preview` is (3, 0).
fn generation(rest: &str) -> Option<(u32, u32)> {
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    // Four digits are a date (`gemini-exp-1206`), not a generation.
    Some((major.parse().ok().filter(|major| *major < 100)?, minor.parse().ok()?))
}

/// Returns the budget of a level in tokens.
fn budget_of_level(level: Thinking) -> u32 {
    match level {
        Thinking::Low => 1_024,
        Thinking::Medium => 8_192,
        Thinking::High => 24_576,
        Thinking::Off | Thinking::Budget(_) => 0,
    }
}

/// Returns the provider tools that Google runs for this model. They are available only in chats without functions.
pub fn provider_tools(model: &str) -> &'static [&'static str] {
    let has_none = ["image", "tts", "audio", "live", "embedding", "lite", "gemini-1"];
    let is_full = model.starts_with("gemini-") && !has_none.iter().any(|word| model.contains(word));
    if is_full { &[WEB_SEARCH, CODE_EXECUTION] } else { &[] }
}

/// Returns the declaration of a provider tool in a request.
pub fn provider_tool(tool: &str) -> Option<Value> {
    match tool {
        WEB_SEARCH => Some(json!({"googleSearch": {}})),
        CODE_EXECUTION => Some(json!({"codeExecution": {}})),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
