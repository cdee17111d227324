//! Tests of the capability table, row by row.

use super::*;
use turnleaf_domain::ModelParams;
use turnleaf_domain::providers::params_resolution::resolve_params;

/// Returns the `max_tokens`, `thinking` and effort that are sent for these parameters.
fn sent_to(model: &str, capabilities: &Capabilities, thinking: Thinking, max_tokens: Option<u32>) -> Value {
    let params = ModelParams { thinking: Some(thinking), max_tokens, ..ModelParams::default() };
    let settled = resolve_params(&params, &ModelParams::default(), capabilities).unwrap();
    let max_tokens = super::max_tokens(settled.params.max_tokens, capabilities);
    let (thinking, effort) = thinking_params(model, capabilities, settled.thinking, max_tokens);
    json!([max_tokens, thinking, effort])
}

fn sent(model: &str, thinking: Thinking, max_tokens: Option<u32>) -> Value {
    sent_to(model, &capabilities(model), thinking, max_tokens)
}

#[test]
fn model_names_tell_generation_across_gateways() {
    for (model, expected) in [
        ("claude-3-5-haiku-20241022", Some(("haiku", (3, 5)))),
        ("claude-3-opus-latest", Some(("opus", (3, 0)))),
        ("claude-sonnet-4-20250514", Some(("sonnet", (4, 0)))),
        ("claude-sonnet-4-0", Some(("sonnet", (4, 0)))),
        ("claude-haiku-4-5-20251001", Some(("haiku", (4, 5)))),
        ("anthropic/claude-haiku-4.5", Some(("haiku", (4, 5)))),
        ("us.anthropic.claude-sonnet-4-20250514-v1:0", Some(("sonnet", (4, 0)))),
        ("claude-opus-4-7@20260401", Some(("opus", (4, 7)))),
        ("claude-fable-5", Some(("fable", (5, 0)))),
        ("claude-2.1", Some(("", (2, 1)))),
        ("claude-latest", None),
        ("MiniMax-M2.7", None),
    ] {
        assert_eq!(generation(model), expected, "{model}");
    }
}

#[test]
fn every_generation_gets_only_supported_thinking_params() {
    use Thinking::{Budget, High, Low, Medium, Off};
    let enabled = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
    let shown = json!({"type": "adaptive", "display": "summarized"});
    let bound = json!({"type": "adaptive", "display": "summarized",
        "block_binding": {"prefix_mismatch_behavior": "drop_block"}});
    for (model, thinking, expected) in [
        ("claude-3-haiku-20240307", High, json!([4096, null, null])),
        ("claude-3-5-sonnet-20241022", High, json!([8192, null, null])),
        ("claude-3-7-sonnet-20250219", Off, json!([64000, null, null])),
        ("claude-3-7-sonnet-20250219", Low, json!([64000, enabled(2048), null])),
        ("claude-opus-4-1", Medium, json!([32000, enabled(8192), null])),
        ("claude-opus-4-1", High, json!([32000, enabled(16000), null])),
        ("claude-sonnet-4-5", High, json!([64000, enabled(24576), null])),
        ("claude-sonnet-4-5", Budget(1_024), json!([64000, enabled(1024), null])),
        ("claude-sonnet-4-5", Budget(63_999), json!([64000, enabled(63999), null])),
        ("claude-opus-4-5", Low, json!([64000, enabled(2048), null])),
        ("claude-opus-4-6", Off, json!([128000, null, null])),
        ("claude-opus-4-6", Medium, json!([128000, {"type": "adaptive"}, "medium"])),
        ("claude-sonnet-4-6", Budget(3000), json!([128000, enabled(3000), null])),
        ("claude-opus-4-7", Off, json!([128000, {"type": "disabled"}, null])),
        ("claude-opus-4-7", High, json!([128000, shown, "high"])),
        ("claude-sonnet-5", Budget(2048), json!([128000, shown, "low"])),
        ("claude-opus-5", Budget(2049), json!([128000, shown, "medium"])),
        ("claude-opus-5", Budget(99_999), json!([128000, shown, "high"])),
        ("claude-fable-5", Off, json!([128000, shown, "low"])),
        ("claude-fable-5-1", High, json!([128000, bound, "high"])),
        ("claude-haiku-5-5", Off, json!([128000, bound, "low"])),
        ("claude-of-tomorrow-7", Low, json!([128000, bound, "low"])),
        ("MiniMax-M2.7", High, json!([8192, null, null])),
    ] {
        assert_eq!(sent(model, thinking, None), expected, "{model} {thinking:?}");
    }
}

