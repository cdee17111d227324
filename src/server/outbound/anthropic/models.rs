//! What each generation of models takes, told from its name (providers.md 3.2, 3.7): how thinking is asked for, which
//! sampling parameters are refused, how long a reply may be. Names that no generation is known of get nothing that a
//! server could refuse.

use serde_json::{Value, json};

use crate::domain::provider::Reasoning;
use crate::domain::{Params, Thinking};

/// How thinking is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingSwitch {
    /// Nothing is known, so nothing is sent.
    Unknown,
    /// The model has none.
    Nothing,
    /// `enabled` with a budget.
    Budget,
    /// `adaptive` with an effort, and `enabled` where a budget is asked for.
    AdaptiveOrBudget,
    /// `adaptive` with an effort, or `disabled`. The model hides its reasoning unless it is told to show it.
    Adaptive,
    /// As `Adaptive`, but it cannot be switched off.
    Always,
}

/// Which sampling parameters a model takes while it does not think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    All,
    /// `temperature` or `top_p`, not both.
    OneOfTwo,
    Nothing,
}

/// What a model takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abilities {
    pub thinking: ThinkingSwitch,
    pub sampling: Sampling,
    /// The most that `max_tokens` may say.
    pub most_tokens: u32,
    /// Thinking between tool calls has to be asked for with a beta header.
    pub interleaves_by_beta: bool,
    /// Thinking can be asked for without its text.
    pub can_hide_thinking: bool,
    /// Signatures hold only for an unchanged conversation before them.
    pub is_bound_to_prefix: bool,
}

/// The smallest budget that the API takes.
const LEAST_BUDGET: u32 = 1_024;

impl Abilities {
    /// The row of a model, also under the names that gateways and clouds give it.
    pub fn of(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let row = |thinking, sampling, most_tokens| Self {
            thinking,
            sampling,
            most_tokens,
            interleaves_by_beta: false,
            can_hide_thinking: matches!(
                thinking,
                ThinkingSwitch::AdaptiveOrBudget | ThinkingSwitch::Adaptive | ThinkingSwitch::Always
            ),
            is_bound_to_prefix: false,
        };
        let Some((family, version)) = generation(&model) else {
            return row(ThinkingSwitch::Unknown, Sampling::All, 8_192);
        };
        let is_named_later = matches!(family, "fable" | "mythos");
        match version {
            _ if is_named_later || version >= (5, 5) => Self {
                is_bound_to_prefix: version >= (5, 1),
                ..row(ThinkingSwitch::Always, Sampling::Nothing, 128_000)
            },
            (0..3, _) | (3, 0..5) => row(ThinkingSwitch::Nothing, Sampling::All, 4_096),
            (3, 5 | 6) => row(ThinkingSwitch::Nothing, Sampling::All, 8_192),
            (3, _) => row(ThinkingSwitch::Budget, Sampling::All, 64_000),
            (4, 0..6) => {
                let sampling = if version == (4, 0) { Sampling::All } else { Sampling::OneOfTwo };
                let most_tokens = if family == "opus" && version.1 < 5 { 32_000 } else { 64_000 };
                let row = row(ThinkingSwitch::Budget, sampling, most_tokens);
                Self { interleaves_by_beta: true, can_hide_thinking: true, ..row }
            }
            (4, 6) => {
                Self { interleaves_by_beta: true, ..row(ThinkingSwitch::AdaptiveOrBudget, Sampling::OneOfTwo, 128_000) }
            }
            _ => row(ThinkingSwitch::Adaptive, Sampling::Nothing, 128_000),
        }
    }

    /// Whether the model reasons.
    pub fn reasoning(&self) -> Reasoning {
        match self.thinking {
            ThinkingSwitch::Nothing => Reasoning::Never,
            ThinkingSwitch::Always => Reasoning::Always,
            _ => Reasoning::Optional,
        }
    }

    /// The `max_tokens` to send: what is asked for, or all that the model can.
    pub fn max_tokens(&self, asked: Option<u32>) -> u32 {
        match (asked, self.thinking) {
            // What somebody asks of a model that no table knows is theirs to know.
            (Some(tokens), ThinkingSwitch::Unknown) => tokens,
            (Some(tokens), _) => tokens.min(self.most_tokens),
            (None, _) => self.most_tokens,
        }
    }

