//! Tests of the builder: where blocks start and end, and what their events fold to.

use serde_json::json;
use uuid::Uuid;

use super::*;
use turnleaf_domain::blocks::block::ToolStatus;
use turnleaf_domain::turns::fold::{self, ApplyOutcome};
use turnleaf_domain::{Role, TurnStatus, Usage, fixtures};

fn builder() -> BlockBuilder {
    let mut minted = 0;
    let place = BlockPosition { turn_ord: 3, next_seq: 2, generation_id: GenerationId::from_uuid(Uuid::nil()) };
    BlockBuilder::new(place, move || {
        minted += 1;
        (BlockId::from_uuid(Uuid::from_u128(minted)), DateTime::UNIX_EPOCH)
    })
}

/// Pushes the items at intervals of 100 ms and folds the events.
fn built(items: Vec<DecodedItem>, state: BlockState) -> (Vec<Block>, BlockBuilder) {
    let mut builder = builder();
    let mut events = Vec::new();
    for (item, at) in items.into_iter().zip(0..) {
        builder.push(item, Some(Duration::from_millis(100 * at)), &mut events);
    }
    builder.close(state, &mut events);
    let mut turn = fixtures::turn(3, Role::Assistant, TurnStatus::Streaming);
    // The turn has two blocks of an earlier step.
    let mut earlier = Vec::new();
    let mut first = BlockBuilder::new(BlockPosition { next_seq: 0, ..builder.place }, || {
        (BlockId::from_uuid(Uuid::from_u128(u128::MAX)), DateTime::UNIX_EPOCH)
    });
    for kind in ["x:a", "x:b"] {
        first.push(DecodedItem::Opaque(Map::from_iter([("type".into(), json!(kind))])), None, &mut earlier);
    }
    for (event, seq) in earlier.iter().chain(&events).zip(1..) {
        assert_eq!(fold::apply(&mut turn, seq, event), ApplyOutcome::Changed, "{event:?}");
    }
    (turn.blocks.split_off(2), builder)
}

fn call(index: u64, id: &str) -> DecodedItem {
    DecodedItem::ToolCall { index, id: id.into(), name: "f".into() }
}

fn arguments(index: u64, text: &str) -> DecodedItem {
    DecodedItem::ToolArguments { index, text: text.into() }
}

fn contents(blocks: &[Block]) -> Vec<Value> {
    blocks.iter().map(|block| json!(block.content)).collect()
}

#[test]
fn change_of_kind_starts_new_block() {
    let (blocks, builder) = built(
        vec![
            DecodedItem::Thinking("a".into()),
            DecodedItem::Thinking("b".into()),
            DecodedItem::Text("c".into()),
            DecodedItem::Text("d".into()),
            DecodedItem::Thinking("e".into()),
        ],
        BlockState::Done,
    );
    assert_eq!(
        contents(&blocks),
        [
            json!({"type": "thinking", "thinking": "ab", "duration_ms": 200}),
            json!({"type": "text", "text": "cd"}),
            json!({"type": "thinking", "thinking": "e", "duration_ms": 0}),
        ]
    );
    assert!(blocks.iter().all(|block| block.state == BlockState::Done && block.author == Author::Assistant));
    assert_eq!(blocks.iter().map(|block| block.seq).collect::<Vec<_>>(), [2, 3, 4]);
    assert!(blocks.windows(2).all(|pair| pair[0].chat_seq < pair[1].chat_seq));
    assert_eq!(builder.next_seq(), 5);
}

