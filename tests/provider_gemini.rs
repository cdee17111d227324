//! Every recorded Gemini response through the decoder: whole, cut at any byte, and resent in the next request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use serde_json::{Value, json};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::gemini::{GeminiDecoder, GeminiEndpoint};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider::{DecodeOutcome, DecodedItem, Decoder, Provider};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_providers::replay::{ReplayOptions, replay};

#[path = "support/decoding.rs"]
mod decoding;
#[path = "support/fake_provider.rs"]
#[expect(dead_code, reason = "servers that misbehave are for provider_http")]
mod fakeprov;
#[path = "support/fixtures.rs"]
mod fixtures;

use fakeprov::{FakeProvider, ServerStep};
use fixtures::{FixtureRecording, recordings};

/// Loads every recorded stream and array, and what was derived from them.
fn gemini_recordings() -> Option<Vec<FixtureRecording>> {
    let mut all = recordings("gemini", "sse")?;
    all.extend(recordings("gemini_json_array", "body")?);
    all.extend(recordings("derived", "sse")?.into_iter().filter(|recording| recording.about["api"] == "gemini"));
    Some(all)
}

fn decoder(_: &FixtureRecording) -> Box<dyn Decoder> {
    Box::new(GeminiDecoder::for_provider("Recorded", SecretSet::default()))
}

fn decode(recording: &FixtureRecording) -> (Vec<DecodedItem>, DecodeOutcome) {
    decoding::decode(decoder(recording), [recording.body.as_slice()])
}

fn replayed(body: &[u8], chunk: Option<usize>) -> Value {
    let options =
        ReplayOptions { api: "gemini".into(), dialect: None, http_status: None, chunk, with_next_message: true };
    replay(&options, body).unwrap()
}

/// Parses the chunks of a recording without the decoder.
fn chunks(recording: &FixtureRecording) -> Vec<Value> {
    let text = std::str::from_utf8(&recording.body).unwrap();
    if let Ok(Value::Array(chunks)) = serde_json::from_str(text) {
        return chunks;
    }
    text.lines().filter_map(|line| serde_json::from_str(line.strip_prefix("data:")?).ok()).collect()
}

fn parts_of(recording: &FixtureRecording) -> Vec<Value> {
    let parts = |chunk: &Value| chunk.pointer("/candidates/0/content/parts").and_then(Value::as_array).cloned();
    chunks(recording).iter().filter_map(parts).flatten().collect()
}

#[test]
fn every_split_of_recording_gives_same_items() {
    let Some(recordings) = gemini_recordings() else { return };
    assert!(recordings.len() >= 30, "only {} recordings", recordings.len());
    decoding::assert_same_in_every_split(&recordings, decoder);
    for recording in recordings {
        let printed = replayed(&recording.body, None);
        assert_eq!(replayed(&recording.body, Some(7)), printed, "{}", recording.name);
    }
}

#[test]
fn every_recording_prefix_ends() {
    let Some(recordings) = gemini_recordings() else { return };
    decoding::assert_every_prefix_ends(&recordings, decoder);
    let mut dice = decoding::DamageRng(0x7465_726d_696e_616c);
    for recording in &recordings {
        for cut in (0..20).map(|_| dice.next_below(recording.body.len())) {
            let (_, early) = decoding::decode(decoder(recording), [&recording.body[..cut]]);
            let begins = String::from_utf8_lossy(&recording.body[..cut]).replace(' ', "");
            let is_terminated = begins.contains("\"finishReason\":\"") || begins.contains("\"blockReason\":\"");
            assert!(!early.complete || is_terminated, "{} cut at {cut}", recording.name);
        }
    }
}

