//! How reasoning is asked for, by dialect and model: whether a model reasons at all, and which keys of the request say
//! how much. Where a table cannot know, nothing is sent, because servers refuse switches that a model does not have.

use serde_json::{Map, Value, json};

use crate::domain::Thinking;
use crate::domain::provider::Reasoning;
use crate::server::outbound::openai_chat::dialect::Dialect;

/// The switch of a dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThinkingSwitch {
    Nothing,
    /// `reasoning_effort` with the words that the model's generation takes.
    OpenAi,
    /// `reasoning_effort` with `none`, for models known to reason.
    OllamaEffort,
    /// `chat_template_kwargs`, only to switch off: the server's own setting is on.
    TemplateOff,
    /// `chat_template_kwargs`, both ways.
    Template,
    OpenRouter,
    DeepSeek,
    Groq,
    Mistral,
    Xai,
    Zai,
    Qwen,
}

/// Whether the model reasons, as far as its name tells.
pub fn reasoning(dialect: &Dialect, model: &str) -> Reasoning {
    let model = model.to_ascii_lowercase();
    let has = |part: &str| model.contains(part);
    match dialect.thinking {
        ThinkingSwitch::OpenAi => openai(&model),
        ThinkingSwitch::DeepSeek if model == "deepseek-chat" => Reasoning::Never,
        ThinkingSwitch::DeepSeek if model == "deepseek-reasoner" => Reasoning::Always,
        ThinkingSwitch::Groq if has("gpt-oss") || has("deepseek-r1") => Reasoning::Always,
        ThinkingSwitch::Groq if has("llama") || has("gemma") => Reasoning::Never,
        ThinkingSwitch::Xai if has("grok-3-mini") => Reasoning::Always,
        ThinkingSwitch::Mistral if has("magistral") => Reasoning::Always,
        ThinkingSwitch::Mistral if has("codestral") || has("ministral") || has("nemo") => Reasoning::Never,
        ThinkingSwitch::OllamaEffort if has("gpt-oss") || has("deepseek-r1") => Reasoning::Always,
        _ => Reasoning::Optional,
    }
}

fn openai(model: &str) -> Reasoning {
    let is = |prefix: &str| model.starts_with(prefix);
    if is("gpt-3") || is("gpt-4") || is("chatgpt-") || model.contains("-chat") {
        return Reasoning::Never;
    }
    if is("o1") || is("o3") || is("o4") || (is("gpt-5") && (model.contains("-pro") || model.contains("-codex"))) {
        return Reasoning::Always;
    }
    // gpt-5, gpt-5-mini, gpt-5-nano and their dates; from gpt-5.1 on reasoning can be switched off.
    if is("gpt-5") && !is("gpt-5.") { Reasoning::Always } else { Reasoning::Optional }
}

/// Whether sampling parameters are refused: models that reason, while they do (providers.md 4.1).
pub fn refuses_sampling(dialect: &Dialect, model: &str, thinking: Thinking) -> bool {
    dialect.thinking == ThinkingSwitch::OpenAi
        && match reasoning(dialect, model) {
            Reasoning::Never => false,
            Reasoning::Always => true,
            Reasoning::Optional => model.starts_with("gpt-5") && thinking != Thinking::Off,
        }
}

/// Puts the switch into a request.
pub fn put(request: &mut Map<String, Value>, dialect: &Dialect, model: &str, thinking: Thinking) {
    let model = model.to_ascii_lowercase();
    let reasons = reasoning(dialect, &model);
    if reasons == Reasoning::Never {
        return;
    }
    let is_on = thinking != Thinking::Off;
    let mut set = |key: &str, value: Value| request.insert(key.to_owned(), value);
    match dialect.thinking {
        ThinkingSwitch::Nothing => {}
        ThinkingSwitch::OpenAi => {
            if let Some(word) = openai_effort(&model, thinking) {
                set("reasoning_effort", json!(word));
            }
        }
        ThinkingSwitch::OllamaEffort => {
            if is_local_reasoner(&model) {
                let word = if is_on { effort(thinking) } else { "none" };
                let word = if !is_on && reasons == Reasoning::Always { "low" } else { word };
                set("reasoning_effort", json!(word));
            }
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
            if reasons == Reasoning::Optional {
                set("thinking", json!({"type": if is_on { "enabled" } else { "disabled" }}));
                if is_on {
                    set("reasoning_effort", json!(if effort(thinking) == "low" { "low" } else { "high" }));
                }
            }
        }
        ThinkingSwitch::Groq => put_groq(request, &model, thinking),
        ThinkingSwitch::Mistral => {
            if model.contains("magistral") {
                set("prompt_mode", json!("reasoning"));
            } else if model.starts_with("mistral-small") || model.starts_with("mistral-medium") {
                set("reasoning_effort", json!(if is_on { "high" } else { "none" }));
            }
        }
        ThinkingSwitch::Xai => {
            if model.contains("grok-3-mini") {
                set("reasoning_effort", json!(if effort(thinking) == "high" { "high" } else { "low" }));
            }
        }
        ThinkingSwitch::Zai => {
            let kind = if is_on { "enabled" } else { "disabled" };
            set("thinking", json!({"type": kind, "clear_thinking": false}));
        }
        ThinkingSwitch::Qwen => {
            set("enable_thinking", json!(is_on));
            if let Thinking::Budget(tokens) = thinking {
                set("thinking_budget", json!(tokens));
            }
        }
    }
}

