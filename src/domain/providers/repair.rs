//! Request repair: the form in which a refused request is sent once more
//! (`docs/adr/0021-request-repair-and-kept-responses.md`). The provider state of a branch remembers accepted repairs,
//! so that later requests are not refused again, and the response to continue from. The adapter interprets the
//! refusal.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::blocks::block::{Block, Content};
use crate::blocks::notice::Notice;
use crate::id::TurnId;
use crate::tools::tool_output;

/// The changed form of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestRepair {
    /// The replies before the current one are sent without their reasoning.
    EarlierReasoningLeftOut,
    /// Earlier replies and this reply's own steps are sent without their reasoning.
    ReasoningLeftOut,
    /// Earlier replies are sent without their reasoning, and this reply's own steps as a text description.
    StepsTold,
    /// Every reply is sent with a reasoning member, which is empty if it had no reasoning.
    ReasoningEchoed,
    /// No reply is sent with its reasoning, because the endpoint does not accept the member.
    ReasoningNotAccepted,
    /// The whole path is sent instead of only what follows a kept response, because the provider does not have that
    /// response or cannot continue from it.
    SentWhole,
    /// Images up to this reply are replaced with text descriptions; later ones are sent again.
    ImagesTold,
    /// The model accepts no images: all are replaced with text descriptions from now on.
    ImagesNotSeen,
}

impl RequestRepair {
    /// Returns the notice for the person.
    pub fn notice(self) -> Notice {
        match self {
            Self::EarlierReasoningLeftOut | Self::ReasoningLeftOut | Self::ReasoningNotAccepted => {
                Notice::ReasoningRefused
            }
            Self::StepsTold => Notice::StepsDescribed,
            Self::ReasoningEchoed => Notice::ReasoningAdded,
            Self::SentWhole => Notice::ResentWhole,
            Self::ImagesTold => Notice::ImagesDescribed,
            Self::ImagesNotSeen => Notice::ImagesUnsupported,
        }
    }

    /// Returns true if reasoning of earlier replies is omitted.
    pub fn omits_reasoning(self) -> bool {
        self == Self::ReasoningNotAccepted || self.omits_earlier_reasoning()
    }

    /// Returns true if earlier replies are sent without their reasoning and everything that depends on it, because the
    /// endpoint no longer accepts it.
    pub fn omits_earlier_reasoning(self) -> bool {
        self.reasoning_members() == ReasoningMembers::Unknown && self.changes_replies()
    }

    /// Returns the rule of the endpoint that the accepted repair reveals.
    pub fn reasoning_members(self) -> ReasoningMembers {
        match self {
            Self::ReasoningEchoed => ReasoningMembers::Required,
            Self::ReasoningNotAccepted => ReasoningMembers::Refused,
            _ => ReasoningMembers::Unknown,
        }
    }

    /// Returns true if earlier replies are sent in another form.
    pub fn changes_replies(self) -> bool {
        self != Self::SentWhole && !self.describes_images()
    }

    /// Returns true if images are replaced with text descriptions.
    pub fn describes_images(self) -> bool {
        matches!(self, Self::ImagesTold | Self::ImagesNotSeen)
    }
}

/// The known rule of an endpoint for reasoning in the replies of a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReasoningMembers {
    /// No rule is known: replies are sent in the usual form of the API.
    #[default]
    Unknown,
    /// Every reply must have a reasoning member.
    Required,
    /// No reply may have one.
    Refused,
}

impl ReasoningMembers {
    /// Returns this rule, or `other` if none is known.
    pub fn or(self, other: Self) -> Self {
        if self == Self::Unknown { other } else { self }
    }

    /// Returns the repair that puts replies into this form, if any.
    pub fn repair(self) -> Option<RequestRepair> {
        match self {
            Self::Unknown => None,
            Self::Required => Some(RequestRepair::ReasoningEchoed),
            Self::Refused => Some(RequestRepair::ReasoningNotAccepted),
        }
    }
}

/// A response that the provider keeps, with the conversation before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptResponse {
    /// The reply that ended with it, or whose newest step it is.
    pub turn_id: TurnId,
    /// The provider's id of the response.
    pub response_id: String,
}

