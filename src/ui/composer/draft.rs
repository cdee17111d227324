//! Drafts: what is written but not sent is kept on the server, and in the browser until the server has it (ux.md 10.6).

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
use crate::domain::attachment::Attachment;
use crate::ui::chats::Chats;

/// How long after the last key a draft is saved.
const PAUSE: Duration = Duration::from_millis(500);
/// How long until a draft that the server did not take is offered again; twice as long each time.
const AGAIN: Duration = Duration::from_secs(2);
const MOST_DOUBLINGS: u32 = 5;

/// Keeps one chat's draft, or the new chat's.
#[derive(Clone, Copy)]
pub struct DraftKeeper {
    chat_id: Option<ChatId>,
    /// What the server has.
    saved: StoredValue<DraftView>,
    /// What is on screen.
    current: StoredValue<DraftView>,
    timer: StoredValue<Option<TimeoutHandle>>,
    /// What is on its way as a message. Saving it meanwhile would bring it back as a draft.
    held: StoredValue<Option<DraftView>>,
    flight: StoredValue<PendingSaves>,
    /// What is being saved at this moment.
    saving: StoredValue<Option<DraftView>>,
    /// What another tab stored after something else was typed here.
    pub conflicting: RwSignal<Option<DraftView>>,
    /// Whether the server did not take the last save.
    pub is_unsaved: RwSignal<bool>,
    /// How often it did not, one after the other.
    refused: StoredValue<u32>,
    /// Changes when it is time to offer the draft again.
    pub retry_tick: RwSignal<u32>,
    chats: Option<Chats>,
}

impl DraftKeeper {
    /// `draft` is what the server sent with the page.
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

    /// The text on screen.
    pub fn text(self) -> String {
        self.current.with_value(|draft| draft.text.clone())
    }

    /// Whether a model was chosen for it.
    pub fn has_choice(self) -> bool {
        self.current.with_value(|draft| draft.lock.is_some())
    }

    /// What is attached on screen.
    pub fn attachments(self) -> Vec<Attachment> {
        self.current.with_value(|draft| draft.attachments.clone())
    }

    /// What is on screen.
    pub fn current_draft(self) -> DraftView {
        self.current.get_value()
    }

    /// Takes over what is on screen now; it is saved when the typing pauses.
    pub fn update(self, what: impl FnOnce(&mut DraftView)) {
        self.current.update_value(what);
        self.cancel_timer();
        self.timer.set_value(set_timeout_with_handle(move || self.save(), PAUSE).ok());
    }

    /// Saves at once, if there is anything new: on leaving the box or the page.
    pub fn save(self) {
        self.cancel_timer();
        // A clock that an effect set when the composer was gone already rings for nobody.
        let Some(draft) = self.current.try_get_value() else { return };
        if let Some(held) = self.held.get_value() {
            // What came since is kept behind it, in this browser alone.
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
            // What this browser kept of something typed and taken back must not return.
            return self.forget_other(&saved);
        }
        // The local copy is written first: the page may be gone before the server has answered.
        self.store_copy(&draft);
        self.saving.set_value(Some(draft.clone()));
        let flight = self.flight.get_value();
        flight.start_save();
        spawn_local(async move {
            let sent = draft.clone();
            let rev = save_draft(self.chat_id, draft).await;
            if let Ok(rev) = rev {
                // What was typed since is newer than what was saved.
                self.renew_copy(rev);
            }
            flight.finish_save();
            // The composer may have gone meanwhile, and its values with it.
            let Some(is_current) = self.current.try_with_value(|current| is_same_draft(current, &sent)) else { return };
            self.saving.update_value(|saving| *saving = saving.take().filter(|saving| !is_same_message(saving, &sent)));
            let rev = match rev {
                Ok(rev) => rev,
                // The same again would be refused again; it stays in this browser.
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
                // It was sent meanwhile, and stored behind that: what was a message is no draft any more.
                self.save();
            }
            if let Some(chats) = self.chats.filter(|_| was_empty != is_empty && self.chat_id.is_some()) {
                chats.refresh();
            }
        });
    }

    /// The server could not be reached: the draft is offered again after a while, or sooner with what is typed next.
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

    /// The revision that the server had when it was last heard of.
    pub fn rev(self) -> i64 {
        self.saved.with_value(|saved| saved.rev)
    }

    /// Takes note of a newer draft on the server. Gives what is to be shown where nothing else was done here to what
    /// changed there; where something was, the newer draft is kept in `elsewhere`, unless it is empty: that one was sent.
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
        // Words and attachments are apart: who quotes a document in one tab and types in the other loses neither.
        let text = merge_three_way(&current.text, &saved.text, &newer.text);
        let attachments = merge_three_way(&current.attachments, &saved.attachments, &newer.attachments);
        if let Some((text, attachments)) = text.zip(attachments) {
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

    /// What is on screen is on its way as a message: this browser keeps it until the server has accepted it.
    pub fn hold_for_send(self) {
        self.cancel_timer();
        let draft = self.current.get_value();
        self.store_copy(&draft);
        self.held.set_value(Some(draft));
    }

    /// Does this when no save is under way: a message that overtook one would find its words again as a draft.
    pub fn run_after_saves(self, go: impl FnOnce() + Send + 'static) {
        let flight = self.flight.get_value();
        if let Some(round) = flight.run_when_idle(go) {
            set_timeout(move || flight.run_overdue(round), pending_saves::SAVE_PATIENCE);
        }
    }

    /// Sends what waits for a save: the page may be gone before that is answered.
    pub fn flush_waiting(self) {
        self.flight.get_value().run_waiting();
    }

    /// The message was accepted, and the server has cleared its draft. What came meanwhile stays.
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

    /// The message did not go out: it is a draft again.
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
