//! Images in chats with every API: sent requests contain their bytes, stored requests their names. The tests cover
//! images of a person and of tool results, and models without vision.

use std::sync::Arc;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnleaf::domain::{Author, Block, Content, Thinking, Turn};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_platform::ids;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::provider_factory::create_provider;
use turnleaf_providers::registry::ProviderRegistry;
use turnleaf_store::Db;
use turnleaf_store::documents::blobs::{self, NewBlockBlob};
use turnleaf_store::turns::blocks::{self, BlockUpsert};
use turnleaf_store::turns::generations;

use crate::chats::{assert_complete, plain_reply};
use crate::fake_toolbox::{FakeToolbox, ToolBehavior};
use crate::test_chat::{ModelAccount, TestChat};
use crate::test_server::TestServer;
use crate::validator::pictures::decode_base64;
use crate::validator::script::{ScriptedReply, call_part, text_part, thinking_part};
use crate::validator::{ProviderRequest, ProviderValidator, pictures};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0, one";
const JPEG: &[u8] = b"\xff\xd8\xff\xc0\0\x11\x08\0\x10\0\x20, another";

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Appends an image to a message.
async fn attach(instance: &TestServer, message: &Turn, bytes: &[u8], mime: &str, alt: &str) {
    let turn = instance.service.turn(instance.owner, message.id).await.unwrap();
    let seq = u32::try_from(turn.blocks.len()).unwrap();
    let (sha256, now) = (hash(bytes), SystemClock.now());
    let image = Content::Image { blob: sha256.clone(), mime: mime.into(), alt: alt.into() };
    let block = Block::new(ids::mint(), (turn.ord, seq), Author::User, image, now);
    let mut tx = instance.db.begin().await.unwrap();
    let of = BlockUpsert { chat_id: turn.chat_id, turn_id: turn.id, block: &block };
    blocks::upsert(&mut tx, &[of], now).await.unwrap();
    blobs::put(&mut tx, &[NewBlockBlob { block: block.id, sha256: &sha256, mime, bytes }], now).await.unwrap();
    tx.commit().await.unwrap();
}

/// Returns the stored body of every request as text.
async fn stored_bodies(instance: &TestServer) -> Vec<String> {
    const BODIES: &str = "SELECT q.body FROM generation_requests q JOIN generations g ON g.id = q.generation_id ORDER BY g.started_at, g.step";
    let bodies: Vec<Vec<u8>> = match &instance.db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(BODIES).fetch_all(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(BODIES).fetch_all(writer).await.unwrap(),
    };
    bodies.into_iter().map(|body| String::from_utf8(body).unwrap()).collect()
}

/// Returns the bytes of all images in a request, in order, at any depth.
fn images_in(value: &Value) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    match value {
        Value::String(text) => {
            let data = text.split_once(";base64,").map_or(text.as_str(), |(_, data)| data);
            all.extend(decode_base64(data).filter(|bytes| [PNG, JPEG].contains(&bytes.as_slice())));
        }
        Value::Array(values) => all.extend(values.iter().flat_map(images_in)),
        Value::Object(fields) => all.extend(fields.values().flat_map(images_in)),
        _ => {}
    }
    all
}

/// Returns the messages of the last request, as the provider got it.
fn last_request(talk: &TestChat) -> Value {
    Value::Array(talk.validator.sent_replies().pop().unwrap().before)
}

/// Starts a chat whose first message has two images, and whose second reply has seen them.
async fn chat_with_image(accounts: &[ModelAccount]) -> TestChat {
    let mut talk = TestChat::new(11, accounts).await;
    talk.thinking = Thinking::High;
    let first = talk.start_reply("Look at this", [plain_reply("At what?")]).await;
    assert_complete(&talk.instance.wait_until_ended(first.assistant_turn.id).await);
    attach(&talk.instance, &first.user_turn, PNG, "image/png", "A leaf").await;
    attach(&talk.instance, &first.user_turn, JPEG, "image/jpeg", "A tree").await;
    talk
}

fn last_manifest(made: &[generations::Generation]) -> Value {
    made.last().unwrap().request_manifest.clone()
}