fn put_groq(request: &mut Map<String, Value>, model: &str, thinking: Thinking) {
    let is_on = thinking != Thinking::Off;
    if model.contains("gpt-oss") {
        request.insert("reasoning_effort".into(), json!(if is_on { effort(thinking) } else { "low" }));
    } else if model.contains("qwen3") {
        request.insert("reasoning_effort".into(), json!(if is_on { "default" } else { "none" }));
        request.insert("reasoning_format".into(), json!("parsed"));
    } else if model.contains("deepseek-r1") {
        request.insert("reasoning_format".into(), json!("parsed"));
    }
}

/// Effort as a word; a budget becomes the level that it is about.
fn effort(thinking: Thinking) -> &'static str {
    match thinking {
        Thinking::Off | Thinking::Low | Thinking::Budget(0..=2048) => "low",
        Thinking::Medium | Thinking::Budget(2049..=8192) => "medium",
        Thinking::High | Thinking::Budget(_) => "high",
    }
}

/// The word for OpenAI's models; `None` for names that no generation is known of.
fn openai_effort(model: &str, thinking: Thinking) -> Option<&'static str> {
    let is_fixed = model.contains("-pro") || model.contains("-codex");
    let off = if model.starts_with("gpt-5.") && !is_fixed {
        "none"
    } else if model.starts_with("gpt-5") && !is_fixed {
        "minimal"
    } else if is_fixed || ["o1", "o3", "o4"].iter().any(|family| model.starts_with(family)) {
        "low"
    } else {
        return None;
    };
    // These two refuse the key altogether.
    if model.starts_with("o1-mini") || model.starts_with("o1-preview") {
        return None;
    }
    Some(if thinking == Thinking::Off { off } else { effort(thinking) })
}

/// Open models that take a thinking switch, by their names in lower case. Servers refuse it for the others ("does not support thinking").
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

#[cfg(test)]
mod tests {
    use super::*;

    fn switch(dialect: &str, model: &str, thinking: Thinking) -> Value {
        let mut request = Map::new();
        put(&mut request, Dialect::named(dialect).unwrap(), model, thinking);
        Value::Object(request)
    }

    #[test]
    fn every_model_gets_only_words_it_takes() {
        use Thinking::{Budget, High, Low, Medium, Off};
        for (dialect, model, thinking, expected) in [
            ("openai", "gpt-4o", Medium, json!({})),
            ("openai", "o3", Off, json!({"reasoning_effort": "low"})),
            ("openai", "o1-mini", High, json!({})),
            ("openai", "gpt-5-nano", Off, json!({"reasoning_effort": "minimal"})),
            ("openai", "gpt-5.2", Off, json!({"reasoning_effort": "none"})),
            ("openai", "gpt-5.2", Budget(20_000), json!({"reasoning_effort": "high"})),
            ("openai", "something-new", High, json!({})),
            ("ollama", "llama3.2", Medium, json!({})),
            ("ollama", "qwen3:8b", Off, json!({"reasoning_effort": "none"})),
            ("ollama", "gpt-oss:120b", Off, json!({"reasoning_effort": "low"})),
            ("llamacpp", "any.gguf", Medium, json!({})),
            (
                "llamacpp",
                "any.gguf",
                Off,
                json!({"chat_template_kwargs": {"enable_thinking": false, "thinking": false}}),
            ),
            ("openrouter", "any/model", Off, json!({"reasoning": {"enabled": false}})),
            ("openrouter", "any/model", Budget(2000), json!({"reasoning": {"max_tokens": 2000}})),
            ("deepseek", "deepseek-chat", High, json!({})),
            ("deepseek", "deepseek-v4-flash", Off, json!({"thinking": {"type": "disabled"}})),
            ("deepseek", "deepseek-v4-flash", Low, json!({"thinking": {"type": "enabled"}, "reasoning_effort": "low"})),
            ("groq", "llama-3.3-70b", High, json!({})),
            ("mistral", "mistral-small-latest", High, json!({"reasoning_effort": "high"})),
            ("generic", "anything", High, json!({})),
        ] {
            assert_eq!(switch(dialect, model, thinking), expected, "{dialect} {model} {thinking:?}");
        }
    }

    #[test]
    fn names_tell_whether_openais_models_reason() {
        for (model, expected) in [
            ("gpt-4o-mini", Reasoning::Never),
            ("gpt-4.1", Reasoning::Never),
            ("gpt-5-chat-latest", Reasoning::Never),
            ("o1", Reasoning::Always),
            ("o4-mini-2025-04-16", Reasoning::Always),
            ("gpt-5-2025-08-07", Reasoning::Always),
            ("gpt-5.1", Reasoning::Optional),
            ("gpt-5.1-codex", Reasoning::Always),
            ("unheard-of", Reasoning::Optional),
        ] {
            assert_eq!(openai(model), expected, "{model}");
        }
        assert_eq!(reasoning(Dialect::named("llamacpp").unwrap(), "whatever"), Reasoning::Optional);
    }
}
