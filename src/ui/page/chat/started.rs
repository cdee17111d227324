//! A reply that began here: what the transcript shows of it at once.

use leptos::prelude::*;

use crate::api::view::{Side, Started};
use crate::browser::{focus, media};
use crate::ui::state::ChatState;
use crate::ui::transcript::more::trim;
use crate::ui::transcript::show_sent;

/// Shows a reply that began here, with its message under the header.
pub fn show_started(state: ChatState, started: Started) {
    let user_turn = started.user_turn.turn.id;
    state.put(started.user_turn);
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
}