#[test]
fn budget_stays_below_reply_limit() {
    let enabled = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
    for (requested, expected) in [
        (4_000, json!([4000, enabled(2000), null])),
        (1_500, json!([1500, enabled(1024), null])),
        (1_025, json!([1025, enabled(1024), null])),
        (1_024, json!([1024, null, null])),
        (64_000, json!([64000, enabled(8192), null])),
    ] {
        assert_eq!(sent("claude-haiku-4-5", Thinking::Medium, Some(requested)), expected, "{requested}");
    }
    assert_eq!(sent("MiniMax-M2.7", Thinking::Off, Some(50_000))[0], 50_000);
}

#[test]
fn older_generations_take_sampling_params_and_fewer_while_thinking() {
    let (one, near_one, any) = (Some(ValueRange::new(0.0, 1.0)), Some(TOP_P_THINKING), Some(ValueRange::at_least(1)));
    for (model, temperature, top_p, top_k, is_one_of_two) in [
        ("claude-3-5-haiku-latest", (one, None), (one, near_one), (any, None), false),
        ("claude-sonnet-4-0", (one, None), (one, near_one), (any, None), false),
        ("claude-sonnet-4-5", (one, None), (one, near_one), (any, None), true),
        ("claude-opus-4-6", (one, None), (one, near_one), (any, None), true),
        ("claude-opus-4-7", (None, None), (None, None), (None, None), false),
        ("claude-sonnet-5-5", (None, None), (None, None), (None, None), false),
        ("MiniMax-M2.7", (one, one), (one, one), (any, any), false),
    ] {
        let known = capabilities(model);
        assert_eq!((known.temperature.plain, known.temperature.thinking), temperature, "{model}");
        assert_eq!((known.top_p.plain, known.top_p.thinking), top_p, "{model}");
        assert_eq!((known.top_k.plain, known.top_k.thinking), top_k, "{model}");
        assert_eq!(known.temperature_or_top_p, is_one_of_two, "{model}");
        assert!(known.stop_sequences.thinking.is_some() && !known.blank_stop_sequences, "{model}");
    }
}

#[test]
fn reasoning_and_its_levels_follow_from_generation() {
    const ALL: &[Thinking] = &Thinking::LEVELS;
    for (model, expected, levels, has_budget, most) in [
        ("claude-3-haiku-20240307", ReasoningSupport::Never, &ALL[..0], false, Some(4_096)),
        ("claude-3-5-haiku-latest", ReasoningSupport::Never, &ALL[..0], false, Some(8_192)),
        ("claude-3-7-sonnet-latest", ReasoningSupport::Optional, ALL, true, Some(64_000)),
        ("claude-opus-4-1", ReasoningSupport::Optional, ALL, true, Some(32_000)),
        ("claude-sonnet-4-5", ReasoningSupport::Optional, ALL, true, Some(64_000)),
        ("claude-opus-4-6", ReasoningSupport::Optional, ALL, true, Some(128_000)),
        ("claude-opus-5", ReasoningSupport::Optional, ALL, false, Some(128_000)),
        ("claude-sonnet-5-5", ReasoningSupport::Always, &ALL[1..], false, Some(128_000)),
        ("claude-mythos-5-1", ReasoningSupport::Always, &ALL[1..], false, Some(128_000)),
        ("unheard-of", ReasoningSupport::Optional, &ALL[..0], false, None),
    ] {
        let known = capabilities(model);
        assert_eq!((known.reasoning, known.thinking_levels.as_slice()), (expected, levels), "{model}");
        assert_eq!((known.thinking_budget.is_some(), known.max_tokens.most), (has_budget, most), "{model}");
    }
}

