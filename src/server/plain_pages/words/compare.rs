//! The words of the comparison of two paths, and of grafts.

use crate::domain::graft::{GraftStatus, PauseReason};
use crate::domain::{Invalid, TurnStatus};

pub use crate::ui::words::COMPARE as TITLE;

pub const CHOOSE: &str = "Branches to compare";
pub const LEFT: &str = "Left";
pub const RIGHT: &str = "Right";
pub const THIS_TURN: &str = "The message chosen before";
pub const NOT_CHOSEN: &str = "Choose a branch";
pub const COMPARE: &str = "Compare";
pub const SWAP: &str = "Swap sides";
pub const ONE_BRANCH: &str = "This chat has only one branch so far. Edit a message, try a reply again or ask the path again below to get another.";
pub const OPEN: &str = "Open";
pub const OPEN_IN_CHAT: &str = "Open in the chat";
pub const SUMMARY: &str = "Summary";
pub const SUMMARY_TABLE: &str = "What each side used and took, behind the last common message";
pub const BRANCH: &str = "Branch";
pub const MODELS: &str = "Answered by";
pub const MESSAGES: &str = "Messages";
pub const REPLIES: &str = "Replies";
pub const TOKENS_IN: &str = "Tokens in";
pub const TOKENS_OUT: &str = "Tokens out";
pub const COST: &str = "Cost, US dollars";
pub const FIRST_WORDS: &str = "First words after, on average";
pub const TOTAL_TIME: &str = "Time of all replies";
pub const TOOLS: &str = "Tools called";
pub const NO_TOOLS: &str = "none";
pub const ENDS_HERE: &str = "This side ends at the last common message: the other goes on from it.";
pub const NO_COMMON: &str = "The two paths have nothing in common: they begin with different messages.";
pub const COMMON_LINK: &str = "Open the last common message";
pub const EXCHANGES: &str = "Message by message";
pub const LEGEND: &str = "How to read this:";
pub const LEGEND_REMOVED: &str = "only on the left";
pub const LEGEND_ADDED: &str = "only on the right";
pub const REMOVED: &str = "only left: ";
pub const ADDED: &str = "only right: ";
pub const END_OF_CHANGE: &str = " (end)";
pub const SAME_MESSAGE: &str = "The same message on both sides";
pub const SAME_REPLY: &str = "Both replies are the same, word for word.";
pub const SAID: &str = "Message";
pub const REPLIED: &str = "Reply";
pub const NOTHING_HERE: &str = "This side has nothing here.";
pub const NO_MESSAGE: &str = "Another reply to the last common message.";
pub const NO_REPLY: &str = "No reply.";
pub const NO_TEXT: &str = "The reply has no text.";
pub const BY_LINES: &str = "These texts are very long, so whole lines are compared.";
pub const DIFFERENT: &str = "These texts have little in common, so their words are not marked.";
pub const FIRST: &str = "first words";
pub const WHOLE: &str = "whole reply";
pub const NEWER: &str = "Next exchanges";
pub const OLDER: &str = "Previous exchanges";
pub const PAGES: &str = "Pages of the comparison";

pub const GRAFT: &str = "Ask this path again with another model";
pub const GRAFT_HINT: &str = "Every message of the path is asked again, one after the other, on a new branch. Nothing that is there changes. It goes on by itself when you leave.";
pub const GRAFT_PATH: &str = "Path";
pub const GRAFT_MODEL: &str = "Model";
pub const GRAFT_FROM: &str = "Begin";
pub const FROM_COMMON: &str = "Behind the last common message";
pub const FROM_ROOT: &str = "At the first message of the chat";
pub const GRAFT_BEGIN: &str = "Ask again";
pub const GRAFTS: &str = "Paths asked again";
pub const GRAFT_TITLE: &str = "A path asked again";
pub const CANCEL: &str = "Cancel";
pub const CANCEL_HINT: &str = "Cancel also stops the reply that is being written.";
pub const RESUME: &str = "Resume";
pub const OPEN_NEW: &str = "Open the new branch";
pub const OPEN_OLD: &str = "Open the old path";
pub const COMPARE_BOTH: &str = "Compare the old path with the new one";
pub const TO_COMPARISON: &str = "Compare branches";
pub const REFRESHES: &str = "This page looks again by itself every few seconds.";
pub const ASK_AGAIN_HINT: &str = "Resume asks the message again whose reply is not complete, beside that reply.";
pub const GONE_ON: &str = "Nothing more comes of it; the branch stays and you can go on with it in the chat.";

