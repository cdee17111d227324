//! Tests of the table of docs/reference/providers.md 7.1.

use super::*;
use turnleaf_domain::ModelParams;
use turnleaf_domain::providers::params_resolution::resolve_params;

#[test]
fn every_generation_gets_only_supported_thinking_config() {
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
        ("gemini-2.5-flash-lite", Budget(512), None, Some(shown("thinkingBudget", json!(512)))),
        ("gemini-2.5-flash", Budget(24_576), None, Some(shown("thinkingBudget", json!(24_576)))),
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
        let known = capabilities(model);
        let params = ModelParams { thinking: Some(thinking), max_tokens: max, ..ModelParams::default() };
        let settled = resolve_params(&params, &ModelParams::default(), &known).unwrap();
        let sent = thinking_config(model, known.reasoning, settled.thinking, settled.params.max_tokens);
        assert_eq!(sent, expected, "{model} {thinking:?}");
    }
}

#[test]
fn model_names_tell_reasoning_and_output_limit() {
    for (model, expected, most) in [
        ("gemini-2.0-flash-001", ReasoningSupport::Never, Some(8_192)),
        ("gemini-2.5-flash", ReasoningSupport::Optional, Some(65_536)),
        ("gemini-2.5-pro", ReasoningSupport::Always, Some(65_536)),
        ("gemini-3-flash-preview", ReasoningSupport::Optional, Some(65_536)),
        ("gemini-3.7-flash", ReasoningSupport::Always, Some(65_536)),
        ("gemini-3-pro-preview", ReasoningSupport::Always, Some(65_536)),
        ("gemini-exp-1206", ReasoningSupport::Optional, None),
        ("gemini-1206", ReasoningSupport::Optional, None),
        ("gemma-3-4b-it", ReasoningSupport::Never, None),
    ] {
        let known = capabilities(model);
        assert_eq!((known.reasoning, known.max_tokens.most), (expected, most), "{model}");
    }
    assert!(!takes_system_instruction("models/gemma-3-4b-it") && takes_system_instruction("gemini-2.5-pro"));
}

#[test]
fn only_supported_levels_and_budgets_are_offered() {
    use Thinking::{High, Low, Medium, Off};
    for (model, levels, budget) in [
        ("gemini-2.0-flash", &[][..], None),
        ("gemini-2.5-flash", &[Off, Low, Medium, High], Some(ValueRange::new(1, 24_576))),
        ("gemini-2.5-flash-lite", &[Off, Low, Medium, High], Some(ValueRange::new(512, 24_576))),
        ("gemini-2.5-pro", &[Low, Medium, High], Some(ValueRange::new(128, 32_768))),
        ("gemini-3-pro-preview", &[Low, High], None),
        ("gemini-3.1-pro-preview", &[Low, Medium, High], None),
        ("gemini-3-flash-preview", &[Off, Low, Medium, High], None),
        ("gemini-3.7-flash", &[Low, Medium, High], None),
        ("gemini-3-pro-image-preview", &[], None),
        ("something-else", &[], None),
    ] {
        let known = capabilities(model);
        assert_eq!((known.thinking_levels.as_slice(), known.thinking_budget), (levels, budget), "{model}");
        assert_eq!((known.stop_sequences.plain, known.top_k.thinking.is_some()), (Some(5), true), "{model}");
    }
}

#[test]
fn model_names_tell_support_for_images_and_result_images() {
    for (model, expected, of_results) in [
        ("gemini-2.5-flash", Some(true), false),
        ("models/gemini-3-pro-preview", Some(true), true),
        ("gemini-3.7-flash", Some(true), true),
        ("gemini-flash-latest", Some(true), false),
        ("gemini-2.5-flash-preview-tts", Some(false), false),
        ("gemini-1.0-pro", Some(false), false),
        ("gemma-3-27b-it", Some(true), false),
        ("gemma-3-1b-it", Some(false), false),
        ("something-else", None, false),
    ] {
        assert_eq!((capabilities(model).images, accepts_tool_result_images(model)), (expected, of_results), "{model}");
    }
    assert!(!capabilities("gemini-2.5-flash").image_bounds.kinds.contains(&"image/gif"));
}
