//! Costs that providers report, in millionths of a US dollar. OpenRouter reports them in all of its APIs, Perplexity
//! and xAI in theirs. A reported cost has priority over a computed one.

use serde_json::Value;

/// xAI counts in ticks of 1e-10 dollars.
const TICKS_PER_MICRO: f64 = 1e4;
const MICROS_PER_DOLLAR: f64 = 1e6;
/// The maximum plausible cost of a call; a larger value is not a price.
const LARGEST_DOLLARS: f64 = 1e6;

/// Returns the cost in a `usage` object, if it has one.
pub fn cost_from_usage(usage: &Value) -> Option<u64> {
    let number = |path: &str| usage.pointer(path).and_then(Value::as_f64);
    let dollars = match number("/cost") {
        // With a key of the user's own (BYOK), OpenRouter charges its fee, and the provider behind it charges the
        // rest.
        Some(fee) if usage.get("is_byok") == Some(&Value::Bool(true)) => {
            Some(fee + number("/cost_details/upstream_inference_cost")?)
        }
        cost => cost,
    };
    let micros = dollars
        .or_else(|| number("/cost/total_cost"))
        .map(|dollars| dollars * MICROS_PER_DOLLAR)
        .or_else(|| number("/cost_in_usd_ticks").map(|ticks| ticks / TICKS_PER_MICRO))?;
    round_micros(micros)
}

/// Rounds millionths of a dollar; `None` for implausible prices.
pub(super) fn round_micros(micros: f64) -> Option<u64> {
    (0.0..=LARGEST_DOLLARS * MICROS_PER_DOLLAR).contains(&micros).then(|| micros.round() as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn cost_is_found_under_every_known_key() {
        for (usage, micros) in [
            (json!({"cost": 0.000669, "is_byok": false}), Some(669)),
            (json!({"cost": 1.13e-5}), Some(11)),
            (json!({"cost": 0}), Some(0)),
            (json!({"cost": 0.01, "is_byok": true, "cost_details": {"upstream_inference_cost": 0.2}}), Some(210_000)),
            (json!({"cost": 0.01, "is_byok": true, "cost_details": {"upstream_inference_cost": null}}), None),
            (json!({"cost": {"input_tokens_cost": 0.001, "total_cost": 0.006}}), Some(6_000)),
            (json!({"cost_in_usd_ticks": 1_466_250}), Some(147)),
            (json!({"cost": null}), None),
            (json!({"cost": "0.1"}), None),
            (json!({"cost": -0.1}), None),
            (json!({"cost": 1e300}), None),
            (json!({"total_tokens": 3}), None),
        ] {
            assert_eq!(cost_from_usage(&usage), micros, "{usage}");
        }
    }
}
