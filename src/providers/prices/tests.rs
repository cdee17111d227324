//! Tests of the prices of known models by URL, name and counts. Unknown models have no price.

use super::*;

fn billable_call(base_url: &str, model: &str, usage: Usage) -> BillableCall {
    BillableCall {
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

fn listed(sale: &BillableCall) -> Option<u64> {
    Prices::default().charge(sale).map(|charge| {
        assert_eq!((charge.basis, charge.price_version.as_deref()), (CostBasis::Listed, Some(PRICE_LIST)));
        charge.micros
    })
}

const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com/v1";
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta";

#[test]
fn known_models_cost_listed_prices() {
    for (base_url, model, input, output, micros) in [
        (OPENAI, "gpt-4o-mini", 1_000_000, 0, 150_000),
        (OPENAI, "gpt-4o-mini-2024-07-18", 1_000, 500, 450),
        (OPENAI, "gpt-5", 1_000, 100, 2_250),
        // The price that was in effect on that day.
        (OPENAI, "o3", 1_000, 100, 2_800),
        (ANTHROPIC, "claude-haiku-4-5-20251001", 1_000, 100, 1_500),
        (ANTHROPIC, "claude-opus-4-7", 1_000, 100, 7_500),
        (GEMINI, "gemini-2.5-flash", 1_000, 100, 550),
        // Prompts above a threshold cost more.
        (GEMINI, "gemini-2.5-pro", 100_000, 0, 125_000),
        (GEMINI, "gemini-2.5-pro", 300_000, 0, 750_000),
        ("https://api.x.ai/v1", "grok-3", 1_000, 100, 4_500),
        ("https://api.mistral.ai/v1", "codestral-2508", 1_000, 1_000, 1_200),
    ] {
        let sale = billable_call(base_url, model, usage(input, output));
        assert!(sale.needs_price_list());
        assert_eq!(listed(&sale), Some(micros), "{model} {input} {output}");
    }
}

#[test]
fn cache_reads_are_cheaper_and_cache_writes_may_cost_more() {
    let cached = |read, written| Usage {
        cache_read_tokens: Some(read),
        cache_write_tokens: Some(written),
        ..usage(1_000_000, 0)
    };
    for (base_url, model, usage, micros) in [
        (OPENAI, "gpt-5", cached(1_000_000, 0), 125_000),
        (OPENAI, "gpt-5", cached(500_000, 0), 687_500),
        (ANTHROPIC, "claude-haiku-4-5", cached(500_000, 500_000), 675_000),
        // More cached tokens than input tokens are an error of the provider, not a negative price.
        (OPENAI, "gpt-5", cached(9_000_000, 0), 125_000),
    ] {
        assert_eq!(listed(&billable_call(base_url, model, usage)), Some(micros), "{model} {usage:?}");
    }
}

#[test]
fn reasoning_is_charged_once_as_output() {
    let thinking = Usage { reasoning_tokens: Some(90), ..usage(1_000, 100) };
    for (base_url, model) in [(OPENAI, "gpt-5"), (ANTHROPIC, "claude-haiku-4-5"), (GEMINI, "gemini-2.5-flash")] {
        let (with, without) =
            (billable_call(base_url, model, thinking), billable_call(base_url, model, usage(1_000, 100)));
        assert_eq!(listed(&with), listed(&without), "{model}");
    }
}

#[test]
fn returned_model_is_priced_before_requested_model() {
    let answered = |by: &str| BillableCall {
        model_returned: Some(by.into()),
        ..billable_call(OPENAI, "gpt-5", usage(1_000, 100))
    };
    assert_eq!(listed(&answered("gpt-4o-mini-2024-07-18")), Some(210));
    assert_eq!(listed(&answered("nobody-knows-it")), Some(2_250));
}

#[test]
fn unknown_price_or_usage_has_no_cost() {
    let known = || billable_call(OPENAI, "gpt-5", usage(1_000, 100));
    let nowhere = BillableCall { base_url: None, ..known() };
    let no_output = Usage { output_tokens: None, ..usage(1_000, 0) };
    for (case, sale) in [
        ("an unknown model", billable_call(OPENAI, "gpt-of-tomorrow", usage(1, 1))),
        (
            "a local server, whatever its models are called",
            billable_call("http://127.0.0.1:11434/v1", "gpt-5", usage(1, 1)),
        ),
        ("a server in the house", billable_call("https://llm.example.org/v1", "claude-opus-4-7", usage(1, 1))),
        ("another provider's model", billable_call(ANTHROPIC, "gemini-2.5-flash", usage(1, 1))),
        (
            "a model that is sold by the character",
            billable_call("https://api.groq.com/openai/v1", "canopylabs/orpheus-v1-english", usage(1, 1)),
        ),
        ("a stand-in", nowhere),
        ("no counts", billable_call(OPENAI, "gpt-5", Usage::default())),
        ("no count of the output", billable_call(OPENAI, "gpt-5", no_output)),
    ] {
        assert_eq!(Prices::default().charge(&sale), None, "{case}");
    }
}

#[test]
fn reported_cost_takes_precedence_over_lists() {
    let reported = BillableCall { reported_micros: Some(7), ..billable_call(OPENAI, "gpt-5", usage(1_000, 100)) };
    assert!(!reported.needs_price_list());
    let expected = Charge { micros: 7, basis: CostBasis::Reported, price_version: None };
    assert_eq!(Prices::default().charge(&reported), Some(expected.clone()));
    let anywhere = BillableCall { base_url: Some("http://127.0.0.1/v1".into()), ..reported };
    assert_eq!(Prices::default().charge(&anywhere), Some(expected));
}

#[test]
fn refusal_is_free_at_paid_provider() {
    let refused =
        |base_url: &str| BillableCall { is_refused: true, ..billable_call(base_url, "gpt-5", Usage::default()) };
    let free = Charge { micros: 0, basis: CostBasis::Refused, price_version: None };
    assert_eq!(Prices::default().charge(&refused(OPENAI)), Some(free));
    assert_eq!(Prices::default().charge(&refused("http://127.0.0.1:11434/v1")), None);
}

#[test]
fn configured_prices_take_precedence_and_apply_to_any_server() {
    let prices = Prices::new(vec![ModelPrice {
        provider: "mine".into(),
        model: "gpt-5".into(),
        input: 2.0,
        output: 8.0,
        cache_read: Some(0.5),
        cache_write: None,
    }]);
    let counted = Usage { cache_read_tokens: Some(400), cache_write_tokens: Some(100), ..usage(1_000, 100) };
    for base_url in [OPENAI, "http://127.0.0.1:8000/v1"] {
        let charge = prices.charge(&billable_call(base_url, "gpt-5", counted));
        // 500 + 100 at 2, 400 at 0.5, 100 at 8
        let expected = Charge { micros: 2_200, basis: CostBasis::Configured, price_version: None };
        assert_eq!(charge, Some(expected), "{base_url}");
    }
    let other =
        BillableCall { provider: "another".into(), ..billable_call("http://127.0.0.1:8000/v1", "gpt-5", counted) };
    assert_eq!(prices.charge(&other), None);
    assert_eq!(
        prices.charge(&billable_call(OPENAI, "gpt-5", Usage::default())),
        None,
        "a price without counts is no cost"
    );
}

#[test]
fn price_list_provides_context_sizes() {
    let prices = Prices::default();
    assert_eq!(prices.context_tokens(OPENAI, "gpt-5-2025-08-07"), Some(400_000));
    assert_eq!(prices.context_tokens(ANTHROPIC, "claude-haiku-4-5-20251001"), Some(200_000));
    assert_eq!(prices.context_tokens(OPENAI, "gpt-of-tomorrow"), None);
    assert_eq!(prices.context_tokens("http://127.0.0.1:11434/v1", "gpt-5"), None);
}

#[test]
fn prices_of_tokens_are_configured_or_listed() {
    let prices = Prices::default();
    assert_eq!(prices.token_prices("openai", OPENAI, "gpt-5"), Some((1_250_000, 10_000_000)));
    assert_eq!(prices.token_prices("openai", OPENAI, "gpt-of-tomorrow"), None);
    assert_eq!(prices.token_prices("box", "http://127.0.0.1:11434/v1", "gpt-5"), None);
    let own = ModelPrice {
        provider: "box".into(),
        model: "mine".into(),
        input: 0.5,
        output: 2.0,
        cache_read: None,
        cache_write: None,
    };
    let prices = Prices::new(vec![own]);
    assert_eq!(prices.token_prices("box", "http://127.0.0.1:11434/v1", "mine"), Some((500_000, 2_000_000)));
}

#[test]
fn stored_price_version_matches_crate_version() {
    let lock = include_str!("../../../Cargo.lock");
    let (name, version) = PRICE_LIST.split_once(' ').expect("a name and a version");
    assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{PRICE_LIST}");
}
