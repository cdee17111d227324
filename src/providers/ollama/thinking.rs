//! Capabilities of models, and the `think` parameter (docs/reference/providers.md 8). A model that cannot think
//! refuses to be asked to, so only models that are known to think get `true` or a level; others use their default, or
//! get `false`, which none refuses.

use serde_json::{Value, json};

use crate::openai_chat::models::{is_local_reasoner, is_local_vision_model};
use crate::provider::ChatRequest;
use turnleaf_domain::providers::capabilities::{ImageBounds, ParamSupport, ValueRange};
use turnleaf_domain::providers::provider::ReasoningSupport;
use turnleaf_domain::{Capabilities, Thinking, limits};

/// The levels of models that can only switch thinking on or off.
const ON_OR_OFF: &[Thinking] = &[Thinking::Off, Thinking::Medium];

/// Returns the capabilities that are known from the name of a model.
pub fn capabilities(model: &str) -> Capabilities {
    let name = model.to_ascii_lowercase();
    let (reasoning, levels) = if takes_levels(&name) {
        (ReasoningSupport::Always, &Thinking::LEVELS[1..])
    } else if is_local_reasoner(&name) {
        (ReasoningSupport::Optional, ON_OR_OFF)
    } else {
        // Every model accepts that thinking is switched off.
        (ReasoningSupport::Optional, &ON_OR_OFF[..1])
    };
    Capabilities {
        top_k: ParamSupport::always(ValueRange::at_least(1)),
        stop_sequences: ParamSupport::always(limits::STOP_SEQUENCES as u32),
        images: is_local_vision_model(&name),
        image_bounds: ImageBounds { kinds: &["image/png", "image/jpeg", "image/webp"], ..ImageBounds::default() },
        ..Capabilities::default().with_thinking(reasoning, levels)
    }
}

/// Refines the capabilities by an entry of the server's model list; older servers list none.
pub fn refine_capabilities(model: &Value, known: Capabilities) -> Capabilities {
    let can = |capability: &str| Some(model.get("capabilities")?.as_array()?.iter().any(|known| known == capability));
    let seen = Capabilities { images: can("vision").or(known.images), tools: can("tools"), ..known };
    match can("thinking") {
        Some(false) => seen.without_thinking(),
        Some(true) if seen.reasoning == ReasoningSupport::Optional => {
            seen.with_thinking(ReasoningSupport::Optional, ON_OR_OFF)
        }
        _ => seen,
    }
}

/// Returns the value of `think`; `None` if the model would refuse it.
pub fn think_param(request: &ChatRequest) -> Option<Value> {
    let capabilities = &request.capabilities;
    let is_on = request.thinking != Thinking::Off;
    if takes_levels(&request.model.to_ascii_lowercase()) {
        let level = if is_on { request.thinking.level() } else { Thinking::Low };
        return Some(json!(level.as_str()));
    }
    let wanted = if is_on { Thinking::Medium } else { Thinking::Off };
    capabilities.thinking_levels.contains(&wanted).then(|| json!(is_on))
}

/// Returns true for models that take levels and cannot switch thinking off; the others take a boolean.
fn takes_levels(model: &str) -> bool {
    model.contains("gpt-oss")
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_domain::ModelParams;
    use turnleaf_domain::providers::params_resolution::resolve_params;

    fn think_param_for(model: &str, capabilities: Capabilities, thinking: Thinking) -> Option<Value> {
        let params = ModelParams { thinking: Some(thinking), ..ModelParams::default() };
        let settled = resolve_params(&params, &ModelParams::default(), &capabilities).unwrap();
        think_param(&ChatRequest {
            params: settled.params,
            thinking: settled.thinking,
            is_thinking_mode: settled.is_thinking_mode,
            ..ChatRequest::new(model, Vec::new(), capabilities)
        })
    }

    #[test]
    fn every_model_gets_only_supported_think_values() {
        use Thinking::{Budget, High, Medium, Off};
        for (model, thinking, expected) in [
            ("qwen3:4b", Medium, Some(json!(true))),
            ("qwen3:4b", Off, Some(json!(false))),
            ("deepseek-r1:8b", Budget(1), Some(json!(true))),
            ("gpt-oss:20b", Off, Some(json!("low"))),
            ("GPT-OSS:120b", Budget(9000), Some(json!("high"))),
            ("llama3.2", High, None),
            ("llama3.2", Off, Some(json!(false))),
        ] {
            assert_eq!(think_param_for(model, capabilities(model), thinking), expected, "{model} {thinking:?}");
        }
        assert_eq!(capabilities("gpt-oss:20b").reasoning, ReasoningSupport::Always);
        assert_eq!(capabilities("qwen3:4b").reasoning, ReasoningSupport::Optional);
    }

    #[test]
    fn model_list_decides_for_unknown_model_names() {
        let listed = |can: &[&str]| refine_capabilities(&json!({"capabilities": can}), capabilities("of-tomorrow"));
        for (can, thinking, expected) in [
            (&["thinking"][..], Thinking::High, Some(json!(true))),
            (&["thinking"], Thinking::Off, Some(json!(false))),
            (&["completion"], Thinking::High, None),
            (&["completion"], Thinking::Off, None),
        ] {
            assert_eq!(think_param_for("of-tomorrow", listed(can), thinking), expected, "{can:?} {thinking:?}");
        }
    }
}
