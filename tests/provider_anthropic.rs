//! Every recorded reply of the Messages API through the decoder and the block builder: whole, cut at any byte, and
//! resent in the next request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use futures::StreamExt;
use serde_json::{Value, json};
use turnleaf::domain::providers::provider::ReasoningSupport;
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::anthropic::{MessagesDecoder, MessagesEndpoint};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider::{DecodedItem, Decoder, Provider};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_providers::replay::{ReplayOptions, replay};

#[path = "support/decoding.rs"]
mod decoding;
#[expect(dead_code, reason = "what goes wrong on the wire is for provider_http")]
#[path = "support/fake_provider.rs"]
mod fakeprov;
#[path = "support/fixtures.rs"]
mod fixtures;

use decoding::{DamageRng, decode};
use fakeprov::{FakeProvider, ServerStep};
use fixtures::{FixtureRecording, recordings};

/// A timeout that only a test that hangs can reach.
const PATIENCE: Duration = Duration::from_secs(20);

/// Loads every recorded stream, real and derived.
fn streams() -> Option<Vec<FixtureRecording>> {
    let mut all = recordings("anthropic", "sse")?;
    assert!(all.len() >= 33, "only {} recordings", all.len());
    let derived = recordings("derived", "sse")?;
    all.extend(derived.into_iter().filter(|recording| recording.about["api"] == "anthropic"));
    Some(all)
}

fn decoder(_: &FixtureRecording) -> Box<dyn Decoder> {
    Box::new(MessagesDecoder::for_provider("Recorded", SecretSet::default()))
}

fn replayed(body: &[u8], http_status: Option<u16>) -> Value {
    let options =
        ReplayOptions { api: "anthropic".into(), dialect: None, http_status, chunk: None, with_next_message: true };
    replay(&options, body).unwrap()
}

/// Parses the JSON values of a stream without the product's SSE framer.
fn events(recording: &FixtureRecording) -> Vec<Value> {
    let body = String::from_utf8(recording.body.clone()).unwrap();
    body.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?.trim()).ok()).collect()
}

#[test]
fn every_split_of_recording_gives_same_items() {
    let Some(recordings) = streams() else { return };
    decoding::assert_same_in_every_split(&recordings, decoder);
}

#[test]
fn recording_prefix_is_complete_only_with_final_event() {
    let Some(recordings) = streams() else { return };
    decoding::assert_every_prefix_ends(&recordings, decoder);
    let mut dice = DamageRng(0x616e_7468_726f);
    for recording in &recordings {
        let body = recording.body.as_slice();
        for cut in (0..20).map(|_| dice.next_below(body.len())) {
            let (_, early) = decode(decoder(recording), [&body[..cut]]);
            let has_end = body[..cut].windows(12).any(|window| window == b"message_stop");
            assert!(!early.complete || has_end, "{} cut at {cut}", recording.name);
        }
    }
}

#[test]
fn recording_is_complete_with_stop_reason_it_was_recorded_with() {
    let Some(recordings) = streams() else { return };
    for recording in &recordings {
        let (items, outcome) = decode(decoder(recording), [recording.body.as_slice()]);
        let name = recording.name.as_str();
        let failure = outcome.failure.as_ref().map(|failure| failure.kind.as_str());
        match name {
            "derived/anthropic_overloaded_mid_thinking" => assert_eq!(failure, Some("provider_overloaded"), "{name}"),
            "derived/anthropic_truncated_mid_event" => assert_eq!(failure, Some("provider_truncated"), "{name}"),
            _ => {
                assert!(outcome.complete, "{name}: {outcome:?}");
                let features = recording.about["features"].as_array().unwrap();
                // The features are sorted; the only recording of several messages ends with the first of its two stop
                // reasons.
                let reason = features.iter().find_map(|feature| feature.as_str()?.strip_prefix("stop:"));
                assert_eq!(outcome.stop_reason.as_deref(), reason, "{name}");
            }
        }
        assert_eq!(outcome.complete, failure.is_none(), "{name}");
        let model = items
            .iter()
            .find_map(|item| if let DecodedItem::Model(model) = item { Some(model.as_str()) } else { None });
        assert_eq!(model, recording.about["served_model"].as_str(), "{name}");
        let usage = items.iter().any(|item| matches!(item, DecodedItem::Usage(_)));
        assert!(usage, "{name} has no usage");
    }
}

