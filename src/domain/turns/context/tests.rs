//! Tests of context assembly: the worked examples of `docs/reference/domain.md 4.7`, the fallbacks, and what is never
//! sent to another model.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::blocks::block::ToolStatus;
use crate::fixtures;
use crate::turns::turn::TurnStatus;
use crate::usage::tokens::approx_tokens;

fn openai() -> ModelLock {
    ModelLock::new("openai", "g1")
}

fn anthropic() -> ModelLock {
    ModelLock::new("anthropic", "c1")
}

/// Returns `n` exchanges: U1 A1 U2 A2 and so on.
fn turns(n: i64) -> Vec<Turn> {
    (0..n).flat_map(|n| [fixtures::user_turn(2 * n + 1, "hello"), fixtures::rich_reply(2 * n + 2)]).collect()
}

/// Returns the path of these turns, on branches with these locks, with complete raw bytes.
fn path<'a>(turns: &'a [Turn], locks: &'a [ModelLock]) -> Vec<PathTurn<'a>> {
    turns.iter().zip(locks).map(|(turn, lock)| PathTurn { turn, lock, raw: RawCoverage::Whole, repair: None }).collect()
}

/// Returns the modes and reasons of the replies.
fn replies(path: &[PathTurn<'_>], lock: &ModelLock) -> Vec<(ReplayMode, ReplayReason)> {
    let entries = build_manifest(path, lock);
    assert_eq!(entries.iter().map(|entry| entry.turn_id).collect::<Vec<_>>(), ids(path));
    let replies = path.iter().zip(entries).filter(|(at, _)| at.turn.role == Role::Assistant);
    replies.map(|(_, entry)| (entry.mode, entry.reason)).collect()
}

fn ids(path: &[PathTurn<'_>]) -> Vec<TurnId> {
    path.iter().map(|at| at.turn.id).collect()
}

const SAME: (ReplayMode, ReplayReason) = (ReplayMode::Raw, ReplayReason::SameLock);
const BREAK: (ReplayMode, ReplayReason) = (ReplayMode::Canonical, ReplayReason::ModelBreak);
const BEHIND: (ReplayMode, ReplayReason) = (ReplayMode::Canonical, ReplayReason::BehindModelBreak);
const PARTIAL: (ReplayMode, ReplayReason) = (ReplayMode::Raw, ReplayReason::Partial);
const NO_RAW: (ReplayMode, ReplayReason) = (ReplayMode::Canonical, ReplayReason::RawMissing);
const EMPTY: (ReplayMode, ReplayReason) = (ReplayMode::Omitted, ReplayReason::Empty);

#[test]
fn reply_edited_by_user_is_break_with_reason_edited() {
    let mut all = turns(3);
    all[3] = fixtures::reply(4, [Content::text("In my words.")]);
    all[3].blocks[0].author = crate::Author::User;
    let locks = vec![openai(); 6];
    let path = path(&all, &locks);
    assert_eq!(replies(&path, &openai()), [BEHIND, (ReplayMode::Canonical, ReplayReason::Edited), SAME]);
    assert!(has_model_break(&build_manifest(&path, &openai())));
}

#[test]
fn worked_examples_hold() {
    // A(openai): U1 A1 U2 A2, fork B(anthropic): U3 A3, fork C(openai): U4.
    let mut all = turns(3);
    all.push(fixtures::user_turn(7, "and now?"));
    let (a, b) = (openai(), anthropic());
    let locks = [&a, &a, &a, &a, &b, &b, &a].map(ModelLock::clone);
    let on_c = path(&all, &locks);
    assert_eq!(replies(&on_c, &openai()), [BEHIND, BEHIND, BREAK]);
    // On A after A2.
    assert_eq!(replies(&path(&all[..4], &locks), &openai()), [SAME, SAME]);
    // On B after A3.
    assert_eq!(replies(&path(&all[..6], &locks), &anthropic()), [BEHIND, BREAK, SAME]);
}

#[test]
fn another_model_of_the_same_provider_is_a_break() {
    let all = turns(1);
    let locks = [openai(), openai()];
    assert_eq!(replies(&path(&all, &locks), &ModelLock::new("openai", "g2")), [BREAK]);
}

#[test]
fn user_turn_on_another_branch_is_no_break() {
    let all = turns(2);
    let locks = [openai(), openai(), anthropic(), openai()];
    assert_eq!(replies(&path(&all, &locks), &openai()), [SAME, SAME]);
    let entries = build_manifest(&path(&all, &locks), &openai());
    assert_eq!((entries[2].mode, entries[2].reason), (ReplayMode::Canonical, ReplayReason::FromBlocks));
}

#[test]
fn reply_is_replayed_as_far_as_its_raw_bytes_are_kept() {
    let mut all = turns(3);
    let locks = vec![openai(); 6];
    for status in [TurnStatus::Complete, TurnStatus::Cancelled, TurnStatus::Error] {
        all[3].status = status;
        for (raw, expected) in
            [(RawCoverage::Whole, SAME), (RawCoverage::Partial, PARTIAL), (RawCoverage::Missing, NO_RAW)]
        {
            let mut path = path(&all, &locks);
            path[3].raw = raw;
            assert_eq!(replies(&path, &openai()), [SAME, expected, SAME], "{status:?} {raw:?}");
            // Raw bytes are sent only to their own model.
            assert_eq!(replies(&path, &anthropic()), [BEHIND, BEHIND, BREAK], "{status:?} {raw:?}");
        }
    }
}

#[test]
fn repair_is_recorded_on_replies_sent_without_reasoning() {
    let all = turns(2);
    let locks = vec![openai(); 4];
    let mut path = path(&all, &locks);
    for at in &mut path {
        at.repair = Some(RequestRepair::EarlierReasoningLeftOut);
    }
    path[3].raw = RawCoverage::Missing;
    let entries = build_manifest(&path, &openai());
    let repairs: Vec<_> = entries.iter().map(|entry| entry.repair).collect();
    assert_eq!(repairs, [None, Some(RequestRepair::EarlierReasoningLeftOut), None, None], "only where bytes go back");
    let whole = &build_manifest(&path_without_repair(&path), &openai())[1];
    let reasoning = all[1].blocks.iter().filter(|block| is_reasoning(&block.content)).count();
    assert!(reasoning > 0);
    assert_eq!(entries[1].blocks_sent as usize, whole.blocks_sent as usize - reasoning);
    assert_eq!(serde_json::to_value(&entries[1]).unwrap()["repair"], "earlier_reasoning_left_out");
    assert_eq!(serde_json::to_value(whole).unwrap().get("repair"), None);
    let steps = current_steps_entry(&all[1], Some(RequestRepair::StepsTold));
    assert_eq!((steps.mode, steps.reason), (ReplayMode::Canonical, ReplayReason::OwnSteps));
}

fn path_without_repair<'a>(path: &[PathTurn<'a>]) -> Vec<PathTurn<'a>> {
    path.iter().map(|at| PathTurn { repair: None, ..*at }).collect()
}

