//! The words of the transcript, in English. Whole sentences with their numbers in them, so that another language can
//! put them in its own order and use its own plurals.

use crate::domain::segment::ReasoningBlock;
use crate::domain::usage::Usage;
use crate::domain::{FailureKind, TurnStatus};

mod tool;

pub use tool::*;

pub const YOU: &str = "You";
pub const ASSISTANT: &str = "Assistant";
pub const SYSTEM: &str = "System";

/// The line between the turns of one model and those of another.
pub fn switched_to(model: &str) -> String {
    format!("switched to {model} · earlier replies are sent as plain text")
}
pub const TRANSCRIPT: &str = "Messages";
pub const EMPTY_REPLY: &str = "The reply is empty.";
pub const STOPPED_BY_YOU: &str = "Stopped by you";
pub const COPY_REPLY: &str = "Copy reply";
pub const COPY_MESSAGE: &str = "Copy message";
pub const COPY_PLAIN: &str = "Copy as plain text";
pub const COPY_WITH_REASONING: &str = "Copy with reasoning";
pub const MORE: &str = "More";
pub const WHAT_WAS_SENT: &str = "What the model was shown";
pub const LINK_TO_TURN: &str = "Link to this message";
pub const COPY_REASONING: &str = "Copy reasoning";
pub const COPY_FAILED: &str = "Could not copy. Select the text and copy it with the keyboard.";
pub const VERSIONS: &str = "Versions";
pub const EDIT_MESSAGE: &str = "Edit your message";
pub const EDIT_REPLY: &str = "Edit as new version";
pub const EDIT_REPLY_HINT: &str =
    "This becomes a version of the reply in your words. It and what was said before it are sent as plain text.";
pub const SAVE_VERSION: &str = "Save as new version";
pub const EDITED_BY_YOU: &str = "Edited by you · this and earlier replies are sent as plain text";
pub const EDITED: &str = "edited by you";
pub const BRANCH: &str = "Branch";
pub const RETRY_WITH: &str = "Try again with…";
pub const RETRY_WITH_HINT: &str = "Another reply to the same message, on a branch of its own.";
pub const COPY_TO_CHAT: &str = "Copy to new chat";
pub const TURN_GONE: &str = "The message at this address was deleted. This is what is left near it.";
pub const CHAT_GONE: &str = "This chat was deleted.";
pub const CONTINUE_FROM_HERE: &str = "Continue from here";
pub const SHOW: &str = "Show";
pub const OTHER_VERSION_RUNS: &str = "Another version is being written";

/// What a path that was cut off hides until something is sent.
pub fn hides_below(turns: u64) -> String {
    match turns {
        0 => "What you send next follows this reply.".to_owned(),
        1 => "1 message below is hidden; it stays on its branch.".to_owned(),
        n => format!("{n} messages below are hidden; they stay on their branch."),
    }
}

/// What is newer than the path on screen.
pub fn newer_elsewhere(turns: u64) -> String {
    if turns == 1 {
        "1 newer message is on another version".to_owned()
    } else {
        format!("{turns} newer messages are on another version")
    }
}

/// Where a copied chat comes from.
pub fn copied_from(title: &str) -> String {
    if title.is_empty() { "Copied from another chat".to_owned() } else { format!("Copied from “{title}”") }
}

/// How a version goes on.
pub fn continues_with(turns: u64) -> Option<String> {
    match turns {
        0 => None,
        1 => Some("continues with 1 message".to_owned()),
        n => Some(format!("continues with {n} messages")),
    }
}
pub const PREVIOUS_VERSION: &str = "Previous version";
pub const NEXT_VERSION: &str = "Next version";
pub const LOAD_OLDER: &str = "Load older messages";
pub const LOAD_NEWER: &str = "Load newer messages";
pub const OLDER_FAILED: &str = "Could not load older messages.";
pub const NEWER_FAILED: &str = "Could not load newer messages.";
pub const LATEST: &str = "Latest";
pub const NEW_TEXT: &str = "New text";
pub const TO_LATEST: &str = "Go to latest";
pub const TO_LATEST_RUNNING: &str = "Go to latest, reply in progress";
pub const HIDDEN_REASONING: &str = "The provider keeps the words of this reasoning to itself.";
pub const THINKING_STATUS: &str = "Thinking…";
pub const CAN_LEAVE: &str = "You can leave; it will go on.";
pub const WAITING_FOR_FIRST: &str = "connected, waiting for the first words";
pub const DETAILS: &str = "Details";
pub const COPY_DETAILS: &str = "Copy details";
pub const CODE: &str = "Code";
pub const PROVIDER_SAID: &str = "The provider said";
pub const REQUESTED_MODEL: &str = "Model";
pub const TURN: &str = "Turn";
pub const IMAGE: &str = "Image";
pub const REFERENCE: &str = "Reference";

/// How a reply ended, for its heading; nothing for one that is as it should be.
pub fn ending(status: TurnStatus) -> Option<&'static str> {
    match status {
        TurnStatus::Cancelled => Some("stopped"),
        TurnStatus::Error => Some("failed"),
        TurnStatus::Pending | TurnStatus::Streaming | TurnStatus::WaitingSubagents => Some("in progress"),
        TurnStatus::Complete => None,
    }
}

