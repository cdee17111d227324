//! The table, row by row.

use super::*;

fn sent(model: &str, thinking: Thinking, max_tokens: Option<u32>) -> Value {
    let abilities = Abilities::of(model);
    let max_tokens = abilities.max_tokens(max_tokens);
    let (thinking, effort) = abilities.ask(thinking, max_tokens);
    json!([max_tokens, thinking, effort])
}

#[test]
fn names_tell_the_generation_wherever_they_come_from() {
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
fn every_generation_gets_only_a_form_of_thinking_that_it_takes() {
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
        ("claude-sonnet-4-5", Budget(1), json!([64000, enabled(1024), null])),
        ("claude-sonnet-4-5", Budget(99_999), json!([64000, enabled(63999), null])),
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
fn a_budget_stays_below_the_limit_of_the_reply() {
    let enabled = |budget: u32| json!({"type": "enabled", "budget_tokens": budget});
    for (asked, expected) in [
        (4_000, json!([4000, enabled(2000), null])),
        (1_500, json!([1500, enabled(1024), null])),
        (1_025, json!([1025, enabled(1024), null])),
        (1_024, json!([1024, null, null])),
        (1_000_000, json!([64000, enabled(8192), null])),
    ] {
        assert_eq!(sent("claude-haiku-4-5", Thinking::Medium, Some(asked)), expected, "{asked}");
    }
    assert_eq!(sent("MiniMax-M2.7", Thinking::Off, Some(50_000))[0], 50_000);
}

#[test]
fn sampling_is_sent_only_where_it_is_taken() {
    let params = Params { temperature: Some(1.5), top_p: Some(0.9), top_k: Some(5), ..Params::default() };
    let names = |model: &str, params: &Params, thinks| -> Vec<&str> {
        Abilities::of(model).sampling(params, thinks).into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(names("claude-sonnet-4-0", &params, false), ["temperature", "top_p", "top_k"]);
    assert_eq!(names("claude-sonnet-4-5", &params, false), ["temperature", "top_k"]);
    assert_eq!(names("claude-sonnet-4-5", &params, true), Vec::<&str>::new());
    assert_eq!(names("claude-opus-4-7", &params, false), Vec::<&str>::new());
    let near_one = Params { top_p: Some(0.95), ..params.clone() };
    assert_eq!(names("claude-sonnet-4-5", &near_one, true), ["top_p"]);
    assert_eq!(Abilities::of("claude-sonnet-4-5").sampling(&params, false)[0].1, json!(1.0));
}

#[test]
fn reasoning_follows_from_the_form() {
    for (model, expected) in [
        ("claude-3-5-haiku-latest", Reasoning::Never),
        ("claude-sonnet-4-5", Reasoning::Optional),
        ("claude-opus-5", Reasoning::Optional),
        ("claude-sonnet-5-5", Reasoning::Always),
        ("claude-mythos-5-1", Reasoning::Always),
        ("unheard-of", Reasoning::Optional),
    ] {
        assert_eq!(Abilities::of(model).reasoning(), expected, "{model}");
    }
}
