//! The transcript with sample turns: reasoning, what is waited for, how replies end, every failure.

use leptos::prelude::*;
use serde_json::{Map, Value, json};

use crate::api::view::{BlockMarkup, TurnView, VersionView};
use crate::domain::block::ToolStatus;
use crate::domain::turn::Attempt;
use crate::domain::{
    Block, BlockState, Content, Failure, FailureKind, NotSent, Role, Turn, TurnStatus, notice, sample, sources,
};
use crate::server::markup::markup_of;
use crate::ui::erased::view;
use crate::ui::state::ChatState;
use crate::ui::transcript::Transcript;
use crate::ui::transcript::verbs::Verbs;

const THOUGHT: &str = "The question is short, so the answer should be short too. What matters is **where** leaves grow: at the nodes. I could look it up, but this is well known.";

/// The turns as the application shows them.
pub fn draw(turns: Vec<TurnView>) -> AnyView {
    let state = ChatState::new(turns, Callback::new(|_| ()));
    provide_context(Verbs::new(String::new(), RwSignal::new(Vec::new()), Callback::new(|_| ())));
    view! { <Transcript state on_stop=Callback::new(|_| ()) on_retry=Callback::new(|_| ())/> }
}

/// A turn as pages get it.
pub fn shown(turn: Turn) -> TurnView {
    let sources = sources::of_blocks(&turn.blocks);
    let markup = |block: &Block| Some(BlockMarkup { block_id: block.id, parts: markup_of(turn.id, block, &sources)? });
    let markup = turn.blocks.iter().filter_map(markup).collect();
    TurnView {
        siblings: vec![turn.id],
        markup,
        turn,
        is_thinking_mode: true,
        not_sent: Vec::new(),
        versions: Vec::new(),
        retry_id: String::new(),
        switched_to: None,
        named: Vec::new(),
    }
}

/// What somebody asked.
pub fn asked(ord: i64, text: &str) -> TurnView {
    shown(sample::user_turn(ord, text))
}

/// A reply that is not over; its last block is still growing.
pub fn growing(ord: i64, contents: impl IntoIterator<Item = Content>) -> Turn {
    let mut turn = sample::reply(ord, contents);
    (turn.status, turn.completed_at) = (TurnStatus::Streaming, None);
    if let Some(last) = turn.blocks.last_mut() {
        last.state = BlockState::Open;
    }
    turn
}

/// Reasoning with words.
pub fn thought(title: Option<&str>) -> Content {
    Content::Thinking {
        thinking: THOUGHT.into(),
        signature: None,
        redacted: None,
        title: title.map(str::to_owned),
        duration_ms: Some(12_400),
    }
}

/// Reasoning, waiting, and the ways in which a reply ends.
pub fn reasoning() -> Vec<TurnView> {
    let answer = || Content::text("From buds, at the **nodes** of a stem.");
    let waiting = |ord| sample::turn(ord, Role::Assistant, TurnStatus::Pending);
    let reason = Failure::new(FailureKind::ProviderOverloaded, "Demo");
    let tried = Turn { attempt: Some(Attempt { number: 2, of: 3, wait_ms: 4_000, reason }), ..waiting(10) };
    let mut stopped = sample::reply(12, [Content::text("From buds, at the")]);
    stopped.status = TurnStatus::Cancelled;
    let mut noticed = shown(sample::reply(14, [notice::Notice::ReasoningRefused.content(), answer()]));
    noticed.not_sent = vec![NotSent { param: "temperature".into(), reason: "this model does not take it".into() }];
    noticed.switched_to = Some("Demo (scripted)".into());
    let tools = [
        thought(Some("Planning")),
        sample::tool_use("call_1", "search", json!({ "query": "leaf buds" }), ToolStatus::Done),
        sample::tool_result("call_1", "search", json!({ "hits": 3 })),
        sample::tool_use("call_2", "search", json!({ "query": "nodes" }), ToolStatus::Failed),
        sample::tool_result("call_2", "search", json!({ "error": "timed out" })),
        thought(None),
        answer(),
    ];
    vec![
        asked(1, "Where do leaves come from?"),
        versioned(shown(sample::reply(2, [thought(Some("Planning")), answer()]))),
        asked(3, "And with looking it up?"),
        shown(sample::reply(4, tools)),
        asked(5, "Think aloud."),
        shown(growing(6, [Content::thinking(THOUGHT)])),
        asked(7, "Write."),
        shown(growing(
            8,
            [thought(None), Content::text("From buds, at the nodes of a stem, where a\n\n```rust\nfn grow(")],
        )),
        asked(9, "Are you there?"),
        shown(tried),
        asked(11, "Stop in the middle."),
        shown(stopped),
        asked(13, "With another model, please."),
        noticed,
        asked(15, "Say nothing."),
        shown(sample::reply(16, [])),
        asked(17, "One moment …"),
        shown(waiting(18)),
    ]
}

/// The same as the second of three versions.
fn versioned(view: TurnView) -> TurnView {
    let others = [sample::turn_id(900), view.turn.id, sample::turn_id(901)];
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

/// One reply for every way to fail.
pub fn failures() -> Vec<TurnView> {
    let one = |(at, kind): (i64, FailureKind)| {
        let mut failed = sample::failed_reply(2 * at, kind);
        if let Some(failure) = &mut failed.error {
            failure.retry_after_ms = (kind == FailureKind::ProviderRateLimited).then_some(30_000);
            failure.detail = Some(format!("HTTP 503: {}", kind.as_str()));
        }
        [asked(2 * at - 1, kind.as_str()), shown(failed)]
    };
    (1..).zip(FailureKind::ALL).flat_map(one).collect()
}

/// A pause of the kind that a person ends.
pub fn pause(text: &str) -> Content {
    Content::Other(object(json!({ "type": "x:pause", "reason": "rounds", "text": text })))
}

/// The fields of a JSON object.
pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
