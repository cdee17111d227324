//! Suggesting a title: asks the model of a chat, and renames the chat to the answer, which can be undone. The code is loaded
//! with the first use.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Chats;
use crate::api::chats::suggest_title;
use crate::domain::ChatId;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::chats as texts;
use crate::ui::messages::{self, server_messages::problem};

type SuggestTitleCall = fn(Chats, ChatId, String);

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<SuggestTitleCall, NotFetched> {
    Ok(apply_suggestion)
}

impl Chats {
    /// Asks for a title of a chat and renames it.
    pub fn suggest_title(self, id: ChatId, title: String) {
        spawn_local(async move {
            match fetch().await {
                Ok(suggest) => suggest(self, id, title),
                Err(_) => self.report_failure(&title.clone(), messages::part_load_failed(), move || {
                    self.suggest_title(id, title.clone())
                }),
            }
        });
    }
}

fn apply_suggestion(chats: Chats, id: ChatId, title: String) {
    chats.toasts.show(texts::suggesting_title());
    chats.announcer.announce(texts::suggesting_title());
    // Another press while the request runs would only wait for the same answer.
    if chats.suggesting.get_value() == Some(id) {
        return;
    }
    chats.suggesting.set_value(Some(id));
    chats.last_failure.set(None);
    spawn_local(async move {
        let suggested = suggest_title(id).await;
        chats.suggesting.set_value(None);
        // It may have been renamed meanwhile.
        let old = Some(chats.title_of(id)).filter(|known| !known.is_empty()).unwrap_or(title);
        let renamed = match suggested {
            Ok(new) => chats.rename(id, new.clone()).await.map(|()| new),
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
                chats.report_failure(&old.clone(), &reason, move || chats.suggest_title(id, old.clone()));
            }
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
