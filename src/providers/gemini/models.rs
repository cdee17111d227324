//! What a model's generation takes: how its thinking is asked for, whether it has a system instruction, how long a reply
//! may be (providers.md 7.1). Where a table cannot know, nothing is sent, because the API refuses what a model does not
//! have.

use serde_json::{Map, Value, json};

use turnleaf_domain::capabilities::{ImageBounds, Range, Takes};
use turnleaf_domain::provider::Reasoning;
use turnleaf_domain::tool::{CODE_EXECUTION, WEB_SEARCH};
use turnleaf_domain::{Capabilities, Thinking};

/// How a model's thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It has none, and refuses a `thinkingConfig`.
    Nothing,
    /// Nobody knows: only whether thoughts are shown is asked for, and only when thinking is wanted.
    Unknown,
    /// It thinks as it likes; thoughts can be shown.
    Fixed,
    /// `thinkingBudget` in tokens; 0 switches it off where `can_be_off`.
    Budget { least: u32, most: u32, can_be_off: bool },
    /// `thinkingLevel`, with the words that it takes from the least to the most.
    Level(&'static [&'static str]),
}

const ALL_LEVELS: &[&str] = &["minimal", "low", "medium", "high"];
const FROM_LOW: &[&str] = &["low", "medium", "high"];
/// The first of its generation.
const LOW_OR_HIGH: &[&str] = &["low", "high"];

/// The row of a model.
pub fn control(model: &str) -> Control {
    let model = bare(model);
    let has = |part: &str| model.contains(part);
    let Some(rest) = model.strip_prefix("gemini-") else {
        let is_older = has("gemma-1") || has("gemma-2") || has("gemma-3") || has("learnlm");
        return if is_older { Control::Nothing } else { Control::Unknown };
    };
    let is_pro = has("-pro");
    let Some(generation) = generation(rest) else {
        // The names that follow the newest generation.
        return match rest {
            "pro-latest" => Control::Level(FROM_LOW),
            "flash-latest" | "flash-lite-latest" => Control::Level(FROM_LOW),
            _ => Control::Unknown,
        };
    };
    match generation {
        (0 | 1, _) | (2, ..=4) => Control::Nothing,
        (2, _) if has("-image") || has("-tts") || has("-audio") => Control::Nothing,
        (2, _) if is_pro => Control::Budget { least: 128, most: 32_768, can_be_off: false },
        (2, _) if has("-lite") => Control::Budget { least: 512, most: 24_576, can_be_off: true },
        (2, _) => Control::Budget { least: 1, most: 24_576, can_be_off: true },
        _ if has("-image") || has("-tts") || has("-audio") => Control::Fixed,
        (3, 0) if is_pro => Control::Level(LOW_OR_HIGH),
        (3, ..=6) if !is_pro => Control::Level(ALL_LEVELS),
        _ => Control::Level(FROM_LOW),
    }
}

/// What a model takes, as far as its name tells.
pub fn capabilities(model: &str) -> Capabilities {
    let control = control(model);
    // The least level is as good as off.
    let can_be_off = match control {
        Control::Budget { can_be_off, .. } => can_be_off,
        Control::Level(words) => words.contains(&"minimal"),
        _ => false,
    };
    let reasoning = match control {
        Control::Nothing => Reasoning::Never,
        Control::Unknown => Reasoning::Optional,
        _ if can_be_off => Reasoning::Optional,
        _ => Reasoning::Always,
    };
    let takes = |level: Thinking| match control {
        Control::Nothing | Control::Unknown | Control::Fixed => false,
        _ if level == Thinking::Off => can_be_off,
        Control::Budget { .. } => true,
        Control::Level(words) => words.contains(&level.as_str()),
    };
    let levels: Vec<Thinking> = Thinking::LEVELS.into_iter().filter(|level| takes(*level)).collect();
    Capabilities {
        thinking_budget: match control {
            Control::Budget { least, most, .. } => Some(Range::new(least, most)),
            _ => None,
        },
        top_k: Takes::always(Range::at_least(1)),
        stop_sequences: Takes::always(5),
        max_tokens: Range { least: 1, most: most_output_tokens(model) },
        images: sees(model),
        image_bounds: IMAGES,
        ..Capabilities::default().thinking(reasoning, &levels)
    }
}

/// A request may have 20 MB, with what is in it as base64.
const IMAGES: ImageBounds = ImageBounds {
    kinds: &["image/png", "image/jpeg", "image/webp"],
    count: 1_000,
    bytes: 18 << 20,
    bytes_in_all: 18 << 20,
    side: u32::MAX,
    side_of_many: None,
};