#[test]
fn interleaved_calls_keep_their_own_arguments_and_their_order() {
    let (blocks, builder) = built(
        vec![
            call(0, "a"),
            arguments(0, "{\"x\":"),
            call(1, "b"),
            arguments(1, ""),
            arguments(0, "1}"),
            DecodedItem::Text("between".into()),
            arguments(1, "{}"),
            call(2, "c"),
        ],
        BlockState::Done,
    );
    let ids: Vec<_> = builder.tool_calls().iter().map(|call| call.tool_use_id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c"]);
    let parsed: Vec<_> = builder.tool_calls().iter().map(|call| call.arguments.clone().unwrap()).collect();
    assert_eq!(parsed, [json!({"x": 1}), json!({}), json!({})]);
    let kinds: Vec<_> = blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["tool_use", "tool_use", "text", "tool_use"]);
    assert!(blocks.iter().all(|block| block.state == BlockState::Done));
    assert_eq!(
        contents(&blocks)[0],
        json!({"type": "tool_use", "tool_use_id": "a", "tool_name": "f", "arguments": {"x": 1},
            "arguments_raw": "{\"x\":1}", "status": "pending"})
    );
}

#[test]
fn arguments_that_are_not_json_or_may_be_missing_are_none() {
    let (_, done) = built(vec![call(0, "a"), arguments(0, "{\"x\":")], BlockState::Done);
    assert_eq!(done.tool_calls()[0].arguments, None);
    assert_eq!(done.tool_calls()[0].raw, "{\"x\":");
    let (blocks, broken) = built(vec![call(0, "a")], BlockState::Aborted);
    assert_eq!(broken.tool_calls()[0].arguments, None);
    assert_eq!(blocks[0].state, BlockState::Aborted);
}

#[test]
fn signatures_follow_their_reasoning_and_redacted_reasoning_joins_it() {
    let (blocks, _) = built(
        vec![
            DecodedItem::Thinking("why".into()),
            DecodedItem::RedactedThinking("hidden".into()),
            DecodedItem::ThinkingSignature("proof".into()),
            DecodedItem::RedactedThinking("alone".into()),
        ],
        BlockState::Done,
    );
    let Content::ThinkingSignature { attaches_to, .. } = &blocks[1].content else { panic!("{blocks:?}") };
    assert_eq!(*attaches_to, Some(blocks[0].id));
    let Content::Thinking { thinking, redacted, .. } = &blocks[0].content else { panic!("{blocks:?}") };
    assert_eq!((thinking.as_str(), redacted.as_deref()), ("why", Some("hidden")));
    let Content::Thinking { thinking, redacted, .. } = &blocks[2].content else { panic!("{blocks:?}") };
    assert_eq!((thinking.as_str(), redacted.as_deref()), ("", Some("alone")));
}

