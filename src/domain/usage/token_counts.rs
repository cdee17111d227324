//! Token counts. An unknown count is null, never 0, because a provider that reports nothing did not use nothing.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::limits;

/// The tokens of a generation, or the sum over a turn's generations. Every API counts differently
/// (`docs/reference/providers.md 2.5`); the adapters convert to these meanings. Two counts are totals, three are
/// parts of them:
///
/// `input_tokens` ⊇ `cache_read_tokens`, `cache_write_tokens`; `output_tokens` ⊇ `reasoning_tokens`. Input plus
/// output is the provider's total, and the part of the context window that the call filled.
///
/// For an interrupted reply, they are the counts so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Usage {
    /// All tokens that the model read: the whole prompt, cached or not, and what the provider's own tools added.
    pub input_tokens: Option<u64>,
    /// All tokens that the model wrote: the answer, tool calls, and visible or hidden reasoning.
    pub output_tokens: Option<u64>,
    /// The part of the input that was read from the provider's cache, at a lower price.
    pub cache_read_tokens: Option<u64>,
    /// The part of the input that was written to the provider's cache, if that has its own price.
    pub cache_write_tokens: Option<u64>,
    /// The part of the output that is reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Removes implausible counts, so that sums stay plausible. The raw bytes keep what the provider reported.
    #[must_use]
    pub fn without_implausible_counts(self) -> Self {
        let plausible = |count: Option<u64>| count.filter(|count| *count <= limits::PLAUSIBLE_COUNT);
        Self {
            input_tokens: plausible(self.input_tokens),
            output_tokens: plausible(self.output_tokens),
            cache_read_tokens: plausible(self.cache_read_tokens),
            cache_write_tokens: plausible(self.cache_write_tokens),
            reasoning_tokens: plausible(self.reasoning_tokens),
        }
    }

    /// Returns the tokens of the context window that the call filled, or `None` if the prompt was not counted.
    pub fn context_tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens.unwrap_or(0)))
    }

    /// Returns true if the provider reported any count.
    pub fn is_known(&self) -> bool {
        *self != Self::default()
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        fn sum(a: Option<u64>, b: Option<u64>) -> Option<u64> {
            match (a, b) {
                (None, None) => None,
                (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
            }
        }
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            cache_read_tokens: sum(self.cache_read_tokens, other.cache_read_tokens),
            cache_write_tokens: sum(self.cache_write_tokens, other.cache_write_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, other.reasoning_tokens),
        }
    }
}

impl Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(tokens: Option<u64>) -> Usage {
        Usage { output_tokens: tokens, ..Usage::default() }
    }

    #[test]
    fn unknown_stays_unknown_and_known_parts_add_up() {
        let table = [
            (vec![], None),
            (vec![None, None], None),
            (vec![Some(0), None], Some(0)),
            (vec![Some(3), None, Some(4)], Some(7)),
            (vec![Some(u64::MAX), Some(1)], Some(u64::MAX)),
        ];
        for (parts, sum) in table {
            assert_eq!(parts.iter().map(|part| output(*part)).sum::<Usage>(), output(sum), "{parts:?}");
        }
    }

    #[test]
    fn every_field_is_added_to_its_own() {
        let one = Usage {
            input_tokens: Some(1),
            output_tokens: Some(2),
            cache_read_tokens: Some(4),
            cache_write_tokens: Some(8),
            reasoning_tokens: Some(16),
        };
        assert_eq!(
            serde_json::to_value(one + one).unwrap(),
            serde_json::json!({
                "input_tokens": 2, "output_tokens": 4, "cache_read_tokens": 8, "cache_write_tokens": 16,
                "reasoning_tokens": 32,
            })
        );
        assert_eq!(one + Usage::default(), one);
    }

    #[test]
    fn implausible_counts_are_unknown() {
        for (reported, known) in [
            (0, Some(0)),
            (limits::PLAUSIBLE_COUNT, Some(limits::PLAUSIBLE_COUNT)),
            (limits::PLAUSIBLE_COUNT + 1, None),
            (u64::MAX, None),
        ] {
            assert_eq!(output(Some(reported)).without_implausible_counts(), output(known), "{reported}");
        }
    }

    #[test]
    fn reported_zero_is_known() {
        assert!(!Usage::default().is_known());
        assert!(output(Some(0)).is_known());
    }

    #[test]
    fn context_is_input_plus_output() {
        let usage = |input_tokens, output_tokens| Usage { input_tokens, output_tokens, ..Usage::default() };
        assert_eq!(usage(Some(5), Some(2)).context_tokens(), Some(7));
        assert_eq!(usage(Some(5), None).context_tokens(), Some(5));
        assert_eq!(usage(None, Some(2)).context_tokens(), None);
    }

    #[test]
    fn unknown_counts_are_null_in_json() {
        let json = serde_json::to_string(&Usage::default()).unwrap();
        assert_eq!(json.matches("null").count(), 5);
        assert_eq!(serde_json::from_str::<Usage>("{}").unwrap(), Usage::default());
    }
}
