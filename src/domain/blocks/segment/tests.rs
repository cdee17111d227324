//! Tests of segmentation: the worked sequences of `docs/reference/domain.md 4.5`, the laws behind them, and the facts
//! of the label.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::fixtures;

/// Parses one letter per segment, as in `docs/reference/domain.md 4.5`, and some more: `K` thinking, `T` call, `r`
/// its result, `X` text, `_` blank text, `E` error text, `s` signature, `I` image, `o` a type that is not shown.
fn blocks_of(letters: &str) -> Vec<Block> {
    let mut calls = 0;
    let contents = letters.chars().filter(|letter| *letter != ' ').map(|letter| match letter {
        'K' => Content::thinking("because"),
        'T' => {
            calls += 1;
            fixtures::tool_use(&format!("call_{calls}"), "search", json!({}), ToolStatus::Done)
        }
        'r' => fixtures::tool_result(&format!("call_{calls}"), "search", json!("found")),
        'X' => Content::text("said"),
        '_' => Content::text(" \n\t "),
        'E' => fixtures::error_text("failed"),
        's' => Content::ThinkingSignature { signature: "c2ln".into(), attaches_to: None },
        'I' => Content::Image { blob: "00".into(), mime: "image/png".into(), alt: String::new() },
        'o' => serde_json::from_value(json!({"type": "x:marker"})).unwrap(),
        other => panic!("no such letter: {other}"),
    });
    fixtures::blocks(1, contents)
}

/// Formats the items as in `docs/reference/domain.md 4.5`: `R1{K,T} · Text`.
fn rendered(items: &[RenderedItem]) -> String {
    let mut reasoning_blocks = 0;
    let words = items.iter().map(|item| match item {
        RenderedItem::Reasoning(block) => {
            reasoning_blocks += 1;
            let members: Vec<&str> = block
                .members
                .iter()
                .flat_map(|member| match member {
                    Segment::Think { blocks, .. } => vec!["K"; blocks.len()],
                    Segment::Tool { .. } => vec!["T"],
                    Segment::Text { .. } => vec!["X"],
                })
                .collect();
            format!("R{reasoning_blocks}{{{}}}", members.join(","))
        }
        RenderedItem::Reply(Segment::Think { .. }) => "Think".to_owned(),
        RenderedItem::Reply(Segment::Tool { .. }) => "Tool".to_owned(),
        RenderedItem::Reply(Segment::Text { .. }) => "Text".to_owned(),
    });
    words.collect::<Vec<_>>().join(" · ")
}

fn draw(letters: &str) -> String {
    rendered(&segments(&blocks_of(letters), true))
}

#[test]
fn every_worked_sequence_gives_expected_segments() {
    let table = [
        ("", ""),
        ("X", "Text"),
        ("T", "Tool"),
        ("K", "R1{K}"),
        ("K X", "R1{K} · Text"),
        ("K T K X", "R1{K,T,K} · Text"),
        ("K T X", "R1{K,T} · Text"),
        ("K T K T X", "R1{K,T,K,T} · Text"),
        ("K T T X", "R1{K,T} · Tool · Text"),
        ("K T T K X", "R1{K,T} · Tool · R2{K} · Text"),
        ("K K X", "R1{K,K} · Text"),
        ("K X K T T X", "R1{K} · Text · R2{K,T} · Tool · Text"),
        ("X K", "Text · R1{K}"),
        ("T K", "Tool · R1{K}"),
        ("T K X", "Tool · R1{K} · Text"),
        ("X T X", "Text · Tool · Text"),
        ("X K T X", "Text · R1{K,T} · Text"),
        ("K X T K X", "R1{K} · Text · Tool · R2{K} · Text"),
        ("K T X K T X", "R1{K,T} · Text · R2{K,T} · Text"),
        ("T T K T K X", "Tool · Tool · R1{K,T,K} · Text"),
        ("K T K K T X", "R1{K,T,K,K,T} · Text"),
        ("X T K T K T X K", "Text · Tool · R1{K,T,K,T} · Text · R2{K}"),
        ("K T T K T T X", "R1{K,T} · Tool · R2{K,T} · Tool · Text"),
        ("K _ T K X", "R1{K,T,K} · Text"),
        ("K T E", "R1{K,T} · Text"),
    ];
    assert_eq!(table.len(), 25);
    for (number, (letters, expected)) in (1..).zip(table) {
        assert_eq!(draw(letters), expected, "#{number} {letters}");
    }
}

#[test]
fn results_signatures_and_undrawn_types_make_no_segment() {
    assert_eq!(draw("K s T r o K s _ X"), "R1{K,T,K} · Text");
    assert_eq!(draw("r s _ o"), "");
    assert_eq!(draw("K I"), "R1{K} · Text");
}

