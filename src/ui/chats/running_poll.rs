//! Polling of the chats that are not on screen: the page asks which replies run, and informs the list, the notifications
//! and the connection state.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Chats, chat_on_screen, notifications};
use crate::api::error::ApiError;
use crate::api::view::{ChatListItem, PolledStatus};
use crate::browser::{clock, document};
use crate::domain::{AccountChange, ChannelEvent, ChatId};
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, on_change};
use crate::ui::polling::{self, Poller, poll_status};

/// A response that takes longer than this, in milliseconds, counts as lost: the network may fail silently.
const HANGING_MS: i64 = 10_000;

/// The poller with its results so far.
#[derive(Clone, Copy)]
struct RunningWatcher {
    chats: Chats,
    connection: Option<PageConnection>,
    /// The status for which the list was already reloaded: if they still disagree, the list lacks such a chat, and
    /// reloading it again would not help.
    in_vain: StoredValue<Option<ReplyStates>>,
    looks: StoredValue<u32>,
    /// The number of the pending poll and when it began.
    looking: StoredValue<Option<(u32, i64)>>,
    /// The states at the previous poll.
    before: StoredValue<Option<ReplyStates>>,
    poller: Poller,
    /// The page has heard the channel begin.
    has_begun: StoredValue<bool>,
    /// The list may show something that a poll does not: a title, an order, a project.
    is_list_old: StoredValue<bool>,
}

/// The chats in which replies run or were not read since they ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct ReplyStates {
    /// Each with whether it waits for a person.
    running: Vec<(ChatId, bool)>,
    unread: Vec<ChatId>,
}

impl ReplyStates {
    /// Returns whether a reply in this chat waits for a person; `None` if none runs.
    fn running(&self, id: ChatId) -> Option<bool> {
        self.running.iter().find(|(chat, _)| *chat == id).map(|(_, waits)| *waits)
    }

    /// Returns the chats in which a reply ended unread since the earlier states.
    fn ended_since(&self, before: &Self) -> Vec<ChatId> {
        let has_ended = |id: &ChatId| {
            let ran = before.running(*id).is_some() && self.running(*id).is_none();
            ran || !before.unread.contains(id)
        };
        self.unread.iter().copied().filter(has_ended).collect()
    }

    /// Returns the chats that began to wait for a person since the earlier states.
    fn waiting_since(&self, before: &Self) -> Vec<ChatId> {
        let is_new = |(id, waits): &&(ChatId, bool)| *waits && before.running(*id) != Some(true);
        self.running.iter().filter(is_new).map(|(id, _)| *id).collect()
    }
}

impl RunningWatcher {
    /// Polls, unless a poll is pending; `is_wanted` forces one.
    fn poll(self, is_wanted: bool) {
        let now = clock::now_ms();
        if let Some((_, since)) = self.looking.get_value() {
            // Limits the pending requests to an unresponsive server.
            if !is_wanted && now - since < HANGING_MS {
                return;
            }
            if let Some(connection) = self.connection {
                connection.record_response(&Err::<(), _>(ApiError::Unreachable));
            }
        }
        let begun = self.poller.begin();
        let number = self.looks.get_value().wrapping_add(1);
        self.looks.set_value(number);
        self.looking.set_value(Some((number, now)));
        spawn_local(async move {
            let answer = poll_status(chat_on_screen()).await;
            if self.looking.try_get_value().flatten().is_none_or(|(latest, _)| latest != number) {
                // This poll was given up, and another one is pending.
                return;
            }
            self.looking.set_value(None);
            if let Some(connection) = self.connection {
                connection.record_response(&answer);
            }
            if let Ok(glance) = answer {
                self.poller.note_seen(begun);
                self.apply_glance(glance).await;
                // Something may have changed since the poll began.
                if self.poller.has_news() {
                    self.poll(false);
                }
            }
        });
    }

