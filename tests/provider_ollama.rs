//! Every recorded response of Ollama's own API through the decoder: whole, cut at any byte, and resent in the next
//! request.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use serde_json::{Value, json};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::ollama::{OllamaDecoder, OllamaEndpoint};
use turnleaf_providers::provider::{Decoder, Provider};
use turnleaf_providers::redaction::SecretSet;
use turnleaf_providers::replay::{ReplayOptions, replay};

#[path = "support/decoding.rs"]
mod decoding;
#[path = "support/fake_provider.rs"]
#[expect(dead_code, reason = "servers that misbehave are for provider_http")]
mod fake_provider;
#[path = "support/fixtures.rs"]
mod fixtures;

use fake_provider::{FakeProvider, ServerStep};
use fixtures::{FixtureRecording, recordings};

fn decoder(_: &FixtureRecording) -> Box<dyn Decoder> {
    Box::new(OllamaDecoder::for_provider("Recorded", SecretSet::default()))
}

fn replayed(body: &[u8], chunk: Option<usize>) -> Value {
    let options =
        ReplayOptions { api: "ollama".into(), dialect: None, http_status: None, chunk, with_next_message: true };
    replay(&options, body).unwrap()
}

/// Parses the lines of a recording without the decoder.
fn lines(recording: &FixtureRecording) -> Vec<Value> {
    let text = std::str::from_utf8(&recording.body).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_split_of_recording_gives_same_items() {
    let Some(recordings) = recordings("ollama_native", "ndjson") else { return };
    assert_eq!(recordings.len(), 3);
    decoding::assert_same_in_every_split(&recordings, decoder);
    for recording in recordings {
        let printed = replayed(&recording.body, None);
        assert_eq!(replayed(&recording.body, Some(7)), printed, "{}", recording.name);
    }
}

#[test]
fn every_recording_prefix_ends_and_only_last_line_completes_it() {
    let Some(recordings) = recordings("ollama_native", "ndjson") else { return };
    decoding::assert_every_prefix_ends(&recordings, decoder);
    for recording in &recordings {
        let last = recording.body.trim_ascii_end().iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        for cut in [last, last + 1, recording.body.trim_ascii_end().len() - 1] {
            let (_, outcome) = decoding::decode(decoder(recording), [&recording.body[..cut]]);
            assert!(!outcome.complete, "{} cut at {cut}", recording.name);
        }
    }
}

#[test]
fn recording_is_decoded_completely() {
    let Some(recordings) = recordings("ollama_native", "ndjson") else { return };
    for recording in recordings {
        let name = recording.name.as_str();
        let printed = replayed(&recording.body, None);
        let lines = lines(&recording);
        let last = lines.last().unwrap();
        assert_eq!((&printed["complete"], &printed["stop_reason"]), (&json!(true), &last["done_reason"]), "{name}");
        assert_eq!(printed["model"], recording.about["served_model"], "{name}");
        assert_eq!(printed["usage"]["input_tokens"], last["prompt_eval_count"], "{name}");
        assert_eq!(printed["usage"]["output_tokens"], last["eval_count"], "{name}");
        assert_eq!(printed["events"], lines.len(), "{name}");
        let all = |path: &str| lines.iter().filter_map(|line| line.pointer(path)?.as_str()).collect::<String>();
        let block = |kind: &str| {
            let blocks = printed["blocks"].as_array().unwrap();
            blocks
                .iter()
                .find(|block| block["type"] == kind)
                .and_then(|block| block[kind].as_str())
                .unwrap_or_default()
                .to_owned()
        };
        assert_eq!(block("thinking"), all("/message/thinking"), "{name}");
        assert_eq!(block("text"), all("/message/content") + &all("/response"), "{name}");
    }
}

#[test]
fn resent_history_matches_recorded_client() {
    let Some(recordings) = recordings("ollama_native", "ndjson") else { return };
    let of = |name: &str| recordings.iter().find(|recording| recording.name.ends_with(name)).unwrap();
    let messages = of("qwen3.t2").about["request"]["messages"].as_array().unwrap();
    let mut sent = messages.iter().find(|message| message["role"] == "assistant").unwrap().clone();
    let mut ours = replayed(&of("qwen3.t1").body, None)["next"][0].clone();
    // The recorded client left out the id and the index and added a type; the server accepts both forms.
    for message in [&mut sent, &mut ours] {
        for call in message["tool_calls"].as_array_mut().unwrap() {
            *call = json!({"name": call["function"]["name"], "arguments": call["function"]["arguments"]});
        }
    }
    assert_eq!(ours, sent);
}

fn provider(base_url: String) -> OllamaEndpoint {
    let endpoint = ProviderEndpoint {
        id: "box".into(),
        name: "Box".into(),
        api: ProviderApi::Ollama,
        dialect: String::new(),
        base_url,
        api_key: None,
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    };
    OllamaEndpoint::new(&endpoint, HttpClient::default())
}

#[tokio::test]
async fn requests_use_ollama_paths() {
    let tags = json!({"models": [{"name": "b:latest", "model": "b:latest"}, {"name": "a"}]});
    let script = vec![ServerStep::Status(200), ServerStep::Bytes(tags.to_string().into_bytes()), ServerStep::Fin];
    let server = FakeProvider::start(vec![script]).await;
    let provider = provider(server.base_url());
    let patience = Duration::from_secs(20);
    let listed = tokio::time::timeout(patience, provider.list_models().unwrap()).await.unwrap().unwrap();
    assert_eq!(listed.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["b:latest", "a"]);
    tokio::time::timeout(patience, provider.send("a", "{}".into())).await.unwrap().unwrap();
    let requests: Vec<(String, String)> =
        server.requests().into_iter().map(|request| (request.method, request.path)).collect();
    let expected = [("GET", "/api/tags"), ("POST", "/api/chat")];
    assert_eq!(requests, expected.map(|(method, path)| (method.to_owned(), path.to_owned())));
}
