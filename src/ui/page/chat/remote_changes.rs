//! Remote changes: while a chat is visible, the page asks what was changed in another tab or on another device, shows a
//! reply that was started elsewhere as it is written, and applies titles and drafts.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::signals::PageSignals;
use crate::api::chats::reload_chat;
use crate::api::error::ApiError;
use crate::api::view::{ChatPage, DraftView, PolledChat};
use crate::browser::document;
use crate::domain::{AccountChange, ChannelEvent, Chat, ChatId, TurnId};
use crate::ui::chats::Chats;
use crate::ui::connection::PageConnection;
use crate::ui::erased::on_change;
use crate::ui::polling::{self, Poller, poll_chat};
use crate::ui::state::ChatState;
use crate::ui::transcript::load_more::follow_path;

/// The time in which the server sends the next message of a queue.
const NEXT_REPLY: Duration = Duration::from_millis(250);

/// The backoff stops growing after this many failures in a row: 1.5 s · 2⁴.
const FAILURES: u32 = 4;

/// The poller of a chat with its state.
#[derive(Clone, Copy)]
struct RemoteWatcher {
    chat_id: ChatId,
    state: ChatState,
    signals: PageSignals,
    draft: RwSignal<DraftView>,
    chats: Option<Chats>,
    connection: Option<PageConnection>,
    title: StoredValue<String>,
    poller: Poller,
    is_looking: StoredValue<bool>,
    /// Incremented when the path changed elsewhere.
    changes: RwSignal<u64>,
    /// The number of consecutive failed polls, and the number of polls to skip.
    failures: StoredValue<u32>,
    pause: StoredValue<u32>,
}

/// The result of a poll.
enum ChatPoll {
    /// Nothing was applied: the server did not answer, or the screen is about to change. The next poll tries again.
    Postponed,
    /// Everything is shown that there is.
    Current,
    /// There is more to see: the path to this leaf.
    Grown(Option<TurnId>),
    /// The path was shown; its page has the rest.
    Shown(Box<ChatPage>),
}

impl RemoteWatcher {
    /// Backoff: a server that does not respond is polled half as often after each failure.
    fn record_failure(self) {
        let failures = (self.failures.get_value() + 1).min(FAILURES);
        self.failures.set_value(failures);
        self.pause.set_value((1 << failures) - 1);
    }

    /// Returns whether a poll may start: not without a reason, on a page that is gone, hidden, offline or waiting for a
    /// response, nor during a backoff.
    fn may_poll(self) -> bool {
        if !self.poller.is_due()
            || document::is_hidden()
            || self.state.has_pending_deletion()
            || self.connection.is_some_and(PageConnection::is_waiting)
            || self.is_looking.try_get_value() != Some(false)
        {
            return false;
        }
        let is_pausing = self.pause.get_value() > 0;
        if is_pausing {
            self.pause.update_value(|pause| *pause -= 1);
        }
        !is_pausing
    }

    /// Polls, if a poll may start.
    fn look(self) {
        if !self.may_poll() {
            return;
        }
        self.is_looking.set_value(true);
        let begun = self.poller.begin();
        spawn_local(async move {
            let polled = self.poll().await;
            let is_postponed = matches!(polled, ChatPoll::Postponed);
            if !is_postponed {
                self.poller.note_seen(begun);
            }
            if let ChatPoll::Shown(page) = polled {
                self.signals.apply_reloaded(*page);
                self.changes.update(|count| *count += 1);
            }
            let _ = self.is_looking.try_set_value(false);
            // Something may have changed since the poll began.
            if !is_postponed && self.poller.has_news() {
                self.look();
            }
        });
    }

    /// Polls at once, or as soon as the pending poll is over, which may not see the change.
    fn look_now(self) {
        self.poller.note_news();
        self.look();
    }

    /// Returns whether an event of the channel is a reason to poll, which ends a backoff: the server responds.
    fn concerns(self, event: &ChannelEvent) -> bool {
        let is_reason = match event {
            ChannelEvent::Reset { .. } => true,
            ChannelEvent::Changed { change, .. } => match *change {
                AccountChange::ChatChanged { chat_id } => chat_id == self.chat_id,
                AccountChange::DraftChanged { chat_id, rev } => {
                    let known = self.draft.try_with_untracked(|draft| draft.rev);
                    chat_id == Some(self.chat_id) && rev.is_none_or(|rev| known.is_some_and(|known| rev > known))
                }
                // The models of the page may have changed.
                AccountChange::SettingsChanged => true,
                AccountChange::ChatListChanged | AccountChange::UnreadChanged | AccountChange::NotificationsChanged => {
                    false
                }
            },
            ChannelEvent::Hello { .. } | ChannelEvent::Heartbeat { .. } | ChannelEvent::Displaced => false,
        };
        if is_reason {
            let _ = self.pause.try_set_value(0);
        }
        is_reason
    }

