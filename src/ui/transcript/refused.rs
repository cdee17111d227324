//! What was asked of a turn and could not be done: said below its buttons until something else is asked, with what mends
//! it (ux.md 15: an error that needs somebody is no note that goes away).

use leptos::prelude::*;

use super::other_models::RetryWith;
use super::turn_heading::{article_id, heading_id};
use crate::api::error::ApiError;
use crate::browser::{document, focus};
use crate::domain::TurnId;
use crate::ui::announce::Announcer;
use crate::ui::erased::{live, view};
use crate::ui::kit::{Icon, Toasts};
use crate::ui::words as all_words;
use crate::ui::words::told::problem;

/// What was refused, where, and whether another try was asked for: that can be had of another model.
#[derive(Debug, Clone, PartialEq)]
struct Refusal {
    turn: TurnId,
    error: ApiError,
    is_retry: bool,
}

/// The newest refusal of a chat's page. In its context.
#[derive(Clone, Copy)]
pub struct Refusals {
    newest: RwSignal<Option<Refusal>>,
    announcer: Announcer,
    toasts: Toasts,
}

impl Refusals {
    /// With what the context has.
    pub fn here() -> Self {
        Self { newest: RwSignal::new(None), announcer: expect_context(), toasts: expect_context() }
    }

    /// What was asked of this turn was refused. The page may be gone by now.
    pub fn say(self, turn: TurnId, error: ApiError) {
        self.put(Refusal { turn, error, is_retry: false });
    }

    /// The same of another try.
    pub fn say_of_retry(self, turn: TurnId, error: ApiError) {
        self.put(Refusal { turn, error, is_retry: true });
    }

    fn put(self, refusal: Refusal) {
        let (turn, why) = (refusal.turn, problem(&refusal.error));
        self.announcer.alert(&why);
        let is_gone = self.newest.try_set(Some(refusal)).is_some();
        if is_gone || !document::has(&article_id(turn)) {
            // There is no turn any more to say it at.
            self.toasts.say(why);
        }
    }

    /// Something else is asked.
    pub fn forget(self) {
        if self.newest.with_untracked(Option::is_some) {
            self.newest.set(None);
        }
    }
}

/// The refusal of what was asked of this turn; nothing where nothing was refused.
#[component]
pub fn Refused(id: TurnId) -> impl IntoView {
    let refusals = use_context::<Refusals>();
    let refused = Memo::new(move |_| {
        let newest = refusals.and_then(|refusals| refusals.newest.get());
        newest.filter(|newest| newest.turn == id)
    });
    live(move || {
        let Refusal { error, is_retry, .. } = refused.get()?;
        let needs_model = is_retry && matches!(&error, ApiError::Conflict { code, .. } if code == "model_unavailable");
        let close = move |_| {
            if let Some(refusals) = refusals {
                refusals.forget();
                // The button goes with it.
                focus::on(&format!("#{}", heading_id(id)));
            }
        };
        Some(view! {
            <div class="refused no-print">
                <Icon name="alert"/>
                <p dir="auto">{problem(&error)}</p>
                {needs_model.then(|| view! { <RetryWith id class="button"/> })}
                <button type="button" class="button bare" aria-label=all_words::close() title=all_words::close() on:click=close>
                    <Icon name="close"/>
                </button>
            </div>
        })
    })
}