#[tokio::test]
async fn images_are_sent_as_bytes_and_stored_as_references() {
    for (provider, api, model) in [
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5"),
        ("openai", ProviderApi::OpenaiChat, "gpt-4o"),
        ("mistral", ProviderApi::OpenaiChat, "mistral-small-latest"),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5.1"),
        ("gemini", ProviderApi::Gemini, "gemini-2.5-flash"),
        ("ollama", ProviderApi::Ollama, "qwen3-vl:4b"),
    ] {
        let mut talk = chat_with_image(&[ModelAccount { provider, api, model }]).await;
        assert_complete(&talk.retry_and_wait([plain_reply("A leaf and a tree.")]).await);
        assert_eq!(images_in(&last_request(&talk)), [PNG, JPEG], "{model}");
        assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Quite sure.")]).await);
        assert_eq!(images_in(&last_request(&talk)), [PNG, JPEG], "{model}: the same again");
        assert_eq!(talk.validator.accepted_count(), 3, "{model}");
        let bodies = stored_bodies(&talk.instance).await;
        assert_eq!(bodies.len(), 3);
        for body in &bodies[1..] {
            for bytes in [PNG, JPEG] {
                assert!(body.contains(&format!("\\u0000blob:{}\"", hash(bytes))), "{model}: {body}");
            }
            let parsed: Value = serde_json::from_str(body).unwrap();
            assert_eq!(images_in(&parsed), Vec::<Vec<u8>>::new(), "{model}: {body}");
        }
    }
}

#[tokio::test]
async fn images_are_sent_to_other_model_after_model_break() {
    let first = ModelAccount { provider: "anthropic", api: ProviderApi::Anthropic, model: "claude-sonnet-4-5" };
    let second = ModelAccount { provider: "gemini", api: ProviderApi::Gemini, model: "gemini-2.5-flash" };
    let mut talk = chat_with_image(&[first, second]).await;
    assert_complete(&talk.retry_and_wait([plain_reply("A leaf and a tree.")]).await);
    talk.next = Some(second);
    assert_complete(&talk.send_and_wait("And you?", [plain_reply("I see them, too.")]).await);
    assert_eq!(images_in(&last_request(&talk)), [PNG, JPEG]);
    talk.validator.accepted_count();
}

#[tokio::test]
async fn images_are_described_as_text_for_model_without_vision() {
    let mut talk =
        chat_with_image(&[ModelAccount { provider: "deepseek", api: ProviderApi::OpenaiChat, model: "deepseek-chat" }])
            .await;
    assert_complete(&talk.retry_and_wait([plain_reply("I cannot see.")]).await);
    let message = &last_request(&talk)[0]["content"];
    assert_eq!(message, "Look at this\n\n[image: A leaf]\n\n[image: A tree]");
    talk.validator.accepted_count();
}

#[tokio::test]
async fn unknown_vision_support_is_learnt_from_one_repaired_refusal() {
    for (provider, api, model) in [
        ("llamacpp", ProviderApi::OpenaiChat, "some.gguf"),
        ("ollama", ProviderApi::Ollama, "llama3.2"),
        ("ollama-v1", ProviderApi::OpenaiChat, "x-vl"),
    ] {
        let mut talk = chat_with_image(&[ModelAccount { provider, api, model }]).await;
        let turn = talk.retry_and_wait([plain_reply("I read of a leaf and a tree.")]).await;
        assert_complete(&turn);
        let sees = model == "x-vl";
        let notice = turn.blocks.iter().find_map(|block| match &block.content {
            Content::Other(fields) => fields.get("kind").and_then(Value::as_str),
            _ => None,
        });
        assert_eq!(notice, (!sees).then_some("images_not_seen"), "{model}");
        assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Quite sure.")]).await);
        assert_eq!(talk.validator.violations().len(), usize::from(!sees), "{model}: {:?}", talk.validator.violations());
        let is_described = last_request(&talk)[0]["content"].to_string().contains("[image: A leaf]");
        assert_eq!((is_described, images_in(&last_request(&talk)).len()), (!sees, if sees { 2 } else { 0 }), "{model}");
        let made = generations::list(&talk.instance.db, talk.instance.owner, turn.id).await.unwrap();
        let expected = if sees { Value::Null } else { json!("images_not_seen") };
        assert_eq!(last_manifest(&made)["repair"], expected, "{model}");
        if !sees {
            let attached = &last_manifest(&made)["turns"][0]["attachments"];
            assert_eq!(
                (attached[0]["shown_as"].as_str(), attached[1]["shown_as"].as_str()),
                (Some("alt_text"), Some("alt_text"))
            );
        }
    }
}