/// The provider state of a branch, stored in `branches.provider_state`. A new branch starts empty; a rule of the
/// endpoint that a refusal has revealed is known for all of its branches (`learned_endpoints`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProviderState {
    /// Replies up to this turn are sent without their reasoning, because the provider refused it. Newer ones are sent
    /// whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_left_out_until: Option<TurnId>,
    /// See [`RequestRepair::ReasoningEchoed`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub echoes_reasoning: bool,
    /// See [`RequestRepair::ReasoningNotAccepted`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accepts_no_reasoning: bool,
    /// Images up to this turn are replaced with text descriptions, because the provider refused them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images_told_until: Option<TurnId>,
    /// All images are replaced, because the model accepts none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sees_no_images: bool,
    /// The branch's newest complete reply, if the provider keeps it (`docs/reference/domain.md 4.7`). Cleared by a
    /// refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_response: Option<KeptResponse>,
    /// Members of newer versions.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ProviderState {
    /// Records that a repaired request was accepted. `turn` is the reply that was generated, `earlier` the newest
    /// reply before it.
    pub fn record_repair(&mut self, repair: RequestRepair, earlier: Option<TurnId>, turn: TurnId) {
        self.previous_response = None;
        match repair {
            RequestRepair::EarlierReasoningLeftOut => self.reasoning_left_out_until = earlier,
            RequestRepair::ReasoningLeftOut | RequestRepair::StepsTold => self.reasoning_left_out_until = Some(turn),
            RequestRepair::ReasoningEchoed | RequestRepair::ReasoningNotAccepted => {
                self.set_reasoning_members(repair.reasoning_members());
            }
            RequestRepair::SentWhole => {}
            RequestRepair::ImagesTold => self.images_told_until = Some(turn),
            RequestRepair::ImagesNotSeen => self.sees_no_images = true,
        }
    }

    /// Sets the endpoint's rule for reasoning in replies, as the branch knows it.
    pub fn set_reasoning_members(&mut self, members: ReasoningMembers) {
        self.echoes_reasoning = members == ReasoningMembers::Required;
        self.accepts_no_reasoning = members == ReasoningMembers::Refused;
    }

    /// Returns the endpoint's rule for reasoning in replies, as the branch knows it.
    pub fn reasoning_members(&self) -> ReasoningMembers {
        match (self.echoes_reasoning, self.accepts_no_reasoning) {
            (_, true) => ReasoningMembers::Refused,
            (true, false) => ReasoningMembers::Required,
            (false, false) => ReasoningMembers::Unknown,
        }
    }
}

/// Describes the steps of a reply as text, as part of the user's message: text, calls and results, in order.
pub fn describe_steps(blocks: &[Block]) -> String {
    let mut description = String::from("(So far, in answer to this:");
    for block in blocks {
        match &block.content {
            Content::Text { text, is_error: false } if !text.trim().is_empty() => {
                description.push_str("\n- you wrote: ");
                description.push_str(text.trim());
            }
            Content::ToolUse { tool_name, arguments, arguments_raw, .. } => {
                let arguments = arguments_raw.clone().unwrap_or_else(|| arguments.to_string());
                description.push_str(&format!("\n- you called {tool_name} with {arguments}"));
            }
            Content::ToolResult { tool_name, result, is_error, metadata, .. } => {
                let gave = if *is_error { "failed" } else { "gave" };
                let result = tool_output::value_to_text(tool_output::render(result, metadata));
                description.push_str(&format!("\n- {tool_name} {gave}: {result}"));
            }
            _ => {}
        }
    }
    description.push_str("\nGo on from here.)");
    description
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::blocks::block::ToolStatus;
    use crate::fixtures;

    #[test]
    fn provider_state_keeps_repair_and_unknown_fields() {
        let (earlier, turn) = (fixtures::turn_id(2), fixtures::turn_id(4));
        for (repair, until, echoes) in [
            (RequestRepair::EarlierReasoningLeftOut, Some(earlier), false),
            (RequestRepair::ReasoningLeftOut, Some(turn), false),
            (RequestRepair::StepsTold, Some(turn), false),
            (RequestRepair::ReasoningEchoed, None, true),
            (RequestRepair::ReasoningNotAccepted, None, false),
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
            assert_eq!(state.reasoning_members(), repair.reasoning_members(), "{repair:?}");
            let images = (state.images_told_until, state.sees_no_images);
            let expected =
                (Some(turn).filter(|_| repair == RequestRepair::ImagesTold), repair == RequestRepair::ImagesNotSeen);
            assert_eq!(images, expected, "{repair:?}");
            let stored = serde_json::to_value(&state).unwrap();
            assert_eq!(stored["of_tomorrow"], 1);
            assert_eq!(serde_json::from_value::<ProviderState>(stored).unwrap(), state);
        }
        assert_eq!(serde_json::to_value(ProviderState::default()).unwrap(), json!({}));
    }

    #[test]
    fn newest_repair_tells_whether_endpoint_accepts_reasoning() {
        let turn = fixtures::turn_id(4);
        let mut state = ProviderState::default();
        for repair in
            [RequestRepair::ReasoningNotAccepted, RequestRepair::ReasoningEchoed, RequestRepair::ReasoningNotAccepted]
        {
            state.record_repair(repair, None, turn);
            assert_eq!(state.reasoning_members().repair(), Some(repair));
            state.record_repair(RequestRepair::ReasoningLeftOut, None, turn);
            assert_eq!(state.reasoning_members().repair(), Some(repair), "it is about one reply, not the endpoint");
        }
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
        let description = describe_steps(&blocks);
        let lines: Vec<&str> = description.lines().skip(1).collect();
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
        assert_eq!(description, describe_steps(&blocks));
    }
}
