//! The composer's state and what its buttons do: send, stop, stop and send.

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::turns::{send_message, stop_reply};
use crate::api::view::{DraftView, SendMessage, Started, TurnView};
use crate::browser::{focus, request_id, textarea};
use crate::domain::provider::Model;
use crate::domain::{ChatId, Lock, Thinking, TurnId, limits};
use crate::ui::announce::Announcer;
use crate::ui::chats::Chats;
use crate::ui::composer::draft::DraftKeeper;
use crate::ui::composer::keys::Memory;
use crate::ui::words;

/// What the composer waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Idle,
    /// A message is on its way.
    Sending,
    /// A stop is on its way.
    Stopping,
}

/// What the page around the composer does with what happens in it.
#[derive(Clone, Copy)]
pub struct Listeners {
    /// A message is on its way: its text, to be shown at once as being sent.
    pub on_sending: Callback<String>,
    /// It did not arrive; its text is back in the box.
    pub on_failed: Callback<()>,
    /// The server has stored a message and a reply began.
    pub on_started: Callback<Started>,
    /// A reply was stopped; the turn as it ended.
    pub on_stopped: Callback<TurnView>,
}

/// The composer of one chat, or of the new chat. In the context of its parts.
#[derive(Clone, Copy)]
pub struct ComposerState {
    pub chat_id: Option<ChatId>,
    pub area: NodeRef<html::Textarea>,
    pub draft: DraftKeeper,
    pub phase: RwSignal<Phase>,
    pub has_text: RwSignal<bool>,
    /// What is wrong, beside the field.
    pub problem: RwSignal<Option<String>>,
    /// The lock of the branch.
    pub lock: Signal<Option<Lock>>,
    /// What is chosen in the menu: the model of a new chat, or another than the branch's, for a new branch.
    pub choice: RwSignal<Option<Lock>>,
    pub thinking: RwSignal<Thinking>,
    pub models: RwSignal<Vec<Model>>,
    /// The turn that the next message follows.
    pub leaf: Signal<Option<TurnId>>,
    /// The reply that runs on this path.
    pub running: Signal<Option<TurnId>>,
    pub memory: StoredValue<Memory>,
    /// The name of the next request.
    pub request_id: StoredValue<String>,
    /// The last message that failed to go out: the same again is the same request.
    pub failed: StoredValue<Option<SendMessage>>,
    pub listeners: Listeners,
    pub announcer: Announcer,
    pub chats: Option<Chats>,
}

impl ComposerState {
    /// The model that would answer, as far as it is known.
    pub fn model(self) -> Option<Model> {
        let lock = self.choice.get().or_else(|| self.lock.get());
        self.models.with(|models| models.iter().find(|model| Some(&model.lock) == lock.as_ref()).cloned())
    }

    /// The levels of thinking that the model can be asked for.
    pub fn thinking_levels(self) -> Vec<Thinking> {
        self.model().map_or_else(|| Thinking::LEVELS.to_vec(), |model| model.thinking_levels)
    }

    /// Takes another model for the next message; none goes back to the branch's own.
    pub fn choose(self, lock: Option<Lock>) {
        let lock = lock.filter(|lock| self.lock.get_untracked().as_ref() != Some(lock));
        self.choice.set(lock.clone());
        self.draft.change(|draft| draft.lock = lock);
    }

    /// Takes over what is in the box.
    pub fn typed(self, text: String) {
        self.has_text.set(!text.trim().is_empty());
        self.problem.set(None);
        self.draft.change(|draft| draft.text = text);
    }

    /// Puts a text into the box, as if it had been typed.
    pub fn fill(self, text: &str) {
        self.show(text);
        self.typed(text.to_owned());
    }

    fn show(self, text: &str) {
        if let Some(area) = self.area.get_untracked() {
            textarea::set_value(&area, text);
        }
        self.has_text.set(!text.trim().is_empty());
    }

    /// Another tab stored a draft: it is shown where nobody typed here since, and offered where somebody did.
    pub fn draft_changed_elsewhere(self, newer: DraftView) {
        match self.draft.heard(newer) {
            Some(text) => self.show(&text),
            None if self.draft.elsewhere.get_untracked().is_some() => self.announcer.say(words::DRAFT_ELSEWHERE),
            None => {}
        }
    }

    /// Takes the draft of another tab in place of what is in the box.
    pub fn use_draft(self, text: &str) {
        self.draft.elsewhere.set(None);
        self.fill(text);
        focus::on("#message");
    }

    /// The button and Enter.
    pub fn send(self) {
        match self.refusal() {
            Some(reason) => self.refuse(reason),
            None => self.post(),
        }
    }

