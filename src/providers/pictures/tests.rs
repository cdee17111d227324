//! Tests of images in the requests of every API, and of texts that resemble image names.

use bytes::Bytes;
use serde_json::{Value, json};

use super::*;
use crate::history::fixtures::{block, result_block, tool_use_block, turn};
use crate::openai_chat::dialect::Dialect;
use crate::provider::HistoryTurn;
use crate::{anthropic, gemini, ollama, openai_chat, openai_responses};
use turnleaf_domain::documents::image_type::detect_image_type;
use turnleaf_domain::providers::capabilities::ImageBounds;
use turnleaf_domain::{Block, Capabilities, Failure, FailureKind, ModelParams, TurnId};

const LEAF: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02, a leaf";
const TREE: &[u8] = b"GIF89a\x09\0\x04\0, a tree";

fn shown(bytes: &'static [u8]) -> InputImage {
    let image = GeneratedImage::parse(&base64::encode(bytes), None).unwrap();
    InputImage {
        sha256: image.sha256,
        mime: image.mime.to_owned(),
        bytes: image.bytes,
        alt: format!("of {}", bytes.len()),
    }
}

fn image(id: u128, bytes: &'static [u8]) -> Block {
    let InputImage { sha256, mime, alt, .. } = shown(bytes);
    block(id, Content::Image { blob: sha256, mime, alt }, None)
}

fn words(id: u128, text: &str) -> Block {
    block(id, Content::text(text), None)
}

