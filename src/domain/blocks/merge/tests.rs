//! Tests of merging: the table of `docs/reference/domain.md 4.6`, further examples, and the content that merging must
//! preserve.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn part(id: &str, text: &str, reasoning: Option<&str>) -> MessagePart {
    let reasoning = reasoning.map(|content| PartReasoning { content: content.into(), ..PartReasoning::default() });
    MessagePart { id: id.into(), text: text.into(), reasoning, ..MessagePart::default() }
}

fn with_source(mut part: MessagePart, source: &str) -> MessagePart {
    part.sources = vec![json!({ "url": source })];
    part
}

/// Formats a part as `R:a+b M S1`: reasoning pieces, text, sources.
fn shown(part: &MessagePart) -> String {
    let mut words = vec![part.id.clone()];
    if let Some(reasoning) = &part.reasoning {
        words.push(format!("R:{}", reasoning.content.replace("\n\n", "+")));
    }
    if !part.text.is_empty() {
        words.push(part.text.clone());
    }
    words.extend(part.sources.iter().filter_map(|source| source["url"].as_str().map(str::to_owned)));
    words.join(" ")
}

fn shown_all(parts: Vec<MessagePart>) -> Vec<String> {
    merge_parts(parts).iter().map(shown).collect()
}

#[test]
fn every_run_merges_as_unified_rule_says() {
    let r = |id: &str, content: &str| part(id, "", Some(content));
    let rm = |id: &str, content: &str, text: &str| part(id, text, Some(content));
    let rs = |id: &str, content: &str, source: &str| with_source(part(id, "", Some(content)), source);
    let table: Vec<(&str, Vec<MessagePart>, Vec<&str>)> = vec![
        ("R, R", vec![r("id1", "a"), r("id2", "b")], vec!["id1 R:a+b"]),
        ("R, R, R+M", vec![r("id1", "a"), r("id2", "b"), rm("id3", "c", "M")], vec!["id3 R:a+b+c M"]),
        ("R, M, R", vec![r("id1", "a"), part("id2", "M", None), r("id3", "b")], vec!["id1 R:a", "id2 M", "id3 R:b"]),
        ("R+S, R", vec![rs("id1", "a", "S1"), r("id2", "b")], vec!["id1 R:a+b S1"]),
        ("R, R+S", vec![r("id1", "a"), rs("id2", "b", "S1")], vec!["id2 R:a+b S1"]),
        ("R+S1, R+S2", vec![rs("id1", "a", "S1"), rs("id2", "b", "S2")], vec!["id2 R:a+b S1 S2"]),
        ("R+S, R+M", vec![rs("id1", "a", "S1"), rm("id2", "b", "M")], vec!["id2 R:a+b M S1"]),
        ("R+M1, R+M2", vec![rm("id1", "a", "M1"), rm("id2", "b", "M2")], vec!["id1 R:a M1", "id2 R:b M2"]),
        ("R+M, R", vec![rm("id1", "a", "M"), r("id2", "b")], vec!["id1 R:a M", "id2 R:b"]),
        (
            "R+M1, R, R+M2",
            vec![rm("id1", "a", "M1"), r("id2", "b"), rm("id3", "c", "M2")],
            vec!["id1 R:a M1", "id3 R:b+c M2"],
        ),
        ("R, R(empty), R", vec![r("id1", "a"), r("id2", ""), r("id3", "b")], vec!["id1 R:a+b"]),
    ];
    for (name, run, expected) in table {
        assert_eq!(shown_all(run), expected, "{name}");
    }
}

#[test]
fn two_consecutive_reasoning_only_parts_merge() {
    let merged = merge_parts(vec![part("1", "", Some("A")), part("2", "", Some("B"))]);
    assert_eq!(merged.iter().map(shown).collect::<Vec<_>>(), ["1 R:A+B"]);
    assert_eq!(merged[0].merged_ids, ["1", "2"]);
}

#[test]
fn three_or_more_consecutive_reasoning_parts_merge() {
    let many: Vec<MessagePart> = (0..7).map(|n| part(&n.to_string(), " \n", Some("x"))).collect();
    assert_eq!(merge_parts(many)[0].merged_ids.len(), 7);
}

#[test]
fn reasoning_only_part_merges_into_following_text_part() {
    assert_eq!(shown_all(vec![part("1", "", Some("A")), part("2", "Answer", Some("B"))]), ["2 R:A+B Answer"]);
}

#[test]
fn reasoning_separated_by_text_does_not_merge() {
    let parts = vec![part("1", "", Some("A")), part("2", "between", None), part("3", "", Some("B"))];
    assert_eq!(shown_all(parts), ["1 R:A", "2 between", "3 R:B"]);
}

