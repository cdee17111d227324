//! The stored provider response of a generated reply: a chat completions stream with a few characters per piece.

use anyhow::Result;
use serde_json::{Value, json};
use turnleaf_domain::{ModelLock, Turn, Usage};
use turnleaf_interchange::archive::{ArchivedBytes, ArchivedGeneration};
use turnleaf_platform::ids::mint;
use turnleaf_store::Tx;
use turnleaf_store::transfer::archive;

/// The characters of a piece, about those of a token.
const LETTERS: usize = 4;

/// Stores the generation of a reply with its response, without its request.
pub async fn store_response(tx: &mut Tx, lock: &ModelLock, reply: &Turn) -> Result<()> {
    let call = ArchivedGeneration {
        id: mint(),
        turn_id: reply.id,
        step: 0,
        provider: lock.provider.clone(),
        api: Some("openai_chat".into()),
        model_requested: lock.model.clone(),
        model_returned: None,
        request: ArchivedBytes(Vec::new()),
        request_manifest: json!({ "turns": [], "not_sent": [] }),
        raw_kind: "sse_events".into(),
        raw_complete: true,
        raw: Some(ArchivedBytes(streamed_response(&lock.model, &reply.content_text()).into_bytes())),
        status: "complete".into(),
        stop_reason: Some("stop".into()),
        usage: Usage::default(),
        cost_micros: None,
        cost_basis: None,
        price_version: None,
        error: None,
        first_token_at: None,
        started_at: reply.created_at,
        ended_at: reply.completed_at,
    };
    archive::insert_generation(tx, &call).await?;
    Ok(())
}

/// Returns the stream of a chat completions server.
fn streamed_response(model: &str, text: &str) -> String {
    let event = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish });
        let chunk = json!({
            "id": "chatcmpl-BdYxV7aF1Q2mZ8sKpTn4cWeR0uLhJ", "object": "chat.completion.chunk", "created": 1_764_000_000,
            "model": model, "system_fingerprint": "fp_07871e2ad8", "choices": [choice],
        });
        format!("data: {chunk}\n\n")
    };
    let letters: Vec<char> = text.chars().collect();
    let pieces = letters.chunks(LETTERS).map(|piece| event(json!({ "content": String::from_iter(piece) }), None));
    let begin = event(json!({ "role": "assistant", "content": "" }), None);
    let end = event(json!({}), Some("stop")) + "data: [DONE]\n\n";
    std::iter::once(begin).chain(pieces).chain([end]).collect()
}
