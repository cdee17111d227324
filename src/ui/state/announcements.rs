//! Telling a screen reader of the replies on screen: what `saying` finds worth a word goes to the announcer, as far as the
//! reader wants to hear it.

use super::ChatState;
use super::announcement_policy::{Announcement, AnnouncementPolicy, ListenerContext};
use super::turn::TurnState;
use crate::browser::{clock, focus, media};
use crate::domain::TurnId;
use crate::ui::messages::transcript::announcements;
use crate::ui::preferences::{PreferenceSetting, current_value};

impl ChatState {
    /// Tells a screen reader what there is to tell of a reply.
    pub(super) fn announce_progress(self, id: TurnId) {
        let Some(turn) = self.find_if_alive(id) else { return };
        let mut said = None;
        // Only its end wants to know, and growth is many times a second.
        let is_over = turn.with_untracked(|view| view.turn.status.is_terminal());
        let reader = if is_over { listener_context() } else { ListenerContext::default() };
        self.update_follower(id, |follower| {
            said = turn
                .with_untracked(|view| follower.announcements.next_announcement(&view.turn, clock::now_ms(), &reader));
        });
        self.say_announcement(&turn, said);
    }

    /// Tells of a reply that was asked for elsewhere and was over before this page was there.
    pub(super) fn announce_ended(self, turn: &TurnState) {
        let now = clock::now_ms();
        self.say_announcement(
            turn,
            turn.with_untracked(|view| {
                AnnouncementPolicy::new(now).next_announcement(&view.turn, now, &listener_context())
            }),
        );
    }

    fn say_announcement(self, turn: &TurnState, said: Option<Announcement>) {
        let Some(announcer) = self.announcer else { return };
        match said {
            Some(Announcement::Polite(_)) if !wants_announcement(turn) => {}
            Some(Announcement::Polite(text)) => announcer.say(text),
            Some(Announcement::Assertive(text)) => announcer.alert(&text),
            None => {}
        }
    }
}

fn listener_context() -> ListenerContext {
    // What nobody has taken yet, as right after a change of page, is the message box's.
    let is_free = focus::is_unfocused();
    let is_at_composer = is_free || focus::is_within("#message") && focus::is_at_start_of_text();
    ListenerContext {
        is_at_composer: (is_free || focus::is_in_text_field()) && current_value(PreferenceSetting::Announced) == "full",
        // Who has fingers alone presses no keys.
        keys_to_reply: (is_at_composer && !media::is_touch()).then(announcements::keys_to_read).flatten(),
    }
}

/// Whether the reader wants to hear of how a reply goes, beside errors and questions.
fn wants_announcement(turn: &TurnState) -> bool {
    match current_value(PreferenceSetting::Announced) {
        "off" => false,
        "events" => turn.with_untracked(|view| view.turn.status.is_terminal()),
        _ => true,
    }
}
