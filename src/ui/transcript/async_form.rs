//! Asynchronous form: submits without leaving the page, is busy meanwhile, and shows an error beside the input, which
//! stays. Without script, and before hydration, it is an ordinary form.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::form;
use crate::ui::announce::Announcer;
use crate::ui::erased::{live_view, view};
use crate::ui::messages::transcript as words;

#[derive(Clone, Copy)]
pub struct AsyncForm {
    is_busy: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    announcer: Option<Announcer>,
}

impl AsyncForm {
    /// Creates the state with the announcer of the context, if any.
    pub fn from_context() -> Self {
        Self { is_busy: RwSignal::new(false), problem: RwSignal::new(None), announcer: use_context() }
    }

    /// Returns `aria-disabled` of the form's buttons.
    pub fn aria_disabled(self) -> Option<&'static str> {
        self.is_busy.get().then_some("true")
    }

    /// Submits the form of this event. `done` is called when the server has accepted it; the effects arrive with the
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
            // The form may be gone by now, because the effect has already arrived.
            let _ = self.is_busy.try_set(false);
            match answer {
                Ok(()) => done(),
                Err(reason) => {
                    let reason = reason.unwrap_or_else(|| words::post_failed().to_owned());
                    if let Some(announcer) = self.announcer {
                        announcer.alert(&reason);
                    }
                    let _ = self.problem.try_set(Some(reason));
                }
            }
        });
    }

    /// Renders the error in the form.
    pub fn problem_view(self) -> AnyView {
        live_view(move || self.problem.get().map(|reason| view! { <p class="problem" dir="auto">{reason}</p> }))
    }
}