/// Whole seconds the way people say them: "12 s", "1 min 5 s", "2 h 3 min".
pub fn seconds(seconds: u64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    match (minutes / 60, minutes % 60, rest) {
        (0, 0, rest) => format!("{rest} s"),
        (0, minutes, 0) => format!("{minutes} min"),
        (0, minutes, rest) => format!("{minutes} min {rest} s"),
        (hours, 0, _) => format!("{hours} h"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// A measured time: tenths below ten seconds, whole seconds above.
pub fn took(ms: u64) -> String {
    if ms < 50 {
        return "<0.1 s".to_owned();
    }
    if ms < 9_950 { format!("{}.{} s", (ms + 50) / 1000, (ms + 50) % 1000 / 100) } else { seconds((ms + 500) / 1000) }
}

/// "1 tool call", "3 tool calls, 1 failed".
pub fn tool_calls(calls: usize, failed: usize) -> String {
    let calls = if calls == 1 { "1 tool call".to_owned() } else { format!("{calls} tool calls") };
    if failed == 0 { calls } else { format!("{calls}, {failed} failed") }
}

/// Why a reasoning block ended before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutOff {
    Stopped,
    ConnectionLost,
    ServerRestarted,
    Failed,
}

/// What a reasoning block is called: "Thinking: checking the offsets" while it grows, "Thought for 12 s · 3 tool calls"
/// afterwards.
pub fn reasoning(block: &ReasoningBlock, is_streaming: bool, cut_off: Option<CutOff>) -> String {
    if is_streaming {
        return match &block.title {
            Some(title) => format!("Thinking: {title}"),
            None => THINKING_STATUS.to_owned(),
        };
    }
    let mut label = match block.duration_ms {
        None => "Thought".to_owned(),
        Some(ms) if ms < 1_000 => "Thought briefly".to_owned(),
        Some(ms) => format!("Thought for {}", seconds((ms + 500) / 1000)),
    };
    let mut also = |words: &str| {
        label.push_str(" · ");
        label.push_str(words);
    };
    if block.tool_calls > 0 {
        also(&tool_calls(block.tool_calls, block.failed_tool_calls));
    }
    if !block.has_text && cut_off.is_none() {
        also("hidden by the provider");
    }
    match cut_off {
        Some(CutOff::Stopped) => also("stopped"),
        Some(CutOff::ConnectionLost) => also("connection lost"),
        Some(CutOff::ServerRestarted) => also("server restarted"),
        Some(CutOff::Failed) => also("failed"),
        None => {}
    }
    label
}

/// A number with its thousands apart: "1 204", with a narrow space that does not break.
pub fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut spaced = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            spaced.push('\u{202f}');
        }
        spaced.push(digit);
    }
    spaced
}

/// All that the provider said of a reply's tokens, in one line.
pub fn usage(usage: &Usage) -> String {
    let part = |name: &str, count: Option<u64>| count.map(|count| format!("{name} {}", number(count)));
    [
        part("input", usage.input_tokens),
        part("read from cache", usage.cache_read_tokens),
        part("written to cache", usage.cache_write_tokens),
        part("output", usage.output_tokens),
        part("of it reasoning", usage.reasoning_tokens),
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" · ")
}

/// "2/3".
pub fn version_of(number: usize, count: usize) -> String {
    format!("{number}/{count}")
}

/// "Attempt 2 of 3".
pub fn attempt(number: u32, of: u32) -> String {
    format!("Attempt {number} of {of}")
}

/// When a waiting retry goes on.
pub fn next_try(wait_ms: u64) -> String {
    format!("Next try in {}.", took(wait_ms))
}

/// What the person can do about a failure, if there is something.
pub fn next_step(kind: FailureKind) -> Option<&'static str> {
    use FailureKind as Kind;
    Some(match kind {
        Kind::ProviderUnreachable => "Check the network and the provider's address, then try again.",
        Kind::ProviderAuth => "Replace the key on the server, then try again.",
        Kind::ProviderQuota => "Add credit at the provider, or use another one.",
        Kind::ProviderRateLimited | Kind::ProviderOverloaded => "Wait a moment, then try again.",
        Kind::ModelNotFound => "Start a chat with another model.",
        Kind::ContextTooLong => "Start a new chat, or go on from an earlier message.",
        Kind::ContentFiltered => "Say it differently.",
        Kind::ProviderTruncated | Kind::ProviderStalled | Kind::ServerRestarted => {
            "What had come is kept. Try again for a new version."
        }
        Kind::LimitEvent | Kind::LimitOutput | Kind::LimitRounds | Kind::LimitToolArgs | Kind::LimitTime => {
            "What had come is kept."
        }
        Kind::StorageFull => "Free some space on the server's disk, then try again.",
        Kind::ProviderError
        | Kind::ProviderRefusedRequest
        | Kind::ProviderProtocol
        | Kind::Internal
        | Kind::Unknown => return None,
    })
}

/// Announcements (ux.md 12).
pub mod say {
    pub const THINKING: &str = "Assistant is thinking.";
    pub const ANSWERING: &str = "Assistant is answering.";

    pub fn still(is_thinking: bool, seconds: u64) -> String {
        let what = if is_thinking { "thinking" } else { "answering" };
        format!("Still {what}, {seconds} seconds.")
    }

    pub fn using(tool: &str) -> String {
        format!("Using {tool}.")
    }

    pub fn asks_permission(tool: &str) -> String {
        format!("{tool} asks for permission. Press F6 to review.")
    }

    pub fn paused(why: &str) -> String {
        format!("{why} Press F6 to review.")
    }

    pub fn reply(text: &str) -> String {
        format!("Reply: {text}")
    }

    pub fn complete(words: usize) -> String {
        if words == 1 { "Reply complete, 1 word.".to_owned() } else { format!("Reply complete, {words} words.") }
    }

    pub fn failed(title: &str) -> String {
        format!("Reply failed: {title}")
    }

    pub fn version(number: usize, of: usize, followed_by: u64) -> String {
        match followed_by {
            0 => format!("Version {number} of {of}."),
            1 => format!("Version {number} of {of}, followed by 1 message."),
            n => format!("Version {number} of {of}, followed by {n} messages."),
        }
    }
}

#[cfg(test)]
mod tests;
