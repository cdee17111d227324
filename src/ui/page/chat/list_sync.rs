//! What a chat's page tells the list of chats, and takes from it: that its reply began, that its end was seen, that it
//! waits for somebody; its title.

use leptos::prelude::*;

use crate::browser::document;
use crate::domain::{Chat, ChatId, TurnId};
use crate::ui::chats::Chats;
use crate::ui::erased::{effect, on_change};

/// The list of chats says of a chat whose reply ended unseen that it did: not of one whose end was seen here.
pub fn mark_seen_at_end(chat: ChatId, running: Signal<Option<TurnId>>) {
    let Some(chats) = use_context::<Chats>() else { return };
    effect(move || match running.get() {
        Some(_) => chats.reply_started(chat),
        None if !document::is_hidden() => chats.mark_seen(chat),
        None => {}
    });
}

/// The list of chats shows which ones are being answered and which wait for somebody, and the title that the first message gave.
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

/// The chat's title, as it is renamed here.
pub fn chat_title(chat: &Chat) -> Signal<String> {
    let (id, first) = (chat.id, chat.title.clone());
    let renamed = use_context::<Chats>().map(|chats| chats.renamed);
    Signal::derive(move || {
        let renamed = renamed.and_then(|renamed| renamed.get()).filter(|(renamed, _)| *renamed == id);
        renamed.map_or_else(|| first.clone(), |(_, title)| title)
    })
}