#[test]
fn sources_are_kept_when_reasoning_merges() {
    let merged = merge_parts(vec![with_source(part("1", "", Some("A")), "S"), part("2", "", Some("B"))]);
    assert_eq!(merged.iter().map(shown).collect::<Vec<_>>(), ["1 R:A+B S"]);
}

#[test]
fn last_part_is_base_when_it_has_text() {
    let mut last = part("2", "Answer", Some("B"));
    last.metadata.insert("model".into(), json!("newer"));
    let mut first = part("1", "", Some("A"));
    first.metadata.insert("model".into(), json!("older"));
    first.metadata.insert("region".into(), json!("eu"));
    let merged = merge_parts(vec![first, last]);
    assert_eq!(merged[0].id, "2");
    assert_eq!(Value::Object(merged[0].metadata.clone()), json!({"model": "newer", "region": "eu"}));
}

#[test]
fn standalone_parts_merge_like_grouped_ones() {
    // A run of parts without a group is passed as one list; the rule knows no groups.
    let parts = vec![part("1", "Hi", None), part("2", "", Some("A")), part("3", "", Some("B"))];
    assert_eq!(shown_all(parts), ["1 Hi", "2 R:A+B"]);
}

#[test]
fn empty_list_stays_empty() {
    assert!(merge_parts(Vec::new()).is_empty());
}

#[test]
fn single_reasoning_part_is_unchanged() {
    let mut single = part("1", "", Some("A"));
    single.reasoning.as_mut().unwrap().title = Some("Planning".into());
    let merged = merge_parts(vec![single.clone()]);
    single.merged_ids = vec!["1".into()];
    assert_eq!(merged, [single]);
}

#[test]
fn parts_without_metadata_pass_through() {
    assert_eq!(shown_all(vec![part("1", "one", None), part("2", "two", None)]), ["1 one", "2 two"]);
    assert_eq!(shown_all(vec![part("1", "", None), part("2", "", Some("A"))]), ["1", "2 R:A"]);
}

fn titled(id: &str, text: &str, content: &str, title: &str) -> MessagePart {
    let mut part = part(id, text, Some(content));
    part.reasoning.as_mut().unwrap().title = Some(title.into());
    part
}

#[test]
fn example_1_consecutive_reasoning_becomes_one_part_before_answer() {
    let merged = merge_parts(vec![
        titled("msg-1", "", "First, I need to understand the requirements.", "Planning"),
        titled("msg-2", "", "Now analyzing the data structure.", "Analysis"),
        part("msg-3", "Based on my analysis, here is the solution...", None),
    ]);
    assert_eq!(merged.len(), 2);
    let reasoning = merged[0].reasoning.as_ref().unwrap();
    assert_eq!(reasoning.content, "First, I need to understand the requirements.\n\nNow analyzing the data structure.");
    assert_eq!((reasoning.title.as_deref(), reasoning.streaming), (Some("Analysis"), false));
    assert_eq!((merged[0].id.as_str(), merged[1].id.as_str()), ("msg-1", "msg-3"));
}

#[test]
fn example_2_reasoning_merges_into_part_with_text() {
    let merged = merge_parts(vec![
        titled("msg-1", "", "Planning the approach...", "Planning"),
        titled("msg-2", "", "Analyzing requirements...", "Analysis"),
        titled("msg-3", "Based on my analysis...", "Final verification complete.", "Verification"),
    ]);
    assert_eq!(merged.len(), 1);
    assert_eq!((merged[0].id.as_str(), merged[0].text.as_str()), ("msg-3", "Based on my analysis..."));
    let reasoning = merged[0].reasoning.as_ref().unwrap();
    assert_eq!(reasoning.title.as_deref(), Some("Verification"));
    let all = "Planning the approach...\n\nAnalyzing requirements...\n\nFinal verification complete.";
    assert_eq!(reasoning.content, all);
}

#[test]
fn example_3_text_without_reasoning_separates_reasoning() {
    let merged = merge_parts(vec![
        part("msg-1", "", Some("Thinking about approach A...")),
        part("msg-2", "Let me explain the first part.", None),
        part("msg-3", "", Some("Now considering approach B...")),
    ]);
    assert_eq!(merged.iter().map(|part| part.id.as_str()).collect::<Vec<_>>(), ["msg-1", "msg-2", "msg-3"]);
}

