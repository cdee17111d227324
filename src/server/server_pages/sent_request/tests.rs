//! Tests of the page with constructed requests.

use chrono::{DateTime, Utc};
use leptos::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::domain::fixtures::{failed_reply, reply, running_reply, turn_id, user_turn};
use crate::domain::providers::repair::RequestRepair;
use crate::domain::{Content, FailureKind, Turn, TurnId, Usage};
use turnleaf_platform::ids;
use turnleaf_service::turns::generations::GenerationStatus;
use turnleaf_store::turns::generations::RawKind;

fn moment() -> DateTime<Utc> {
    "2026-11-22T07:00:00.5Z".parse().unwrap()
}

fn generation(manifest: Value) -> Generation {
    Generation {
        id: ids::mint(),
        turn_id: turn_id(2),
        step: 1,
        provider: "openai".into(),
        model_requested: "gpt-x".into(),
        model_returned: Some("gpt-x-2026".into()),
        request_manifest: manifest,
        raw_sha256: None,
        raw_bytes: Some(1_234),
        raw_kind: RawKind::SseEvents,
        raw_complete: true,
        status: GenerationStatus::Complete,
        stop_reason: Some("stop".into()),
        usage: Usage { input_tokens: Some(1_200), output_tokens: Some(34), ..Usage::default() },
        cost_micros: Some(1_500),
        cost_basis: None,
        price_version: None,
        error: None,
        first_token_at: Some(moment() + chrono::TimeDelta::milliseconds(850)),
        started_at: moment(),
        ended_at: None,
    }
}

fn entry(turn: TurnId, mode: &str, reason: &str, more: Value) -> Value {
    let mut entry = json!({
        "turn_id": turn, "mode": mode, "reason": reason, "blocks_sent": 1, "blocks_omitted": 0, "approx_tokens": 12,
    });
    entry.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    entry
}

fn draw(generations: Vec<Generation>, at: usize, path: Vec<Turn>) -> String {
    let (mut path, generations) = (path, generations);
    let turn = path.pop().unwrap();
    let ids = generations.iter().map(|generation| generation.id).collect();
    let sent = SentRequests::new(ids, at, generations.into_iter().nth(at), turn, path);
    Owner::new().with(|| SentRequestPage { sent: &sent }.draw().body.to_html()).replace("<!>", "")
}

#[test]
fn attachments_are_named_with_version_and_range() {
    let question = user_turn(1, "What does <it> say?");
    let document = "01890000-0000-7000-8000-000000000001";
    let shown = json!([
        {
            "block_id": question.blocks[0].id, "ref_id": document, "title": "A <b>plan</b>",
            "version_timestamp": moment(), "selection": [10, 24], "shown_as": "text",
            "sha256": "ab".repeat(32), "approx_tokens": 40,
        },
        { "block_id": question.blocks[0].id, "ref_id": "cd".repeat(32), "title": "leaf.png", "shown_as": "alt_text", "approx_tokens": 5 },
    ]);
    let manifest = json!({
        "turns": [entry(question.id, "canonical", "from_blocks", json!({ "attachments": shown, "repair": RequestRepair::ImagesTold }))],
        "not_sent": [{ "param": "top_k", "reason": "not supported by this model" }],
    });
    let html = draw(vec![generation(manifest)], 0, vec![question, reply(2, [Content::text("It says so.")])]);
    for words in [
        "What does &lt;it&gt; say?",
        "A &lt;b&gt;plan&lt;/b&gt;",
        "version of 2026-11-22 07:00:00.500 UTC, characters 11–24",
        "version=2026-11-22T07:00:00.500000Z",
        "as its alternative text · ≈ 5 tokens",
        &format!("/api/blobs/{}", "cd".repeat(32)),
        &"ab".repeat(32),
        "openai · gpt-x",
        "gpt-x-2026",
        "0.9 s",
        "completed (stop)",
        "1.2k in · 34 out",
        "≈ $0.0015",
        "top_k was not sent: not supported by this model.",
        "Images were replaced with text descriptions",
        "Raw provider response (1.3 KiB)",
    ] {
        assert!(html.contains(words), "{words} in {html}");
    }
    assert!(!html.contains("<b>plan"), "{html}");
}

#[test]
fn each_request_of_a_reply_has_its_page() {
    let made = || generation(json!({ "turns": [entry(turn_id(1), "raw", "same_lock", json!({}))], "not_sent": [] }));
    let html = draw(vec![made(), made()], 0, vec![reply(2, [])]);
    assert!(html.contains("Request 1 of 2") && html.contains("/sent?request=2"), "{html}");
    assert!(html.contains("in the provider's original form") && html.contains(texts::not_on_path()), "{html}");
}

#[test]
fn unreadable_manifest_and_unsent_request_are_explained() {
    let html = draw(vec![generation(json!({ "turns": [{ "turn_id": "x" }] }))], 0, vec![reply(2, [])]);
    assert!(html.contains(texts::unreadable()), "{html}");
    let failed = failed_reply(2, FailureKind::ProviderAuth);
    for (turn, words) in [
        (reply(2, []), texts::no_model_asked()),
        (running_reply(2), texts::not_yet()),
        (failed, texts::failed_before()),
    ] {
        let html = draw(vec![], 0, vec![turn]);
        assert!(html.contains(words), "{words} in {html}");
    }
}

#[test]
fn newest_messages_of_long_path_are_listed() {
    let path: Vec<Turn> = (1..=3).map(|n| user_turn(n, &format!("message {n}"))).collect();
    let entries: Vec<Value> =
        (0..250).map(|n| entry(turn_id(1_000 + n), "canonical", "behind_model_break", json!({}))).collect();
    let html = draw(vec![generation(json!({ "turns": entries, "not_sent": [] }))], 0, path);
    assert!(html.contains("50 earlier messages were also sent, ≈ 600 tokens"), "{html}");
    assert!(html.contains("start=\"51\""), "{html}");
    assert_eq!(html.matches("<li data-mode=\"canonical\"").count(), 200);
}
