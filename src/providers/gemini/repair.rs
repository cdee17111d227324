//! Recognizes refusals of Gemini that another form of the same request may avoid (docs/reference/providers.md 7.4):
//! missing and invalid thought signatures.

use crate::provider::{ChatRequest, ProviderError};
use turnleaf_domain::providers::repair::RequestRepair;

/// Returns the repair to send instead. Signatures of earlier replies can be omitted, because the API requires only
/// those of the current turn. If these are refused, the steps of the turn are described as text.
pub fn repair(refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    let message = refused.lowercase_text();
    if !["thought signature", "thought_signature", "thoughtsignature"].iter().any(|part| message.contains(part)) {
        return None;
    }
    let is_in_loop = request.split_at_steps().1.is_some();
    let is_missing = message.contains("missing");
    if request.has_earlier_reasoning() && !is_missing {
        return Some(RequestRepair::EarlierReasoningLeftOut);
    }
    is_in_loop.then_some(RequestRepair::StepsTold)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;
    use crate::gemini::request::tests::request;
    use crate::provider::HistoryTurn;
    use turnleaf_domain::{Failure, FailureKind, Role, TurnId};

    #[test]
    fn gemini_refusal_selects_matching_repair() {
        let turn = |role, raw: &[&'static str]| HistoryTurn {
            raw: raw.iter().map(|raw| Bytes::from_static(raw.as_bytes()).into()).collect(),
            ..HistoryTurn::new(TurnId::from_uuid(Uuid::nil()), role, Vec::new())
        };
        let first = vec![turn(Role::User, &[])];
        let second = vec![turn(Role::User, &[]), turn(Role::Assistant, &["{}"]), turn(Role::User, &[])];
        let first_loop = [first.clone(), vec![turn(Role::Assistant, &["{}"])]].concat();
        let second_loop = [second.clone(), vec![turn(Role::Assistant, &["{}"])]].concat();
        let missing = "Function call is missing a thought_signature in functionCall parts. position 2";
        let (earlier, steps_as_text) = (Some(RequestRepair::EarlierReasoningLeftOut), Some(RequestRepair::StepsTold));
        for (message, history, expected) in [
            (missing, &second_loop, steps_as_text),
            (missing, &first_loop, steps_as_text),
            (missing, &second, None),
            ("Invalid thought signature.", &second, earlier),
            ("Corrupted thought signature.", &second_loop, earlier),
            ("Corrupted thought signature.", &first_loop, steps_as_text),
            ("Invalid thought signature.", &first, None),
            ("Thinking level HIGH is not supported for this model.", &second_loop, None),
        ] {
            let failure = Failure::new(FailureKind::ProviderRefusedRequest, "G").with_detail(message);
            let chat_request = request("gemini-3-pro", history.clone());
            assert_eq!(repair(&ProviderError::without_response(failure), &chat_request), expected, "{message}");
        }
    }
}