#[test]
fn blocks_are_decoded_in_wire_order() {
    let Some(recordings) = streams() else { return };
    for recording in &recordings {
        let mut expected: Vec<String> = Vec::new();
        let mut text = String::new();
        let mut position = 0;
        for event in events(recording) {
            let block = &event["content_block"];
            // A message may begin with calls that are already complete.
            let begun = event["message"]["content"].as_array().into_iter().flatten();
            expected.extend(begun.map(|block| block["id"].as_str().unwrap().to_owned()));
            match (event["type"].as_str().unwrap(), block["type"].as_str()) {
                ("content_block_start", Some("tool_use")) => expected.push(block["id"].as_str().unwrap().into()),
                ("content_block_start", Some("server_tool_use" | "mcp_tool_use")) => {
                    expected.push(block["id"].as_str().unwrap().into());
                }
                ("content_block_start", Some(kind)) if kind.ends_with("_tool_result") => {
                    expected.push(format!("result of {}", block["tool_use_id"].as_str().unwrap()));
                }
                ("content_block_start", Some("redacted_thinking")) => expected.push(block["data"].to_string()),
                ("content_block_start", Some("text" | "thinking")) => {}
                ("content_block_start", Some(kind @ ("compaction" | "fallback"))) => {
                    expected.extend([format!("{kind}-{position}"), format!("result of {kind}-{position}")]);
                }
                ("content_block_start", Some(kind)) => expected.push(format!("x:{kind}")),
                ("content_block_delta", _) => match event["delta"]["type"].as_str().unwrap() {
                    "signature_delta" => expected.push(event["delta"]["signature"].to_string()),
                    "text_delta" => text.push_str(event["delta"]["text"].as_str().unwrap()),
                    _ => {}
                },
                _ => {}
            }
            position += usize::from(event["type"] == "content_block_start");
        }
        let printed = replayed(&recording.body, None);
        let mut found: Vec<String> = Vec::new();
        let mut found_text = String::new();
        for block in printed["blocks"].as_array().unwrap() {
            match block["type"].as_str().unwrap() {
                "text" => found_text.push_str(block["text"].as_str().unwrap()),
                "thinking" => found.extend(block.get("redacted").map(Value::to_string)),
                "thinking_signature" => found.push(block["signature"].to_string()),
                "tool_use" => found.push(block["tool_use_id"].as_str().unwrap().into()),
                "tool_result" => found.push(format!("result of {}", block["tool_use_id"].as_str().unwrap())),
                "x:citation" | "x:sources" => {}
                kind => found.push(kind.into()),
            }
        }
        assert_eq!(found, expected, "{}", recording.name);
        assert_eq!(found_text, text, "{}", recording.name);
    }
}

#[test]
fn usage_matches_last_message_delta() {
    let Some(recordings) = streams() else { return };
    let mut compared = 0;
    for recording in &recordings {
        let Some(last) = events(recording).into_iter().rfind(|event| event["type"] == "message_delta") else {
            continue;
        };
        let reported = |field: &str| last["usage"][field].as_u64();
        let printed = replayed(&recording.body, None)["usage"].clone();
        assert_eq!(printed["output_tokens"].as_u64(), reported("output_tokens"), "{}", recording.name);
        if let (Some(input), Some(read), Some(write)) =
            (reported("input_tokens"), reported("cache_read_input_tokens"), reported("cache_creation_input_tokens"))
        {
            assert_eq!(printed["input_tokens"].as_u64(), Some(input + read + write), "{}", recording.name);
            compared += 1;
        }
        let reasoning = last["usage"]["output_tokens_details"]["thinking_tokens"].as_u64();
        assert_eq!(printed["reasoning_tokens"].as_u64(), reasoning, "{}", recording.name);
    }
    assert!(compared >= 25, "only {compared} compared");
}

