//! Capabilities of each generation of Claude models, derived from the model name (docs/reference/providers.md 3.2,
//! 3.7) and refined by the API's model list: the form of thinking, refused sampling parameters, the maximum length of
//! a reply. Models of unknown generations get no parameter that a server could refuse, unless the list says that it
//! is accepted.

use serde_json::{Value, json};

use turnleaf_domain::providers::capabilities::{ImageBounds, ParamSupport, ValueRange};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::tools::tool::{CODE_EXECUTION, WEB_SEARCH};
use turnleaf_domain::{Capabilities, Thinking};

/// The form in which a request enables thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnthropicThinkingSwitch {
    /// The name does not identify the generation.
    Unknown,
    /// The model cannot think.
    Nothing,
    /// `enabled` with a budget of tokens.
    Budget,
    /// `adaptive` with an effort, or `enabled` if a budget is requested.
    AdaptiveOrBudget,
    /// `adaptive` with an effort, or `disabled`. Reasoning is hidden unless the request asks for it.
    Adaptive,
    /// `Adaptive` without `disabled`: thinking cannot be switched off.
    Always,
}

/// The sampling parameters that a model accepts while it does not think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnthropicSampling {
    All,
    /// Either `temperature` or `top_p`, not both.
    OneOfTwo,
    Nothing,
}

/// The request features of one model generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClaudeGeneration {
    pub thinking: AnthropicThinkingSwitch,
    sampling: AnthropicSampling,
    most_tokens: Option<u32>,
    /// Thinking between tool calls needs a beta header.
    pub interleaves_by_beta: bool,
    /// Thinking can be requested without its text.
    pub can_hide_thinking: bool,
    /// Prefix binding: signatures are valid only while the conversation before them is unchanged.
    pub is_bound_to_prefix: bool,
}

/// The smallest thinking budget that the API accepts.
const LEAST_BUDGET: u32 = 1_024;
/// The `max_tokens` for unknown models. The API requires the field, and every model accepts this value.
const USUAL_TOKENS: u32 = 8_192;
/// The range of `top_p` that is accepted while a model thinks.
const TOP_P_THINKING: ValueRange<f64> = ValueRange::new(0.95, 1.0);

/// Image limits of a request of at most 32 MB. With more than twenty images, their sides have a lower limit.
const IMAGES: ImageBounds = ImageBounds {
    kinds: &["image/png", "image/jpeg", "image/gif", "image/webp"],
    count: 100,
    bytes: 5 << 20,
    bytes_in_all: 24 << 20,
    side: 8_000,
    side_of_many: Some((20, 2_000)),
};

/// Returns true if the model accepts images: generation 3 and later.
pub fn supports_images(model: &str) -> bool {
    generation(&model.to_ascii_lowercase()).is_some_and(|(family, (major, _))| major >= 3 && family != "instant")
}

impl ClaudeGeneration {
    /// Returns the generation of a model, also for the model names of gateways and clouds.
    pub fn from_model(model: &str) -> Self {
        let model = model.to_ascii_lowercase();
        let row = |thinking, sampling, most_tokens| Self {
            thinking,
            sampling,
            most_tokens: Some(most_tokens),
            interleaves_by_beta: false,
            can_hide_thinking: matches!(
                thinking,
                AnthropicThinkingSwitch::AdaptiveOrBudget
                    | AnthropicThinkingSwitch::Adaptive
                    | AnthropicThinkingSwitch::Always
            ),
            is_bound_to_prefix: false,
        };
        let Some((family, version)) = generation(&model) else {
            return Self { most_tokens: None, ..row(AnthropicThinkingSwitch::Unknown, AnthropicSampling::All, 0) };
        };
        let is_named_later = matches!(family, "fable" | "mythos");
        match version {
            _ if is_named_later || version >= (5, 5) => Self {
                is_bound_to_prefix: version >= (5, 1),
                ..row(AnthropicThinkingSwitch::Always, AnthropicSampling::Nothing, 128_000)
            },
            (0..3, _) | (3, 0..5) => row(AnthropicThinkingSwitch::Nothing, AnthropicSampling::All, 4_096),
            (3, 5 | 6) => row(AnthropicThinkingSwitch::Nothing, AnthropicSampling::All, 8_192),
            (3, _) => row(AnthropicThinkingSwitch::Budget, AnthropicSampling::All, 64_000),
            (4, 0..6) => {
                let sampling = if version == (4, 0) { AnthropicSampling::All } else { AnthropicSampling::OneOfTwo };
                let most_tokens = if family == "opus" && version.1 < 5 { 32_000 } else { 64_000 };
                let row = row(AnthropicThinkingSwitch::Budget, sampling, most_tokens);
                Self { interleaves_by_beta: true, can_hide_thinking: true, ..row }
            }
            (4, 6) => Self {
                interleaves_by_beta: true,
                ..row(AnthropicThinkingSwitch::AdaptiveOrBudget, AnthropicSampling::OneOfTwo, 128_000)
            },
            _ => row(AnthropicThinkingSwitch::Adaptive, AnthropicSampling::Nothing, 128_000),
        }
    }
}

