//! What known models cost through our reading of their addresses, names and counts; and that nothing is made up.

use super::*;

fn sale(base_url: &str, model: &str, usage: Usage) -> Sale {
    Sale {
        provider: "mine".into(),
        base_url: Some(base_url.into()),
        model_requested: model.into(),
        model_returned: None,
        usage,
        reported_micros: None,
        is_refused: false,
        is_cut_off: false,
        at: "2026-11-21T12:00:00Z".parse().expect("a time"),
    }
}

fn usage(input: u64, output: u64) -> Usage {
    Usage { input_tokens: Some(input), output_tokens: Some(output), ..Usage::default() }
}

fn listed(sale: &Sale) -> Option<u64> {
    Prices::default().charge(sale).map(|charge| {
        assert_eq!((charge.basis, charge.price_version.as_deref()), (CostBasis::Listed, Some(LIST)));
        charge.micros
    })
}

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta";

#[test]
fn known_models_cost_what_their_providers_ask() {
    for (base_url, model, input, output, micros) in [
        (OPENAI, "gpt-4o-mini", 1_000_000, 0, 150_000),
        (OPENAI, "gpt-4o-mini-2024-07-18", 1_000, 500, 450),
        (OPENAI, "gpt-5", 1_000, 100, 2_250),
        // The price that was in effect on the day.
        (OPENAI, "o3", 1_000, 100, 2_800),
        (ANTHROPIC, "claude-haiku-4-5-20251001", 1_000, 100, 1_500),
        (ANTHROPIC, "claude-opus-4-7", 1_000, 100, 7_500),
        (GEMINI, "gemini-2.5-flash", 1_000, 100, 550),
        // Above a bound, long prompts cost more.
        (GEMINI, "gemini-2.5-pro", 100_000, 0, 125_000),
        (GEMINI, "gemini-2.5-pro", 300_000, 0, 750_000),
        ("https://api.x.ai/v1", "grok-3", 1_000, 100, 4_500),
        ("https://api.mistral.ai/v1", "codestral-2508", 1_000, 1_000, 1_200),
    ] {
        let sale = sale(base_url, model, usage(input, output));
        assert!(sale.needs_list());
        assert_eq!(listed(&sale), Some(micros), "{model} {input} {output}");
    }
}

#[test]
fn what_came_out_of_a_cache_is_cheaper_and_what_went_in_may_be_dearer() {
    let cached = |read, written| Usage {
        cache_read_tokens: Some(read),
        cache_write_tokens: Some(written),
        ..usage(1_000_000, 0)
    };
    for (base_url, model, usage, micros) in [
        (OPENAI, "gpt-5", cached(1_000_000, 0), 125_000),
        (OPENAI, "gpt-5", cached(500_000, 0), 687_500),
        (ANTHROPIC, "claude-haiku-4-5", cached(500_000, 500_000), 675_000),
        // More than there is: a slip of the provider, not a negative price.
        (OPENAI, "gpt-5", cached(9_000_000, 0), 125_000),
    ] {
        assert_eq!(listed(&sale(base_url, model, usage)), Some(micros), "{model} {usage:?}");
    }
}

#[test]
fn reasoning_is_paid_once_as_output() {
    let thinking = Usage { reasoning_tokens: Some(90), ..usage(1_000, 100) };
    for (base_url, model) in [(OPENAI, "gpt-5"), (ANTHROPIC, "claude-haiku-4-5"), (GEMINI, "gemini-2.5-flash")] {
        let (with, without) = (sale(base_url, model, thinking), sale(base_url, model, usage(1_000, 100)));
        assert_eq!(listed(&with), listed(&without), "{model}");
    }
}

#[test]
fn the_model_that_answered_counts_and_then_the_one_that_was_asked_for() {
    let answered = |by: &str| Sale { model_returned: Some(by.into()), ..sale(OPENAI, "gpt-5", usage(1_000, 100)) };
    assert_eq!(listed(&answered("gpt-4o-mini-2024-07-18")), Some(210));
    assert_eq!(listed(&answered("nobody-knows-it")), Some(2_250));
}

