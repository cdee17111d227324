//! System notifications for a page that is not visible (docs/reference/ux.md 8): a reply ended, failed, or waits for
//! its reader. They name the chat and never show its content.

use leptos::prelude::Callable;
use leptos::prelude::Callback;
use leptos::task::spawn_local;

use crate::api::chats::last_status;
use crate::browser::{document, notification};
use crate::domain::{ChatId, TurnStatus};
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages;
use crate::ui::preferences::{PreferenceSetting, current_value};

/// The kind of a reply notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyNotification {
    Ended,
    Waits,
}

/// The code part: shows a notification, and handles clicks on one. It is loaded lazily, because few people enable
/// notifications.
type NotificationCalls = (fn(ChatId, String, ReplyNotification, Callback<ChatId>), fn(Callback<ChatId>));

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<NotificationCalls, NotFetched> {
    Ok((show_notification, register_click_listener))
}

/// Returns whether notifications are enabled and the browser allows them.
pub fn are_enabled() -> bool {
    current_value(PreferenceSetting::Notify) == "on" && notification::is_allowed()
}

/// Notifies that a reply in this chat has ended. `open` shows the chat.
pub fn notify_ended(chat: ChatId, title: String, open: Callback<ChatId>) {
    notify(chat, title, ReplyNotification::Ended, open);
}

/// Notifies that a reply in this chat waits for its reader.
pub fn notify_waiting(chat: ChatId, title: String, open: Callback<ChatId>) {
    notify(chat, title, ReplyNotification::Waits, open);
}

/// Returns the sentence for an ending; none for one that the reader caused.
fn ending_sentence(status: TurnStatus) -> Option<&'static str> {
    match status {
        TurnStatus::Complete => Some(messages::notify_complete()),
        TurnStatus::Error => Some(messages::notify_failed()),
        _ => None,
    }
}

fn notify(chat: ChatId, title: String, kind: ReplyNotification, open: Callback<ChatId>) {
    if document::is_hidden() {
        spawn_local(async move {
            if let Ok((show, _)) = fetch().await {
                show(chat, title, kind, open);
            }
        });
    }
}

fn show_notification(chat: ChatId, title: String, kind: ReplyNotification, open: Callback<ChatId>) {
    register_click_listener(open);
    spawn_local(async move {
        let word = match kind {
            ReplyNotification::Waits => Some(messages::notify_waits()),
            // A status that cannot be loaded still belongs to a reply that ended.
            ReplyNotification::Ended => {
                last_status(chat).await.unwrap_or(Some(TurnStatus::Complete)).and_then(ending_sentence)
            }
        };
        let title = if title.is_empty() { messages::untitled() } else { &title };
        if let Some(word) = word.filter(|_| document::is_hidden()) {
            notification::show(title, word, &chat.to_string(), move || open.run(chat)).await;
        }
    });
}

/// Handles clicks on notifications, including those shown before this page was loaded.
pub fn listen_for_clicks(open: Callback<ChatId>) {
    spawn_local(async move {
        if let Ok((_, hear)) = fetch().await {
            hear(open);
        }
    });
}

fn register_click_listener(open: Callback<ChatId>) {
    notification::listen_for_clicks(move |chat| {
        if let Ok(chat) = chat.parse() {
            open.run(chat);
        }
    });
}
