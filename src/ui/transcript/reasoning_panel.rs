//! The reasoning panel: the model's reasoning and tool calls before its text, in a disclosure with a label
//! (docs/reference/ux.md 6).

use leptos::prelude::*;

use super::auto_disclosure::{follow_growth, toggle_listener};
use super::copy_button::CopyButton;
use super::item_places::{ItemPlace, draw_places, group_into_places};
use super::reasoning_section::TITLE_SEPARATOR;
use crate::browser::scroll;
use crate::domain::blocks::segment::{ReasoningBlock, RenderedItem, Segment, thinking_text};
use crate::domain::{Block, BlockId, BlockState, Content, FailureKind, TurnStatus};
use crate::ui::erased::{effect, keyed_rows, live_view, on_change, view};
use crate::ui::kit::Icon;
use crate::ui::messages::amounts;
use crate::ui::messages::transcript::{self as words, ReasoningInterruption};
use crate::ui::preferences::{PreferenceSetting, Preferences};
use crate::ui::standalone::standalone_context;
use crate::ui::state::{ChatState, TurnState};

/// A native disclosure, so that it opens without script.
#[component]
pub fn ReasoningPanel(
    state: ChatState,
    turn: TurnState,
    block: Memo<ReasoningBlock>,
    /// The newest block while the reply is running.
    newest: Memo<Option<BlockId>>,
) -> impl IntoView {
    let key = block.with_untracked(|block| block.key);
    let is_streaming = Memo::new({
        let turn = turn.clone();
        move |_| {
            // The model continues after a tool; only later content, or the end, closes the block for the reader.
            newest.get() == Some(key) || (block.with(|block| block.is_open) && state.is_run_running(&turn))
        }
    });
    let label = Memo::new({
        let turn = turn.clone();
        move |_| block.with(|block| words::reasoning(block, is_streaming.get(), cut_off(block, &turn)))
    });
    let is_hidden =
        Memo::new(move |_| !is_streaming.get() && block.with(|block| !block.has_text && block.tool_calls == 0));
    live_view(move || {
        let turn = turn.clone();
        if is_hidden.get() {
            view! { <HiddenReasoning state turn block label/> }.into_any()
        } else {
            view! { <Panel state turn block is_streaming label key/> }.into_any()
        }
    })
}

/// Reasoning without text: there is nothing to open.
#[component]
fn HiddenReasoning(
    state: ChatState,
    turn: TurnState,
    block: Memo<ReasoningBlock>,
    label: Memo<String>,
) -> impl IntoView {
    view! {
        <div class="reasoning hidden-reasoning" data-segment="reasoning">
            <p class="reasoning-label">
                <Icon name="thought"/>
                <span>{label}</span>
            </p>
            <p class="reasoning-note">{words::hidden_reasoning()}</p>
            {keyed_rows(
                move || thinking_blocks(state, &turn, &block.get()),
                |id| id.as_u128(),
                |id| view! { <span hidden data-block-id=id.to_string() data-block-type="thinking"></span> },
            )}
        </div>
    }
}

