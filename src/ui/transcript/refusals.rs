//! Refused commands on turns, kept until the next command.

use leptos::prelude::*;

use super::turn_heading::article_id;
use crate::api::error::ApiError;
use crate::browser::document;
use crate::domain::TurnId;
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;
use crate::ui::messages::server_messages::problem;

/// The turn, the error, and whether the command was a retry: that can be repeated with another model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnRefusal {
    pub(super) turn: TurnId,
    pub(super) error: ApiError,
    pub(super) is_retry: bool,
}

/// The newest refusal of a chat's page. Provided as context.
#[derive(Clone, Copy)]
pub struct TurnRefusals {
    pub(super) newest: RwSignal<Option<TurnRefusal>>,
    announcer: Announcer,
    toasts: Toasts,
}

impl TurnRefusals {
    /// Creates the state with the announcer and the toasts of the context.
    pub fn from_context() -> Self {
        Self { newest: RwSignal::new(None), announcer: expect_context(), toasts: expect_context() }
    }

    /// Reports a refused command on this turn. The page may be gone by now.
    pub fn report(self, turn: TurnId, error: ApiError) {
        self.put(TurnRefusal { turn, error, is_retry: false });
    }

    /// Reports a refused retry.
    pub fn report_retry(self, turn: TurnId, error: ApiError) {
        self.put(TurnRefusal { turn, error, is_retry: true });
    }

    fn put(self, refusal: TurnRefusal) {
        let (turn, reason) = (refusal.turn, problem(&refusal.error));
        self.announcer.alert(&reason);
        let is_gone = self.newest.try_set(Some(refusal)).is_some();
        if is_gone || !document::has_element(&article_id(turn)) {
            // The turn is no longer on the page, so a toast reports the refusal.
            self.toasts.show(reason);
        }
    }

    /// Clears the refusal: another command is given.
    pub fn clear(self) {
        if self.newest.with_untracked(Option::is_some) {
            self.newest.set(None);
        }
    }
}
