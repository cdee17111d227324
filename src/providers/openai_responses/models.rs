//! Capabilities of each generation of OpenAI models: reasoning, accepted efforts, reasoning summaries, and when
//! sampling parameters are refused (docs/reference/providers.md 4.1, 6.1). Unknown models get no parameters, because
//! servers refuse those that a model does not support.

use serde_json::{Map, Value, json};

use turnleaf_domain::providers::capabilities::ImageBounds;
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::tools::tool::{CODE_EXECUTION, WEB_SEARCH};
use turnleaf_domain::{Capabilities, Thinking};

/// The values of `reasoning.effort` in ascending order.
const EFFORTS: [&str; 5] = ["none", "minimal", "low", "medium", "high"];
const LOW_TO_HIGH: &[&str] = &["low", "medium", "high"];

/// When a model accepts sampling parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ResponsesSampling {
    Taken,
    Refused,
    /// Only while the model does not reason.
    WhenOff,
}

/// The common features of one model generation.
#[derive(Debug)]
struct OpenAiGeneration {
    /// The prefixes of the model names.
    begins: &'static [&'static str],
    /// A further part of the names; empty if any name matches.
    has: &'static str,
    reasoning: ReasoningSupport,
    /// The accepted efforts in ascending order; empty if the model accepts none.
    efforts: &'static [&'static str],
    /// The model summarizes its reasoning on request.
    summarises: bool,
    sampling: ResponsesSampling,
}

