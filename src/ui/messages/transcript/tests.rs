//! Tests of the transcript's messages by number and state.

use serde_json::json;

use super::*;
use crate::domain::block::ToolStatus;
use crate::domain::segment::{RenderedItem, segments};
use crate::domain::{Content, fixtures};

fn block(contents: Vec<Content>) -> ReasoningBlock {
    match segments(&fixtures::blocks(1, contents), true).remove(0) {
        RenderedItem::Reasoning(block) => block,
        RenderedItem::Reply(_) => panic!("not reasoning"),
    }
}

fn thought(ms: Option<u64>, text: &str) -> Content {
    Content::Thinking {
        thinking: text.into(),
        signature: None,
        redacted: None,
        title: Some("checking".into()),
        duration_ms: ms,
    }
}

#[test]
fn times_are_written_as_people_say_them() {
    for (s, words) in [(0, "0 s"), (12, "12 s"), (60, "1 min"), (65, "1 min 5 s"), (3_600, "1 h"), (3_725, "1 h 2 min")]
    {
        assert_eq!(seconds(s), words);
    }
    for (ms, words) in [
        (0, "<0.1 s"),
        (50, "0.1 s"),
        (849, "0.8 s"),
        (850, "0.9 s"),
        (9_949, "9.9 s"),
        (9_950, "10 s"),
        (60_000, "1 min"),
    ] {
        assert_eq!(measured_time(ms), words, "{ms}");
    }
}

#[test]
fn finished_reasoning_block_is_named_by_time_and_tools() {
    assert_eq!(reasoning(&block(vec![thought(Some(12_400), "x")]), false, None), "Thought for 12 s");
    assert_eq!(reasoning(&block(vec![thought(Some(400), "x")]), false, None), "Thought briefly");
    assert_eq!(reasoning(&block(vec![thought(None, "x")]), false, None), "Thought");
    assert_eq!(
        reasoning(&block(vec![thought(Some(3_000), "")]), false, None),
        "Thought for 3 s · hidden by the provider"
    );
    assert_eq!(
        reasoning(&block(vec![thought(Some(7_000), "x")]), false, Some(ReasoningInterruption::Stopped)),
        "Thought for 7 s · stopped"
    );
}

#[test]
fn growing_reasoning_block_is_named_by_its_title() {
    assert_eq!(reasoning(&block(vec![thought(None, "x")]), true, None), "Thinking: checking");
    assert_eq!(reasoning(&block(vec![Content::thinking("x")]), true, None), "Thinking…");
}

#[test]
fn one_is_singular_and_thousands_are_separated() {
    assert_eq!(tool_calls(1, 0), "1 tool call");
    assert_eq!(tool_calls(3, 1), "3 tool calls, 1 failed");
    assert_eq!(number(1_204), "1\u{202f}204");
    assert_eq!(number(1_234_567), "1\u{202f}234\u{202f}567");
}

#[test]
fn tool_groups_state_counts_and_queue_place() {
    let calls = |all, running, failed| ToolCallCounts { all, running, failed, ..ToolCallCounts::default() };
    assert_eq!(tool_group(calls(3, 1, 0)), "3 tools · 1 running");
    assert_eq!(tool_group(calls(6, 0, 0)), "6 tools, all done");
    assert_eq!(tool_group(calls(6, 1, 2)), "6 tools · 1 running · 2 failed");
    let call = fixtures::block(
        2,
        0,
        fixtures::tool_use("c", "x", serde_json::json!({}), crate::domain::block::ToolStatus::Pending),
    );
    for (place, words) in [
        (None, "waiting"),
        (Some((1, 1)), "waiting"),
        (Some((2, 3)), "waiting (2nd of 3)"),
        (Some((11, 12)), "waiting (11th of 12)"),
    ] {
        assert_eq!(tool_state(&call, None, false, false, place), words);
    }
}

#[test]
fn sizes_are_written_in_nearest_unit() {
    for (bytes, words) in
        [(5, "of 5 bytes"), (99_000, "of 97 KB"), (3_250_586, "of 3.1 MB"), (33_554_432, "of 32.0 MB")]
    {
        assert_eq!(cut_at(64 << 10, bytes), format!("Cut at 64 KB {words}."));
    }
    assert_eq!(cleaned([0, 0, 0, 0]), "");
    assert_eq!(cleaned([1, 0, 0, 2]), "1 terminal code removed · 2 hidden characters");
}

#[test]
fn call_gist_is_its_first_meaningful_argument() {
    let about = |arguments: serde_json::Value| {
        let call = fixtures::tool_use("c", "t", arguments, ToolStatus::Done);
        tool_gist(&fixtures::block(2, 0, call), None, false)
    };
    assert_eq!(about(json!({"n": 3, "query": "rust"})).as_deref(), Some("n: 3"));
    assert_eq!(about(json!({"query": "", "n": 3})).as_deref(), Some("n: 3"));
    assert_eq!(about(json!({"query": " "})), None);
    assert_eq!(about(json!({"deep": {"path": "/a"}, "flag": true})).as_deref(), Some("“/a”"));
}
