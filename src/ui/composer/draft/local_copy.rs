//! The local copy of a draft that this browser keeps until the server has it.

use std::time::Duration;

use leptos::prelude::{WithValue, set_timeout};

use super::DraftKeeper;
use super::draft_merge::{DRAFT_SEPARATOR, is_empty_draft};
use crate::api::json;
use crate::api::view::DraftView;
use crate::browser::local_store;

/// The time that a requested page may take to arrive.
const REQUEST_WINDOW: Duration = Duration::from_secs(5);

impl DraftKeeper {
    /// Returns the local copy if it is newer than the draft that came with the page: the server could not store it.
    pub fn unsent_copy(self) -> Option<DraftView> {
        let copy = self.stored_copy()?;
        (copy.rev >= self.saved.with_value(|saved| saved.rev)).then_some(copy)
    }

    /// Removes the accepted message `sent` from the local copy; text typed behind it stays. Works after the page that
    /// sent it is gone.
    pub fn forget_sent(self, sent: &DraftView) {
        let Some(mut copy) = self.stored_copy() else { return };
        let rest = copy
            .text
            .strip_prefix(&sent.text)
            .map(|rest| rest.strip_prefix(DRAFT_SEPARATOR).unwrap_or(rest).to_owned());
        let Some(rest) = rest else { return };
        if copy.attachments.starts_with(&sent.attachments) {
            copy.attachments.drain(..sent.attachments.len());
        }
        // The copy must be newer than the draft that the server cleared when it accepted the message.
        copy.rev += 1;
        copy.text = rest;
        if is_empty_draft(&copy) { self.forget_copy() } else { self.store_copy(&copy) }
    }

    pub(super) fn store_copy(self, draft: &DraftView) {
        if let Ok(json) = serde_json::to_string(draft) {
            local_store::put(&self.key(), &json);
        }
    }

    fn stored_copy(self) -> Option<DraftView> {
        json::parse(local_store::get(&self.key())?.as_bytes()).ok()
    }

    /// Removes the local copy, because the server has the text.
    pub fn forget_copy(self) {
        local_store::remove(&self.key());
    }

    /// Removes the local copy of a stored draft after a delay: a page that was requested before the save comes
    /// without the draft, and finds the copy. Works after the page is gone.
    pub(super) fn forget_stored(self, stored: &DraftView) {
        let kept = serde_json::to_string(stored).ok();
        let forget = move || {
            if local_store::get(&self.key()) == kept {
                self.forget_copy();
            }
        };
        set_timeout(forget, REQUEST_WINDOW);
    }

    /// Removes a copy that differs from the stored draft; an equal copy is removed by its timer.
    pub(super) fn forget_other(self, stored: &DraftView) {
        if local_store::get(&self.key()) != serde_json::to_string(stored).ok() {
            self.forget_copy();
        }
    }

    /// Raises the revision of the local copy after a save as `rev`: the copy was typed after that save. Works after
    /// the page is gone.
    pub(super) fn renew_copy(self, rev: i64) {
        if let Some(copy) = self.stored_copy().filter(|copy| copy.rev < rev) {
            self.store_copy(&DraftView { rev, ..copy });
        }
    }

    fn key(self) -> String {
        match self.chat_id {
            Some(id) => format!("turnleaf.draft.{id}"),
            None => "turnleaf.draft.new".to_owned(),
        }
    }
}