#[test]
fn streaming_prefixes_open_and_close_without_moving_anything() {
    fn last_open(letters: &str, running: bool) -> (String, bool) {
        let mut blocks = blocks_of(letters);
        if running {
            let last = blocks.last_mut().unwrap();
            if let Content::ToolUse { status, .. } = &mut last.content {
                *status = ToolStatus::Running;
            } else {
                last.state = BlockState::Open;
            }
        }
        let items = segments(&blocks, true);
        let open = items.iter().any(|item| matches!(item, RenderedItem::Reasoning(block) if block.is_open));
        (rendered(&items), open)
    }
    let table = [
        ("K", true, "R1{K}", true),
        ("K T", true, "R1{K,T}", true),
        ("K T", false, "R1{K,T}", false),
        ("K T K", true, "R1{K,T,K}", true),
        ("K T K X", true, "R1{K,T,K} · Text", false),
        ("K T T", true, "R1{K,T} · Tool", false),
        ("K T T K", true, "R1{K,T} · Tool · R2{K}", true),
    ];
    for (letters, running, expected, open) in table {
        assert_eq!(last_open(letters, running), (expected.to_owned(), open), "{letters}");
    }
}

/// Returns the place of each visible block: `Some(n)` in the n-th reasoning block, `None` in the reply.
fn places(items: &[RenderedItem]) -> Vec<(usize, Option<usize>)> {
    let mut places = Vec::new();
    let mut nth = 0;
    for item in items {
        match item {
            RenderedItem::Reasoning(block) => {
                for member in &block.members {
                    match member {
                        Segment::Think { blocks, .. } => places.extend(blocks.iter().map(|at| (*at, Some(nth)))),
                        Segment::Tool { call, .. } => places.push((*call, Some(nth))),
                        Segment::Text { block, .. } => panic!("text {block} in a reasoning block"),
                    }
                }
                nth += 1;
            }
            RenderedItem::Reply(Segment::Text { block: at, .. } | Segment::Tool { call: at, .. }) => {
                places.push((*at, None))
            }
            RenderedItem::Reply(Segment::Think { .. }) => panic!("reasoning in the reply"),
        }
    }
    places
}

/// Implements the original wording of the rule, which looks at the next segment.
fn peeking(kinds: &[char]) -> Vec<Option<usize>> {
    let mut places = Vec::new();
    let mut nth = 0;
    let mut inside = false;
    for (at, kind) in kinds.iter().enumerate() {
        match kind {
            'K' => {
                inside = true;
                places.push(Some(nth));
            }
            'T' if inside => {
                places.push(Some(nth));
                if kinds.get(at + 1) != Some(&'K') {
                    inside = false;
                    nth += 1;
                }
            }
            _ => {
                if inside {
                    inside = false;
                    nth += 1;
                }
                places.push(None);
            }
        }
    }
    places
}

#[test]
fn state_machine_equals_lookahead_rule_for_every_sequence_up_to_nine() {
    let template = blocks_of("K T X");
    let mut checked = 0_u32;
    for length in 0..=9_u32 {
        for mut number in 0..3_u32.pow(length) {
            let mut kinds = Vec::new();
            let mut blocks = Vec::new();
            for seq in 0..length {
                let digit = (number % 3) as usize;
                number /= 3;
                kinds.push(['K', 'T', 'X'][digit]);
                let mut block = template[digit].clone();
                block.seq = seq;
                blocks.push(block);
            }
            let machine: Vec<_> = places(&segments(&blocks, true)).into_iter().map(|(_, place)| place).collect();
            assert_eq!(machine, peeking(&kinds), "{kinds:?}");
            checked += 1;
        }
    }
    assert_eq!(checked, (3_u32.pow(10) - 1) / 2);
}

#[test]
fn keys_stay_stable_while_reply_streams() {
    let blocks = blocks_of("K K T r K X T r K T r T r X");
    let whole: Vec<_> = segments(&blocks, true).iter().map(RenderedItem::key).collect();
    for end in 0..=blocks.len() {
        let part: Vec<_> = segments(&blocks[..end], true).iter().map(RenderedItem::key).collect();
        assert_eq!(part, whole[..part.len()], "after {end} blocks");
    }
}

#[test]
fn reasoning_is_omitted_without_thinking_mode() {
    let items = segments(&blocks_of("K T r K X T r E"), false);
    assert_eq!(rendered(&items), "Tool · Text · Tool · Text");
    assert!(segments(&blocks_of("K K"), false).is_empty());
}

#[test]
fn mode_makes_no_difference_before_first_reasoning() {
    // An undecided mode may therefore be turned on by the first reasoning: nothing that is drawn moves.
    for letters in ["", "X", "T r", "X T r", "T r T r X", "T T r X I", "_ T r E"] {
        let blocks = blocks_of(letters);
        assert_eq!(segments(&blocks, false), segments(&blocks, true), "{letters}");
    }
}

#[test]
fn label_counts_tools_failures_and_time() {
    let mut contents: Vec<Content> = blocks_of("K T r T r").into_iter().map(|block| block.content).collect();
    contents.insert(3, Content::thinking("more"));
    let mut blocks = fixtures::blocks(1, contents);
    let durations = [Some(1_000), Some(300), None, None, Some(40), None];
    for (block, took) in blocks.iter_mut().zip(durations) {
        if let Content::Thinking { duration_ms, .. } | Content::ToolUse { duration_ms, .. } = &mut block.content {
            *duration_ms = took;
        }
    }
    if let Content::ToolResult { success, .. } = &mut blocks[5].content {
        *success = false;
    }
    let items = segments(&blocks, true);
    let [RenderedItem::Reasoning(block)] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!((block.tool_calls, block.failed_tool_calls, block.duration_ms), (2, 1, Some(1_340)));
    assert!(block.has_text && !block.is_open && !block.was_cut_off);
}

