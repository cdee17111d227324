//! Commands on turns, and their effects on the page. Provided as context by a chat's page; without it turns have only
//! links and forms, as without script.

use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use super::refusals::TurnRefusals;
use super::turn_heading::heading_id;
use crate::api::error::ApiError;
use crate::api::json;
use crate::api::turns::{continue_reply, edit_turn, retry_reply};
use crate::api::view::{DraftView, StartedReply};
use crate::browser::{focus, local_store, request_id};
use crate::domain::documents::attachment::Attachment;
use crate::domain::providers::provider::Model;
use crate::domain::{ModelLock, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::composer::attachments::MessageAttachments;
use crate::ui::kit::Toasts;
use crate::ui::messages::server_messages::problem;
use crate::ui::state::{PathNavigation, ReaderPosition};

/// The lifetime and the key prefix of abandoned edits in session storage.
const EDIT_KEPT_FOR: Duration = Duration::from_secs(10 * 60);
const EDIT_KEY_PREFIX: &str = "turnleaf.edit.";

/// The edited content of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EditedTurn {
    pub text: String,
    pub attachments: Vec<Attachment>,
}

impl EditedTurn {
    /// Converts it to the stored form of a draft.
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
    /// The reply to retry, while a model is being chosen for it.
    pub choosing: RwSignal<Option<TurnId>>,
    /// The available models.
    pub models: RwSignal<Vec<Model>>,
    /// Receives files that are dropped while a message is edited.
    pub attaching: StoredValue<Option<MessageAttachments>>,
    /// The idempotency key of this page's forms.
    pub form_request_id: StoredValue<String>,
    on_started: Callback<(StartedReply, Option<ReaderPosition>)>,
    /// The path navigation, for the position at which a command is given.
    navigation: Option<PathNavigation>,
    refusals: TurnRefusals,
    announcer: Announcer,
    toasts: Toasts,
}

impl TurnCommands {
    /// `on_started` shows the result of an edit or a retry to a reader who is still where they requested it.
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
            navigation: use_context(),
            refusals: use_context().unwrap_or_else(TurnRefusals::from_context),
            announcer: expect_context(),
            toasts: expect_context(),
        }
    }

    /// Requests another reply to the same message, with another model where one is chosen.
    pub fn retry(self, turn: TurnId, lock: Option<ModelLock>) {
        self.start((turn, true), retry_reply(turn, lock, request_id::mint()));
    }

    /// Requests the rest of a reply that ended early; `message` asks for it where the model cannot continue the text.
    pub fn request_rest(self, turn: TurnId, message: &str, request: String) {
        self.start((turn, false), continue_reply(turn, message.to_owned(), request));
    }

    fn start(
        self,
        (turn, is_retry): (TurnId, bool),
        call: impl Future<Output = Result<StartedReply, ApiError>> + 'static,
    ) {
        self.refusals.clear();
        let stand = self.navigation.map(PathNavigation::position_on_screen);
        self.count_start(true);
        spawn_local(async move {
            let answer = call.await;
            self.count_start(false);
            match answer {
                // The reader may have left the chat meanwhile: the reply is generated nevertheless.
                Ok(started) => drop(self.on_started.try_run((started, stand))),
                Err(error) if is_retry => self.refusals.report_retry(turn, error),
                Err(error) => self.refusals.report(turn, error),
            }
        });
    }

    fn count_start(self, is_pending: bool) {
        if let Some(navigation) = self.navigation {
            navigation.count_start(is_pending);
        }
    }

    /// Stores the edited turn with its attachments. Returns the problem, if any; the text stays in the box.
    pub async fn edit(self, turn: TurnId, words: EditedTurn, request: String) -> Option<String> {
        let EditedTurn { text, attachments } = words.clone();
        let stand = self.navigation.map(PathNavigation::position_on_screen);
        self.count_start(true);
        let answer = edit_turn(turn, text, attachments, request).await;
        self.count_start(false);
        let started = match answer {
            Ok(started) => started,
            Err(error) => {
                self.announcer.alert(&problem(&error));
                return Some(problem(&error));
            }
        };
        // A person who left the editor and returned may have changed the text meanwhile.
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
        // A person who edits something else by now, or has moved to another chat, is not disturbed.
        if self.on_started.try_run((started, stand)).is_some() && self.editing.get_untracked().is_none() {
            request_animation_frame(move || focus::focus_first_without_scroll(&format!("#{}", heading_id(new))));
        }
        None
    }

    /// Cancels an edit; the focus returns to where it began.
    pub fn cancel_edit(self, turn: TurnId) {
        self.editing.set(None);
        // The edit command of a reply is in its menu, which is closed by now.
        request_animation_frame(move || {
            focus::focus_first_without_scroll(&format!("#turn-{turn}-menu-button"));
            focus::focus_first_without_scroll(&format!("#turn-{turn} .actions > [data-verb=edit]"));
        });
    }

    /// Stores the edited content in this tab: it survives a reload and visits of other chats.
    pub fn save_edit(self, turn: TurnId, words: EditedTurn) {
        if let Ok(json) = serde_json::to_string(&words.into_draft()) {
            local_store::put_in_tab(&edit_key(turn), &json);
        }
    }

    /// Returns the stored content of an abandoned edit, for a while.
    pub fn saved_edit(self, turn: TurnId) -> Option<EditedTurn> {
        local_store::purge_in_tab(EDIT_KEY_PREFIX, EDIT_KEPT_FOR);
        json::parse(local_store::get_in_tab(&edit_key(turn))?.as_bytes()).ok().map(EditedTurn::from_draft)
    }

    /// Announces a success or a failure.
    pub fn notify(self, text: &'static str) {
        self.announcer.announce(text);
        self.toasts.show(text);
    }
}

fn edit_key(turn: TurnId) -> String {
    format!("{EDIT_KEY_PREFIX}{turn}")
}
