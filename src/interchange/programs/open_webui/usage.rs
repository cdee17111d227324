//! Parses token counts in the formats of the providers behind Open WebUI: OpenAI's two formats, Anthropic's and
//! Ollama's.

use serde_json::Value;

use crate::domain::usage::token_counts::Usage;
use crate::reading::fields::count;

/// Returns the token counts of a message.
pub(crate) fn from_message(message: &Value) -> Usage {
    let info = message.get("info");
    let within = info.and_then(|info| info.get("usage"));
    let Some(usage) = [message.get("usage"), within, info].into_iter().flatten().find(|usage| usage.is_object()) else {
        return Usage::default();
    };
    let first = |names: &[&str]| names.iter().find_map(|name| count(usage, name));
    let part = |names: &[&str], part: &str| names.iter().find_map(|name| count(usage.get(name)?, part));
    let input = ["prompt_tokens_details", "input_tokens_details"];
    let output = ["completion_tokens_details", "output_tokens_details"];
    let cache_read = part(&input, "cached_tokens").or_else(|| count(usage, "cache_read_input_tokens"));
    let cache_write = count(usage, "cache_creation_input_tokens");
    // Anthropic counts cached tokens separately from the input; Turnleaf includes them.
    let extra = if usage.get("cache_read_input_tokens").is_some() || cache_write.is_some() {
        count(usage, "cache_read_input_tokens").unwrap_or(0).saturating_add(cache_write.unwrap_or(0))
    } else {
        0
    };
    Usage {
        input_tokens: first(&["prompt_tokens", "prompt_eval_count"])
            .or_else(|| count(usage, "input_tokens").map(|tokens| tokens.saturating_add(extra))),
        output_tokens: first(&["completion_tokens", "output_tokens", "eval_count"]),
        cache_read_tokens: cache_read,
        cache_write_tokens: cache_write,
        reasoning_tokens: part(&output, "reasoning_tokens"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn usage_forms_are_normalized() {
        let usage = |input, output, cache_read, cache_write, reasoning| Usage {
            input_tokens: input,
            output_tokens: output,
            cache_read_tokens: cache_read,
            cache_write_tokens: cache_write,
            reasoning_tokens: reasoning,
        };
        let table = [
            (json!({}), Usage::default()),
            (json!({"usage": "many"}), Usage::default()),
            (
                json!({"usage": {"prompt_tokens": 9, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 2}}}),
                usage(Some(9), Some(5), Some(4), None, Some(2)),
            ),
            (
                json!({"usage": {"input_tokens": 9, "output_tokens": 5, "input_tokens_details": {"cached_tokens": 4}, "output_tokens_details": {"reasoning_tokens": 2}}}),
                usage(Some(9), Some(5), Some(4), None, Some(2)),
            ),
            (
                json!({"usage": {"input_tokens": 9, "output_tokens": 5, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3}}),
                usage(Some(16), Some(5), Some(4), Some(3), None),
            ),
            (json!({"info": {"prompt_eval_count": 7, "eval_count": 3}}), usage(Some(7), Some(3), None, None, None)),
            (
                json!({"info": {"usage": {"prompt_tokens": 7.0, "completion_tokens": -1}}}),
                usage(Some(7), None, None, None, None),
            ),
        ];
        for (message, expected) in table {
            assert_eq!(from_message(&message), expected, "{message}");
        }
    }
}
