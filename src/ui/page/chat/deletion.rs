//! The chat page's handling of deleted and restored parts, and the notice after a deletion by a form.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;

use crate::browser::focus;
use crate::domain::{ChatId, DeletionId, TurnId};
use crate::ui::chats::chat_path;
use crate::ui::deletion::{DeletePart, DeletedPart, DeletionScreen};
use crate::ui::erased::view;
use crate::ui::messages;
use crate::ui::state::{ChatState, PathNavigation};
use crate::ui::transcript::turn_heading::focus_on_turn;

/// Provides the deletion of parts of this chat as context, and returns it. `changes` is incremented when the tree
/// changes.
pub fn provide_deletion(
    (state, navigation): (ChatState, PathNavigation),
    chat: ChatId,
    changes: RwSignal<u64>,
) -> DeletePart {
    let navigate = use_navigate();
    let go = Callback::new(move |leaf: Option<TurnId>| {
        let address = leaf.map_or_else(|| chat_path(chat), |leaf| format!("{}?at={leaf}", chat_path(chat)));
        navigate(&address, NavigateOptions { replace: true, scroll: false, ..Default::default() });
    });
    let settle = move |last: Option<TurnId>| {
        request_animation_frame(move || match last {
            // A reader in the tree panel stays there.
            _ if focus::is_within("#panel") => {}
            Some(last) => focus_on_turn(last),
            None => drop(focus::focus_first("#message")),
        });
    };
    let hide = Callback::new(move |part: DeletedPart| {
        let DeletedPart::Turn(turn) = part else { return false };
        let is_hidden = state.hide_from(turn);
        if is_hidden {
            settle(state.leaf_id());
        }
        is_hidden
    });
    let unhide = Callback::new(move |part: DeletedPart| {
        if let DeletedPart::Turn(turn) = part
            && state.unhide_from(turn)
            && !focus::is_within("#panel")
            && !focus::is_in_text_field()
        {
            request_animation_frame(move || focus_on_turn(turn));
        }
    });
    let gone = Callback::new(move |(part, leaf): (DeletedPart, Option<TurnId>)| {
        changes.update(|count| *count += 1);
        let (has_left, was_hidden) = match part {
            // A reader who has continued from the rest of the path, or moved to another version, stays there.
            DeletedPart::Turn(turn) => match state.forget_hidden(turn) {
                Some(is_still) => (is_still, true),
                None => (state.find_if_alive(turn).is_some(), false),
            },
            DeletedPart::Others(_, keep) => (state.find_if_alive(keep).is_none(), false),
        };
        if has_left {
            let last = if let DeletedPart::Turn(turn) = part { state.remove_from(turn) } else { None };
            // A reader who has requested another path since is left alone.
            if !navigation.is_navigating() {
                go.run(leaf);
            }
            if !was_hidden {
                settle(last);
            }
        }
        has_left
    });
    let back = Callback::new(move |leaf: Option<TurnId>| {
        changes.update(|count| *count += 1);
        if leaf.is_some() {
            go.run(leaf);
        }
    });
    let deleting = DeletePart::new(DeletionScreen { hide, unhide, gone, back });
    provide_context(deleting);
    deleting
}

/// The notice after a deletion by a form, with a restore button: for pages without script.
#[component]
pub fn DeletedNotice(id: DeletionId, turns: u64) -> impl IntoView {
    view! {
        <form class="deleted-notice no-print" method="post" action="/forms/restore">
            <input type="hidden" name="deletion_id" value=id.to_string()/>
            <span>{messages::trash::deleted(turns)}</span>
            <button type="submit" class="button">{messages::undo()}</button>
        </form>
    }
}
