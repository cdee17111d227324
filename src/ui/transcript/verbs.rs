//! What can be asked of a turn, and what the page does then. In the context of a chat's page; where it is missing the
//! turns have their links and forms alone, as without script.

use chrono::{DateTime, TimeDelta, Utc};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::turn_heading::heading_id;
use crate::api::turns::{edit_turn, retry_reply};
use crate::api::view::Started;
use crate::browser::{clock, focus, request_id};
use crate::domain::{Lock, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;

/// How long words that were not sent are kept.
const KEPT: TimeDelta = TimeDelta::minutes(10);

/// The words of an edit that was left, and when.
type Left = (TurnId, String, Option<DateTime<Utc>>);

#[derive(Clone, Copy)]
pub struct Verbs {
    /// The turn that is being edited.
    pub editing: RwSignal<Option<TurnId>>,
    /// The reply that is to be tried again, while a model is chosen for it.
    pub choosing: RwSignal<Option<TurnId>>,
    /// The name of the requests of this page's forms.
    pub form_request_id: StoredValue<String>,
    on_started: Callback<Started>,
    left: StoredValue<Vec<Left>>,
    announcer: Announcer,
    toasts: Toasts,
}

impl Verbs {
    /// `on_started` shows what an edit or another try has stored.
    pub fn new(form_request_id: String, on_started: Callback<Started>) -> Self {
        Self {
            editing: RwSignal::new(None),
            choosing: RwSignal::new(None),
            form_request_id: StoredValue::new(form_request_id),
            on_started,
            left: StoredValue::new(Vec::new()),
            announcer: expect_context(),
            toasts: expect_context(),
        }
    }

    /// Asks for another reply to the same message, of another model where one is chosen.
    pub fn retry(self, turn: TurnId, lock: Option<Lock>) {
        spawn_local(async move {
            match retry_reply(turn, lock, request_id::mint()).await {
                Ok(started) => self.on_started.run(started),
                Err(error) => {
                    self.announcer.alert(&error.to_string());
                    self.toasts.say(error.to_string());
                }
            }
        });
    }

    /// Stores the turn in other words. What is wrong goes to `problem`, and the words stay in the box.
    pub fn edit(self, turn: TurnId, text: String, request: String, problem: WriteSignal<Option<String>>) {
        spawn_local(async move {
            match edit_turn(turn, text, request).await {
                Ok(started) => {
                    self.forget(turn);
                    self.editing.set(None);
                    let new = match started.user_turn.turn.prev_turn_id == Some(turn) {
                        true => turn,
                        false if started.user_turn.siblings.contains(&turn) => started.user_turn.turn.id,
                        false => started.assistant_turn.turn.id,
                    };
                    self.on_started.run(started);
                    request_animation_frame(move || focus::quietly_on(&format!("#{}", heading_id(new))));
                }
                Err(error) => {
                    self.announcer.alert(&error.to_string());
                    let _ = problem.try_set(Some(error.to_string()));
                }
            }
        });
    }

    /// Ends an edit without storing anything; the focus goes back to where it began.
    pub fn cancel_edit(self, turn: TurnId) {
        self.editing.set(None);
        // Of a reply the verb is in the menu, which is closed by now.
        request_animation_frame(move || {
            focus::quietly_on(&format!("#turn-{turn}-menu-button"));
            focus::quietly_on(&format!("#turn-{turn} .actions > [data-verb=edit]"));
        });
    }

    /// Remembers what is typed.
    pub fn typed(self, turn: TurnId, text: String) {
        self.forget(turn);
        self.left.update_value(|left| left.push((turn, text, clock::now())));
    }

    /// What was typed here and not sent, for a while.
    pub fn left(self, turn: TurnId) -> Option<String> {
        let is_fresh = |at: Option<DateTime<Utc>>| at.zip(clock::now()).is_none_or(|(at, now)| now - at < KEPT);
        self.left.with_value(|left| {
            left.iter().find(|(of, _, at)| *of == turn && is_fresh(*at)).map(|(_, text, _)| text.clone())
        })
    }

    fn forget(self, turn: TurnId) {
        self.left.update_value(|left| left.retain(|(of, ..)| *of != turn));
    }
}
