//! A tool call: its name, what it is about, how far it is in words, and behind a disclosure what went in and came out
//! (ux.md 7). Nothing of it is ever interpreted: arguments and results are shown as text.

use leptos::prelude::*;
use serde_json::Value;

use crate::browser::scroll;
use crate::domain::block::ToolStatus;
use crate::domain::segment::tool_failed;
use crate::domain::{Block, BlockId, BlockState, Content, FailureKind};
use crate::ui::erased::{live, view};
use crate::ui::kit::Icon;
use crate::ui::state::{ChatState, TurnState};
use crate::ui::words::transcript as words;

/// How much of a result is shown in the page; the whole is one link away.
const SHOWN_BYTES: usize = 64 << 10;

/// A call and its result as they are now.
#[derive(Clone, PartialEq)]
struct Call {
    call: Block,
    result: Option<Block>,
    was_restarted: bool,
}

/// The card of one call.
#[component]
pub fn ToolCard(
    state: ChatState,
    turn: TurnState,
    block: BlockId,
    /// Whether it is drawn as a row of a reasoning block.
    is_compact: bool,
) -> impl IntoView {
    let turn_id = turn.id();
    let name = untrack(|| turn.with_block(block, |block, _| tool_name(block))).unwrap_or_default();
    let call = Memo::new(move |_| find(&turn, block));
    let looks = Memo::new(move |_| call.with(|call| call.as_ref().map(looks)));
    let gist = Memo::new(move |_| {
        call.with(|call| {
            let call = call.as_ref()?;
            words::tool_gist(&call.call, call.result.as_ref(), call.failed())
        })
    });
    let timer = move || {
        let since =
            call.with(|call| call.as_ref().filter(|call| call.is_running()).map(|call| call.call.created_at))?;
        let seconds = u64::try_from((state.now()? - since).num_seconds()).unwrap_or(0);
        Some(words::seconds(seconds))
    };
    let took = move || call.with(|call| call.as_ref().and_then(Call::duration_ms)).map(words::took);
    let heading_id = format!("tool-{block}");
    let (labelled_by, held) = (heading_id.clone(), heading_id.clone());
    let state_word = move || looks.get().map(|looks| looks.word);
    let icon = move || view! { <Icon name=looks.get().map_or("tool", |looks| looks.icon)/> };
    view! {
        <section
            class="tool"
            class:compact=is_compact
            data-segment="tool"
            data-tool-status=move || looks.get().map(|looks| looks.status)
            data-block-id=block.to_string()
            data-block-type="tool_use"
            role="group"
            aria-labelledby=labelled_by
        >
            <header class="tool-header">
                {move || icon()}
                <h4 id=heading_id class="tool-name">{name}</h4>
                <span class="tool-gist" dir="auto">{gist}</span>
                <span class="tool-state">
                    <span class="tool-word">{move || state_word()}</span>
                    <span class="timer" aria-hidden="true">{move || timer()}</span>
                    <span class="tool-took">{move || took()}</span>
                </span>
            </header>
            <details class="tool-details">
                <summary role="button" on:click=move |_| scroll::hold(&held)>
                    <span class="quiet">{words::ARGUMENTS_AND_RESULT}</span>
                    <Icon name="chevron-right"/>
                </summary>
                <div class="tool-body">
                    <Arguments call/>
                    <ToolResult call turn_id/>
                </div>
            </details>
        </section>
    }
}

#[component]
fn Arguments(call: Memo<Option<Call>>) -> impl IntoView {
    let text = move || call.with(|call| call.as_ref().map(|call| arguments(&call.call)).unwrap_or_default());
    view! {
        <p class="tool-part">{words::ARGUMENTS}</p>
        <pre class="tool-text" tabindex="0" role="group" aria-label=words::ARGUMENTS><code>{move || text()}</code></pre>
    }
}

