//! A reply that began here: what the transcript shows of it at once.

use leptos::prelude::*;

use crate::api::view::{PathDirection, StartedReply};
use crate::browser::{focus, media};
use crate::ui::state::{ChatState, PathNavigation, ReaderPosition};
use crate::ui::transcript::load_more::trim;
use crate::ui::transcript::show_sent;

/// A message that is on its way, and where its reader stood.
pub type PendingMessage = Option<(String, ReaderPosition)>;

/// What is being sent, as long as the reader stands where they sent it.
pub fn message_sent_here(
    (state, way): (ChatState, PathNavigation),
    sent: RwSignal<PendingMessage>,
) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let _ = (state.leaf(), way.ended.get());
        sent.get().filter(|(_, stand)| way.is_still_at(*stand)).map(|(text, _)| text)
    })
}

/// What was being sent did not arrive.
pub fn restore_failed(way: PathNavigation, sent: RwSignal<PendingMessage>) {
    if let Some((_, stand)) = sent.get_untracked() {
        way.record_failed_message(stand);
    }
    sent.set(None);
}

/// Shows a reply that began here, with its message under the header. False, and nothing, where its reader is on another
/// path by now, or on the way to one: there the next look at the chat tells of it.
pub fn show_started(
    (state, way): (ChatState, PathNavigation),
    started: StartedReply,
    stand: Option<ReaderPosition>,
) -> bool {
    let user_turn = started.user_turn.turn.id;
    if stand.is_some_and(|stand| !way.is_still_at(stand)) || !state.put_turn(started.user_turn) {
        return false;
    }
    let is_running = !started.assistant_turn.turn.status.is_terminal();
    state.put_turn(started.assistant_turn);
    trim(state, PathDirection::Older);
    if is_running {
        show_sent(user_turn);
    }
    // The button that was pressed may be gone with the turn it belonged to.
    if !media::is_touch() {
        request_animation_frame(|| {
            if focus::is_unfocused() {
                focus::focus_first_without_scroll("#message");
            }
        });
    }
    true
}