#[test]
fn notice_is_sent_to_no_model() {
    let contents = [crate::blocks::notice::Notice::ReasoningRefused.content(), Content::text("So.")];
    let all = [fixtures::reply(2, contents)];
    let locks = [openai()];
    for lock in [openai(), anthropic()] {
        let entry = &build_manifest(&path(&all, &locks), &lock)[0];
        assert_eq!((entry.blocks_sent, entry.blocks_omitted), (1, 1), "{lock:?}");
    }
    assert_eq!(canonical_text(&all[0]), "So.");
}

#[test]
fn manifest_of_older_version_is_read() {
    let old = json!({"turn_id": fixtures::turn_id(1), "mode": "canonical", "reason": "raw_incomplete", "blocks_sent": 1,
        "blocks_omitted": 0, "approx_tokens": 1});
    let entry: ManifestEntry = serde_json::from_value(old).unwrap();
    assert_eq!((entry.reason, entry.repair), (ReplayReason::RawMissing, None));
}

#[test]
fn empty_and_error_replies_are_omitted_but_still_count_as_break() {
    let mut all = turns(3);
    all[3] = fixtures::reply(4, [fixtures::error_text("The key for X was refused.")]);
    all[3].status = TurnStatus::Error;
    let locks = vec![openai(); 6];
    assert_eq!(replies(&path(&all, &locks), &openai()), [SAME, EMPTY, SAME]);

    let (a, b) = (openai(), anthropic());
    let locks = [&a, &a, &a, &b, &a, &a].map(ModelLock::clone);
    assert_eq!(replies(&path(&all, &locks), &openai()), [BEHIND, EMPTY, SAME]);

    all[3] = fixtures::reply(4, []);
    all[3].status = TurnStatus::Cancelled;
    let locks = vec![openai(); 6];
    assert_eq!(replies(&path(&all, &locks), &openai()), [SAME, EMPTY, SAME]);
}