/// Whether a model sees images, as far as its name tells.
pub fn sees(model: &str) -> Option<bool> {
    let model = bare(model);
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

/// Whether images of a function's result have a place in its response: they got one with the third generation.
pub fn shows_results(model: &str) -> bool {
    let model = bare(model);
    let generation = model.strip_prefix("gemini-").and_then(generation);
    generation.is_some_and(|(major, _)| major >= 3) && sees(&model) == Some(true)
}

/// What the API's list of models adds.
pub fn refined(model: &Value, known: Capabilities) -> Capabilities {
    let count = |key: &str| model.get(key).and_then(Value::as_u64).filter(|count| *count > 0);
    let most_temperature = model.get("maxTemperature").and_then(Value::as_f64).filter(|most| *most > 0.0);
    let sized = Capabilities {
        context_tokens: count("inputTokenLimit").or(known.context_tokens),
        temperature: known.temperature.map(|range| Range { most: most_temperature.or(range.most), ..range }),
        ..known.with_most_tokens(count("outputTokenLimit"))
    };
    match model.get("thinking").and_then(Value::as_bool) {
        Some(false) => sized.without_thinking(),
        // Whether it can be left alone is not said.
        Some(true) if sized.reasoning == Reasoning::Never => sized.thinking(Reasoning::Optional, &[]),
        _ => sized,
    }
}

/// The `thinkingConfig` of a request; nothing where the model takes none. Thoughts are always shown where it thinks.
/// `thinking` fits the model.
///
/// `max_tokens` is the limit of the reply: thoughts count against it, so a level gets at most half of it.
pub fn thinking_config(
    model: &str,
    reasoning: Reasoning,
    thinking: Thinking,
    max_tokens: Option<u32>,
) -> Option<Value> {
    if reasoning == Reasoning::Never {
        return None;
    }
    let is_on = thinking != Thinking::Off;
    let mut config = Map::new();
    if is_on || reasoning == Reasoning::Always {
        config.insert("includeThoughts".into(), json!(true));
    }
    match control(model) {
        Control::Nothing | Control::Unknown | Control::Fixed => {}
        Control::Budget { least, most, can_be_off } => {
            let half = max_tokens.map_or(u32::MAX, |max| max / 2);
            let wanted = match thinking {
                Thinking::Off if can_be_off => 0,
                Thinking::Budget(tokens) => tokens,
                level => tokens(level).min(half).clamp(least, most),
            };
            config.insert("thinkingBudget".into(), json!(wanted));
        }
        Control::Level(words) => {
            let word = words.iter().find(|word| **word == thinking.as_str()).or(words.first());
            config.insert("thinkingLevel".into(), json!(word));
        }
    }
    (!config.is_empty()).then_some(Value::Object(config))
}

/// Whether instructions have a place of their own; the older Gemma models refuse one.
pub fn takes_system_instruction(model: &str) -> bool {
    let model = bare(model);
    !(model.contains("gemma-1") || model.contains("gemma-2") || model.contains("gemma-3"))
}

/// How many tokens one reply may have, thoughts included: more is refused. `None` for models that no generation is
/// known of.
fn most_output_tokens(model: &str) -> Option<u32> {
    match generation(bare(model).strip_prefix("gemini-")?)? {
        (0 | 1, _) | (2, ..=4) => Some(8_192),
        (2, _) if bare(model).contains("-image") => Some(32_768),
        _ => Some(65_536),
    }
}

fn bare(model: &str) -> String {
    let model = model.to_ascii_lowercase();
    model.strip_prefix("models/").map_or_else(|| model.clone(), str::to_owned)
}

/// `2.5-flash` is (2, 5); `3-pro-preview` is (3, 0).
fn generation(rest: &str) -> Option<(u32, u32)> {
    let number = rest.split('-').next()?;
    let (major, minor) = number.split_once('.').unwrap_or((number, "0"));
    // Four digits are a date (`gemini-exp-1206`), not a generation.
    Some((major.parse().ok().filter(|major| *major < 100)?, minor.parse().ok()?))
}

/// A level as tokens.
fn tokens(level: Thinking) -> u32 {
    match level {
        Thinking::Low => 1_024,
        Thinking::Medium => 8_192,
        Thinking::High => 24_576,
        Thinking::Off | Thinking::Budget(_) => 0,
    }
}

/// Tools that Google runs itself for this model; only where the chat has no functions.
pub fn own_tools(model: &str) -> &'static [&'static str] {
    let has_none = ["image", "tts", "audio", "live", "embedding", "lite", "gemini-1"];
    let is_full = model.starts_with("gemini-") && !has_none.iter().any(|word| model.contains(word));
    if is_full { &[WEB_SEARCH, CODE_EXECUTION] } else { &[] }
}

/// What a request says of such a tool.
pub fn own_tool(tool: &str) -> Option<Value> {
    match tool {
        WEB_SEARCH => Some(json!({"googleSearch": {}})),
        CODE_EXECUTION => Some(json!({"codeExecution": {}})),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
