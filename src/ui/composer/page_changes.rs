//! The composer's reactions to changes of the page: another branch, other models, a reply that ends, a path or a
//! connection that was waited for.

use std::time::Duration;

use leptos::prelude::*;

use crate::api::error::ApiError;
use crate::api::view::DraftView;
use crate::browser::clock;
use crate::ui::composer::attachment_queue::AttachmentQueue;
use crate::ui::composer::state::{ComposerState, default_lock};
use crate::ui::connection::PageConnection;
use crate::ui::erased::{effect, on_change};
use crate::ui::messages::server_messages::problem;

/// After this time offline, a waiting message is no longer sent automatically.
const TOO_LATE_MS: i64 = 60_000;

impl ComposerState {
    /// Follows the page. `navigation_ended` changes when the navigation to a path has ended; `stop_requested` is set by
    /// other parts of the page; `draft_elsewhere` is the draft that another tab stored.
    pub(super) fn follow_page(
        self,
        navigation_ended: RwSignal<bool>,
        stop_requested: RwSignal<bool>,
        draft_elsewhere: RwSignal<DraftView>,
    ) {
        effect(move || {
            if stop_requested.get() {
                stop_requested.set(false);
                self.stop();
            }
        });
        // The models have changed: where none is chosen that is still available, the default applies.
        on_change(
            move || self.models.get(),
            move |_, models| {
                let is_there = models.iter().any(|model| Some(&model.lock) == self.choice.get_untracked().as_ref());
                if self.lock.get_untracked().is_none() && !(is_there && self.draft.has_choice()) {
                    self.choice.set(default_lock(&models));
                }
            },
        );
        // Another branch is shown, or the sent message has begun a new one. A message that waits for its branch keeps
        // the model that was chosen for it.
        on_change(
            move || self.lock.get(),
            move |_, _| {
                if !self.sends_when_ready.get_untracked() {
                    self.choice.set(None);
                }
            },
        );
        self.give_up_waiting();
        on_change(
            move || (navigation_ended.get(), self.attaching.queue.with(AttachmentQueue::is_pending)),
            move |_, _| self.send_if_ready(),
        );
        on_change(move || draft_elsewhere.get(), move |_, newer| self.on_remote_draft(newer));
        self.follow_new_chat();
        on_change(move || self.draft.retry_tick.get(), move |_, _| self.save_again());
    }

    /// Stops the automatic sending of a waiting message after a long time offline: its writer no longer expects it.
    fn give_up_waiting(self) {
        let Some(connection) = use_context::<PageConnection>() else { return };
        let since = StoredValue::new(None::<i64>);
        let look = move || {
            let is_late = since.try_get_value().flatten().is_some_and(|since| clock::now_ms() - since >= TOO_LATE_MS);
            if is_late {
                self.stop_waiting();
            }
        };
        on_change(
            move || connection.is_offline(),
            move |_, is_offline| match is_offline {
                true => {
                    since.set_value(Some(clock::now_ms()));
                    set_timeout(look, Duration::from_millis(TOO_LATE_MS.unsigned_abs()));
                }
                // Timers do not run while a device sleeps, so the time is checked again.
                false => {
                    look();
                    since.set_value(None);
                    self.problem.update(|shown_problem| {
                        drop(shown_problem.take_if(|shown_problem| *shown_problem == problem(&ApiError::Unreachable)))
                    });
                }
            },
        );
    }
}
