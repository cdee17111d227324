//! Places of a reply: groups the items of `domain::blocks::segment` for display and renders each group.

use leptos::prelude::*;

use super::reasoning_section::ReasoningSection;
use super::segment_view::SegmentBody;
use super::tool_group::ToolGroup;
use crate::domain::BlockId;
use crate::domain::blocks::segment::{ReasoningBlock, RenderedItem, Segment};
use crate::ui::erased::{keyed_rows, view};
use crate::ui::state::{ChatState, TurnState};

/// One place; consecutive tools share one.
#[derive(Clone, PartialEq)]
pub enum ItemPlace {
    Reasoning(ReasoningBlock),
    /// The key is that of the first tool, which is stable.
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

    /// Returns the newest block in it.
    pub fn newest_block(&self) -> BlockId {
        match self {
            Self::Tools(key, tools) => tools.last().map_or(*key, Segment::key),
            place => place.key(),
        }
    }
}

/// Groups the items of a reply into places. Later items move nothing: they append a place, or extend the last one.
/// Items that are `silent` will never show anything, so tools around them are consecutive.
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

/// Renders a reasoning block; the last argument is the newest block of the running reply.
pub type DrawReasoning = fn(ChatState, TurnState, Memo<ReasoningBlock>, Memo<Option<BlockId>>) -> AnyView;

/// Renders these places one below the other: those of a reply, with `reasoning` for its reasoning blocks, or those
/// within such a block, where it is absent and tools are rendered as rows.
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

/// One place. Its kind never changes; reasoning and tool groups may grow.
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
    // An item that is being removed is rendered in its last state.
    match place {
        ItemPlace::Other(segment @ Segment::Think { .. }) if is_compact => {
            let is_older = Memo::new(move |_| all.with(|all| sections(all).next_back() != Some(key)));
            let has_several = Memo::new(move |_| all.with(|all| sections(all).nth(1).is_some()));
            view! { <ReasoningSection state turn key segment is_older has_several/> }.into_any()
        }
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

/// Returns the keys of the reasoning in a panel.
fn sections(all: &[ItemPlace]) -> impl DoubleEndedIterator<Item = BlockId> {
    all.iter().filter(|place| matches!(place, ItemPlace::Other(Segment::Think { .. }))).map(ItemPlace::key)
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
