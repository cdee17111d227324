//! What can be asked of a turn, and what the page does then. In the context of a chat's page; where it is missing the
//! turns have their links and forms alone, as without script.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::refusals::TurnRefusals;
use super::turn_heading::heading_id;
use crate::api::error::ApiError;
use crate::api::json;
use crate::api::turns::{edit_turn, retry_reply, send_message};
use crate::api::view::{ComposedMessage, DraftView, StartedReply};
use crate::browser::{focus, local_store, request_id};
use crate::domain::attachment::Attachment;
use crate::domain::provider::Model;
use crate::domain::{ModelLock, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::composer::attachments::MessageAttachments;
use crate::ui::kit::Toasts;
use crate::ui::messages::server_messages::problem;
use crate::ui::state::{PathNavigation, ReaderPosition};

/// How long the words of an edit that was left are kept, and under which names.
const EDIT_KEPT_FOR: Duration = Duration::from_secs(10 * 60);
const EDIT_KEY_PREFIX: &str = "turnleaf.edit.";

/// A turn in other words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EditedTurn {
    pub text: String,
    pub attachments: Vec<Attachment>,
}

impl EditedTurn {
    /// As a draft is kept.
    fn into_draft(self) -> DraftView {
        DraftView { text: self.text, attachments: self.attachments, ..DraftView::default() }
    }

    fn from_draft(kept: DraftView) -> Self {
        Self { text: kept.text, attachments: kept.attachments }
    }
}

#[derive(Clone, Copy)]
pub struct TurnCommands {
    /// The turn that is being edited.
    pub editing: RwSignal<Option<TurnId>>,
    /// The reply that is to be tried again, while a model is chosen for it.
    pub choosing: RwSignal<Option<TurnId>>,
    /// Who can be asked.
    pub models: RwSignal<Vec<Model>>,
    /// Takes the files that are dropped while a message is edited.
    pub attaching: StoredValue<Option<MessageAttachments>>,
    /// The name of the requests of this page's forms.
    pub form_request_id: StoredValue<String>,
    on_started: Callback<(StartedReply, Option<ReaderPosition>)>,
    /// The way to other paths, for where somebody stands who asks.
    way: Option<PathNavigation>,
    refusals: TurnRefusals,
    announcer: Announcer,
    toasts: Toasts,
}

impl TurnCommands {
    /// `on_started` shows what an edit or another try has stored, to whoever still stands where they asked for it.
    pub fn new(
        form_request_id: String,
        models: RwSignal<Vec<Model>>,
        on_started: Callback<(StartedReply, Option<ReaderPosition>)>,
    ) -> Self {
        Self {
            models,
            editing: RwSignal::new(None),
            choosing: RwSignal::new(None),
            attaching: StoredValue::new(None),
            form_request_id: StoredValue::new(form_request_id),
            on_started,
            way: use_context(),
            refusals: use_context().unwrap_or_else(TurnRefusals::from_context),
            announcer: expect_context(),
            toasts: expect_context(),
        }
    }

    /// Asks for another reply to the same message, of another model where one is chosen.
    pub fn retry(self, turn: TurnId, lock: Option<ModelLock>) {
        self.start((turn, true), retry_reply(turn, lock, request_id::mint()));
    }

    /// Sends a message that was not written in the message box, from a button of this turn.
    pub fn send(self, turn: TurnId, message: ComposedMessage) {
        self.start((turn, false), send_message(message));
    }

    fn start(
        self,
        (turn, is_retry): (TurnId, bool),
        call: impl Future<Output = Result<StartedReply, ApiError>> + 'static,
    ) {
        self.refusals.clear();
        let stand = self.way.map(PathNavigation::position_on_screen);
        spawn_local(async move {
            match call.await {
                // Who asked may have gone to another chat meanwhile: the reply is written all the same.
                Ok(started) => drop(self.on_started.try_run((started, stand))),
                Err(error) if is_retry => self.refusals.report_retry(turn, error),
                Err(error) => self.refusals.report(turn, error),
            }
        });
    }

    /// Stores the turn in other words, with what is attached to them. What was wrong is said and comes back; the words stay
    /// in the box.
    pub async fn edit(self, turn: TurnId, words: EditedTurn, request: String) -> Option<String> {
        let EditedTurn { text, attachments } = words.clone();
        let stand = self.way.map(PathNavigation::position_on_screen);
        let started = match edit_turn(turn, text, attachments, request).await {
            Ok(started) => started,
            Err(error) => {
                self.announcer.alert(&problem(&error));
                return Some(problem(&error));
            }
        };
        // Who left the box and came back may have typed on.
        let is_all = self.saved_edit(turn).is_none_or(|left| left == words);
        if is_all {
            local_store::remove_in_tab(&edit_key(turn));
        }
        if is_all && self.editing.try_get_untracked() == Some(Some(turn)) {
            self.editing.set(None);
        }
        let new = match started.user_turn.turn.prev_turn_id == Some(turn) {
            true => turn,
            false if started.user_turn.siblings.contains(&turn) => started.user_turn.turn.id,
            false => started.assistant_turn.turn.id,
        };
        // Who edits something else by now stays there, and who went to another chat is there.
        if self.on_started.try_run((started, stand)).is_some() && self.editing.get_untracked().is_none() {
            request_animation_frame(move || focus::focus_first_without_scroll(&format!("#{}", heading_id(new))));
        }
        None
    }

    /// Ends an edit without storing anything; the focus goes back to where it began.
    pub fn cancel_edit(self, turn: TurnId) {
        self.editing.set(None);
        // Of a reply the verb is in the menu, which is closed by now.
        request_animation_frame(move || {
            focus::focus_first_without_scroll(&format!("#turn-{turn}-menu-button"));
            focus::focus_first_without_scroll(&format!("#turn-{turn} .actions > [data-verb=edit]"));
        });
    }

    /// Remembers what is written, in this tab: it survives a reload, and other chats.
    pub fn save_edit(self, turn: TurnId, words: EditedTurn) {
        if let Ok(json) = serde_json::to_string(&words.into_draft()) {
            local_store::put_in_tab(&edit_key(turn), &json);
        }
    }

    /// What was written here and not sent, for a while.
    pub fn saved_edit(self, turn: TurnId) -> Option<EditedTurn> {
        local_store::purge_in_tab(EDIT_KEY_PREFIX, EDIT_KEPT_FOR);
        json::parse(local_store::get_in_tab(&edit_key(turn))?.as_bytes()).ok().map(EditedTurn::from_draft)
    }

    /// Says that something worked, or that it did not.
    pub fn say(self, text: &'static str) {
        self.announcer.say(text);
        self.toasts.say(text);
    }
}

fn edit_key(turn: TurnId) -> String {
    format!("{EDIT_KEY_PREFIX}{turn}")
}