/// Returns the provider tools that the API runs for this model.
pub fn provider_tools(model: &str) -> Vec<&'static str> {
    match generation(&model.to_ascii_lowercase()) {
        Some((_, version)) if version >= (4, 6) => vec![WEB_SEARCH, CODE_EXECUTION],
        Some((_, version)) if version >= (3, 5) => vec![WEB_SEARCH],
        _ => Vec::new(),
    }
}

/// Returns the declaration of a provider tool in a request.
pub fn provider_tool(tool: &str) -> Option<Value> {
    let kind = match tool {
        WEB_SEARCH => "web_search_20250305",
        CODE_EXECUTION => "code_execution_20260120",
        _ => return None,
    };
    Some(json!({"type": kind, "name": tool}))
}

/// Returns the capabilities that are known from the name of a model.
pub fn capabilities(model: &str) -> Capabilities {
    let ClaudeGeneration { thinking, sampling, most_tokens, .. } = ClaudeGeneration::from_model(model);
    let (reasoning, levels): (_, &[Thinking]) = match thinking {
        AnthropicThinkingSwitch::Unknown => (ReasoningSupport::Optional, &[]),
        AnthropicThinkingSwitch::Nothing => (ReasoningSupport::Never, &[]),
        AnthropicThinkingSwitch::Always => (ReasoningSupport::Always, &Thinking::LEVELS[1..]),
        _ => (ReasoningSupport::Optional, &Thinking::LEVELS),
    };
    let takes_budget = matches!(thinking, AnthropicThinkingSwitch::Budget | AnthropicThinkingSwitch::AdaptiveOrBudget);
    let support = |plain: ValueRange<f64>, thinking| ParamSupport { plain: Some(plain), thinking };
    let (temperature, top_p, top_k) = match sampling {
        AnthropicSampling::Nothing => (ParamSupport::never(), ParamSupport::never(), ParamSupport::never()),
        _ => (
            support(ValueRange::new(0.0, 1.0), None),
            support(ValueRange::new(0.0, 1.0), Some(TOP_P_THINKING)),
            ParamSupport::only_plain(ValueRange::at_least(1)),
        ),
    };
    let known = Capabilities {
        thinking_budget: takes_budget.then_some(ValueRange::at_least(LEAST_BUDGET)),
        levels_are_budgets: thinking == AnthropicThinkingSwitch::Budget,
        temperature,
        top_p,
        temperature_or_top_p: sampling == AnthropicSampling::OneOfTwo,
        top_k,
        max_tokens: ValueRange { least: 1, most: most_tokens },
        stop_sequences: ParamSupport::always(turnleaf_domain::limits::STOP_SEQUENCES as u32),
        blank_stop_sequences: false,
        image_bounds: IMAGES,
        // Models since 4.6 refuse to continue an assistant message.
        continues_text: matches!(thinking, AnthropicThinkingSwitch::Nothing | AnthropicThinkingSwitch::Budget),
        ..Capabilities::default().with_thinking(reasoning, levels)
    };
    if thinking != AnthropicThinkingSwitch::Unknown {
        return Capabilities { images: Some(supports_images(model)), tools: Some(true), ..known };
    }
    // Turnleaf sends no thinking parameters to an unknown model and does not know whether it thinks by itself;
    // sampling parameters are sent as to a model that does not think.
    Capabilities {
        temperature: ParamSupport::always(ValueRange::new(0.0, 1.0)),
        top_p: ParamSupport::always(ValueRange::new(0.0, 1.0)),
        top_k: ParamSupport::always(ValueRange::at_least(1)),
        ..known
    }
}

/// Refines the capabilities by an entry of `GET /v1/models`, which states the forms of thinking, the efforts and the
/// limits.
pub fn refine_capabilities(model: &Value, known: Capabilities) -> Capabilities {
    let count = |field: &str| model.get(field).and_then(Value::as_u64).filter(|count| *count > 0);
    let can = |path: &str| model.pointer(&format!("/capabilities/{path}/supported")).and_then(Value::as_bool);
    let sized = Capabilities {
        context_tokens: count("max_input_tokens").or(known.context_tokens),
        images: can("image_input").or(known.images),
        ..known.with_max_tokens(count("max_tokens"))
    };
    match can("thinking") {
        None => sized,
        Some(false) => sized.without_thinking(),
        Some(true) => thinking_as_listed(sized, can),
    }
}

