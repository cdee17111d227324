//! Draft synchronization of the box: drafts of other tabs and devices are shown or offered, failed saves are retried.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::chats::load_chat;
use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::focus;
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::on_change;
use crate::ui::messages;
use crate::ui::polling::poll_chat;

/// The delay before a failed load is retried.
const ASK_AGAIN: Duration = Duration::from_secs(3);

impl ComposerState {
    /// Handles a draft that another tab stored: shown where nothing was typed here since, offered otherwise.
    pub fn on_remote_draft(self, newer: DraftView) {
        match self.draft.take_remote(newer) {
            Some(shown) => {
                // The message that waited to be sent is no longer in the box.
                self.stop_waiting();
                let problem = self.problem.get_untracked();
                self.show_text(&shown.text);
                // The shown draft was not typed here, so the problem of the message persists.
                self.problem.set(problem);
                self.attaching.replace_all(shown.attachments, &shown.named);
            }
            None if self.draft.conflicting.get_untracked().is_some() => {
                self.announcer.announce(messages::draft_elsewhere())
            }
            None => {}
        }
    }

    /// Follows the revision of the new chat's draft, which every page polls; a chat's own draft is followed by its
    /// page.
    pub(super) fn follow_new_chat(self) {
        let Some(chats) = self.chats.filter(|_| self.chat_id.is_none()) else { return };
        on_change(move || chats.draft_rev.get(), move |_, rev| self.load_new_chat_draft(rev));
    }

    /// Loads the new chat's draft at this revision. A failed load is retried, because the revision is not reported
    /// again.
    fn load_new_chat_draft(self, rev: i64) {
        let is_here = move || self.phase.try_get_untracked().is_some();
        if !is_here() || rev <= self.draft.rev() {
            return;
        }
        spawn_local(async move {
            let newer = self.newer_draft().await;
            match newer {
                // The page may be gone by now.
                _ if !is_here() => {}
                Ok(Some(newer)) => self.on_remote_draft(newer),
                Ok(None) => {}
                Err(_) => set_timeout(move || self.load_new_chat_draft(rev), ASK_AGAIN),
            }
        });
    }

    /// Returns the draft on the server where it is newer than the last known revision.
    async fn newer_draft(self) -> Result<Option<DraftView>, ApiError> {
        let rev = self.draft.rev();
        Ok(match self.chat_id {
            Some(chat) => poll_chat(chat, self.leaf.get_untracked(), rev, None).await?.draft,
            None => Some(load_chat(None, None, None, None).await?.draft).filter(|draft| draft.rev > rev),
        })
    }

    /// Retries a failed save. It first loads the server's draft, because saving would overwrite a newer one of
    /// another tab.
    pub fn save_again(self) {
        if !self.draft.is_unsaved.get_untracked() || self.draft.conflicting.get_untracked().is_some() {
            return;
        }
        spawn_local(async move {
            let newer = self.newer_draft().await;
            // The page may be gone by now.
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

    /// Replaces the content of the box by the draft of another tab; undo restores the text.
    pub fn use_draft(self, draft: DraftView) {
        self.draft.conflicting.set(None);
        focus::focus_first("#message");
        self.show_and_keep_draft(draft);
    }

    /// Shows a draft in the box and keeps it as the current one.
    pub fn show_and_keep_draft(self, draft: DraftView) {
        self.attaching.replace_all(draft.attachments.clone(), &draft.named);
        self.draft.update(|current| current.attachments = draft.attachments);
        self.fill(&draft.text);
    }
}
