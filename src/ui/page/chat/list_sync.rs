//! Synchronization between a chat's page and the chat list: a reply began, its end was seen, it waits for a person;
//! and the title.

use leptos::prelude::*;

use crate::browser::document;
use crate::domain::{Chat, ChatId, TurnId};
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, on_change};

/// Marks the chat as seen when a reply ends on its page, so that the list shows it as unread only if the end was not
/// seen.
pub fn mark_seen_at_end(chat: ChatId, running: Signal<Option<TurnId>>) {
    let Some(chats) = use_context::<Chats>() else { return };
    effect(move || match running.get() {
        Some(_) => chats.reply_started(chat),
        None if !document::is_hidden() => chats.mark_seen(chat),
        None => {}
    });
}

/// Refreshes the list when a reply begins or ends, or begins to wait for a person. The list also shows the title that
/// the first message gave.
pub fn refresh_list(running: Signal<Option<TurnId>>, needs_you: Memo<bool>) {
    let chats = use_context::<Chats>();
    on_change(
        move || (running.get().is_some(), needs_you.get()),
        move |(was_running, _), (is_running, _)| {
            if let Some(chats) = chats.filter(|_| was_running || !is_running) {
                chats.refresh();
            }
        },
    );
}

/// Returns the chat's title, which follows renames made here.
pub fn chat_title(chat: &Chat) -> Signal<String> {
    let (id, first) = (chat.id, chat.title.clone());
    let renamed = use_context::<Chats>().map(|chats| chats.renamed);
    Signal::derive(move || {
        let renamed = renamed.and_then(|renamed| renamed.get()).filter(|(renamed, _)| *renamed == id);
        renamed.map_or_else(|| first.clone(), |(_, title)| title)
    })
}
