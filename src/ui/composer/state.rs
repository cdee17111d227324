//! The composer's state, and the send action of its button. Stopping is in `stopping`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use leptos::html;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::api::error::ApiError;
use crate::api::view::{ComposedMessage, DraftView, QueueView, StartedReply, TurnView};
use crate::browser::{focus, textarea};
use crate::domain::providers::provider::Model;
use crate::domain::{ChatId, ModelLock, Thinking, TurnId, limits};
use crate::ui::announce::Announcer;
use crate::ui::chats::Chats;
use crate::ui::composer::attachment_queue::AttachmentQueue;
use crate::ui::composer::attachments::MessageAttachments;
use crate::ui::composer::draft::DraftKeeper;
use crate::ui::composer::mention::MentionState;
use crate::ui::composer::paste::PasteNotices;
use crate::ui::input_method::CompositionMemory;
use crate::ui::messages;
use crate::ui::messages::attachments as of_files;
use crate::ui::messages::server_messages::problem;
use crate::ui::messages::usage::context_full;
use crate::ui::state::NavigationQuery;

/// The form's id, for buttons outside of it.
pub const COMPOSER_FORM_ID: &str = "composer";

/// The phase of the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComposerPhase {
    Idle,
    /// A message is being sent.
    Sending,
    /// A message is being sent, and its reply is to be stopped as soon as it is known.
    Withdrawing,
    /// A message is being queued.
    Queueing,
    /// A stop request is pending.
    Stopping,
}

/// The callbacks of the page around the composer.
#[derive(Clone, Copy)]
pub struct ComposerListeners {
    /// A message is being sent: its text, for the optimistic display.
    pub on_sending: Callback<String>,
    /// The message did not arrive; its text is back in the box.
    pub on_failed: Callback<()>,
    /// The server has stored a message, and a reply began.
    pub on_started: Callback<StartedReply>,
    /// A reply was stopped; the turn as it ended.
    pub on_stopped: Callback<TurnView>,
}

/// The path that the next message continues. That of a new chat is empty.
#[derive(Clone, Copy, Default)]
pub struct FollowedPath {
    /// The lock of its branch.
    pub lock: Signal<Option<ModelLock>>,
    /// The last turn.
    pub leaf: Signal<Option<TurnId>>,
    /// The reply that runs on the path.
    pub running: Signal<Option<TurnId>>,
    /// The number of context tokens that the newest reply filled.
    pub context_used: Signal<Option<u64>>,
    /// The branch's model, where it is no longer available.
    pub gone_model: Signal<Option<ModelLock>>,
    /// The messages queued behind its last turn.
    pub queue: RwSignal<QueueView>,
    /// Polls the server for changes at once; none for a new chat.
    pub poll: Option<Callback<()>>,
    /// Queries the path navigation; none for a new chat. The signal changes when a navigation has ended.
    pub navigation: Option<Callback<NavigationQuery, bool>>,
    pub navigation_ended: RwSignal<bool>,
}

/// The composer of one chat, or of the new chat. Provided as context to its parts.
#[derive(Clone, Copy)]
pub struct ComposerState {
    pub chat_id: Option<ChatId>,
    pub area: NodeRef<html::Textarea>,
    pub draft: DraftKeeper,
    pub attaching: MessageAttachments,
    pub pasting: PasteNotices,
    pub mention: MentionState,
    /// True if the message is sent automatically when its uploads are done and its path is on screen.
    pub sends_when_ready: RwSignal<bool>,
    /// Queries the path navigation; none for a new chat.
    pub navigation: Option<Callback<NavigationQuery, bool>>,
    /// Set when the reply to the message in flight is to be stopped; outlives the page.
    pub withdrawn: StoredValue<Arc<AtomicBool>>,
    /// The number of context tokens that the newest reply on this path filled.
    pub context_used: Signal<Option<u64>>,
    /// True if the text is longer than a few lines.
    pub is_long: RwSignal<bool>,
    /// True if the box is expanded to the page's height.
    pub is_tall: RwSignal<bool>,
    pub phase: RwSignal<ComposerPhase>,
    pub has_text: RwSignal<bool>,
    /// The problem shown beside the field.
    pub problem: RwSignal<Option<String>>,
    /// The lock of the branch.
    pub lock: Signal<Option<ModelLock>>,
    /// The choice in the menu: the model of a new chat, or one other than the branch's, for a new branch.
    pub choice: RwSignal<Option<ModelLock>>,
    pub thinking: RwSignal<Thinking>,
    pub models: RwSignal<Vec<Model>>,
    /// True while the dialog of models is open.
    pub is_picking_model: RwSignal<bool>,
    /// The turn that the next message follows.
    pub leaf: Signal<Option<TurnId>>,
    /// The reply that runs on this path.
    pub running: Signal<Option<TurnId>>,
    /// The messages that are queued behind that reply.
    pub queue: RwSignal<QueueView>,
    pub memory: StoredValue<CompositionMemory>,
    /// The idempotency key of the next request.
    pub request_id: StoredValue<String>,
    /// The last message that failed to be sent: sending it again unchanged reuses its idempotency key.
    pub failed: StoredValue<Option<ComposedMessage>>,
    /// The failed message was meant for the queue, so its retry is queued as well and keeps its idempotency key.
    pub is_failed_queued: StoredValue<bool>,
    pub listeners: ComposerListeners,
    pub announcer: Announcer,
    pub chats: Option<Chats>,
}

