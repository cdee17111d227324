//! Tests of the parameters that are sent, rejected by name, or dropped with a reason.

use super::*;
use crate::providers::capabilities::ValueRange;

fn none() -> ModelParams {
    ModelParams::default()
}

fn temperature(value: f64) -> ModelParams {
    ModelParams { temperature: Some(value), ..none() }
}

fn max_tokens(value: u32) -> ModelParams {
    ModelParams { max_tokens: Some(value), ..none() }
}

fn thinking(value: Thinking) -> ModelParams {
    ModelParams { thinking: Some(value), ..none() }
}

fn stops(values: &[&str]) -> ModelParams {
    ModelParams { stop_sequences: values.iter().map(|value| (*value).to_owned()).collect(), ..none() }
}

/// A model with thinking budgets that accepts no sampling while it thinks, except a high `top_p`.
fn budgets() -> Capabilities {
    Capabilities {
        thinking_budget: Some(ValueRange::at_least(1_024)),
        levels_are_budgets: true,
        temperature: ParamSupport::only_plain(ValueRange::new(0.0, 1.0)),
        top_p: ParamSupport { plain: Some(ValueRange::new(0.0, 1.0)), thinking: Some(ValueRange::new(0.95, 1.0)) },
        temperature_or_top_p: true,
        top_k: ParamSupport::only_plain(ValueRange::at_least(1)),
        max_tokens: ValueRange::new(1, 64_000),
        blank_stop_sequences: false,
        ..Capabilities::default().with_thinking(ReasoningSupport::Optional, &Thinking::LEVELS)
    }
}

fn levels(reasoning: ReasoningSupport, levels: &[Thinking]) -> Capabilities {
    Capabilities::default().with_thinking(reasoning, levels)
}

fn left_out(settled: &ResolvedParams) -> Vec<(&str, &str)> {
    settled.not_sent.iter().map(|not_sent| (not_sent.param.as_str(), not_sent.reason.as_str())).collect()
}

#[test]
fn turn_params_outside_model_bounds_are_refused_by_name() {
    let off = |params: ModelParams| ModelParams { thinking: Some(Thinking::Off), ..params };
    let roomy = |budget, max: u32| ModelParams { max_tokens: Some(max), ..thinking(Thinking::Budget(budget)) };
    let top_p = |value| ModelParams { top_p: Some(value), ..none() };
    for (requested, field, reason) in [
        (off(temperature(1.5)), "temperature", "must be between 0 and 1 for this model"),
        // The value is rejected even if the parameter would not be sent in this mode.
        (temperature(1.5), "temperature", "must be between 0 and 1 for this model"),
        (top_p(0.5), "top_p", "must be between 0.95 and 1 for this model while it thinks"),
        (max_tokens(64_001), "max_tokens", "must be between 1 and 64000 for this model"),
        (thinking(Thinking::Budget(1_023)), "thinking", "a budget must be at least 1024 tokens for this model"),
        (thinking(Thinking::Budget(64_000)), "thinking", "a budget must be below max_tokens (64000)"),
        (roomy(2_000, 2_000), "thinking", "a budget must be below max_tokens (2000)"),
        (stops(&["a", "b", "c", "d", "e"]), "stop_sequences", "at most 4 for this model"),
        (stops(&["a", "\n "]), "stop_sequences", "must not be blank for this model"),
    ] {
        let refused = resolve_params(&requested, &none(), &budgets()).unwrap_err();
        assert_eq!(
            (refused.field, refused.reason.to_string()),
            (format!("params.{field}"), reason.to_owned()),
            "{requested:?}"
        );
        // As a default of the chat, the same value is dropped instead.
        let settled = resolve_params(&none(), &requested, &budgets()).unwrap();
        assert_eq!(left_out(&settled).first(), Some(&(field, reason)), "{requested:?}");
        assert_eq!((settled.params.temperature, settled.params.top_p), (None, None));
        assert!(settled.params.stop_sequences.is_empty() && settled.params.max_tokens.is_none_or(|max| max == 2_000));
    }
}