    /// Returns whether an event of the channel is a reason to poll.
    fn concerns(self, event: &ChannelEvent) -> bool {
        match event {
            ChannelEvent::Reset { .. } => {
                // The list of a page that was just loaded is new.
                if self.has_begun.try_update_value(|has_begun| std::mem::replace(has_begun, true)) == Some(true) {
                    let _ = self.is_list_old.try_set_value(true);
                }
                true
            }
            ChannelEvent::Changed { change, .. } => match change {
                AccountChange::ChatListChanged => {
                    let _ = self.is_list_old.try_set_value(true);
                    true
                }
                AccountChange::UnreadChanged
                | AccountChange::NotificationsChanged
                | AccountChange::SettingsChanged
                | AccountChange::DraftChanged { chat_id: None, rev: None } => true,
                AccountChange::DraftChanged { chat_id: None, rev: Some(rev) } => {
                    if *rev > self.chats.draft_rev.get_untracked() {
                        self.chats.draft_rev.set(*rev);
                    }
                    false
                }
                AccountChange::ChatChanged { .. } | AccountChange::DraftChanged { .. } => false,
            },
            ChannelEvent::Hello { .. } | ChannelEvent::Heartbeat { .. } | ChannelEvent::Displaced => false,
        }
    }

    /// Updates the unread marks of the older chats, which are not reloaded.
    fn update_older(self, unread: &[ChatId]) {
        let is_current = |item: &ChatListItem| unread.contains(&item.id) == item.unread;
        if !self.chats.older.with_untracked(|older| older.iter().all(is_current)) {
            self.chats.older.update(|older| {
                for item in older {
                    item.unread = unread.contains(&item.id);
                }
            });
        }
    }

    /// Applies the result of a poll and reloads the list where it disagrees.
    async fn apply_glance(self, glance: PolledStatus) {
        let PolledStatus { running, unread, notifications, models_rev, draft_rev, build } = glance;
        let chats = self.chats;
        if let Some(connection) = self.connection {
            connection.compare_build(&build);
        }
        if chats.models_rev.get_untracked() != Some(models_rev) {
            chats.models_rev.set(Some(models_rev));
        }
        if chats.draft_rev.get_untracked() != draft_rev {
            chats.draft_rev.set(draft_rev);
        }
        if chats.notifications.get_untracked() != notifications {
            chats.notifications.set(notifications);
        }
        let now = ReplyStates { running, unread };
        let before = self.before.try_update_value(|before| before.replace(now.clone())).flatten();
        // Replies that already wait when the page is loaded are not announced.
        if let Some(before) = before.filter(|_| document::is_hidden()) {
            notify(chats, &before, &now);
        }
        self.update_older(&now.unread);
        if self.is_list_old.try_update_value(std::mem::take) == Some(true) {
            return chats.refresh();
        }
        let Ok(listed) = chats.resource.await else { return chats.refresh() };
        if is_list_current(&listed.chats, &now) {
            self.in_vain.set_value(None);
        } else if self.in_vain.with_value(|before| before.as_ref() != Some(&now)) {
            self.in_vain.set_value(Some(now));
            chats.refresh();
        }
    }
}

/// Shows system notifications about what happened between two polls.
fn notify(chats: Chats, before: &ReplyStates, now: &ReplyStates) {
    let open = chats.open_from_notification();
    for id in now.ended_since(before) {
        notifications::notify_ended(id, chats.title_of(id), open);
    }
    for id in now.waiting_since(before) {
        notifications::notify_waiting(id, chats.title_of(id), open);
    }
}