/// Removes what the API leaves optional and what a recorded client left out: null keys, `caller`, `citations`, cache
/// markers.
fn normalized(content: &Value) -> Value {
    match content {
        Value::Object(map) => {
            let is_kept =
                |key: &str, value: &Value| !value.is_null() && !["caller", "citations", "cache_control"].contains(&key);
            map.iter()
                .filter(|(key, value)| is_kept(key, value))
                .map(|(key, value)| (key.clone(), normalized(value)))
                .collect()
        }
        Value::Array(parts) => parts.iter().map(normalized).collect(),
        // One recorder wrote plain dashes and apostrophes. Another test checks that our texts are not changed.
        Value::String(text) => text.replace('\u{2013}', "-").replace('\u{2019}', "'").into(),
        other => other.clone(),
    }
}

/// Compares two values, of which the recorded one has left out long strings (`<elided …>`).
fn is_same(ours: &Value, recorded: &Value) -> bool {
    match (ours, recorded) {
        (Value::Object(ours), Value::Object(recorded)) => {
            let has = |(key, value): (&String, &Value)| ours.get(key).is_some_and(|ours| is_same(ours, value));
            ours.len() == recorded.len() && recorded.iter().all(has)
        }
        (Value::Array(ours), Value::Array(recorded)) => {
            ours.len() == recorded.len() && ours.iter().zip(recorded).all(|(ours, recorded)| is_same(ours, recorded))
        }
        (Value::String(ours), Value::String(recorded)) => {
            let length = recorded.strip_prefix("<elided ").and_then(|rest| rest.split(' ').next()?.parse().ok());
            length.map_or(ours == recorded, |length: usize| ours.len() == length)
        }
        _ => ours == recorded,
    }
}

/// Returns the content of the last assistant message of a recorded request.
fn resent_by_client(next: &FixtureRecording) -> Value {
    let messages = next.about["request"]["messages"].as_array().unwrap();
    messages.iter().rev().find(|message| message["role"] == "assistant").unwrap()["content"].clone()
}

fn resent_content(recording: &FixtureRecording) -> Value {
    let next = replayed(&recording.body, None)["next"].clone();
    let [message] = next.as_array().unwrap().as_slice() else { panic!("{}: {next}", recording.name) };
    assert_eq!(message["role"], "assistant", "{}", recording.name);
    message["content"].clone()
}

#[test]
fn resent_history_matches_recorded_clients() {
    let Some(recordings) = streams() else { return };
    // `ORACLES.json` lies in the root folder of the fixtures.
    let oracles = fixtures::recordings("", "json").unwrap();
    let oracles = &oracles.iter().find(|file| file.name == "/ORACLES").unwrap().about["anthropic_replay"];
    let mut compared = 0;
    for (file, fact) in oracles.as_object().unwrap() {
        let name = format!("anthropic/{}", file.strip_suffix(".sse").unwrap());
        let recording = recordings.iter().find(|recording| recording.name == name).unwrap();
        let (session, step) = name.rsplit_once(".t").unwrap();
        let next = format!("{session}.t{}", step.parse::<u32>().unwrap() + 1);
        let next = recordings.iter().find(|recording| recording.name == next).unwrap();
        assert_eq!(next.about["status"], fact["next_status"], "{name}");
        assert!(is_same(&normalized(&resent_content(recording)), &normalized(&resent_by_client(next))), "{name}");
        compared += 1;
    }
    assert_eq!(compared, 7);
}

#[test]
fn resent_documents_match_recorded_clients() {
    let Some(files) = recordings("context_pairs", "json") else { return };
    let mut compared = 0;
    for response in files.iter().filter(|file| file.name.starts_with("context_pairs/anthropic_")) {
        let Some(session) = response.name.strip_suffix(".t1.response") else { continue };
        let next = files.iter().find(|file| file.name == format!("{session}.t2")).unwrap();
        assert_eq!(next.about["status"], 200, "{session}");
        assert!(is_same(&normalized(&resent_content(response)), &normalized(&resent_by_client(next))), "{session}");
        compared += 1;
    }
    assert_eq!(compared, 4);
}

#[test]
fn resent_history_keeps_every_block_byte_for_byte() {
    let Some(recordings) = streams() else { return };
    for recording in recordings.iter().filter(|recording| recording.name.starts_with("anthropic/")) {
        let content = resent_content(recording).to_string();
        for event in events(recording) {
            let sealed = [&event["delta"]["signature"], &event["content_block"]["data"], &event["content_block"]["id"]];
            for piece in sealed.into_iter().filter(|piece| piece.is_string()) {
                assert!(content.contains(&piece.to_string()), "{} lost {piece}", recording.name);
            }
            if event["content_block"]["type"].as_str().is_some_and(|kind| kind.ends_with("_tool_result")) {
                assert!(content.contains(&event["content_block"].to_string()), "{}", recording.name);
            }
        }
        assert!(!content.contains("\"text\":\"\"}"), "{} sends an empty text", recording.name);
    }
}

