//! Stopping a reply: one that runs, and one that is only about to begin because its message is still on its way.

use std::sync::atomic::Ordering;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::turns::stop_reply;
use crate::api::view::TurnView;
use crate::ui::composer::state::{ComposerState, Phase};
use crate::ui::state::Asks;
use crate::ui::words;

impl ComposerState {
    /// Ctrl+Shift+Enter: the running reply is stopped and what it said is kept, then the message goes out.
    pub fn stop_and_send(self) {
        if self.phase.get_untracked() != Phase::Idle {
            return;
        }
        // What runs on the path that is being left has nothing to do with the message.
        let running = self.running.get_untracked().filter(|_| !self.is_ahead());
        let Some(turn) = running else { return self.send() };
        if untrack(|| self.is_empty()) {
            return self.refuse(words::write_first());
        }
        self.phase.set(Phase::Stopping);
        self.asks_way(Asks::Wait);
        spawn_local(async move {
            if !self.ended(stop_reply(turn).await) {
                return;
            }
            match self.asks_way(Asks::MayGoOn) {
                Some(false) => self.announcer.say(words::not_sent()),
                _ => self.send(),
            }
        });
    }

    /// The stop button. Before the server has said which reply it is, that is remembered and done then.
    pub fn stop(self) {
        match self.phase.get_untracked() {
            Phase::Idle => {}
            Phase::Sending => {
                self.withdrawn.with_value(|withdrawn| withdrawn.store(true, Ordering::Relaxed));
                return self.phase.set(Phase::Withdrawing);
            }
            Phase::Withdrawing | Phase::Stopping => return,
        }
        let Some(turn) = self.running.get_untracked() else { return };
        self.phase.set(Phase::Stopping);
        spawn_local(async move {
            // How it ended is said by whoever follows it.
            self.ended(stop_reply(turn).await);
        });
    }

    /// Takes the answer to a stop. False when it failed, or when the person is on another page by now.
    pub(super) fn ended(self, stopped: Result<TurnView, ApiError>) -> bool {
        match self.phase.try_get_untracked() {
            None => return false,
            Some(Phase::Stopping) => self.phase.set(Phase::Idle),
            // A message of another path is on its way by now.
            Some(_) => {}
        }
        match stopped {
            Ok(turn) => {
                self.listeners.on_stopped.run(turn);
                true
            }
            Err(error) => {
                self.fail(&error);
                false
            }
        }
    }
}
