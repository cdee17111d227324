//! Deleting and restoring chats of the list, and the report of a failed action on a chat.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::{Chats, chat_path};
use crate::api::chats::{delete_chat, restore_chat};
use crate::browser::{document, focus};
use crate::domain::ChatId;
use crate::ui::kit::RetryableFailure;
use crate::ui::messages::{self, server_messages::problem};

impl Chats {
    /// Deletes a chat of the list and moves the focus of a keyboard user to the next one.
    pub fn delete_from_list(self, id: ChatId, title: &str) {
        let next = self.known.with_value(|known| {
            let (hidden, all) = (self.hidden.get_untracked(), known.as_ref()?);
            let all: Vec<ChatId> =
                all.chats.iter().map(|chat| chat.id).filter(|chat| *chat == id || !hidden.contains(chat)).collect();
            let at = all.iter().position(|chat| *chat == id)?;
            all.get(at + 1).or_else(|| all.get(at.checked_sub(1)?)).copied()
        });
        self.delete(id, title);
        // The next row is rendered again with the list, a moment later.
        if let Some(next) = next {
            let take = move || {
                let _ = focus::focus_first(&format!(".chat-link[href=\"{}\"]", chat_path(next)));
            };
            request_animation_frame(move || request_animation_frame(take));
        }
    }

    /// Deletes a chat optimistically and offers undo.
    pub fn delete(self, id: ChatId, title: &str) {
        let title = title.to_owned();
        self.hidden.update(|hidden| hidden.push(id));
        self.last_failure.set(None);
        self.announcer.announce(messages::deleted_can_undo());
        spawn_local(async move {
            match delete_chat(id).await {
                Ok(()) => {
                    let note = messages::deleted(&title);
                    self.toasts.offer(note, messages::undo(), move || self.restore(id, title.clone()));
                }
                Err(error) => {
                    self.unhide(id);
                    let reason = problem(&error);
                    self.report_failure(&title.clone(), &reason, move || self.delete(id, &title));
                }
            }
        });
    }

    fn restore(self, id: ChatId, title: String) {
        spawn_local(async move {
            match restore_chat(id).await {
                Ok(()) => {
                    self.unhide(id);
                    self.refresh();
                    self.announcer.announce(messages::restored());
                }
                Err(error) => {
                    let reason = problem(&error);
                    self.report_failure(&title.clone(), &reason, move || self.restore(id, title.clone()));
                }
            }
        });
    }

    /// Shows a failed action on a chat above the list, with a retry button; where the list is not on screen, a toast
    /// shows it.
    pub(super) fn report_failure(self, title: &str, reason: &str, again: impl Fn() + Send + Sync + 'static) {
        let reason = messages::chats::not_done(title, reason);
        self.announcer.alert(&reason);
        let failure = RetryableFailure { reason, retry: Arc::new(again) };
        self.last_failure.set(Some(failure.clone()));
        request_animation_frame(move || {
            if !document::is_visible(".drawer .failed-deed") {
                let again = failure.retry.clone();
                self.toasts.offer(failure.reason, messages::retry(), move || {
                    self.last_failure.set(None);
                    again();
                });
            }
        });
    }

    pub(super) fn unhide(self, id: ChatId) {
        self.hidden.update(|hidden| hidden.retain(|other| *other != id));
    }
}
