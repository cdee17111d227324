//! Stop reasons: what the word with which a provider ends a reply means. One table serves every API, because gateways
//! pass on the words of others (`docs/reference/providers.md 2.4`).

use crate::blocks::notice::Notice;
use crate::messages::failure::FailureKind;

/// The meaning of a stop reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopMeaning {
    /// The reply, or this step of it, is finished.
    Finished,
    /// The provider paused in the middle of a long reply and continues when the reply is sent back to it.
    Paused,
    /// The reply ended early, as the notice explains. [`Notice::StoppedOtherwise`] represents unknown reasons.
    Early(Notice),
    /// The provider failed while it answered.
    Failed(FailureKind),
}

/// Normal ends. Words are compared as [`normalized`] returns them.
const FINISHED: &[&str] = &[
    "stop",
    "end_turn",
    "tool_calls",
    "tool_call",
    "tool_use",
    "tool",
    "function_call",
    "function_calls",
    "stop_sequence",
    "stop_string",
    "stopstringfound",
    "completed",
    "complete",
    "finished",
    "finish",
    "eos",
    "eos_token",
    "eosfound",
    "end",
    "endoftext",
    "done",
    "load",
    "unload",
    "success",
    "none",
    "null",
];

/// Early ends.
const EARLY: &[(&str, Notice)] = &[
    ("length", Notice::LengthReached),
    ("max_tokens", Notice::LengthReached),
    ("max_output_tokens", Notice::LengthReached),
    ("max_completion_tokens", Notice::LengthReached),
    ("max_new_tokens", Notice::LengthReached),
    ("max_length", Notice::LengthReached),
    ("maxpredictedtokensreached", Notice::LengthReached),
    ("model_length", Notice::ContextFilled),
    ("model_context_window_exceeded", Notice::ContextFilled),
    ("context_window_exceeded", Notice::ContextFilled),
    ("context_length_exceeded", Notice::ContextFilled),
    ("contextlengthreached", Notice::ContextFilled),
    ("error_limit", Notice::ContextFilled),
    ("refusal", Notice::Declined),
    ("content_filter", Notice::Filtered),
    ("content_filtered", Notice::Filtered),
    ("contentfilter", Notice::Filtered),
    ("content_policy_violation", Notice::Filtered),
    ("guardrail_intervened", Notice::Filtered),
    ("guardrails", Notice::Filtered),
    ("sensitive", Notice::Filtered),
    ("error_toxic", Notice::Filtered),
    ("safety", Notice::Filtered),
    ("recitation", Notice::Filtered),
    ("language", Notice::Filtered),
    ("blocklist", Notice::Filtered),
    ("prohibited_content", Notice::Filtered),
    ("spii", Notice::Filtered),
    ("image_safety", Notice::Filtered),
    ("image_prohibited_content", Notice::Filtered),
    ("image_recitation", Notice::Filtered),
    ("model_armor", Notice::Filtered),
    ("jailbreak", Notice::Filtered),
];

/// Failures of the provider, and replies that it could not produce.
const FAILED: &[(&str, FailureKind)] = &[
    ("error", FailureKind::ProviderError),
    ("network_error", FailureKind::ProviderError),
    ("server_error", FailureKind::ProviderError),
    ("internal_error", FailureKind::ProviderError),
    ("internal_server_error", FailureKind::ProviderError),
    ("failed", FailureKind::ProviderError),
    ("failure", FailureKind::ProviderError),
    ("timeout", FailureKind::ProviderError),
    ("abort", FailureKind::ProviderError),
    ("aborted", FailureKind::ProviderError),
    ("cancelled", FailureKind::ProviderError),
    ("canceled", FailureKind::ProviderError),
    ("user_cancel", FailureKind::ProviderError),
    ("malformed_function_call", FailureKind::ProviderError),
    ("unexpected_tool_call", FailureKind::ProviderError),
    ("too_many_tool_calls", FailureKind::ProviderError),
    ("malformed_response", FailureKind::ProviderError),
    ("missing_thought_signature", FailureKind::ProviderError),
    ("malformed_model_output", FailureKind::ProviderError),
    ("malformed_tool_use", FailureKind::ProviderError),
    ("insufficient_system_resource", FailureKind::ProviderOverloaded),
    ("overloaded", FailureKind::ProviderOverloaded),
    ("engine_overloaded", FailureKind::ProviderOverloaded),
    ("server_overloaded", FailureKind::ProviderOverloaded),
];