/// Returns a message with these blocks, in which the images with these ids are attached.
fn user_turn(blocks: Vec<Block>, seen: &[(u128, &'static [u8])]) -> HistoryTurn {
    let mut message = turn(Role::User, blocks, &[]);
    for (id, bytes) in seen {
        message.attached.insert(words(*id, "").id, AttachmentContent::Image(shown(bytes)));
    }
    message
}

fn chat_request(model: &str, history: Vec<HistoryTurn>) -> ChatRequest {
    let params = ModelParams { max_tokens: Some(100), ..ModelParams::default() };
    ChatRequest { params, ..ChatRequest::new(model, history, Capabilities::default()) }
}

fn json_of(body: &Bytes) -> Value {
    serde_json::from_slice(body).unwrap()
}

/// Returns the request of every API, as it is stored and as it is sent.
fn bodies_by_api(request: &ChatRequest) -> Vec<(&'static str, Bytes, Bytes)> {
    let chat = |name: &str| openai_chat::request::body(Dialect::from_name(name).unwrap(), request);
    [
        ("anthropic", anthropic::request::body(request, true)),
        ("openai", chat("openai")),
        ("generic", chat("generic")),
        ("responses", openai_responses::request::body(request, false, false)),
        ("gemini", gemini::request::body(request)),
        ("ollama", ollama::request::body(request)),
    ]
    .map(|(api, body)| (api, body.clone(), insert_image_bytes(&body, request)))
    .into()
}

/// Returns the content of the first message.
fn content(api: &str, body: &Bytes) -> Value {
    let body = json_of(body);
    match api {
        "gemini" => body["contents"][0]["parts"].clone(),
        "responses" => body["input"][0]["content"].clone(),
        "ollama" => json!([body["messages"][0]["content"], body["messages"][0]["images"]]),
        _ => body["messages"][0]["content"].clone(),
    }
}

/// Returns the parts as each API writes them: text, or the bytes of an image with their type.
fn expected(api: &str, parts: &[(&str, &[u8])]) -> Value {
    let part = |(text, bytes): &(&str, &[u8])| {
        let (mime, data) = (detect_image_type(bytes).unwrap_or_default(), base64::encode(bytes));
        let url = format!("data:{mime};base64,{data}");
        match (api, bytes.is_empty()) {
            ("anthropic", false) => {
                json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
            }
            ("gemini", true) => json!({"text": text}),
            ("gemini", false) => json!({"inlineData": {"mimeType": mime, "data": data}}),
            ("responses", true) => json!({"type": "input_text", "text": text}),
            ("responses", false) => json!({"type": "input_image", "image_url": url, "detail": "auto"}),
            (_, true) => json!({"type": "text", "text": text}),
            (_, false) => json!({"type": "image_url", "image_url": {"url": url}}),
        }
    };
    match (api, parts) {
        ("ollama", _) => {
            let texts: Vec<&str> = parts.iter().filter(|part| part.1.is_empty()).map(|part| part.0).collect();
            let images: Vec<String> =
                parts.iter().filter(|part| !part.1.is_empty()).map(|part| base64::encode(part.1)).collect();
            json!([texts.join("\n\n"), if images.is_empty() { Value::Null } else { json!(images) }])
        }
        ("openai" | "generic" | "responses", [(text, [])]) => json!(text),
        _ => parts.iter().map(part).collect(),
    }
}

#[test]
fn images_keep_their_position() {
    let none: &[u8] = b"";
    for (case, turn, parts) in [
        ("first", user_turn(vec![image(1, LEAF), words(2, "What?")], &[(1, LEAF)]), vec![("", LEAF), ("What?", none)]),
        ("last", user_turn(vec![words(1, "What?"), image(2, LEAF)], &[(2, LEAF)]), vec![("What?", none), ("", LEAF)]),
        (
            "between, and twice the same",
            user_turn(
                vec![words(1, "a"), image(2, LEAF), words(3, "b"), image(4, TREE), image(5, LEAF)],
                &[(2, LEAF), (4, TREE), (5, LEAF)],
            ),
            vec![("a", none), ("", LEAF), ("b", none), ("", TREE), ("", LEAF)],
        ),
        ("alone", user_turn(vec![words(1, " "), image(2, TREE)], &[(2, TREE)]), vec![("", TREE)]),
        ("unseen", user_turn(vec![words(1, "a"), image(2, LEAF)], &[]), vec![("a\n\n[image: of 32]", none)]),
        (
            "seen in part",
            user_turn(vec![image(1, LEAF), image(2, TREE), words(3, "b")], &[(2, TREE)]),
            vec![("[image: of 32]", none), ("", TREE), ("b", none)],
        ),
    ] {
        let request = chat_request("m", vec![turn]);
        for (api, stored, wire) in bodies_by_api(&request) {
            assert_eq!(content(api, &wire), expected(api, &parts), "{api}: {case}");
            let seen = parts.iter().filter(|part| !part.1.is_empty()).count();
            let marks = String::from_utf8(stored.to_vec()).unwrap().matches(MARK_IN_JSON).count();
            assert_eq!(marks, seen, "{api}: {case}");
            for bytes in [LEAF, TREE] {
                assert!(!stored.windows(20).any(|part| base64::encode(bytes).as_bytes().starts_with(part)), "{api}");
            }
            assert_eq!(bodies_by_api(&request).iter().find(|known| known.0 == api).unwrap().2, wire, "the same again");
        }
    }
}

#[test]
fn adjacent_messages_merge_with_their_images() {
    let texts = |a: &str, b: &str| vec![user_turn(vec![words(1, a)], &[]), user_turn(vec![words(2, b)], &[])];
    let request = chat_request("m", texts("a", "b"));
    for (api, _, wire) in bodies_by_api(&request) {
        if matches!(api, "openai" | "generic" | "responses") {
            assert_eq!(content(api, &wire), "a\n\nb", "{api}");
        }
    }
    let request = chat_request(
        "m",
        vec![user_turn(vec![words(1, "a"), image(2, LEAF)], &[(2, LEAF)]), user_turn(vec![words(3, "b")], &[])],
    );
    for (api, _, wire) in bodies_by_api(&request) {
        assert_eq!(content(api, &wire), expected(api, &[("a", b""), ("", LEAF), ("b", b"")]), "{api}");
    }
}

/// A text that resembles an image name is never replaced, whatever its source: texts have no NUL, and a name is a
/// complete string.
#[test]
fn text_resembling_image_name_is_never_replaced() {
    let (sha, other) = (shown(LEAF).sha256, shown(TREE).sha256);
    let hostile = [
        format!(r"\u0000blob:{sha}"),
        format!(r#"\u0000blob:{sha}""#),
        format!(r#""\u0000blob:{sha}""#),
        format!(r"\\u0000blob:{sha}"),
        format!(r"data:image/png;base64,\u0000blob:{sha}"),
        format!("\u{2400}blob:{sha}"),
        format!("blob:{sha}"),
        format!("; \u{1}\u{2400}blob:{sha}"),
        format!("a\0blob:{sha}"),
        format!("\0blob:{other}"),
        format!("\0blob:{}", &sha[..63]),
        format!("\0blob:{sha}b"),
        "é".repeat(40) + r"\u0000blob:é" + &"é".repeat(40),
    ];
    for text in hostile {
        let request = chat_request("m", vec![user_turn(vec![words(1, &text), image(2, LEAF)], &[(2, LEAF)])]);
        for (api, stored, wire) in bodies_by_api(&request) {
            assert_eq!(content(api, &wire), expected(api, &[(&text, b""), ("", LEAF)]), "{api}: {text:?}");
            let without = chat_request("m", vec![user_turn(vec![words(1, &text)], &[])]);
            assert_eq!(insert_image_bytes(&stored, &without), stored, "{api}: only images of this request");
        }
    }
}

/// Property test with random texts made of pieces of names: the text is sent unchanged, and the images arrive.
#[test]
fn text_without_nul_is_sent_unchanged() {
    let sha = shown(LEAF).sha256;
    let pieces = [
        "\\",
        "\"",
        "u0000",
        "\\u0000",
        "blob:",
        "\u{2400}",
        ";base64,",
        "data:image/png",
        &sha,
        "\n",
        "é",
        "\\\\",
        " ",
    ];
    let mut dice = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |bound: usize| {
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % bound as u64) as usize
    };
    for _ in 0..500 {
        let text: String = (0..=next(12)).map(|_| pieces[next(pieces.len())]).collect();
        let text = format!("x{text}");
        let request = chat_request("m", vec![user_turn(vec![image(1, LEAF), words(2, &text)], &[(1, LEAF)])]);
        for (api, _, wire) in bodies_by_api(&request) {
            assert_eq!(content(api, &wire), expected(api, &[("", LEAF), (&text, b"")]), "{api}: {text:?}");
        }
    }
}

#[test]
fn model_cannot_inject_image_name_into_its_calls() {
    let sha = shown(LEAF).sha256;
    let arguments = json!({"a": format!("\0blob:{sha}")}).to_string();
    let stream: String = [
        json!({"type": "message_start", "message": {"id": "m", "model": "c", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": arguments}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ]
    .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
    .concat();
    let history = vec![
        user_turn(vec![image(1, LEAF)], &[(1, LEAF)]),
        turn(Role::Assistant, vec![tool_use_block(2), result_block(3, 2, json!("x"), false)], &[stream]),
    ];
    let request = chat_request("claude-sonnet-4-5", history);
    let wire = json_of(&insert_image_bytes(&anthropic::request::body(&request, true), &request));
    assert_eq!(wire["messages"][1]["content"][0]["input"]["a"], format!("\u{2400}blob:{sha}"));
}

/// Returns a path with a reply whose tool call returned two images.
fn turns_with_image_result(raw: String) -> Vec<HistoryTurn> {
    let mut result = result_block(3, 2, json!("Here."), false);
    let image = |bytes| {
        let InputImage { sha256, mime, .. } = shown(bytes);
        json!({"blob": sha256, "mime": mime, "alt": "Image"})
    };
    if let Content::ToolResult { metadata, .. } = &mut result.content {
        *metadata = json!({"images": [image(LEAF), image(TREE)]});
    }
    let id = result.id;
    let mut reply = turn(Role::Assistant, vec![tool_use_block(2), result], &[raw]);
    reply.attached.insert(id, AttachmentContent::Images(vec![shown(LEAF)]));
    vec![user_turn(vec![words(1, "Look")], &[]), reply]
}

#[test]
fn tool_result_images_accompany_result_text() {
    let result_text = "Here.\n\n[Image (image/png): attached]\n[Image (image/gif): shown to the user, not to you]";
    let data = base64::encode(LEAF);
    let of = |stored: Bytes, request: &ChatRequest| json_of(&insert_image_bytes(&stored, request));
    let messages = json!({"type": "message", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}], "stop_reason": "tool_use"});
    let request = chat_request("claude-sonnet-4-5", turns_with_image_result(messages.to_string()));
    let body = of(anthropic::request::body(&request, true), &request);
    assert_eq!(
        body["messages"][2]["content"][0]["content"],
        json!([{"type": "text", "text": result_text}, {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}])
    );
    let mut failed = turns_with_image_result(messages.to_string());
    let mut blocks = failed[1].blocks.to_vec();
    if let Content::ToolResult { is_error, .. } = &mut blocks[1].content {
        *is_error = true;
    }
    failed[1].blocks = blocks.into();
    let request = chat_request("claude-sonnet-4-5", failed);
    let result = of(anthropic::request::body(&request, true), &request)["messages"][2]["content"][0].take();
    assert_eq!(result["content"][0]["text"], format!("The tool reported an error:\n\n{result_text}"));
    assert_eq!((&result["content"][1]["type"], &result["is_error"]), (&json!("image"), &Value::Null));
    let responses = json!({"object": "response", "status": "completed", "output": [{"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"}]});
    let request = chat_request("gpt-5", turns_with_image_result(responses.to_string()));
    let body = of(openai_responses::request::body(&request, false, false), &request);
    let url = format!("data:image/png;base64,{data}");
    assert_eq!(
        body["input"][2]["output"],
        json!([{"type": "input_text", "text": result_text}, {"type": "input_image", "image_url": url, "detail": "auto"}])
    );
    let chat = json!({"choices": [{"index": 0, "finish_reason": "tool_calls", "message": {"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}}]});
    let request = chat_request("gpt-5", turns_with_image_result(chat.to_string()));
    let generic = openai_chat::Dialect::from_name("generic").unwrap();
    let body = of(openai_chat::request::body(generic, &request), &request);
    assert_eq!(
        body["messages"].as_array().unwrap()[2..],
        [
            json!({"role": "tool", "tool_call_id": "a", "content": result_text}),
            json!({"role": "user", "content": [{"type": "text", "text": "Images of the result of f:"},
                {"type": "image_url", "image_url": {"url": url}}]}),
        ]
    );
    let mistral = openai_chat::Dialect::from_name("mistral").unwrap();
    let body = of(openai_chat::request::body(mistral, &request), &request);
    assert_eq!(
        body["messages"].as_array().unwrap()[2..],
        [json!({"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": result_text},
            {"type": "image_url", "image_url": {"url": url}}]})]
    );
    let google = json!([{"candidates": [{"content": {"parts": [{"functionCall": {"name": "f", "args": {}}}]}, "finishReason": "STOP"}]}]);
    let request = chat_request("gemini-3-pro", turns_with_image_result(google.to_string()));
    let body = of(gemini::request::body(&request), &request);
    assert_eq!(
        body["contents"][2]["parts"][0]["functionResponse"],
        json!({"name": "f", "response": {"output": result_text}, "parts": [{"inlineData": {"mimeType": "image/png", "data": data}}]})
    );
}

#[test]
fn reply_images_are_sent_back_unchanged_and_stored_by_name() {
    let (data, url) = (base64::encode(LEAF), format!("data:image/png;base64,{}", base64::encode(LEAF)));
    let google = json!([{"candidates": [{"content": {"parts": [{"text": "Here:"}, {"inlineData": {"mimeType": "image/png", "data": data}, "thoughtSignature": "s"}]}, "finishReason": "STOP"}]}]);
    let responses = json!({"object": "response", "status": "completed", "output": [{"type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data}]});
    let chat = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Here:", "images": [{"type": "image_url", "image_url": {"url": url}}]}, "finish_reason": "stop"}]});
    let history = |raw: &Value, is_read: bool| {
        let mut reply = turn(Role::Assistant, vec![words(2, "Here:"), image(3, LEAF)], &[raw.to_string()]);
        if is_read {
            reply.attached.insert(words(3, "").id, AttachmentContent::Image(shown(LEAF)));
        }
        vec![user_turn(vec![words(1, "Draw")], &[]), reply, user_turn(vec![words(4, "Again")], &[])]
    };
    let openrouter = Dialect::from_name("openrouter").unwrap();
    type Build<'a> = Box<dyn Fn(&ChatRequest) -> Bytes + 'a>;
    let builds: [(&Value, Build, &str, Value); 3] = [
        (
            &google,
            Box::new(gemini::request::body),
            "/contents/1/parts",
            google[0]["candidates"][0]["content"]["parts"].clone(),
        ),
        (
            &responses,
            Box::new(|request| openai_responses::request::body(request, false, false)),
            "/input/1",
            responses["output"][0].clone(),
        ),
        (
            &chat,
            Box::new(|request| openai_chat::request::body(openrouter, request)),
            "/messages/1",
            chat["choices"][0]["message"].clone(),
        ),
    ];
    for (raw, build, place, expected) in builds {
        let request = chat_request("m", history(raw, true));
        let stored = build(&request);
        let wire = insert_image_bytes(&stored, &request);
        assert_eq!(json_of(&wire).pointer(place), Some(&expected), "{place}");
        let text = String::from_utf8(stored.to_vec()).unwrap();
        assert!(!text.contains(&data) && text.contains(&shown(LEAF).sha256), "{text}");
        // The request on the wire is the same without the blob.
        let unread = chat_request("m", history(raw, false));
        assert_eq!(insert_image_bytes(&build(&unread), &unread), wire, "{place}");
        // Another model gets a text description.
        let mut behind = history(raw, true);
        behind[1].raw.clear();
        assert!(
            String::from_utf8(build(&chat_request("m", behind)).to_vec())
                .unwrap()
                .contains("Here:\\n\\n[image: of 32]")
        );
    }
}

#[test]
fn unsupported_images_are_omitted_oldest_first() {
    let bounds = ImageBounds { count: 4, side: 5, bytes_in_all: 1_000, ..ImageBounds::default() };
    let model = |images, image_bounds| Capabilities { images, image_bounds, ..Capabilities::default() };
    let history = |count: u128| -> Vec<HistoryTurn> {
        (0..count).map(|id| user_turn(vec![words(100 + id, "x"), image(id, LEAF)], &[(id, LEAF)])).collect()
    };
    let left = |history: &[HistoryTurn]| history.iter().map(|turn| turn.attached.len()).collect::<Vec<_>>();
    for (count, bounds, expected) in [
        (4, bounds, vec![1, 1, 1, 1]),
        (5, bounds, vec![0, 1, 1, 1, 1]),
        (6, ImageBounds { count: 5, ..bounds }, vec![0, 1, 1, 1, 1, 1]),
        // The number rises in steps of a quarter, so that the beginning changes rarely.
        (9, ImageBounds { count: 8, ..bounds }, vec![0, 0, 1, 1, 1, 1, 1, 1, 1]),
        (10, ImageBounds { count: 8, ..bounds }, vec![0, 0, 1, 1, 1, 1, 1, 1, 1, 1]),
        (3, ImageBounds { bytes_in_all: 100, ..bounds }, vec![0, 1, 1]),
        (2, ImageBounds { bytes: 20, ..bounds }, vec![0, 0]),
        (2, ImageBounds { side: 2, ..bounds }, vec![0, 0]),
        (2, ImageBounds { kinds: &["image/webp"], ..bounds }, vec![0, 0]),
        (2, ImageBounds { side_of_many: Some((1, 2)), ..bounds }, vec![0, 0]),
        (1, ImageBounds { side_of_many: Some((1, 2)), ..bounds }, vec![1]),
    ] {
        let mut turns = history(count);
        let gone = omit_unsupported_images(&mut turns, &model(None, bounds), None);
        assert_eq!(left(&turns), expected, "{bounds:?}");
        assert_eq!(gone.len(), expected.iter().filter(|left| **left == 0).count());
        assert!(gone.iter().all(|gone| gone.sha256 == shown(LEAF).sha256 && gone.alt == "of 32"));
    }
    let mut turns = history(2);
    assert_eq!(omit_unsupported_images(&mut turns, &model(Some(false), bounds), None).len(), 2);
    let mut turns = history(3);
    turns[1].turn_id = TurnId::from_uuid(uuid::Uuid::from_u128(7));
    let until = Some(turns[1].turn_id);
    omit_unsupported_images(&mut turns, &model(Some(true), bounds), until);
    assert_eq!(left(&turns), [0, 0, 1], "refused images are described, later ones are sent");
    let mut reply = turns_with_image_result("x".into());
    assert_eq!(omit_unsupported_images(&mut reply, &model(Some(false), bounds), None).len(), 1, "a result's, too");
    let mut own = turn(Role::Assistant, vec![image(1, LEAF)], &["x".into()]);
    own.attached.insert(words(1, "").id, AttachmentContent::Image(shown(LEAF)));
    assert_eq!(
        omit_unsupported_images(&mut [own], &model(Some(false), bounds), None),
        [],
        "a reply's own goes back as it came"
    );
}

#[test]
fn image_refusal_allows_text_descriptions() {
    let refusal = |status: u16, words: &str| {
        let failure = Failure::new(FailureKind::ProviderRefusedRequest, "P").with_detail(words);
        ProviderError { status: Some(status), ..ProviderError::without_response(failure) }
    };
    let with = || chat_request("m", vec![user_turn(vec![image(1, LEAF)], &[(1, LEAF)])]);
    for (status, words, expected) in [
        (400, "Invalid content type. image_url is only supported by certain models.", true),
        (500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj", true),
        (404, "No endpoints found that support image input", true),
        (422, "Failed to deserialize: unknown variant `image_url`, expected `text`", true),
        (400, "messages[0].content must be a string", true),
        (400, "Model is not multimodal", true),
        (400, "prompt is too long: 2 tokens > 1 maximum", false),
        (401, "image", false),
        (529, "Overloaded: no images now", false),
    ] {
        let expected = expected.then_some(RequestRepair::ImagesNotSeen);
        assert_eq!(repair(&refusal(status, words), &with()), expected, "{words}");
        assert_eq!(
            repair(&refusal(status, words), &chat_request("m", vec![user_turn(vec![text_block()], &[])])),
            None,
            "{words}"
        );
    }
    let mut sees = with();
    sees.capabilities.images = Some(true);
    let large = "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum";
    assert_eq!(repair(&refusal(400, large), &sees), Some(RequestRepair::ImagesTold));
}

fn text_block() -> Block {
    words(1, "no image")
}
