//! `turnleaf replay` and the server agree on every response: whether the reply is complete, why it failed, which notice
//! explains its end, what it contains, and what it reports about itself (docs/reference/providers.md 2.4).

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint, RetryPolicy};
use turnleaf_providers::replay::{ReplayOptions, replay};

use crate::fakeprov::{FakeProvider, ServerStep};
use crate::fixtures::{self, FixtureRecording};
use crate::http_api::TestApi as Client;
use crate::malformed_replies::{body_script, endpoint, response_script};
use crate::test_server::TestServer;
use crate::wire_fixtures::{complete_stream, interrupted_stream};

/// A timeout that only a test that hangs can reach.
const PATIENCE: Duration = Duration::from_secs(20);
/// The number of providers of one server.
const BATCH: usize = 40;
/// The beginnings of the results that the end of a turn gives to calls without one.
const SYNTHETIC_RESULTS: [&str; 2] = ["interrupted; the tool may", "cancelled: the reply ended"];

struct ParityCase {
    name: String,
    api: ProviderApi,
    dialect: String,
    status: u16,
    body: Vec<u8>,
}

/// The observations about a response that the server and `replay` must agree on.
#[derive(Debug, PartialEq)]
struct ReplayedReply {
    is_complete: bool,
    /// Kind and detail of the failure. Its message names the provider.
    failure: Value,
    notice: Value,
    model: Value,
    usage: Value,
    stop_reason: Value,
    blocks: Vec<Value>,
}

fn replayed_reply(case: &ParityCase) -> ReplayedReply {
    let options = ReplayOptions {
        api: case.api.as_str().into(),
        dialect: Some(case.dialect.clone()).filter(|name| !name.is_empty()),
        http_status: Some(case.status),
        chunk: None,
        with_next_message: false,
    };
    let printed = replay(&options, &case.body).unwrap();
    ReplayedReply {
        is_complete: printed["complete"] == true,
        failure: json!([printed["failure"]["kind"], printed["failure"]["detail"]]),
        notice: printed.get("notice").cloned().unwrap_or_default(),
        model: printed["model"].clone(),
        usage: printed["usage"].clone(),
        stop_reason: printed["stop_reason"].clone(),
        blocks: printed["blocks"].as_array().unwrap().iter().map(comparable).collect(),
    }
}

/// Removes what a live reply adds: times, the state of calls, and secrets that clients do not get.
fn comparable(block: &Value) -> Value {
    let kind = block["type"].as_str().unwrap_or_default();
    match kind {
        "text" => json!([kind, block["text"]]),
        "thinking" => json!([kind, block["thinking"], block["title"]]),
        "tool_use" => json!([kind, block["tool_name"], block["arguments"]]),
        "tool_result" => json!([kind, block["tool_name"], block["result"], block["is_error"]]),
        "image" => json!([kind, block["blob"], block["mime"], block["alt"]]),
        _ => json!([kind]),
    }
}

/// Returns true for blocks that Turnleaf adds to what the provider sent: notices, failures, and the results of calls
/// that it ran or could not run.
fn is_added(block: &Value, all: &[Value]) -> bool {
    if block["author"] == "system" || block["type"] == "x:pause" {
        return true;
    }
    if block["type"] != "tool_result" {
        return false;
    }
    let call = all.iter().find(|call| call["id"] == block["parent_block_id"]);
    let is_ours = call.is_some_and(|call| call["block_metadata"]["run_by"] != "provider");
    let result = block["result"].as_str().unwrap_or_default();
    is_ours || SYNTHETIC_RESULTS.iter().any(|start| result.starts_with(start))
}

