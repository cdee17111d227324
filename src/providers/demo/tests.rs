//! End-to-end tests of the demo through its own bytes: every script runs to its end and shows what its description
//! promises.

use chrono::DateTime;
use uuid::Uuid;

use super::script::ScriptPiece;
use super::*;
use crate::builder::{BlockBuilder, BlockPosition};
use crate::provider::{DecodeOutcome, DecodedItem, HistoryTurn};
use crate::stored_response::StoredResponse;
use turnleaf_domain::{Block, BlockId, Content, Event, GenerationId, Role, Thinking};

/// Runs a script with its tools until it calls none; returns the types of its blocks, its text and the outcome.
async fn run(model: &str, thinking: Thinking, has_tools: bool) -> (Vec<String>, String, DecodeOutcome) {
    let demo = DemoProvider::new(0.0);
    let turn =
        |role, blocks: Vec<Block>, raw| HistoryTurn { raw, ..HistoryTurn::new(Uuid::nil().into(), role, blocks) };
    let mut ids = 0;
    let mut id = move || {
        ids += 1;
        BlockId::from_uuid(Uuid::from_u128(ids))
    };
    let stamp = (id(), DateTime::UNIX_EPOCH);
    let (mut blocks, mut raw): (Vec<Block>, Vec<Bytes>) = (Vec::new(), Vec::new());
    let question_block = test_block(Content::text("What is this?"), stamp.0, None);
    for _ in 0..10 {
        let mut history = vec![turn(Role::User, vec![question_block.clone()], Vec::new())];
        if !raw.is_empty() {
            history.push(turn(
                Role::Assistant,
                blocks.clone(),
                raw.iter().cloned().map(StoredResponse::from).collect(),
            ));
        }
        let request = ChatRequest {
            thinking,
            is_thinking_mode: thinking != Thinking::Off,
            tools: if has_tools { demo.tools() } else { Vec::new() },
            ..ChatRequest::new(model, history, demo.capabilities(model))
        };
        let reply = demo.send(&request.model, demo.build(&request)).await.unwrap();
        let pieces: Vec<Bytes> = reply.body.map(Result::unwrap).collect().await;
        let mut decoder = demo.decoder();
        let mut items: Vec<DecodedItem> = Vec::new();
        pieces.iter().for_each(|piece| decoder.feed(piece, &mut items));
        let outcome = decoder.finish(&mut items);
        raw.push(pieces.concat().into());
        let place = BlockPosition { turn_ord: 1, next_seq: 0, generation_id: GenerationId::from_uuid(Uuid::nil()) };
        let mut minted = u128::from(blocks.len() as u64) * 1_000;
        let mut builder = BlockBuilder::new(place, move || {
            minted += 1;
            (BlockId::from_uuid(Uuid::from_u128(minted + (1 << 64))), DateTime::UNIX_EPOCH)
        });
        let mut events = Vec::new();
        items.into_iter().for_each(|item| builder.push(item, None, &mut events));
        builder.close(turnleaf_domain::BlockState::Done, &mut events);
        for event in events {
            match event {
                Event::BlockStart { block } => blocks.push(block),
                Event::BlockDelta { block_id, text } => {
                    let block = blocks.iter_mut().find(|block| block.id == block_id).unwrap();
                    block.content.streaming_text_mut().unwrap().push_str(&text);
                }
                _ => {}
            }
        }
        if builder.tool_calls().is_empty() {
            let kinds = blocks.iter().map(|block| block.content.block_type().to_owned()).collect();
            let text = turnleaf_domain::blocks::derived_text::content_text(blocks.iter().map(|block| &block.content));
            return (kinds, text, outcome);
        }
        for call in builder.tool_calls() {
            let outcome = demo.run_tool(&call.name, call.arguments.as_ref().unwrap()).unwrap().await;
            let content = Content::ToolResult {
                tool_use_id: call.tool_use_id.clone(),
                tool_name: call.name.clone(),
                result: outcome.result,
                success: !outcome.is_error,
                is_error: outcome.is_error,
                metadata: Value::Null,
            };
            blocks.push(test_block(content, id(), Some(call.block_id)));
        }
    }
    panic!("{model} never ends");
}

fn test_block(content: Content, id: BlockId, parent_block_id: Option<BlockId>) -> Block {
    let author = turnleaf_domain::Author::User;
    Block { parent_block_id, ..Block::new(id, (0, 0), author, content, DateTime::UNIX_EPOCH) }
}

/// Encodes block types as letters: `K` thinking, `T` tool, `X` text, `I` image.
fn letters(kinds: &[String]) -> String {
    let letter = |kind: &String| match kind.as_str() {
        "thinking" => "K",
        "tool_use" => "T",
        "text" => "X",
        "image" => "I",
        _ => "",
    };
    kinds.iter().map(letter).collect()
}

#[tokio::test]
async fn every_script_produces_its_described_reply() {
    for (model, thinking, expected) in [
        ("tour", Thinking::Medium, "KTKX"),
        ("tour", Thinking::Off, "TX"),
        ("reasoning", Thinking::Medium, "KXKTKXKTXKX"),
        ("plain", Thinking::Medium, "X"),
        ("parallel-tools", Thinking::Medium, "KTTTXTTX"),
        ("markdown", Thinking::Medium, "X"),
        ("error", Thinking::Medium, "X"),
        ("slow", Thinking::Medium, "X"),
        ("picture", Thinking::Medium, "XIX"),
    ] {
        let (kinds, text, outcome) = run(model, thinking, true).await;
        assert_eq!(letters(&kinds), expected, "{model} {thinking:?}");
        assert_eq!(outcome.complete, model != "error", "{model}");
        assert!(!text.is_empty());
    }
}