#[test]
fn signature_without_reasoning_is_unattached_and_redacted_parts_stay_separate() {
    let (blocks, _) = built(
        vec![
            DecodedItem::Thinking("why".into()),
            DecodedItem::ThinkingSignature("proof".into()),
            DecodedItem::ThinkingSignature("of nothing to read".into()),
            DecodedItem::RedactedThinking("one".into()),
            DecodedItem::RedactedThinking("two".into()),
        ],
        BlockState::Done,
    );
    let Content::ThinkingSignature { attaches_to, .. } = &blocks[2].content else { panic!("{blocks:?}") };
    assert_eq!(*attaches_to, None);
    let hidden = |block: &Block| match &block.content {
        Content::Thinking { redacted, .. } => redacted.clone(),
        _ => None,
    };
    assert_eq!(blocks.iter().filter_map(hidden).collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn broken_reply_leaves_open_blocks_aborted_and_others_done() {
    let (blocks, _) =
        built(vec![DecodedItem::Thinking("a".into()), DecodedItem::Text("b".into())], BlockState::Aborted);
    assert_eq!(blocks.iter().map(|block| block.state).collect::<Vec<_>>(), [BlockState::Done, BlockState::Aborted]);
}

#[test]
fn empty_items_create_no_block() {
    let (blocks, _) = built(
        vec![
            DecodedItem::Text(String::new()),
            DecodedItem::Thinking(String::new()),
            arguments(7, "lost"),
            DecodedItem::StopReason("stop".into()),
            DecodedItem::Model("m".into()),
            DecodedItem::Usage(Usage::default()),
        ],
        BlockState::Done,
    );
    assert!(blocks.is_empty());
}

#[test]
fn duration_is_unknown_without_clock() {
    let mut builder = builder();
    let mut events = Vec::new();
    builder.push(DecodedItem::Thinking("a".into()), None, &mut events);
    builder.close(BlockState::Done, &mut events);
    assert!(matches!(events.last(), Some(Event::BlockEnd { content: None, .. })), "{events:?}");
}

fn provider_call_item(id: &str) -> DecodedItem {
    DecodedItem::ProviderToolCall { id: id.into(), name: "search".into(), server: Some("deepwiki".into()) }
}

fn provider_result_item(id: &str, result: Value, is_error: bool) -> DecodedItem {
    DecodedItem::ProviderToolResult { id: id.into(), name: "search".into(), result, is_error }
}

#[test]
fn provider_call_has_its_result_and_is_not_pending() {
    let arguments = |id: &str, text: &str| DecodedItem::ProviderToolArguments { id: id.into(), text: text.into() };
    let items = vec![
        provider_call_item("a"),
        arguments("a", "{\"q\""),
        provider_call_item("b"),
        arguments("a", ":1}"),
        provider_result_item("a", json!({"n": 1}), false),
        DecodedItem::Text("So.".into()),
        provider_result_item("b", json!("no"), true),
        call(0, "c"),
        provider_result_item("lost", json!(""), false),
    ];
    let (blocks, builder) = built(items, BlockState::Done);
    let pending: Vec<&str> = builder.tool_calls().iter().map(|call| call.tool_use_id.as_str()).collect();
    assert_eq!(pending, ["c"]);
    let kinds: Vec<&str> = blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["tool_use", "tool_use", "tool_result", "text", "tool_result", "tool_use", "tool_result"]);
    let metadata = json!({"run_by": "provider", "tool": {"title": "search", "server": "deepwiki"}});
    assert_eq!(blocks[0].block_metadata, metadata);
    assert!(blocks[0].is_run_by_provider() && !blocks[5].is_run_by_provider());
    let of = |at: usize| json!(blocks[at].content);
    assert_eq!(
        (&of(0)["status"], &of(0)["arguments"], &of(0)["duration_ms"]),
        (&json!("done"), &json!({"q": 1}), &json!(400))
    );
    assert_eq!(of(1)["status"], "failed");
    assert_eq!((&of(2)["result"], &of(2)["success"], blocks[2].author), (&json!({"n": 1}), &json!(true), Author::Tool));
    let parents: Vec<Option<BlockId>> = [2, 4, 6].map(|at| blocks[at].parent_block_id).into();
    assert_eq!(parents, [Some(blocks[0].id), Some(blocks[1].id), None]);
    assert!(blocks.iter().all(|block| block.state == BlockState::Done));
}

#[test]
fn open_provider_call_is_answered_by_next_step() {
    let (blocks, _) = built(vec![provider_call_item("a")], BlockState::Done);
    assert_eq!((blocks[0].state, &json!(blocks[0].content)["status"]), (BlockState::Done, &json!("running")));
    let mut events = Vec::new();
    builder().with_pending_calls(&blocks).push(provider_result_item("a", json!("found"), false), None, &mut events);
    let Event::BlockUpdate { block_id, status, .. } = &events[0] else { panic!("{events:?}") };
    assert_eq!((*block_id, *status), (blocks[0].id, ToolStatus::Done));
    let Event::BlockStart { block } = &events[1] else { panic!("{events:?}") };
    assert_eq!(block.parent_block_id, Some(blocks[0].id));
    // In an interrupted reply the call keeps its status; the end of the turn settles it.
    let (blocks, _) = built(vec![provider_call_item("a")], BlockState::Aborted);
    assert_eq!((blocks[0].state, &json!(blocks[0].content)["status"]), (BlockState::Aborted, &json!("running")));
}

#[test]
fn provider_result_is_truncated_to_row_size() {
    let long = "x".repeat(2 << 20);
    let (blocks, _) =
        built(vec![provider_call_item("a"), provider_result_item("a", json!([long]), false)], BlockState::Done);
    let content = json!(blocks[1].content);
    assert_eq!(content["result"].as_str().unwrap().len(), 1 << 20);
    assert_eq!(content["metadata"]["cut"]["bytes"], (2 << 20) + 4);
}

#[test]
fn corrections_replace_open_text_reasoning_and_arguments() {
    let text = |text: &str| DecodedItem::Text(text.to_owned());
    let (blocks, builder) = built(
        vec![
            DecodedItem::Thinking("Wyh".to_owned()),
            DecodedItem::ThinkingReplaced("Why".to_owned()),
            text("Oen"),
            DecodedItem::TextReplaced("One".to_owned()),
            text(", two"),
            DecodedItem::ToolCall { index: 0, id: "a".to_owned(), name: "f".to_owned() },
            DecodedItem::ToolArguments { index: 0, text: "{".to_owned() },
            DecodedItem::ToolArgumentsReplaced { index: 0, text: "{\"x\":".to_owned() },
            DecodedItem::ToolArguments { index: 0, text: "1}".to_owned() },
            DecodedItem::TextReplaced("New".to_owned()),
        ],
        BlockState::Done,
    );
    let contents: Vec<&Content> = blocks.iter().map(|block| &block.content).collect();
    assert!(matches!(contents[0], Content::Thinking { thinking, .. } if thinking == "Why"), "{contents:?}");
    assert_eq!(*contents[1], Content::text("One, two"));
    assert!(matches!(contents[2], Content::ToolUse { arguments, .. } if *arguments == json!({"x": 1})), "{contents:?}");
    assert_eq!((contents[3], contents.len()), (&Content::text("New"), 4));
    assert_eq!(builder.tool_calls()[0].raw, "{\"x\":1}");
}

#[test]
fn finished_text_and_reasoning_are_replaced_by_number() {
    let replaced = |block, text: &str| DecodedItem::FinishedReplaced { block, text: text.to_owned() };
    let (blocks, _) = built(
        vec![
            DecodedItem::Thinking("**Wogrn**".to_owned()),
            DecodedItem::ThinkingSignature("s".to_owned()),
            DecodedItem::Text("Oen".to_owned()),
            call(0, "a"),
            replaced(0, "**Right**\n\nwhy"),
            replaced(1, "One"),
            replaced(7, "lost"),
            DecodedItem::RedactedThinking("sealed".to_owned()),
            DecodedItem::Text("Two".to_owned()),
            replaced(2, "no text of sealed reasoning"),
        ],
        BlockState::Done,
    );
    let shown: Vec<String> = blocks
        .iter()
        .map(|block| match &block.content {
            Content::Thinking { thinking, duration_ms, .. } => format!("thinking {thinking:?} {duration_ms:?}"),
            Content::Text { text, .. } => format!("text {text:?}"),
            other => other.block_type().to_owned(),
        })
        .collect();
    let expected = [
        "thinking \"**Right**\\n\\nwhy\" Some(100)",
        "thinking_signature",
        "text \"One\"",
        "tool_use",
        "thinking \"\" Some(100)",
        "text \"Two\"",
    ];
    assert_eq!(shown, expected);
    assert!(blocks.iter().all(|block| block.state == BlockState::Done));
}

#[test]
fn reasoning_has_its_last_heading_as_title_while_open_and_afterwards() {
    let thinking = |text: &str| DecodedItem::Thinking(text.to_owned());
    for (has_headings, items, open, ended) in [
        (true, vec![thinking("**A**\n\none\n\n"), thinking("**B**\n\ntwo")], Some("B"), Some("B")),
        (true, vec![thinking("**A**\n\none\n\n**B**")], Some("A"), Some("B")),
        (
            true,
            vec![thinking("**A**\none"), DecodedItem::ThinkingTitle("B".to_owned()), thinking("**B**\ntwo")],
            Some("A"),
            Some("B"),
        ),
        (true, vec![thinking("one")], None, None),
        (false, vec![thinking("**A**\n\none")], None, None),
    ] {
        let mut builder = builder();
        builder.set_headings(has_headings);
        let mut events = Vec::new();
        items.into_iter().for_each(|item| builder.push(item, None, &mut events));
        let Event::BlockStart { mut block } = events[0].clone() else { panic!("{events:?}") };
        for event in &events[1..] {
            let Event::BlockDelta { text, .. } = event else { panic!("{event:?}") };
            block.content.streaming_text_mut().unwrap().push_str(text);
        }
        assert_eq!(block.reasoning_title().as_deref(), open);
        let mut end = Vec::new();
        builder.close(BlockState::Done, &mut end);
        let Event::BlockEnd { content, .. } = end.remove(0) else { panic!("{end:?}") };
        block.state = BlockState::Done;
        block.content = content.unwrap_or(block.content);
        assert_eq!(block.reasoning_title().as_deref(), ended);
    }
}

#[test]
fn open_text_is_continued_and_its_repetition_left_out() {
    for (begun, pieces, expected) in [
        ("Half", &[" of it"][..], " of it"),
        ("Half of", &["Ha", "lf of it"], " it"),
        ("Half of", &["Ha"], "Ha"),
        ("Half of", &[], ""),
    ] {
        let begun = builder().block(Content::text(begun), BlockState::Open);
        let (mut builder, mut events) = (builder().with_open_text(std::slice::from_ref(&begun)), Vec::new());
        for piece in pieces {
            builder.push(DecodedItem::Text((*piece).into()), None, &mut events);
        }
        builder.close(BlockState::Done, &mut events);
        let mut grown = String::new();
        for event in &events {
            match event {
                Event::BlockDelta { block_id, text } if *block_id == begun.id => grown.push_str(text),
                Event::BlockEnd { block_id, state: BlockState::Done, content: None } if *block_id == begun.id => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(grown, expected, "{pieces:?}");
        assert!(matches!(events.last(), Some(Event::BlockEnd { .. })), "{pieces:?}");
    }
}

#[test]
fn correction_of_continued_text_keeps_its_beginning() {
    let text = |text: &str| DecodedItem::Text(text.to_owned());
    let thinking = || DecodedItem::Thinking("why".to_owned());
    let replaced = |block, text: &str| DecodedItem::FinishedReplaced { block, text: text.to_owned() };
    let open = |text: &str| DecodedItem::TextReplaced(text.to_owned());
    for (items, corrected) in [
        (vec![text(" fo it"), open(" of it")], Some("Half of it")),
        (vec![text("Half fo it"), open("Half of it")], Some("Half of it")),
        (vec![text(" fo it"), thinking(), replaced(0, " of it")], Some("Half of it")),
        // The response begins another block, which is its first.
        (vec![thinking(), replaced(0, "because")], None),
        (vec![thinking(), text("All"), thinking(), replaced(1, "Everything")], None),
    ] {
        let mut begun = builder().block(Content::text("Half"), BlockState::Open);
        begun.id = BlockId::from_uuid(Uuid::from_u128(99));
        let (mut builder, mut events) = (builder().with_open_text(std::slice::from_ref(&begun)), Vec::new());
        items.iter().for_each(|item| builder.push(item.clone(), None, &mut events));
        builder.close(BlockState::Done, &mut events);
        let mut ended = events.iter().rev().filter_map(|event| match event {
            Event::BlockEnd { block_id, content: Some(content), .. } if *block_id == begun.id => Some(content.clone()),
            _ => None,
        });
        assert_eq!(ended.next(), corrected.map(Content::text), "{items:?}");
    }
}
