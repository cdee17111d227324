//! Groups of consecutive tool calls: one heading above their cards, collapsed when many of them are done.

use leptos::prelude::*;

use super::auto_disclosure::{follow_growth, toggle_listener};
use super::segment_view::SegmentBody;
use super::tool_card::tool_status;
use crate::domain::blocks::block::{BlockState, ToolStatus};
use crate::domain::blocks::segment::{Segment, is_tool_failed};
use crate::domain::{BlockId, limits};
use crate::ui::erased::{keyed_rows, view};
use crate::ui::kit::Icon;
use crate::ui::messages::transcript::{self as words, ToolCallCounts};
use crate::ui::standalone::{StandaloneContext, standalone_context};
use crate::ui::state::{ChatState, TurnState};

/// The cards of consecutive calls. A single one has no heading, but the same place, so that a second one moves
/// nothing.
#[component]
pub fn ToolGroup(
    state: ChatState,
    turn: TurnState,
    key: BlockId,
    members: Memo<Vec<Segment>>,
    /// The newest block while the reply is running.
    newest: Memo<Option<BlockId>>,
    /// True if the cards are rendered as rows of a reasoning block.
    is_compact: bool,
) -> impl IntoView {
    let calls = Memo::new({
        let turn = turn.clone();
        move |_| members.with(|members| count_calls(state, &turn, members))
    });
    let is_busy = Memo::new(move |_| {
        // Also between the model's rounds, because the next call may join the group.
        let last = members.with(|members| members.last().map(Segment::key));
        let is_last = last.is_some() && newest.get() == last;
        is_last || calls.with(|calls| calls.asking + calls.running + calls.waiting > 0)
    });
    let page = standalone_context();
    let is_full = page.as_ref().is_some_and(StandaloneContext::opens_tools);
    let stays_open =
        Memo::new(move |_| is_full || is_busy.get() || calls.with(|calls| calls.all <= limits::TOOLS_IN_A_ROW));
    let panel_id = format!("tools-{key}");
    let label_id = format!("tools-{key}-label");
    let open = RwSignal::new(stays_open.get_untracked());
    follow_growth(state, key, panel_id.clone(), open, stays_open);
    let on_toggle = toggle_listener(state, key, panel_id.clone(), open);
    view! {
        <details
            id=panel_id
            class="tool-group"
            class:single=move || calls.with(|calls| calls.all < 2)
            open=open
            on:toggle=on_toggle
        >
            <summary
                id=label_id
                class="tool-group-label"
                role="button"
                aria-expanded=page.is_none().then_some(move || if open.get() { "true" } else { "false" })
            >
                <Icon name="tool"/>
                <span>{move || words::tool_group(calls.get())}</span>
                <Icon name="chevron-right"/>
            </summary>
            <div class="tool-group-body">
                {keyed_rows(
                    move || members.get(),
                    |segment| segment.key().as_u128(),
                    move |segment| view! { <SegmentBody state turn=turn.clone() segment is_compact/> },
                )}
            </div>
        </details>
    }
}

/// Counts the calls by state.
fn count_calls(state: ChatState, turn: &TurnState, members: &[Segment]) -> ToolCallCounts {
    let mut calls = ToolCallCounts::default();
    for member in members {
        let Segment::Tool { call, result, .. } = member else { continue };
        calls.all += 1;
        let Some((of, block)) = state.block_at(turn, *call) else { continue };
        let result = result.and_then(|at| state.block_at(turn, at)).map(|(_, block)| block);
        // Read through the block, so that its changes are tracked.
        of.with_block(block.id, |block, _| match tool_status(block) {
            Some(ToolStatus::AwaitingApproval) => calls.asking += 1,
            Some(ToolStatus::Running) => calls.running += 1,
            Some(ToolStatus::Pending) if block.state != BlockState::Aborted => calls.waiting += 1,
            _ if is_tool_failed(block, result.as_ref()) => calls.failed += 1,
            Some(ToolStatus::Done) => {}
            Some(ToolStatus::Denied) => calls.declined += 1,
            Some(ToolStatus::Cancelled) => calls.stopped += 1,
            _ => calls.unfinished += 1,
        });
    }
    calls
}