/// Compares a turn and its first generation with the output of `replay`. A reply that continues, after its calls or
/// after a pause, is longer, so only its beginning is compared.
fn assert_agrees(case: &ParityCase, turn: &Value, generation: &Value) {
    let mut replayed = replayed_reply(case);
    let all = turn["blocks"].as_array().unwrap();
    let goes_on = replayed.is_complete && turn["generations"].as_u64() != Some(1);
    let endings = ["length_reached", "context_filled", "filtered", "declined", "stopped_otherwise", "no_answer"];
    let notice = all.iter().find(|block| endings.iter().any(|kind| block["kind"] == *kind));
    let blocks = all.iter().filter(|block| !is_added(block, all)).map(comparable);
    let mut seen = ReplayedReply {
        is_complete: turn["status"] == "complete",
        failure: json!([turn["error"]["kind"], turn["error"]["detail"]]),
        notice: notice.map(|block| json!([block["kind"], block["text"], block["stop_reason"]])).unwrap_or_default(),
        model: generation["model_returned"].clone(),
        usage: generation["usage"].clone(),
        stop_reason: generation["stop_reason"].clone(),
        blocks: blocks.collect(),
    };
    if !replayed.notice.is_null() {
        replayed.notice = json!([replayed.notice["kind"], replayed.notice["text"], replayed.notice["stop_reason"]]);
    }
    replayed.blocks.retain(|block| block[0] != "x:notice");
    if goes_on {
        seen.blocks.truncate(replayed.blocks.len());
    }
    assert_eq!(seen, replayed, "{}", case.name);
}

/// Plays the responses through one server. Calls are answered, and the model then says a word.
async fn assert_server_agrees(cases: &[ParityCase]) {
    for cases in cases.chunks(BATCH) {
        let (mut providers, mut endpoints) = (Vec::new(), Vec::new());
        for case in cases {
            let then = body_script(complete_stream(case.api, "done"));
            let body = [ServerStep::Bytes(case.body.clone()), ServerStep::Fin];
            let provider = FakeProvider::start(vec![response_script(case.status, &[], body), then]).await;
            let retry_policy = RetryPolicy { retries: Some(0), ..RetryPolicy::default() };
            endpoints.push(ProviderEndpoint {
                dialect: case.dialect.clone(),
                retry_policy,
                ..endpoint(&format!("fake-{}", providers.len()), case.api, provider.base_url())
            });
            providers.push(provider);
        }
        let client = Arc::new(Client::with_server(TestServer::with_endpoints(endpoints).await));
        for (at, case) in cases.iter().enumerate() {
            let (_, chat) = client.call("POST", "/api/chats", Some(json!({ "provider": format!("fake-{at}") }))).await;
            let path = format!("/api/chats/{}/turns", chat["id"].as_str().unwrap());
            let (status, started) = client.call("POST", &path, Some(json!({ "text": "hi" }))).await;
            assert_eq!(status, StatusCode::CREATED, "{} {started}", case.name);
            let id = started["assistant_turn"]["id"].as_str().unwrap();
            tokio::time::timeout(PATIENCE, client.read_events(id, &[])).await.expect("the reply ends");
            let (_, mut turn) = client.call("GET", &format!("/api/turns/{id}"), None).await;
            turn["generations"] = json!(providers[at].requests().len());
            let (_, generations) = client.call("GET", &format!("/api/turns/{id}/generations"), None).await;
            assert_agrees(case, &turn, &generations[0]);
        }
        client.instance.check_invariants().await;
    }
}

fn parity_case(name: &str, api: ProviderApi, dialect: &str, body: impl Into<Vec<u8>>) -> ParityCase {
    ParityCase { name: name.to_owned(), api, dialect: dialect.to_owned(), status: 200, body: body.into() }
}

/// Returns the API of a recording by the name that its metadata has for it.
fn api_of(recording: &FixtureRecording) -> ProviderApi {
    match recording.about["api"].as_str().unwrap_or_default() {
        "anthropic" => ProviderApi::Anthropic,
        "openai_chat" | "openai_compat" => ProviderApi::OpenaiChat,
        "openai_responses" => ProviderApi::OpenaiResponses,
        "gemini" => ProviderApi::Gemini,
        "ollama_native" => ProviderApi::Ollama,
        other => panic!("{}: unknown API {other:?}", recording.name),
    }
}