    /// The `thinking` object and the effort to send with this `max_tokens`.
    pub fn ask(&self, thinking: Thinking, max_tokens: u32) -> (Option<Value>, Option<&'static str>) {
        let is_on = thinking != Thinking::Off;
        match self.thinking {
            ThinkingSwitch::Unknown | ThinkingSwitch::Nothing => (None, None),
            ThinkingSwitch::Budget => (budget(thinking, max_tokens), None),
            ThinkingSwitch::AdaptiveOrBudget => match thinking {
                Thinking::Off | Thinking::Budget(_) => (budget(thinking, max_tokens), None),
                level => (Some(json!({"type": "adaptive"})), Some(effort(level))),
            },
            ThinkingSwitch::Adaptive if !is_on => (Some(json!({"type": "disabled"})), None),
            ThinkingSwitch::Adaptive | ThinkingSwitch::Always => {
                let mut asked = json!({"type": "adaptive", "display": "summarized"});
                if self.is_bound_to_prefix {
                    // Better to lose old reasoning than the whole request.
                    asked["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
                }
                (Some(asked), Some(effort(thinking)))
            }
        }
    }

    /// The sampling parameters that may be sent, by name. While a model thinks, only `top_p` near 1 may be.
    pub fn sampling(&self, params: &Params, thinks: bool) -> Vec<(&'static str, Value)> {
        if self.sampling == Sampling::Nothing {
            return Vec::new();
        }
        let mut sent = Vec::new();
        let temperature = params.temperature.filter(|_| !thinks);
        if let Some(temperature) = temperature {
            sent.push(("temperature", json!(temperature.min(1.0))));
        }
        let is_alone = self.sampling == Sampling::All || temperature.is_none();
        if let Some(top_p) = params.top_p.filter(|top_p| is_alone && (!thinks || *top_p >= 0.95)) {
            sent.push(("top_p", json!(top_p)));
        }
        if let Some(top_k) = params.top_k.filter(|_| !thinks) {
            sent.push(("top_k", json!(top_k)));
        }
        sent
    }
}

/// Family and version out of names such as `claude-3-5-haiku-20241022`, `claude-opus-4-7`, `anthropic/claude-haiku-4.5`,
/// `us.anthropic.claude-sonnet-4-20250514-v1:0`.
fn generation(model: &str) -> Option<(&str, (u32, u32))> {
    const FAMILIES: [&str; 6] = ["opus", "sonnet", "haiku", "instant", "fable", "mythos"];
    let (_, name) = model.split_once("claude")?;
    let words: Vec<&str> = name.split(['-', '.', '@', ':', '_', '/', ' ']).filter(|word| !word.is_empty()).collect();
    let family = words.iter().copied().find(|word| FAMILIES.contains(word)).unwrap_or_default();
    // Numbers with more digits are dates.
    let number = |word: &&str| word.parse::<u32>().ok().filter(|_| word.len() <= 2);
    let at = words.iter().position(|word| number(word).is_some())?;
    let major = number(&words[at])?;
    Some((family, (major, words.get(at + 1).and_then(number).unwrap_or(0))))
}

/// How many tokens of reasoning a level is worth, and the other way round.
const LEVELS: [(Thinking, u32, &str); 3] =
    [(Thinking::Low, 2_048, "low"), (Thinking::Medium, 8_192, "medium"), (Thinking::High, 24_576, "high")];

fn effort(thinking: Thinking) -> &'static str {
    let fits = |(level, worth, _): &&(Thinking, u32, &str)| match thinking {
        Thinking::Budget(tokens) => tokens <= *worth,
        asked => asked == *level,
    };
    match thinking {
        Thinking::Off => "low",
        _ => LEVELS.iter().find(fits).map_or("high", |(_, _, word)| word),
    }
}

/// A budget below `max_tokens`, which counts reasoning too. A level leaves at least half of it for the answer. Nothing
/// where there is no room for the smallest budget.
fn budget(thinking: Thinking, max_tokens: u32) -> Option<Value> {
    let worth = LEVELS.iter().find(|(level, ..)| *level == thinking).map(|(_, worth, _)| *worth);
    let tokens = match thinking {
        Thinking::Off => return None,
        Thinking::Budget(tokens) => tokens.min(max_tokens.saturating_sub(1)),
        _ => worth?.min(max_tokens / 2),
    };
    (max_tokens > LEAST_BUDGET).then(|| json!({"type": "enabled", "budget_tokens": tokens.max(LEAST_BUDGET)}))
}

#[cfg(test)]
mod tests;