/// Polls which chats are being answered, wait for a person or are unread, and reloads the list where it disagrees or was
/// told to have changed: a question in another chat must not stay unseen, nor may an ended reply appear to run. The polls
/// also tell every page whether the server is reachable and when there are other models or a newer build.
pub fn poll_running_chats(chats: Chats) {
    let connection = use_context::<PageConnection>();
    let watcher = RunningWatcher {
        chats,
        connection,
        in_vain: StoredValue::new(None),
        looks: StoredValue::new(0),
        looking: StoredValue::new(None),
        before: StoredValue::new(None),
        poller: Poller::from_context(),
        has_begun: StoredValue::new(false),
        is_list_old: StoredValue::new(false),
    };
    let look_if_seen = move || {
        let is_seen = !document::is_hidden() || notifications::are_enabled();
        if is_seen && connection.is_none_or(|connection| !connection.is_waiting()) {
            chats.follow_day();
            if watcher.poller.is_due() {
                watcher.poll(false);
            }
        }
    };
    effect(move || {
        if notifications::are_enabled() {
            notifications::listen_for_clicks(chats.open_from_notification());
        }
    });
    watcher.poller.repeat(polling::STATUS_EVERY, move |event| watcher.concerns(event), look_if_seen);
    if let Some(connection) = connection {
        let wanted = connection.retry_signal();
        on_change(move || wanted.get(), move |_, _| watcher.poll(true));
    }
}

/// Returns whether the list agrees with the polled states.
fn is_list_current(listed: &[ChatListItem], now: &ReplyStates) -> bool {
    let is_current = |item: &ChatListItem| {
        now.running(item.id) == item.running.then_some(item.needs_you) && now.unread.contains(&item.id) == item.unread
    };
    listed.iter().all(is_current) && now.running.iter().all(|(chat, _)| listed.iter().any(|item| item.id == *chat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chats::chat::ChatListHeading;

    fn id(number: u128) -> ChatId {
        ChatId::from(uuid::Uuid::from_u128(number))
    }

    fn item(number: u128, running: bool, needs_you: bool, unread: bool) -> ChatListItem {
        let (id, title) = (id(number), String::new());
        let (updated_at, heading) = (Default::default(), ChatListHeading::Today);
        ChatListItem { id, title, updated_at, heading, running, needs_you, has_draft: false, unread }
    }

    fn states(running: &[(u128, bool)], unread: &[u128]) -> ReplyStates {
        let running = running.iter().map(|(number, waits)| (id(*number), *waits)).collect();
        ReplyStates { running, unread: unread.iter().copied().map(id).collect() }
    }

    #[test]
    fn list_that_differs_from_polled_states_is_not_current() {
        let listed = [item(1, false, false, true), item(2, true, false, false), item(3, true, true, false)];
        for (now, is_right) in [
            (states(&[(2, false), (3, true)], &[1]), true),
            // The first poll finds a reply that ended or began to wait after the list was loaded.
            (states(&[(3, true)], &[1]), false),
            (states(&[(2, true), (3, true)], &[1]), false),
            (states(&[(2, false), (3, false)], &[1]), false),
            (states(&[(1, false), (2, false), (3, true)], &[1]), false),
            // A chat that was created in another tab.
            (states(&[(2, false), (3, true), (4, false)], &[1]), false),
            // Another device has read the chat, or a reply ended there.
            (states(&[(2, false), (3, true)], &[]), false),
            (states(&[(2, false), (3, true)], &[1, 3]), false),
            // An unread chat that is not listed.
            (states(&[(2, false), (3, true)], &[1, 9]), true),
        ] {
            assert_eq!(is_list_current(&listed, &now), is_right, "{now:?}");
        }
    }

    #[test]
    fn replies_are_notified_that_ended_or_began_to_wait_since_previous_poll() {
        let before = states(&[(1, false), (2, false), (3, true)], &[2, 4]);
        // The second reply of an unread chat ends, and one that was too short to be seen running.
        let now = states(&[(1, true), (3, true)], &[2, 4, 5]);
        assert_eq!(now.ended_since(&before), [id(2), id(5)]);
        assert_eq!(now.waiting_since(&before), [id(1)]);
        assert_eq!((now.ended_since(&now), now.waiting_since(&now)), (vec![], vec![]));
    }
}