impl ComposerState {
    /// `form_request_id` is the idempotency key of the form when it is submitted without script.
    pub(super) fn new(
        chat_id: Option<ChatId>,
        draft: DraftView,
        models: RwSignal<Vec<Model>>,
        form_request_id: String,
        path: FollowedPath,
        listeners: ComposerListeners,
    ) -> Self {
        let locked = path.lock.get_untracked();
        let known = models.get_untracked();
        let default = default_lock(&known);
        let chosen = draft.lock.clone().filter(|lock| known.iter().any(|model| model.lock == *lock));
        let chosen =
            if locked.is_some() { chosen.filter(|chosen| locked.as_ref() != Some(chosen)) } else { chosen.or(default) };
        let (text, thinking, named) = (draft.text.clone(), draft.thinking, draft.named.clone());
        let draft = DraftKeeper::new(chat_id, draft);
        Self {
            chat_id,
            area: NodeRef::new(),
            phase: RwSignal::new(ComposerPhase::Idle),
            has_text: RwSignal::new(!text.trim().is_empty()),
            problem: RwSignal::new(problem_in_address()),
            lock: path.lock,
            choice: RwSignal::new(chosen),
            thinking: RwSignal::new(thinking.unwrap_or_default()),
            models,
            is_picking_model: RwSignal::new(false),
            leaf: path.leaf,
            running: path.running,
            queue: path.queue,
            memory: StoredValue::new(CompositionMemory::default()),
            request_id: StoredValue::new(form_request_id),
            failed: StoredValue::new(None),
            is_failed_queued: StoredValue::new(false),
            listeners,
            announcer: expect_context(),
            chats: use_context(),
            attaching: MessageAttachments::from_draft(draft, &named),
            pasting: PasteNotices::new(),
            mention: MentionState::new(),
            sends_when_ready: RwSignal::new(false),
            navigation: path.navigation,
            withdrawn: StoredValue::default(),
            context_used: path.context_used,
            is_long: RwSignal::new(is_long(&text)),
            is_tall: RwSignal::new(false),
            draft,
        }
    }

    /// Returns the model that would reply, as far as it is known.
    pub fn model(self) -> Option<Model> {
        let lock = self.choice.get().or_else(|| self.lock.get());
        self.models.with(|models| models.iter().find(|model| Some(&model.lock) == lock.as_ref()).cloned())
    }

    /// Returns the thinking levels that the model supports.
    pub fn thinking_levels(self) -> Vec<Thinking> {
        self.model().map_or_else(|| Thinking::LEVELS.to_vec(), |model| model.thinking_levels)
    }

    /// Chooses another model for the next message; none returns to the branch's own.
    pub fn choose_model(self, lock: Option<ModelLock>) {
        let lock = lock.filter(|lock| self.lock.get_untracked().as_ref() != Some(lock));
        self.choice.set(lock.clone());
        self.draft.update(|draft| draft.lock = lock);
    }

    /// Restores the choice of an unsaved draft, as far as it is still available.
    pub fn restore_choice(self, lock: Option<ModelLock>, thinking: Option<Thinking>) {
        let can_be = match &lock {
            Some(lock) => self.models.with_untracked(|models| models.iter().any(|model| model.lock == *lock)),
            None => self.lock.get_untracked().is_some(),
        };
        if can_be {
            self.choose_model(lock);
        }
        if let Some(level) = thinking {
            self.thinking.set(level);
            self.draft.update(|draft| draft.thinking = Some(level));
        }
    }

    /// Handles input in the box.
    pub fn on_input(self, text: String) {
        self.update_length(&text);
        self.problem.set(None);
        self.pasting.on_input(self.attaching, &text);
        self.stop_waiting();
        self.draft.update(|draft| draft.text = text);
    }

    /// Puts a text into the box as if it had been typed.
    pub fn fill(self, text: &str) {
        self.show_text(text);
        self.on_input(text.to_owned());
    }

    /// Replaces the text of the box; undo restores a different previous text.
    pub(super) fn show_text(self, text: &str) {
        // An equal text keeps its caret.
        let area = self.area.get_untracked().map(|area| (textarea::value(&area), area));
        if let Some((current, area)) = area.filter(|(current, _)| current != text) {
            if current.is_empty() || text.is_empty() {
                textarea::set_value(&area, text);
            } else {
                textarea::replace_text(&area, "", &current, text);
                // A sign at the end of the text was not typed, so no menu opens.
                self.mention.close();
            }
        }
        self.update_length(text);
    }

