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

/// What shows one, and what leads to the chat of one that is pressed. Most people never switch them on.
type Code = (fn(ChatId, String, &'static str, Callback<ChatId>), fn(Callback<ChatId>));

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Code, NotFetched> {
    Ok((show_now, hear_now))
}

/// Whether somebody wants them and the browser shows them.
pub fn are_wanted() -> bool {
    chosen(Setting::Notify) == "on" && notification::is_allowed()
}

/// Tells that a reply in this chat is over. `open` shows the chat.
pub fn ended(chat: ChatId, title: String, open: Callback<ChatId>) {
    spawn_local(async move {
        // One that cannot be asked about has ended all the same.
        let status = last_status(chat).await.unwrap_or(Some(TurnStatus::Complete));
        if let Some(word) = status.and_then(said) {
            show(chat, &title, word, open);
        }
    });
}

/// Tells that a reply in this chat waits for its reader.
pub fn waits(chat: ChatId, title: &str, open: Callback<ChatId>) {
    show(chat, title, words::notify_waits(), open);
}

/// What is said of an end; nothing of one that the reader brought about.
fn said(status: TurnStatus) -> Option<&'static str> {
    match status {
        TurnStatus::Complete => Some(words::notify_complete()),
        TurnStatus::Error => Some(words::notify_failed()),
        _ => None,
    }
}

fn show(chat: ChatId, title: &str, word: &'static str, open: Callback<ChatId>) {
    let title = if title.is_empty() { words::untitled() } else { title }.to_owned();
    if document::is_hidden() {
        spawn_local(async move {
            if let Ok((show, _)) = fetch().await {
                show(chat, title, word, open);
            }
        });
    }
}

fn show_now(chat: ChatId, title: String, word: &'static str, open: Callback<ChatId>) {
    hear_now(open);
    spawn_local(async move {
        notification::show(&title, word, &chat.to_string(), move || open.run(chat)).await;
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
