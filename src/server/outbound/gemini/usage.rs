//! Token counts as Gemini reports them (providers.md 2.5): on every chunk, growing; not every chunk has all of them.

use serde_json::Value;

use crate::domain::Usage;

/// Whole numbers above this are not token counts, and JavaScript would not keep them.
const LARGEST: u64 = 1 << 53;

/// The counts as they were said last, each for itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    prompt: Option<u64>,
    cached: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
}

impl Counts {
    /// Takes the `usageMetadata` of a chunk, if it has any.
    pub fn take(&mut self, chunk: &Value) {
        let Some(said) = chunk.get("usageMetadata") else { return };
        let newest = |known: Option<u64>, key: &str| {
            said.get(key).and_then(Value::as_u64).filter(|count| *count <= LARGEST).or(known)
        };
        *self = Self {
            prompt: newest(self.prompt, "promptTokenCount"),
            cached: newest(self.cached, "cachedContentTokenCount"),
            candidates: newest(self.candidates, "candidatesTokenCount"),
            thoughts: newest(self.thoughts, "thoughtsTokenCount"),
        };
    }

    /// The usage in Turnleaf's terms: thoughts are counted beside the candidates and are output too. `None` when
    /// nothing was said.
    pub fn usage(&self) -> Option<Usage> {
        let output = match (self.candidates, self.thoughts) {
            (None, None) => None,
            (candidates, thoughts) => Some(candidates.unwrap_or(0) + thoughts.unwrap_or(0)),
        };
        let usage = Usage {
            input_tokens: self.prompt,
            output_tokens: output,
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
    fn the_last_count_of_each_kind_counts_and_thoughts_are_output() {
        let mut counts = Counts::default();
        assert_eq!(counts.usage(), None);
        for said in [
            json!({"usageMetadata": {"promptTokenCount": 9, "thoughtsTokenCount": 5, "cachedContentTokenCount": 4}}),
            json!({"usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 2, "thoughtsTokenCount": 7}}),
            json!({"usageMetadata": {"promptTokenCount": 9, "totalTokenCount": 9}}),
            json!({"usageMetadata": {"promptTokenCount": -1, "candidatesTokenCount": 1u64 << 60}}),
            json!({}),
        ] {
            counts.take(&said);
        }
        let expected = Usage {
            input_tokens: Some(9),
            output_tokens: Some(9),
            cache_read_tokens: Some(4),
            cache_write_tokens: None,
            reasoning_tokens: Some(7),
        };
        assert_eq!(counts.usage(), Some(expected));
    }
}
