//! Drafts: unsent text is saved on the server, debounced, and in the browser until the server has it
//! (docs/reference/ux.md 10.6).

mod draft_merge;
mod local_copy;
mod pending_saves;

use std::time::Duration;

use leptos::leptos_dom::helpers::TimeoutHandle;
use leptos::prelude::*;
use leptos::task::spawn_local;

pub use draft_merge::is_same_draft;
use draft_merge::{append_to_held, is_empty_draft, is_same_message, merge_three_way};
use pending_saves::PendingSaves;

use crate::api::drafts::save_draft;
use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::domain::ChatId;
use crate::domain::documents::attachment::Attachment;
use crate::ui::chats::Chats;

/// The debounce: a draft is saved this long after the last key.
const PAUSE: Duration = Duration::from_millis(500);
/// The delay before a failed save is retried; doubles each time.
const AGAIN: Duration = Duration::from_secs(2);
const MOST_DOUBLINGS: u32 = 5;

/// Keeps the draft of one chat, or of the new chat.
#[derive(Clone, Copy)]
pub struct DraftKeeper {
    chat_id: Option<ChatId>,
    /// The draft as stored on the server.
    saved: StoredValue<DraftView>,
    /// The draft on screen.
    current: StoredValue<DraftView>,
    timer: StoredValue<Option<TimeoutHandle>>,
    /// The content of a message that is being sent. Saving it meanwhile would restore it as a draft.
    held: StoredValue<Option<DraftView>>,
    flight: StoredValue<PendingSaves>,
    /// The content of the pending save.
    saving: StoredValue<Option<DraftView>>,
    /// A draft that another tab stored while something else was typed here.
    pub conflicting: RwSignal<Option<DraftView>>,
    /// True if the server did not accept the last save.
    pub is_unsaved: RwSignal<bool>,
    /// The number of consecutive failed saves.
    refused: StoredValue<u32>,
    /// Changes when the save is to be retried.
    pub retry_tick: RwSignal<u32>,
    chats: Option<Chats>,
}

impl DraftKeeper {
    /// `draft` is the draft that the server rendered with the page.
    pub fn new(chat_id: Option<ChatId>, draft: DraftView) -> Self {
        Self {
            chat_id,
            saved: StoredValue::new(draft.clone()),
            current: StoredValue::new(draft),
            timer: StoredValue::new(None),
            held: StoredValue::new(None),
            flight: StoredValue::new(PendingSaves::default()),
            saving: StoredValue::new(None),
            conflicting: RwSignal::new(None),
            is_unsaved: RwSignal::new(false),
            refused: StoredValue::new(0),
            retry_tick: RwSignal::new(0),
            chats: use_context(),
        }
    }

    /// Returns the text on screen.
    pub fn text(self) -> String {
        self.current.with_value(|draft| draft.text.clone())
    }

    /// Returns whether the draft has a chosen model.
    pub fn has_choice(self) -> bool {
        self.current.with_value(|draft| draft.lock.is_some())
    }

    /// Returns the attachments on screen.
    pub fn attachments(self) -> Vec<Attachment> {
        self.current.with_value(|draft| draft.attachments.clone())
    }

    /// Returns the draft on screen.
    pub fn current_draft(self) -> DraftView {
        self.current.get_value()
    }

    /// Updates the draft on screen and schedules a save (debounced).
    pub fn update(self, change: impl FnOnce(&mut DraftView)) {
        self.current.update_value(change);
        self.cancel_timer();
        self.timer.set_value(set_timeout_with_handle(move || self.save(), PAUSE).ok());
    }

    /// Saves changes at once: on leaving the box or the page.
    pub fn save(self) {
        self.cancel_timer();
        // An effect may have set a timer when the composer was already gone.
        let Some(draft) = self.current.try_get_value() else { return };
        if let Some(held) = self.held.get_value() {
            // Text that was typed behind a message in flight is kept with it, in this browser only.
            if let Some(both) = append_to_held(&held, draft) {
                self.store_copy(&both);
            }
            return;
        }
        let saved = self.saved.get_value();
        if is_same_draft(&draft, &saved) {
            if self.is_unsaved.try_get_untracked() == Some(true) {
                self.is_unsaved.set(false);
            }
            // The browser's copy of something that was typed and removed again must not return.
            return self.forget_other(&saved);
        }
        // The local copy is written first: the page may be gone before the server has answered.
        self.store_copy(&draft);
        self.saving.set_value(Some(draft.clone()));
        // Attachments that were added elsewhere meanwhile are not known here yet, and must not be lost.
        let keeps_attachments = draft.attachments == saved.attachments;
        let flight = self.flight.get_value();
        flight.start_save();
        spawn_local(async move {
            let sent = draft.clone();
            let rev = save_draft(self.chat_id, draft, keeps_attachments).await;
            // If another page stored the draft in between, its attachments stayed. The next poll loads them, because it
            // requests revisions after the one before.
            let rev = rev.map(|rev| if keeps_attachments && rev > sent.rev + 1 { rev - 1 } else { rev });
            if let Ok(rev) = rev {
                // Text typed since is newer than the save.
                self.renew_copy(rev);
            }
            flight.finish_save();
            // The composer may be gone by now, and its values with it.
            let Some(is_current) = self.current.try_with_value(|current| is_same_draft(current, &sent)) else { return };
            self.saving.update_value(|saving| *saving = saving.take().filter(|saving| !is_same_message(saving, &sent)));
            let rev = match rev {
                Ok(rev) => rev,
                // A repeated save would be refused, too; the text stays in this browser.
                Err(ApiError::Invalid { .. } | ApiError::NotFound | ApiError::TooLarge) => {
                    return self.is_unsaved.set(true);
                }
                Err(_) => return self.save_later(),
            };
            self.is_unsaved.set(false);
            self.refused.set_value(0);
            let was_empty = self.saved.with_value(is_empty_draft);
            let is_empty = is_empty_draft(&sent);
            self.current.update_value(|current| current.rev = rev);
            let stored = DraftView { rev, ..sent };
            if is_current {
                self.forget_stored(&stored);
            }
            self.saved.set_value(stored);
            if !is_current && self.held.with_value(Option::is_none) && self.timer.with_value(Option::is_none) {
                // The content was sent as a message while the save was pending, and the save was stored after it: the
                // draft has to be cleared again.
                self.save();
            }
            if let Some(chats) = self.chats.filter(|_| was_empty != is_empty && self.chat_id.is_some()) {
                chats.refresh();
            }
        });
    }

