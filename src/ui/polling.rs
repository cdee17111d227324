//! Polling: the only module through which pages ask the server repeatedly, so that a channel that pushes can replace it
//! here (docs/adr/0054-polling-and-unread-state.md). What is asked for by whom:
//!
//! * [`poll_status`], by every page: running and unread chats, notifications, models, the new chat's draft, the build,
//!   and whether the server responds (`ui::chats::running_poll`);
//! * [`poll_chat`], by the page of a chat: its path, title, draft and queue (`ui::page::chat::remote_changes`);
//! * [`poll_chat`], by the page of a tree: whether the tree has changed (`ui::page::tree`).

use std::time::Duration;

use leptos::ev;
use leptos::prelude::*;

pub use crate::api::chats::{glance_at_all as poll_status, glance_at_chat as poll_chat};
use crate::ui::erased::effect;

/// The interval of the status.
pub const STATUS_EVERY: Duration = Duration::from_secs(3);
/// The interval of a chat: changes of another tab must be visible within 2 s.
pub const CHAT_EVERY: Duration = Duration::from_millis(1_500);
/// The interval of a tree.
pub const TREE_EVERY: Duration = Duration::from_secs(2);

/// Calls `look` in this interval, and when the page is shown again, as long as the component exists.
pub fn repeat(every: Duration, look: impl Fn() + Copy + 'static) {
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