#[test]
fn title_is_that_of_newest_thinking_block() {
    let titled = |titles: &[Option<&str>]| {
        let thoughts = titles.iter().map(|title| Content::Thinking {
            thinking: "because".into(),
            signature: None,
            redacted: None,
            title: title.map(str::to_owned),
            duration_ms: None,
        });
        match segments(&fixtures::blocks(1, thoughts), true).as_slice() {
            [RenderedItem::Reasoning(block)] => block.title.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(titled(&[Some("Planning"), Some("Analysis")]).as_deref(), Some("Analysis"));
    assert_eq!(titled(&[Some("Planning"), None]), None);
    assert_eq!(titled(&[Some("Planning"), Some(" ")]), None);
}

#[test]
fn hidden_reasoning_opens_block_without_text() {
    let hidden = Content::Thinking {
        thinking: String::new(),
        signature: Some("c2ln".into()),
        redacted: None,
        title: None,
        duration_ms: Some(7),
    };
    let items = segments(&fixtures::blocks(1, [hidden, Content::text("said")]), true);
    assert_eq!(rendered(&items), "R1{K} · Text");
    assert!(matches!(&items[0], RenderedItem::Reasoning(block) if !block.has_text && block.duration_ms == Some(7)));
}

#[test]
fn stopped_member_is_cut_off_and_not_failed() {
    let mut blocks = blocks_of("K T r");
    if let Content::ToolUse { status, .. } = &mut blocks[1].content {
        *status = ToolStatus::Cancelled;
    }
    if let Content::ToolResult { success, .. } = &mut blocks[2].content {
        *success = false;
    }
    let items = segments(&blocks, true);
    let [RenderedItem::Reasoning(block)] = items.as_slice() else { panic!("{items:?}") };
    assert!(block.was_cut_off && block.failed_tool_calls == 0);

    let mut blocks = blocks_of("K");
    blocks[0].state = BlockState::Aborted;
    assert!(matches!(&segments(&blocks, true)[0], RenderedItem::Reasoning(block) if block.was_cut_off));
}

#[test]
fn result_is_matched_to_its_call_among_parallel_ones() {
    let call = |id: &str| fixtures::tool_use(id, "search", json!({}), ToolStatus::Done);
    let answer = |id: &str| fixtures::tool_result(id, "search", json!(id));
    let mut blocks =
        fixtures::blocks(1, [call("a"), call("b"), call("c"), answer("c"), answer("a"), answer("a"), answer("lost")]);
    // An import may have only the provider's call ids.
    blocks[3].parent_block_id = None;
    let pairs: Vec<_> = segments(&blocks, true)
        .into_iter()
        .map(|item| match item {
            RenderedItem::Reply(Segment::Tool { call, result, .. }) => (call, result),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(pairs, [(0, Some(4)), (1, None), (2, Some(3))]);
}

#[test]
fn neighbouring_thoughts_read_as_one_text() {
    let thoughts = ["one", "", "  \n", "two"].map(Content::thinking);
    let blocks = fixtures::blocks(1, thoughts);
    let items = segments(&blocks, true);
    let [RenderedItem::Reasoning(block)] = items.as_slice() else { panic!("{items:?}") };
    let [Segment::Think { blocks: members, .. }] = block.members.as_slice() else { panic!("{block:?}") };
    assert_eq!(thinking_text(&blocks, members), "one\n\ntwo");
}

fn letters() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select("KTrX_EsIo".chars().collect::<Vec<_>>()), 0..40)
        .prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #[test]
    fn every_visible_block_is_placed_exactly_once_and_in_order(letters in letters()) {
        let blocks = blocks_of(&letters);
        let visible: Vec<usize> = (0..blocks.len()).filter(|&at| kind_of(&blocks[at].content).is_some()).collect();
        let placed: Vec<usize> = places(&segments(&blocks, true)).into_iter().map(|(at, _)| at).collect();
        prop_assert_eq!(placed, visible);
    }

    #[test]
    fn every_prefix_places_blocks_like_whole_reply(letters in letters()) {
        let blocks = blocks_of(&letters);
        let whole = places(&segments(&blocks, true));
        for end in 0..=blocks.len() {
            let part = places(&segments(&blocks[..end], true));
            prop_assert_eq!(&part[..], &whole[..part.len()]);
        }
    }

    #[test]
    fn only_last_member_decides_whether_block_is_open(letters in letters()) {
        let mut blocks = blocks_of(&letters);
        let Some(last) = blocks.last_mut() else { return Ok(()) };
        last.state = BlockState::Open;
        let open = segments(&blocks, true)
            .iter()
            .filter(|item| matches!(item, RenderedItem::Reasoning(block) if block.is_open))
            .count();
        prop_assert!(open <= 1);
    }
}
