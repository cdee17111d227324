//! What a model takes: how it can be asked to think, which parameters it knows and in which bounds, how much it reads
//! and says. An adapter knows it by the model's name, and better once the provider's list of models has said more.
//! Not for deciding what goes out: that is [`crate::settle`].

use std::fmt;

use serde::Serialize;

use crate::exchange::Thinking;
use crate::provider::ReasoningSupport;

/// The values that are taken, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ValueRange<T> {
    pub least: T,
    /// Absent where no upper bound is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<T>,
}

impl<T> ValueRange<T> {
    pub const fn new(least: T, most: T) -> Self {
        Self { least, most: Some(most) }
    }

    pub const fn at_least(least: T) -> Self {
        Self { least, most: None }
    }
}

impl<T: PartialOrd> ValueRange<T> {
    pub fn contains(&self, value: &T) -> bool {
        *value >= self.least && self.most.as_ref().is_none_or(|most| value <= most)
    }
}

impl<T: fmt::Display> fmt::Display for ValueRange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.most {
            Some(most) => write!(f, "between {} and {most}", self.least),
            None => write!(f, "at least {}", self.least),
        }
    }
}

/// A parameter's bounds by whether the model thinks. Absent means: not taken then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ParamSupport<T> {
    pub plain: Option<T>,
    pub thinking: Option<T>,
}

impl<T: Copy> ParamSupport<T> {
    pub const fn always(bounds: T) -> Self {
        Self { plain: Some(bounds), thinking: Some(bounds) }
    }

    /// Only while the model does not think.
    pub const fn only_plain(bounds: T) -> Self {
        Self { plain: Some(bounds), thinking: None }
    }

    pub const fn never() -> Self {
        Self { plain: None, thinking: None }
    }

    /// The same at the same times, with other bounds.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> ParamSupport<U> {
        ParamSupport { plain: self.plain.map(&change), thinking: self.thinking.map(&change) }
    }

    pub fn bounds(&self, thinks: bool) -> Option<T> {
        if thinks { self.thinking } else { self.plain }
    }
}

/// Which images one request may have. What is beyond is told in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageBounds {
    pub kinds: &'static [&'static str],
    /// How many.
    pub count: usize,
    /// One of them, and all of them, in bytes of base64: that is what providers count.
    pub bytes: usize,
    pub bytes_in_all: usize,
    /// The longer side, in pixels.
    pub side: u32,
    /// The same where there are more than so many.
    pub side_of_many: Option<(usize, u32)>,
}

/// Of servers that say nothing of it: what most others take.
impl Default for ImageBounds {
    fn default() -> Self {
        Self {
            kinds: &["image/png", "image/jpeg", "image/gif", "image/webp"],
            count: 50,
            bytes: 10 << 20,
            bytes_in_all: 40 << 20,
            side: 8_000,
            side_of_many: None,
        }
    }
}

/// What a model takes.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Capabilities {
    pub reasoning: ReasoningSupport,
    /// The levels that make a difference, from the least; `Off` only where thinking can be switched off. Empty where
    /// nothing can be asked, or nobody knows how.
    pub thinking_levels: Vec<Thinking>,
    /// The budgets of reasoning that are taken, in tokens; `max_tokens` counts them too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<ValueRange<u32>>,
    /// Levels are asked for as budgets too, so they need as much room in `max_tokens`.
    pub levels_are_budgets: bool,
    pub temperature: ParamSupport<ValueRange<f64>>,
    pub top_p: ParamSupport<ValueRange<f64>>,
    /// Takes one of `temperature` and `top_p`, not both.
    pub temperature_or_top_p: bool,
    pub top_k: ParamSupport<ValueRange<u32>>,
    pub max_tokens: ValueRange<u32>,
    /// How many.
    pub stop_sequences: ParamSupport<u32>,
    pub blank_stop_sequences: bool,
    /// How many tokens of context it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Whether it sees images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    #[serde(skip)]
    pub image_bounds: ImageBounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
}

/// What may be said to a model of which nothing is known: the usual, and nothing that a server could refuse.
impl Default for Capabilities {
    fn default() -> Self {
        Self {
            reasoning: ReasoningSupport::Optional,
            thinking_levels: Vec::new(),
            thinking_budget: None,
            levels_are_budgets: false,
            temperature: ParamSupport::always(ValueRange::new(0.0, 2.0)),
            top_p: ParamSupport::always(ValueRange::new(0.0, 1.0)),
            temperature_or_top_p: false,
            top_k: ParamSupport::never(),
            max_tokens: ValueRange::at_least(1),
            stop_sequences: ParamSupport::always(4),
            blank_stop_sequences: true,
            context_tokens: None,
            images: None,
            image_bounds: ImageBounds::default(),
            tools: None,
        }
    }
}

impl Capabilities {
    /// Its reasoning, and the levels that it can be asked for.
    pub fn with_thinking(self, reasoning: ReasoningSupport, levels: &[Thinking]) -> Self {
        Self { reasoning, thinking_levels: levels.to_vec(), ..self }
    }

    /// It turned out to have no reasoning, whatever its name said.
    pub fn without_thinking(self) -> Self {
        Self { thinking_budget: None, levels_are_budgets: false, ..self.with_thinking(ReasoningSupport::Never, &[]) }
    }

    /// No sampling parameters and no stop sequences, ever or only while it thinks.
    pub fn without_sampling(self, only_while_thinking: bool) -> Self {
        fn cut<T: Copy>(takes: ParamSupport<T>, only_while_thinking: bool) -> ParamSupport<T> {
            ParamSupport { plain: takes.plain.filter(|_| only_while_thinking), thinking: None }
        }
        Self {
            temperature: cut(self.temperature, only_while_thinking),
            top_p: cut(self.top_p, only_while_thinking),
            top_k: cut(self.top_k, only_while_thinking),
            stop_sequences: cut(self.stop_sequences, only_while_thinking),
            ..self
        }
    }

    /// With the most that a reply may have, where a list says so.
    pub fn with_max_tokens(self, most: Option<u64>) -> Self {
        let most = most.and_then(|most| u32::try_from(most).ok()).filter(|most| *most > 0);
        Self { max_tokens: ValueRange { most: most.or(self.max_tokens.most), ..self.max_tokens }, ..self }
    }
}
