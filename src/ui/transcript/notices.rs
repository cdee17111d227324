//! What happened to a reply's request, in front of the reply: one calm line each, in the words that were stored. They
//! stand outside of `domain::segment`, so that none of them cuts a reasoning block in two.

use leptos::prelude::*;

use crate::domain::{BlockId, notice};
use crate::ui::erased::{rows, view};
use crate::ui::state::TurnState;
use crate::ui::words::told::told;

/// The lines; nothing for most replies.
#[component]
pub fn Notices(turn: TurnState) -> impl IntoView {
    let lines = move || {
        turn.with(|view| {
            let blocks = view.turn.blocks.iter();
            blocks
                .filter(|block| notice::ending_of(block).is_none())
                .filter_map(|block| Some((block.id, told(notice::sentence_of(block)?).into_owned())))
                .collect::<Vec<_>>()
        })
    };
    rows(
        lines,
        |(id, _)| id.as_u128(),
        |(id, text): (BlockId, String)| {
            view! { <p class="notice-line" data-block-id=id.to_string() data-block-type="x:notice">{text}</p> }
        },
    )
}