#[component]
fn Panel(
    state: ChatState,
    turn: TurnState,
    block: Memo<ReasoningBlock>,
    is_streaming: Memo<bool>,
    label: Memo<String>,
    key: BlockId,
) -> impl IntoView {
    let panel_id = format!("reasoning-{key}");
    let label_id = format!("reasoning-{key}-label");
    let body_id = format!("reasoning-{key}-body");
    let stays_open = should_be_open(block, is_streaming);
    let open = RwSignal::new(stays_open.get_untracked());
    follow_growth(state, key, panel_id.clone(), open, stays_open);
    keep_end_in_view(state, turn.clone(), block, is_streaming, body_id.clone());
    let on_toggle = toggle_listener(state, key, panel_id.clone(), open);
    let is_preview = preview(is_streaming, stays_open, open);
    // Without script nothing would announce the change; the element itself does.
    let is_live = standalone_context().is_none();
    let timer = {
        let turn = turn.clone();
        move || is_streaming.get().then(|| elapsed(state, &turn, block)).flatten().map(amounts::seconds)
    };
    let of_foot = turn.clone();
    let foot =
        move || (is_live && !is_streaming.get()).then(|| view! { <PanelFoot state turn=of_foot.clone() block/> });
    let all = Memo::new({
        let turn = turn.clone();
        move |_| {
            let members = block.with(|block| {
                block.members.iter().flat_map(|one| split_segments(state, &turn, one)).collect::<Vec<_>>()
            });
            let silent = |segment: &Segment| is_silent(state, &turn, segment);
            group_into_places(members.into_iter().map(RenderedItem::Reply).collect(), silent)
        }
    });
    // The breadcrumb of several titles; a single one is in the label.
    let titles = Memo::new(move |_| {
        block.with(|block| if block.titles.len() > 1 { block.titles.join(TITLE_SEPARATOR) } else { String::new() })
    });
    // Only the last block can still grow.
    let newest = Memo::new(move |_| {
        is_streaming.get().then(|| all.with(|all| all.last().map(ItemPlace::newest_block))).flatten()
    });
    view! {
        <details
            id=panel_id
            class="reasoning"
            class:streaming=is_streaming
            data-preview=move || is_preview.get().then_some("")
            data-segment="reasoning"
            open=open
            on:toggle=on_toggle
        >
            <summary
                id=label_id.clone()
                class="reasoning-label"
                role="button"
                aria-expanded=is_live.then_some(move || if open.get() { "true" } else { "false" })
                aria-controls=body_id.clone()
                title=move || Some(titles.get()).filter(|titles| !titles.is_empty())
            >
                <Icon name="thought"/>
                <span class="label-words" dir="auto">{label}</span>
                <span class="timer" aria-hidden="true">{move || timer()}</span>
                <Icon name="chevron-right"/>
            </summary>
            <div
                id=body_id
                class="reasoning-body"
                role="group"
                aria-labelledby=label_id
                tabindex=move || is_preview.get().then_some("0")
            >
                <p class="reasoning-titles" dir="auto" hidden=move || titles.with(String::is_empty)>{titles}</p>
                {draw_places(state, turn, all, newest, None)}
                {move || foot()}
            </div>
        </details>
    }
}

/// Returns whether the body is a window of three lines: while the reasoning grows and as it closes by itself, so that
/// nothing moves that is read. What the reader opens afterwards is whole.
fn preview(is_streaming: Memo<bool>, stays_open: Memo<bool>, open: RwSignal<bool>) -> RwSignal<bool> {
    let is_preview = RwSignal::new(is_streaming.get_untracked());
    on_change(
        move || is_streaming.get(),
        move |_, is| {
            if is || stays_open.get_untracked() {
                is_preview.set(is);
            }
        },
    );
    on_change(
        move || open.get(),
        move |_, is_open| {
            if is_open && !is_streaming.get_untracked() {
                is_preview.set(false);
            }
        },
    );
    is_preview
}

/// Returns whether the panel should be open. The reader's setting takes precedence over the reply's state.
fn should_be_open(block: Memo<ReasoningBlock>, is_streaming: Memo<bool>) -> Memo<bool> {
    let preferences = use_context::<RwSignal<Preferences>>().map(|chosen| chosen.get_untracked()).unwrap_or_default();
    match preferences.get(PreferenceSetting::Reasoning) {
        "open" => Memo::new(|_| true),
        "closed" => Memo::new(|_| false),
        "failure" => Memo::new(move |_| is_streaming.get() || block.with(|block| block.failed_tool_calls > 0)),
        _ => is_streaming,
    }
}

/// The actions on finished reasoning.
#[component]
fn PanelFoot(state: ChatState, turn: TurnState, block: Memo<ReasoningBlock>) -> impl IntoView {
    let raw = raw_response_link(state, &turn, &block.get_untracked());
    let text = Callback::new(move |()| reasoning_text(state, &turn, &block.get_untracked()));
    let raw = raw.map(|address| {
        view! {
            <a class="button bare" rel="external" href=address title=words::raw_hint()>{words::raw()}</a>
        }
    });
    view! {
        <div class="reasoning-foot no-print">
            <CopyButton name=words::copy_reasoning() text/>
            {raw}
        </div>
    }
}

/// Splits it into one segment for each block: a block that joins the preceding reasoning must not render that again.
fn split_segments(state: ChatState, turn: &TurnState, segment: &Segment) -> Vec<Segment> {
    match segment {
        Segment::Think { blocks, .. } => {
            let one = |&at: &usize| Some(Segment::Think { key: id_at(state, turn, at)?, blocks: vec![at] });
            blocks.iter().filter_map(one).collect()
        }
        _ => vec![segment.clone()],
    }
}

