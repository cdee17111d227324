//! One item of a reply in its place: which component draws it. Where it stands was decided by `domain::segment`.

use leptos::prelude::*;

use super::other_block::OtherBlock;
use super::reasoning_panel::ReasoningPanel;
use super::text_block::TextBlock;
use super::tool_card::ToolCard;
use crate::domain::segment::{Item, ReasoningBlock, Segment};
use crate::domain::{Block, BlockId, Content};
use crate::ui::erased::{rows, view};
use crate::ui::state::{ChatState, TurnState};

/// The items of a reply, in reading order.
#[component]
pub fn Items(state: ChatState, turn: TurnState) -> impl IntoView {
    let items = Memo::new({
        let turn = turn.clone();
        move |_| state.items(&turn)
    });
    rows(
        move || items.get(),
        |item| item.key().as_u128(),
        move |item| view! { <SegmentView state turn=turn.clone() items item/> },
    )
}

/// One item. Its kind never changes; a reasoning block may grow.
#[component]
fn SegmentView(state: ChatState, turn: TurnState, items: Memo<Vec<Item>>, item: Item) -> impl IntoView {
    match item {
        Item::Reply(segment) => view! { <SegmentBody state turn segment is_compact=false/> }.into_any(),
        Item::Reasoning(first) => {
            let key = first.key;
            let block = Memo::new(move |before: Option<&ReasoningBlock>| {
                items.with(|items| items.iter().find_map(|item| reasoning_with(item, key)).cloned()).unwrap_or_else(
                    || {
                        // The item is on its way out of the page.
                        before.cloned().unwrap_or_else(|| first.clone())
                    },
                )
            });
            view! { <ReasoningPanel state turn block/> }.into_any()
        }
    }
}

fn reasoning_with(item: &Item, key: BlockId) -> Option<&ReasoningBlock> {
    match item {
        Item::Reasoning(block) if block.key == key => Some(block),
        _ => None,
    }
}

/// One segment, of a reply or within a reasoning block.
#[component]
pub fn SegmentBody(
    state: ChatState,
    turn: TurnState,
    segment: Segment,
    /// Whether it is drawn as a row of a reasoning block.
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
            .map(|(turn, block)| view! { <TextBlock turn block=block.id/> })
            .collect_view()
            .into_any(),
        Segment::Text { block, .. } => match state.block_at(&turn, block) {
            None => ().into_any(),
            Some((turn, Block { id, content: Content::Text { text, is_error: true }, .. })) => {
                view! { <ErrorText turn block=id text/> }.into_any()
            }
            Some((turn, Block { id, content: Content::Text { .. }, .. })) => {
                view! { <TextBlock turn block=id/> }.into_any()
            }
            Some((_, block)) => view! { <OtherBlock block/> }.into_any(),
        },
    }
}

/// Turnleaf's own sentence about a failure. The error of the turn says the same sentence better.
#[component]
fn ErrorText(turn: TurnState, block: BlockId, text: String) -> impl IntoView {
    let words = text.clone();
    let is_said = Memo::new(move |_| {
        turn.with(|view| view.turn.error.as_ref().is_some_and(|error| error.message.trim() == words.trim()))
    });
    view! {
        <p
            class="error-text"
            dir="auto"
            hidden=is_said
            data-block-id=block.to_string()
            data-block-type="text"
        >
            {text}
        </p>
    }
}
