//! Token counts. Unknown is null, never 0: a provider that did not say is not one that used nothing.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use crate::limits;

/// What a generation, or a turn as the sum of its generations, used. Every API counts differently (providers.md 2.5);
/// its reader brings the counts into these meanings. Two of the five are sums, three are parts of them:
///
/// `input_tokens` ⊇ `cache_read_tokens`, `cache_write_tokens`; `output_tokens` ⊇ `reasoning_tokens`. Input and output
/// together are the provider's own total, and how much of the model's context the call filled.
///
/// Of a reply that was cut off they are what the provider had counted by then.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Usage {
    /// Everything the model read: the whole prompt, whether a cache had to do with it or not, and what the provider's own
    /// tools put before the model on the way.
    pub input_tokens: Option<u64>,
    /// Everything the model wrote: the answer, tool calls, and reasoning, shown or hidden.
    pub output_tokens: Option<u64>,
    /// The part of the input that came out of the provider's cache, at a lower price.
    pub cache_read_tokens: Option<u64>,
    /// The part of the input that was put into the provider's cache, where that has a price of its own.
    pub cache_write_tokens: Option<u64>,
    /// The part of the output that was reasoning.
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Without counts that can be none: what a provider says is kept in its raw bytes, and sums are of what is plausible.
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

    /// How much of the model's context the call filled. `None` where the prompt was not counted.
    pub fn context_tokens(&self) -> Option<u64> {
        Some(self.input_tokens?.saturating_add(self.output_tokens.unwrap_or(0)))
    }

    /// Whether the provider said anything at all.
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
        for (said, known) in [
            (0, Some(0)),
            (limits::PLAUSIBLE_COUNT, Some(limits::PLAUSIBLE_COUNT)),
            (limits::PLAUSIBLE_COUNT + 1, None),
            (u64::MAX, None),
        ] {
            assert_eq!(output(Some(said)).without_implausible_counts(), output(known), "{said}");
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
