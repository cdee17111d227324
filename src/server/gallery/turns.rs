//! The transcript with sample turns: reasoning, waiting, every ending and every failure.

use leptos::prelude::*;
use serde_json::{Map, Value, json};

use crate::api::view::{BlockMarkup, TurnView, VersionView};
use crate::domain::blocks::block::ToolStatus;
use crate::domain::blocks::{notice, sources};
use crate::domain::messages::drop_reason::DropReason;
use crate::domain::messages::message_template::MessageArgs;
use crate::domain::turns::turn::RetryAttempt;
use crate::domain::{Block, BlockState, Content, DroppedParam, Failure, FailureKind, Role, Turn, TurnStatus, fixtures};
use crate::server::markup::block_markup_with_citations;
use crate::ui::erased::view;
use crate::ui::state::ChatState;
use crate::ui::transcript::Transcript;
use crate::ui::transcript::turn_commands::TurnCommands;

const THOUGHT: &str = "The question is short, so the answer should be short too. What matters is **where** leaves grow: at the nodes. I could look it up, but this is well known.";

/// Renders the turns with the application's transcript.
pub fn draw(turns: Vec<TurnView>) -> AnyView {
    let state = ChatState::new(turns, Callback::new(|_| ()));
    provide_context(TurnCommands::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ())));
    view! { <Transcript state on_stop=Callback::new(|_| ()) on_retry=Callback::new(|_| ())/> }
}

/// Returns a turn in the form that pages get.
pub fn turn_view(turn: Turn) -> TurnView {
    let sources = sources::collect_sources(&turn.blocks);
    let markup = |block: &Block| {
        Some(BlockMarkup { block_id: block.id, parts: block_markup_with_citations(turn.id, block, &sources)? })
    };
    let markup = turn.blocks.iter().filter_map(markup).collect();
    TurnView { markup, ..TurnView::new(turn) }
}

/// Returns a user turn.
pub fn user_turn(ord: i64, text: &str) -> TurnView {
    turn_view(fixtures::user_turn(ord, text))
}

/// Returns an unfinished reply whose last block is open.
pub fn streaming_turn(ord: i64, contents: impl IntoIterator<Item = Content>) -> Turn {
    let mut turn = fixtures::reply(ord, contents);
    (turn.status, turn.completed_at) = (TurnStatus::Streaming, None);
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Open;
    }
    turn
}

/// Returns reasoning with text.
pub fn reasoning_block(title: Option<&str>) -> Content {
    Content::Thinking {
        thinking: THOUGHT.into(),
        signature: None,
        redacted: None,
        title: title.map(str::to_owned),
        duration_ms: Some(12_400),
    }
}

/// Returns turns with reasoning, waiting, and every ending of a reply.
pub fn reasoning_turns() -> Vec<TurnView> {
    let answer = || Content::text("From buds, at the **nodes** of a stem.");
    let waiting = |ord| fixtures::turn(ord, Role::Assistant, TurnStatus::Pending);
    let reason = Failure::new(FailureKind::ProviderOverloaded, "Demo");
    let tried = Turn { attempt: Some(RetryAttempt { number: 2, of: 3, wait_ms: 4_000, reason }), ..waiting(10) };
    let mut stopped = fixtures::reply(12, [Content::text("From buds, at the")]);
    stopped.status = TurnStatus::Cancelled;
    let mut noticed = turn_view(fixtures::reply(14, [notice::Notice::ReasoningRefused.content(), answer()]));
    noticed.not_sent = vec![DroppedParam::new("temperature", DropReason::Unsupported, MessageArgs::new())];
    noticed.switched_to = Some("Demo (scripted)".into());
    let tools = [
        reasoning_block(Some("Planning")),
        fixtures::tool_use("call_1", "search", json!({ "query": "leaf buds" }), ToolStatus::Done),
        fixtures::tool_result("call_1", "search", json!({ "hits": 3 })),
        fixtures::tool_use("call_2", "search", json!({ "query": "nodes" }), ToolStatus::Failed),
        fixtures::tool_result("call_2", "search", json!({ "error": "timed out" })),
        reasoning_block(None),
        answer(),
    ];
    vec![
        user_turn(1, "Where do leaves come from?"),
        versioned(turn_view(fixtures::reply(2, [reasoning_block(Some("Planning")), answer()]))),
        user_turn(3, "And with looking it up?"),
        turn_view(fixtures::reply(4, tools)),
        user_turn(5, "Think aloud."),
        turn_view(streaming_turn(6, [Content::thinking(THOUGHT)])),
        user_turn(7, "Write."),
        turn_view(streaming_turn(
            8,
            [reasoning_block(None), Content::text("From buds, at the nodes of a stem, where a\n\n```rust\nfn grow(")],
        )),
        user_turn(9, "Are you there?"),
        turn_view(tried),
        user_turn(11, "Stop in the middle."),
        turn_view(stopped),
        user_turn(13, "With another model, please."),
        noticed,
        user_turn(15, "Say nothing."),
        turn_view(fixtures::reply(16, [])),
        user_turn(17, "One moment …"),
        turn_view(waiting(18)),
    ]
}

/// Makes the turn the second of three versions.
fn versioned(view: TurnView) -> TurnView {
    let others = [fixtures::turn_id(900), view.turn.id, fixtures::turn_id(901)];
    let statuses = [TurnStatus::Complete, TurnStatus::Complete, TurnStatus::Streaming];
    let version = |(turn_id, status)| VersionView {
        turn_id,
        at: view.turn.created_at,
        model: view.turn.model_used.clone(),
        words: "From buds".into(),
        status,
        is_edited: false,
        followed_by: 2,
    };
    let versions = others.into_iter().zip(statuses).map(version).collect();
    TurnView { siblings: others.to_vec(), versions, ..view }
}

/// Returns one reply for every kind of failure.
pub fn failed_turns() -> Vec<TurnView> {
    let one = |(at, kind): (i64, FailureKind)| {
        let mut failed = fixtures::failed_reply(2 * at, kind);
        if let Some(failure) = &mut failed.error {
            failure.retry_after_ms = (kind == FailureKind::ProviderRateLimited).then_some(30_000);
            failure.detail = Some(format!("HTTP 503: {}", kind.as_str()));
        }
        [user_turn(2 * at - 1, kind.as_str()), turn_view(failed)]
    };
    (1..).zip(FailureKind::ALL).flat_map(one).collect()
}

/// Returns the fields of a JSON object.
pub fn json_object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
