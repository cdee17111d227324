//! One item of a reply in its place: which component draws it. Where it stands was decided by `domain::segment`.

use leptos::prelude::*;

use super::other_block::OtherBlock;
use super::reasoning_panel::ReasoningPanel;
use super::text_block::TextBlock;
use super::tool_card::ToolCard;
use super::tool_group::ToolGroup;
use crate::domain::segment::{Item, ReasoningBlock, Segment};
use crate::domain::{Block, BlockId, Content};
use crate::ui::erased::{rows, view};
use crate::ui::standalone::standalone;
use crate::ui::state::{ChatState, Growing, TurnState};

/// What is drawn in one place: tools with nothing between them share one.
#[derive(Clone, PartialEq)]
pub enum Place {
    Reasoning(ReasoningBlock),
    /// Named after the first of them, which was there first and stays.
    Tools(BlockId, Vec<Segment>),
    Other(Segment),
}

impl Place {
    fn key(&self) -> BlockId {
        match self {
            Self::Reasoning(block) => block.key,
            Self::Tools(key, _) => *key,
            Self::Other(segment) => segment.key(),
        }
    }

    /// The newest that is in it.
    pub fn newest(&self) -> BlockId {
        match self {
            Self::Tools(key, tools) => tools.last().map_or(*key, Segment::key),
            place => place.key(),
        }
    }
}

/// The items of a reply in their places. What comes later moves nothing: it makes a place, or lengthens the last. What is
/// `silent` shows nothing and will not: tools around it are in a row.
pub fn places(items: Vec<Item>, silent: impl Fn(&Segment) -> bool) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::with_capacity(items.len());
    for item in items {
        match (item, places.last_mut()) {
            (Item::Reasoning(block), _) => places.push(Place::Reasoning(block)),
            (Item::Reply(tool @ Segment::Tool { .. }), Some(Place::Tools(_, tools))) => tools.push(tool),
            (Item::Reply(segment), Some(Place::Tools(_, tools))) if silent(&segment) => tools.push(segment),
            (Item::Reply(tool @ Segment::Tool { .. }), _) => places.push(Place::Tools(tool.key(), vec![tool])),
            (Item::Reply(segment), _) => places.push(Place::Other(segment)),
        }
    }
    places
}

/// What of them a page shows that stands alone. Tools in reasoning that is left out are drawn by themselves.
fn kept(places: Vec<Place>) -> Vec<Place> {
    let Some(page) = standalone() else { return places };
    let kept = |place: Place| match place {
        Place::Tools(..) => Some(place).filter(|_| page.has_tools()),
        Place::Other(_) => Some(place),
        Place::Reasoning(block) if page.has_reasoning() && page.has_tools() => Some(Place::Reasoning(block)),
        Place::Reasoning(mut block) => {
            let is_tool = |member: &Segment| matches!(member, Segment::Tool { .. });
            block.members.retain(|member| if is_tool(member) { page.has_tools() } else { page.has_reasoning() });
            if page.has_reasoning() {
                (block.tool_calls, block.failed_tool_calls) = (0, 0);
                return Some(Place::Reasoning(block));
            }
            Some(Place::Tools(block.members.first()?.key(), block.members))
        }
    };
    places.into_iter().filter_map(kept).collect()
}

/// The items of a reply, in reading order.
#[component]
pub fn Items(
    state: ChatState,
    turn: TurnState,
    /// What the reply is at, while it is being written.
    growing: Memo<Option<Growing>>,
) -> impl IntoView {
    let all = Memo::new({
        let turn = turn.clone();
        move |_| kept(places(state.items(&turn), |_| false))
    });
    let newest = Memo::new(move |_| growing.get().map(|item| item.key));
    in_places(state, turn, all, newest, false)
}

/// What stands in these places, one below the other: of a reply, or within a reasoning block.
pub fn in_places(
    state: ChatState,
    turn: TurnState,
    all: Memo<Vec<Place>>,
    newest: Memo<Option<BlockId>>,
    is_compact: bool,
) -> AnyView {
    rows(
        move || all.get(),
        |place| place.key().as_u128(),
        move |place| view! { <PlaceView state turn=turn.clone() all newest place is_compact/> },
    )
}

/// One place. Its kind never changes; reasoning and a row of tools may grow.
#[component]
fn PlaceView(
    state: ChatState,
    turn: TurnState,
    all: Memo<Vec<Place>>,
    newest: Memo<Option<BlockId>>,
    place: Place,
    is_compact: bool,
) -> impl IntoView {
    let key = place.key();
    // What is on its way out of the page is drawn as it was last.
    match place {
        Place::Other(segment) => view! { <SegmentBody state turn segment is_compact/> }.into_any(),
        Place::Reasoning(first) => {
            let block = Memo::new(move |before: Option<&ReasoningBlock>| {
                let now = all.with(|all| all.iter().find_map(|place| reasoning_with(place, key)).cloned());
                now.unwrap_or_else(|| before.cloned().unwrap_or_else(|| first.clone()))
            });
            view! { <ReasoningPanel state turn block newest/> }.into_any()
        }
        Place::Tools(_, first) => {
            let members = Memo::new(move |before: Option<&Vec<Segment>>| {
                let now = all.with(|all| all.iter().find_map(|place| tools_with(place, key)).cloned());
                now.unwrap_or_else(|| before.cloned().unwrap_or_else(|| first.clone()))
            });
            view! { <ToolGroup state turn key members newest is_compact/> }.into_any()
        }
    }
}

fn reasoning_with(place: &Place, key: BlockId) -> Option<&ReasoningBlock> {
    match place {
        Place::Reasoning(block) if block.key == key => Some(block),
        _ => None,
    }
}

fn tools_with(place: &Place, key: BlockId) -> Option<&Vec<Segment>> {
    match place {
        Place::Tools(of, tools) if *of == key => Some(tools),
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
