//! Recognizes refusals of chat completions that another form of the same request may avoid
//! (docs/reference/providers.md 5): reasoning that an endpoint requires back, and reasoning that it refuses.

use crate::openai_chat::dialect::{Dialect, ReasoningFormat, ThinkingSwitch};
use crate::openai_chat::vendor_members;
use crate::provider::{ChatRequest, ProviderError};
use turnleaf_domain::providers::repair::{ReasoningMembers, RequestRepair};

/// The members of a message that hold reasoning and whose names mean nothing else.
const REASONING_MEMBERS: [&str; 3] = ["reasoning_content", "reasoning_details", "reasoning_text"];
/// The words with which a server requires a member.
const REQUIRES: [&str; 9] = [
    "must be passed",
    "must be provided",
    "must be included",
    "must include",
    "must contain",
    "must have",
    "missing",
    "required",
    "requires",
];
/// The words with which a server refuses a member. Lists of errors contain both kinds, one for each message type that
/// was tried; then the member is refused.
const REFUSES: [&str; 17] = [
    "unsupported",
    "not supported",
    "not support",
    "unknown field",
    "unknown key",
    "unknown name",
    "unknown parameter",
    "unknown property",
    "unknown argument",
    "unrecognized",
    "unexpected",
    "extra input",
    "extra_forbidden",
    "extra field",
    "additional propert",
    "not permitted",
    "not allowed",
];

/// Returns the repair to send instead.
pub fn repair(dialect: &Dialect, refused: &ProviderError, request: &ChatRequest) -> Option<RequestRepair> {
    let message = refused.lowercase_text();
    let mentions = |parts: &[&str]| parts.iter().any(|part| message.contains(part));
    if !request.has_reasoning() {
        return None;
    }
    let names_member = names_reasoning_member(&message, dialect);
    if names_member && mentions(&REQUIRES) && !mentions(&REFUSES) {
        let is_sent = request.reasoning_members == ReasoningMembers::Required;
        let is_in_loop = request.split_at_steps().1.is_some();
        return match is_sent {
            false => Some(RequestRepair::ReasoningEchoed),
            // All of it was sent, and the server still misses some.
            true => is_in_loop.then_some(RequestRepair::StepsTold),
        };
    }
    let names_signature = mentions(&["thought_signature", "thought signature"]);
    if names_signature && mentions(&["missing"]) {
        // Only the calls of the reply that is being written need signatures.
        return request.split_at_steps().1.is_some().then_some(RequestRepair::StepsTold);
    }
    let sends_reasoning = match request.reasoning_members {
        ReasoningMembers::Unknown => dialect.reasoning_format != ReasoningFormat::Nothing,
        ReasoningMembers::Required => true,
        ReasoningMembers::Refused => false,
    };
    // Gateways forward the messages of the provider behind them.
    let is_about_seal = mentions(&["signature"]) && mentions(&["thinking", "thought", "reasoning"]);
    let is_about_vendor = dialect.sends_vendor_members && (names_signature || vendor_members::is_refused(&message));
    if is_about_vendor || (is_about_seal && sends_reasoning) {
        return Some(RequestRepair::ReasoningLeftOut);
    }
    (names_member && sends_reasoning).then_some(RequestRepair::ReasoningNotAccepted)
}

