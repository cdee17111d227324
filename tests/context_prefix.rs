//! Prefix stability: conversations made of recorded replies, whole or cut at any byte, for every API. The messages of
//! a request are a prefix of the next request's messages, byte for byte (docs/reference/providers.md P4), and an
//! interrupted reply leaves nothing in them that its API is known to refuse (docs/reference/providers.md 2.6).

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use bytes::Bytes;
use chrono::DateTime;
use serde_json::{Value, json};
use turnleaf::domain::fixtures as domain_fixtures;
use turnleaf::domain::turns::fold;
use turnleaf::domain::{Author, Block, BlockId, BlockState, Content, Role, Thinking, Turn, TurnStatus};
use turnleaf_platform::endpoint::{ProviderApi, ProviderEndpoint};
use turnleaf_providers::anthropic::MessagesEndpoint;
use turnleaf_providers::builder::{BlockBuilder, BlockPosition};
use turnleaf_providers::gemini::GeminiEndpoint;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::ollama::OllamaEndpoint;
use turnleaf_providers::openai_chat::ChatEndpoint;
use turnleaf_providers::openai_responses::ResponsesEndpoint;
use turnleaf_providers::provider::{ChatRequest, HistoryTurn, Provider};
use uuid::Uuid;

#[expect(dead_code, reason = "only the dice")]
#[path = "support/decoding.rs"]
mod decoding;
#[path = "support/fixtures.rs"]
mod fixtures;

use decoding::DamageRng;
use fixtures::recordings;

/// The number of conversations that are tried for each API.
const CONVERSATIONS: usize = 60;
/// The number of exchanges in each conversation.
const EXCHANGES: usize = 5;

fn endpoint(api: ProviderApi, dialect: &str) -> ProviderEndpoint {
    ProviderEndpoint {
        id: "any".into(),
        name: "Any".into(),
        api,
        dialect: dialect.into(),
        base_url: "http://127.0.0.1:9/v1".into(),
        api_key: None,
        models: Vec::new(),
        default_model: None,
        local_network: true,
        ..ProviderEndpoint::default()
    }
}

/// Decodes these bytes into a reply that ended as a stopped turn does: open blocks are closed, and every call has a
/// result.
fn reply(provider: &dyn Provider, raw: &[u8], number: u64) -> HistoryTurn {
    let mut minted = u128::from(number) << 64;
    let place = BlockPosition { turn_ord: 1, next_seq: 0, generation_id: Uuid::nil().into() };
    let mut builder = BlockBuilder::new(place, move || {
        minted += 1;
        (BlockId::from_uuid(Uuid::from_u128(minted)), DateTime::UNIX_EPOCH)
    });
    let (mut decoder, mut items, mut events) = (provider.decoder(), Vec::new(), Vec::new());
    decoder.feed(raw, &mut items);
    let outcome = decoder.finish(&mut items);
    items.into_iter().for_each(|item| builder.push(item, None, &mut events));
    builder.close(if outcome.complete { BlockState::Done } else { BlockState::Aborted }, &mut events);
    let mut turn: Turn = domain_fixtures::turn(2, Role::Assistant, TurnStatus::Streaming);
    turn.last_event_seq = 0;
    fold::fold(&mut turn, (1..).zip(&events));
    let answers: Vec<Block> = turn
        .blocks
        .iter()
        .filter_map(|call| {
            let Content::ToolUse { tool_use_id, tool_name, .. } = &call.content else { return None };
            let content = domain_fixtures::tool_result(tool_use_id, tool_name, json!("cancelled by the user"));
            Some(Block {
                parent_block_id: Some(call.id),
                author: Author::Tool,
                ..domain_fixtures::block(2, 900, content)
            })
        })
        .collect();
    turn.blocks.extend(answers);
    let raw = vec![Bytes::copy_from_slice(raw).into()];
    HistoryTurn { raw, ..HistoryTurn::new(turn.id, Role::Assistant, turn.blocks) }
}

fn question(number: usize) -> HistoryTurn {
    let turn = domain_fixtures::user_turn(1, &format!("Question {number}"));
    HistoryTurn::new(turn.id, Role::User, turn.blocks)
}

