//! The English sentences of older versions, which stored no code or no arguments beside them. They are recognized, so
//! that an old row is shown like a new one. Only sentences that changed are listed; the current ones are recognized by
//! the templates of their codes.

/// A code and the template of its English sentence.
pub(crate) type OldSentence = (&'static str, &'static str);

const LIMIT: &str = "Reached a limit set on this server.";

pub(crate) const FAILURES: &[OldSentence] = &[
    ("provider_auth", "The key for {provider} was refused."),
    ("provider_overloaded", "{provider} is overloaded. The reply up to here is kept."),
    ("provider_error", "{provider} failed while answering."),
    ("provider_refused_request", "{provider} refused the request."),
    ("provider_truncated", "The connection to {provider} broke off."),
    ("provider_protocol", "{provider} sent something that is not a reply."),
    ("limit_event", LIMIT),
    ("limit_output", LIMIT),
    ("limit_rounds", LIMIT),
    ("limit_tool_args", LIMIT),
    ("limit_time", LIMIT),
    ("server_restarted", "The server restarted while answering."),
];

pub(crate) const PAUSE_AFTER_ROUNDS: &str = "Paused after asking for tools {rounds} times.";

pub(crate) const DROP_REASONS: &[OldSentence] = &[
    ("temperature_or_top_p", "this model takes temperature or top_p, not both"),
    ("unsupported_while_thinking", "this model does not take it while it thinks"),
    ("unsupported_without_thinking", "this model does not take it unless it thinks"),
    ("unsupported", "this model does not take it"),
    ("no_room_for_budget", "it leaves no room for the budget of thinking"),
    ("other_level", "this model does not take \"{requested}\", it gets \"{sent}\""),
];

pub(crate) const APPROVAL_NOTES: &[OldSentence] = &[
    ("description_changed", "Its description changed since this chat got it."),
    ("changed_since_trusted", "Its description is not the one that the configuration file was taken to trust."),
    ("untrusted_text", "The chat holds text that you did not write, which may be what asks for this."),
    ("unnamed_host", "The chat holds text that you did not write, and no message of yours names {host}."),
];

pub(crate) const IMPORT_FINDINGS: &[OldSentence] = &[
    ("no_messages", "the conversation has no messages"),
    ("parent_missing", "its parent is missing: it starts a path of its own"),
    ("deepseek", "it is a conversation of DeepSeek, which Turnleaf cannot import"),
];
