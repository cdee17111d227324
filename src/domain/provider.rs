//! What is known of providers and models without talking to them: names, locks and abilities.

use serde::{Deserialize, Serialize};

use crate::branch::ModelLock;
use crate::exchange::Thinking;

/// Whether a model reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningSupport {
    /// It has no reasoning to ask for.
    Never,
    /// It reasons when asked.
    Optional,
    /// It cannot be asked not to.
    Always,
}

/// A model that can be chosen, as the menus and `GET /api/models` show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Model {
    #[serde(flatten)]
    pub lock: ModelLock,
    /// The provider's name for people ("OpenAI", "Demo (offline, scripted)").
    pub provider_name: String,
    /// The model's name for people.
    pub name: String,
    /// One line on what it is, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    pub reasoning: ReasoningSupport,
    /// The levels of thinking that can be asked for; see [`crate::capabilities::Capabilities`].
    #[serde(default)]
    pub thinking_levels: Vec<Thinking>,
    /// How many tokens of context it takes, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// How many tokens one reply may have, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Scripted, not a model at all.
    pub is_demo: bool,
    /// Chosen when nothing else is said.
    pub is_default: bool,
    /// Its place among the models that answered last, from 0; none where it was not lately.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<u32>,
}

/// Whether an exchange is in thinking mode: asked for, or unavoidable (domain.md C2).
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
        let asked = [Thinking::Low, Thinking::Medium, Thinking::High, Thinking::Budget(1)];
        for thinking in asked {
            assert!(!is_thinking_mode(thinking, ReasoningSupport::Never), "{thinking:?}");
            assert!(is_thinking_mode(thinking, ReasoningSupport::Optional), "{thinking:?}");
            assert!(is_thinking_mode(thinking, ReasoningSupport::Always), "{thinking:?}");
        }
        assert!(!is_thinking_mode(Thinking::Off, ReasoningSupport::Never));
        assert!(!is_thinking_mode(Thinking::Off, ReasoningSupport::Optional));
        assert!(is_thinking_mode(Thinking::Off, ReasoningSupport::Always));
    }
}
