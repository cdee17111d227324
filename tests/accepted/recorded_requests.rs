//! Validates the validator against real providers: recorded requests that were accepted are accepted, and the
//! recorded one that was refused is refused with the same message.

use serde_json::{Value, json};

use crate::fixtures;
use crate::validator::memory::{ProviderMemory, SentReply};
use crate::validator::{KEY, ProviderRequest, protocol_of};

fn read(name: &str) -> Option<Value> {
    let path = fixtures::fixtures_root().join("context_pairs").join(name);
    Some(serde_json::from_slice(&std::fs::read(path).ok()?).unwrap())
}

/// Converts a recording into the request that this server's validator would get.
fn recorded_request(about: &Value) -> ProviderRequest {
    let provider = about["provider"].as_str().unwrap();
    let endpoint = about["endpoint"].as_str().unwrap();
    let (provider, path) = match about["api"].as_str().unwrap() {
        "anthropic" => (provider, "v1/messages".to_owned()),
        "openai_responses" => (provider, "v1/responses".to_owned()),
        "gemini" => {
            let model = endpoint.rsplit('/').next().unwrap().split(':').next().unwrap();
            (provider, format!("v1beta/models/{model}:streamGenerateContent?alt=sse"))
        }
        _ => (provider, "v1/chat/completions".to_owned()),
    };
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    ProviderRequest {
        provider: provider.to_owned(),
        path: format!("/{provider}/{path}"),
        headers: vec![
            header("x-api-key", KEY),
            header("x-goog-api-key", KEY),
            header("authorization", &format!("Bearer {KEY}")),
            header("anthropic-version", "2023-06-01"),
        ],
        body: about["request"].clone(),
    }
}

/// Returns the messages of a response in the form that the next request must contain.
fn recorded_reply(response: &Value) -> Vec<Value> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    if let Some(choice) = response.pointer("/choices/0/message") {
        return vec![choice.clone()];
    }
    if let Some(content) = response.pointer("/candidates/0/content") {
        return vec![content.clone()];
    }
    if response["output"].is_array() { list(&response["output"]) } else { list(&response["content"]) }
}

#[test]
fn recorded_requests_get_recorded_verdicts() {
    if read("responses_summary_replay.t1.json").is_none() {
        eprintln!("skipped: fixtures not found ({})", fixtures::fixtures_root().display());
        return;
    }
    let sessions = [
        "anthropic_mcp_replay",
        "anthropic_opus47_empty_thinking_replay",
        "anthropic_redacted_replay",
        "anthropic_sonnet5_empty_thinking_replay",
        "gemini3_code_execution_replay",
        "gemini3flash_signature_part_without_text",
        "gemini3flash_thought_with_signature",
        "gemini3pro_thought_text_and_text_signature",
        "mistral_thinking_chunks_replay",
        "openrouter_signed_reasoning_details",
        "responses_modified_history_400",
        "responses_summary_replay",
        "zai_preserved_thinking",
    ];
    for session in sessions {
        let turn = |number: u32, ending: &str| read(&format!("{session}.t{number}{ending}")).unwrap();
        let (first, second) = (recorded_request(&turn(1, ".json")), recorded_request(&turn(2, ".json")));
        let rules = protocol_of(&second).unwrap();
        assert_eq!(rules.judge(&first, &ProviderMemory::default()), Ok(()), "{session}.t1");
        let memory = ProviderMemory {
            sent: vec![SentReply {
                provider: first.provider.clone(),
                model: rules.model(&second).to_owned(),
                before: rules.messages(&first).to_vec(),
                previous_response_id: String::new(),
                is_stored: false,
                fixed_fields: rules.fixed_fields(&first),
                content: recorded_reply(&turn(1, ".response.json")),
                text: String::new(),
                secrets: Vec::new(),
                is_cut: false,
                is_unfinished: false,
                is_unanswered: false,
                is_paused: false,
            }],
        };
        let judged = rules.judge(&second, &memory);
        if turn(2, ".json")["status"] == json!(200) {
            assert_eq!(judged, Ok(()), "{session}.t2");
        } else {
            let document = rules.error_document(&judged.unwrap_err());
            assert_eq!(document["error"]["message"], turn(2, ".response.json")["error"]["message"], "{session}.t2");
        }
    }
}