fn messages(provider: &dyn Provider, model: &str, list: &str, history: &[HistoryTurn]) -> Vec<Value> {
    let request = ChatRequest {
        system: Some("Be kind.".into()),
        thinking: Thinking::Medium,
        is_thinking_mode: true,
        ..ChatRequest::new(model, history.to_vec(), provider.capabilities(model))
    };
    let body: Value = serde_json::from_slice(&provider.build(&request)).unwrap();
    body[list].as_array().unwrap().clone()
}

/// Serializes a request's messages without the characters that close the last one, because the next question may be
/// merged into that message when the reply between them left nothing.
fn open_prefix(messages: &[Value]) -> String {
    let written = Value::from(messages.to_vec()).to_string();
    written.trim_end_matches(['"', '}', ']']).to_owned()
}

/// Builds conversations out of recorded bodies and compares each request with the next. Returns all messages of each
/// conversation.
fn conversations(provider: &dyn Provider, model: &str, list: &str, bodies: &[Vec<u8>], seed: u64) -> Vec<Vec<Value>> {
    let mut dice = DamageRng(seed);
    let mut all = Vec::new();
    for _ in 0..CONVERSATIONS {
        let mut history = vec![question(0)];
        let mut before: Option<String> = None;
        for number in 1..=EXCHANGES {
            let body = &bodies[dice.next_below(bodies.len())];
            let raw = match dice.next_below(4) {
                0 => body.as_slice(),
                1 => &body[..dice.next_below(body.len().min(200))],
                _ => &body[..dice.next_below(body.len())],
            };
            history.push(reply(provider, raw, number as u64));
            history.push(question(number));
            let sent = messages(provider, model, list, &history);
            let written = Value::from(sent.clone()).to_string();
            assert_eq!(sent, messages(provider, model, list, &history), "the same path gives the same bytes");
            if let Some(before) = before.replace(open_prefix(&sent)) {
                assert!(written.starts_with(&before), "not a prefix:\n{before}\n{written}");
            }
            if number == EXCHANGES {
                all.push(sent);
            }
        }
    }
    all
}

fn bodies(folders: &[&str], ending: &str, is_meant: impl Fn(&Value) -> bool) -> Option<Vec<Vec<u8>>> {
    let mut bodies = Vec::new();
    for folder in folders {
        let meant = recordings(folder, ending)?.into_iter().filter(|recording| is_meant(&recording.about));
        bodies.extend(meant.map(|recording| recording.body).filter(|body| !body.is_empty()));
    }
    assert!(!bodies.is_empty());
    Some(bodies)
}

fn roles_alternate(messages: &[Value]) {
    for pair in messages.windows(2) {
        assert_ne!(pair[0]["role"], pair[1]["role"], "{pair:?}");
    }
}

fn list<'a>(value: &'a Value, key: &str) -> Vec<&'a Value> {
    value[key].as_array().into_iter().flatten().collect()
}

#[test]
fn anthropic_conversations() {
    let no_pause = |about: &Value| !about["features"].to_string().contains("pause_turn");
    let Some(bodies) = bodies(&["anthropic"], "sse", no_pause) else { return };
    let provider = MessagesEndpoint::new(&endpoint(ProviderApi::Anthropic, ""), HttpClient::default());
    for sent in conversations(&provider, "claude-opus-4-7", "messages", &bodies, 0x616e) {
        roles_alternate(&sent);
        for (at, message) in sent.iter().enumerate() {
            let content = list(message, "content");
            assert!(!content.is_empty());
            let text = |block: &Value, key: &str| block[key].as_str().unwrap_or_default().to_owned();
            for block in &content {
                match block["type"].as_str().unwrap() {
                    "text" => assert!(!text(block, "text").trim().is_empty(), "{block}"),
                    "thinking" => assert!(!text(block, "signature").is_empty() && block["thinking"].is_string()),
                    "tool_use" => assert!(block["input"].is_object(), "{block}"),
                    _ => {}
                }
            }
            if message["role"] == "assistant" {
                let last = content.last().unwrap()["type"].as_str().unwrap();
                assert!(!matches!(last, "thinking" | "redacted_thinking"), "{message}");
                let calls: Vec<String> =
                    content.iter().filter(|block| block["type"] == "tool_use").map(|block| text(block, "id")).collect();
                let answers: Vec<String> = list(&sent[at + 1], "content")
                    .into_iter()
                    .take_while(|block| block["type"] == "tool_result")
                    .map(|block| text(block, "tool_use_id"))
                    .collect();
                assert_eq!(calls, answers);
            }
        }
    }
}