#[test]
fn example_4_reasoning_with_sources_merges_and_keeps_them() {
    let merged = merge_parts(vec![
        with_source(part("msg-1", "", Some("Researching documentation...")), "https://docs.example.com"),
        part("msg-2", "", Some("Continuing analysis...")),
    ]);
    assert_eq!(
        merged.iter().map(shown).collect::<Vec<_>>(),
        ["msg-1 R:Researching documentation...+Continuing analysis... https://docs.example.com"]
    );
}

#[test]
fn title_streaming_and_duration_are_of_last_part_and_total_is_sum() {
    let reasoning = |title: Option<&str>, streaming, duration| PartReasoning {
        content: "x".into(),
        title: title.map(str::to_owned),
        streaming,
        duration,
        total_duration: None,
    };
    let parts = [
        reasoning(Some("Planning"), true, Some(100)),
        reasoning(None, true, None),
        reasoning(Some("  "), false, Some(30)),
    ]
    .map(|reasoning| MessagePart { reasoning: Some(reasoning), ..MessagePart::default() });
    let merged = merge_parts(parts.to_vec());
    let reasoning = merged[0].reasoning.as_ref().unwrap();
    assert_eq!(reasoning.title, None);
    assert!(!reasoning.streaming);
    assert_eq!((reasoning.duration, reasoning.total_duration), (Some(30), Some(130)));
}

#[test]
fn duplicate_sources_are_listed_once() {
    let mut parts: Vec<MessagePart> = (0..4).map(|n| part(&n.to_string(), "", Some("x"))).collect();
    for (n, part) in parts.iter_mut().enumerate() {
        part.sources = vec![json!({"url": "same"}), json!({"url": format!("u{n}")})];
        part.files = vec![json!("f")];
        part.tasks = vec![json!(n / 2)];
    }
    let merged = merge_parts(parts);
    let urls: Vec<_> = merged[0].sources.iter().map(|source| source["url"].as_str().unwrap()).collect();
    assert_eq!(urls, ["same", "u0", "u1", "u2", "u3"]);
    assert_eq!((merged[0].files.len(), merged[0].tasks.len()), (1, 2));
}

fn any_part() -> impl Strategy<Value = MessagePart> {
    let word = || prop::sample::select(vec!["", " ", "one", "two", "three"]);
    let list = || prop::collection::vec((0..4_u8).prop_map(|n| json!(n)), 0..3);
    (word(), prop::option::of(word()), list(), list(), prop::option::of(0..1_000_u64)).prop_map(
        |(text, content, sources, files, duration)| MessagePart {
            text: text.into(),
            reasoning: content.map(|content| PartReasoning {
                content: content.into(),
                duration,
                ..PartReasoning::default()
            }),
            sources,
            files,
            ..MessagePart::default()
        },
    )
}

fn any_parts() -> impl Strategy<Value = Vec<MessagePart>> {
    prop::collection::vec(any_part(), 0..20).prop_map(|mut parts| {
        for (n, part) in parts.iter_mut().enumerate() {
            part.id = n.to_string();
        }
        parts
    })
}

proptest! {
    #[test]
    fn nothing_visible_is_lost_or_reordered(parts in any_parts()) {
        let merged = merge_parts(parts.clone());
        let ids: Vec<&str> = merged.iter().flat_map(|part| part.merged_ids.iter().map(String::as_str)).collect();
        prop_assert_eq!(ids, parts.iter().map(|part| part.id.as_str()).collect::<Vec<_>>());
        // Collects reasoning and text, in reading order.
        let words = |parts: &[MessagePart]| {
            let mut words = Vec::new();
            for part in parts {
                let content = part.reasoning.as_ref().map_or("", |reasoning| reasoning.content.as_str());
                words.extend(content.split_whitespace().map(|word| format!("R:{word}")));
                words.extend(part.text.split_whitespace().map(str::to_owned));
            }
            words
        };
        prop_assert_eq!(words(&merged), words(&parts));
        for list in [|part: &MessagePart| part.sources.clone(), |part: &MessagePart| part.files.clone()] {
            let before: HashSet<String> = parts.iter().flat_map(list).map(|item| item.to_string()).collect();
            let after: HashSet<String> = merged.iter().flat_map(list).map(|item| item.to_string()).collect();
            prop_assert_eq!(before, after);
        }
        let total = |parts: &[MessagePart]| {
            sum_known(parts.iter().filter_map(|part| part.reasoning.as_ref()).map(|r| r.total_duration.or(r.duration)))
        };
        prop_assert_eq!(total(&merged), total(&parts));
    }

    #[test]
    fn merging_again_changes_nothing(parts in any_parts()) {
        let once = merge_parts(parts);
        prop_assert_eq!(merge_parts(once.clone()), once);
    }
}
