//! Synchronization between a chat's page and the chat list: a reply began, its end was read, it waits for a person;
//! and the title.

use leptos::prelude::*;

use crate::browser::document;
use crate::domain::{Chat, ChatId, TurnId};
use crate::ui::chats::Chats;
use crate::ui::erased::on_change;

/// Refreshes the list when a reply begins or ends, or begins to wait for a person. A reply that ends on screen is read.
/// The list also shows the title that the first message gave.
pub fn refresh_list(chat: ChatId, running: Signal<Option<TurnId>>, needs_you: Memo<bool>) {
    let chats = use_context::<Chats>();
    on_change(
        move || (running.get().is_some(), needs_you.get()),
        move |(was_running, _), (is_running, _)| {
            let Some(chats) = chats.filter(|_| was_running || !is_running) else { return };
            if was_running && !is_running && !document::is_hidden() {
                chats.mark_read(chat);
            } else {
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