#[tokio::test]
async fn tour_names_every_other_script() {
    let (_, text, _) = run("tour", Thinking::Medium, true).await;
    for script in &MODELS[1..] {
        assert!(text.contains(&format!("`{}`", script.name)), "{}", script.name);
    }
}

#[tokio::test]
async fn long_texts_arrive_exactly() {
    assert_eq!(run("markdown", Thinking::Medium, true).await.1, include_str!("markdown.md"));
    assert_eq!(run("slow", Thinking::Medium, true).await.1, include_str!("slow.md"));
}

#[test]
fn reply_is_in_language_of_message() {
    for script in &MODELS {
        for (question, expected) in [("这是什么？", true), ("What is this?", false), ("これは何ですか？", false)]
        {
            for step in 0..3 {
                let mut messages = vec![serde_json::json!({"role": "user", "content": question})];
                messages.extend(vec![serde_json::json!({"role": "assistant", "content": ""}); step]);
                let body = serde_json::json!({"model": script.name, "messages": messages, "tools": [{}]});
                for piece in script::reply(&DemoRequest::from_body(&body).unwrap()).unwrap() {
                    let (ScriptPiece::Think(text) | ScriptPiece::Text(text)) = piece else { continue };
                    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
                    let han = text.chars().filter(|letter| script::is_han(*letter)).count();
                    // Some texts show the other script, or code.
                    assert_eq!(han * 4 > letters, expected, "{}: {text}", script.name);
                }
            }
        }
    }
}

#[tokio::test]
async fn tools_explain_words_of_both_languages() {
    let demo = DemoProvider::new(0.0);
    for (term, known) in [("Branch", true), ("分支", true), ("unicorn", false), ("独角兽", false)] {
        let outcome = demo.run_tool("look_up", &serde_json::json!({"term": term})).unwrap().await;
        assert_eq!((outcome.is_error, outcome.result.get("meaning").is_some()), (!known, known), "{term}");
    }
}

#[tokio::test]
async fn script_without_tools_finishes_in_one_step() {
    let (kinds, _, outcome) = run("tour", Thinking::Medium, false).await;
    assert_eq!((letters(&kinds).as_str(), outcome.complete), ("KX", true));
}

#[tokio::test]
async fn error_script_fails_as_overloaded_provider() {
    let (_, _, outcome) = run("error", Thinking::Medium, true).await;
    assert_eq!(outcome.failure.map(|failure| failure.kind), Some(FailureKind::ProviderOverloaded));
}

#[tokio::test]
async fn unknown_script_and_empty_request_are_refused() {
    let demo = DemoProvider::new(0.0);
    let body = r#"{"model":"unheard-of","messages":[{"role":"user","content":"x"}]}"#;
    for (body, expected) in [(body, FailureKind::ModelNotFound), ("{}", FailureKind::ProviderRefusedRequest)] {
        let refused = demo.send("", body.into()).await.err().unwrap();
        assert_eq!(refused.failure.kind, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn slow_script_takes_about_one_minute_and_tour_much_less() {
    for (model, message, seconds) in [("slow", "x", 50..90), ("slow", "慢", 50..90), ("plain", "x", 0..5)] {
        let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":"{message}"}}]}}"#);
        let begun = tokio::time::Instant::now();
        let reply = DemoProvider::new(1.0).send("", body.into()).await.unwrap();
        reply.body.for_each(|_| async {}).await;
        assert!(seconds.contains(&begun.elapsed().as_secs()), "{model} {:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn demo_describes_received_images() {
    let picture = crate::base64::encode(include_bytes!("picture.png"));
    let image =
        serde_json::json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{picture}")}});
    let question = serde_json::json!({"type": "text", "text": "What?"});
    for (model, parts, expected) in [
        (
            "picture",
            serde_json::json!([question, image]),
            "You sent one image: image/png of 240 × 160 pixels, 938 bytes.",
        ),
        ("plain", serde_json::json!([image, image]), "You sent 2 images: image/png"),
        ("picture", serde_json::json!("What?"), "You sent no image"),
    ] {
        let body = serde_json::json!({"model": model, "messages": [{"role": "user", "content": parts}]}).to_string();
        let reply = DemoProvider::new(0.0).send("", body.into()).await.unwrap();
        let mut decoder = DemoProvider::new(0.0).decoder();
        let mut items = Vec::new();
        let pieces: Vec<Bytes> = reply.body.map(Result::unwrap).collect().await;
        pieces.iter().for_each(|piece| decoder.feed(piece, &mut items));
        assert!(decoder.finish(&mut items).complete);
        let answer: String = items
            .iter()
            .filter_map(|item| if let DecodedItem::Text(text) = item { Some(text.as_str()) } else { None })
            .collect();
        assert!(answer.starts_with(expected), "{answer}");
        assert_eq!(
            items.iter().filter(|item| matches!(item, DecodedItem::Image(_))).count(),
            usize::from(model == "picture")
        );
    }
}
