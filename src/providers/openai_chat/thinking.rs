//! Reasoning parameters by dialect and model. Unknown models get none, because servers refuse parameters that a model
//! does not support.

use serde_json::{Map, Value, json};

use crate::openai_chat::dialect::{Dialect, ThinkingSwitch};
use crate::openai_chat::models::is_local_reasoner;
use crate::openai_responses::models as openai;
use crate::provider::ChatRequest;
use turnleaf_domain::Thinking;
use turnleaf_domain::providers::provider::ReasoningSupport;

/// Adds the reasoning parameters to a request. `request.thinking` must be supported by the model.
pub fn put(body: &mut Map<String, Value>, dialect: &Dialect, request: &ChatRequest) {
    let capabilities = &request.capabilities;
    if capabilities.reasoning == ReasoningSupport::Never {
        return;
    }
    let model = request.model.to_ascii_lowercase();
    let thinking = request.thinking;
    let is_on = thinking != Thinking::Off;
    let mut set = |key: &str, value: Value| body.insert(key.to_owned(), value);
    match dialect.thinking {
        // These models have no levels, but do have a switch.
        ThinkingSwitch::Mistral if model.contains("magistral") => drop(set("prompt_mode", json!("reasoning"))),
        ThinkingSwitch::Groq if model.contains("deepseek-r1") => drop(set("reasoning_format", json!("parsed"))),
        ThinkingSwitch::OpenAi => {
            if let Some(word) = openai::effort(&model, thinking) {
                set("reasoning_effort", json!(word));
            }
        }
        _ if capabilities.thinking_levels.is_empty() => {}
        ThinkingSwitch::Nothing => {}
        ThinkingSwitch::OllamaEffort => {
            let can_be_off = capabilities.reasoning == ReasoningSupport::Optional;
            set("reasoning_effort", json!(if is_on || !can_be_off { effort(thinking) } else { "none" }));
        }
        ThinkingSwitch::TemplateOff if is_on => {}
        ThinkingSwitch::Template if is_on && !is_local_reasoner(&model) => {}
        ThinkingSwitch::TemplateOff | ThinkingSwitch::Template => {
            set("chat_template_kwargs", json!({"enable_thinking": is_on, "thinking": is_on}));
        }
        ThinkingSwitch::OpenRouter => {
            set(
                "reasoning",
                match thinking {
                    Thinking::Off => json!({"enabled": false}),
                    Thinking::Budget(tokens) => json!({"max_tokens": tokens}),
                    level => json!({"effort": effort(level)}),
                },
            );
        }
        ThinkingSwitch::DeepSeek => {
            set("thinking", json!({"type": if is_on { "enabled" } else { "disabled" }}));
            if is_on {
                set("reasoning_effort", json!(effort(thinking)));
            }
        }
        ThinkingSwitch::Groq if model.contains("qwen3") => {
            set("reasoning_effort", json!(if is_on { "default" } else { "none" }));
            set("reasoning_format", json!("parsed"));
        }
        ThinkingSwitch::Mistral => {
            set("reasoning_effort", json!(if is_on { "high" } else { "none" }));
        }
        ThinkingSwitch::Groq | ThinkingSwitch::Xai => {
            set("reasoning_effort", json!(effort(thinking)));
        }
        ThinkingSwitch::Moonshot => {
            set("thinking", json!({"type": if is_on { "enabled" } else { "disabled" }}));
        }
        ThinkingSwitch::Zai => {
            let kind = if is_on { "enabled" } else { "disabled" };
            set("thinking", json!({"type": kind, "clear_thinking": false}));
        }
        ThinkingSwitch::Qwen => {
            if capabilities.reasoning == ReasoningSupport::Optional {
                set("enable_thinking", json!(is_on));
            }
            if let Thinking::Budget(tokens) = thinking {
                set("thinking_budget", json!(tokens));
            }
        }
    }
}

/// Returns the effort of a level; models that cannot switch thinking off get the lowest one for `Off`.
fn effort(thinking: Thinking) -> &'static str {
    match thinking.level() {
        Thinking::Off => Thinking::Low.as_str(),
        level => level.as_str(),
    }
}

#[cfg(test)]
mod tests;