#[test]
fn fitting_params_are_sent_and_turn_overrides_defaults() {
    let requested = ModelParams { top_k: Some(5), ..temperature(0.5) };
    let defaults = ModelParams {
        max_tokens: Some(900),
        thinking: Some(Thinking::Off),
        stop_sequences: vec!["x".into()],
        ..temperature(0.9)
    };
    let settled = resolve_params(&requested, &defaults, &budgets()).unwrap();
    assert_eq!(settled.params, requested.with_defaults(&defaults));
    assert_eq!((settled.thinking, settled.is_thinking_mode, left_out(&settled)), (Thinking::Off, false, vec![]));
}

#[test]
fn unsupported_params_are_dropped_and_reported() {
    let requested = ModelParams {
        temperature: Some(0.5),
        top_p: Some(0.5),
        top_k: Some(5),
        stop_sequences: vec!["x".into()],
        ..none()
    };
    let never = "this model does not support it";
    let thinks = "this model does not support it while it thinks";
    let table = [
        (levels(ReasoningSupport::Always, &[]).without_sampling(false), vec![never; 4]),
        (
            levels(ReasoningSupport::Optional, &Thinking::LEVELS).without_sampling(true),
            vec![thinks, thinks, never, thinks],
        ),
    ];
    for (model, reasons) in table {
        let settled = resolve_params(&requested, &none(), &model).unwrap();
        let params = ["temperature", "top_p", "top_k", "stop_sequences"];
        let expected: Vec<(&str, &str)> = params.into_iter().zip(reasons).collect();
        assert_eq!(left_out(&settled), expected);
        assert_eq!(settled.params, thinking(Thinking::Medium));
    }
    let not_sent = resolve_params(&requested, &none(), &levels(ReasoningSupport::Never, &[])).unwrap().not_sent;
    assert_eq!(not_sent[0], DroppedParam::new("top_k", DropReason::Unsupported, MessageArgs::new()));
}

#[test]
fn turn_param_wins_over_exclusive_default() {
    let both = ModelParams { top_p: Some(0.5), thinking: Some(Thinking::Off), ..temperature(0.5) };
    let top_p = ModelParams { top_p: Some(0.5), thinking: Some(Thinking::Off), ..none() };
    for (requested, defaults, kept, dropped) in [
        (both.clone(), none(), Some(0.5), "top_p"),
        (none(), both, Some(0.5), "top_p"),
        (top_p.clone(), temperature(0.5), None, "temperature"),
        (temperature(0.5), top_p, Some(0.5), "top_p"),
    ] {
        let settled = resolve_params(&requested, &defaults, &budgets()).unwrap();
        assert_eq!(settled.params.temperature, kept);
        assert_eq!(settled.params.top_p.is_some(), kept.is_none());
        assert_eq!(left_out(&settled), [(dropped, "this model accepts temperature or top_p, not both")]);
    }
}

#[test]
fn thinking_is_adjusted_to_model_and_reported() {
    use Thinking::{Budget, High, Low, Medium, Off};
    let all = || levels(ReasoningSupport::Optional, &Thinking::LEVELS);
    let cannot = "how much this model thinks cannot be set";
    for (model, requested, sent, is_on, report) in [
        (all(), None, Medium, true, None),
        (all(), Some(Off), Off, false, None),
        (all(), Some(Budget(9_000)), High, true, Some("this model does not support \"budget\", so \"high\" is used")),
        (levels(ReasoningSupport::Never, &[]), None, Off, false, None),
        (levels(ReasoningSupport::Never, &[]), Some(Off), Off, false, None),
        (levels(ReasoningSupport::Never, &[]), Some(Low), Off, false, Some("this model does not think")),
        (levels(ReasoningSupport::Always, &[Low, High]), Some(Off), Off, true, Some("this model always thinks")),
        (levels(ReasoningSupport::Always, &[Low, High]), Some(Low), Low, true, None),
        (levels(ReasoningSupport::Always, &[Low, High]), None, High, true, None),
        (
            levels(ReasoningSupport::Always, &[Low, High]),
            Some(Medium),
            High,
            true,
            Some("this model does not support \"medium\", so \"high\" is used"),
        ),
        (
            levels(ReasoningSupport::Optional, &[Off, Medium]),
            Some(High),
            Medium,
            true,
            Some("this model does not support \"high\", so \"medium\" is used"),
        ),
        (levels(ReasoningSupport::Always, &[]), Some(High), High, true, Some(cannot)),
        (levels(ReasoningSupport::Always, &[]), None, Medium, true, None),
        (levels(ReasoningSupport::Optional, &[]), None, Medium, false, None),
        (levels(ReasoningSupport::Optional, &[]), Some(Off), Off, false, Some(cannot)),
        (levels(ReasoningSupport::Optional, &[Off]), Some(Low), Low, true, Some(cannot)),
        (budgets(), Some(Budget(2_000)), Budget(2_000), true, None),
    ] {
        let requested = ModelParams { thinking: requested, ..none() };
        for (own, default) in [(requested.clone(), none()), (none(), requested)] {
            let settled = resolve_params(&own, &default, &model).unwrap();
            assert_eq!((settled.thinking, settled.is_thinking_mode), (sent, is_on), "{own:?} {default:?} {model:?}");
            assert_eq!(left_out(&settled), report.map(|report| ("thinking", report)).into_iter().collect::<Vec<_>>());
            assert_eq!(settled.params.thinking, Some(sent));
        }
    }
}