    fn update_length(self, text: &str) {
        self.has_text.set(!text.trim().is_empty());
        let is_long = is_long(text);
        if self.is_long.get_untracked() != is_long {
            self.is_long.set(is_long);
        }
        if text.is_empty() && self.is_tall.get_untracked() {
            self.is_tall.set(false);
        }
    }

    /// Returns whether the conversation is known to exceed the context of the model that would reply.
    pub fn is_full(self) -> bool {
        let most = self.model().and_then(|model| model.context_tokens).filter(|most| *most > 0);
        most.zip(self.context_used.get()).is_some_and(|(most, used)| used >= most)
    }

    /// Returns whether there is nothing to send.
    pub fn is_empty(self) -> bool {
        !self.has_text.get() && self.attaching.queue.with(|queue| queue.items().is_empty())
    }

    /// Sends or queues on the button or Enter. The message waits for pending uploads and for a pending navigation: a
    /// person who sends before the new path is on screen means that path.
    pub fn send(self) {
        match self.refusal() {
            Some(reason) => self.refuse(&reason),
            None if self.attaching.queue.with_untracked(AttachmentQueue::is_pending) => {
                self.start_waiting(of_files::sends_after_upload())
            }
            None if self.is_navigating() => self.start_waiting(messages::follows_path()),
            None => self.send_or_queue(),
        }
    }

    fn start_waiting(self, announcement: &'static str) {
        self.query_navigation(NavigationQuery::StartWaiting);
        self.sends_when_ready.set(true);
        self.announcer.announce(announcement);
    }

    /// Returns whether the requested path is not on screen yet.
    pub(super) fn is_navigating(self) -> bool {
        self.query_navigation(NavigationQuery::IsNavigating) == Some(true)
    }

    /// Queries the path navigation; none where there is no other path.
    pub(super) fn query_navigation(self, query: NavigationQuery) -> Option<bool> {
        self.navigation?.try_run(query)
    }

    /// Stops waiting: a person who continues to write no longer wants the message to be sent automatically. False
    /// when no message was waiting.
    pub fn stop_waiting(self) -> bool {
        let waited = self.sends_when_ready.get_untracked();
        if waited {
            self.sends_when_ready.set(false);
            let is_pending = self.attaching.queue.with_untracked(AttachmentQueue::is_pending);
            self.announcer.announce(if is_pending { of_files::files_not_sent() } else { messages::not_sent() });
        }
        waited
    }

    /// Sends a waiting message when its uploads or its path have arrived or failed. It stays in the box if its writer
    /// has navigated elsewhere since, or the requested path is not available.
    pub fn send_if_ready(self) {
        if !self.sends_when_ready.get_untracked() {
            return;
        }
        if self.query_navigation(NavigationQuery::MayContinue) == Some(false) {
            self.stop_waiting();
            return;
        }
        self.sends_when_ready.set(false);
        self.send();
    }

    /// Returns why the message cannot be sent now, as a sentence.
    pub fn refusal(self) -> Option<String> {
        let too_long = || self.draft.text().chars().count() > limits::MESSAGE_CHARS;
        let reason = match self.phase.get_untracked() {
            ComposerPhase::Sending | ComposerPhase::Withdrawing | ComposerPhase::Queueing => messages::still_sending(),
            _ if untrack(|| self.is_empty()) => messages::write_first(),
            _ if !self.is_navigating() && untrack(|| self.is_full()) => context_full(),
            _ if self.attaching.queue.with_untracked(AttachmentQueue::has_failed) => of_files::file_failed(),
            _ if too_long() => messages::too_long(),
            _ => return None,
        };
        Some(reason.to_owned())
    }

    pub(super) fn refuse(self, reason: &str) {
        self.problem.set(Some(reason.to_owned()));
        self.announcer.announce(reason);
        focus::focus_first("#message");
    }

    pub(super) fn fail(self, error: &ApiError) {
        self.fail_with(problem(error));
    }

    pub(super) fn fail_with(self, text: String) {
        self.announcer.alert(&text);
        self.problem.set(Some(text));
    }
}

/// Returns whether a text fills more than a few lines.
pub fn is_long(text: &str) -> bool {
    const LINES: usize = 4;
    const CHARS: usize = 300;
    text.lines().count() >= LINES || text.chars().count() >= CHARS
}

/// Returns the default model of a new chat.
pub(super) fn default_lock(models: &[Model]) -> Option<ModelLock> {
    models.iter().find(|model| model.is_default).or(models.first()).map(|model| model.lock.clone())
}

/// Returns the problem that the server reported for a form submitted without script.
fn problem_in_address() -> Option<String> {
    let code = use_query_map().with_untracked(|query| query.get("error"))?;
    messages::form_problem(&code).map(str::to_owned)
}
