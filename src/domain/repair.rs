//! Repair: the form in which a request is sent once more after a provider refused it, and what a branch keeps for its
//! provider: what a refusal taught, so that its next request is not refused again, and the response to go on from. What a
//! refusal means is the adapter's to say.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::block::{Block, Content};
use crate::id::TurnId;
use crate::notice::Notice;
use crate::tool_output;

/// What becomes of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestRepair {
    /// The replies before the one that is being written go back without their reasoning.
    EarlierReasoningLeftOut,
    /// The same, and this reply's own steps too.
    ReasoningLeftOut,
    /// Earlier replies go back without their reasoning, and this reply's own steps are told in words.
    StepsTold,
    /// Every reply goes back with its reasoning beside it, an empty one where there was none.
    ReasoningEchoed,
    /// The whole path goes out, and not only what is new since a response that the provider was to keep: it does not
    /// know that response, or cannot go on from it.
    SentWhole,
    /// The images up to this reply are told in words; later ones are shown again.
    ImagesTold,
    /// The model takes no images: all are told in words from then on.
    ImagesNotSeen,
}

impl RequestRepair {
    /// What the person is told.
    pub fn notice(self) -> Notice {
        match self {
            Self::EarlierReasoningLeftOut | Self::ReasoningLeftOut => Notice::ReasoningRefused,
            Self::StepsTold => Notice::StepsDescribed,
            Self::ReasoningEchoed => Notice::ReasoningAdded,
            Self::SentWhole => Notice::ResentWhole,
            Self::ImagesTold => Notice::ImagesDescribed,
            Self::ImagesNotSeen => Notice::ImagesUnsupported,
        }
    }

    /// Whether reasoning of earlier replies stays behind.
    pub fn omits_earlier_reasoning(self) -> bool {
        !matches!(self, Self::ReasoningEchoed) && self.changes_replies()
    }

    /// Whether earlier replies go out in another form.
    pub fn changes_replies(self) -> bool {
        self != Self::SentWhole && !self.describes_images()
    }

    /// Whether images are told in words.
    pub fn describes_images(self) -> bool {
        matches!(self, Self::ImagesTold | Self::ImagesNotSeen)
    }
}

/// A response that the provider keeps, together with the conversation that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptResponse {
    /// The reply that it ended, or whose newest step it is.
    pub turn_id: TurnId,
    /// The provider's own name of it.
    pub response_id: String,
}

/// What a branch keeps for its provider: `branches.provider_state`. A new branch begins with nothing, so a fork tries the
/// whole form again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// Replies up to this turn go back without their reasoning: the provider refused it. Newer ones go back whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_left_out_until: Option<TurnId>,
    /// See [`Repair::ReasoningEchoed`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub echoes_reasoning: bool,
    /// Images up to this turn are told in words: the provider refused them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images_told_until: Option<TurnId>,
    /// All images are: the model takes none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sees_no_images: bool,
    /// The branch's newest whole reply, where the provider keeps it (domain.md 4.7). Nothing behind a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response: Option<KeptResponse>,
    /// What a newer version keeps.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ProviderState {
    /// Notes that a repaired request was accepted. `earlier` is the newest reply before the one that was written, which
    /// is `turn`.
    pub fn record_repair(&mut self, repair: RequestRepair, earlier: Option<TurnId>, turn: TurnId) {
        self.previous_response = None;
        match repair {
            RequestRepair::EarlierReasoningLeftOut => self.reasoning_left_out_until = earlier,
            RequestRepair::ReasoningLeftOut | RequestRepair::StepsTold => self.reasoning_left_out_until = Some(turn),
            RequestRepair::ReasoningEchoed => self.echoes_reasoning = true,
            RequestRepair::SentWhole => {}
            RequestRepair::ImagesTold => self.images_told_until = Some(turn),
            RequestRepair::ImagesNotSeen => self.sees_no_images = true,
        }
    }
}

/// Steps of a reply in words, as part of what the person says: what was written, called and answered, in order.
pub fn describe_steps(blocks: &[Block]) -> String {
    let mut told = String::from("(So far, in answer to this:");
    for block in blocks {
        match &block.content {
            Content::Text { text, is_error: false } if !text.trim().is_empty() => {
                told.push_str("\n- you wrote: ");
                told.push_str(text.trim());
            }
            Content::ToolUse { tool_name, arguments, arguments_raw, .. } => {
                let arguments = arguments_raw.clone().unwrap_or_else(|| arguments.to_string());
                told.push_str(&format!("\n- you called {tool_name} with {arguments}"));
            }
            Content::ToolResult { tool_name, result, is_error, metadata, .. } => {
                let gave = if *is_error { "failed" } else { "gave" };
                let result = tool_output::value_to_text(tool_output::render(result, metadata));
                told.push_str(&format!("\n- {tool_name} {gave}: {result}"));
            }
            _ => {}
        }
    }
    told.push_str("\nGo on from here.)");
    told
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::block::ToolStatus;
    use crate::fixtures;

    #[test]
    fn provider_state_keeps_repair_and_unknown_fields() {
        let (earlier, turn) = (fixtures::turn_id(2), fixtures::turn_id(4));
        for (repair, until, echoes) in [
            (RequestRepair::EarlierReasoningLeftOut, Some(earlier), false),
            (RequestRepair::ReasoningLeftOut, Some(turn), false),
            (RequestRepair::StepsTold, Some(turn), false),
            (RequestRepair::ReasoningEchoed, None, true),
            (RequestRepair::SentWhole, None, false),
            (RequestRepair::ImagesTold, None, false),
            (RequestRepair::ImagesNotSeen, None, false),
        ] {
            let kept = json!({"turn_id": earlier, "response_id": "resp_1"});
            let mut state: ProviderState =
                serde_json::from_value(json!({"of_tomorrow": 1, "previous_response": kept})).unwrap();
            assert_eq!(serde_json::to_value(&state).unwrap()["previous_response"], kept);
            state.record_repair(repair, Some(earlier), turn);
            assert_eq!((state.reasoning_left_out_until, state.echoes_reasoning), (until, echoes), "{repair:?}");
            assert_eq!(state.previous_response, None, "{repair:?}: cleared by every refusal");
            let told = (state.images_told_until, state.sees_no_images);
            let expected =
                (Some(turn).filter(|_| repair == RequestRepair::ImagesTold), repair == RequestRepair::ImagesNotSeen);
            assert_eq!(told, expected, "{repair:?}");
            let stored = serde_json::to_value(&state).unwrap();
            assert_eq!(stored["of_tomorrow"], 1);
            assert_eq!(serde_json::from_value::<ProviderState>(stored).unwrap(), state);
        }
        assert_eq!(serde_json::to_value(ProviderState::default()).unwrap(), json!({}));
    }

    #[test]
    fn steps_are_described_in_order_without_reasoning() {
        let blocks = fixtures::blocks(
            2,
            [
                Content::thinking("secret"),
                Content::text("I look."),
                fixtures::tool_use("a", "search", json!({"q": 1}), ToolStatus::Done),
                fixtures::tool_result("a", "search", json!("found")),
                fixtures::tool_result("b", "open", json!({"error": "no"})),
            ],
        );
        let told = describe_steps(&blocks);
        let lines: Vec<&str> = told.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "- you wrote: I look.",
                "- you called search with {\"q\":1}",
                "- search gave: found",
                "- open failed: {\"error\":\"no\"}",
                "Go on from here.)",
            ]
        );
        assert_eq!(told, describe_steps(&blocks));
    }
}
