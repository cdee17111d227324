//! Polling: the only module through which pages ask the server repeatedly, and the live channel that tells them when to
//! ask (docs/adr/0054-polling-and-unread-state.md, docs/adr/0103-live-channel.md). A page asks once when the channel
//! begins, then when a change is told, and in an interval while there is no channel. What is asked for by whom:
//!
//! * [`poll_status`], by every page: running and unread chats, notifications, models, the new chat's draft, the build,
//!   and whether the server responds (`ui::chats::running_poll`);
//! * [`poll_chat`], by the page of a chat: its path, title, draft and queue (`ui::page::chat::remote_changes`);
//! * [`poll_chat`], by the page of a tree: whether the tree has changed (`ui::page::tree`).

mod channel_state;
mod live_channel;

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

use self::live_channel::LiveChannel;
pub use self::live_channel::provide_live_channel;
pub use crate::api::chats::{glance_at_all as poll_status, glance_at_chat as poll_chat};
use crate::domain::ChannelEvent;
use crate::ui::erased::effect;

/// The interval of the status.
pub const STATUS_EVERY: Duration = Duration::from_secs(3);
/// The interval of a chat: without a channel, changes of another tab must be visible within 2 s.
pub const CHAT_EVERY: Duration = Duration::from_millis(1_500);
/// The interval of a tree.
pub const TREE_EVERY: Duration = Duration::from_secs(2);

/// Knows when its owner has to poll.
#[derive(Clone, Copy)]
pub struct Poller {
    channel: Option<LiveChannel>,
    /// Counts what was told, and how much of it a poll has seen.
    told: StoredValue<u64>,
    seen: StoredValue<u64>,
}

impl Poller {
    /// Creates the poller of a component, which follows the channel of the page if there is one.
    pub fn from_context() -> Self {
        let channel: Option<LiveChannel> = use_context();
        // A channel that is open may have told a change of what its owner shows before it began to listen.
        let missed = channel.is_some_and(|channel| !channel.is_silent());
        Self { channel, told: StoredValue::new(missed.into()), seen: StoredValue::new(0) }
    }

    /// Returns true if there may be something to see: a change was told, or there is no channel that would tell.
    pub fn is_due(self) -> bool {
        self.has_news() || !self.is_told()
    }

    /// Returns true if the channel tells what changes.
    pub fn is_told(self) -> bool {
        self.channel.is_some_and(|channel| !channel.is_silent())
    }

    /// Returns true if a change was told that no poll has seen.
    pub fn has_news(self) -> bool {
        self.told.try_get_value() > self.seen.try_get_value()
    }

    /// Notes that there is something to see.
    pub fn note_news(self) {
        let _ = self.told.try_update_value(|told| *told += 1);
    }

    /// Returns what a poll that begins now will have seen, for [`Self::note_seen`].
    pub fn begin(self) -> u64 {
        self.told.try_get_value().unwrap_or_default()
    }

    /// Notes that a poll was answered and its answer was used. Otherwise it is repeated with the next interval.
    pub fn note_seen(self, begun: u64) {
        let _ = self.seen.try_update_value(|seen| *seen = (*seen).max(begun));
    }

    /// Calls `look` when the channel tells an event that `concerns` the owner, in this interval, and when the page is shown
    /// again, as long as the component exists. `look` polls if [`Self::is_due`].
    pub fn repeat(
        self,
        every: Duration,
        concerns: impl Fn(&ChannelEvent) -> bool + Send + Sync + 'static,
        look: impl Fn() + Copy + Send + Sync + 'static,
    ) {
        if let Some(channel) = self.channel {
            channel.listen(move |event| {
                if concerns(&event) {
                    self.note_news();
                    look();
                }
            });
        }
        effect(move || {
            let seen = window_event_listener(ev::visibilitychange, move |_| look());
            let ticking = set_interval_with_handle(look, every).ok();
            on_cleanup(move || {
                seen.remove();
                if let Some(ticking) = ticking {
                    ticking.clear();
                }
            });
        });
    }
}
