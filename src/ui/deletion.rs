//! Deleting a part of a chat with script: the deed, the note with Undo, and what the screen does then. Where the screen can,
//! what is deleted is gone from it before the server has answered (ux.md 15). Without script the same buttons are forms.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::trash::{delete_turn, prune_others, restore_deletion};
use crate::domain::{ChatId, DeletionId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;
use crate::ui::messages;
use crate::ui::messages::server_messages::problem;
use crate::ui::transcript::refusals::TurnRefusals;

/// What is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletedPart {
    /// A turn with everything below it.
    Turn(TurnId),
    /// Everything in the chat but the path to this turn and what is below it.
    Others(ChatId, TurnId),
}

/// What a screen does about a deed. Nothing of it is called once the page that asked is gone.
#[derive(Clone, Copy)]
pub struct DeletionScreen {
    /// Takes what is deleted off the screen at once, and says whether it did.
    pub hide: Callback<DeletedPart, bool>,
    /// Shows it again: the server refused, or Undo came first.
    pub unhide: Callback<DeletedPart>,
    /// Is told of what was deleted and where there is something to read next, and says whether the reader had to leave for
    /// there; then Undo brings them back.
    pub gone: Callback<(DeletedPart, Option<TurnId>), bool>,
    /// What was deleted is there again; with the end of its path where the reader is to be brought back to it.
    pub back: Callback<Option<TurnId>>,
}

impl DeletionScreen {
    /// One that is drawn again when the server has answered.
    pub fn deferred() -> Self {
        Self {
            hide: Callback::new(|_| false),
            unhide: Callback::new(|_| ()),
            gone: Callback::new(|_| false),
            back: Callback::new(|_| ()),
        }
    }
}

/// How far a deed is.
#[derive(Clone, Copy)]
enum DeletionProgress {
    Requested,
    /// Undo came before the answer.
    Undone,
    /// Whether the reader has left for somewhere else.
    Done(DeletionId, bool),
}

/// What deletes a part of the chat on screen, told how many turns go where that is known. In the context of a chat's page
/// and of its tree.
#[derive(Clone, Copy)]
pub struct DeletePart(pub Callback<(DeletedPart, Option<u64>)>);

impl DeletePart {
    pub fn new(screen: DeletionScreen) -> Self {
        let (announcer, toasts) = (expect_context::<Announcer>(), expect_context::<Toasts>());
        let refusals = use_context::<TurnRefusals>();
        let fail = move |error: ApiError| {
            announcer.alert(&problem(&error));
            toasts.say(problem(&error));
        };
        let restore = move |id: DeletionId, has_left: bool| {
            spawn_local(async move {
                match restore_deletion(id).await {
                    Ok(restored) => {
                        announcer.say(messages::trash::restored());
                        // The note outlives the page: from another one it only restores.
                        let _ = screen.back.try_run(restored.leaf.filter(|_| has_left));
                    }
                    Err(error) => fail(error),
                }
            });
        };
        Self(Callback::new(move |(deed, count): (DeletedPart, Option<u64>)| {
            let progress = ArcStoredValue::new(DeletionProgress::Requested);
            let undo = {
                let progress = progress.clone();
                move || match progress.get_value() {
                    DeletionProgress::Requested => {
                        progress.set_value(DeletionProgress::Undone);
                        let _ = screen.unhide.try_run(deed);
                    }
                    DeletionProgress::Undone => {}
                    DeletionProgress::Done(id, has_left) => restore(id, has_left),
                }
            };
            let said = count.map_or_else(|| messages::trash::is_deleted().to_owned(), messages::trash::deleted);
            // Where nothing is to be seen of it yet, nothing is said of it yet.
            let offer = move || {
                announcer.say(messages::deleted_can_undo());
                toasts.offer(said, messages::undo(), undo)
            };
            let (early, late) = if screen.hide.run(deed) { (Some(offer()), None) } else { (None, Some(offer)) };
            spawn_local(async move {
                let deleted = match deed {
                    DeletedPart::Turn(turn) => delete_turn(turn).await,
                    DeletedPart::Others(chat, keep) => prune_others(chat, keep).await,
                };
                let is_taken_back = matches!(progress.get_value(), DeletionProgress::Undone);
                match deleted {
                    Ok(deleted) if is_taken_back => restore(deleted.deletion_id, false),
                    Ok(deleted) => {
                        let has_left = screen.gone.try_run((deed, deleted.leaf)).unwrap_or(false);
                        progress.set_value(DeletionProgress::Done(deleted.deletion_id, has_left));
                        if let Some(note) = early.or_else(|| late.map(|offer| offer())) {
                            note.say(messages::trash::deleted(deleted.turns));
                        }
                    }
                    // It is there, as was wished for by then.
                    Err(_) if is_taken_back => {}
                    Err(error) => {
                        if let Some(note) = early {
                            toasts.withdraw(&note);
                        }
                        let _ = screen.unhide.try_run(deed);
                        match (deed, refusals) {
                            // Where the turn is drawn again, which is told beside it.
                            (DeletedPart::Turn(turn), Some(refusals)) => {
                                request_animation_frame(move || refusals.report(turn, error));
                            }
                            _ => fail(error),
                        }
                    }
                }
            });
        }))
    }
}