/// The table; the first matching row counts.
const GENERATIONS: &[OpenAiGeneration] = &[
    OpenAiGeneration {
        begins: &["gpt-3", "gpt-4", "chatgpt-"],
        has: "",
        reasoning: ReasoningSupport::Never,
        efforts: &[],
        summarises: false,
        sampling: ResponsesSampling::Taken,
    },
    OpenAiGeneration {
        begins: &["gpt-5"],
        has: "-chat",
        reasoning: ReasoningSupport::Never,
        efforts: &[],
        summarises: false,
        sampling: ResponsesSampling::Taken,
    },
    OpenAiGeneration {
        begins: &["o3", "o4"],
        has: "deep-research",
        reasoning: ReasoningSupport::Always,
        efforts: &["medium"],
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["o1-mini", "o1-preview"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: &[],
        summarises: false,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["o1"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: LOW_TO_HIGH,
        summarises: false,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["o3", "o4", "codex-"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: LOW_TO_HIGH,
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["gpt-5-pro"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: &["high"],
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["gpt-5."],
        has: "-pro",
        reasoning: ReasoningSupport::Always,
        efforts: &["medium", "high"],
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["gpt-5"],
        has: "-codex",
        reasoning: ReasoningSupport::Always,
        efforts: LOW_TO_HIGH,
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    OpenAiGeneration {
        begins: &["gpt-5."],
        has: "",
        reasoning: ReasoningSupport::Optional,
        efforts: &["none", "low", "medium", "high"],
        summarises: true,
        sampling: ResponsesSampling::WhenOff,
    },
    OpenAiGeneration {
        begins: &["gpt-5"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: &["minimal", "low", "medium", "high"],
        summarises: true,
        sampling: ResponsesSampling::Refused,
    },
    // Open-weight models show their reasoning itself.
    OpenAiGeneration {
        begins: &["gpt-oss"],
        has: "",
        reasoning: ReasoningSupport::Always,
        efforts: LOW_TO_HIGH,
        summarises: false,
        sampling: ResponsesSampling::Taken,
    },
];

/// Returns the row of a model. Gateways prefix the name with the vendor (`openai/gpt-5`, `openai.gpt-5`).
fn generation(model: &str) -> Option<&'static OpenAiGeneration> {
    let model = model.to_ascii_lowercase();
    let name = model.rsplit('/').next().unwrap_or(&model);
    let name = name.strip_prefix("openai.").unwrap_or(name);
    let fits =
        |row: &&OpenAiGeneration| row.begins.iter().any(|begin| name.starts_with(begin)) && name.contains(row.has);
    GENERATIONS.iter().find(fits)
}

/// Returns the capabilities in both APIs of OpenAI, as far as the name tells. Only chat completions have stop
/// sequences, with the same restrictions as sampling parameters.
pub fn capabilities(model: &str) -> Capabilities {
    let Some(row) = generation(model) else {
        return Capabilities::default();
    };
    let levels: Vec<Thinking> =
        Thinking::LEVELS.into_iter().filter(|level| row.efforts.contains(&effort_of_level(*level))).collect();
    let known = Capabilities { images: supports_images(model), image_bounds: IMAGES, ..Capabilities::default() };
    let known = known.with_thinking(row.reasoning, &levels);
    match row.sampling {
        ResponsesSampling::Taken => known,
        ResponsesSampling::Refused => known.without_sampling(false),
        ResponsesSampling::WhenOff => known.without_sampling(true),
    }
}

/// Image limits of a request of at most 50 MB.
const IMAGES: ImageBounds = ImageBounds {
    kinds: &["image/png", "image/jpeg", "image/gif", "image/webp"],
    count: 500,
    bytes: 20 << 20,
    bytes_in_all: 45 << 20,
    side: u32::MAX,
    side_of_many: None,
};

/// Returns whether a model accepts images; `None` for unknown generations.
pub fn supports_images(model: &str) -> Option<bool> {
    generation(model)?;
    let model = model.to_ascii_lowercase();
    let name = model.rsplit('/').next().unwrap_or(&model);
    let name = name.strip_prefix("openai.").unwrap_or(name);
    let begins = |parts: &[&str]| parts.iter().any(|part| name.starts_with(part));
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    let is_older = begins(&["gpt-4"]) && !begins(&["gpt-4o", "gpt-4.", "gpt-4-turbo", "gpt-4-vision"]);
    let is_blind = is_older
        || begins(&["gpt-3", "gpt-oss", "o1-mini", "o1-preview", "o3-mini", "gpt-4-turbo-preview"])
        || has(&["audio", "search-preview", "transcribe", "tts"]);
    Some(!is_blind)
}

/// Returns the effort to send: the lowest accepted one that is at least the level. `None` if the model accepts none
/// or its generation is unknown.
pub fn effort(model: &str, thinking: Thinking) -> Option<&'static str> {
    let efforts = generation(model)?.efforts;
    let rank = |effort: &str| EFFORTS.iter().position(|known| *known == effort);
    let wanted = rank(effort_of_level(thinking.level()));
    efforts.iter().find(|word| rank(word) >= wanted).or(efforts.last()).copied()
}

/// Returns the `reasoning` object of a request; `None` if it would be empty. `with_summary` is false if the endpoint
/// refuses summaries.
pub fn reasoning_param(model: &str, thinking: Thinking, with_summary: bool) -> Option<Value> {
    let mut param = Map::new();
    if let Some(word) = effort(model, thinking) {
        param.insert("effort".into(), json!(word));
    }
    if with_summary && generation(model)?.summarises && thinking != Thinking::Off {
        param.insert("summary".into(), json!("auto"));
    }
    (!param.is_empty()).then_some(Value::Object(param))
}

fn effort_of_level(level: Thinking) -> &'static str {
    match level {
        Thinking::Off => "none",
        level => level.as_str(),
    }
}

/// Returns the provider tools that OpenAI runs for this model.
pub fn provider_tools(model: &str) -> &'static [&'static str] {
    let is_one = ["gpt-5", "gpt-4.1", "gpt-4o", "o3", "o4"].iter().any(|family| model.starts_with(family));
    let has_none = ["nano", "audio", "realtime", "transcribe", "tts", "image", "deep-research"];
    let is_full = is_one && !has_none.iter().any(|word| model.contains(word));
    if is_full { &[WEB_SEARCH, CODE_EXECUTION] } else { &[] }
}

/// Returns the declaration of a provider tool, and the `include` value that requests its output.
pub fn provider_tool(tool: &str) -> Option<(Value, &'static str)> {
    match tool {
        WEB_SEARCH => Some((json!({"type": "web_search"}), "web_search_call.action.sources")),
        CODE_EXECUTION => {
            let tool = json!({"type": "code_interpreter", "container": {"type": "auto"}});
            Some((tool, "code_interpreter_call.outputs"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generation_gets_only_supported_efforts() {
        use Thinking::{Budget, High, Low, Medium, Off};
        let with_summary = |effort: &str| json!({"effort": effort, "summary": "auto"});
        for (model, thinking, expected) in [
            ("gpt-4o", High, Value::Null),
            ("gpt-4.1-mini", Off, Value::Null),
            ("gpt-5-chat-latest", High, Value::Null),
            ("o1-pro", Low, json!({"effort": "low"})),
            ("o1-preview", Low, Value::Null),
            ("o4-mini-2025-04-16", Off, json!({"effort": "low"})),
            ("o3", Budget(4000), with_summary("medium")),
            ("o3-deep-research", High, with_summary("medium")),
            ("gpt-5-nano", Off, json!({"effort": "minimal"})),
            ("gpt-5-nano", Low, with_summary("low")),
            ("gpt-5.2", Off, json!({"effort": "none"})),
            ("gpt-5.6-sol", Budget(20_000), with_summary("high")),
            ("gpt-5-pro", Low, with_summary("high")),
            ("gpt-5.2-pro", Off, json!({"effort": "medium"})),
            ("gpt-5.3-codex", Off, json!({"effort": "low"})),
            ("openai/gpt-5-mini", Medium, with_summary("medium")),
            ("openai.gpt-5.6-luna", Medium, with_summary("medium")),
            ("openai/gpt-oss-20b", Medium, json!({"effort": "medium"})),
            ("grok-4.3", High, Value::Null),
            ("zai-org/glm-4.7-flash", Off, Value::Null),
        ] {
            let param = reasoning_param(model, thinking, true).unwrap_or_default();
            assert_eq!(param, expected, "{model} {thinking:?}");
        }
        assert_eq!(reasoning_param("o3", High, false), Some(json!({"effort": "high"})));
    }

    #[test]
    fn model_names_tell_image_support() {
        for (model, expected) in [
            ("gpt-4o-mini", Some(true)),
            ("openai/gpt-5-mini", Some(true)),
            ("o4-mini", Some(true)),
            ("gpt-4.1", Some(true)),
            ("gpt-4-turbo-2024-04-09", Some(true)),
            ("gpt-4-0613", Some(false)),
            ("gpt-3.5-turbo", Some(false)),
            ("o3-mini", Some(false)),
            ("gpt-4o-audio-preview", Some(false)),
            ("gpt-oss-120b", Some(false)),
            ("unheard-of", None),
        ] {
            assert_eq!((supports_images(model), capabilities(model).images), (expected, expected), "{model}");
        }
    }

    #[test]
    fn model_names_tell_reasoning_and_refused_params() {
        use Thinking::{High, Low, Medium, Off};
        for (model, expected, levels, (when_off, when_on)) in [
            ("gpt-4o", ReasoningSupport::Never, &[][..], (true, true)),
            ("gpt-5.1-chat-latest", ReasoningSupport::Never, &[], (true, true)),
            ("o3", ReasoningSupport::Always, &[Low, Medium, High], (false, false)),
            ("o3-deep-research", ReasoningSupport::Always, &[Medium], (false, false)),
            ("o1-preview", ReasoningSupport::Always, &[], (false, false)),
            ("gpt-5-2025-08-07", ReasoningSupport::Always, &[Low, Medium, High], (false, false)),
            ("gpt-5-pro", ReasoningSupport::Always, &[High], (false, false)),
            ("gpt-5.2-pro", ReasoningSupport::Always, &[Medium, High], (false, false)),
            ("gpt-5.1", ReasoningSupport::Optional, &[Off, Low, Medium, High], (true, false)),
            ("gpt-5.6-sol", ReasoningSupport::Optional, &[Off, Low, Medium, High], (true, false)),
            ("gpt-5.1-codex", ReasoningSupport::Always, &[Low, Medium, High], (false, false)),
            ("gpt-oss:20b", ReasoningSupport::Always, &[Low, Medium, High], (true, true)),
            ("unheard-of", ReasoningSupport::Optional, &[], (true, true)),
        ] {
            let known = capabilities(model);
            assert_eq!((known.reasoning, known.thinking_levels.as_slice()), (expected, levels), "{model}");
            let supports = |thinks| [known.temperature.bounds(thinks).is_some(), known.top_p.bounds(thinks).is_some()];
            assert_eq!((supports(false), supports(true)), ([when_off; 2], [when_on; 2]), "{model}");
        }
    }
}
