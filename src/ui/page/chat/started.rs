//! A reply that began here: what the transcript shows of it at once.

use leptos::prelude::*;

use crate::api::view::{Side, Started};
use crate::browser::{focus, media};
use crate::ui::state::{ChatState, Stand, Way};
use crate::ui::transcript::more::trim;
use crate::ui::transcript::show_sent;

/// A message that is on its way, and where its reader stood.
pub type Sent = Option<(String, Stand)>;

/// What is being sent, as long as the reader stands where they sent it.
pub fn sent_here((state, way): (ChatState, Way), sent: RwSignal<Sent>) -> Memo<Option<String>> {
    Memo::new(move |_| {
        let _ = (state.leaf(), way.ends.get());
        sent.get().filter(|(_, stand)| way.is_still_at(*stand)).map(|(text, _)| text)
    })
}

/// What was being sent did not arrive.
pub fn take_back(way: Way, sent: RwSignal<Sent>) {
    if let Some((_, stand)) = sent.get_untracked() {
        way.message_failed(stand);
    }
    sent.set(None);
}

/// Shows a reply that began here, with its message under the header. False, and nothing, where its reader is on another
/// path by now, or on the way to one: there the next look at the chat tells of it.
pub fn show_started((state, way): (ChatState, Way), started: Started, stand: Option<Stand>) -> bool {
    let user_turn = started.user_turn.turn.id;
    if stand.is_some_and(|stand| !way.is_still_at(stand)) || !state.put(started.user_turn) {
        return false;
    }
    let is_running = !started.assistant_turn.turn.status.is_terminal();
    state.put(started.assistant_turn);
    trim(state, Side::Older);
    if is_running {
        show_sent(user_turn);
    }
    // The button that was pressed may be gone with the turn it belonged to.
    if !media::is_touch() {
        request_animation_frame(|| {
            if focus::is_free() {
                focus::quietly_on("#message");
            }
        });
    }
    true
}