/// Returns a model list entry that supports these forms of thinking.
fn listed(adaptive: bool, enabled: bool, disabled: Option<bool>) -> Value {
    let mut types = json!({"adaptive": {"supported": adaptive}, "enabled": {"supported": enabled}});
    if let Some(disabled) = disabled {
        types["disabled"] = json!({"supported": disabled});
    }
    let effort = json!({"supported": adaptive, "low": {"supported": true}, "medium": {"supported": false},
        "high": {"supported": true}});
    json!({"id": "m", "max_input_tokens": 500_000, "max_tokens": 50_000, "capabilities": {
        "thinking": {"supported": true, "types": types}, "effort": effort, "image_input": {"supported": true}}})
}

#[test]
fn unknown_model_is_asked_according_to_model_list() {
    use Thinking::{Budget, High, Medium, Off};
    const NAME: &str = "of-tomorrow";
    let refined =
        |adaptive, enabled, disabled| refine_capabilities(&listed(adaptive, enabled, disabled), capabilities(NAME));
    let adaptive = json!({"type": "adaptive", "display": "summarized"});
    let budget = |tokens: u32| json!({"type": "enabled", "budget_tokens": tokens});
    for (model, thinking, expected) in [
        (refined(true, false, None), High, json!([50000, adaptive, "high"])),
        (refined(true, false, None), Medium, json!([50000, adaptive, "high"])),
        (refined(true, false, None), Off, json!([50000, {"type": "disabled"}, null])),
        (refined(true, false, Some(false)), Off, json!([50000, adaptive, "low"])),
        (refined(false, true, None), High, json!([50000, budget(24_576), null])),
        (refined(false, true, None), Budget(2_000), json!([50000, budget(2_000), null])),
        (refined(true, true, None), Budget(2_000), json!([50000, budget(2_000), null])),
        (capabilities(NAME), High, json!([8192, null, null])),
    ] {
        assert_eq!(sent_to(NAME, &model, thinking, None), expected, "{thinking:?} {model:?}");
    }
    let known = refined(true, false, Some(false));
    assert_eq!((known.reasoning, known.context_tokens), (ReasoningSupport::Always, Some(500_000)));
    assert_eq!((known.images, known.temperature.thinking), (Some(true), None));
}

#[test]
fn sparse_model_list_leaves_table_unchanged() {
    for name in ["claude-sonnet-5-5", "claude-opus-4-7", "claude-sonnet-4-5"] {
        let silent = json!({"id": name, "capabilities": {"thinking": {"supported": true}}});
        assert_eq!(refine_capabilities(&silent, capabilities(name)), capabilities(name), "{name}");
    }
    let without = json!({"capabilities": {"thinking": {"supported": false}}});
    let refined = refine_capabilities(&without, capabilities("claude-sonnet-5"));
    assert_eq!((refined.reasoning, refined.thinking_levels.len()), (ReasoningSupport::Never, 0));
    assert_eq!(sent_to("claude-sonnet-5", &refined, Thinking::High, None), json!([128_000, null, null]));
}

#[test]
fn all_but_oldest_generations_support_images() {
    for (model, expected) in [
        ("claude-2.1", Some(false)),
        ("claude-instant-1.2", Some(false)),
        ("claude-3-haiku-20240307", Some(true)),
        ("claude-sonnet-5-5", Some(true)),
        ("MiniMax-M2.7", None),
    ] {
        assert_eq!(capabilities(model).images, expected, "{model}");
    }
}
