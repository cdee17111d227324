//! Groups of paths as they occur, and of replies that nothing stands between.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::sample;
use crate::segment::{segments, thinking_text};

fn shown(groups: &[Group]) -> Vec<Value> {
    groups.iter().map(|group| json!(group)).collect()
}

fn thought(text: &str, title: Option<&str>, duration_ms: Option<u64>) -> Content {
    let title = title.map(str::to_owned);
    Content::Thinking { thinking: text.into(), signature: None, redacted: None, title, duration_ms }
}

#[test]
fn a_message_and_its_reply_are_two_groups_with_the_reply_in_order() {
    let path = [sample::user_turn(1, "Weather?"), sample::rich_reply(2)];
    let groups = shown(&groups(path.into(), |_| true));
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
        "title": null, "duration": 2_400})
    );
    assert_eq!(reply["segments"][1], json!({"type": "reply", "item": 3}));
}

#[test]
fn without_thinking_mode_there_is_no_reasoning_block_and_no_inference() {
    let path = [sample::user_turn(1, "Weather?"), sample::rich_reply(2)];
    let reply = &shown(&groups(path.into(), |_| false))[1];
    assert_eq!(reply["is_thinking_mode"], false);
    assert!(reply["items"].as_array().unwrap().iter().all(|item| item["kind"] != "think"));
    assert!(reply["segments"].as_array().unwrap().iter().all(|segment| segment["type"] == "reply"));
}

#[test]
fn replies_with_no_message_between_them_are_one_group_and_their_reasoning_one_piece() {
    let first = sample::reply(2, [thought("Planning.", Some("Planning"), Some(5))]);
    let second = sample::reply(3, [thought("Checking.", Some("Checking"), Some(7)), Content::text("Done.")]);
    let third = sample::reply(4, [thought("And now?", None, None)]);
    let ids = [first.id, second.id, third.id];
    let blocks = [first.blocks[0].id, second.blocks[0].id];
    let path = [sample::user_turn(1, "Go"), first, second, third, sample::user_turn(5, "More")];
    let groups = shown(&groups(path.clone().into(), |_| true));
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
        json!({"type": "reasoning_block", "items": [2], "tool_calls": 0, "title": null,
        "duration": null}),
        "text ends a reasoning block"
    );
}

#[test]
fn a_tool_at_the_end_of_one_reply_stays_with_the_reasoning_that_the_next_goes_on_with() {
    let call = sample::tool_use("c", "look", json!({}), ToolStatus::Done);
    let first = sample::reply(2, [thought("a", None, None), call, sample::tool_result("c", "look", json!(1))]);
    let second = sample::reply(3, [thought("b", None, None), Content::text("x")]);
    let reply = &shown(&groups(vec![first, second], |_| true))[0];
    assert_eq!(reply["segments"][0]["items"], json!([0, 1, 2]));
    assert_eq!(reply["segments"].as_array().unwrap().len(), 2);
}

#[test]
fn a_reply_in_thinking_mode_beside_one_without_keeps_its_own_reasoning_only() {
    let first = sample::reply(2, [thought("seen", None, None)]);
    let second = sample::reply(3, [thought("unasked", None, None), Content::text("x")]);
    let mode = first.id;
    let reply = &shown(&groups(vec![first, second], |turn| turn == mode))[0];
    assert_eq!(reply["is_thinking_mode"], true);
    assert!(!reply.to_string().contains("unasked"));
    assert!(reply.to_string().contains("seen"));
}

fn any_reply(ord: i64) -> impl Strategy<Value = Turn> {
    let content = (0..4_u8, prop::sample::select(vec!["", "a", "b"])).prop_map(|(kind, text)| match kind {
        0 | 1 => thought(text, None, None),
        2 => sample::tool_use("c", "look", json!({}), ToolStatus::Done),
        _ => Content::text(text),
    });
    prop::collection::vec(content, 0..5).prop_map(move |contents| sample::reply(ord, contents))
}

proptest! {
    #[test]
    fn one_reply_is_what_the_transcript_draws_of_it(reply in any_reply(2)) {
        let items = segments(&reply.blocks, true);
        let group = groups(vec![reply.clone()], |_| true).remove(0);
        let Group::AssistantMessageGroup { items: told, segments: placed, .. } = group else { unreachable!() };
        prop_assert_eq!(items.len(), placed.len());
        let drawn: Vec<&Segment> = items.iter().flat_map(|item| match item {
            Item::Reasoning(block) => block.members.iter().collect(),
            Item::Reply(segment) => vec![segment],
        }).collect();
        prop_assert_eq!(drawn.len(), told.len());
        for (drawn, told) in drawn.into_iter().zip(told) {
            prop_assert_eq!(drawn.key(), told.id);
            if let (Segment::Think { blocks, .. }, What::Think { text, merged_ids, .. }) = (drawn, told.what) {
                prop_assert_eq!(thinking_text(&reply.blocks, blocks), text);
                prop_assert_eq!(merged_ids.len(), blocks.len());
            }
        }
    }

    #[test]
    fn cutting_a_reply_in_two_changes_nothing_but_the_turns(reply in any_reply(2), at in 0..5_usize) {
        let at = at.min(reply.blocks.len());
        let (mut first, mut second) = (reply.clone(), sample::reply(3, []));
        second.blocks = first.blocks.split_off(at);
        let strip = |group: &Group| {
            let mut group = json!(group);
            group["turn_ids"] = Value::Null;
            for item in group["items"].as_array_mut().unwrap() {
                item["turn_id"] = Value::Null;
            }
            group
        };
        let (whole, cut) = (groups(vec![reply], |_| true), groups(vec![first, second], |_| true));
        prop_assert_eq!(cut.len(), 1);
        prop_assert_eq!(strip(&whole[0]), strip(&cut[0]));
    }
}