/// Returns whether it is finished reasoning that the provider did not show.
fn is_silent(state: ChatState, turn: &TurnState, segment: &Segment) -> bool {
    let shows_nothing = |block: &Block| match &block.content {
        Content::Thinking { thinking, .. } => block.state != BlockState::Open && thinking.trim().is_empty(),
        _ => false,
    };
    match segment {
        Segment::Think { blocks, .. } => {
            blocks.iter().all(|&at| state.read_at(turn, at, shows_nothing).is_some_and(|(_, nothing)| nothing))
        }
        _ => false,
    }
}

/// Keeps the scroll position at the end while the reasoning grows.
fn keep_end_in_view(
    state: ChatState,
    turn: TurnState,
    block: Memo<ReasoningBlock>,
    is_streaming: Memo<bool>,
    body_id: String,
) {
    effect(move || {
        if !is_streaming.get() {
            return;
        }
        let newest = block.with(newest_block).and_then(|at| state.block_at(&turn, at));
        if let Some((turn, newest)) = newest {
            turn.with_block(newest.id, |_, _| ());
            scroll::keep_box_at_end(&body_id);
        }
    });
}

/// Returns the seconds that the block has taken: measured times, plus the running time. Time spent waiting for a
/// person does not count.
fn elapsed(state: ChatState, turn: &TurnState, block: Memo<ReasoningBlock>) -> Option<u64> {
    let now = state.server_time()?;
    block.with(|block| {
        let places = block.members.iter().flat_map(|member| match member {
            Segment::Think { blocks, .. } => blocks.as_slice(),
            Segment::Tool { call: at, .. } | Segment::Text { block: at, .. } => std::slice::from_ref(at),
        });
        let going_on = places.filter_map(|&at| state.read_at(turn, at, Block::running_since)?.1);
        let running: i64 = going_on.map(|since| (now - since).num_milliseconds().max(0)).sum();
        Some((block.duration_ms.unwrap_or(0) + running.unsigned_abs()) / 1000)
    })
}

fn newest_block(block: &ReasoningBlock) -> Option<usize> {
    match block.members.last()? {
        Segment::Think { blocks, .. } => blocks.last().copied(),
        Segment::Tool { call, .. } => Some(*call),
        Segment::Text { block, .. } => Some(*block),
    }
}

fn id_at(state: ChatState, turn: &TurnState, at: usize) -> Option<BlockId> {
    state.block_at(turn, at).map(|(_, block)| block.id)
}

/// Returns the ids of the thinking blocks in it.
fn thinking_blocks(state: ChatState, turn: &TurnState, block: &ReasoningBlock) -> Vec<BlockId> {
    thinking_block_contents(state, turn, block).into_iter().map(|block| block.id).collect()
}

/// Returns the thinking blocks in it.
fn thinking_block_contents(state: ChatState, turn: &TurnState, block: &ReasoningBlock) -> Vec<Block> {
    let places = block.members.iter().flat_map(|member| match member {
        Segment::Think { blocks, .. } => blocks.clone(),
        _ => Vec::new(),
    });
    places.filter_map(|at| state.block_at(turn, at)).map(|(_, block)| block).collect()
}

/// Returns the text of all its reasoning, for copying.
fn reasoning_text(state: ChatState, turn: &TurnState, block: &ReasoningBlock) -> String {
    let blocks = thinking_block_contents(state, turn, block);
    let all: Vec<usize> = (0..blocks.len()).collect();
    thinking_text(&blocks, &all)
}

/// Returns the page with the raw response; none where that is not known.
fn raw_response_link(state: ChatState, turn: &TurnState, block: &ReasoningBlock) -> Option<String> {
    let first = block.members.iter().find_map(|member| match member {
        Segment::Think { blocks, .. } => blocks.first().copied(),
        _ => None,
    })?;
    let (of, thought) = state.block_at(turn, first)?;
    Some(format!("/turns/{}/raw?of={}", of.id(), thought.generation_id?))
}

/// Returns why the block ended early, from its turn's ending.
fn cut_off(block: &ReasoningBlock, turn: &TurnState) -> Option<ReasoningInterruption> {
    if !block.was_cut_off {
        return None;
    }
    turn.with(|view| match (view.turn.status, view.turn.error.as_ref().map(|error| error.kind)) {
        (TurnStatus::Error, Some(FailureKind::ServerRestarted)) => Some(ReasoningInterruption::ServerRestarted),
        (
            TurnStatus::Error,
            Some(FailureKind::ProviderTruncated | FailureKind::ProviderStalled | FailureKind::ProviderUnreachable),
        ) => Some(ReasoningInterruption::ConnectionLost),
        (TurnStatus::Error, _) => Some(ReasoningInterruption::Failed),
        _ => Some(ReasoningInterruption::Stopped),
    })
}
