//! The items of a reply, as its page or a page that stands alone shows them.

use leptos::prelude::*;

use super::places::{Place, in_places, places};
use super::reasoning_panel::ReasoningPanel;
use crate::domain::segment::Segment;
use crate::ui::erased::view;
use crate::ui::standalone::standalone;
use crate::ui::state::{ChatState, Growing, TurnState};

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
    let reasoning = |state, turn, block, newest| view! { <ReasoningPanel state turn block newest/> };
    in_places(state, turn, all, newest, Some(reasoning))
}