/// Returns the meaning of a provider's stop reason. A blank one means a normal end.
pub fn stop_meaning(reason: &str) -> StopMeaning {
    let word = normalized(reason);
    let early = || EARLY.iter().find(|(known, _)| *known == word).map(|(_, notice)| StopMeaning::Early(*notice));
    let failed = || FAILED.iter().find(|(known, _)| *known == word).map(|(_, kind)| StopMeaning::Failed(*kind));
    match word.as_str() {
        "pause_turn" => StopMeaning::Paused,
        word if word.is_empty() || FINISHED.contains(&word) => StopMeaning::Finished,
        _ => early().or_else(failed).unwrap_or(StopMeaning::Early(Notice::StoppedOtherwise)),
    }
}

/// Returns the kind of failure that a stop reason reports, if it does.
pub fn failed_stop(reason: &str) -> Option<FailureKind> {
    match stop_meaning(reason) {
        StopMeaning::Failed(kind) => Some(kind),
        _ => None,
    }
}

/// Returns a word in lower case with underscores, because APIs differ in both.
fn normalized(reason: &str) -> String {
    let reason = reason.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    reason.strip_prefix("finish_reason_").map(str::to_owned).unwrap_or(reason)
}

#[cfg(test)]
mod tests {
    use super::StopMeaning::{Early, Failed, Finished, Paused};
    use super::*;
    use Notice::{ContextFilled, Declined, Filtered, LengthReached, StoppedOtherwise};

    #[test]
    fn stop_reason_of_every_api_has_its_meaning() {
        for (reason, meaning) in [
            // Chat completions, and Ollama.
            ("stop", Finished),
            ("tool_calls", Finished),
            ("tool-calls", Finished),
            ("function_call", Finished),
            ("eos", Finished),
            ("eos_token", Finished),
            ("load", Finished),
            ("done", Finished),
            ("length", Early(LengthReached)),
            ("model_length", Early(ContextFilled)),
            ("content_filter", Early(Filtered)),
            ("content-filter", Early(Filtered)),
            ("sensitive", Early(Filtered)),
            ("network_error", Failed(FailureKind::ProviderError)),
            ("error", Failed(FailureKind::ProviderError)),
            ("abort", Failed(FailureKind::ProviderError)),
            ("insufficient_system_resource", Failed(FailureKind::ProviderOverloaded)),
            ("repetition", Early(StoppedOtherwise)),
            // Cohere.
            ("COMPLETE", Finished),
            ("STOP_SEQUENCE", Finished),
            ("ERROR_TOXIC", Early(Filtered)),
            ("ERROR_LIMIT", Early(ContextFilled)),
            ("ERROR", Failed(FailureKind::ProviderError)),
            // Responses.
            ("completed", Finished),
            ("max_output_tokens", Early(LengthReached)),
            ("incomplete", Early(StoppedOtherwise)),
            // Anthropic, and Bedrock.
            ("end_turn", Finished),
            ("tool_use", Finished),
            ("stop_sequence", Finished),
            ("pause_turn", Paused),
            ("max_tokens", Early(LengthReached)),
            ("model_context_window_exceeded", Early(ContextFilled)),
            ("refusal", Early(Declined)),
            ("guardrail_intervened", Early(Filtered)),
            ("malformed_tool_use", Failed(FailureKind::ProviderError)),
            ("quota_pause", Early(StoppedOtherwise)),
            // Gemini.
            ("STOP", Finished),
            ("MAX_TOKENS", Early(LengthReached)),
            ("SAFETY", Early(Filtered)),
            ("LANGUAGE", Early(Filtered)),
            ("PROHIBITED_CONTENT", Early(Filtered)),
            ("OTHER", Early(StoppedOtherwise)),
            ("NO_IMAGE", Early(StoppedOtherwise)),
            ("MALFORMED_FUNCTION_CALL", Failed(FailureKind::ProviderError)),
            ("UNEXPECTED_TOOL_CALL", Failed(FailureKind::ProviderError)),
            ("TOO_MANY_TOOL_CALLS", Failed(FailureKind::ProviderError)),
            ("MALFORMED_RESPONSE", Failed(FailureKind::ProviderError)),
            ("", Finished),
        ] {
            assert_eq!(stop_meaning(reason), meaning, "{reason}");
        }
    }
}
