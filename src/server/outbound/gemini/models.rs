//! What a model's generation takes: how its thinking is asked for, whether it has a system instruction, how long a reply
//! may be (providers.md 7.1). Where a table cannot know, nothing is sent, because the API refuses what a model does not
//! have.

use serde_json::{Map, Value, json};

use crate::domain::Thinking;
use crate::domain::provider::Reasoning;

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

/// Whether the model reasons, as far as its name tells.
pub fn reasoning(model: &str) -> Reasoning {
    match control(model) {
        Control::Nothing => Reasoning::Never,
        Control::Unknown | Control::Budget { can_be_off: true, .. } => Reasoning::Optional,
        // The least level is as good as off.
        Control::Level(words) if words.contains(&"minimal") => Reasoning::Optional,
        Control::Fixed | Control::Budget { .. } | Control::Level(_) => Reasoning::Always,
    }
}

/// The `thinkingConfig` of a request; nothing where the model takes none. Thoughts are always shown where it thinks.
///
/// `max_tokens` is the limit of the reply: thoughts count against it, so they get at most half of it.
pub fn thinking_config(model: &str, thinking: Thinking, max_tokens: Option<u32>) -> Option<Value> {
    let control = control(model);
    let is_on = thinking != Thinking::Off;
    let mut config = Map::new();
    if is_on || reasoning(model) == Reasoning::Always {
        config.insert("includeThoughts".into(), json!(true));
    }
    match control {
        Control::Nothing => return None,
        Control::Unknown | Control::Fixed => {}
        Control::Budget { least, most, can_be_off } => {
            let wanted = match thinking {
                Thinking::Off if can_be_off => 0,
                _ => tokens(thinking).min(max_tokens.map_or(u32::MAX, |max| max / 2)).clamp(least, most),
            };
            config.insert("thinkingBudget".into(), json!(wanted));
        }
        Control::Level(words) => {
            config.insert("thinkingLevel".into(), json!(level(words, thinking)));
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
pub fn most_output_tokens(model: &str) -> Option<u32> {
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
fn tokens(thinking: Thinking) -> u32 {
    match thinking {
        Thinking::Off => 0,
        Thinking::Low => 1_024,
        Thinking::Medium => 8_192,
        Thinking::High => 24_576,
        Thinking::Budget(tokens) => tokens,
    }
}

/// A level as the nearest word that is known; a budget becomes the level that it is about.
fn level(words: &'static [&'static str], thinking: Thinking) -> &'static str {
    let wanted = match thinking {
        Thinking::Off => return words.first().copied().unwrap_or("low"),
        Thinking::Low | Thinking::Budget(0..=2048) => "low",
        Thinking::Medium | Thinking::Budget(2049..=8192) => "medium",
        Thinking::High | Thinking::Budget(_) => "high",
    };
    if words.contains(&wanted) { wanted } else { "high" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_gets_only_what_it_takes() {
        use Thinking::{Budget, High, Low, Medium, Off};
        let shown = |key: &str, value: Value| json!({"includeThoughts": true, key: value});
        for (model, thinking, max, expected) in [
            ("gemini-2.0-flash", High, None, None),
            ("gemini-1.5-pro-002", Medium, None, None),
            ("gemma-3-27b-it", High, None, None),
            ("gemini-2.5-flash-image", High, None, None),
            ("gemini-2.5-flash", Off, None, Some(json!({"thinkingBudget": 0}))),
            ("gemini-2.5-flash", Medium, None, Some(shown("thinkingBudget", json!(8192)))),
            ("gemini-2.5-flash", High, Some(2000), Some(shown("thinkingBudget", json!(1000)))),
            ("gemini-2.5-flash-lite", Budget(1), None, Some(shown("thinkingBudget", json!(512)))),
            ("gemini-2.5-flash", Budget(99_999), None, Some(shown("thinkingBudget", json!(24_576)))),
            ("models/gemini-2.5-pro", Off, None, Some(shown("thinkingBudget", json!(128)))),
            ("gemini-2.5-pro", Budget(30_000), None, Some(shown("thinkingBudget", json!(30_000)))),
            ("gemini-3-pro-preview", Off, None, Some(shown("thinkingLevel", json!("low")))),
            ("gemini-3-pro-preview", Medium, None, Some(shown("thinkingLevel", json!("high")))),
            ("gemini-3.1-pro-preview", Medium, None, Some(shown("thinkingLevel", json!("medium")))),
            ("gemini-3-flash-preview", Off, None, Some(json!({"thinkingLevel": "minimal"}))),
            ("gemini-3-flash-preview", Budget(5000), None, Some(shown("thinkingLevel", json!("medium")))),
            ("gemini-3.1-flash-lite", Low, Some(10), Some(shown("thinkingLevel", json!("low")))),
            ("gemini-3.7-flash", Off, None, Some(shown("thinkingLevel", json!("low")))),
            ("gemini-3-pro-image-preview", High, None, Some(json!({"includeThoughts": true}))),
            ("gemini-flash-latest", Off, None, Some(shown("thinkingLevel", json!("low")))),
            ("gemini-exp-1206", High, None, Some(json!({"includeThoughts": true}))),
            ("something-else", Off, None, None),
        ] {
            assert_eq!(thinking_config(model, thinking, max), expected, "{model} {thinking:?}");
        }
    }

    #[test]
    fn names_tell_whether_a_model_reasons_and_how_much_it_may_say() {
        for (model, expected, most) in [
            ("gemini-2.0-flash-001", Reasoning::Never, Some(8_192)),
            ("gemini-2.5-flash", Reasoning::Optional, Some(65_536)),
            ("gemini-2.5-pro", Reasoning::Always, Some(65_536)),
            ("gemini-3-flash-preview", Reasoning::Optional, Some(65_536)),
            ("gemini-3.7-flash", Reasoning::Always, Some(65_536)),
            ("gemini-3-pro-preview", Reasoning::Always, Some(65_536)),
            ("gemini-exp-1206", Reasoning::Optional, None),
            ("gemini-1206", Reasoning::Optional, None),
            ("gemma-3-4b-it", Reasoning::Never, None),
        ] {
            assert_eq!((reasoning(model), most_output_tokens(model)), (expected, most), "{model}");
        }
        assert!(!takes_system_instruction("models/gemma-3-4b-it") && takes_system_instruction("gemini-2.5-pro"));
    }
}
