//! The tree in the panel beside a chat; on a phone the tree is a page of its own.

use leptos::prelude::*;

use super::TreeMap;
use super::state::TreeState;
use crate::api::view::tree::TreePageQuery;
use crate::browser::focus;
use crate::ui::erased::{on_change, view};
use crate::ui::panel::{HEADING, ShownChat};

/// Renders the content of the panel for this chat.
pub(super) fn draw_map(shown: ShownChat) -> AnyView {
    let ask = TreePageQuery::new(shown.chat, shown.leaf.get_untracked());
    let state = TreeState::new(ask, None, shown.show, shown.deleting, shown.on_branch);
    on_change(
        move || state.is_loaded(),
        move |_, _| {
            request_animation_frame(move || {
                // Only a reader who waits at the heading is moved to the rows; others keep their focus, such as in
                // the message box of another chat.
                if focus::is_within(HEADING) {
                    state.focus();
                }
            });
        },
    );
    view! { <TreeMap state leaf=shown.leaf changes=shown.changes/> }
}
