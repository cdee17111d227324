//! The menus of the message box, shown one at a time. Their code is loaded at the first use of a sign.

use leptos::prelude::*;

use super::{commands, menu};
use crate::ui::composer::state::ComposerState;
use crate::ui::erased::view;
use crate::ui::lazy_parts::{NotFetched, lazy_part_when};

/// Loads the code part of the menus.
#[leptos::wasm_split::wasm_split(deeds, wasm_split_path = ::leptos::wasm_split, fallible)]
fn fetch() -> Result<fn(ComposerState) -> AnyView, NotFetched> {
    Ok(draw)
}

fn draw(state: ComposerState) -> AnyView {
    let (documents, commands) = (menu::draw(state), commands::draw(state));
    view! { {documents} {commands} }
}

/// The menu; renders nothing while it is closed.
#[component]
pub fn MentionMenu() -> impl IntoView {
    let state = expect_context::<ComposerState>();
    let is_open = Memo::new(move |_| state.mention.is_open());
    let leave = Callback::new(move |()| state.mention.close());
    let menu =
        lazy_part_when(move || is_open.get(), fetch, leave, move |draw: &fn(ComposerState) -> AnyView| draw(state));
    // The focus stays in the box, whatever is clicked here.
    let hold = |event: leptos::ev::MouseEvent| event.prevent_default();
    view! { <div class="mention-menu" hidden=move || !is_open.get() on:mousedown=hold>{menu}</div> }
}