#[test]
fn recording_ends_with_its_known_reason() {
    let Some(recordings) = gemini_recordings() else { return };
    for recording in recordings {
        let (items, outcome) = decode(&recording);
        let name = recording.name.as_str();
        if name == "derived/gemini_truncated_mid_event" {
            assert_eq!(outcome.failure.unwrap().kind.as_str(), "provider_truncated", "{name}");
            continue;
        }
        assert!(outcome.complete && outcome.failure.is_none(), "{name}: {outcome:?}");
        let features = recording.about["features"].as_array().cloned().unwrap_or_default();
        let known = features.iter().filter_map(Value::as_str);
        let reason = known.filter_map(|feature| feature.strip_prefix("fin:").or(feature.strip_prefix("pf:"))).next();
        assert_eq!(outcome.stop_reason.as_deref(), reason.or(Some("STOP")), "{name}");
        let model = items
            .iter()
            .find_map(|item| if let DecodedItem::Model(model) = item { Some(model.as_str()) } else { None });
        let served = chunks(&recording).iter().find_map(|chunk| Some(chunk["modelVersion"].as_str()?.to_owned()));
        assert_eq!(model, served.as_deref(), "{name}");
    }
}

#[test]
fn recording_content_is_neither_lost_nor_reordered() {
    let Some(recordings) = gemini_recordings() else { return };
    for recording in recordings.iter().filter(|recording| !recording.name.starts_with("derived/")) {
        let (items, _) = decode(recording);
        let decoded: Vec<(&str, String)> = items.iter().filter_map(item_text).fold(Vec::new(), merge_adjacent);
        let mut expected = Vec::new();
        for part in parts_of(recording) {
            let kind = if part["thought"] == true { "thinking" } else { "text" };
            if let Some(text) = part["text"].as_str().filter(|text| !text.is_empty()) {
                expected.push((kind, text.to_owned()));
            }
            // Calls that arrive in pieces are compared by their names alone.
            if let Some(name) = part.pointer("/functionCall/name").and_then(Value::as_str) {
                expected.push(("call", name.to_owned()));
            }
            let holds = part
                .as_object()
                .unwrap()
                .keys()
                .find(|key| !["text", "thought", "thoughtSignature", "functionCall"].contains(&key.as_str()));
            expected.extend(holds.and_then(|key| match key.as_str() {
                "executableCode" | "toolCall" => Some(("own", String::new())),
                "codeExecutionResult" | "toolResponse" => None,
                "inlineData" => Some(("image", part["inlineData"]["mimeType"].as_str().unwrap().to_owned())),
                key => Some(("opaque", format!("x:{key}"))),
            }));
            expected.extend(part["thoughtSignature"].as_str().map(|signature| ("signature", signature.to_owned())));
        }
        let expected = expected.into_iter().fold(Vec::new(), merge_adjacent);
        assert_eq!(decoded, expected, "{}", recording.name);
    }
}

fn item_text(item: &DecodedItem) -> Option<(&'static str, String)> {
    Some(match item {
        DecodedItem::Text(text) => ("text", text.clone()),
        DecodedItem::Thinking(text) => ("thinking", text.clone()),
        DecodedItem::ThinkingSignature(signature) => ("signature", signature.clone()),
        DecodedItem::ToolCall { name, .. } => ("call", name.clone()),
        // Google Search is reported beside the parts, not as one of them.
        DecodedItem::ProviderToolCall { name, .. } if name != "google_search" => ("own", String::new()),
        DecodedItem::Image(image) => ("image", image.mime.to_owned()),
        DecodedItem::Opaque(map) => {
            let name = map["type"].as_str().unwrap();
            // These items come from fields beside the parts.
            if name == "x:citation" || name == "x:sources" || name.ends_with("Metadata") {
                return None;
            }
            ("opaque", name.to_owned())
        }
        _ => return None,
    })
}

/// Merges adjacent texts of one kind.
fn merge_adjacent<'a>(mut all: Vec<(&'a str, String)>, one: (&'a str, String)) -> Vec<(&'a str, String)> {
    match all.last_mut() {
        Some((kind, text)) if *kind == one.0 && matches!(*kind, "text" | "thinking") => text.push_str(&one.1),
        _ => all.push(one),
    }
    all
}

#[test]
fn usage_of_recording_adds_up_to_its_total() {
    let Some(recordings) = gemini_recordings() else { return };
    let mut compared = 0;
    for recording in recordings.iter().filter(|recording| !recording.name.starts_with("derived/")) {
        let Some(metadata) = chunks(recording).pop().and_then(|chunk| chunk.get("usageMetadata").cloned()) else {
            continue;
        };
        let usage = replayed(&recording.body, None)["usage"].clone();
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        let sum = count(&usage["input_tokens"]) + count(&usage["output_tokens"]);
        assert_eq!(sum, count(&metadata["totalTokenCount"]), "{}", recording.name);
        assert_eq!(usage["reasoning_tokens"], metadata["thoughtsTokenCount"], "{}", recording.name);
        compared += 1;
    }
    assert!(compared >= 20, "only {compared} recordings were compared");
}

