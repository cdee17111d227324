//! The words of the page of what a reply's requests were made of.

use crate::domain::TurnStatus;
use crate::domain::attachment::ShownAs;
use crate::domain::context::{Mode, Reason};
use crate::server::service::generations::GenerationStatus;
use crate::ui::words::spent;

pub use crate::ui::words::transcript::WHAT_WAS_SENT as TITLE;
pub use crate::ui::words::tree::{NO_TEXT as NO_WORDS, role as who};

pub const LEAD: &str = "Every message that went to the model for this reply, in its order: in which form, and which version of what was attached. The system prompt and the descriptions of the tools go along, and are not listed here.";
pub const NOT_YET: &str = "Nothing was sent up to now.";
pub const FAILED_BEFORE: &str = "The reply failed before anything was sent.";
pub const NOTHING: &str = "No model was asked for this: a person wrote it, or it was brought from elsewhere.";
pub const REQUESTS: &str = "Requests";
pub const FACTS: &str = "The request";
pub const MODEL: &str = "Model";
pub const ANSWERED_BY: &str = "Answered by";
pub const SENT_AT: &str = "Sent";
pub const FIRST_WORDS: &str = "First words after";
pub const ENDED: &str = "Ended";
pub const TOKENS: &str = "Tokens";
pub const COST: &str = "Cost";
pub const LEFT_OUT: &str = "Parameters";
pub const REPAIRED: &str = "Sent again";
pub const GOES_ON: &str = "Goes on from";
pub const MESSAGES: &str = "Messages in it";
pub const NOT_ON_PATH: &str = "(not on this path any more)";
pub const UNREADABLE: &str = "What went into this request was written down by another version of Turnleaf, and cannot be shown here. It is in the JSON.";
pub const BYTES: &str = "The provider's answer, byte for byte";
pub const AS_JSON: &str = "All of this as JSON";

pub fn request(number: usize) -> String {
    format!("Request {number}")
}

/// Which of them is shown.
pub fn request_of(number: usize, all: usize) -> String {
    if all == 1 { FACTS.to_owned() } else { format!("Request {number} of {all}") }
}

/// How a turn went into the request, and why so.
pub fn how(mode: Mode, reason: Reason) -> &'static str {
    match (mode, reason) {
        (_, Reason::SameLock) => "as the provider wrote it",
        (Mode::Omitted, Reason::KeptByProvider) => "kept by the provider, not sent again",
        (_, Reason::KeptByProvider) => "only what is new; the provider keeps the rest",
        (Mode::Omitted, Reason::Empty) => "not sent: nothing in it",
        (Mode::Omitted, _) => "not sent",
        (_, Reason::FromBlocks) => "as it was written",
        (_, Reason::ModelBreak) => "as plain text: another model wrote it",
        (_, Reason::Edited) => "as plain text: a person changed it",
        (_, Reason::BehindModelBreak) => "as plain text: before a change of model",
        (_, Reason::Partial) => "the parts that came whole: it broke off",
        (_, Reason::OwnSteps) => "this reply's own steps so far",
        (_, Reason::RawMissing) => "from its blocks: the provider's bytes are not kept",
        (_, Reason::Empty) => "empty",
    }
}

/// What of a turn stayed behind.
pub fn left_out(blocks: u32) -> Option<String> {
    match blocks {
        0 => None,
        1 => Some("1 block left out".to_owned()),
        _ => Some(format!("{blocks} blocks left out")),
    }
}

/// Older messages that have no row.
pub fn earlier(count: usize, tokens: u64) -> String {
    let messages = if count == 1 { "1 earlier message".to_owned() } else { format!("{count} earlier messages") };
    format!("Before these went {messages}, ≈ {} tokens; each is in the JSON.", spent::short(tokens))
}

pub fn shown_as(how: ShownAs) -> &'static str {
    match how {
        ShownAs::Text => "as text",
        ShownAs::Image => "as an image",
        ShownAs::AltText => "as words: its alternative text",
        ShownAs::Deleted => "not there any more: only a line that says so",
    }
}

pub fn version_of(moment: &str) -> String {
    format!("version of {moment}")
}

/// Lines where they are known, and the characters that they are, from 1, both included.
pub fn range(lines: Option<(u64, u64)>, selection: Option<(u64, u64)>) -> String {
    let Some((from, to)) = selection else { return "all of it".to_owned() };
    let characters = format!("characters {}–{to}", from + 1);
    match lines {
        Some((first, last)) if first == last => format!("line {first}, {characters}"),
        Some((first, last)) => format!("lines {first}–{last}, {characters}"),
        None => characters,
    }
}

pub fn tokens(count: u64) -> String {
    format!("≈ {} tokens", spent::short(count))
}

/// Begins with the sum that was counted by the provider.
pub fn cached(count: u64) -> String {
    format!("{} of it from cache", spent::short(count))
}

pub fn reasoning(count: u64) -> String {
    format!("{} of it reasoning", spent::short(count))
}

pub fn ended(status: GenerationStatus, stop_reason: Option<&str>) -> String {
    let word = match status {
        GenerationStatus::Running => "still running",
        GenerationStatus::Complete => "complete",
        GenerationStatus::Cancelled => "stopped",
        GenerationStatus::Error => "failed",
    };
    match stop_reason {
        Some(reason) => format!("{word} ({reason})"),
        None => word.to_owned(),
    }
}

/// "0.8 s"
pub fn seconds(milliseconds: i64) -> String {
    format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100)
}

pub fn bytes(count: u64) -> String {
    format!("{BYTES} ({} KB)", count.div_ceil(1_000))
}

/// Beside the link back.
pub fn of_reply(status: TurnStatus) -> Option<&'static str> {
    (!status.is_terminal()).then_some("The reply is not over; this page shows what was sent up to now.")
}

/// Why there is no request.
pub fn nothing(status: TurnStatus, has_failed: bool) -> &'static str {
    match status {
        _ if !status.is_terminal() => NOT_YET,
        _ if has_failed => FAILED_BEFORE,
        _ => NOTHING,
    }
}
