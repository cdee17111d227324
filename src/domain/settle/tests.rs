//! What goes out, what is refused by name, and what is left out and told.

use super::*;
use crate::capabilities::Range;

fn none() -> Params {
    Params::default()
}

fn temperature(value: f64) -> Params {
    Params { temperature: Some(value), ..none() }
}

fn max_tokens(value: u32) -> Params {
    Params { max_tokens: Some(value), ..none() }
}

fn thinking(value: Thinking) -> Params {
    Params { thinking: Some(value), ..none() }
}

fn stops(values: &[&str]) -> Params {
    Params { stop_sequences: values.iter().map(|value| (*value).to_owned()).collect(), ..none() }
}

/// Thinks in budgets when asked, and takes no sampling but a high `top_p` meanwhile.
fn budgets() -> Capabilities {
    Capabilities {
        thinking_budget: Some(Range::at_least(1_024)),
        levels_are_budgets: true,
        temperature: Takes::plain(Range::new(0.0, 1.0)),
        top_p: Takes { plain: Some(Range::new(0.0, 1.0)), thinking: Some(Range::new(0.95, 1.0)) },
        temperature_or_top_p: true,
        top_k: Takes::plain(Range::at_least(1)),
        max_tokens: Range::new(1, 64_000),
        blank_stop_sequences: false,
        ..Capabilities::default().thinking(Reasoning::Optional, &Thinking::LEVELS)
    }
}

fn levels(reasoning: Reasoning, levels: &[Thinking]) -> Capabilities {
    Capabilities::default().thinking(reasoning, levels)
}

fn left_out(settled: &Settled) -> Vec<(&str, &str)> {
    settled.not_sent.iter().map(|not_sent| (not_sent.param.as_str(), not_sent.reason.as_str())).collect()
}

#[test]
fn what_a_turn_asks_outside_of_the_model_is_refused_by_name() {
    let off = |params: Params| Params { thinking: Some(Thinking::Off), ..params };
    let roomy = |budget, max: u32| Params { max_tokens: Some(max), ..thinking(Thinking::Budget(budget)) };
    let top_p = |value| Params { top_p: Some(value), ..none() };
    for (asked, field, reason) in [
        (off(temperature(1.5)), "temperature", "must be between 0 and 1 for this model"),
        // Also where it would not be sent at all at the moment.
        (temperature(1.5), "temperature", "must be between 0 and 1 for this model"),
        (top_p(0.5), "top_p", "must be between 0.95 and 1 for this model while it thinks"),
        (max_tokens(64_001), "max_tokens", "must be between 1 and 64000 for this model"),
        (thinking(Thinking::Budget(1_023)), "thinking", "a budget must be at least 1024 tokens for this model"),
        (thinking(Thinking::Budget(64_000)), "thinking", "a budget must be below max_tokens (64000)"),
        (roomy(2_000, 2_000), "thinking", "a budget must be below max_tokens (2000)"),
        (stops(&["a", "b", "c", "d", "e"]), "stop_sequences", "at most 4 for this model"),
        (stops(&["a", "\n "]), "stop_sequences", "must not be blank for this model"),
    ] {
        let refused = settle(&asked, &none(), &budgets());
        assert_eq!(refused, Err(Invalid::new(format!("params.{field}"), reason)), "{asked:?}");
        // The same as a default of the chat stands in no turn's way: it is left out.
        let settled = settle(&none(), &asked, &budgets()).unwrap();
        assert_eq!(left_out(&settled).first(), Some(&(field, reason)), "{asked:?}");
        assert_eq!((settled.params.temperature, settled.params.top_p), (None, None));
        assert!(settled.params.stop_sequences.is_empty() && settled.params.max_tokens.is_none_or(|max| max == 2_000));
    }
}

#[test]
fn what_fits_goes_out_and_the_turn_comes_before_the_defaults() {
    let asked = Params { top_k: Some(5), ..temperature(0.5) };
    let defaults = Params {
        max_tokens: Some(900),
        thinking: Some(Thinking::Off),
        stop_sequences: vec!["x".into()],
        ..temperature(0.9)
    };
    let settled = settle(&asked, &defaults, &budgets()).unwrap();
    assert_eq!(settled.params, asked.or(&defaults));
    assert_eq!((settled.thinking, settled.is_thinking_mode, left_out(&settled)), (Thinking::Off, false, vec![]));
}

#[test]
fn what_a_model_does_not_take_is_left_out_and_told() {
    let asked =
        Params { temperature: Some(0.5), top_p: Some(0.5), top_k: Some(5), stop_sequences: vec!["x".into()], ..none() };
    let never = "this model does not take it";
    let thinks = "this model does not take it while it thinks";
    let table = [
        (levels(Reasoning::Always, &[]).without_sampling(false), vec![never; 4]),
        (levels(Reasoning::Optional, &Thinking::LEVELS).without_sampling(true), vec![thinks, thinks, never, thinks]),
    ];
    for (model, reasons) in table {
        let settled = settle(&asked, &none(), &model).unwrap();
        let params = ["temperature", "top_p", "top_k", "stop_sequences"];
        let expected: Vec<(&str, &str)> = params.into_iter().zip(reasons).collect();
        assert_eq!(left_out(&settled), expected);
        assert_eq!(settled.params, thinking(Thinking::Medium));
    }
    let not_sent = settle(&asked, &none(), &levels(Reasoning::Never, &[])).unwrap().not_sent;
    assert_eq!(not_sent[0].sentence(), "top_k was not sent: this model does not take it.");
}