#[test]
fn streamed_arguments_are_assembled_into_object() {
    let Some(recordings) = gemini_recordings() else { return };
    let recording =
        recordings.iter().find(|recording| recording.name.ends_with("streamed_function_args_array")).unwrap();
    let printed = replayed(&recording.body, None);
    let item =
        |id: &str, text: &str, price: f64| json!({"action": "add", "description": text, "itemid": id, "price": price});
    let arguments = json!({"operations": [item("apple_001", "Fresh red apple", 0.5), item("banana_001", "Ripe yellow banana", 0.3)]});
    assert_eq!(printed["blocks"][0]["arguments"], arguments);
    assert_eq!(printed["next"][0]["parts"][0]["functionCall"], json!({"name": "writeItems", "args": arguments}));
    assert!(printed["next"][0]["parts"][0]["thoughtSignature"].is_string());
}

#[test]
fn every_part_except_thoughts_and_empty_text_is_resent_unchanged() {
    let Some(recordings) = gemini_recordings() else { return };
    for recording in recordings {
        let name = recording.name.as_str();
        if name.starts_with("derived/") || name.ends_with("streamed_function_args_array") {
            continue;
        }
        // Some endpoints refuse an unsigned part with an empty text; clients whose requests were accepted left it
        // out.
        let is_kept = |part: &Value| part["thought"] != true && *part != json!({"text": ""});
        let kept: Vec<Value> = parts_of(&recording).into_iter().filter(is_kept).collect();
        let next = replayed(&recording.body, None)["next"].clone();
        let expected = if kept.is_empty() { json!([]) } else { json!([{"role": "model", "parts": kept}]) };
        assert_eq!(next.to_string(), expected.to_string(), "{name}");
    }
}

#[test]
fn resent_history_matches_recorded_client() {
    let Some(recordings) = gemini_recordings() else { return };
    let mut compared = 0;
    for recording in &recordings {
        let Some((session, step)) = recording.name.rsplit_once(".t") else { continue };
        let next = format!("{session}.t{}", step.parse::<u32>().unwrap() + 1);
        let Some(next) = recordings.iter().find(|recording| recording.name == next) else { continue };
        compare(&recording.name, &replayed(&recording.body, None)["next"], &next.about["request"]);
        compared += 1;
    }
    assert!(compared >= 6, "only {compared} sessions were compared");
}

#[test]
fn accepted_context_pairs_match_resent_history() {
    let Some(recordings) = recordings("context_pairs", "json") else { return };
    let of_gemini =
        |recording: &&FixtureRecording| recording.about["api"] == "gemini" && !recording.name.ends_with(".response");
    let pairs: Vec<&FixtureRecording> = recordings.iter().filter(of_gemini).collect();
    let mut compared = 0;
    for second in pairs.iter().filter(|recording| recording.name.ends_with(".t2")) {
        assert_eq!(second.about["status"], 200, "{}", second.name);
        let first = second.name.replace(".t2", ".t1.response");
        let first = recordings.iter().find(|recording| recording.name == first).unwrap();
        compare(&second.name, &replayed(&first.body, None)["next"], &second.about["request"]);
        compared += 1;
    }
    assert_eq!(compared, 4);
}

/// Compares the resent content with the last model content of a recorded request. Clients may send thoughts, make up
/// ids, join texts, write signatures in either base64 alphabet, and put signatures on a part of their own
/// (docs/reference/providers.md 7.4, 7.6).
fn compare(name: &str, ours: &Value, request: &Value) {
    let contents = request["contents"].as_array().unwrap();
    let sent = contents.iter().rev().find(|content| content["role"] == "model").unwrap();
    assert_eq!(ours.as_array().map(Vec::len), Some(1), "{name}");
    assert_eq!(normalized(&ours[0]), normalized(sent), "{name}");
}

