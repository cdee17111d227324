//! Stopping a reply: one that runs, and one that has not begun because its message is still being sent.

use std::sync::atomic::Ordering;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::turns::stop_reply;
use crate::api::view::TurnView;
use crate::domain::TurnStatus;
use crate::ui::composer::state::{ComposerPhase, ComposerState};
use crate::ui::messages;
use crate::ui::state::NavigationQuery;

impl ComposerState {
    /// Ctrl+Shift+Enter: stops the running reply, keeps its partial text, and then sends the message.
    pub fn stop_and_send(self) {
        if self.phase.get_untracked() != ComposerPhase::Idle {
            return;
        }
        // A reply on the path that is being left is unrelated to the message.
        let running = self.running.get_untracked().filter(|_| !self.is_navigating());
        let Some(turn) = running else { return self.send() };
        if untrack(|| self.is_empty()) {
            return self.refuse(messages::write_first());
        }
        self.phase.set(ComposerPhase::Stopping);
        self.query_navigation(NavigationQuery::StartWaiting);
        spawn_local(async move {
            if !self.apply_stop_result(stop_reply(turn).await) {
                return;
            }
            match self.query_navigation(NavigationQuery::MayContinue) {
                Some(false) => self.announcer.announce(messages::not_sent()),
                _ => self.send(),
            }
        });
    }

    /// The stop button. A stop requested before the reply is known is executed once it is.
    pub fn stop(self) {
        match self.phase.get_untracked() {
            // A message that is being queued stays for after the reply.
            ComposerPhase::Idle | ComposerPhase::Queueing => {}
            ComposerPhase::Sending => {
                self.withdrawn.with_value(|withdrawn| withdrawn.store(true, Ordering::Relaxed));
                return self.phase.set(ComposerPhase::Withdrawing);
            }
            ComposerPhase::Withdrawing | ComposerPhase::Stopping => return,
        }
        let Some(turn) = self.running.get_untracked() else { return };
        self.phase.set(ComposerPhase::Stopping);
        spawn_local(async move {
            // The follower of the reply reports its ending.
            self.apply_stop_result(stop_reply(turn).await);
        });
    }

    /// Handles the response to a stop. False when it failed, or when the person is on another page by now.
    pub(super) fn apply_stop_result(self, stopped: Result<TurnView, ApiError>) -> bool {
        match self.phase.try_get_untracked() {
            None => return false,
            Some(ComposerPhase::Stopping) => self.phase.set(ComposerPhase::Idle),
            // A message of another path is being sent by now.
            Some(_) => {}
        }
        match stopped {
            Ok(turn) => {
                // The server says the same with the next poll; a message that is sent now is not queued.
                if turn.turn.status != TurnStatus::Complete && self.queue.with_untracked(|queue| !queue.is_paused) {
                    self.queue.update(|queue| queue.is_paused = !queue.messages.is_empty());
                }
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
