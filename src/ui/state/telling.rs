//! Telling a screen reader of the replies on screen: what `saying` finds worth a word goes to the announcer, as far as the
//! reader wants to hear it.

use super::ChatState;
use super::saying::{Reader, Said, Saying};
use super::turn::TurnState;
use crate::browser::{clock, focus, media};
use crate::domain::TurnId;
use crate::ui::preferences::{Setting, chosen};
use crate::ui::words::transcript::say;

impl ChatState {
    /// Tells a screen reader what there is to tell of a reply.
    pub(super) fn tell(self, id: TurnId) {
        let Some(turn) = self.shown(id) else { return };
        let mut said = None;
        // Only its end wants to know, and growth is many times a second.
        let is_over = turn.with_untracked(|view| view.turn.status.is_terminal());
        let reader = if is_over { reader() } else { Reader::default() };
        self.change(id, |follower| {
            said = turn.with_untracked(|view| follower.saying.look(&view.turn, clock::now_ms(), &reader));
        });
        self.speak(&turn, said);
    }

    /// Tells of a reply that was asked for elsewhere and was over before this page was there.
    pub(super) fn tell_ended(self, turn: &TurnState) {
        let now = clock::now_ms();
        self.speak(turn, turn.with_untracked(|view| Saying::new(now).look(&view.turn, now, &reader())));
    }

    fn speak(self, turn: &TurnState, said: Option<Said>) {
        let Some(announcer) = self.announcer else { return };
        match said {
            Some(Said::Politely(_)) if !is_told(turn) => {}
            Some(Said::Politely(text)) => announcer.say(text),
            Some(Said::AtOnce(text)) => announcer.alert(&text),
            None => {}
        }
    }
}

fn reader() -> Reader {
    // What nobody has taken yet, as right after a change of page, is the message box's.
    let is_free = focus::is_free();
    let is_at_composer = is_free || focus::is_within("#message") && focus::is_at_start_of_text();
    Reader {
        is_read_to: (is_free || focus::is_in_text()) && chosen(Setting::Announced) == "full",
        // Who has fingers alone presses no keys.
        read_by: (is_at_composer && !media::is_touch()).then(say::keys_to_read).flatten(),
    }
}

/// Whether the reader wants to hear of how a reply goes, beside errors and questions.
fn is_told(turn: &TurnState) -> bool {
    match chosen(Setting::Announced) {
        "off" => false,
        "events" => turn.with_untracked(|view| view.turn.status.is_terminal()),
        _ => true,
    }
}
