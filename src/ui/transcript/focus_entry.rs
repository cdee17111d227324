//! The ways into the transcript by keys (ux.md 11): F6 to what is read, and from the message box to the last reply.

use leptos::prelude::*;

use super::turn_heading::{LIST_ID, focus_on_turn, heading_id, turn_of_article};
use crate::browser::{focus, scroll};

/// The headings of turns, in order.
const HEADINGS: &str = ".turns [data-turn-id] > h3";
const REPLIES: &str = ".turns [data-role=assistant] > h3";

/// Gives the focus to the turn that is read, and leaves the page where it is: while the page follows its end that is the
/// last turn, else the first one in view. False where there is no turn.
pub fn focus_read_turn() -> bool {
    let seen = if scroll::is_following() { None } else { scroll::first_visible_id(LIST_ID) };
    match seen.and_then(|article| turn_of_article(&article)) {
        Some(turn) => {
            focus_on_turn(turn);
            focus::is_within(&format!("#{}", heading_id(turn)))
        }
        None => focus::focus_last_without_scroll(HEADINGS),
    }
}

/// Goes to the last reply, to read it. False where there is none.
pub fn focus_last_reply() -> bool {
    focus::focus_last(REPLIES)
}

/// Opens the person's last message to be edited. False where there is none.
pub fn edit_last_message() -> bool {
    focus::press_last("[data-role=user] [data-verb=edit]")
}

/// The way to the end of the path on screen; in context. Where a page holds a stretch of the path that ends before it, what
/// is last on the page is hundreds of turns above what somebody means who asks for the last.
#[derive(Clone, Copy)]
pub struct PathEndLoader(StoredValue<Option<Callback<Callback<()>, bool>>>);

/// Puts it into the context; there is no path yet.
pub fn provide_path_end_loader() {
    provide_context(PathEndLoader(StoredValue::new(None)));
}

impl PathEndLoader {
    /// Is told how the end of the path on screen is brought, if it is not there: true then, and what it is given is done
    /// when the end has come.
    pub(super) fn set_loader(self, bring: Callback<Callback<()>, bool>) {
        self.0.set_value(Some(bring));
    }
}

/// Does what is about the last turns when they are on the page. False where there was nothing to be done.
pub fn run_at_path_end(end: Option<PathEndLoader>, act: impl Fn() -> bool + Clone + Send + Sync + 'static) -> bool {
    // A path whose page is gone brings nothing.
    let bring = end.and_then(|end| end.0.get_value());
    let later = act.clone();
    bring.and_then(|bring| bring.try_run(Callback::new(move |()| _ = later()))) == Some(true) || act()
}
