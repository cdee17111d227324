//! Recognizes refusals of chat completions that another form of the same request may avoid
//! (docs/reference/providers.md 5): reasoning that an endpoint requires back, and reasoning that it refuses.

use crate::openai_chat::dialect::{Dialect, ReasoningFormat};
use crate::openai_chat::vendor_members;
use crate::provider::{ChatRequest, ProviderError};
use turnleaf_domain::repair::RequestRepair;

/// Returns the repair to send instead.
pub fn repair(dialect: &Dialect, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    let message = refused.lowercase_text();
    let mentions = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    let has_reasoning = request.has_reasoning();
    if mentions(&["reasoning_content"]) && mentions(&["must be passed", "missing", "required"]) {
        return (has_reasoning && !request.echoes_reasoning).then_some(RequestRepair::ReasoningEchoed);
    }
    if mentions(&["thought_signature", "thought signature"]) && mentions(&["missing"]) {
        // Only the calls of the reply that is being written need signatures.
        return request.split_at_steps().1.is_some().then_some(RequestRepair::StepsTold);
    }
    // Gateways forward the messages of the provider behind them.
    let is_about_seal = mentions(&["signature"]) && mentions(&["thinking", "thought", "reasoning"]);
    let sends_reasoning = dialect.reasoning_format != ReasoningFormat::Nothing || request.echoes_reasoning;
    let is_about_members = dialect.sends_vendor_members
        && (mentions(&["thought_signature", "thought signature"]) || vendor_members::is_refused(&message));
    let is_about_reasoning = is_about_members || (is_about_seal && sends_reasoning);
    (is_about_reasoning && has_reasoning).then_some(RequestRepair::ReasoningLeftOut)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use uuid::Uuid;

    use super::*;
    use crate::openai_chat::request::tests::request;
    use crate::provider::HistoryTurn;
    use turnleaf_domain::{Failure, FailureKind, Role, TurnId};

    #[test]
    fn chat_refusal_selects_matching_repair() {
        let turn = |role, raw: &[&'static str]| HistoryTurn {
            turn_id: TurnId::from_uuid(Uuid::nil()),
            role,
            blocks: Vec::new().into(),
            raw: raw.iter().map(|raw| Bytes::from_static(raw.as_bytes()).into()).collect(),
            leaves_out_reasoning: false,
            attached: Default::default(),
        };
        let first = vec![turn(Role::User, &[])];
        let second = vec![turn(Role::User, &[]), turn(Role::Assistant, &["{}"]), turn(Role::User, &[])];
        let in_loop = [second.clone(), vec![turn(Role::Assistant, &["{}"])]].concat();
        let unsigned = "Function call is missing a thought_signature in functionCall parts. position 2";
        let wanted = "The `reasoning_content` in the thinking mode must be passed back to the API.";
        let sealed = "messages.1.content.0: Invalid `signature` in `thinking` block";
        for (dialect, message, history, expected) in [
            ("deepseek", wanted, &second, Some(RequestRepair::ReasoningEchoed)),
            ("generic", wanted, &second, Some(RequestRepair::ReasoningEchoed)),
            ("generic", wanted, &first, None),
            ("openrouter", sealed, &second, Some(RequestRepair::ReasoningLeftOut)),
            ("openrouter", sealed, &first, None),
            ("generic", sealed, &second, None),
            ("generic", unsigned, &in_loop, Some(RequestRepair::StepsTold)),
            ("generic", unsigned, &second, None),
            ("generic", "Corrupted thought signature.", &second, Some(RequestRepair::ReasoningLeftOut)),
            ("generic", "messages[1].extra_content: unknown field", &second, Some(RequestRepair::ReasoningLeftOut)),
            ("openai", "messages[1].extra_content: unknown field", &second, None),
            ("openai", "Unknown parameter: 'reasoning'.", &second, None),
        ] {
            let dialect = Dialect::from_name(dialect).unwrap();
            let failure = Failure::new(FailureKind::ProviderRefusedRequest, "C").with_detail(message);
            let refused = ProviderError::without_response(failure);
            let mut chat_request = request("m", history.clone());
            assert_eq!(repair(dialect, &refused, &chat_request), expected, "{} {message}", dialect.name);
            chat_request.echoes_reasoning = true;
            chat_request.history.iter_mut().for_each(|turn| turn.leaves_out_reasoning = true);
            if message == unsigned {
                continue;
            }
            assert_eq!(repair(dialect, &refused, &chat_request), None, "{} {message}", dialect.name);
        }
    }
}