#[test]
fn what_nobody_knows_has_no_cost() {
    let known = || sale(OPENAI, "gpt-5", usage(1_000, 100));
    let nowhere = Sale { base_url: None, ..known() };
    let no_output = Usage { output_tokens: None, ..usage(1_000, 0) };
    for (why, sale) in [
        ("an unknown model", sale(OPENAI, "gpt-of-tomorrow", usage(1, 1))),
        ("a local server, whatever its models are called", sale("http://127.0.0.1:11434/v1", "gpt-5", usage(1, 1))),
        ("a server in the house", sale("https://llm.example.org/v1", "claude-opus-4-7", usage(1, 1))),
        ("another provider's model", sale(ANTHROPIC, "gemini-2.5-flash", usage(1, 1))),
        (
            "a model that is sold by the character",
            sale("https://api.groq.com/openai/v1", "canopylabs/orpheus-v1-english", usage(1, 1)),
        ),
        ("a stand-in", nowhere),
        ("no counts", sale(OPENAI, "gpt-5", Usage::default())),
        ("no count of the output", sale(OPENAI, "gpt-5", no_output)),
    ] {
        assert_eq!(Prices::default().charge(&sale), None, "{why}");
    }
}

#[test]
fn what_the_provider_says_counts_before_every_list() {
    let said = Sale { reported_micros: Some(7), ..sale(OPENAI, "gpt-5", usage(1_000, 100)) };
    assert!(!said.needs_list());
    let expected = Charge { micros: 7, basis: CostBasis::Reported, price_version: None };
    assert_eq!(Prices::default().charge(&said), Some(expected.clone()));
    let anywhere = Sale { base_url: Some("http://127.0.0.1/v1".into()), ..said };
    assert_eq!(Prices::default().charge(&anywhere), Some(expected));
}

#[test]
fn a_refusal_is_free_where_answers_are_sold() {
    let refused = |base_url: &str| Sale { is_refused: true, ..sale(base_url, "gpt-5", Usage::default()) };
    let free = Charge { micros: 0, basis: CostBasis::Refused, price_version: None };
    assert_eq!(Prices::default().charge(&refused(OPENAI)), Some(free));
    assert_eq!(Prices::default().charge(&refused("http://127.0.0.1:11434/v1")), None);
}

#[test]
fn configured_prices_come_before_the_list_and_serve_any_server() {
    let prices = Prices::new(vec![Price {
        provider: "mine".into(),
        model: "gpt-5".into(),
        input: 2.0,
        output: 8.0,
        cache_read: Some(0.5),
        cache_write: None,
    }]);
    let counted = Usage { cache_read_tokens: Some(400), cache_write_tokens: Some(100), ..usage(1_000, 100) };
    for base_url in [OPENAI, "http://127.0.0.1:8000/v1"] {
        let charge = prices.charge(&sale(base_url, "gpt-5", counted));
        // 500 + 100 at 2, 400 at 0.5, 100 at 8
        let expected = Charge { micros: 2_200, basis: CostBasis::Configured, price_version: None };
        assert_eq!(charge, Some(expected), "{base_url}");
    }
    let other = Sale { provider: "another".into(), ..sale("http://127.0.0.1:8000/v1", "gpt-5", counted) };
    assert_eq!(prices.charge(&other), None);
    assert_eq!(prices.charge(&sale(OPENAI, "gpt-5", Usage::default())), None, "a price without counts is no cost");
}

#[test]
fn the_list_knows_how_long_contexts_may_be() {
    let prices = Prices::default();
    assert_eq!(prices.context_tokens(OPENAI, "gpt-5-2025-08-07"), Some(400_000));
    assert_eq!(prices.context_tokens(ANTHROPIC, "claude-haiku-4-5-20251001"), Some(200_000));
    assert_eq!(prices.context_tokens(OPENAI, "gpt-of-tomorrow"), None);
    assert_eq!(prices.context_tokens("http://127.0.0.1:11434/v1", "gpt-5"), None);
}

#[test]
fn the_version_that_is_stored_is_that_of_the_crate() {
    let lock = include_str!("../../../Cargo.lock");
    let (name, version) = LIST.split_once(' ').expect("a name and a version");
    assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{LIST}");
}