    /// Ctrl+Shift+Enter: the running reply is stopped and what it said is kept, then the message goes out.
    pub fn stop_and_send(self) {
        let Some(turn) = self.running.get_untracked() else { return self.send() };
        if !self.has_text.get_untracked() {
            return self.refuse(words::WRITE_FIRST);
        }
        self.phase.set(Phase::Stopping);
        spawn_local(async move {
            if self.ended(stop_reply(turn).await) {
                self.post();
            }
        });
    }

    /// The stop button.
    pub fn stop(self) {
        let Some(turn) = self.running.get_untracked() else { return };
        if self.phase.get_untracked() == Phase::Stopping {
            return;
        }
        self.phase.set(Phase::Stopping);
        spawn_local(async move {
            // How it ended is said by whoever follows it.
            self.ended(stop_reply(turn).await);
        });
    }

    /// Takes the answer to a stop. False when it failed, or when the person is on another page by now.
    fn ended(self, stopped: Result<TurnView, ApiError>) -> bool {
        if self.phase.try_set(Phase::Idle).is_some() {
            return false;
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

    /// Why a message cannot go out now, in words.
    pub fn refusal(self) -> Option<&'static str> {
        let too_long = || self.draft.text().chars().count() > limits::MESSAGE_CHARS;
        match self.phase.get_untracked() {
            Phase::Sending => Some(words::STILL_SENDING),
            _ if self.running.get_untracked().is_some() => Some(words::STOP_FIRST),
            _ if !self.has_text.get_untracked() => Some(words::WRITE_FIRST),
            _ if too_long() => Some(words::TOO_LONG),
            _ => None,
        }
    }

    fn refuse(self, reason: &str) {
        self.problem.set(Some(reason.to_owned()));
        self.announcer.say(reason);
        focus::on("#message");
    }

    fn post(self) {
        let message = self.message();
        let text = message.text.clone();
        self.phase.set(Phase::Sending);
        self.problem.set(None);
        self.draft.hold();
        self.listeners.on_sending.run(text.clone());
        self.empty_box();
        focus::on("#message");
        spawn_local(async move {
            let answer = send_message(message.clone()).await;
            if answer.is_ok() {
                self.draft.forget_sent(&text);
                if let Some(chats) = self.chats {
                    chats.refresh();
                }
            }
            // The person may have gone to another chat meanwhile, and this composer with it.
            if self.phase.try_set(Phase::Idle).is_some() {
                return;
            }
            match answer {
                Ok(started) => {
                    self.failed.set_value(None);
                    self.request_id.set_value(request_id::mint());
                    self.draft.accepted(&text);
                    self.announcer.say(words::SENT);
                    self.listeners.on_started.run(started);
                }
                Err(error) => {
                    if matches!(error, ApiError::Conflict { .. }) {
                        self.request_id.set_value(request_id::mint());
                    } else {
                        self.failed.set_value(Some(message));
                    }
                    self.draft.release();
                    self.give_back(&text);
                    self.listeners.on_failed.run(());
                    self.fail(&error);
                }
            }
        });
    }

    /// The message as it would go out now. A message that failed and has not been changed keeps its name, because it
    /// may have arrived all the same.
    fn message(self) -> SendMessage {
        let choice = self.choice.get_untracked();
        let mut message = SendMessage {
            chat_id: self.chat_id,
            text: self.draft.text(),
            prev_turn_id: self.leaf.get_untracked(),
            provider: choice.as_ref().map(|lock| lock.provider.clone()),
            model: choice.map(|lock| lock.model),
            may_branch: true,
            thinking: self.thinking.get_untracked().nearest(&untrack(|| self.thinking_levels())),
            client_request_id: self.request_id.get_value(),
        };
        if let Some(failed) = self.failed.get_value() {
            // What came to the chat meanwhile may be this very message, whose answer was lost: it follows what it
            // followed then.
            let again = SendMessage {
                client_request_id: failed.client_request_id.clone(),
                prev_turn_id: failed.prev_turn_id,
                ..message.clone()
            };
            if again == failed {
                return failed;
            }
            message.client_request_id = request_id::mint();
        }
        message
    }

    /// Empties the box on screen. The draft still holds the text: it is forgotten when the server has it.
    fn empty_box(self) {
        self.show("");
    }

    /// Puts a text that did not go out back into the box, before what was typed meanwhile.
    fn give_back(self, text: &str) {
        let typed = self.area.get_untracked().map(|area| textarea::value(&area)).unwrap_or_default();
        if typed.is_empty() { self.fill(text) } else { self.fill(&format!("{text}\n\n{typed}")) }
    }

    fn fail(self, error: &ApiError) {
        let text = error.to_string();
        self.announcer.alert(&text);
        self.problem.set(Some(text));
    }
}
