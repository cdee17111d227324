//! The items of a reply, on its page or on a standalone page.

use leptos::prelude::*;

use super::item_places::{ItemPlace, draw_places, group_into_places};
use super::reasoning_panel::ReasoningPanel;
use crate::domain::blocks::segment::Segment;
use crate::ui::erased::view;
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, GrowingItem, TurnState};

/// Returns the places that a standalone page includes. Tools within omitted reasoning are rendered by themselves.
fn standalone_places(places: Vec<ItemPlace>) -> Vec<ItemPlace> {
    let Some(page) = standalone_context() else { return places };
    let kept = |place: ItemPlace| match place {
        ItemPlace::Tools(..) => Some(place).filter(|_| page.has_tools()),
        ItemPlace::Other(_) => Some(place),
        ItemPlace::Reasoning(block) if page.has_reasoning() && page.has_tools() => Some(ItemPlace::Reasoning(block)),
        ItemPlace::Reasoning(mut block) => {
            let is_tool = |member: &Segment| matches!(member, Segment::Tool { .. });
            block.members.retain(|member| if is_tool(member) { page.has_tools() } else { page.has_reasoning() });
            if page.has_reasoning() {
                (block.tool_calls, block.failed_tool_calls) = (0, 0);
                return Some(ItemPlace::Reasoning(block));
            }
            Some(ItemPlace::Tools(block.members.first()?.key(), block.members))
        }
    };
    places.into_iter().filter_map(kept).collect()
}

/// The items of a reply, in reading order.
#[component]
pub fn ReplyItems(
    state: ChatState,
    turn: TurnState,
    /// The growing item while the reply is running.
    growing: Memo<Option<GrowingItem>>,
) -> impl IntoView {
    let all = Memo::new({
        let turn = turn.clone();
        move |_| standalone_places(group_into_places(state.run_items(&turn), |_| false))
    });
    let newest = Memo::new(move |_| growing.get().map(|item| item.key));
    let reasoning = |state, turn, block, newest| view! { <ReasoningPanel state turn block newest/> };
    draw_places(state, turn, all, newest, Some(reasoning))
}
