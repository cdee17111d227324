//! Token counts of Gemini (docs/reference/providers.md 2.5): chunks report running totals, so the last ones count.

use serde_json::Value;

use turnleaf_domain::Usage;

/// Larger numbers are not plausible token counts, and JavaScript cannot represent them exactly.
const LARGEST: u64 = 1 << 53;

/// The counts of the last chunk that has any.
#[derive(Debug, Clone, Copy, Default)]
pub struct GeminiUsageCounts {
    prompt: Option<u64>,
    /// The tokens that Google's own tools added to the prompt; the API counts them separately.
    tool_use: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
}

impl GeminiUsageCounts {
    /// Takes the `usageMetadata` of a chunk, if it has any. A chunk that counts no output, as some do between others,
    /// leaves the counts of the output as they are.
    pub fn update(&mut self, chunk: &Value) {
        let Some(metadata) = chunk.get("usageMetadata") else { return };
        let count = |key: &str| metadata.get(key).and_then(Value::as_u64).filter(|count| *count <= LARGEST);
        let newest = Self {
            prompt: count("promptTokenCount"),
            tool_use: count("toolUsePromptTokenCount"),
            cached: count("cachedContentTokenCount"),
            candidates: count("candidatesTokenCount"),
            thoughts: count("thoughtsTokenCount"),
        };
        let counts_output = newest.candidates.is_some() || newest.thoughts.is_some();
        *self = if counts_output {
            Self { prompt: newest.prompt.or(self.prompt), ..newest }
        } else {
            Self {
                prompt: newest.prompt.or(self.prompt),
                tool_use: newest.tool_use.or(self.tool_use),
                cached: newest.cached.or(self.cached),
                ..*self
            }
        };
    }

    /// Returns the usage by the domain's definition: output includes thoughts, and input includes the tokens that
    /// tools added; the API counts both separately. `None` if nothing was reported.
    pub fn usage(&self) -> Option<Usage> {
        let sum = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (None, None) => None,
            (one, other) => Some(one.unwrap_or(0) + other.unwrap_or(0)),
        };
        let usage = Usage {
            input_tokens: sum(self.prompt, self.tool_use),
            output_tokens: sum(self.candidates, self.thoughts),
            cache_read_tokens: self.cached,
            cache_write_tokens: None,
            reasoning_tokens: self.thoughts,
        };
        Some(usage).filter(Usage::is_known)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn last_chunk_wins_and_thoughts_are_output() {
        let mut counts = GeminiUsageCounts::default();
        assert_eq!(counts.usage(), None);
        for chunk in [
            json!({"usageMetadata": {"promptTokenCount": 8, "thoughtsTokenCount": 5, "cachedContentTokenCount": 3,
                "toolUsePromptTokenCount": 50}}),
            json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 7,
                "cachedContentTokenCount": 4, "toolUsePromptTokenCount": 100}}),
            json!({"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}}),
            json!({"usageMetadata": {"promptTokenCount": -1, "candidatesTokenCount": 1u64 << 60}}),
            json!({}),
        ] {
            counts.update(&chunk);
        }
        let expected = Usage {
            input_tokens: Some(109),
            output_tokens: Some(9),
            cache_read_tokens: Some(4),
            cache_write_tokens: None,
            reasoning_tokens: Some(7),
        };
        assert_eq!(counts.usage(), Some(expected));
        // Counts that the last chunk no longer has are not those of the reply.
        counts.update(&json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 3}}));
        let expected = Usage { input_tokens: Some(9), output_tokens: Some(3), ..Usage::default() };
        assert_eq!(counts.usage(), Some(expected));
    }
}
