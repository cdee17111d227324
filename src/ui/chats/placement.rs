//! Pinning chats and putting them into the archive, from the list. Most visits do neither, so the code comes with the
//! first one.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Chats;
use crate::api::chats::place_chat;
use crate::domain::ChatId;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::chats as says;
use crate::ui::messages::{self, server_messages::problem};

/// Where a chat goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatPlacement {
    Pinned(bool),
    Archived(bool),
}

type Code = fn(Chats, ChatId, String, ChatPlacement);

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Code, NotFetched> {
    Ok(apply_placement)
}

impl Chats {
    /// Puts a chat somewhere else in the list, or out of it.
    pub fn set_placement(self, id: ChatId, title: String, to: ChatPlacement) {
        spawn_local(async move {
            match fetch().await {
                Ok(place) => place(self, id, title, to),
                Err(_) => self.report_failure(&title.clone(), messages::part_load_failed(), move || {
                    self.set_placement(id, title.clone(), to)
                }),
            }
        });
    }
}

fn apply_placement(chats: Chats, id: ChatId, title: String, to: ChatPlacement) {
    chats.last_failure.set(None);
    // Gone at once; what fails brings it back.
    if to == ChatPlacement::Archived(true) {
        chats.hidden.update(|hidden| hidden.push(id));
    }
    spawn_local(async move {
        let (pinned, archived) = match to {
            ChatPlacement::Pinned(pinned) => (Some(pinned), None),
            ChatPlacement::Archived(archived) => (None, Some(archived)),
        };
        if let Err(error) = place_chat(id, pinned, archived).await {
            chats.unhide(id);
            let why = problem(&error);
            return chats.report_failure(&title.clone(), &why, move || chats.set_placement(id, title.clone(), to));
        }
        if to != ChatPlacement::Archived(true) {
            chats.unhide(id);
        }
        chats.forget_older(id);
        chats.refresh();
        chats.announcer.say(match to {
            ChatPlacement::Pinned(true) => says::pinned_now(),
            ChatPlacement::Pinned(false) => says::unpinned_now(),
            ChatPlacement::Archived(true) => says::archived_can_undo(),
            ChatPlacement::Archived(false) => says::back_in_list(),
        });
        if to == ChatPlacement::Archived(true) {
            let back = title.clone();
            chats.toasts.offer(says::archived(&title), messages::undo(), move || {
                apply_placement(chats, id, back.clone(), ChatPlacement::Archived(false));
            });
        }
    });
}