#[test]
fn tool_only_reply_is_replayed_raw_and_omitted_as_text() {
    let mut all = turns(1);
    all[1] = fixtures::reply(2, [fixtures::tool_use("c", "search", json!({}), ToolStatus::Done)]);
    let locks = [openai(), openai()];
    assert_eq!(replies(&path(&all, &locks), &openai()), [SAME]);
    assert_eq!(replies(&path(&all, &locks), &anthropic()), [EMPTY]);
}

#[test]
fn manifest_counts_blocks_and_keeps_wire_names() {
    let all = [fixtures::rich_reply(2)];
    let locks = [openai()];
    let raw = &build_manifest(&path(&all, &locks), &openai())[0];
    // Every block except the error text is sent.
    assert_eq!((raw.blocks_sent, raw.blocks_omitted), (7, 1));
    let canonical = &build_manifest(&path(&all, &locks), &anthropic())[0];
    assert_eq!((canonical.blocks_sent, canonical.blocks_omitted), (1, 7));
    assert_eq!(canonical.approx_tokens, approx_tokens(&canonical_text(&all[0])));
    assert!(raw.approx_tokens > canonical.approx_tokens);
    assert_eq!(
        serde_json::to_value(canonical).unwrap(),
        json!({
            "turn_id": all[0].id, "mode": "canonical", "reason": "model_break",
            "blocks_sent": 1, "blocks_omitted": 7, "approx_tokens": canonical.approx_tokens,
        })
    );
    let back: ManifestEntry = serde_json::from_value(serde_json::to_value(raw).unwrap()).unwrap();
    assert_eq!(back, *raw);
}

#[test]
fn request_continues_only_from_newest_complete_reply() {
    let mut all = turns(2);
    all.push(fixtures::user_turn(5, "and now?"));
    let (first, newest) = (all[1].id, all[3].id);
    let same = vec![openai(); 5];
    let broken = [openai(), anthropic(), openai(), openai(), openai()];
    let refused = Some(RequestRepair::ReasoningLeftOut);
    for (case, locks, raw, repair, kept, expected) in [
        ("the newest reply", &same[..], RawCoverage::Whole, None, newest, true),
        ("an older one", &same, RawCoverage::Whole, None, first, false),
        ("a message", &same, RawCoverage::Whole, None, all[4].id, false),
        ("one that was stopped", &same, RawCoverage::Partial, None, newest, false),
        ("one without its bytes", &same, RawCoverage::Missing, None, newest, false),
        ("one that was repaired", &same, RawCoverage::Whole, refused, newest, false),
        ("one behind a model break", &broken, RawCoverage::Whole, None, newest, false),
    ] {
        let mut path = path(&all, locks);
        (path[3].raw, path[3].repair) = (raw, repair);
        let entries = build_manifest(&path, &openai());
        assert_eq!(can_continue_from(&path, &entries, kept), expected, "{case}");
    }
    assert!(!can_continue_from(&[], &[], newest));
}

#[test]
fn turns_kept_by_provider_are_omitted_with_reason() {
    let mut all = turns(2);
    all.push(fixtures::user_turn(5, "and now?"));
    let locks = vec![openai(); 5];
    let before = build_manifest(&path(&all, &locks), &openai());
    let mut behind = before.clone();
    omit_kept_by_provider(&mut behind, all[3].id);
    assert_eq!(behind[4], before[4], "what is new goes out as it would");
    for (kept, was) in behind.iter().zip(&before).take(4) {
        assert_eq!((kept.mode, kept.reason), (ReplayMode::Omitted, ReplayReason::KeptByProvider));
        let blocks = (0, was.blocks_sent + was.blocks_omitted, 0);
        assert_eq!((kept.blocks_sent, kept.blocks_omitted, kept.approx_tokens), blocks);
    }
    assert_eq!(serde_json::to_value(&behind[0]).unwrap()["reason"], "kept_by_provider");
    // After a step of the reply that is being generated, everything before it is omitted.
    omit_kept_by_provider(&mut behind, fixtures::turn_id(6));
    assert!(behind.iter().all(|entry| entry.reason == ReplayReason::KeptByProvider));
}