#[tokio::test]
async fn replay_and_server_agree_on_every_ending() {
    let chat = |delta: Value, reason: &str| {
        let chunks = [
            json!({"choices": [{"index": 0, "delta": delta}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
        ];
        chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect::<String>()
    };
    let anthropic = |content: Value, reason: &str| {
        json!({"type": "message", "id": "m", "model": "c", "content": content, "stop_reason": reason}).to_string()
    };
    let google = |parts: Value, reason: &str| {
        json!([{"candidates": [{"content": {"parts": parts}, "finishReason": reason}]}]).to_string()
    };
    let local = |content: &str, reason: &str| {
        format!("{}\n", json!({"message": {"content": content}, "done": true, "done_reason": reason}))
    };
    let responses = |status: &str, output: Value| {
        json!({"object": "response", "id": "r", "status": status, "output": output}).to_string()
    };
    let mut cases = Vec::new();
    for reason in [
        "stop",
        "length",
        "tool_calls",
        "content_filter",
        "network_error",
        "sensitive",
        "error",
        "repetition",
        "eos",
        "guardrail_intervened",
        "insufficient_system_resource",
    ] {
        for delta in [json!({}), json!({"content": "Hello wor"}), json!({"reasoning_content": "hm"})] {
            cases.push(parity_case(
                &format!("{delta} {reason}"),
                ProviderApi::OpenaiChat,
                "generic",
                chat(delta.clone(), reason),
            ));
        }
    }
    for reason in ["stop_sequence", "end_turn", "max_tokens", "refusal", "quota_pause", "tool_use"] {
        for content in [json!([]), json!([{"type": "text", "text": "Part"}])] {
            cases.push(parity_case(
                &format!("{content} {reason}"),
                ProviderApi::Anthropic,
                "",
                anthropic(content.clone(), reason),
            ));
        }
    }
    for reason in ["STOP", "MAX_TOKENS", "OTHER", "SAFETY", "MALFORMED_FUNCTION_CALL", "LANGUAGE", "NO_IMAGE"] {
        for parts in [json!([]), json!([{"text": ""}]), json!([{"text": "Part"}])] {
            cases.push(parity_case(
                &format!("{parts} {reason}"),
                ProviderApi::Gemini,
                "",
                google(parts.clone(), reason),
            ));
        }
    }
    for reason in ["stop", "load", "length"] {
        cases.push(parity_case(reason, ProviderApi::Ollama, "", local("", reason)));
    }
    for status in ["completed", "incomplete", "failed"] {
        cases.push(parity_case(status, ProviderApi::OpenaiResponses, "", responses(status, json!([]))));
    }
    for api in ProviderApi::ALL.iter().copied() {
        cases.push(parity_case("complete", api, "", complete_stream(api, "Hi")));
        cases.push(parity_case("cut off", api, "", interrupted_stream(api, "Hi")));
    }
    assert_server_agrees(&cases).await;
}

#[tokio::test]
async fn replay_and_server_agree_on_recordings() {
    let folders = [
        ("anthropic", "sse"),
        ("openai_chat", "sse"),
        ("openai_compat", "sse"),
        ("openai_responses", "sse"),
        ("gemini", "sse"),
        ("gemini_json_array", "body"),
        ("ollama_native", "ndjson"),
        ("derived", "sse"),
        ("http_errors", "body"),
    ];
    let mut cases = Vec::new();
    for (folder, ending) in folders {
        // A folder that is missing is reported by `recordings`.
        let found = fixtures::recordings(folder, ending);
        if found.as_ref().is_some_and(Vec::is_empty) {
            eprintln!("skipped: no recordings with the ending {ending} in {folder}");
        }
        // The second half of a paused response has a result whose call is in the first half.
        let is_whole = |name: &str| !(name.contains("pause_turn") && name.ends_with(".t2"));
        for recording in found.unwrap_or_default().into_iter().filter(|recording| is_whole(&recording.name)) {
            let api = api_of(&recording);
            let provider = recording.about["provider"].as_str().unwrap_or_default();
            let dialect = if api == ProviderApi::OpenaiChat { provider } else { "" };
            let is_known = turnleaf_providers::openai_chat::Dialect::from_name(dialect).is_some();
            let dialect = if is_known { dialect } else { "" };
            let status = recording.about["status"].as_u64().and_then(|status| u16::try_from(status).ok());
            let case = parity_case(&recording.name, api, dialect, recording.body);
            cases.push(ParityCase { status: status.unwrap_or(200), ..case });
        }
    }
    assert!(!cases.is_empty() || !fixtures::fixtures_root().exists(), "the fixtures hold no recording");
    assert_server_agrees(&cases).await;
}