#[test]
fn recorded_error_documents_are_classified() {
    let Some(errors) = recordings("http_errors", "body") else { return };
    let mut compared = 0;
    for error in errors.iter().filter(|error| error.about["api"] == "anthropic") {
        let printed = replayed(&error.body, error.about["status"].as_u64().map(|status| status.try_into().unwrap()));
        let expected = match error.name.as_str() {
            name if name.contains("context_length") => "context_too_long",
            name if name.contains("model_name") => "model_not_found",
            _ => "provider_refused_request",
        };
        assert_eq!(printed["failure"]["kind"], expected, "{}", error.name);
        assert_eq!((&printed["complete"], &printed["next"]), (&json!(false), &json!([])), "{}", error.name);
        compared += 1;
    }
    assert!(compared >= 3, "only {compared} compared");
}

fn endpoint(server: &FakeProvider) -> MessagesEndpoint {
    let endpoint = ProviderEndpoint {
        id: "anthropic".into(),
        name: "Fake".into(),
        api: ProviderApi::Anthropic,
        dialect: String::new(),
        base_url: server.base_url(),
        api_key: Some("the-secret-key-of-this-test".into()),
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    };
    MessagesEndpoint::new(&endpoint, HttpClient::default())
}

fn answer(body: String) -> Vec<ServerStep> {
    vec![ServerStep::Status(200), ServerStep::Bytes(body.into_bytes()), ServerStep::Fin]
}

#[tokio::test]
async fn request_has_key_version_and_betas_of_its_model() {
    let server = FakeProvider::start(vec![answer("data: {}\n\n".into())]).await;
    let provider = endpoint(&server);
    for (model, beta) in [("claude-sonnet-5-5", Some("thinking-binding-controls-2026-08-01")), ("claude-3-haiku", None)]
    {
        let body = json!({"model": model, "thinking": {"type": "adaptive"}}).to_string();
        let reply = tokio::time::timeout(PATIENCE, provider.send("m", body.clone().into())).await.unwrap().unwrap();
        reply.body.for_each(|_| async {}).await;
        let request = server.requests().pop().unwrap();
        let header =
            |name: &str| request.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!((request.method.as_str(), request.path.as_str()), ("POST", "/v1/messages"));
        assert_eq!(request.body, body.as_bytes());
        assert_eq!(header("x-api-key"), Some("the-secret-key-of-this-test"));
        assert_eq!(header("authorization"), None);
        assert_eq!(header("anthropic-version"), Some("2023-06-01"));
        assert_eq!(header("anthropic-beta"), beta);
    }
}

#[tokio::test]
async fn model_list_is_requested_page_by_page() {
    let first = json!({"data": [{"id": "claude-opus-4-7", "display_name": "Claude Opus 4.7", "max_tokens": 128000,
        "max_input_tokens": 1000000, "capabilities": {"thinking": {"supported": true}}}],
        "has_more": true, "last_id": "claude-opus-4-7"});
    let second = json!({"data": [{"id": "claude-3-haiku-20240307"}], "has_more": false, "last_id": "x"});
    let server = FakeProvider::start(vec![answer(first.to_string()), answer(second.to_string())]).await;
    let asking = endpoint(&server).list_models().unwrap();
    let listed = tokio::time::timeout(PATIENCE, asking).await.unwrap().unwrap();
    let ids: Vec<&str> = listed.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["claude-opus-4-7", "claude-3-haiku-20240307"]);
    let known = &listed[0].capabilities;
    assert_eq!((known.context_tokens, known.max_tokens.most), (Some(1_000_000), Some(128_000)));
    assert_eq!((listed[0].name.as_deref(), known.reasoning), (Some("Claude Opus 4.7"), ReasoningSupport::Optional));
    let paths: Vec<String> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/models?limit=1000", "/v1/models?limit=1000&after_id=claude-opus-4-7"]);
}
