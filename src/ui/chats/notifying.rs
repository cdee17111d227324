//! Notes of the system, for a page that nobody sees (ux.md 8): that a reply ended, failed, or waits for its reader. They
//! name the chat and never say anything of what is in it.

use leptos::prelude::Callable;
use leptos::prelude::Callback;
use leptos::task::spawn_local;

use crate::api::chats::last_status;
use crate::browser::{document, notification};
use crate::domain::{ChatId, TurnStatus};
use crate::ui::fetched::NotFetched;
use crate::ui::preferences::{Setting, chosen};
use crate::ui::words;

/// What is told of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    Ended,
    Waits,
}

/// What tells it, and what leads to the chat of a note that is pressed. Most people never switch them on.
type Code = (fn(ChatId, String, Told, Callback<ChatId>), fn(Callback<ChatId>));

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Code, NotFetched> {
    Ok((tell_now, hear_now))
}

/// Whether somebody wants them and the browser shows them.
pub fn are_wanted() -> bool {
    chosen(Setting::Notify) == "on" && notification::is_allowed()
}

/// Tells that a reply in this chat is over. `open` shows the chat.
pub fn ended(chat: ChatId, title: String, open: Callback<ChatId>) {
    tell(chat, title, Told::Ended, open);
}

/// Tells that a reply in this chat waits for its reader.
pub fn waits(chat: ChatId, title: String, open: Callback<ChatId>) {
    tell(chat, title, Told::Waits, open);
}

/// What is said of an end; nothing of one that the reader brought about.
fn said(status: TurnStatus) -> Option<&'static str> {
    match status {
        TurnStatus::Complete => Some(words::notify_complete()),
        TurnStatus::Error => Some(words::notify_failed()),
        _ => None,
    }
}

fn tell(chat: ChatId, title: String, told: Told, open: Callback<ChatId>) {
    if document::is_hidden() {
        spawn_local(async move {
            if let Ok((tell, _)) = fetch().await {
                tell(chat, title, told, open);
            }
        });
    }
}

fn tell_now(chat: ChatId, title: String, told: Told, open: Callback<ChatId>) {
    hear_now(open);
    spawn_local(async move {
        let word = match told {
            Told::Waits => Some(words::notify_waits()),
            // One that cannot be asked about has ended all the same.
            Told::Ended => last_status(chat).await.unwrap_or(Some(TurnStatus::Complete)).and_then(said),
        };
        let title = if title.is_empty() { words::untitled() } else { &title };
        if let Some(word) = word.filter(|_| document::is_hidden()) {
            notification::show(title, word, &chat.to_string(), move || open.run(chat)).await;
        }
    });
}

/// Leads to the chat of a note that was shown before this page was loaded, too.
pub fn hear(open: Callback<ChatId>) {
    spawn_local(async move {
        if let Ok((_, hear)) = fetch().await {
            hear(open);
        }
    });
}

fn hear_now(open: Callback<ChatId>) {
    notification::hear(move |chat| {
        if let Ok(chat) = chat.parse() {
            open.run(chat);
        }
    });
}
