//! Tests of the fold: the golden corpus folds to the same turns permanently, every impossible event is named, and the
//! laws hold for any events.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::blocks::block::{Author, ToolStatus};
use crate::fixtures;
use crate::id::BlockId;
use crate::messages::failure::{Failure, FailureKind};
use crate::turns::coalesce;
use crate::turns::turn::{Role, TurnStatus};
use crate::usage::cost::Cost;

fn pending() -> Turn {
    let mut turn = fixtures::turn(2, Role::Assistant, TurnStatus::Pending);
    (turn.provider_used, turn.model_used) = (None, None);
    turn
}

fn read(corpus: &str) -> Vec<Event> {
    corpus.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn folded(events: &[Event]) -> Turn {
    let mut turn = pending();
    fold(&mut turn, (1..).zip(events));
    turn
}

/// Returns type, state and text of each block.
fn outline(turn: &Turn) -> Vec<(&str, BlockState, String)> {
    let text = |content: &Content| content.clone().streaming_text_mut().cloned().unwrap_or_default();
    turn.blocks.iter().map(|block| (block.content.block_type(), block.state, text(&block.content))).collect()
}

#[test]
fn golden_reply_with_tool_folds_to_stored_turn() {
    let events = read(include_str!("../golden/tools.jsonl"));
    let mut turn = pending();
    assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
    assert_eq!(
        outline(&turn),
        [
            ("thinking", BlockState::Done, "The user wants the weather 🌦.".to_owned()),
            ("tool_use", BlockState::Done, "{\"city\": \"Oslo\"}".to_owned()),
            ("tool_result", BlockState::Done, String::new()),
            ("text", BlockState::Done, "It is **-3.1 °C** in Oslo.\n".to_owned()),
        ]
    );
    assert!(matches!(
        &turn.blocks[1].content,
        Content::ToolUse { arguments, status: ToolStatus::Done, duration_ms: Some(812), .. }
            if *arguments == json!({"city": "Oslo"})
    ));
    assert_eq!((turn.status, turn.last_event_seq), (TurnStatus::Complete, 24));
    assert_eq!((turn.usage.input_tokens, turn.usage.reasoning_tokens), (Some(300), Some(12)));
    // The provider and model are those of the newest generation; each generation reports its own.
    assert_eq!(turn.provider_used.as_deref(), Some("demo"));
    assert_eq!(turn.model_used.as_deref(), Some("demo-scripted"));
    assert_eq!(turn.content_text(), "It is **-3.1 °C** in Oslo.\n");
}

#[test]
fn golden_failure_keeps_partial_text_and_reason() {
    let events = read(include_str!("../golden/failure.jsonl"));
    let after_first = folded(&events[..1]);
    assert_eq!(after_first.attempt.map(|attempt| attempt.number), Some(2));
    let mut turn = pending();
    assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
    assert_eq!(
        outline(&turn),
        [
            ("text", BlockState::Aborted, "Half a sen".to_owned()),
            ("text", BlockState::Done, "The connection to Demo broke off.".to_owned()),
        ]
    );
    assert_eq!(turn.error.as_ref().map(|failure| failure.kind), Some(FailureKind::ProviderTruncated));
    assert_eq!((turn.status, turn.attempt.is_none()), (TurnStatus::Error, true));
    assert_eq!(turn.content_text(), "Half a sen");
}

#[test]
fn golden_reply_of_newer_version_folds_around_unknown_events() {
    let events = read(include_str!("../golden/newer.jsonl"));
    let mut turn = pending();
    assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
    let types: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(types, ["x:citation", "hologram", "text"]);
    assert_eq!(turn.status, TurnStatus::Error);
    let json = serde_json::to_value(&turn).unwrap();
    assert_eq!(json["blocks"][1]["frames"], 2);
    assert_eq!(serde_json::from_value::<Turn>(json).unwrap(), turn);
}

#[test]
fn golden_edited_call_keeps_arguments_of_model() {
    let events = read(include_str!("../golden/edited.jsonl"));
    let mut turn = pending();
    assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
    let call = &turn.blocks[0];
    let Content::ToolUse { arguments, arguments_raw, status: ToolStatus::Done, .. } = &call.content else { panic!() };
    assert_eq!(arguments.to_string(), r#"{"path":"/c"}"#);
    assert_eq!(arguments_raw.as_deref(), Some(r#"{"path": "/a", "n": 1.0}"#));
    let edit = CallEdit::from_block(call).unwrap();
    assert_eq!(edit.arguments.to_string(), r#"{"path":"/a","n":1.0}"#, "the first ones stay");
    assert_eq!(call.block_metadata["decision"]["decision"], "allow");
}

fn start(id: u64, seq: u32, state: BlockState, content: Content) -> Event {
    let mut block = fixtures::block(2, seq, content);
    (block.id, block.state) = (fixtures::block_id(id), state);
    Event::BlockStart { block }
}

fn delta(id: u64, text: &str) -> Event {
    Event::BlockDelta { block_id: fixtures::block_id(id), text: text.into() }
}

fn end(id: u64, state: BlockState, content: Option<Content>) -> Event {
    Event::BlockEnd { block_id: fixtures::block_id(id), state, content }
}

fn edit(id: u64) -> Event {
    Event::CallEdited {
        block_id: fixtures::block_id(id),
        arguments: json!({ "q": id }),
        at: chrono::DateTime::UNIX_EPOCH,
    }
}

#[test]
fn contradicting_event_is_named_and_changes_only_sequence_number() {
    use BlockState::{Done, Open};
    let status = |status| Event::TurnStatus { status, at: None };
    let update = |id, status| Event::tool_update(fixtures::block_id(id), status, None);
    let finish = |status| Event::TurnEnd { status, usage: Usage::default(), cost: None, at: None };
    let text = || start(0, 0, Open, Content::text(""));
    let table: Vec<(Vec<Event>, Event, &str)> = vec![
        (vec![], delta(9, "a"), "no such block"),
        (vec![], end(9, Done, None), "no such block"),
        (vec![], update(9, ToolStatus::Done), "no such block"),
        (vec![text(), end(0, Done, None)], delta(0, "a"), "the block is finished"),
        (vec![text(), end(0, Done, None)], end(0, Done, None), "the block is finished"),
        (
            vec![text(), end(0, Done, None)],
            end(0, BlockState::Aborted, Some(Content::text("b"))),
            "the block is finished",
        ),
        (
            vec![start(0, 0, Done, fixtures::error_text("broke off"))],
            end(0, Done, Some(Content::text("b"))),
            "the block is finished",
        ),
        (
            vec![start(0, 0, Done, fixtures::tool_use("c", "t", Value::Null, ToolStatus::Done))],
            end(0, Done, Some(fixtures::tool_use("c", "t", json!({}), ToolStatus::Done))),
            "the block is finished",
        ),
        (vec![text(), end(0, Done, None)], end(0, Done, Some(Content::thinking("a"))), "a block keeps its type"),
        (vec![text()], end(0, Open, None), "an end must end"),
        (vec![text()], end(0, Done, Some(Content::thinking("a"))), "a block keeps its type"),
        (vec![text()], update(0, ToolStatus::Done), "only tool calls are updated"),
        (vec![], edit(9), "no such block"),
        (vec![text()], edit(0), "only tool calls are edited"),
        (
            vec![start(0, 0, Open, fixtures::tool_use("c", "t", Value::Null, ToolStatus::Pending))],
            edit(0),
            "the call is still being written",
        ),
        (
            vec![start(0, 0, Open, fixtures::tool_result("c", "t", Value::Null))],
            delta(0, "a"),
            "the block does not grow",
        ),
        (vec![text()], text(), "blocks are appended in order"),
        (
            vec![start(1, 4, Open, Content::text(""))],
            start(0, 3, Open, Content::text("")),
            "blocks are appended in order",
        ),
        (vec![], status(TurnStatus::WaitingSubagents), "no such move"),
        (vec![], status(TurnStatus::Complete), "no such move"),
        (vec![], finish(TurnStatus::Streaming), "an end must end"),
        (vec![finish(TurnStatus::Cancelled)], text(), "the turn is over"),
        (vec![finish(TurnStatus::Cancelled)], finish(TurnStatus::Complete), "the turn is over"),
        (
            vec![],
            serde_json::from_value(json!({"type": "block_delta", "text": 1})).unwrap(),
            "not the shape of its type",
        ),
        (vec![], serde_json::from_value(json!({"text": "no type"})).unwrap(), "not the shape of its type"),
    ];
    for (before, bad, reason) in table {
        let mut turn = folded(&before);
        let mut expected = turn.clone();
        expected.last_event_seq += 1;
        assert_eq!(apply(&mut turn, expected.last_event_seq, &bad), ApplyOutcome::Impossible(reason), "{bad:?}");
        assert_eq!(turn, expected, "{bad:?}");
    }
}

#[test]
fn further_end_corrects_finished_text_or_reasoning() {
    use BlockState::{Done, Open};
    let events = [
        start(0, 0, Open, Content::thinking("")),
        delta(0, "wogrn"),
        end(0, Done, None),
        start(1, 1, Open, Content::text("")),
        delta(1, "Oen"),
        end(0, Done, Some(Content::thinking("right"))),
        delta(1, "."),
        end(1, Done, None),
        end(1, Done, Some(Content::text("One."))),
    ];
    let mut turn = pending();
    assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
    let expected = [("thinking", Done, "right".to_owned()), ("text", Done, "One.".to_owned())];
    assert_eq!(outline(&turn), expected);
}

#[test]
fn block_after_missing_one_is_appended() {
    let events = [start(0, 0, BlockState::Open, Content::text("a")), start(2, 2, BlockState::Open, Content::text("c"))];
    let turn = folded(&events);
    assert_eq!(turn.blocks.iter().map(|block| block.seq).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(turn.next_block_seq(), 3);
}

#[test]
fn call_metadata_is_merged_key_by_key() {
    let call = fixtures::tool_use("c", "look", json!({}), ToolStatus::Pending);
    let update = |metadata: Value| Event::BlockUpdate {
        block_id: fixtures::block_id(0),
        status: ToolStatus::Running,
        duration_ms: None,
        metadata,
    };
    let mut events = vec![start(0, 0, BlockState::Done, call)];
    for (metadata, is) in [
        (json!({}), Value::Null),
        (json!({"progress": "1 of 3", "run_by": "client"}), json!({"progress": "1 of 3", "run_by": "client"})),
        (json!({"progress": "2 of 3"}), json!({"progress": "2 of 3", "run_by": "client"})),
        (json!({"progress": null}), json!({"run_by": "client"})),
        (json!({"run_by": null, "other": null}), Value::Null),
    ] {
        events.push(update(metadata));
        assert_eq!(folded(&events).blocks[0].block_metadata, is);
    }
    let serialized = serde_json::to_value(events.last().unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<Event>(serialized).unwrap(), *events.last().unwrap());
    let silent = serde_json::to_value(Event::tool_update(fixtures::block_id(0), ToolStatus::Done, None)).unwrap();
    assert!(silent.get("metadata").is_none(), "journals of before stay as they are: {silent}");
}

#[test]
fn context_tokens_are_of_newest_reporting_generation_and_end_sets_cost() {
    let generation = |n| GenerationId::from_uuid(fixtures::uuid(n));
    let reported = |n, input_tokens, output_tokens| Event::Usage {
        generation_id: generation(n),
        usage: Usage { input_tokens, output_tokens, ..Usage::default() },
    };
    let cost = Some(Cost { micros: 4_012, is_estimated: true });
    let table = [
        (reported(1, Some(100), Some(20)), Some(120), None),
        (reported(2, Some(130), Some(5)), Some(135), None),
        (reported(2, Some(130), Some(9)), Some(139), None),
        (reported(3, None, Some(7)), Some(139), None),
        (Event::TurnEnd { status: TurnStatus::Cancelled, usage: Usage::default(), cost, at: None }, Some(139), cost),
    ];
    let mut turn = pending();
    for (seq, (event, context, cost)) in (1..).zip(table) {
        assert_eq!(apply(&mut turn, seq, &event), ApplyOutcome::Changed);
        assert_eq!((turn.context_tokens, turn.cost), (context, cost), "{seq}");
    }
}

#[test]
fn gap_changes_nothing_and_is_named() {
    let mut turn = pending();
    let event = Event::TurnStatus { status: TurnStatus::Streaming, at: None };
    assert_eq!(apply(&mut turn, 2, &event), ApplyOutcome::Gap);
    assert_eq!(turn, pending());
    assert_eq!(fold(&mut turn, [(1, &event), (3, &event)]), [(3, "events before it are missing")]);
    assert_eq!(turn.last_event_seq, 1);
    turn.last_event_seq = u64::MAX;
    assert_eq!(apply(&mut turn, u64::MAX, &event), ApplyOutcome::AlreadyCovered);
}

#[test]
fn usage_replaces_its_generation_and_adds_to_others() {
    let generation = |n| GenerationId::from_uuid(fixtures::uuid(n));
    let used = |n| Usage { output_tokens: Some(n), ..Usage::default() };
    let mut usages = GenerationUsages::default();
    for (generation, usage, sum) in [
        (generation(1), used(5), used(5)),
        (generation(1), used(7), used(7)),
        (generation(2), used(1), used(8)),
        (generation(2), Usage::default(), used(7)),
    ] {
        usages.set(generation, usage);
        assert_eq!(usages.sum(), sum);
    }
}

/// Generates any events about a few blocks, possible or not; those of real runs are the most likely.
fn any_event() -> impl Strategy<Value = Event> {
    let id = 0..6_u64;
    let state =
        || prop::sample::select(vec![BlockState::Open, BlockState::Done, BlockState::Failed, BlockState::Aborted]);
    let content = || {
        prop::sample::select(vec![
            Content::text(""),
            Content::thinking(""),
            fixtures::tool_use("call_1", "search", json!({"q": 0.1}), ToolStatus::Pending),
            fixtures::tool_result("call_1", "search", json!(null)),
            fixtures::error_text("broke off"),
            serde_json::from_value(json!({"type": "x:marker"})).unwrap(),
        ])
    };
    let status = || prop::sample::select(TurnStatus::ALL.to_vec());
    prop_oneof![
        8 => (id.clone(), "[a🌦 ]{0,3}").prop_map(|(id, text)| delta(id, &text)),
        5 => (id.clone(), state(), content()).prop_map(|(id, state, content)| start(id, id as u32, state, content)),
        3 => (id.clone(), state(), prop::option::of(content())).prop_map(|(id, state, content)| end(id, state, content)),
        1 => id.clone().prop_map(|id| Event::tool_update(fixtures::block_id(id), ToolStatus::Running, Some(id))),
        1 => id.prop_map(edit),
        2 => status().prop_map(|status| Event::TurnStatus { status, at: None }),
        1 => Just(Event::ModelReturned { model: "m".into() }),
        1 => Just(Event::Attempt(crate::turns::turn::RetryAttempt {
            number: 2, of: 3, wait_ms: 500, reason: Failure::new(FailureKind::ProviderError, "X")
        })),
        1 => Just(Event::Error(Failure::new(FailureKind::Internal, "X"))),
        1 => Just(serde_json::from_value(json!({"type": "weather_report"})).unwrap()),
    ]
}

/// Generates a reply as a run writes it: blocks one after another, deltas, results after their calls.
fn legal_reply() -> impl Strategy<Value = Vec<Event>> {
    let pieces = || prop::collection::vec("[a🌦\n ]{0,4}", 0..6);
    prop::collection::vec((0..3_u8, pieces()), 0..8).prop_map(|blocks| {
        let mut events = vec![Event::TurnStatus { status: TurnStatus::Streaming, at: None }];
        let mut seq = 0_u32;
        for (kind, pieces) in blocks {
            let id = u64::from(seq);
            let content = match kind {
                0 => Content::text(""),
                1 => Content::thinking(""),
                _ => fixtures::tool_use(&format!("call_{id}"), "search", Value::Null, ToolStatus::Pending),
            };
            events.push(start(id, seq, BlockState::Open, content));
            events.extend(pieces.iter().map(|piece| delta(id, piece)));
            events.push(end(id, BlockState::Done, None));
            seq += 1;
            if kind == 2 {
                let mut result =
                    fixtures::block(2, seq, fixtures::tool_result(&format!("call_{id}"), "search", json!({"n": 0.3})));
                (result.id, result.author) = (fixtures::block_id(u64::from(seq)), Author::Tool);
                result.parent_block_id = Some(BlockId::from_uuid(fixtures::block_id(id).uuid()));
                events.push(Event::tool_update(fixtures::block_id(id), ToolStatus::Done, Some(5)));
                events.push(Event::BlockStart { block: result });
                seq += 1;
            }
        }
        events.push(Event::TurnEnd { status: TurnStatus::Complete, usage: Usage::default(), cost: None, at: None });
        events
    })
}

fn any_reply() -> impl Strategy<Value = Vec<Event>> {
    prop_oneof![legal_reply(), prop::collection::vec(any_event(), 0..60)]
}

/// Removes the covered number, which coalescing changes.
fn unnumbered(mut turn: Turn) -> Turn {
    turn.last_event_seq = 0;
    turn
}

proptest! {
    #[test]
    fn legal_reply_folds_without_rejection(events in legal_reply()) {
        let mut turn = pending();
        prop_assert_eq!(fold(&mut turn, (1..).zip(&events)), []);
        prop_assert_eq!(turn.status, TurnStatus::Complete);
        prop_assert!(turn.blocks.iter().all(|block| block.state == BlockState::Done));
    }

    #[test]
    fn resuming_from_snapshot_equals_folding_all(events in any_reply(), cut in any::<prop::sample::Index>()) {
        let cut = cut.index(events.len() + 1);
        // The snapshot is transferred as JSON.
        let snapshot = serde_json::to_string(&folded(&events[..cut])).unwrap();
        let mut resumed: Turn = serde_json::from_str(&snapshot).unwrap();
        fold(&mut resumed, (cut as u64 + 1..).zip(&events[cut..]));
        let all = folded(&events);
        prop_assert_eq!(serde_json::to_string(&resumed).unwrap(), serde_json::to_string(&all).unwrap());
        prop_assert_eq!(resumed, all);
    }

    #[test]
    fn replaying_covered_events_changes_nothing(events in any_reply(), from in any::<prop::sample::Index>()) {
        let all = folded(&events);
        let mut again = all.clone();
        let from = from.index(events.len() + 1);
        for (seq, event) in (1..).zip(&events).skip(from) {
            prop_assert_eq!(apply(&mut again, seq, event), ApplyOutcome::AlreadyCovered);
        }
        prop_assert_eq!(again, all);
    }

    #[test]
    fn coalescing_in_any_batch_size_changes_only_sequence_numbers(
        events in any_reply(),
        batches in prop::collection::vec(1..9_usize, 1..12),
    ) {
        let mut sealed = Vec::new();
        let mut pending = Vec::new();
        let mut sizes = batches.iter().cycle();
        let mut room = 1;
        for event in &events {
            coalesce::push_coalesced(&mut pending, event.clone());
            room -= 1;
            if room == 0 {
                sealed.append(&mut pending);
                room = *sizes.next().unwrap_or(&1);
            }
        }
        sealed.append(&mut pending);
        prop_assert!(sealed.len() <= events.len());
        prop_assert_eq!(unnumbered(folded(&sealed)), unnumbered(folded(&events)));
    }

    #[test]
    fn events_survive_serialization(events in any_reply()) {
        for event in &events {
            let line = serde_json::to_string(event).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Event>(&line).unwrap(), event);
        }
    }
}
