//! Drafts in the box: what another tab or device stored is shown or offered, what the server did not take is offered to
//! it again.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::chats::{glance_at_chat, load_chat};
use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::focus;
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::on_change;
use crate::ui::messages;

/// How long after a question that failed it is asked again.
const ASK_AGAIN: Duration = Duration::from_secs(3);

impl ComposerState {
    /// Another tab stored a draft: it is shown where nobody typed here since, and offered where somebody did.
    pub fn on_remote_draft(self, newer: DraftView) {
        match self.draft.take_remote(newer) {
            Some(shown) => {
                // What was to go out by itself is not in the box any more.
                self.stop_waiting();
                let problem = self.problem.get_untracked();
                self.show_text(&shown.text);
                // Nobody typed here: what is wrong with the message is wrong still.
                self.problem.set(problem);
                self.attaching.replace_all(shown.attachments, &shown.named);
            }
            None if self.draft.conflicting.get_untracked().is_some() => self.announcer.say(messages::draft_elsewhere()),
            None => {}
        }
    }

    /// Hears of the new chat's draft what every page is told every moment; of a chat's own draft its page hears.
    pub(super) fn follow_new_chat(self) {
        let Some(chats) = self.chats.filter(|_| self.chat_id.is_none()) else { return };
        on_change(move || chats.draft_rev.get(), move |_, rev| self.load_new_chat_draft(rev));
    }

    /// Asks for the new chat's draft, which has this revision by now. What does not come is asked for again: nobody tells
    /// of it a second time.
    fn load_new_chat_draft(self, rev: i64) {
        let is_here = move || self.phase.try_get_untracked().is_some();
        if !is_here() || rev <= self.draft.rev() {
            return;
        }
        spawn_local(async move {
            let newer = self.newer_draft().await;
            match newer {
                // The page may have gone meanwhile.
                _ if !is_here() => {}
                Ok(Some(newer)) => self.on_remote_draft(newer),
                Ok(None) => {}
                Err(_) => set_timeout(move || self.load_new_chat_draft(rev), ASK_AGAIN),
            }
        });
    }

    /// The draft as the server has it, where that is newer than what it had when it was last heard of.
    async fn newer_draft(self) -> Result<Option<DraftView>, ApiError> {
        let rev = self.draft.rev();
        Ok(match self.chat_id {
            Some(chat) => glance_at_chat(chat, self.leaf.get_untracked(), rev).await?.draft,
            None => Some(load_chat(None, None, None, None).await?.draft).filter(|draft| draft.rev > rev),
        })
    }

    /// Offers the server the draft that it did not take, where nobody wrote another one meanwhile: that is asked first,
    /// because saving would put this one in its place.
    pub fn save_again(self) {
        if !self.draft.is_unsaved.get_untracked() || self.draft.conflicting.get_untracked().is_some() {
            return;
        }
        spawn_local(async move {
            let newer = self.newer_draft().await;
            // The page may have gone meanwhile.
            if self.draft.is_unsaved.try_get_untracked() != Some(true) {
                return;
            }
            match newer {
                Ok(newer) => {
                    if let Some(newer) = newer {
                        self.on_remote_draft(newer);
                    }
                    if self.draft.conflicting.get_untracked().is_none() {
                        self.draft.save();
                    }
                }
                Err(ApiError::NotFound) => {}
                Err(_) => self.draft.save_later(),
            }
        });
    }

    /// Takes the draft of another tab in place of what is in the box; undo brings those words back.
    pub fn use_draft(self, draft: DraftView) {
        self.draft.conflicting.set(None);
        focus::focus_first("#message");
        self.show_and_keep_draft(draft);
    }

    /// Shows a draft in place of what is there, and keeps it as what is there.
    pub fn show_and_keep_draft(self, draft: DraftView) {
        self.attaching.replace_all(draft.attachments.clone(), &draft.named);
        self.draft.update(|current| current.attachments = draft.attachments);
        self.fill(&draft.text);
    }
}
