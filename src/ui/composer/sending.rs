//! Sending a message optimistically: the box is emptied at once, the draft is removed when the server has accepted
//! the message, and restored when it has not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::turns::{queue_message, send_message, stop_reply};
use crate::api::view::{ComposedMessage, DraftView};
use crate::browser::{clock, focus, request_id, textarea};
use crate::domain::limits;
use crate::ui::composer::state::{ComposerPhase, ComposerState};
use crate::ui::messages;
use crate::ui::messages::attachments as of_files;
use crate::ui::state::NavigationQuery;

/// Focuses the message box, unless the person is writing elsewhere by now.
fn keep_focus() {
    if focus::is_unfocused() || focus::is_within("#composer") {
        focus::focus_first("#message");
    }
}

impl ComposerState {
    /// Sends the message, or queues it: while a reply runs, and behind a queue that moves on by itself, because the
    /// server may have sent its next message already. A message that failed goes the same way again, so that it is the
    /// same request: it may have arrived after all.
    pub(super) fn send_or_queue(self) {
        let message = self.build_message();
        let is_again = self.failed.with_value(|failed| failed.as_ref() == Some(&message));
        let is_queued = match is_again {
            true => self.is_failed_queued.get_value(),
            false => {
                let moves = self.queue.with_untracked(|queue| !queue.messages.is_empty() && !queue.is_paused);
                moves || self.running.get_untracked().is_some()
            }
        };
        if is_queued { self.queue_up(message) } else { self.post(message) }
    }

    fn post(self, message: ComposedMessage) {
        let sent = self.draft.current_draft();
        let withdrawn = Arc::new(AtomicBool::new(false));
        self.withdrawn.set_value(withdrawn.clone());
        self.phase.set(ComposerPhase::Sending);
        self.problem.set(None);
        self.draft.hold_for_send();
        let names: Vec<&str> = sent.attachments.iter().map(|one| one.card.title.as_str()).collect();
        self.listeners.on_sending.run(of_files::sending(&sent.text, &names));
        self.empty_box();
        keep_focus();
        self.draft.run_after_saves(move || spawn_local(self.deliver(message, sent, withdrawn)));
    }

    /// Sends the message and handles the response. The page may be gone by then.
    async fn deliver(self, message: ComposedMessage, sent: DraftView, withdrawn: Arc<AtomicBool>) {
        let answer = clock::with_timeout(limits::SEND_TIME, send_message(message.clone())).await;
        let is_late = answer.is_none();
        let answer = answer.unwrap_or_else(|| Err(ApiError::Unreachable));
        if answer.is_ok() {
            self.draft.forget_sent(&sent);
            if let Some(chats) = self.chats {
                chats.refresh();
            }
        }
        let stops = withdrawn.load(Ordering::Relaxed);
        let phase = if stops && answer.is_ok() { ComposerPhase::Stopping } else { ComposerPhase::Idle };
        // The person may have left the chat meanwhile, and the composer with it.
        let is_there = self.phase.try_set(phase).is_none();
        let turn = answer.as_ref().ok().map(|started| started.assistant_turn.turn.id);
        match answer {
            _ if !is_there => {}
            Ok(started) => {
                self.failed.set_value(None);
                self.request_id.set_value(request_id::mint());
                self.draft.on_accepted(&sent);
                self.announcer.announce(messages::sent());
                self.listeners.on_started.run(started);
            }
            Err(error) => {
                self.take_back(&error, message, sent, false);
                self.listeners.on_failed.run(());
                if is_late { self.fail_with(messages::not_answered().to_owned()) } else { self.fail(&error) }
            }
        }
        if let Some(turn) = turn.filter(|_| stops) {
            self.apply_stop_result(stop_reply(turn).await);
        }
    }

    /// Queues the message behind the running reply. The box is emptied at once, as when it is sent.
    fn queue_up(self, message: ComposedMessage) {
        let sent = self.draft.current_draft();
        self.phase.set(ComposerPhase::Queueing);
        self.query_navigation(NavigationQuery::StartWaiting);
        self.problem.set(None);
        self.draft.hold_for_send();
        self.empty_box();
        // The button that queues is hidden while the box is empty.
        keep_focus();
        self.draft.run_after_saves(move || spawn_local(self.deliver_queued(message, sent)));
    }

