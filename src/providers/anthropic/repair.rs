//! Recognizes refusals of Messages that another form of the same request may avoid (docs/reference/providers.md 3.6,
//! 3.8): those about thinking blocks and their signatures.

use crate::anthropic::models::ClaudeGeneration;
use crate::anthropic::request;
use crate::provider::{ChatRequest, ProviderError};
use turnleaf_domain::providers::repair::{ReasoningMembers, RequestRepair};

/// Returns the repair to send instead. Thinking of earlier replies can be omitted completely. Thinking of the reply's
/// own tool loop cannot, while the model thinks: a loop that is refused is described as text.
pub fn repair(refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    let message = refused.lowercase_text();
    // Servers without signatures require the thinking of a tool loop back (DeepSeek).
    let is_required = ["must be passed", "missing", "required"].iter().any(|part| message.contains(part));
    let is_about_member = message.contains("signature") || message.contains("field required");
    let is_in_loop = request.split_at_steps().1.is_some();
    let has_earlier = request.has_earlier_reasoning();
    if is_required && message.contains("thinking") && !is_about_member {
        return match request.reasoning_members {
            // All of it was sent, and the server still misses some.
            ReasoningMembers::Required if is_in_loop => Some(RequestRepair::StepsTold),
            ReasoningMembers::Required => has_earlier.then_some(RequestRepair::EarlierReasoningLeftOut),
            _ => request.has_reasoning().then_some(RequestRepair::ReasoningEchoed),
        };
    }
    let place = message_of(&message);
    let names_block = place.is_some() && (message.contains("thinking") || message.contains("signature"));
    let is_about_thinking = names_block
        || ["`thinking` block", "redacted_thinking", "a thinking block", "each thinking block"]
            .iter()
            .any(|part| message.contains(part));
    if !is_about_thinking {
        return None;
    }
    let names_loop = match place {
        Some(place) => place >= request::message_count_before_steps(request),
        None => !has_earlier,
    };
    // With prefix binding, signatures are valid only for an unchanged conversation before them: without the earlier
    // thinking, those of the loop would be refused next.
    let is_bound = ClaudeGeneration::from_model(&request.model).is_bound_to_prefix;
    if is_in_loop && (names_loop || is_bound) {
        return Some(RequestRepair::StepsTold);
    }
    has_earlier.then_some(RequestRepair::EarlierReasoningLeftOut)
}

/// Returns the index of the message that a refusal names (`messages.3.content.0: …`).
fn message_of(message: &str) -> Option<usize> {
    message.split("messages.").skip(1).find_map(|rest| {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;
    use uuid::Uuid;

    use super::*;
    use crate::provider::HistoryTurn;
    use turnleaf_domain::{Failure, FailureKind, Role, TurnId};

    fn turn(role: Role, raw: &[&str]) -> HistoryTurn {
        let turn = turnleaf_domain::fixtures::user_turn(1, "Hi");
        let blocks = if role == Role::User { turn.blocks } else { Vec::new() };
        HistoryTurn {
            raw: raw.iter().map(|raw| Bytes::copy_from_slice(raw.as_bytes()).into()).collect(),
            ..HistoryTurn::new(TurnId::from_uuid(Uuid::nil()), role, blocks)
        }
    }

    fn refusal(message: &str) -> ProviderError {
        let document = json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
        ProviderError {
            body: document.to_string().into(),
            ..ProviderError::without_response(Failure::new(FailureKind::ProviderRefusedRequest, "A"))
        }
    }

    #[test]
    fn anthropic_refusal_selects_matching_repair() {
        let text_reply = r#"{"type":"message","content":[{"type":"thinking","thinking":"w","signature":"s"},{"type":"text","text":"So."}],"stop_reason":"end_turn"}"#;
        let called = r#"{"type":"message","content":[{"type":"thinking","thinking":"w","signature":"s"},{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use"}"#;
        let first = vec![turn(Role::User, &[])];
        let second = vec![turn(Role::User, &[]), turn(Role::Assistant, &[text_reply]), turn(Role::User, &[])];
        let in_loop = [second.clone(), vec![turn(Role::Assistant, &[called])]].concat();
        let bound = "claude-opus-5-5";
        let (earlier, steps_as_text) = (Some(RequestRepair::EarlierReasoningLeftOut), Some(RequestRepair::StepsTold));
        let signature = |at: usize| format!("messages.{at}.content.0: Invalid `signature` in `thinking` block");
        let modified = "messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.";
        let wanted = "The `content[].thinking` in the thinking mode must be passed back to the API.";
        for (model, history, message, expected) in [
            ("claude-opus-4-5", &second, signature(1), earlier),
            ("claude-opus-4-5", &in_loop, signature(1), earlier),
            ("claude-opus-4-5", &in_loop, signature(3), steps_as_text),
            ("claude-opus-4-5", &in_loop, modified.into(), steps_as_text),
            (bound, &in_loop, signature(1), steps_as_text),
            (bound, &second, signature(1), earlier),
            ("claude-opus-4-5", &second, "messages.1.content.0.thinking.signature: Field required".into(), earlier),
            ("claude-opus-4-5", &second, "each thinking block must contain thinking".into(), earlier),
            (
                "claude-opus-4-5",
                &in_loop,
                "messages.3.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`".into(),
                steps_as_text,
            ),
            ("claude-opus-4-5", &in_loop, wanted.into(), Some(RequestRepair::ReasoningEchoed)),
            ("claude-opus-4-5", &first, wanted.into(), None),
            ("claude-opus-4-5", &first, signature(0), None),
            ("claude-opus-4-5", &second, "\"thinking.type.enabled\" is not supported for this model.".into(), None),
            ("claude-opus-4-5", &second, "`max_tokens` must be greater than `thinking.budget_tokens`.".into(), None),
            ("claude-opus-4-5", &second, "messages.1.content.0: text content blocks must be non-empty".into(), None),
            ("claude-opus-4-5", &second, "prompt is too long: 2 tokens > 1 maximum".into(), None),
        ] {
            let mut request = request::tests::request(model, history.clone());
            assert_eq!(repair(&refusal(&message), &request), expected, "{model} {message}");
            if expected == earlier {
                request.history.iter_mut().for_each(|turn| turn.leaves_out_reasoning = true);
                assert_eq!(repair(&refusal(&message), &request), None, "nothing is left to leave out: {message}");
            }
        }
        for (history, expected) in [(&in_loop, steps_as_text), (&second, earlier), (&first, None)] {
            let mut request = request::tests::request("claude-opus-4-5", history.clone());
            request.reasoning_members = ReasoningMembers::Required;
            assert_eq!(repair(&refusal(wanted), &request), expected, "all thinking was sent already");
        }
    }
}