#[test]
fn user_images_and_references_are_sent() {
    let mut turn = fixtures::user_turn(1, "look");
    let image = Content::Image { blob: "00".into(), mime: "image/png".into(), alt: "a cat".into() };
    let reference = Content::Reference { ref_id: "d".into(), ref_type: "document".into(), version_timestamp: None };
    turn.blocks = fixtures::blocks(1, [image, reference, Content::text(" ")]);
    let entry = &build_manifest(
        &[PathTurn { turn: &turn, lock: &openai(), raw: RawCoverage::Missing, repair: None }],
        &openai(),
    )[0];
    assert_eq!((entry.mode, entry.blocks_sent, entry.blocks_omitted), (ReplayMode::Canonical, 2, 1));
}

#[test]
fn canonical_text_contains_only_visible_text() {
    let mut contents: Vec<Content> = fixtures::rich_reply(2).blocks.into_iter().map(|block| block.content).collect();
    contents.insert(1, Content::ThinkingSignature { signature: "c2lnbmF0dXJl".into(), attaches_to: None });
    let text = canonical_text(&fixtures::reply(2, contents));
    assert_eq!(text, "It is **-3 °C** in Oslo.\n\n```rust\nfn main() {}\n```\n");
}

/// Generates paths with any lock, raw coverage, status and content of each reply.
fn any_path() -> impl Strategy<Value = Vec<(Turn, ModelLock, RawCoverage)>> {
    let reply = (0..3_u8, 0..3_usize, 0..3_usize, any::<bool>());
    prop::collection::vec(reply, 0..12).prop_map(|replies| {
        let mut path = Vec::new();
        for (n, (lock, raw, status, full)) in (0..).zip(replies) {
            let lock = [openai(), anthropic(), ModelLock::new("openai", "g2")][lock as usize].clone();
            path.push((fixtures::user_turn(2 * n + 1, "hello"), lock.clone(), RawCoverage::Missing));
            let contents = if full { vec![Content::text("yes")] } else { Vec::new() };
            let mut turn = fixtures::reply(2 * n + 2, contents);
            turn.status = [TurnStatus::Complete, TurnStatus::Cancelled, TurnStatus::Error][status];
            path.push((turn, lock, [RawCoverage::Missing, RawCoverage::Partial, RawCoverage::Whole][raw]));
        }
        path
    })
}

proptest! {
    #[test]
    fn no_turn_at_or_before_reply_of_another_lock_is_raw(owned in any_path()) {
        let path: Vec<_> = owned
            .iter()
            .map(|(turn, lock, raw)| PathTurn { turn, lock, raw: *raw, repair: None })
            .collect();
        let entries = build_manifest(&path, &openai());
        prop_assert_eq!(&entries, &build_manifest(&path, &openai()));

        // The rule of the documentation, newest turn first.
        let mut masked = false;
        for (at, entry) in path.iter().zip(&entries).rev() {
            masked |= at.turn.role == Role::Assistant && *at.lock != openai();
            prop_assert!(!(masked && entry.mode == ReplayMode::Raw));
            let replayable = at.raw != RawCoverage::Missing && !at.turn.blocks.is_empty();
            if !masked && replayable {
                prop_assert_eq!(entry.mode, ReplayMode::Raw);
            }
            prop_assert_eq!(entry.blocks_sent + entry.blocks_omitted, at.turn.blocks.len() as u32);
            prop_assert_eq!(entry.mode == ReplayMode::Omitted, entry.blocks_sent == 0);
        }
    }

    #[test]
    fn longer_path_of_same_lock_changes_no_older_entry(owned in any_path()) {
        let mut owned = owned;
        let n = owned.len() as i64;
        let older: Vec<_> =
            owned.iter().map(|(turn, lock, raw)| PathTurn { turn, lock, raw: *raw, repair: None }).collect();
        let before = build_manifest(&older, &openai());
        owned.push((fixtures::user_turn(n + 1, "more"), openai(), RawCoverage::Missing));
        owned.push((fixtures::rich_reply(n + 2), openai(), RawCoverage::Whole));
        let longer: Vec<_> =
            owned.iter().map(|(turn, lock, raw)| PathTurn { turn, lock, raw: *raw, repair: None }).collect();
        prop_assert_eq!(&build_manifest(&longer, &openai())[..before.len()], &before[..]);
    }
}
