//! Notes of the system, for a page that nobody sees (ux.md 8): that a reply ended, failed, or waits for its reader. They
//! name the chat and never say anything of what is in it.

use leptos::prelude::Callable;
use leptos::prelude::Callback;
use leptos::task::spawn_local;

use crate::api::chats::last_status;
use crate::browser::{document, notification};
use crate::domain::{ChatId, TurnStatus};
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages;
use crate::ui::preferences::{PreferenceSetting, current_value};

/// What is told of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReplyNotification {
    Ended,
    Waits,
}

/// What tells it, and what leads to the chat of a note that is pressed. Most people never switch them on.
type Code = (fn(ChatId, String, ReplyNotification, Callback<ChatId>), fn(Callback<ChatId>));

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Code, NotFetched> {
    Ok((show_notification, register_click_listener))
}

/// Whether somebody wants them and the browser shows them.
pub fn are_enabled() -> bool {
    current_value(PreferenceSetting::Notify) == "on" && notification::is_allowed()
}

/// Tells that a reply in this chat is over. `open` shows the chat.
pub fn notify_ended(chat: ChatId, title: String, open: Callback<ChatId>) {
    notify(chat, title, ReplyNotification::Ended, open);
}

/// Tells that a reply in this chat waits for its reader.
pub fn notify_waiting(chat: ChatId, title: String, open: Callback<ChatId>) {
    notify(chat, title, ReplyNotification::Waits, open);
}

/// What is said of an end; nothing of one that the reader brought about.
fn ending_sentence(status: TurnStatus) -> Option<&'static str> {
    match status {
        TurnStatus::Complete => Some(messages::notify_complete()),
        TurnStatus::Error => Some(messages::notify_failed()),
        _ => None,
    }
}

fn notify(chat: ChatId, title: String, told: ReplyNotification, open: Callback<ChatId>) {
    if document::is_hidden() {
        spawn_local(async move {
            if let Ok((tell, _)) = fetch().await {
                tell(chat, title, told, open);
            }
        });
    }
}

fn show_notification(chat: ChatId, title: String, told: ReplyNotification, open: Callback<ChatId>) {
    register_click_listener(open);
    spawn_local(async move {
        let word = match told {
            ReplyNotification::Waits => Some(messages::notify_waits()),
            // One that cannot be asked about has ended all the same.
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

/// Leads to the chat of a note that was shown before this page was loaded, too.
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
