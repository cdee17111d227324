//! The ways into the transcript by keys (ux.md 11): F6 to what is read, and from the message box to the last reply.

use super::turn_heading::{heading_id, turn_of};
use super::{LIST_ID, focus_on_turn};
use crate::browser::{focus, scroll};

/// The headings of turns, in order.
const HEADINGS: &str = ".turns [data-turn-id] > h3";
const REPLIES: &str = ".turns [data-role=assistant] > h3";

/// Gives the focus to the turn that is read, and leaves the page where it is: while the page follows its end that is the
/// last turn, else the first one in view. False where there is no turn.
pub fn enter() -> bool {
    let seen = if scroll::is_following() { None } else { scroll::first_seen(LIST_ID) };
    match seen.and_then(|article| turn_of(&article)) {
        Some(turn) => {
            focus_on_turn(turn);
            focus::is_within(&format!("#{}", heading_id(turn)))
        }
        None => focus::quietly_on_last(HEADINGS),
    }
}

/// Goes to the last reply, to read it. False where there is none.
pub fn to_last_reply() -> bool {
    focus::on_last(REPLIES)
}
