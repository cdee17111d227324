//! Renders one segment of a reply with the component for its type.

use leptos::prelude::*;

use super::other_block::OtherBlock;
use super::text_block::TextBlock;
use super::tool_card::ToolCard;
use crate::domain::blocks::segment::Segment;
use crate::domain::{Block, BlockId, Content};
use crate::ui::erased::view;
use crate::ui::state::{ChatState, TurnState};

/// One segment, of a reply or within a reasoning block.
#[component]
pub fn SegmentBody(
    state: ChatState,
    turn: TurnState,
    segment: Segment,
    /// True if it is rendered as a row of a reasoning block.
    is_compact: bool,
) -> impl IntoView {
    match segment {
        Segment::Tool { key, call, .. } => {
            let turn = state.block_at(&turn, call).map_or(turn, |(of, _)| of);
            view! { <ToolCard state turn block=key is_compact/> }.into_any()
        }
        Segment::Think { blocks, .. } => blocks
            .into_iter()
            .filter_map(|at| state.block_at(&turn, at))
            .map(|(turn, block)| view! { <TextBlock state turn block=block.id/> })
            .collect_view()
            .into_any(),
        Segment::Text { block, .. } => match state.block_at(&turn, block) {
            None => ().into_any(),
            Some((turn, Block { id, content: Content::Text { text, is_error: true }, .. })) => {
                view! { <ErrorText turn block=id text/> }.into_any()
            }
            Some((turn, Block { id, content: Content::Text { .. }, .. })) => {
                view! { <TextBlock state turn block=id/> }.into_any()
            }
            Some((turn, block)) => view! { <OtherBlock turn block/> }.into_any(),
        },
    }
}

/// Turnleaf's own sentence about a failure. Hidden where the turn's error shows the same sentence.
#[component]
fn ErrorText(turn: TurnState, block: BlockId, text: String) -> impl IntoView {
    let words = text.clone();
    let is_repeated = Memo::new(move |_| {
        turn.with(|view| view.turn.error.as_ref().is_some_and(|error| error.message.trim() == words.trim()))
    });
    view! {
        <p
            class="error-text"
            dir="auto"
            hidden=is_repeated
            data-block-id=block.to_string()
            data-block-type="text"
        >
            {text}
        </p>
    }
}
