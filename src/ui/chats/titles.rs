//! Suggesting a title: asks the model of a chat, and renames the chat to the answer, which can be undone; the request can
//! be stopped. The code is loaded with the first use.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Chats;
use crate::api::chats::{stop_title, suggest_title};
use crate::domain::ChatId;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::chats as texts;
use crate::ui::messages::transcript::stop_word;
use crate::ui::messages::{self, server_messages::problem};

type ToggleSuggestionCall = fn(Chats, ChatId, String);

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<ToggleSuggestionCall, NotFetched> {
    Ok(toggle_suggestion)
}

impl Chats {
    /// Returns whether this page has asked for a title of a chat, and waits for it.
    pub fn is_suggesting_title(self, id: ChatId) -> bool {
        self.suggesting.with(|chats| chats.contains(&id))
    }

    /// Asks for a title of a chat and renames it. While that runs, it is stopped instead.
    pub fn toggle_title_suggestion(self, id: ChatId, title: String) {
        spawn_local(async move {
            match fetch().await {
                Ok(toggle) => toggle(self, id, title),
                Err(_) => self.report_failure(&title.clone(), messages::part_load_failed(), move || {
                    self.toggle_title_suggestion(id, title.clone())
                }),
            }
        });
    }
}

fn toggle_suggestion(chats: Chats, id: ChatId, title: String) {
    match chats.suggesting.with_untracked(|running| running.contains(&id)) {
        true => stop_suggestion(chats, id, title),
        false => apply_suggestion(chats, id, title),
    }
}

fn apply_suggestion(chats: Chats, id: ChatId, title: String) {
    let shown = title.clone();
    let toast =
        chats.toasts.offer(texts::suggesting_title(), stop_word(), move || stop_suggestion(chats, id, shown.clone()));
    chats.announcer.announce(texts::suggesting_title());
    chats.suggesting.update(|running| running.push(id));
    chats.last_failure.set(None);
    spawn_local(async move {
        let suggested = suggest_title(id).await;
        chats.suggesting.update(|running| running.retain(|chat| *chat != id));
        chats.toasts.withdraw(&toast);
        // It may have been renamed meanwhile.
        let old = Some(chats.title_of(id)).filter(|known| !known.is_empty()).unwrap_or(title);
        let renamed = match suggested {
            Ok(Some(new)) => chats.rename(id, new.clone()).await.map(|()| new),
            Ok(None) => {
                chats.toasts.show(texts::suggestion_stopped());
                chats.announcer.announce(texts::suggestion_stopped());
                return;
            }
            Err(error) => Err(error),
        };
        match renamed {
            Ok(new) => {
                chats
                    .toasts
                    .offer(texts::renamed_to(&new), messages::undo(), move || restore_title(chats, id, old.clone()));
            }
            Err(error) => {
                let reason = problem(&error);
                chats.report_failure(&old.clone(), &reason, move || chats.toggle_title_suggestion(id, old.clone()));
            }
        }
    });
}

/// Stops the request; whoever waits for it tells the person.
fn stop_suggestion(chats: Chats, id: ChatId, title: String) {
    spawn_local(async move {
        if let Err(error) = stop_title(id).await {
            let reason = problem(&error);
            chats.report_failure(&title.clone(), &reason, move || stop_suggestion(chats, id, title.clone()));
        }
    });
}

fn restore_title(chats: Chats, id: ChatId, old: String) {
    spawn_local(async move {
        if let Err(error) = chats.rename(id, old.clone()).await {
            let reason = problem(&error);
            chats.report_failure(&old.clone(), &reason, move || restore_title(chats, id, old.clone()));
        }
    });
}
