//! Announces the progress of replies on screen: passes the announcements of `announcement_policy` to the announcer,
//! as far as the reader wants them.

use super::ChatState;
use super::announcement_policy::{Announcement, AnnouncementPolicy, ListenerContext};
use super::turn::TurnState;
use crate::browser::{clock, focus, media};
use crate::domain::TurnId;
use crate::ui::messages::transcript::announcements;
use crate::ui::preferences::{PreferenceSetting, current_value};

impl ChatState {
    /// Announces the news of a reply.
    pub(super) fn announce_progress(self, id: TurnId) {
        let Some(turn) = self.find_if_alive(id) else { return };
        let mut announcement = None;
        // Only the ending needs the listener's context, and deltas arrive many times a second.
        let is_over = turn.with_untracked(|view| view.turn.status.is_terminal());
        let reader = if is_over { listener_context() } else { ListenerContext::default() };
        self.update_follower(id, |follower| {
            announcement = turn
                .with_untracked(|view| follower.announcements.next_announcement(&view.turn, clock::now_ms(), &reader));
        });
        self.announce_for_turn(&turn, announcement);
    }

    /// Announces a reply that was requested on the previous page and had ended before this page was there.
    pub(super) fn announce_ended(self, turn: &TurnState) {
        let now = clock::now_ms();
        self.announce_for_turn(
            turn,
            turn.with_untracked(|view| {
                AnnouncementPolicy::new(now).next_announcement(&view.turn, now, &listener_context())
            }),
        );
    }

    fn announce_for_turn(self, turn: &TurnState, announcement: Option<Announcement>) {
        let Some(announcer) = self.announcer else { return };
        match announcement {
            Some(Announcement::Polite(_)) if !wants_announcement(turn) => {}
            Some(Announcement::Polite(text)) => announcer.announce(text),
            Some(Announcement::Assertive(text)) => announcer.alert(&text),
            None => {}
        }
    }
}

fn listener_context() -> ListenerContext {
    // An unfocused page, as right after navigation, counts as the message box.
    let is_free = focus::is_unfocused();
    let is_at_composer = is_free || focus::is_within("#message") && focus::is_at_start_of_text();
    ListenerContext {
        is_at_composer: (is_free || focus::is_in_text_field()) && current_value(PreferenceSetting::Announced) == "full",
        // Touch devices have no keys to announce.
        keys_to_reply: (is_at_composer && !media::is_touch()).then(announcements::keys_to_read).flatten(),
    }
}

/// Returns whether the reader wants progress announcements, beside errors and questions.
fn wants_announcement(turn: &TurnState) -> bool {
    match current_value(PreferenceSetting::Announced) {
        "off" => false,
        "events" => turn.with_untracked(|view| view.turn.status.is_terminal()),
        _ => true,
    }
}