fn thinking_as_listed(known: Capabilities, can: impl Fn(&str) -> Option<bool>) -> Capabilities {
    let is_known = known.reasoning == ReasoningSupport::Always || !known.thinking_levels.is_empty();
    let (adaptive, enabled) = (can("thinking/types/adaptive"), can("thinking/types/enabled"));
    if adaptive.is_none() && enabled.is_none() {
        return known;
    }
    // If the list does not say whether thinking can be off, only models that are known to always think cannot switch
    // it off.
    let can_be_off = can("thinking/types/disabled").unwrap_or(known.reasoning != ReasoningSupport::Always);
    let supports = |level: Thinking| match level {
        Thinking::Off => can_be_off,
        level => can(&format!("effort/{}", level.as_str())).unwrap_or(true) || adaptive != Some(true),
    };
    let levels: Vec<Thinking> = Thinking::LEVELS.into_iter().filter(|level| supports(*level)).collect();
    let reasoning = if can_be_off { ReasoningSupport::Optional } else { ReasoningSupport::Always };
    let takes_budget = enabled.unwrap_or(known.thinking_budget.is_some());
    let known = if is_known {
        known
    } else {
        // The model is of a later generation than any known one; those accept no sampling parameters while they
        // think.
        Capabilities {
            temperature: ParamSupport { thinking: None, ..known.temperature },
            top_p: ParamSupport { thinking: Some(TOP_P_THINKING), ..known.top_p },
            top_k: ParamSupport { thinking: None, ..known.top_k },
            ..known
        }
    };
    Capabilities {
        thinking_budget: takes_budget.then_some(ValueRange::at_least(LEAST_BUDGET)),
        levels_are_budgets: takes_budget && adaptive != Some(true),
        ..known.with_thinking(reasoning, &levels)
    }
}

/// Returns the `max_tokens` to send: the requested number, or the maximum of the model.
pub fn max_tokens(requested: Option<u32>, model: &Capabilities) -> u32 {
    requested.or(model.max_tokens.most).unwrap_or(USUAL_TOKENS)
}

/// Returns the `thinking` object and the effort to send with this `max_tokens`. `thinking` must be supported by the
/// model.
pub fn thinking_params(
    name: &str,
    model: &Capabilities,
    thinking: Thinking,
    max_tokens: u32,
) -> (Option<Value>, Option<&'static str>) {
    let row = ClaudeGeneration::from_model(name);
    let takes_levels = model.thinking_levels.iter().any(|level| *level != Thinking::Off);
    let budget = |tokens: u32| (Some(json!({"type": "enabled", "budget_tokens": tokens})), None);
    match thinking {
        _ if model.reasoning == ReasoningSupport::Never => (None, None),
        // Newer models may think unless thinking is disabled; older ones think only if it is enabled.
        Thinking::Off if model.reasoning == ReasoningSupport::Optional => {
            let is_older = model.levels_are_budgets || row.thinking == AnthropicThinkingSwitch::AdaptiveOrBudget;
            ((takes_levels && !is_older).then(|| json!({"type": "disabled"})), None)
        }
        Thinking::Budget(tokens) => budget(tokens),
        _ if !takes_levels => (None, None),
        // The budget of a level leaves at least half of the reply for the answer.
        level if model.levels_are_budgets => budget(budget_of_level(level).min(max_tokens / 2).max(LEAST_BUDGET)),
        level => {
            let mut params = json!({"type": "adaptive"});
            if row.thinking != AnthropicThinkingSwitch::AdaptiveOrBudget {
                // Newer models hide their reasoning unless the request asks for it.
                params["display"] = json!("summarized");
            }
            if row.is_bound_to_prefix {
                // Losing old reasoning is better than a refused request.
                params["block_binding"] = json!({"prefix_mismatch_behavior": "drop_block"});
            }
            (Some(params), Some(effort(level)))
        }
    }
}

/// Parses family and version from names such as `claude-3-5-haiku-20241022`, `claude-opus-4-7`,
/// `anthropic/claude-haiku-4.5`, `us.anthropic.claude-sonnet-4-20250514-v1:0`.
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

/// Returns the budget of a level in tokens.
fn budget_of_level(level: Thinking) -> u32 {
    match level {
        Thinking::Off | Thinking::Low => 2_048,
        Thinking::Medium => 8_192,
        _ => 24_576,
    }
}

/// Returns the effort of a level. Models that always think get the lowest one for `Off`.
fn effort(level: Thinking) -> &'static str {
    match level {
        Thinking::Off => Thinking::Low.as_str(),
        level => level.as_str(),
    }
}

#[cfg(test)]
mod tests;
