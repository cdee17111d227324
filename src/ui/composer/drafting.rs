//! Drafts in the box: what another tab or device stored is shown or offered, what the server did not take is offered to
//! it again.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::chats::glance_at_chat;
use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::focus;
use crate::ui::composer::state::ComposerState;
use crate::ui::words;

impl ComposerState {
    /// Another tab stored a draft: it is shown where nobody typed here since, and offered where somebody did.
    pub fn draft_changed_elsewhere(self, newer: DraftView) {
        match self.draft.heard(newer) {
            Some(shown) => {
                self.show(&shown.text);
                self.attaching.show(shown.attachments, &shown.named);
            }
            None if self.draft.elsewhere.get_untracked().is_some() => self.announcer.say(words::draft_elsewhere()),
            None => {}
        }
    }

    /// Offers the server the draft that it did not take, where nobody wrote another one meanwhile: that is asked first,
    /// because saving would put this one in its place.
    pub fn save_again(self) {
        if !self.draft.is_unsaved.get_untracked() || self.draft.elsewhere.get_untracked().is_some() {
            return;
        }
        // Of the new chat's draft nothing else can be asked than to be saved.
        let Some(chat) = self.chat_id else { return self.draft.save() };
        let leaf = self.leaf.get_untracked();
        spawn_local(async move {
            let glance = glance_at_chat(chat, leaf, self.draft.rev()).await;
            // The page may have gone meanwhile.
            if self.draft.is_unsaved.try_get_untracked() != Some(true) {
                return;
            }
            match glance {
                Ok(glance) => {
                    if let Some(newer) = glance.draft {
                        self.draft_changed_elsewhere(newer);
                    }
                    if self.draft.elsewhere.get_untracked().is_none() {
                        self.draft.save();
                    }
                }
                Err(ApiError::NotFound) => {}
                Err(_) => self.draft.save_later(),
            }
        });
    }

    /// Takes the draft of another tab in place of what is in the box.
    pub fn use_draft(self, draft: DraftView) {
        self.draft.elsewhere.set(None);
        self.take(draft);
        focus::on("#message");
    }

    /// Shows a draft in place of what is there, and keeps it as what is there.
    pub fn take(self, draft: DraftView) {
        self.attaching.show(draft.attachments.clone(), &draft.named);
        self.draft.change(|current| current.attachments = draft.attachments);
        self.fill(&draft.text);
    }
}
