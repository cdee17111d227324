//! Pinning chats and putting them into the archive, from the list. Most visits do neither, so the code comes with the
//! first one.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Chats;
use crate::api::chats::place_chat;
use crate::domain::ChatId;
use crate::ui::fetched::NotFetched;
use crate::ui::words::chats as says;
use crate::ui::words::{self, told::problem};

/// Where a chat goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Pinned(bool),
    Archived(bool),
}

type Code = fn(Chats, ChatId, String, Place);

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<Code, NotFetched> {
    Ok(place)
}

impl Chats {
    /// Puts a chat somewhere else in the list, or out of it.
    pub fn place(self, id: ChatId, title: String, to: Place) {
        spawn_local(async move {
            match fetch().await {
                Ok(place) => place(self, id, title, to),
                Err(_) => self.fail(&title.clone(), words::no_part(), move || self.place(id, title.clone(), to)),
            }
        });
    }
}

fn place(chats: Chats, id: ChatId, title: String, to: Place) {
    chats.failing.set(None);
    // Gone at once; what fails brings it back.
    if to == Place::Archived(true) {
        chats.hidden.update(|hidden| hidden.push(id));
    }
    spawn_local(async move {
        let (pinned, archived) = match to {
            Place::Pinned(pinned) => (Some(pinned), None),
            Place::Archived(archived) => (None, Some(archived)),
        };
        if let Err(error) = place_chat(id, pinned, archived).await {
            chats.show_again(id);
            let why = problem(&error);
            return chats.fail(&title.clone(), &why, move || chats.place(id, title.clone(), to));
        }
        if to != Place::Archived(true) {
            chats.show_again(id);
        }
        chats.forget_older(id);
        chats.refresh();
        chats.announcer.say(match to {
            Place::Pinned(true) => says::pinned_now(),
            Place::Pinned(false) => says::unpinned_now(),
            Place::Archived(true) => says::archived_can_undo(),
            Place::Archived(false) => says::back_in_list(),
        });
        if to == Place::Archived(true) {
            let back = title.clone();
            chats.toasts.offer(says::archived(&title), words::undo(), move || {
                place(chats, id, back.clone(), Place::Archived(false));
            });
        }
    });
}