#[test]
fn budget_and_max_tokens_yield_to_turn_params() {
    use Thinking::{Budget, High, Medium, Off};
    let settled =
        |requested: ModelParams, defaults: ModelParams| resolve_params(&requested, &defaults, &budgets()).unwrap();
    let kept = settled(thinking(Budget(4_000)), max_tokens(2_000));
    assert_eq!((kept.thinking, kept.params.max_tokens), (Budget(4_000), None));
    assert_eq!(left_out(&kept), [("max_tokens", "it leaves no room for the thinking budget")]);
    let refused = resolve_params(&thinking(Budget(70_000)), &max_tokens(2_000), &budgets()).unwrap_err();
    assert_eq!(refused.reason.to_string(), "a budget must be below max_tokens (64000)");
    let kept = settled(max_tokens(2_000), thinking(Budget(4_000)));
    assert_eq!((kept.thinking, kept.params.max_tokens), (Medium, Some(2_000)));
    assert_eq!(left_out(&kept), [("thinking", "a budget must be below max_tokens (2000)")]);
    // Levels are budgets here, so they need room for the smallest budget.
    for (max, sent) in [(1_024, Off), (1_025, High)] {
        let kept = settled(ModelParams { thinking: Some(High), ..max_tokens(max) }, none());
        assert_eq!((kept.thinking, kept.is_thinking_mode), (sent, sent == High));
        assert_eq!(kept.not_sent.is_empty(), sent == High);
        assert!(settled(max_tokens(max), none()).not_sent.is_empty(), "nobody asked it to think");
    }
}

#[test]
fn unknown_model_is_in_thinking_mode_only_if_requested() {
    let unknown = Capabilities::default();
    let known = levels(ReasoningSupport::Optional, &Thinking::LEVELS);
    let always = levels(ReasoningSupport::Always, &[]);
    for (requested, defaults, model, is_on) in [
        (none(), none(), &unknown, false),
        (thinking(Thinking::High), none(), &unknown, true),
        (none(), thinking(Thinking::Low), &unknown, true),
        (thinking(Thinking::Off), thinking(Thinking::Low), &unknown, false),
        (none(), none(), &known, true),
        (none(), none(), &always, true),
        (none(), none(), &budgets(), true),
    ] {
        let settled = resolve_params(&requested, &defaults, model).unwrap();
        assert_eq!(settled.is_thinking_mode, is_on, "{requested:?} {defaults:?} {model:?}");
    }
}

#[test]
fn parameters_of_unknown_model_stay_within_limits_of_thinking() {
    let unknown = Capabilities::default().without_sampling(true);
    let requested = ModelParams { temperature: Some(0.5), ..ModelParams::default() };
    let settled = resolve_params(&requested, &none(), &unknown).unwrap();
    assert_eq!((settled.params.temperature, settled.is_thinking_mode), (None, false));
}
