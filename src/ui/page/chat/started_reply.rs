//! A reply that began here: its immediate display in the transcript.

use leptos::prelude::*;

use crate::api::view::{PathDirection, StartedReply};
use crate::browser::{focus, media};
use crate::domain::turns::continued_text::beginning;
use crate::ui::state::{ChatState, PathNavigation, ReaderPosition};
use crate::ui::transcript::load_more::trim;
use crate::ui::transcript::show_sent;

/// A message in flight, and the reader's position when it was sent.
pub type PendingMessage = Option<(String, ReaderPosition)>;

/// Returns the message in flight as long as the reader is where they sent it.
pub fn message_sent_here(
    (state, navigation): (ChatState, PathNavigation),
    sent: RwSignal<PendingMessage>,
) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let _ = (state.leaf(), navigation.ended.get());
        sent.get().filter(|(_, stand)| navigation.is_still_at(*stand)).map(|(text, _)| text)
    })
}

/// Removes the optimistic message, which did not arrive.
pub fn restore_failed(navigation: PathNavigation, sent: RwSignal<PendingMessage>) {
    if let Some((_, stand)) = sent.get_untracked() {
        navigation.record_failed_message(stand);
    }
    sent.set(None);
}

/// Shows a reply that began here, with its message below the header. Returns false and does nothing where its reader
/// is on another path by now, or on the way to one: there the next poll reports it.
pub fn show_started(
    (state, navigation): (ChatState, PathNavigation),
    started: StartedReply,
    stand: Option<ReaderPosition>,
) -> bool {
    let user_turn = started.user_turn.turn.id;
    if stand.is_some_and(|stand| !navigation.is_still_at(stand)) || !state.put_turn(started.user_turn) {
        return false;
    }
    let reply = &started.assistant_turn.turn;
    // A reply that continues another version grows where the reader is: at the end of its text.
    let is_sent = !reply.status.is_terminal() && beginning(reply).is_none();
    state.put_turn(started.assistant_turn);
    trim(state, PathDirection::Older);
    if is_sent {
        show_sent(user_turn);
    }
    // The pressed button may have been removed together with its turn.
    if !media::is_touch() {
        request_animation_frame(|| {
            if focus::is_unfocused() {
                focus::focus_first_without_scroll("#message");
            }
        });
    }
    true
}
