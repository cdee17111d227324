//! Images that a model generates, through a whole run on every database: the block names a blob, the next request
//! contains the response unchanged, and no row and no event holds the bytes.

use std::cell::RefCell;

use serde_json::{Value, json};
use turnleaf::domain::{Content, Turn, TurnStatus};
use turnleaf_platform::endpoint::ProviderApi;
use turnleaf_providers::base64;
use turnleaf_providers::gemini::endpoint::GeminiEndpoint;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_store::Db;

use crate::repair::{endpoint, send_next};
use crate::test_server::{TestServer, delta_step, streamed_answer, text_step};

/// Returns an image that is too large to be overlooked in a row.
fn picture() -> Vec<u8> {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x03\0\0\0\x02";
    head.iter().copied().chain((0..200_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8)).collect()
}

fn image_of(turn: &Turn) -> (String, String, String) {
    let image = turn.blocks.iter().find_map(|block| match &block.content {
        Content::Image { blob, mime, alt } => Some((blob.clone(), mime.clone(), alt.clone())),
        _ => None,
    });
    image.unwrap_or_else(|| panic!("no image: {turn:#?}"))
}

/// Returns the texts of every row and of every event, none of which may contain the image.
async fn rows(instance: &TestServer) -> Vec<String> {
    let mut all = Vec::new();
    for sql in ["SELECT CAST(content AS TEXT) FROM turn_blocks", "SELECT CAST(event AS TEXT) FROM turn_events"] {
        let rows: Vec<String> = match &instance.db {
            Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_all(writer).await.unwrap(),
            Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_all(writer).await.unwrap(),
        };
        all.extend(rows);
    }
    let bodies: Vec<Vec<u8>> = match &instance.db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(
            "SELECT body FROM generation_requests UNION ALL SELECT manifest FROM generation_requests",
        )
        .fetch_all(writer)
        .await
        .unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(
            "SELECT body FROM generation_requests UNION ALL SELECT manifest FROM generation_requests",
        )
        .fetch_all(writer)
        .await
        .unwrap(),
    };
    all.extend(bodies.into_iter().map(|body| String::from_utf8(body).unwrap()));
    all
}

#[tokio::test]
async fn reply_image_is_stored_as_blob_and_resent_unchanged() {
    let picture = picture();
    let data = base64::encode(&picture);
    let parts = json!([
        {"text": "Here: "}, {"inlineData": {"mimeType": "image/png", "data": data}, "thoughtSignature": "s"}, {"text": "Good?"}
    ]);
    let stream = |parts: &Value| {
        let chunk = json!({"modelVersion": "m", "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]});
        ScriptedAnswer::Stream(vec![ScriptedStep::Bytes(format!("data: {chunk}\r\n\r\n").into())])
    };
    let provider = || {
        ScriptedProvider::new(
            "scripted",
            [stream(&parts), stream(&json!([{"text": "Gladly."}])), stream(&json!([{"text": "Yes."}]))],
        )
        .with_protocol_of(GeminiEndpoint::new(&endpoint(ProviderApi::Gemini), HttpClient::default()))
    };
    let logs = RefCell::new(Vec::new());
    let instances = TestServer::on_every_database(|| {
        let provider = provider();
        logs.borrow_mut().push(provider.log());
        provider
    })
    .await;
    for (instance, log) in instances.into_iter().zip(logs.into_inner()) {
        let first = instance.send("Draw a leaf").await;
        let turn = instance.wait_until_ended(first.assistant_turn.id).await;
        assert_eq!(turn.status, TurnStatus::Complete, "{turn:#?}");
        let (blob, mime, alt) = image_of(&turn);
        assert_eq!((mime.as_str(), alt.as_str()), ("image/png", "Generated image (3 × 2 pixels)"));
        let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
        assert_eq!(kinds, ["text", "image", "thinking_signature", "text"]);
        assert_eq!(turn.blocks[1].block_metadata["card"]["size"], json!([3, 2]));
        let stored = instance.service.blob(instance.owner, &blob).await.unwrap();
        assert_eq!((stored.mime.as_str(), stored.bytes.as_ref()), ("image/png", picture.as_slice()));

        let second = send_next(&instance, &first, "Another").await;
        assert_eq!(instance.wait_until_ended(second.assistant_turn.id).await.status, TurnStatus::Complete);
        let sent: Value = serde_json::from_slice(&log.requests()[1]).unwrap();
        assert_eq!(sent["contents"][1]["parts"], parts, "as it came");
        for row in rows(&instance).await {
            let found = (0..4).map(|at| &data[at * 1_000..at * 1_000 + 100]).any(|piece| row.contains(piece));
            assert!(!found, "base64 in a row of {} bytes", row.len());
        }
        // A retry of the same request sends the same bytes.
        let again = instance
            .service
            .retry_turn(instance.owner, second.assistant_turn.id, Default::default(), Default::default(), None)
            .await
            .unwrap();
        instance.wait_until_ended(again.assistant_turn.id).await;
        assert_eq!(log.requests()[2], log.requests()[1]);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn duplicate_image_is_stored_once_and_interrupted_image_is_dropped() {
    let url = format!("data:image/png;base64,{}", base64::encode(&picture()));
    let image = || delta_step(json!({"images": [{"type": "image_url", "image_url": {"url": url}}]}));
    let cut = ScriptedStep::Bytes(
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"images\":[{{\"image_url\":{{\"url\":\"{}",
            &url[..500]
        )
        .into(),
    );
    let provider = ScriptedProvider::new(
        "scripted",
        [
            streamed_answer([text_step("a"), image(), image(), text_step("b")]),
            ScriptedAnswer::Stream(vec![text_step("half"), cut]),
        ],
    );
    let instance = TestServer::new(provider).await;
    let first = instance.send("Draw").await;
    let turn = instance.wait_until_ended(first.assistant_turn.id).await;
    let kinds: Vec<&str> = turn.blocks.iter().map(|block| block.content.block_type()).collect();
    assert_eq!(kinds, ["text", "image", "text"]);
    let second = send_next(&instance, &first, "Again").await;
    let turn = instance.wait_until_ended(second.assistant_turn.id).await;
    assert_eq!(turn.status, TurnStatus::Error);
    assert!(!turn.blocks.iter().any(|block| block.is_image()), "{turn:#?}");
    instance.check_invariants().await;
}