/// What a text is marked for: more than this in common.
pub const LITTLE: u8 = 25;

pub fn common(turns: usize) -> String {
    match turns {
        1 => "The two paths share their first message.".to_owned(),
        turns => format!("The two paths share their first {turns} messages and replies."),
    }
}

pub fn exchange(number: usize) -> String {
    format!("Exchange {number}")
}

pub fn range(first: usize, last: usize, total: usize) -> String {
    format!("Exchanges {first} to {last} of {total}")
}

pub fn same(percent: u8) -> String {
    format!("{percent} % the same")
}

/// Behind "Open in the chat", for who does not see where the link stands.
pub fn of_exchange(number: usize, side: &str) -> String {
    format!(": exchange {number}, {} side", side.to_lowercase())
}

pub fn calls(name: &str, calls: usize) -> String {
    if calls == 1 { name.to_owned() } else { format!("{name} × {calls}") }
}

pub fn unfinished(counts: impl Iterator<Item = (&'static str, usize)>) -> String {
    let words = counts.map(|(status, count)| {
        let word = TurnStatus::parse(status).and_then(crate::ui::words::transcript::ending).unwrap_or(status);
        format!("{count} {word}")
    });
    words.collect::<Vec<_>>().join(", ")
}

pub fn invalid(invalid: &Invalid) -> String {
    match (invalid.field.as_str(), invalid.reason.as_str()) {
        (_, "this is the same turn as the left one") => "Choose two different branches.".to_owned(),
        (_, "this turn belongs to another chat") => {
            "A turn of another chat cannot be compared with this one.".to_owned()
        }
        _ => invalid.to_string(),
    }
}

/// Why a graft was refused, by the code in the address.
pub fn refused(code: &str) -> String {
    match code {
        "nothing_to_ask" => "There is no message on this path to ask again.",
        "graft_too_long" => "This path has more messages than are asked again in one go.",
        "too_many_branches" => "This chat has as many branches as a chat can have.",
        "too_many_siblings" => "There are as many versions of this message as a chat can have.",
        "turn_running" => "Wait until the reply before the first message is complete.",
        "too_many" => "Too many replies run at once. Try again in a moment.",
        "model" => "This model cannot be used here. Choose another one.",
        "not_paused" => "This is not paused any more.",
        _ => "This could not be asked again.",
    }
    .to_owned()
}

pub fn progress(status: GraftStatus, asked: u32, total: usize) -> String {
    match status {
        GraftStatus::Running => format!("Message {asked} of {total} is being answered"),
        GraftStatus::Paused => format!("Paused at message {} of {total}", asked.max(1)),
        GraftStatus::Done if total == 1 => "The message was asked and answered".to_owned(),
        GraftStatus::Done => format!("All {total} messages were asked and answered"),
        GraftStatus::Cancelled => format!("Cancelled after message {asked} of {total}"),
    }
}

pub fn reason(reason: PauseReason) -> &'static str {
    match reason {
        PauseReason::ReplyFailed => "The last reply failed.",
        PauseReason::ReplyStopped => "The last reply was stopped.",
        PauseReason::ServerRestarted => "The server restarted. Nothing is asked again by itself after that.",
        PauseReason::LimitReached => "A limit of the chat is reached.",
        PauseReason::ModelUnavailable => "The model's provider is not configured on this server any more.",
        PauseReason::Busy => "Too many replies ran at once.",
        PauseReason::Gone => "A message or reply that it needs was deleted.",
        PauseReason::Refused => "The next message could not be asked.",
        PauseReason::Internal => "Something went wrong on this server.",
    }
}

pub fn graft_of(branch: &str) -> String {
    format!("On the branch “{branch}”")
}

/// Of a stretch that both texts have.
pub fn same_lines(count: usize) -> String {
    format!("{count} lines are the same")
}
