//! Token counts of Responses: only the terminal event has them, and the two sums include all others
//! (docs/reference/providers.md 2.5).

use serde_json::Value;

use turnleaf_domain::Usage;

/// Larger numbers are not plausible token counts, and JavaScript cannot represent them exactly.
const LARGEST: u64 = 1 << 53;

/// Returns the usage of a response snapshot, if it has any.
pub fn usage_from_response(response: &Value) -> Option<Usage> {
    let usage = response.get("usage").filter(|usage| usage.is_object())?;
    let count = |path: &str| usage.pointer(path).and_then(Value::as_u64).filter(|count| *count <= LARGEST);
    let usage = Usage {
        input_tokens: count("/input_tokens"),
        output_tokens: count("/output_tokens"),
        cache_read_tokens: count("/input_tokens_details/cached_tokens"),
        cache_write_tokens: count("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: count("/output_tokens_details/reasoning_tokens").or(count("/reasoning_tokens")),
    };
    usage.is_known().then_some(usage)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_are_read_and_invalid_counts_stay_unknown() {
        let whole = json!({"usage": {"input_tokens": 9, "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 2},
            "output_tokens": 7, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 16}});
        let expected = Usage {
            input_tokens: Some(9),
            output_tokens: Some(7),
            cache_read_tokens: Some(4),
            cache_write_tokens: Some(2),
            reasoning_tokens: Some(5),
        };
        assert_eq!(usage_from_response(&whole), Some(expected));
        let partly = json!({"usage": {"input_tokens": 3, "output_tokens": -1, "output_tokens_details": null}});
        assert_eq!(usage_from_response(&partly), Some(Usage { input_tokens: Some(3), ..Usage::default() }));
        for nothing in
            [json!({}), json!({"usage": null}), json!({"usage": {}}), json!({"usage": {"input_tokens": 1u64 << 60}})]
        {
            assert_eq!(usage_from_response(&nothing), None, "{nothing}");
        }
    }
}
