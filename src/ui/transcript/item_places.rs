//! The places in which the items of a reply stand, and what is drawn in each. Where one stands was decided by
//! `domain::segment`.

use leptos::prelude::*;

use super::segment_view::SegmentBody;
use super::tool_group::ToolGroup;
use crate::domain::BlockId;
use crate::domain::segment::{ReasoningBlock, RenderedItem, Segment};
use crate::ui::erased::{keyed_rows, view};
use crate::ui::state::{ChatState, TurnState};

/// What is drawn in one place: tools with nothing between them share one.
#[derive(Clone, PartialEq)]
pub enum ItemPlace {
    Reasoning(ReasoningBlock),
    /// Named after the first of them, which was there first and stays.
    Tools(BlockId, Vec<Segment>),
    Other(Segment),
}

impl ItemPlace {
    pub fn key(&self) -> BlockId {
        match self {
            Self::Reasoning(block) => block.key,
            Self::Tools(key, _) => *key,
            Self::Other(segment) => segment.key(),
        }
    }

    /// The newest that is in it.
    pub fn newest_block(&self) -> BlockId {
        match self {
            Self::Tools(key, tools) => tools.last().map_or(*key, Segment::key),
            place => place.key(),
        }
    }
}

/// The items of a reply in their places. What comes later moves nothing: it makes a place, or lengthens the last. What is
/// `silent` shows nothing and will not: tools around it are in a row.
pub fn group_into_places(items: Vec<RenderedItem>, silent: impl Fn(&Segment) -> bool) -> Vec<ItemPlace> {
    let mut places: Vec<ItemPlace> = Vec::with_capacity(items.len());
    for item in items {
        match (item, places.last_mut()) {
            (RenderedItem::Reasoning(block), _) => places.push(ItemPlace::Reasoning(block)),
            (RenderedItem::Reply(tool @ Segment::Tool { .. }), Some(ItemPlace::Tools(_, tools))) => tools.push(tool),
            (RenderedItem::Reply(segment), Some(ItemPlace::Tools(_, tools))) if silent(&segment) => tools.push(segment),
            (RenderedItem::Reply(tool @ Segment::Tool { .. }), _) => {
                places.push(ItemPlace::Tools(tool.key(), vec![tool]))
            }
            (RenderedItem::Reply(segment), _) => places.push(ItemPlace::Other(segment)),
        }
    }
    places
}

/// Draws a block of reasoning; what the reply is at comes last.
pub type DrawReasoning = fn(ChatState, TurnState, Memo<ReasoningBlock>, Memo<Option<BlockId>>) -> AnyView;

/// What stands in these places, one below the other: of a reply, whose blocks of reasoning `reasoning` draws, or within
/// such a block, where there is none and tools are rows of it.
pub fn draw_places(
    state: ChatState,
    turn: TurnState,
    all: Memo<Vec<ItemPlace>>,
    newest: Memo<Option<BlockId>>,
    reasoning: Option<DrawReasoning>,
) -> AnyView {
    keyed_rows(
        move || all.get(),
        |place| place.key().as_u128(),
        move |place| view! { <PlaceView state turn=turn.clone() all newest place reasoning/> },
    )
}

/// One place. Its kind never changes; reasoning and a row of tools may grow.
#[component]
fn PlaceView(
    state: ChatState,
    turn: TurnState,
    all: Memo<Vec<ItemPlace>>,
    newest: Memo<Option<BlockId>>,
    place: ItemPlace,
    reasoning: Option<DrawReasoning>,
) -> impl IntoView {
    let (key, is_compact) = (place.key(), reasoning.is_none());
    // What is on its way out of the page is drawn as it was last.
    match place {
        ItemPlace::Other(segment) => view! { <SegmentBody state turn segment is_compact/> }.into_any(),
        ItemPlace::Reasoning(first) => {
            let block = Memo::new(move |before: Option<&ReasoningBlock>| {
                let now = all.with(|all| all.iter().find_map(|place| reasoning_with(place, key)).cloned());
                now.unwrap_or_else(|| before.cloned().unwrap_or_else(|| first.clone()))
            });
            reasoning.map(|draw| draw(state, turn, block, newest)).into_any()
        }
        ItemPlace::Tools(_, first) => {
            let members = Memo::new(move |before: Option<&Vec<Segment>>| {
                let now = all.with(|all| all.iter().find_map(|place| tools_with(place, key)).cloned());
                now.unwrap_or_else(|| before.cloned().unwrap_or_else(|| first.clone()))
            });
            view! { <ToolGroup state turn key members newest is_compact/> }.into_any()
        }
    }
}

fn reasoning_with(place: &ItemPlace, key: BlockId) -> Option<&ReasoningBlock> {
    match place {
        ItemPlace::Reasoning(block) if block.key == key => Some(block),
        _ => None,
    }
}

fn tools_with(place: &ItemPlace, key: BlockId) -> Option<&Vec<Segment>> {
    match place {
        ItemPlace::Tools(of, tools) if *of == key => Some(tools),
        _ => None,
    }
}
