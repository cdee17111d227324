//! Notices on a reply's request, in front of the reply: one quiet line each. They are not part of
//! `domain::blocks::segment`, so that none of them splits a reasoning block.

use leptos::prelude::*;

use crate::domain::BlockId;
use crate::domain::blocks::notice;
use crate::ui::erased::{keyed_rows, view};
use crate::ui::messages::stored_codes::notice_block_sentence;
use crate::ui::state::TurnState;

/// The lines; none for most replies.
#[component]
pub fn RequestNotices(turn: TurnState) -> impl IntoView {
    let lines = move || {
        turn.with(|view| {
            let blocks = view.turn.blocks.iter();
            blocks
                .filter(|block| notice::ending_notice(block).is_none())
                .filter_map(|block| Some((block.id, notice_block_sentence(block)?)))
                .collect::<Vec<_>>()
        })
    };
    keyed_rows(
        lines,
        |(id, _)| id.as_u128(),
        |(id, text): (BlockId, String)| {
            view! { <p class="notice-line" data-block-id=id.to_string() data-block-type="x:notice">{text}</p> }
        },
    )
}
