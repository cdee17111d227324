//! Deleting a turn with what is below it, undoing that while the note is up, and saying what a form has deleted.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};

use crate::api::trash::{delete_turn, restore_deletion};
use crate::browser::focus;
use crate::domain::{ChatId, DeletionId, TurnId};
use crate::ui::announce::Announcer;
use crate::ui::chats::chat_path;
use crate::ui::erased::{live, view};
use crate::ui::kit::Toasts;
use crate::ui::state::ChatState;
use crate::ui::transcript::{Deleting, focus_on_turn};
use crate::ui::words;

/// Puts into the context what deletes a turn of this chat.
pub fn provide_deleting(state: ChatState, chat: ChatId) {
    let (announcer, toasts) = (expect_context::<Announcer>(), expect_context::<Toasts>());
    let navigate = use_navigate();
    let go = Callback::new(move |leaf: Option<TurnId>| {
        let address = leaf.map_or_else(|| chat_path(chat), |leaf| format!("{}?at={leaf}", chat_path(chat)));
        navigate(&address, NavigateOptions { replace: true, scroll: false, ..Default::default() });
    });
    let fail = move |error: crate::api::error::ApiError| {
        announcer.alert(&error.to_string());
        toasts.say(error.to_string());
    };
    let restore = move |id: DeletionId| {
        spawn_local(async move {
            match restore_deletion(id).await {
                Ok(restored) => {
                    announcer.say(words::trash::RESTORED);
                    // The note outlives the page: from another one it only restores.
                    let _ = go.try_run(restored.leaf);
                }
                Err(error) => fail(error),
            }
        });
    };
    let delete = Callback::new(move |turn: TurnId| {
        spawn_local(async move {
            match delete_turn(turn).await {
                Ok(deleted) => {
                    announcer.say(words::DELETED);
                    let undo = Callback::new(move |()| restore(deleted.deletion_id));
                    toasts.offer(words::trash::deleted(deleted.turns), words::UNDO, undo);
                    let last = state.cut(turn);
                    let _ = go.try_run(deleted.leaf);
                    request_animation_frame(move || match last {
                        Some(last) => focus_on_turn(last),
                        None => drop(focus::on("#message")),
                    });
                }
                Err(error) => fail(error),
            }
        });
    });
    provide_context(Deleting(delete));
}

/// What a form has deleted, with the way back: for pages without script.
#[component]
pub fn DeletedNotice() -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        query.with(|query| {
            let id = query.get("deleted")?.parse::<DeletionId>().ok()?;
            Some((id, query.get("turns")?.parse::<u64>().ok()?))
        })
    });
    live(move || {
        asked.get().map(|(id, turns)| {
            view! {
                <form class="deleted-notice no-print" method="post" action="/forms/restore">
                    <input type="hidden" name="deletion_id" value=id.to_string()/>
                    <span>{words::trash::deleted(turns)}</span>
                    <button type="submit" class="button">{words::UNDO}</button>
                </form>
            }
        })
    })
}