/// Starts a chat with a tool that returns two images.
async fn chat_with_image_tool(at: ModelAccount) -> TestChat {
    let validator = ProviderValidator::start(5).await;
    let provider = create_provider(&validator.endpoint(at.provider, at.api), HttpClient::default());
    let lab = FakeToolbox::default()
        .with_tool("look", ToolBehavior::ReturnsImages("Here they are.", &[PNG, JPEG]))
        .with_tool("fail", ToolBehavior::Fails)
        .with_tool("shoot", ToolBehavior::FailsWithImages("The page did not load.", &[PNG]));
    let registry = ProviderRegistry::from_providers(vec![(provider, vec![at.model.to_owned()])]);
    let instance = TestServer::with_tools(registry, Arc::new(lab.clone())).await;
    let chat = Some(instance.chat_with_tools(&lab.offered_tools()).await);
    let (thinking, params) = (Thinking::High, Default::default());
    TestChat { instance, validator, chat, leaf: None, next: None, thinking, params }
}

#[tokio::test]
async fn result_images_are_sent_where_api_supports_them() {
    for (provider, api, model, is_shown) in [
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5", true),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5.1", true),
        ("responses-kept", ProviderApi::OpenaiResponses, "gpt-5.1", true),
        ("gemini", ProviderApi::Gemini, "gemini-3-flash-preview", true),
        ("gemini", ProviderApi::Gemini, "gemini-2.5-flash", false),
        ("openai", ProviderApi::OpenaiChat, "gpt-4o", true),
        ("ollama", ProviderApi::Ollama, "qwen3-vl:4b", false),
    ] {
        let mut talk = chat_with_image_tool(ModelAccount { provider, api, model }).await;
        let looks = ScriptedReply::new([
            thinking_part("I look."),
            call_part("lab__look", json!({})),
            call_part("lab__fail", json!({})),
        ]);
        let turn =
            talk.send_and_wait("What is there?", [looks, ScriptedReply::new([text_part("A leaf and a tree.")])]).await;
        assert_complete(&turn);
        let images: &[&[u8]] = if is_shown { &[PNG, JPEG] } else { &[] };
        assert_eq!(images_in(&last_request(&talk)), images, "{model}");
        let words = last_request(&talk).to_string();
        assert_eq!(words.contains("shown to the user, not to you"), !is_shown, "{model}: {words}");
        assert_complete(&talk.send_and_wait("Sure?", [plain_reply("Quite sure.")]).await);
        assert_eq!(images_in(&last_request(&talk)), images, "{model}: the same again");
        talk.validator.accepted_count();
        for body in stored_bodies(&talk.instance).await {
            assert_eq!(images_in(&serde_json::from_str(&body).unwrap()), Vec::<Vec<u8>>::new(), "{model}: {body}");
        }
        let made = generations::list(&talk.instance.db, talk.instance.owner, turn.id).await.unwrap();
        let turns = last_manifest(&made)["turns"].clone();
        let attached = turns.as_array().unwrap().last().unwrap()["attachments"].clone();
        assert_eq!(attached.as_array().map_or(0, Vec::len), images.len(), "{model}: {turns}");
        talk.instance.check_invariants().await;
    }
}

#[tokio::test]
async fn images_of_failed_call_are_sent() {
    for (provider, api, model) in [
        ("anthropic", ProviderApi::Anthropic, "claude-sonnet-4-5"),
        ("responses", ProviderApi::OpenaiResponses, "gpt-5.1"),
        ("gemini", ProviderApi::Gemini, "gemini-3-flash-preview"),
        ("openai", ProviderApi::OpenaiChat, "gpt-4o"),
    ] {
        let mut talk = chat_with_image_tool(ModelAccount { provider, api, model }).await;
        let shoots = ScriptedReply::new([thinking_part("I look."), call_part("lab__shoot", json!({}))]);
        let replies = [shoots, ScriptedReply::new([text_part("An empty page.")])];
        assert_complete(&talk.send_and_wait("What is there?", replies).await);
        assert_eq!(images_in(&last_request(&talk)), [PNG], "{model}");
        assert!(last_request(&talk).to_string().contains("The page did not load."), "{model}");
        talk.validator.accepted_count();
    }
}

