//! What was asked of a turn and could not be done, as long as nothing else is asked.

use leptos::prelude::*;

use super::turn_heading::article_id;
use crate::api::error::ApiError;
use crate::browser::document;
use crate::domain::TurnId;
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;
use crate::ui::messages::server_messages::problem;

/// What was refused, where, and whether another try was asked for: that can be had of another model.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TurnRefusal {
    pub(super) turn: TurnId,
    pub(super) error: ApiError,
    pub(super) is_retry: bool,
}

/// The newest refusal of a chat's page. In its context.
#[derive(Clone, Copy)]
pub struct TurnRefusals {
    pub(super) newest: RwSignal<Option<TurnRefusal>>,
    announcer: Announcer,
    toasts: Toasts,
}

impl TurnRefusals {
    /// With what the context has.
    pub fn from_context() -> Self {
        Self { newest: RwSignal::new(None), announcer: expect_context(), toasts: expect_context() }
    }

    /// What was asked of this turn was refused. The page may be gone by now.
    pub fn report(self, turn: TurnId, error: ApiError) {
        self.put(TurnRefusal { turn, error, is_retry: false });
    }

    /// The same of another try.
    pub fn report_retry(self, turn: TurnId, error: ApiError) {
        self.put(TurnRefusal { turn, error, is_retry: true });
    }

    fn put(self, refusal: TurnRefusal) {
        let (turn, why) = (refusal.turn, problem(&refusal.error));
        self.announcer.alert(&why);
        let is_gone = self.newest.try_set(Some(refusal)).is_some();
        if is_gone || !document::has_element(&article_id(turn)) {
            // There is no turn any more to say it at.
            self.toasts.say(why);
        }
    }

    /// Something else is asked.
    pub fn clear(self) {
        if self.newest.with_untracked(Option::is_some) {
            self.newest.set(None);
        }
    }
}
