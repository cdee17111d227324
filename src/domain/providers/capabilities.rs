//! Capabilities of a model: its reasoning controls, its parameters and their bounds, its context and output sizes. An
//! adapter derives them from the model's name and refines them with the provider's model list.
//! [`crate::providers::params_resolution`] decides which parameters are sent.

use std::fmt;

use serde::Serialize;

use crate::messages::message_template::{MessageArgs, message_args};
use crate::providers::provider::ReasoningSupport;
use crate::turns::exchange::Thinking;

/// The accepted values, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ValueRange<T> {
    pub least: T,
    /// The upper bound. Absent if none is known.
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

impl<T: fmt::Display> ValueRange<T> {
    /// Returns the bounds as arguments of a sentence.
    pub fn message_args(&self) -> MessageArgs {
        let mut args = message_args([("least", self.least.to_string())]);
        args.extend(self.most.as_ref().map(|most| ("most".to_owned(), most.to_string())));
        args
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

/// The bounds of a parameter, without and with thinking. Absent means that the parameter is not accepted in that
/// mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct ParamSupport<T> {
    pub plain: Option<T>,
    pub thinking: Option<T>,
}

impl<T: Copy> ParamSupport<T> {
    pub const fn always(bounds: T) -> Self {
        Self { plain: Some(bounds), thinking: Some(bounds) }
    }

    /// Accepts the parameter only while the model does not think.
    pub const fn only_plain(bounds: T) -> Self {
        Self { plain: Some(bounds), thinking: None }
    }

    pub const fn never() -> Self {
        Self { plain: None, thinking: None }
    }

    /// Changes the bounds and keeps the modes in which the parameter is accepted.
    pub fn map<U>(self, change: impl Fn(T) -> U) -> ParamSupport<U> {
        ParamSupport { plain: self.plain.map(&change), thinking: self.thinking.map(&change) }
    }

    pub fn bounds(&self, thinks: bool) -> Option<T> {
        if thinks { self.thinking } else { self.plain }
    }
}

/// The images that one request may contain. Further images are replaced by their alternative text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageBounds {
    pub kinds: &'static [&'static str],
    /// The most images in one request.
    pub count: usize,
    /// The most bytes of one image and of all images, counted in base64 as providers do.
    pub bytes: usize,
    pub bytes_in_all: usize,
    /// The most pixels on the longer side.
    pub side: u32,
    /// A lower bound on the longer side that applies to requests with more than this number of images.
    pub side_of_many: Option<(usize, u32)>,
}

/// The bounds for servers that document none: those that most providers accept.
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

/// The capabilities of a model.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Capabilities {
    pub reasoning: ReasoningSupport,
    /// The levels that make a difference, lowest first. `off` is present only if thinking can be switched off. Empty
    /// if the model has no levels or they are unknown.
    pub thinking_levels: Vec<Thinking>,
    /// The accepted thinking budgets in tokens. `max_tokens` includes them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<ValueRange<u32>>,
    /// True if levels are sent as budgets, so that they need the same room in `max_tokens`.
    pub levels_are_budgets: bool,
    pub temperature: ParamSupport<ValueRange<f64>>,
    pub top_p: ParamSupport<ValueRange<f64>>,
    /// True if the model accepts only one of `temperature` and `top_p`.
    pub temperature_or_top_p: bool,
    pub top_k: ParamSupport<ValueRange<u32>>,
    pub max_tokens: ValueRange<u32>,
    /// The number of stop sequences.
    pub stop_sequences: ParamSupport<u32>,
    pub blank_stop_sequences: bool,
    /// The size of the context window in tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// True if the model accepts images. Absent if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    #[serde(skip)]
    pub image_bounds: ImageBounds,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// A request may end with the beginning of the reply, which the model continues while it does not think
    /// (`docs/reference/providers.md 2.12`).
    #[serde(skip)]
    pub continues_text: bool,
}

/// The defaults for an unknown model: the usual parameters, and none that a server is likely to refuse.
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
            continues_text: false,
        }
    }
}

impl Capabilities {
    /// Sets the reasoning support and its levels.
    pub fn with_thinking(self, reasoning: ReasoningSupport, levels: &[Thinking]) -> Self {
        Self { reasoning, thinking_levels: levels.to_vec(), ..self }
    }

    /// Returns true if it is known whether the model reasons: it never or always does, or it has a control for it.
    pub fn knows_reasoning(&self) -> bool {
        self.reasoning != ReasoningSupport::Optional
            || !self.thinking_levels.is_empty()
            || self.thinking_budget.is_some()
    }

    /// Removes reasoning, for a model whose name suggested it wrongly.
    pub fn without_thinking(self) -> Self {
        Self { thinking_budget: None, levels_are_budgets: false, ..self.with_thinking(ReasoningSupport::Never, &[]) }
    }

    /// Removes sampling parameters and stop sequences, always or only while the model thinks.
    pub fn without_sampling(self, only_while_thinking: bool) -> Self {
        fn cut<T: Copy>(support: ParamSupport<T>, only_while_thinking: bool) -> ParamSupport<T> {
            ParamSupport { plain: support.plain.filter(|_| only_while_thinking), thinking: None }
        }
        Self {
            temperature: cut(self.temperature, only_while_thinking),
            top_p: cut(self.top_p, only_while_thinking),
            top_k: cut(self.top_k, only_while_thinking),
            stop_sequences: cut(self.stop_sequences, only_while_thinking),
            ..self
        }
    }

    /// Sets the largest output of a reply, if the model list states it.
    pub fn with_max_tokens(self, most: Option<u64>) -> Self {
        let most = most.and_then(|most| u32::try_from(most).ok()).filter(|most| *most > 0);
        Self { max_tokens: ValueRange { most: most.or(self.max_tokens.most), ..self.max_tokens }, ..self }
    }
}