#[test]
fn of_two_that_exclude_each_other_the_turns_own_goes_out() {
    let both = Params { top_p: Some(0.5), thinking: Some(Thinking::Off), ..temperature(0.5) };
    let top_p = Params { top_p: Some(0.5), thinking: Some(Thinking::Off), ..none() };
    for (asked, defaults, kept, dropped) in [
        (both.clone(), none(), Some(0.5), "top_p"),
        (none(), both, Some(0.5), "top_p"),
        (top_p.clone(), temperature(0.5), None, "temperature"),
        (temperature(0.5), top_p, Some(0.5), "top_p"),
    ] {
        let settled = settle(&asked, &defaults, &budgets()).unwrap();
        assert_eq!(settled.params.temperature, kept);
        assert_eq!(settled.params.top_p.is_some(), kept.is_none());
        assert_eq!(left_out(&settled), [(dropped, "this model takes temperature or top_p, not both")]);
    }
}

#[test]
fn thinking_becomes_what_the_model_can_do_and_says_so() {
    use Thinking::{Budget, High, Low, Medium, Off};
    let all = || levels(Reasoning::Optional, &Thinking::LEVELS);
    let cannot = "how much this model thinks cannot be set";
    for (model, asked, sent, is_on, told) in [
        (all(), None, Medium, true, None),
        (all(), Some(Off), Off, false, None),
        (all(), Some(Budget(9_000)), High, true, Some("this model does not take \"budget\", it gets \"high\"")),
        (levels(Reasoning::Never, &[]), None, Off, false, None),
        (levels(Reasoning::Never, &[]), Some(Off), Off, false, None),
        (levels(Reasoning::Never, &[]), Some(Low), Off, false, Some("this model does not think")),
        (levels(Reasoning::Always, &[Low, High]), Some(Off), Off, true, Some("this model always thinks")),
        (levels(Reasoning::Always, &[Low, High]), Some(Low), Low, true, None),
        (levels(Reasoning::Always, &[Low, High]), None, High, true, None),
        (
            levels(Reasoning::Always, &[Low, High]),
            Some(Medium),
            High,
            true,
            Some("this model does not take \"medium\", it gets \"high\""),
        ),
        (
            levels(Reasoning::Optional, &[Off, Medium]),
            Some(High),
            Medium,
            true,
            Some("this model does not take \"high\", it gets \"medium\""),
        ),
        (levels(Reasoning::Always, &[]), Some(High), High, true, Some(cannot)),
        (levels(Reasoning::Always, &[]), None, Medium, true, None),
        (levels(Reasoning::Optional, &[]), None, Medium, true, None),
        (levels(Reasoning::Optional, &[]), Some(Off), Off, false, Some(cannot)),
        (levels(Reasoning::Optional, &[Off]), Some(Low), Low, true, Some(cannot)),
        (budgets(), Some(Budget(2_000)), Budget(2_000), true, None),
    ] {
        let asked = Params { thinking: asked, ..none() };
        for (own, default) in [(asked.clone(), none()), (none(), asked)] {
            let settled = settle(&own, &default, &model).unwrap();
            assert_eq!((settled.thinking, settled.is_thinking_mode), (sent, is_on), "{own:?} {default:?} {model:?}");
            assert_eq!(left_out(&settled), told.map(|told| ("thinking", told)).into_iter().collect::<Vec<_>>());
            assert_eq!(settled.params.thinking, Some(sent));
        }
    }
}

#[test]
fn a_budget_and_the_limit_of_the_reply_make_room_for_the_turns_own() {
    use Thinking::{Budget, High, Medium, Off};
    let settled = |asked: Params, defaults: Params| settle(&asked, &defaults, &budgets()).unwrap();
    let kept = settled(thinking(Budget(4_000)), max_tokens(2_000));
    assert_eq!((kept.thinking, kept.params.max_tokens), (Budget(4_000), None));
    assert_eq!(left_out(&kept), [("max_tokens", "it leaves no room for the budget of thinking")]);
    let refused = settle(&thinking(Budget(70_000)), &max_tokens(2_000), &budgets()).unwrap_err();
    assert_eq!(refused.reason, "a budget must be below max_tokens (64000)");
    let kept = settled(max_tokens(2_000), thinking(Budget(4_000)));
    assert_eq!((kept.thinking, kept.params.max_tokens), (Medium, Some(2_000)));
    assert_eq!(left_out(&kept), [("thinking", "a budget must be below max_tokens (2000)")]);
    // A level is a budget here: it needs the room of the smallest.
    for (max, sent) in [(1_024, Off), (1_025, High)] {
        let kept = settled(Params { thinking: Some(High), ..max_tokens(max) }, none());
        assert_eq!((kept.thinking, kept.is_thinking_mode), (sent, sent == High));
        assert_eq!(kept.not_sent.is_empty(), sent == High);
        assert!(settled(max_tokens(max), none()).not_sent.is_empty(), "nobody asked it to think");
    }
}