#[component]
fn ToolResult(call: Memo<Option<Call>>, turn_id: crate::domain::TurnId) -> impl IntoView {
    live(move || {
        let call = call.get()?;
        let failed = call.failed();
        let Some(block) = &call.result else {
            let is_over = !call.is_open();
            return Some(is_over.then(|| view! { <p class="tool-part">{words::NO_RESULT}</p> }).into_any());
        };
        let Content::ToolResult { result, .. } = &block.content else { return None };
        let whole = as_text(result);
        let shown = cut(&whole);
        let is_cut = shown.len() < whole.len();
        let name = if failed { words::TOOL_ERROR } else { words::RESULT };
        Some(
            view! {
                <p class="tool-part">{name}</p>
                <div data-block-id=block.id.to_string() data-block-type="tool_result">
                    <pre class="tool-text" tabindex="0" role="group" aria-label=name><code>{shown.to_owned()}</code></pre>
                    {is_cut.then(|| view! {
                        <p class="tool-part">
                            {words::cut_at(SHOWN_BYTES)} " "
                            <a href=format!("/api/turns/{turn_id}") rel="external">{words::OPEN_FULL}</a>
                        </p>
                    })}
                </div>
            }
            .into_any(),
        )
    })
}

/// What the header shows.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Looks {
    word: &'static str,
    icon: &'static str,
    /// For the style alone.
    status: &'static str,
}

fn looks(call: &Call) -> Looks {
    let failed = call.failed();
    let word = words::tool_state(&call.call, failed, call.was_restarted);
    let (icon, status) = match call.status() {
        _ if call.call.state == BlockState::Open => ("tool", "writing"),
        _ if call.call.state == BlockState::Aborted => ("stop", "cancelled"),
        Some(ToolStatus::Pending) => ("tool", "pending"),
        Some(ToolStatus::AwaitingApproval) => ("alert", "awaiting_approval"),
        Some(ToolStatus::Running) => ("tool", "running"),
        Some(ToolStatus::Cancelled | ToolStatus::Denied | ToolStatus::Interrupted) => ("stop", "cancelled"),
        Some(ToolStatus::HandedOver) => ("tool", "handed_over"),
        _ if failed => ("alert", "failed"),
        _ => ("check", "done"),
    };
    Looks { word, icon, status }
}

impl Call {
    fn status(&self) -> Option<ToolStatus> {
        match &self.call.content {
            Content::ToolUse { status, .. } => Some(*status),
            _ => None,
        }
    }

    fn failed(&self) -> bool {
        tool_failed(&self.call, self.result.as_ref())
    }

    fn is_open(&self) -> bool {
        self.call.state == BlockState::Open || self.status().is_some_and(ToolStatus::is_open)
    }

    fn is_running(&self) -> bool {
        self.call.state == BlockState::Done && self.status() == Some(ToolStatus::Running)
    }

    fn duration_ms(&self) -> Option<u64> {
        match &self.call.content {
            Content::ToolUse { duration_ms, .. } if !self.is_open() => *duration_ms,
            _ => None,
        }
    }
}

/// The call with its result, as `domain::segment` paired them.
fn find(turn: &TurnState, block: BlockId) -> Option<Call> {
    let call = turn.with_block(block, |block, _| block.clone())?;
    turn.with(|view| {
        let result = view.turn.blocks.iter().find(|result| match (&result.content, &call.content) {
            (Content::ToolResult { tool_use_id, .. }, Content::ToolUse { tool_use_id: asked, .. }) => {
                result.parent_block_id.map_or(tool_use_id == asked, |parent| parent == call.id)
            }
            _ => false,
        });
        let was_restarted = view.turn.error.as_ref().is_some_and(|error| error.kind == FailureKind::ServerRestarted);
        Some(Call { result: result.cloned(), was_restarted, call })
    })
}

fn tool_name(block: &Block) -> String {
    match &block.content {
        Content::ToolUse { tool_name, .. } => tool_name.clone(),
        _ => String::new(),
    }
}

/// The arguments: as the model writes them while it does, in order afterwards.
fn arguments(call: &Block) -> String {
    match &call.content {
        Content::ToolUse { arguments: Value::Null, arguments_raw, .. } => arguments_raw.clone().unwrap_or_default(),
        Content::ToolUse { arguments, .. } => as_text(arguments),
        _ => String::new(),
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The beginning that is shown, whole characters only.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(SHOWN_BYTES)]
}
