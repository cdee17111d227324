//! Deleting a part of a chat with script: the request, the toast with Undo, and the effect on the screen. Where the
//! screen supports it, the delete is optimistic (docs/reference/ux.md 15). Without script the same buttons are forms.

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

/// The part of a chat to delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeletedPart {
    /// A turn with everything below it.
    Turn(TurnId),
    /// Everything in the chat except the path to this turn and its descendants.
    Others(ChatId, TurnId),
}

/// The effects of a deletion on a screen. No callback runs after the page is gone.
#[derive(Clone, Copy)]
pub struct DeletionScreen {
    /// Hides the deleted part optimistically; returns whether it did.
    pub hide: Callback<DeletedPart, bool>,
    /// Shows the part again: the server refused, or Undo came first.
    pub unhide: Callback<DeletedPart>,
    /// Receives the deleted part and the turn to read next, if any; returns whether the reader was moved there, so
    /// that Undo moves them back.
    pub gone: Callback<(DeletedPart, Option<TurnId>), bool>,
    /// The part was restored; with the leaf of its path where the reader is to be moved back to it.
    pub back: Callback<Option<TurnId>>,
}

impl DeletionScreen {
    /// A screen that updates only after the server's response.
    pub fn deferred() -> Self {
        Self {
            hide: Callback::new(|_| false),
            unhide: Callback::new(|_| ()),
            gone: Callback::new(|_| false),
            back: Callback::new(|_| ()),
        }
    }
}

/// The progress of a deletion.
#[derive(Clone, Copy)]
enum DeletionProgress {
    Requested,
    /// Undo came before the response.
    Undone,
    /// Deleted. The flag says whether the reader was moved elsewhere.
    Done(DeletionId, bool),
}

/// Deletes a part of the chat on screen; receives the number of turns where it is known. Provided as context by a
/// chat's page and by its tree.
#[derive(Clone, Copy)]
pub struct DeletePart(pub Callback<(DeletedPart, Option<u64>)>);

impl DeletePart {
    pub fn new(screen: DeletionScreen) -> Self {
        let (announcer, toasts) = (expect_context::<Announcer>(), expect_context::<Toasts>());
        let refusals = use_context::<TurnRefusals>();
        let fail = move |error: ApiError| {
            announcer.alert(&problem(&error));
            toasts.show(problem(&error));
        };
        let restore = move |id: DeletionId, has_left: bool| {
            spawn_local(async move {
                match restore_deletion(id).await {
                    Ok(restored) => {
                        announcer.announce(messages::trash::restored());
                        // The toast outlives the page: from another page it only restores.
                        let _ = screen.back.try_run(restored.leaf.filter(|_| has_left));
                    }
                    Err(error) => fail(error),
                }
            });
        };
        Self(Callback::new(move |(part, count): (DeletedPart, Option<u64>)| {
            let progress = ArcStoredValue::new(DeletionProgress::Requested);
            let undo = {
                let progress = progress.clone();
                move || match progress.get_value() {
                    DeletionProgress::Requested => {
                        progress.set_value(DeletionProgress::Undone);
                        let _ = screen.unhide.try_run(part);
                    }
                    DeletionProgress::Undone => {}
                    DeletionProgress::Done(id, has_left) => restore(id, has_left),
                }
            };
            let sentence = count.map_or_else(|| messages::trash::is_deleted().to_owned(), messages::trash::deleted);
            // A screen without optimistic delete shows nothing yet, so nothing is announced yet either.
            let offer = move || {
                announcer.announce(messages::deleted_can_undo());
                toasts.offer(sentence, messages::undo(), undo)
            };
            let (early, late) = if screen.hide.run(part) { (Some(offer()), None) } else { (None, Some(offer)) };
            spawn_local(async move {
                let deleted = match part {
                    DeletedPart::Turn(turn) => delete_turn(turn).await,
                    DeletedPart::Others(chat, keep) => prune_others(chat, keep).await,
                };
                let is_taken_back = matches!(progress.get_value(), DeletionProgress::Undone);
                match deleted {
                    Ok(deleted) if is_taken_back => restore(deleted.deletion_id, false),
                    Ok(deleted) => {
                        let has_left = screen.gone.try_run((part, deleted.leaf)).unwrap_or(false);
                        progress.set_value(DeletionProgress::Done(deleted.deletion_id, has_left));
                        if let Some(note) = early.or_else(|| late.map(|offer| offer())) {
                            note.set_text(messages::trash::deleted(deleted.turns));
                        }
                    }
                    // The part still exists, as Undo wanted.
                    Err(_) if is_taken_back => {}
                    Err(error) => {
                        if let Some(note) = early {
                            toasts.withdraw(&note);
                        }
                        let _ = screen.unhide.try_run(part);
                        match (part, refusals) {
                            // Once the turn is shown again, the failure is reported beside it.
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