    async fn deliver_queued(self, message: ComposedMessage, sent: DraftView) {
        let answer = clock::with_timeout(limits::SEND_TIME, queue_message(message.clone())).await;
        let answer = answer.unwrap_or(Err(ApiError::Unreachable));
        if answer.is_ok() {
            self.draft.forget_sent(&sent);
        }
        // The person may have left the chat meanwhile, or have stopped the reply.
        match self.phase.try_get_untracked() {
            None => return,
            Some(ComposerPhase::Queueing) => self.phase.set(ComposerPhase::Idle),
            Some(_) => {}
        }
        match answer {
            Ok(queue) => {
                self.failed.set_value(None);
                self.request_id.set_value(request_id::mint());
                self.draft.on_accepted(&sent);
                let (waits, is_queued) = (messages::queue::is_paused(), messages::queue::is_queued());
                self.announcer.announce(if queue.is_paused { waits } else { is_queued });
                // Another path may be on screen by now.
                if self.leaf.get_untracked() == message.prev_turn_id {
                    self.queue.set(queue);
                }
            }
            Err(error) => {
                self.take_back(&error, message, sent, true);
                self.query_navigation(NavigationQuery::RecordFailure);
                self.fail(&error);
            }
        }
    }

    /// Restores a message that did not arrive. Sending it again unchanged is the same request, unless the server has
    /// refused it.
    fn take_back(self, error: &ApiError, message: ComposedMessage, sent: DraftView, is_queued: bool) {
        self.is_failed_queued.set_value(is_queued);
        // Nothing was stored, or it was cancelled since: the next try is a new request.
        if matches!(error, ApiError::Conflict { .. } | ApiError::NotFound) {
            self.failed.set_value(None);
            self.request_id.set_value(request_id::mint());
        } else {
            self.failed.set_value(Some(message));
        }
        self.draft.release_held();
        self.restore_unsent(sent);
    }

    /// Builds the message. An unchanged message that failed keeps its idempotency key, because it may have arrived
    /// after all; not on another path, where it is another message.
    fn build_message(self) -> ComposedMessage {
        let choice = self.choice.get_untracked();
        let mut message = ComposedMessage {
            chat_id: self.chat_id,
            text: self.draft.text(),
            attachments: Some(self.draft.attachments()),
            prev_turn_id: self.leaf.get_untracked(),
            provider: choice.as_ref().map(|lock| lock.provider.clone()),
            model: choice.map(|lock| lock.model),
            may_branch: true,
            thinking: self.thinking.get_untracked().nearest(&untrack(|| self.thinking_levels())),
            client_request_id: self.request_id.get_value(),
            keeps_draft: false,
        };
        if let Some(failed) = self.failed.get_value() {
            // A turn that was added to the chat meanwhile may be this very message, whose response was lost: the
            // retry keeps its original parent.
            let again = ComposedMessage {
                client_request_id: failed.client_request_id.clone(),
                prev_turn_id: failed.prev_turn_id,
                ..message.clone()
            };
            if again == failed && self.query_navigation(NavigationQuery::IsAtFailedSend) != Some(false) {
                return failed;
            }
            message.client_request_id = request_id::mint();
        }
        message
    }

    /// Empties the box on screen. The draft keeps the content until the server has accepted it.
    fn empty_box(self) {
        self.show_text("");
        self.attaching.replace_all(Vec::new(), &[]);
        self.pasting.on_input(self.attaching, "");
    }

    /// Restores an unsent message to the box, before text typed meanwhile.
    fn restore_unsent(self, sent: DraftView) {
        let typed = self.area.get_untracked().map(|area| textarea::value(&area)).unwrap_or_default();
        let text = sent.text;
        if typed.is_empty() {
            self.fill(&text)
        } else {
            self.fill(&format!("{text}\n\n{typed}"))
        }
        self.attaching.restore(sent.attachments);
    }
}
