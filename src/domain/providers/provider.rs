//! Facts about providers and models that are known without a request: names, locks and capabilities.

use serde::{Deserialize, Serialize};

use crate::branches::branch::ModelLock;
use crate::turns::exchange::Thinking;

/// The reasoning support of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningSupport {
    /// The model has no reasoning.
    Never,
    /// The model reasons when asked.
    Optional,
    /// The model always reasons.
    Always,
}

/// A model that can be selected, as in the menus and in `GET /api/models`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Model {
    #[serde(flatten)]
    pub lock: ModelLock,
    /// The provider's display name ("OpenAI", "Demo (offline, scripted)").
    pub provider_name: String,
    /// The model's display name.
    pub name: String,
    /// A one-line description, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub reasoning: ReasoningSupport,
    /// The thinking levels that can be requested.
    #[serde(default)]
    pub thinking_levels: Vec<Thinking>,
    /// The size of the context window in tokens, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// The maximum tokens of one reply, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// True if the model accepts images. Absent if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// True if the model can call tools. Absent if that is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// The list price of a million tokens of input, in millionths of a US dollar, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_price: Option<u64>,
    /// The list price of a million tokens of output, in millionths of a US dollar, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_price: Option<u64>,
    /// True for the scripted demo, which is not a real model.
    pub is_demo: bool,
    /// True for the model that is used by default.
    pub is_default: bool,
    /// Its rank among the recently used models, from 0. Absent if it was not used recently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u32>,
}

/// Returns true if an exchange is in thinking mode: requested, or unavoidable (`docs/reference/domain.md C2`).
pub fn is_thinking_mode(requested: Thinking, reasoning: ReasoningSupport) -> bool {
    match reasoning {
        ReasoningSupport::Never => false,
        ReasoningSupport::Optional => requested != Thinking::Off,
        ReasoningSupport::Always => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinking_mode_is_requested_or_unavoidable() {
        let requested = [Thinking::Low, Thinking::Medium, Thinking::High, Thinking::Budget(1)];
        for thinking in requested {
            assert!(!is_thinking_mode(thinking, ReasoningSupport::Never), "{thinking:?}");
            assert!(is_thinking_mode(thinking, ReasoningSupport::Optional), "{thinking:?}");
            assert!(is_thinking_mode(thinking, ReasoningSupport::Always), "{thinking:?}");
        }
        assert!(!is_thinking_mode(Thinking::Off, ReasoningSupport::Never));
        assert!(!is_thinking_mode(Thinking::Off, ReasoningSupport::Optional));
        assert!(is_thinking_mode(Thinking::Off, ReasoningSupport::Always));
    }
}
