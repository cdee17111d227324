//! Token counts of Messages: some are in `message_start`, some in `message_delta`; later counts replace earlier ones
//! (docs/reference/providers.md 2.5).

use serde_json::Value;

use crate::reported_cost;
use turnleaf_domain::Usage;

/// Larger numbers are not plausible token counts, and JavaScript cannot represent them exactly.
const LARGEST: u64 = 1 << 53;

/// The usage that a response has reported so far: the newest value of each count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnthropicUsageCounts {
    /// The part of the prompt that was neither read from nor written to a cache.
    uncached: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    /// The cost in millionths of a US dollar, if a gateway reports it.
    cost: Option<u64>,
}

impl AnthropicUsageCounts {
    /// Merges a `usage` object; counts that it does not have are kept.
    pub fn update(&mut self, usage: &Value) {
        let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).filter(|count| *count <= LARGEST);
        let put = |known: &mut Option<u64>, reported: Option<u64>| *known = reported.or(*known);
        put(&mut self.uncached, count("/input_tokens"));
        put(&mut self.cache_read, count("/cache_read_input_tokens"));
        put(&mut self.cache_write, count("/cache_creation_input_tokens"));
        put(&mut self.output, count("/output_tokens"));
        put(&mut self.reasoning, count("/output_tokens_details/thinking_tokens"));
        put(&mut self.cost, reported_cost::cost_from_usage(usage));
    }

    /// Returns the cost that a gateway reported, in millionths of a US dollar.
    pub fn cost(&self) -> Option<u64> {
        self.cost
    }

    /// Returns the usage by the domain's definition: `input_tokens` is the whole prompt, including cached parts.
    /// `None` if nothing was reported.
    pub fn usage(&self) -> Option<Usage> {
        let cached = self.cache_read.unwrap_or(0) + self.cache_write.unwrap_or(0);
        let usage = Usage {
            input_tokens: self.uncached.map(|uncached| uncached + cached),
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            reasoning_tokens: self.reasoning,
        };
        Some(usage).filter(Usage::is_known)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn usage(events: &[Value]) -> Option<Usage> {
        let mut counts = AnthropicUsageCounts::default();
        events.iter().for_each(|usage| counts.update(usage));
        counts.usage()
    }

    #[test]
    fn cached_tokens_count_as_input_and_last_count_wins() {
        let start = json!({"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5,
            "output_tokens": 1});
        let expected = |input, read, output, reasoning| {
            Some(Usage {
                input_tokens: Some(input),
                output_tokens: Some(output),
                cache_read_tokens: Some(read),
                cache_write_tokens: Some(5),
                reasoning_tokens: reasoning,
            })
        };
        for (later, expected_usage) in [
            (json!({}), expected(115, 100, 1, None)),
            (json!({"output_tokens": 40}), expected(115, 100, 40, None)),
            (json!({"input_tokens": 20, "cache_read_input_tokens": 0}), expected(25, 0, 1, None)),
            (json!({"input_tokens": null, "output_tokens": 1.5}), expected(115, 100, 1, None)),
            (
                json!({"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}),
                expected(115, 100, 9, Some(4)),
            ),
            (json!({"output_tokens": 1u64 << 60}), expected(115, 100, 1, None)),
        ] {
            assert_eq!(usage(&[start.clone(), later.clone()]), expected_usage, "{later}");
        }
    }

    #[test]
    fn missing_counts_are_unknown_and_not_zero() {
        assert_eq!(usage(&[json!({}), json!(null)]), None);
        let only_output = usage(&[json!({"output_tokens": 3})]).unwrap();
        assert_eq!((only_output.input_tokens, only_output.output_tokens), (None, Some(3)));
    }
}
