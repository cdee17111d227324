//! Deleting a part of a chat with script: the deed, the note with Undo, and what the screen does then. Without script the
//! same buttons are forms.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::error::ApiError;
use crate::api::trash::{delete_turn, prune_others, restore_deletion};
use crate::domain::{ChatId, DeletionId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::kit::Toasts;
use crate::ui::words;
use crate::ui::words::told::problem;

/// What is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// A turn with everything below it.
    Turn(TurnId),
    /// Everything in the chat but the path to this turn and what is below it.
    Others(ChatId, TurnId),
}

/// What deletes a part of the chat on screen. In the context of a chat's page and of its tree.
#[derive(Clone, Copy)]
pub struct Deleting(pub Callback<Deed>);

impl Deleting {
    /// `gone` is told of what was deleted and where there is something to read next, and says whether the reader had to
    /// leave for there; then Undo brings them back: `back` is told where to. Neither is called once the page that asked
    /// is gone.
    pub fn new(gone: Callback<(Deed, Option<TurnId>), bool>, back: Callback<Option<TurnId>>) -> Self {
        let (announcer, toasts) = (expect_context::<Announcer>(), expect_context::<Toasts>());
        let fail = move |error: ApiError| {
            announcer.alert(&problem(&error));
            toasts.say(problem(&error));
        };
        let restore = move |id: DeletionId, has_left: bool| {
            spawn_local(async move {
                match restore_deletion(id).await {
                    Ok(restored) => {
                        announcer.say(words::trash::restored());
                        // The note outlives the page: from another one it only restores.
                        let _ = back.try_run(restored.leaf.filter(|_| has_left));
                    }
                    Err(error) => fail(error),
                }
            });
        };
        Self(Callback::new(move |deed: Deed| {
            spawn_local(async move {
                let deleted = match deed {
                    Deed::Turn(turn) => delete_turn(turn).await,
                    Deed::Others(chat, keep) => prune_others(chat, keep).await,
                };
                match deleted {
                    Ok(deleted) => {
                        announcer.say(words::deleted_can_undo());
                        let has_left = gone.try_run((deed, deleted.leaf)).unwrap_or(false);
                        let undo = move || restore(deleted.deletion_id, has_left);
                        toasts.offer(words::trash::deleted(deleted.turns), words::undo(), undo);
                    }
                    Err(error) => fail(error),
                }
            });
        }))
    }
}
