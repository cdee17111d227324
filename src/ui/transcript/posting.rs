//! A form that does its deed without leaving the page: it is busy while it is sent, and what was wrong is said beside it,
//! where what was typed still stands. Without script, and before the page is hydrated, it is a form like any other.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::browser::form;
use crate::ui::announce::Announcer;
use crate::ui::erased::{live, view};
use crate::ui::words::told::told_of_field;
use crate::ui::words::transcript as words;

#[derive(Clone, Copy)]
pub struct Posting {
    is_busy: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    announcer: Option<Announcer>,
}

impl Posting {
    /// With what the context has.
    pub fn here() -> Self {
        Self { is_busy: RwSignal::new(false), problem: RwSignal::new(None), announcer: use_context() }
    }

    /// For `aria-disabled` of the form's buttons.
    pub fn busy(self) -> Option<&'static str> {
        self.is_busy.get().then_some("true")
    }

    /// Sends the form of this event. `done` is called when the server has done it; what follows from it comes with the
    /// reply's own events.
    pub fn send(self, event: SubmitEvent, done: impl FnOnce() + 'static) {
        event.prevent_default();
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        self.problem.set(None);
        let answer = form::post(&event);
        spawn_local(async move {
            let answer = answer.await;
            // The form may be gone by now: what it asked for has happened.
            let _ = self.is_busy.try_set(false);
            match answer {
                Ok(()) => done(),
                Err(why) => {
                    let why = why.map_or_else(|| words::post_failed().to_owned(), |why| told_of_field(&why));
                    if let Some(announcer) = self.announcer {
                        announcer.alert(&why);
                    }
                    let _ = self.problem.try_set(Some(why));
                }
            }
        });
    }

    /// What was wrong, to stand in the form.
    pub fn problem(self) -> AnyView {
        live(move || self.problem.get().map(|why| view! { <p class="problem" dir="auto">{why}</p> }))
    }
}
