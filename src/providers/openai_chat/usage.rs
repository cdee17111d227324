//! Token counts of chat completions in all known places (docs/reference/providers.md 2.5).

use serde_json::Value;

use crate::reported_cost;
use turnleaf_domain::Usage;

/// Larger numbers are not plausible token counts, and JavaScript cannot represent them exactly.
const LARGEST: u64 = 1 << 53;

/// The newest usage and cost of a response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChatUsageCounts {
    pub usage: Option<Usage>,
    /// The cost in millionths of a US dollar.
    pub cost: Option<u64>,
}

impl ChatUsageCounts {
    /// Merges the usage of a chunk: beside the choices, under `x_groq`, or inside of a choice.
    pub fn update(&mut self, chunk: &Value) {
        let places = [chunk.get("usage"), chunk.pointer("/x_groq/usage"), chunk.pointer("/choices/0/usage")];
        let reports = || places.into_iter().flatten().filter(|usage| usage.is_object());
        self.usage = reports().map(read).find(Usage::is_known).or(self.usage);
        self.cost = reports().find_map(reported_cost::cost_from_usage).or(self.cost);
    }
}

fn read(usage: &Value) -> Usage {
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).filter(|count| *count <= LARGEST);
    // Some servers count beside the details, which they leave out or fill with zeros.
    let largest = |paths: &[&str]| paths.iter().filter_map(|path| count(path)).max();
    let input = count("/prompt_tokens");
    let reasoning = largest(&["/completion_tokens_details/reasoning_tokens", "/reasoning_tokens"]);
    let mut output = count("/completion_tokens");
    // xAI counts reasoning beside the completion instead of inside; its total shows which.
    if let (Some(input), Some(completion), Some(reasoning), Some(total)) =
        (input, output, reasoning, count("/total_tokens"))
        && reasoning > 0
        && input + completion + reasoning == total
    {
        output = Some(completion + reasoning);
    }
    Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: largest(&[
            "/prompt_tokens_details/cached_tokens",
            "/prompt_cache_hit_tokens",
            "/cached_tokens",
        ]),
        cache_write_tokens: count("/prompt_tokens_details/cache_write_tokens"),
        reasoning_tokens: reasoning,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of_chunk(chunk: &Value) -> Option<Usage> {
        let mut counts = ChatUsageCounts::default();
        counts.update(chunk);
        counts.usage
    }

    #[test]
    fn invalid_counts_are_unknown_and_not_zero() {
        for (reported, expected) in [
            (json!(12), Some(12)),
            (json!(0), Some(0)),
            (json!(-1), None),
            (json!(1.5), None),
            (json!(1u64 << 60), None),
            (json!("12"), None),
            (json!(null), None),
        ] {
            let chunk = json!({"usage": {"prompt_tokens": 3, "completion_tokens": reported}});
            assert_eq!(of_chunk(&chunk).unwrap().output_tokens, expected, "{reported}");
        }
        assert_eq!(of_chunk(&json!({"usage": null})), None);
        assert_eq!(of_chunk(&json!({"choices": []})), None);
    }

    #[test]
    fn usage_is_found_in_every_known_place() {
        let usage = json!({"prompt_tokens": 3, "completion_tokens": 4, "prompt_cache_hit_tokens": 2});
        for chunk in [
            json!({"usage": usage}),
            json!({"x_groq": {"id": "req", "usage": usage}}),
            json!({"choices": [{"index": 0, "usage": usage}]}),
        ] {
            let read = of_chunk(&chunk).unwrap();
            assert_eq!((read.input_tokens, read.output_tokens, read.cache_read_tokens), (Some(3), Some(4), Some(2)));
        }
    }

    #[test]
    fn last_usage_wins_and_missing_usage_changes_nothing() {
        let mut counts = ChatUsageCounts::default();
        for chunk in [
            json!({"usage": {"prompt_tokens": 3, "completion_tokens": 1}}),
            json!({"usage": {"prompt_tokens": 3, "completion_tokens": 4, "cost": 0.0005}}),
            json!({"choices": []}),
        ] {
            counts.update(&chunk);
        }
        assert_eq!((counts.usage.unwrap().output_tokens, counts.cost), (Some(4), Some(500)));
    }

    #[test]
    fn reasoning_tokens_are_found_in_details_and_beside_them() {
        for (more, expected) in [
            (json!({"reasoning_tokens": 32}), Some(32)),
            (json!({"reasoning_tokens": 32, "completion_tokens_details": null}), Some(32)),
            (json!({"reasoning_tokens": 32, "completion_tokens_details": {"reasoning_tokens": 30}}), Some(32)),
            (json!({"reasoning_tokens": 32, "completion_tokens_details": {"reasoning_tokens": 0}}), Some(32)),
            (json!({"completion_tokens_details": {"reasoning_tokens": 0}}), Some(0)),
            (json!({"completion_tokens_details": null}), None),
            (json!({"completion_tokens_details": {}}), None),
        ] {
            let mut usage = json!({"prompt_tokens": 414, "completion_tokens": 132, "total_tokens": 546});
            usage.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            let read = of_chunk(&json!({"choices": [], "usage": usage})).unwrap();
            assert_eq!((read.output_tokens, read.reasoning_tokens), (Some(132), expected), "{usage}");
        }
    }

    #[test]
    fn cached_tokens_are_the_largest_count_of_every_place() {
        for (more, expected) in [
            (json!({"cached_tokens": 7}), Some(7)),
            (json!({"cached_tokens": 7, "prompt_tokens_details": {"cached_tokens": 0}}), Some(7)),
            (json!({"prompt_cache_hit_tokens": 5, "prompt_tokens_details": null}), Some(5)),
            (json!({"prompt_tokens_details": {"cached_tokens": 3}, "cached_tokens": 0}), Some(3)),
            (json!({}), None),
        ] {
            let mut usage = json!({"prompt_tokens": 10, "completion_tokens": 2});
            usage.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            assert_eq!(of_chunk(&json!({"usage": usage})).unwrap().cache_read_tokens, expected, "{usage}");
        }
    }

    #[test]
    fn reasoning_counted_beside_output_is_added_to_it() {
        let usage = |total| {
            json!({"usage": {"prompt_tokens": 12, "completion_tokens": 1, "total_tokens": total,
                "completion_tokens_details": {"reasoning_tokens": 290}}})
        };
        assert_eq!(of_chunk(&usage(303)).unwrap().output_tokens, Some(291));
        assert_eq!(of_chunk(&usage(13)).unwrap().output_tokens, Some(1));
    }
}
