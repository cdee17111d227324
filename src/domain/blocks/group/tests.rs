//! Tests of the groups of typical paths, and of adjacent replies.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::blocks::segment::{segments, thinking_text};
use crate::fixtures;

fn shown(groups: &[MessageGroup]) -> Vec<Value> {
    groups.iter().map(|group| json!(group)).collect()
}

fn thought(text: &str, title: Option<&str>, duration_ms: Option<u64>) -> Content {
    let title = title.map(str::to_owned);
    Content::Thinking { thinking: text.into(), signature: None, redacted: None, title, duration_ms }
}

#[test]
fn message_and_its_reply_are_two_groups_with_reply_in_order() {
    let path = [fixtures::user_turn(1, "Weather?"), fixtures::rich_reply(2)];
    let groups = shown(&message_groups(path.into(), |_| true));
    assert_eq!(groups.len(), 2);
    assert_eq!(groups[0]["type"], "user_message_group");
    assert_eq!(groups[0]["user_message"]["content"], "Weather?");
    let reply = &groups[1];
    assert_eq!((&reply["type"], &reply["is_thinking_mode"]), (&json!("assistant_message_group"), &json!(true)));
    let kinds: Vec<&str> =
        reply["items"].as_array().unwrap().iter().map(|item| item["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["think", "tool", "think", "text", "tool", "text"]);
    assert_eq!(reply["items"][1]["result"]["result"], json!({"celsius": -3}));
    assert_eq!(reply["items"][5]["is_error"], true);
    assert_eq!(
        reply["segments"][0],
        json!({"type": "reasoning_block", "items": [0, 1, 2], "tool_calls": 1,
        "title": null, "titles": ["Planning"], "duration": 2_400})
    );
    assert_eq!(reply["segments"][1], json!({"type": "reply", "item": 3}));
}

#[test]
fn without_thinking_mode_there_is_no_reasoning_block_and_no_inference() {
    let path = [fixtures::user_turn(1, "Weather?"), fixtures::rich_reply(2)];
    let reply = &shown(&message_groups(path.into(), |_| false))[1];
    assert_eq!(reply["is_thinking_mode"], false);
    assert!(reply["items"].as_array().unwrap().iter().all(|item| item["kind"] != "think"));
    assert!(reply["segments"].as_array().unwrap().iter().all(|segment| segment["type"] == "reply"));
}

#[test]
fn consecutive_replies_are_one_group_with_merged_reasoning() {
    let first = fixtures::reply(2, [thought("Planning.", Some("Planning"), Some(5))]);
    let second = fixtures::reply(3, [thought("Checking.", Some("Checking"), Some(7)), Content::text("Done.")]);
    let third = fixtures::reply(4, [thought("And now?", None, None)]);
    let ids = [first.id, second.id, third.id];
    let blocks = [first.blocks[0].id, second.blocks[0].id];
    let path = [fixtures::user_turn(1, "Go"), first, second, third, fixtures::user_turn(5, "More")];
    let groups = shown(&message_groups(path.clone().into(), |_| true));
    assert_eq!(groups.len(), 3);
    let reply = &groups[1];
    assert_eq!(reply["turn_ids"], json!(ids));
    assert_eq!(reply["exchange_id"], json!(path[1].exchange_id));
    let think = &reply["items"][0];
    assert_eq!(think["text"], "Planning.\n\nChecking.");
    assert_eq!(
        (&think["title"], &think["duration"], &think["total_duration"]),
        (&json!("Checking"), &json!(7), &json!(12))
    );
    assert_eq!(think["merged_ids"], json!(blocks));
    assert_eq!(reply["items"].as_array().unwrap().len(), 3);
    assert_eq!(reply["segments"][0]["items"], json!([0]));
    assert_eq!(
        reply["segments"][2],
        json!({"type": "reasoning_block", "items": [2], "tool_calls": 0, "title": null, "titles": [],
        "duration": null}),
        "text ends a reasoning block"
    );
}

#[test]
fn tool_at_end_of_reply_stays_with_reasoning_continued_by_next_reply() {
    let call = fixtures::tool_use("c", "look", json!({}), ToolStatus::Done);
    let first = fixtures::reply(2, [thought("a", None, None), call, fixtures::tool_result("c", "look", json!(1))]);
    let second = fixtures::reply(3, [thought("b", None, None), Content::text("x")]);
    let reply = &shown(&message_groups(vec![first, second], |_| true))[0];
    assert_eq!(reply["segments"][0]["items"], json!([0, 1, 2]));
    assert_eq!(reply["segments"].as_array().unwrap().len(), 2);
}

#[test]
fn only_replies_in_thinking_mode_keep_reasoning_within_group() {
    let first = fixtures::reply(2, [thought("seen", None, None)]);
    let second = fixtures::reply(3, [thought("unasked", None, None), Content::text("x")]);
    let mode = first.id;
    let reply = &shown(&message_groups(vec![first, second], |turn| turn == mode))[0];
    assert_eq!(reply["is_thinking_mode"], true);
    assert!(!reply.to_string().contains("unasked"));
    assert!(reply.to_string().contains("seen"));
}

fn any_reply(ord: i64) -> impl Strategy<Value = Turn> {
    let content = (0..4_u8, prop::sample::select(vec!["", "a", "b"])).prop_map(|(kind, text)| match kind {
        0 | 1 => thought(text, None, None),
        2 => fixtures::tool_use("c", "look", json!({}), ToolStatus::Done),
        _ => Content::text(text),
    });
    prop::collection::vec(content, 0..5).prop_map(move |contents| fixtures::reply(ord, contents))
}

proptest! {
    #[test]
    fn single_reply_group_matches_transcript_segments(reply in any_reply(2)) {
        let items = segments(&reply.blocks, true);
        let group = message_groups(vec![reply.clone()], |_| true).remove(0);
        let MessageGroup::AssistantMessageGroup { items: timeline, segments: placed, .. } = group else { unreachable!() };
        prop_assert_eq!(items.len(), placed.len());
        let rendered: Vec<&Segment> = items.iter().flat_map(|item| match item {
            RenderedItem::Reasoning(block) => block.members.iter().collect(),
            RenderedItem::Reply(segment) => vec![segment],
        }).collect();
        prop_assert_eq!(rendered.len(), timeline.len());
        for (segment, item) in rendered.into_iter().zip(timeline) {
            prop_assert_eq!(segment.key(), item.id);
            if let (Segment::Think { blocks, .. }, TimelineItemKind::Think { text, merged_ids, .. }) = (segment, item.kind) {
                prop_assert_eq!(thinking_text(&reply.blocks, blocks), text);
                prop_assert_eq!(merged_ids.len(), blocks.len());
            }
        }
    }

    #[test]
    fn splitting_reply_in_two_changes_only_turn_ids(reply in any_reply(2), at in 0..5_usize) {
        let at = at.min(reply.blocks.len());
        let (mut first, mut second) = (reply.clone(), fixtures::reply(3, []));
        second.blocks = first.blocks.split_off(at);
        let strip = |group: &MessageGroup| {
            let mut group = json!(group);
            group["turn_ids"] = Value::Null;
            for item in group["items"].as_array_mut().unwrap() {
                item["turn_id"] = Value::Null;
            }
            group
        };
        let (whole, cut) = (message_groups(vec![reply], |_| true), message_groups(vec![first, second], |_| true));
        prop_assert_eq!(cut.len(), 1);
        prop_assert_eq!(strip(&whole[0]), strip(&cut[0]));
    }
}