/// Returns the texts and other parts of a content in their order, and its signatures in theirs.
fn normalized(content: &Value) -> (Vec<(&'static str, String)>, Vec<String>) {
    let mut parts = Vec::new();
    let mut signatures = Vec::new();
    for part in content["parts"].as_array().unwrap() {
        signatures.extend(part["thoughtSignature"].as_str().map(|text| text.replace('-', "+").replace('_', "/")));
        if part["thought"] == true {
            continue;
        }
        let call = part.get("functionCall").or_else(|| part.get("function_call"));
        let one = match (part["text"].as_str(), call) {
            (Some(""), _) => continue,
            (Some(text), _) => ("text", text.to_owned()),
            (None, Some(call)) => {
                let arguments: std::collections::BTreeMap<&String, &Value> =
                    call["args"].as_object().unwrap().iter().collect();
                ("call", format!("{} {arguments:?}", call["name"]))
            }
            (None, None) => {
                let mut part = part.as_object().unwrap().clone();
                part.remove("thoughtSignature");
                let fields = part.values().filter_map(Value::as_object).flatten();
                let fields: std::collections::BTreeMap<&String, &Value> = fields.collect();
                ("part", format!("{fields:?}"))
            }
        };
        parts = merge_adjacent(parts, one);
    }
    (parts, signatures)
}

#[test]
fn recorded_error_documents_are_classified() {
    let Some(recordings) = recordings("http_errors", "body") else { return };
    let mut compared = 0;
    for recording in recordings.iter().filter(|recording| recording.about["api"] == "gemini") {
        let status = u16::try_from(recording.about["status"].as_u64().unwrap()).unwrap();
        let options = ReplayOptions {
            api: "gemini".into(),
            dialect: None,
            http_status: Some(status),
            chunk: None,
            with_next_message: false,
        };
        let printed = replay(&options, &recording.body).unwrap();
        let expected = match status {
            400 => "provider_auth",
            404 => "model_not_found",
            429 => "provider_rate_limited",
            other => panic!("{}: {other}", recording.name),
        };
        assert_eq!(printed["failure"]["kind"], expected, "{}", recording.name);
        compared += 1;
    }
    assert_eq!(compared, 3);
}

const KEY: &str = "the-secret-key-of-this-test";

fn provider(server: &FakeProvider) -> GeminiEndpoint {
    let endpoint = ProviderEndpoint {
        id: "gemini".into(),
        name: "Gemini".into(),
        api: ProviderApi::Gemini,
        dialect: String::new(),
        base_url: server.base_url(),
        api_key: Some(KEY.into()),
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    };
    GeminiEndpoint::new(&endpoint, HttpClient::default())
}

fn answer(body: &Value) -> Vec<ServerStep> {
    vec![ServerStep::Status(200), ServerStep::Bytes(body.to_string().into_bytes()), ServerStep::Fin]
}

#[tokio::test]
async fn key_is_sent_in_header_and_model_in_path() {
    let server = FakeProvider::start(vec![answer(&json!([]))]).await;
    let sending = provider(&server).send("gemini-2.5-flash", "{}".into());
    let reply = tokio::time::timeout(Duration::from_secs(20), sending).await.unwrap().unwrap();
    assert_eq!(reply.status, 200);
    let request = &server.requests()[0];
    assert_eq!(request.method, "POST");
    assert_eq!(request.path, "/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse");
    let with_key: Vec<&str> =
        request.headers.iter().filter(|(_, value)| value.contains(KEY)).map(|(name, _)| name.as_str()).collect();
    assert_eq!(with_key, ["x-goog-api-key"]);
}

#[tokio::test]
async fn list_of_models_is_read_page_by_page() {
    let model = |name: &str, method: &str| json!({"name": name, "supportedGenerationMethods": [method]});
    let pages = [
        json!({"models": [model("models/a", "generateContent"), model("models/b", "embedContent")], "nextPageToken": "x/2"}),
        json!({"models": [model("models/c", "generateContent")]}),
    ];
    let server = FakeProvider::start(pages.iter().map(answer).collect()).await;
    let listing = provider(&server).list_models().unwrap();
    let listed = tokio::time::timeout(Duration::from_secs(20), listing).await.unwrap().unwrap();
    assert_eq!(listed.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    let paths: Vec<String> = server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/v1/models?pageSize=1000", "/v1/models?pageSize=1000&pageToken=x%2F2"]);
}