/// Returns true if a refusal, in lower case, names a member of a message that holds reasoning. `reasoning` alone counts
/// if it is quoted, or part of a path; where the request has a parameter of this name, also the messages must be named.
fn names_reasoning_member(message: &str, dialect: &Dialect) -> bool {
    let has_parameter = dialect.thinking == ThinkingSwitch::OpenRouter;
    let is_name = |(at, word): (usize, &str)| {
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        message[..at].ends_with(['\'', '"', '`', '.']) && !message[at + word.len()..].starts_with(is_of_name)
    };
    REASONING_MEMBERS.iter().any(|name| message.contains(name))
        || ((!has_parameter || message.contains("messages")) && message.match_indices("reasoning").any(is_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openai_chat::request::tests::{request, turn};
    use turnleaf_domain::{Failure, FailureKind, Role};

    #[test]
    fn chat_refusal_selects_matching_repair() {
        let turn = |role, raw: &[&str]| turn(role, Vec::new(), raw);
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
            ("generic", sealed, &second, Some(RequestRepair::ReasoningLeftOut)),
            ("groq", sealed, &second, None),
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
            chat_request.reasoning_members = ReasoningMembers::Required;
            chat_request.history.iter_mut().for_each(|turn| turn.leaves_out_reasoning = true);
            assert_eq!(repair(dialect, &refused, &chat_request), None, "{} {message}", dialect.name);
        }
    }

    #[test]
    fn refusal_and_demand_of_reasoning_member_are_distinguished() {
        let turn = |role, raw: &[&str]| turn(role, Vec::new(), raw);
        let history = vec![turn(Role::User, &[]), turn(Role::Assistant, &["{}"]), turn(Role::User, &[])];
        let (refused, demanded) = (Some(RequestRepair::ReasoningNotAccepted), Some(RequestRepair::ReasoningEchoed));
        for (dialect, message, expected) in [
            // Cerebras, Groq, OpenAI, Fireworks, FastAPI, serde, Go, JSON schema, Google.
            (
                "generic",
                "messages.2.assistant.reasoning_content: property 'messages.2.assistant.reasoning_content' is unsupported",
                refused,
            ),
            (
                "generic",
                "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
                refused,
            ),
            ("generic", "messages[3].reasoning: reasoning is not supported with this model", refused),
            ("generic", "Unknown parameter: 'messages[1].reasoning_content'.", refused),
            ("generic", "Extra inputs are not permitted, field: 'messages[2].reasoning_details', value: []", refused),
            (
                "generic",
                "[{'type': 'extra_forbidden', 'loc': ('body', 'messages', 1, 'assistant', 'reasoning'), 'msg': 'Extra inputs are not permitted'}, {'type': 'missing', 'loc': ('body', 'messages', 1, 'tool', 'tool_call_id'), 'msg': 'Field required'}]",
                refused,
            ),
            ("generic", "unknown field `reasoning`, expected one of `role`, `content`, `tool_calls`", refused),
            ("generic", "json: unknown field \"reasoning_content\"", refused),
            ("generic", "Additional properties are not allowed ('reasoning' was unexpected) - 'messages.1'", refused),
            ("generic", "Invalid JSON payload received. Unknown name \"reasoning_content\" at 'messages[1]'", refused),
            ("generic", "reasoning_content in the input leads to an error", refused),
            ("vllm", "messages[1].reasoning is not allowed", refused),
            ("openrouter", "messages.1.reasoning_details: Extra inputs are not permitted", refused),
            ("openrouter", "Unrecognized key: 'reasoning'", None),
            ("groq", "property 'reasoning_content' is unsupported", None),
            ("generic", "reasoning_effort is not supported with this model", None),
            ("generic", "This model does not support reasoning.", None),
            ("generic", "The `reasoning_content` in the thinking mode must be passed back to the API.", demanded),
            (
                "generic",
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
                demanded,
            ),
            ("openrouter", "messages[1]: `reasoning_details` is required in thinking mode", demanded),
        ] {
            let dialect = Dialect::from_name(dialect).unwrap();
            let document = serde_json::json!({"error": {"message": message, "type": "invalid_request_error"}});
            let failure = Failure::new(FailureKind::ProviderRefusedRequest, "C").with_detail(message);
            let error = ProviderError { body: document.to_string().into(), ..ProviderError::without_response(failure) };
            let mut sent_request = request("m", history.clone());
            assert_eq!(repair(dialect, &error, &sent_request), expected, "{} {message}", dialect.name);
            let Some(known) = expected else { continue };
            sent_request.reasoning_members = known.reasoning_members();
            assert_eq!(repair(dialect, &error, &sent_request), None, "known: {} {message}", dialect.name);
            // The endpoint may have changed: the newest refusal counts.
            sent_request.reasoning_members = match known.reasoning_members() {
                ReasoningMembers::Required => ReasoningMembers::Refused,
                _ => ReasoningMembers::Required,
            };
            assert_eq!(repair(dialect, &error, &sent_request), expected, "changed: {} {message}", dialect.name);
        }
    }
}
