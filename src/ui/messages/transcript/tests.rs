//! Tests of the transcript's messages by number and state.

use serde_json::json;

use super::*;
use crate::domain::blocks::block::ToolStatus;
use crate::domain::blocks::segment::{RenderedItem, segments};
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
fn switch_of_model_names_earlier_replies_only_where_there_are_some() {
    assert_eq!(switched_to("m", false), "switched to m");
    assert_eq!(switched_to("m", true), "switched to m · earlier replies are sent as plain text");
}

#[test]
fn finished_reasoning_block_is_named_by_time_and_tools() {
    assert_eq!(reasoning(&block(vec![thought(Some(12_400), "x")]), false, None), "checking · thought for 12 s");
    assert_eq!(reasoning(&block(vec![thought(Some(400), "x")]), false, None), "checking · thought briefly");
    assert_eq!(reasoning(&block(vec![thought(None, "x")]), false, None), "checking");
    assert_eq!(reasoning(&block(vec![Content::thinking("x")]), false, None), "Thought");
    assert_eq!(
        reasoning(&block(vec![thought(Some(3_000), "")]), false, None),
        "checking · thought for 3 s · hidden by the provider"
    );
    assert_eq!(
        reasoning(&block(vec![thought(Some(7_000), "x")]), false, Some(ReasoningInterruption::Stopped)),
        "checking · thought for 7 s · stopped"
    );
}

#[test]
fn growing_reasoning_block_is_named_by_its_title() {
    assert_eq!(reasoning(&block(vec![thought(None, "x")]), true, None), "Thinking: checking");
    assert_eq!(reasoning(&block(vec![Content::thinking("x")]), true, None), "Thinking…");
}

#[test]
fn usage_is_in_words() {
    let usage_of = |input, output| Usage { input_tokens: input, output_tokens: output, ..Usage::default() };
    assert_eq!(usage(&usage_of(Some(14), Some(1))), "14 tokens sent · 1 token received");
    let all = Usage { cache_read_tokens: Some(1_200), reasoning_tokens: Some(3), ..usage_of(Some(1_400), None) };
    assert_eq!(usage(&all), "1,400 tokens sent · 1,200 from the cache · 3 for reasoning");
}

#[test]
fn tool_call_count_has_singular() {
    assert_eq!(tool_calls(1, 0), "1 tool call");
    assert_eq!(tool_calls(3, 1), "3 tool calls, 1 failed");
}

#[test]
fn tool_groups_state_counts_and_queue_place() {
    let calls = |all, running, failed| ToolCallCounts { all, running, failed, ..ToolCallCounts::default() };
    assert_eq!(tool_group(calls(3, 1, 0)), "3 tool calls · 1 running");
    assert_eq!(tool_group(calls(6, 0, 0)), "6 tool calls, all done");
    assert_eq!(tool_group(calls(6, 1, 2)), "6 tool calls · 1 running · 2 failed");
    let call = fixtures::block(
        2,
        0,
        fixtures::tool_use("c", "x", serde_json::json!({}), crate::domain::blocks::block::ToolStatus::Pending),
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
fn notes_on_result_name_what_is_missing() {
    assert_eq!(cut_at(64 << 10, 3_250_586), "Showing the first 64 KiB of 3.2 MiB.");
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
