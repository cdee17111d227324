//! How reasoning is asked for: the `think` key (providers.md 8). A model that cannot think refuses to be asked, so only
//! those that are known by name get it; the others do as they are made.

use serde_json::{Value, json};

use crate::domain::Thinking;
use crate::domain::provider::Reasoning;
use crate::server::outbound::openai_chat::thinking::is_local_reasoner;

/// Whether the model reasons, as far as its name tells.
pub fn reasoning(model: &str) -> Reasoning {
    let model = model.to_ascii_lowercase();
    if takes_levels(&model) { Reasoning::Always } else { Reasoning::Optional }
}

/// The value of `think`; nothing where it would be refused. Switching off is never refused.
pub fn think(model: &str, thinking: Thinking) -> Option<Value> {
    let model = model.to_ascii_lowercase();
    if takes_levels(&model) {
        return Some(json!(level(thinking)));
    }
    let is_on = thinking != Thinking::Off;
    (!is_on || is_local_reasoner(&model)).then(|| json!(is_on))
}

/// These cannot be switched off and take words; the others take only whether.
fn takes_levels(model: &str) -> bool {
    model.contains("gpt-oss")
}

/// A budget becomes the level that it is about.
fn level(thinking: Thinking) -> &'static str {
    match thinking {
        Thinking::Off | Thinking::Low | Thinking::Budget(0..=2048) => "low",
        Thinking::Medium | Thinking::Budget(2049..=8192) => "medium",
        Thinking::High | Thinking::Budget(_) => "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_model_gets_only_what_it_takes() {
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
            assert_eq!(think(model, thinking), expected, "{model} {thinking:?}");
        }
        assert_eq!((reasoning("gpt-oss:20b"), reasoning("qwen3:4b")), (Reasoning::Always, Reasoning::Optional));
    }
}
