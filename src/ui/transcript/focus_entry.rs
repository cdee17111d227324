//! Keyboard entry points of the transcript (docs/reference/ux.md 11): F6 to the turn that is read, and from the
//! message box to the last reply.

use leptos::prelude::*;

use super::turn_heading::{LIST_ID, focus_on_turn, heading_id, turn_of_article};
use crate::browser::{focus, scroll};

/// The headings of turns, in order.
const HEADINGS: &str = ".turns [data-turn-id] > h3";
const REPLIES: &str = ".turns [data-role=assistant] > h3";

/// Focuses the turn that is read without scrolling: the last turn while the page follows its end, else the first
/// visible one. False where there is no turn.
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

/// Focuses the last reply for reading. False where there is none.
pub fn focus_last_reply() -> bool {
    focus::focus_last(REPLIES)
}

/// Opens the editor of the person's last message. False where there is none.
pub fn edit_last_message() -> bool {
    focus::press_last("[data-role=user] [data-verb=edit]")
}

/// Loads the end of the path on screen. Provided as context. Where the window ends before the path's end, the last
/// turn of the page is hundreds of turns above the one that is meant.
#[derive(Clone, Copy)]
pub struct PathEndLoader(StoredValue<Option<Callback<Callback<()>, bool>>>);

/// Provides the loader as context, without a path yet.
pub fn provide_path_end_loader() {
    provide_context(PathEndLoader(StoredValue::new(None)));
}

impl PathEndLoader {
    /// Sets the loader of the path on screen. It returns true if the end has to be loaded, and then calls its
    /// argument when the end has arrived.
    pub(super) fn set_loader(self, bring: Callback<Callback<()>, bool>) {
        self.0.set_value(Some(bring));
    }
}

/// Runs an action on the last turns once they are on the page. False where the action did not apply.
pub fn run_at_path_end(end: Option<PathEndLoader>, act: impl Fn() -> bool + Clone + Send + Sync + 'static) -> bool {
    // A path whose page is gone has no loader.
    let bring = end.and_then(|end| end.0.get_value());
    let later = act.clone();
    bring.and_then(|bring| bring.try_run(Callback::new(move |()| _ = later()))) == Some(true) || act()
}
