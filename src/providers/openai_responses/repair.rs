//! Recognizes refusals of Responses that another form of the same request may avoid
//! (docs/reference/providers.md 6.6): reasoning items without the item that must follow or precede them, encrypted
//! reasoning that this account cannot decrypt, item ids that are not found, and a kept response that the provider
//! does not know or cannot continue.

use crate::provider::{ChatRequest, ProviderError};
use turnleaf_domain::providers::repair::RequestRepair;

/// Returns the repair to send instead: the whole path if the request continued from a kept response; otherwise a
/// request without everything that the server would look up or decrypt, as after a model break.
pub fn repair(refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    let message = refused.lowercase_text();
    let mentions = |parts: &[&str]| parts.iter().all(|part| message.contains(part));
    let is_about_previous = mentions(&["previous_response"])
        || mentions(&["previous response"])
        || mentions(&["response with id", "not found"])
        // The kept response has other calls or items than this request assumes.
        || mentions(&["no tool call found"])
        || mentions(&["no tool output found"])
        || mentions(&["duplicate item found"]);
    if is_about_previous && request.previous_response.is_some() {
        return Some(RequestRepair::SentWhole);
    }
    let is_about_reasoning = mentions(&["without its required"])
        || mentions(&["invalid_encrypted_content"])
        || mentions(&["encrypted content", "could not be"])
        || mentions(&["encrypted_content", "could not be"])
        || mentions(&["item with id", "not found"])
        || mentions(&["items are not persisted"]);
    (is_about_reasoning && request.has_reasoning()).then_some(RequestRepair::ReasoningLeftOut)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;
    use crate::openai_responses::request::tests::request;
    use crate::provider::HistoryTurn;
    use turnleaf_domain::providers::repair::KeptResponse;
    use turnleaf_domain::{Failure, FailureKind, Role, TurnId};

    #[test]
    fn responses_refusal_selects_matching_repair() {
        let turn = |role, raw: &[&'static str]| HistoryTurn {
            raw: raw.iter().map(|raw| Bytes::from_static(raw.as_bytes()).into()).collect(),
            ..HistoryTurn::new(TurnId::from_uuid(Uuid::nil()), role, Vec::new())
        };
        let mut chat_request =
            request("gpt-5", vec![turn(Role::User, &[]), turn(Role::Assistant, &["{}"]), turn(Role::User, &[])]);
        let refusal = |message: &str| {
            let failure = Failure::new(FailureKind::ProviderRefusedRequest, "O").with_detail(message);
            ProviderError::without_response(failure)
        };
        let about_reasoning = [
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
            "The encrypted content for item rs_1 could not be verified. Reason: Encrypted content could not be decrypted.",
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false.",
            "invalid_encrypted_content",
        ];
        for message in about_reasoning {
            assert_eq!(repair(&refusal(message), &chat_request), Some(RequestRepair::ReasoningLeftOut), "{message}");
        }
        for message in ["No tool output found for function call call_1.", "The model `gpt-9` does not exist", ""] {
            assert_eq!(repair(&refusal(message), &chat_request), None, "{message}");
        }
        let about_previous = [
            "Previous response with id 'resp_1' not found.",
            "previous_response_not_found",
            "Unsupported parameter: previous_response_id",
            "Previous response cannot be used for this organization due to Zero Data Retention.",
            "Response with id 'resp_1' not found.",
            "No tool call found for function call output with call_id call_1.",
            "Duplicate item found with id rs_1. Remove duplicate items from your input and try again.",
        ];
        for message in about_previous {
            assert_eq!(repair(&refusal(message), &chat_request), None, "{message}: the whole path was sent");
        }
        let kept = KeptResponse { turn_id: chat_request.history[1].turn_id, response_id: "resp_1".into() };
        chat_request.previous_response = Some(kept);
        for message in about_previous {
            assert_eq!(repair(&refusal(message), &chat_request), Some(RequestRepair::SentWhole), "{message}");
        }
        assert_eq!(repair(&refusal(about_reasoning[0]), &chat_request), Some(RequestRepair::ReasoningLeftOut));
        assert_eq!(repair(&refusal("The model `gpt-9` does not exist"), &chat_request), None);
        chat_request.previous_response = None;
        chat_request.history[1].leaves_out_reasoning = true;
        for message in about_reasoning {
            assert_eq!(repair(&refusal(message), &chat_request), None, "{message}");
        }
        chat_request.history.push(turn(Role::Assistant, &["{}"]));
        assert_eq!(repair(&refusal(about_reasoning[0]), &chat_request), Some(RequestRepair::ReasoningLeftOut));
    }
}