    /// Polls once, and shows the path if it changed elsewhere.
    async fn poll(self) -> ChatPoll {
        let (leaf, moves) = (self.state.leaf_id(), self.state.current_move());
        let draft_rev = self.draft.try_with_untracked(|draft| draft.rev).unwrap_or(0);
        let queue_rev = self.signals.queue.try_with_untracked(|queue| queue.rev);
        let glance = poll_chat(self.chat_id, leaf, draft_rev, queue_rev).await;
        let newest = match self.apply_glance(glance, leaf, moves) {
            ChatPoll::Grown(newest) => newest,
            polled => return polled,
        };
        let page = reload_chat(self.chat_id, newest).await;
        if !self.state.may_show_polled(moves) || self.signals.notices.is_cut() {
            return ChatPoll::Postponed;
        }
        // A failed load is retried, because the revision is recorded only after it was applied.
        let Ok(page) = page else {
            self.record_failure();
            return ChatPoll::Postponed;
        };
        match follow_path(self.state, page.clone()).await {
            true => ChatPoll::Shown(Box::new(page)),
            false => ChatPoll::Postponed,
        }
    }

    /// Applies the status of a poll that began at this move.
    fn apply_glance(self, glance: Result<PolledChat, ApiError>, leaf: Option<TurnId>, moves: u64) -> ChatPoll {
        let Self { state, signals, .. } = self;
        if !state.is_page_alive() {
            return ChatPoll::Postponed;
        }
        if let Some(connection) = self.connection {
            connection.record_response(&glance);
        }
        let is_gone = glance == Err(ApiError::NotFound);
        if is_gone || glance.is_ok() {
            signals.notices.set_chat_deleted(is_gone);
        }
        let Ok(glance) = glance else {
            self.record_failure();
            // A chat that is restored is told.
            return if is_gone { ChatPoll::Current } else { ChatPoll::Postponed };
        };
        self.failures.set_value(0);
        // The path has changed here, or is about to; the next poll applies.
        if !state.may_show_polled(moves) {
            return ChatPoll::Postponed;
        }
        if signals.leaves.get_untracked() != glance.leaves {
            signals.leaves.set(glance.leaves);
        }
        if let Some(newer) = &glance.draft {
            self.draft.set(newer.clone());
        }
        // The queue of a longer path is shown with that path.
        if let Some(queue) = glance.queue.as_ref().filter(|_| glance.leaf == leaf) {
            signals.queue.set(queue.clone());
        }
        self.apply_title(&glance);
        // A cut path is not extended.
        if signals.notices.is_cut() {
            return ChatPoll::Current;
        }
        let now = (glance.rev, glance.running, glance.models_rev);
        let is_shown = signals.notices.also_running_count() == glance.running;
        if glance.leaf == leaf && is_shown && signals.rev.get_value().is_none_or(|rev| rev == now) {
            signals.rev.set_value(Some(now));
            return ChatPoll::Current;
        }
        ChatPoll::Grown(glance.leaf)
    }

    /// Applies the polled title.
    fn apply_title(self, glance: &PolledChat) {
        if self.title.with_value(|title| *title != glance.title) {
            self.title.set_value(glance.title.clone());
            if let Some(chats) = self.chats {
                chats.renamed.set(Some((self.chat_id, glance.title.clone())));
                // The channel tells the list by itself.
                if !self.poller.is_told() {
                    chats.refresh();
                }
            }
        }
    }
}

/// Polls the chat while its page is visible, when the channel tells a change or while there is no channel. When the path
/// changed elsewhere, the signals receive the reloaded page after the path was shown, and `changes` is incremented;
/// `draft` is set when the draft changed. Returns a callback that polls at once.
pub fn watch_remote_changes(
    state: ChatState,
    signals: PageSignals,
    chat: &Chat,
    draft: RwSignal<DraftView>,
    changes: RwSignal<u64>,
) -> Callback<()> {
    let watcher = RemoteWatcher {
        chat_id: chat.id,
        state,
        signals,
        draft,
        chats: use_context::<Chats>(),
        connection: use_context::<PageConnection>(),
        title: StoredValue::new(chat.title.clone()),
        poller: Poller::from_context(),
        is_looking: StoredValue::new(false),
        changes,
        failures: StoredValue::new(0),
        pause: StoredValue::new(0),
    };
    let look = move || watcher.look();
    watcher.poller.repeat(polling::CHAT_EVERY, move |event| watcher.concerns(event), look);
    // The server is reachable again, so the page polls at once.
    if let Some(connection) = watcher.connection {
        on_change(
            move || connection.is_offline(),
            move |_, is_offline| {
                if !is_offline {
                    watcher.pause.set_value(0);
                    look();
                }
            },
        );
    }
    // The server is about to send the next message of the queue.
    on_change(
        move || state.running_reply(),
        move |_, running| {
            if running.is_none() && signals.queue.with_untracked(|queue| !queue.messages.is_empty()) {
                set_timeout(move || watcher.look_now(), NEXT_REPLY);
            }
        },
    );
    Callback::new(move |()| watcher.look_now())
}
