//! Polling of the chats that are not on screen: every few seconds the page asks which replies run, and informs the
//! list, the notifications and the connection state.

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::unread::ReplyTracker;
use super::{Chats, notifications};
use crate::api::chats::glance_at_all;
use crate::api::error::ApiError;
use crate::api::view::{ChatListItem, PolledStatus};
use crate::browser::{clock, document};
use crate::domain::ChatId;
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, on_change};

/// The polling interval.
const RUNNING_EVERY: Duration = Duration::from_secs(3);
/// A response that takes longer than this, in milliseconds, counts as lost: the network may fail silently.
const HANGING_MS: i64 = 10_000;

/// The poller with its results so far.
#[derive(Clone, Copy)]
struct RunningWatcher {
    chats: Chats,
    connection: Option<PageConnection>,
    /// The status for which the list was already reloaded: if they still disagree, the list lacks such a chat, and
    /// reloading it again would not help.
    in_vain: StoredValue<Option<Vec<(ChatId, bool)>>>,
    looks: StoredValue<u32>,
    /// The number of the pending poll and when it began.
    looking: StoredValue<Option<(u32, i64)>>,
    /// The chats that waited for a person at the previous poll.
    waited: StoredValue<Option<Vec<ChatId>>>,
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
        let number = self.looks.get_value().wrapping_add(1);
        self.looks.set_value(number);
        self.looking.set_value(Some((number, now)));
        spawn_local(async move {
            let answer = glance_at_all().await;
            if self.looking.try_get_value().flatten().is_none_or(|(latest, _)| latest != number) {
                // This poll was given up, and another one is pending.
                return;
            }
            self.looking.set_value(None);
            if let Some(connection) = self.connection {
                connection.record_response(&answer);
            }
            if let Ok(glance) = answer {
                self.apply_glance(glance).await;
            }
        });
    }

    /// Applies the result of a poll and reloads the list where it disagrees.
    async fn apply_glance(self, PolledStatus { running: now, models_rev, draft_rev, build }: PolledStatus) {
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
        let ended = chats.update_running(&now);
        let waiting: Vec<ChatId> = now.iter().filter(|(_, waits)| *waits).map(|(chat, _)| *chat).collect();
        let before = self.waited.try_update_value(|before| before.replace(waiting.clone())).flatten();
        if document::is_hidden() {
            chats.notify(&ended, &waiting, before);
        }
        let Ok(listed) = chats.resource.await else { return chats.refresh() };
        if is_list_current(&listed, &now) {
            self.in_vain.set_value(None);
        } else if self.in_vain.with_value(|before| before.as_ref() != Some(&now)) {
            self.in_vain.set_value(Some(now));
            chats.refresh();
        }
    }
}

/// Polls which chats are being answered and which wait for a person, and reloads the list where it disagrees: a
/// question in another chat must not stay unseen, nor may an ended reply appear to run. The polls also tell every
/// page whether the server is reachable and when there are other models or a newer build.
pub fn poll_running_chats(chats: Chats) {
    let connection = use_context::<PageConnection>();
    let watcher = RunningWatcher {
        chats,
        connection,
        in_vain: StoredValue::new(None),
        looks: StoredValue::new(0),
        looking: StoredValue::new(None),
        waited: StoredValue::new(None),
    };
    let look_if_seen = move || {
        let is_seen = !document::is_hidden() || notifications::are_enabled();
        if is_seen && connection.is_none_or(|connection| !connection.is_waiting()) {
            chats.follow_day();
            watcher.poll(false);
        }
    };
    effect(move || {
        chats.unread.set(ReplyTracker::load().unread);
        if notifications::are_enabled() {
            notifications::listen_for_clicks(chats.open_from_notification());
        }
        let seen = window_event_listener(ev::visibilitychange, move |_| look_if_seen());
        let ticking = set_interval_with_handle(look_if_seen, RUNNING_EVERY).ok();
        on_cleanup(move || {
            seen.remove();
            if let Some(ticking) = ticking {
                ticking.clear();
            }
        });
    });
    if let Some(connection) = connection {
        let wanted = connection.retry_signal();
        on_change(move || wanted.get(), move |_, _| watcher.poll(true));
    }
}

/// Returns whether the list agrees with the polled status: which chats are being answered, and which of these wait
/// for a person.
fn is_list_current(listed: &[ChatListItem], now: &[(ChatId, bool)]) -> bool {
    let state = |id: ChatId| now.iter().find(|(chat, _)| *chat == id).map(|(_, waits)| *waits);
    listed.iter().all(|item| state(item.id) == item.running.then_some(item.needs_you))
        && now.iter().all(|(chat, _)| listed.iter().any(|item| item.id == *chat))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::chat::ChatListHeading;

    fn item(id: u128, running: bool, needs_you: bool) -> ChatListItem {
        let id = ChatId::from(uuid::Uuid::from_u128(id));
        let (updated_at, heading) = (Default::default(), ChatListHeading::Today);
        ChatListItem { id, title: String::new(), updated_at, heading, running, needs_you, has_draft: false }
    }

    #[test]
    fn list_that_differs_from_running_chats_is_not_current() {
        let id = |id: u128| ChatId::from(uuid::Uuid::from_u128(id));
        let listed = [item(1, false, false), item(2, true, false), item(3, true, true)];
        for (now, is_right) in [
            (vec![(id(2), false), (id(3), true)], true),
            // The first poll finds a reply that ended or began to wait after the list was loaded.
            (vec![(id(3), true)], false),
            (vec![(id(2), true), (id(3), true)], false),
            (vec![(id(2), false), (id(3), false)], false),
            (vec![(id(1), false), (id(2), false), (id(3), true)], false),
            // A chat that was created in another tab.
            (vec![(id(2), false), (id(3), true), (id(4), false)], false),
        ] {
            assert_eq!(is_list_current(&listed, &now), is_right, "{now:?}");
        }
    }
}
