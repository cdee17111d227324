//! Pinning and archiving chats from the list, and marking them as unread. The code is loaded with the first use,
//! because most visits need none of it.

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::Chats;
use crate::api::chats::place_chat;
use crate::domain::ChatId;
use crate::ui::lazy_parts::NotFetched;
use crate::ui::messages::chats as texts;
use crate::ui::messages::{self, server_messages::problem};

/// The new placement of a chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatPlacement {
    Pinned(bool),
    Archived(bool),
    /// Not a placement, but the same kind of action.
    Unread,
}

type ChatPlacementCall = fn(Chats, ChatId, String, ChatPlacement);

#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<ChatPlacementCall, NotFetched> {
    Ok(apply_placement)
}

impl Chats {
    /// Pins, unpins, archives or unarchives a chat, or marks it as unread.
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
    // Optimistic update: the chat is hidden at once and shown again on failure.
    if to == ChatPlacement::Archived(true) {
        chats.hidden.update(|hidden| hidden.push(id));
    }
    spawn_local(async move {
        let (pinned, archived, unread) = match to {
            ChatPlacement::Pinned(pinned) => (Some(pinned), None, None),
            ChatPlacement::Archived(archived) => (None, Some(archived), None),
            ChatPlacement::Unread => (None, None, Some(true)),
        };
        if let Err(error) = place_chat(id, pinned, archived, unread).await {
            chats.unhide(id);
            let reason = problem(&error);
            return chats.report_failure(&title.clone(), &reason, move || chats.set_placement(id, title.clone(), to));
        }
        if to != ChatPlacement::Archived(true) {
            chats.unhide(id);
        }
        if to != ChatPlacement::Unread {
            chats.forget_older(id);
        }
        chats.refresh();
        chats.announcer.announce(match to {
            ChatPlacement::Pinned(true) => texts::pinned_now(),
            ChatPlacement::Pinned(false) => texts::unpinned_now(),
            ChatPlacement::Archived(true) => texts::archived_can_undo(),
            ChatPlacement::Archived(false) => texts::back_in_list(),
            ChatPlacement::Unread => texts::unread_now(),
        });
        if to == ChatPlacement::Archived(true) {
            let back = title.clone();
            chats.toasts.offer(texts::archived(&title), messages::undo(), move || {
                apply_placement(chats, id, back.clone(), ChatPlacement::Archived(false));
            });
        }
    });
}
