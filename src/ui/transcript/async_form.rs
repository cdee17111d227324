//! A form that does its deed without leaving the page: it is busy while it is sent, and what was wrong is said beside it,
//! where what was typed still stands. Without script, and before the page is hydrated, it is a form like any other.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::form;
use crate::ui::announce::Announcer;
use crate::ui::erased::{live_view, view};
use crate::ui::messages::server_messages::localize_field_error;
use crate::ui::messages::transcript as words;

#[derive(Clone, Copy)]
pub struct AsyncForm {
    is_busy: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    announcer: Option<Announcer>,
}

impl AsyncForm {
    /// With what the context has.
    pub fn from_context() -> Self {
        Self { is_busy: RwSignal::new(false), problem: RwSignal::new(None), announcer: use_context() }
    }

    /// For `aria-disabled` of the form's buttons.
    pub fn aria_disabled(self) -> Option<&'static str> {
        self.is_busy.get().then_some("true")
    }

    /// Sends the form of this event. `done` is called when the server has done it; what follows from it comes with the
    /// reply's own events.
    pub fn submit(self, event: SubmitEvent, done: impl FnOnce() + 'static) {
        event.prevent_default();
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        self.problem.set(None);
        let answer = form::submit(&event);
        spawn_local(async move {
            let answer = answer.await;
            // The form may be gone by now: what it asked for has happened.
            let _ = self.is_busy.try_set(false);
            match answer {
                Ok(()) => done(),
                Err(why) => {
                    let why = why.map_or_else(|| words::post_failed().to_owned(), |why| localize_field_error(&why));
                    if let Some(announcer) = self.announcer {
                        announcer.alert(&why);
                    }
                    let _ = self.problem.try_set(Some(why));
                }
            }
        });
    }

    /// What was wrong, to stand in the form.
    pub fn problem_view(self) -> AnyView {
        live_view(move || self.problem.get().map(|why| view! { <p class="problem" dir="auto">{why}</p> }))
    }
}