    /// Schedules a retry: the server could not be reached. The next edit retries sooner.
    pub fn save_later(self) {
        self.is_unsaved.set(true);
        if self.timer.with_value(Option::is_some) {
            return;
        }
        let doublings = self.refused.get_value().min(MOST_DOUBLINGS);
        self.refused.set_value(doublings + 1);
        let ring = move || {
            self.cancel_timer();
            self.retry_tick.try_update(|count| *count += 1);
        };
        self.timer.set_value(set_timeout_with_handle(ring, AGAIN * 2u32.pow(doublings)).ok());
    }

    /// Returns the last known revision of the draft on the server.
    pub fn rev(self) -> i64 {
        self.saved.with_value(|saved| saved.rev)
    }

    /// Takes a newer draft from the server. Returns the draft to show where the local and remote changes do not
    /// conflict and the screen does not have both; on a conflict, the newer draft is kept in `conflicting`, unless it is
    /// empty: an empty one was sent.
    pub fn take_remote(self, newer: DraftView) -> Option<DraftView> {
        let (current, saved) = (self.current.get_value(), self.saved.get_value());
        if self.held.with_value(Option::is_some) || newer.rev <= saved.rev {
            return None;
        }
        let is_own =
            self.saving.with_value(|saving| saving.as_ref().is_some_and(|saving| is_same_message(saving, &newer)));
        self.saved.set_value(newer.clone());
        self.current.update_value(|current| current.rev = newer.rev);
        if is_own || is_same_message(&newer, &current) {
            return None;
        }
        // Text and attachments are merged separately: quoting a document in one tab and typing in the other loses
        // neither.
        let text = merge_three_way(&current.text, &saved.text, &newer.text);
        let attachments = merge_three_way(&current.attachments, &saved.attachments, &newer.attachments);
        if let Some((text, attachments)) = text.zip(attachments) {
            if text == current.text && attachments == current.attachments {
                return None;
            }
            let named = if attachments == newer.attachments { newer.named } else { Vec::new() };
            let shown = DraftView { text, attachments, named, ..self.current.get_value() };
            self.current.set_value(shown.clone());
            return Some(shown);
        }
        if !is_empty_draft(&newer) {
            self.conflicting.set(Some(newer));
        }
        None
    }

    /// Holds the content on screen while it is being sent: this browser keeps it until the server has accepted it.
    pub fn hold_for_send(self) {
        self.cancel_timer();
        let draft = self.current.get_value();
        self.store_copy(&draft);
        self.held.set_value(Some(draft));
    }

    /// Runs `go` when no save is pending: a message that overtook a save would find its text again as a draft.
    pub fn run_after_saves(self, go: impl FnOnce() + Send + 'static) {
        let flight = self.flight.get_value();
        if let Some(round) = flight.run_when_idle(go) {
            set_timeout(move || flight.run_overdue(round), pending_saves::SAVE_PATIENCE);
        }
    }

    /// Sends the messages that wait for a save: the page may be gone before the save is answered.
    pub fn flush_waiting(self) {
        self.flight.get_value().run_waiting();
    }

    /// Handles an accepted message, whose draft the server has cleared. Content typed meanwhile stays.
    pub fn on_accepted(self, sent: &DraftView) {
        self.held.set_value(None);
        self.conflicting.set(None);
        self.saved.update_value(|saved| {
            saved.text.clear();
            saved.attachments.clear();
        });
        self.current.update_value(|current| {
            if current.text == sent.text {
                current.text.clear();
            }
            if current.attachments == sent.attachments {
                current.attachments.clear();
            }
        });
        self.save();
    }

    /// Handles a message that was not sent: it becomes a draft again.
    pub fn release_held(self) {
        self.held.set_value(None);
    }

    fn cancel_timer(self) {
        if let Some(timer) = self.timer.try_update_value(Option::take).flatten() {
            timer.clear();
        }
    }
}

#[cfg(test)]
mod tests;