/// The validator's rules for images, with a request that breaks each.
#[test]
fn every_rule_about_images_has_request_that_it_refuses() {
    let png = turnleaf_providers::base64::encode(PNG);
    let url = format!("data:image/png;base64,{png}");
    let judged = |path: &str, body: Value| {
        let request = ProviderRequest {
            provider: path.split('/').nth(1).unwrap().into(),
            path: path.into(),
            headers: Vec::new(),
            body,
        };
        pictures::check_images(&request).map_err(|refusal| refusal.message)
    };
    let block = |mime: &str, data: &str| json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}});
    let chat_body = |role: &str, content: Value| json!({"messages": [{"role": role, "content": content}]});
    let result = |content: Value, is_error: bool| json!([{"type": "tool_result", "tool_use_id": "a", "content": content, "is_error": is_error}]);
    let part = json!({"type": "image_url", "image_url": {"url": url}});
    let item = |part: Value| json!({"input": [{"role": "user", "content": [part]}]});
    let inline = |mime: &str| json!({"inlineData": {"mimeType": mime, "data": png}});
    let answered = json!({"contents": [{"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}, "parts": [inline("image/png")]}}]}]});
    let native = |image: &str, role: &str| json!({"model": "x-vl", "messages": [{"role": role, "content": "", "images": [image]}]});
    let (messages, chat, native_path) = ("/anthropic/v1/messages", "/openai/v1/chat/completions", "/ollama/api/chat");
    let (responses, gemini) =
        ("/responses/v1/responses", "/gemini/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse");
    let older = "/gemini/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    for (path, body) in [
        (messages, chat_body("user", json!([block("image/png", &png)]))),
        (messages, chat_body("user", result(json!([{"type": "text", "text": "x"}, block("image/png", &png)]), false))),
        (chat, chat_body("user", json!([part]))),
        (responses, item(json!({"type": "input_image", "image_url": url, "detail": "auto"}))),
        (gemini, json!({"contents": [{"role": "user", "parts": [inline("image/png")]}]})),
        (gemini, answered.clone()),
        (native_path, native(&png, "user")),
    ] {
        assert_eq!(judged(path, body), Ok(()), "{path}");
    }
    let large = turnleaf_providers::base64::encode(&[PNG, &vec![0; 4 << 20]].concat());
    for (path, body, words) in [
        (messages, chat_body("user", json!([block("image/jpeg", &png)])), "appears to be a image/png"),
        (messages, chat_body("user", json!([block("image/png", "AA")])), "invalid base64"),
        (messages, chat_body("user", json!([block("image/png", "AAB=")])), "invalid base64"),
        (messages, chat_body("user", json!([block("image/png", &large)])), "image exceeds 5 MB"),
        (messages, chat_body("user", json!([block("image/svg+xml", &png)])), "unsupported media type"),
        (messages, chat_body("assistant", json!([block("image/png", &png)])), "only permitted in user"),
        (messages, chat_body("user", result(json!([block("image/png", &png)]), true)), "if `is_error`"),
        (messages, chat_body("user", json!("\0blob:00")), "instead of its bytes"),
        (chat, chat_body("tool", json!([part])), "only allowed for messages with role 'user'"),
        (chat, chat_body("user", json!([{"type": "image_url", "image_url": {"url": "https://a/b.png"}}])), "data URL"),
        (chat, chat_body("user", json!([{"type": "text", "text": ""}])), "Invalid value: 'text'"),
        (responses, item(json!({"type": "input_image", "image_url": url})), "Unknown parameter"),
        (older, answered, "not supported for this model"),
        (gemini, json!({"contents": [{"role": "user", "parts": [inline("image/gif")]}]}), "unsupported media type"),
        (native_path, native(&url, "user"), "illegal base64"),
        (native_path, native(&png, "tool"), "belong to what a person says"),
    ] {
        let refused = judged(path, body).unwrap_err();
        assert!(refused.contains(words), "{words:?} was expected and not {refused:?}");
    }
}