#[test]
fn responses_conversations() {
    let Some(bodies) = bodies(&["openai_responses"], "sse", |_| true) else { return };
    let provider = ResponsesEndpoint::new(&endpoint(ProviderApi::OpenaiResponses, ""), HttpClient::default());
    for sent in conversations(&provider, "gpt-5", "input", &bodies, 0x7265) {
        for (at, item) in sent.iter().enumerate() {
            assert_ne!(item["id"], "", "{item}");
            if item["type"] == "reasoning" {
                let follower = sent[at..].iter().find(|item| item["type"] != "reasoning").unwrap();
                assert!(item["summary"].is_array(), "{item}");
                assert_ne!(follower["role"], "user", "reasoning without what it led to: {item}");
                assert!(follower["type"].is_string(), "a cut text: {follower}");
            }
            if matches!(item["type"].as_str(), Some("function_call" | "custom_tool_call")) {
                let answers = sent[at..].iter().filter(|other| {
                    other["call_id"] == item["call_id"] && other["type"].as_str().unwrap().ends_with("_output")
                });
                assert_eq!(answers.count(), 1, "{item}");
            }
        }
    }
}

#[test]
fn gemini_conversations() {
    let Some(bodies) = bodies(&["gemini"], "sse", |_| true) else { return };
    let provider = GeminiEndpoint::new(&endpoint(ProviderApi::Gemini, ""), HttpClient::default());
    for sent in conversations(&provider, "gemini-3-pro", "contents", &bodies, 0x6765) {
        roles_alternate(&sent);
        for (at, content) in sent.iter().enumerate() {
            let parts = list(content, "parts");
            assert!(!parts.is_empty());
            let count = |parts: &[&Value], key: &str| parts.iter().filter(|part| part.get(key).is_some()).count();
            assert!(
                parts.iter().all(|part| part["thought"] != true || part["thoughtSignature"].is_string()),
                "{content}"
            );
            if content["role"] == "model" {
                let answers = list(&sent[at + 1], "parts");
                assert_eq!(count(&parts, "functionCall"), count(&answers, "functionResponse"), "{content}");
            }
        }
    }
}

#[test]
fn chat_conversations() {
    for dialect in ["openai", "deepseek", "openrouter", "mistral", "vllm"] {
        let Some(bodies) = bodies(&["openai_chat", "openai_compat"], "sse", |_| true) else { return };
        let provider = ChatEndpoint::new(&endpoint(ProviderApi::OpenaiChat, dialect), HttpClient::default());
        for sent in conversations(&provider, "m", "messages", &bodies, 0x6368) {
            for (at, message) in sent.iter().enumerate() {
                let calls = list(message, "tool_calls");
                if message["role"] == "user" {
                    assert_ne!(sent.get(at + 1).map(|next| &next["role"]), Some(&json!("user")));
                }
                for (call, answer) in calls.iter().zip(&sent[at + 1..]) {
                    assert_eq!((&answer["role"], &answer["tool_call_id"]), (&json!("tool"), &call["id"]));
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    assert!(serde_json::from_str::<Value>(arguments).is_ok(), "{arguments}");
                }
                assert!(sent.len() > at + calls.len());
                if message["role"] == "assistant" {
                    let has_value = |key: &str| message.get(key).is_some_and(|value| !value.is_null() && value != "");
                    assert!(has_value("content") || has_value("refusal") || !calls.is_empty(), "{message}");
                }
            }
        }
    }
}

#[test]
fn ollama_conversations() {
    let Some(bodies) = bodies(&["ollama_native"], "ndjson", |_| true) else { return };
    let provider = OllamaEndpoint::new(&endpoint(ProviderApi::Ollama, ""), HttpClient::default());
    for sent in conversations(&provider, "qwen3", "messages", &bodies, 0x6f6c) {
        for (at, message) in sent.iter().enumerate() {
            let calls = list(message, "tool_calls");
            let answers = sent[at + 1..].iter().take_while(|answer| answer["role"] == "tool").count();
            if message["role"] == "assistant" {
                assert_eq!(calls.len(), answers);
                assert!(!calls.is_empty() || message["content"] != "", "{message}");
            }
        }
    }
}
