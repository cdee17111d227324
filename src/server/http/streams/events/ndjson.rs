//! NDJSON (docs/reference/domain.md 4.10): the text and reasoning of the model as deltas. `text` deltas are
//! concatenated; the first delta of a reasoning block has no mark, later ones have `append`. Signatures of reasoning
//! are written if they arrive, which they do only for clients that ask for them.

use std::collections::HashMap;

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::domain::{Block, BlockId, Content, Event, Turn};
use crate::server::http::streams::events::encoder::{EventEncoder, OutgoingEvent};
use turnleaf_service::FollowerItem;

#[derive(Clone, Copy)]
enum NdjsonBlockKind {
    Text,
    Thinking { begun: bool },
}

pub struct NdjsonEncoder {
    blocks: HashMap<BlockId, NdjsonBlockKind>,
}

impl NdjsonEncoder {
    /// Creates the encoder for a follower of this turn. Blocks that began before the follower's cursor only send
    /// deltas, which are appended.
    pub fn new(turn: &Turn) -> Self {
        let begun = |block: &Block| match kind(block)? {
            NdjsonBlockKind::Thinking { .. } => Some(NdjsonBlockKind::Thinking { begun: true }),
            kind => Some(kind),
        };
        let blocks = turn.blocks.iter().filter_map(|block| Some((block.id, begun(block)?))).collect();
        Self { blocks }
    }

    fn encode_event(&mut self, event: Event) -> Vec<Value> {
        match event {
            Event::BlockStart { block } => self.encode_block(&block),
            Event::BlockDelta { block_id, text } => self.encode_delta(block_id, &text).into_iter().collect(),
            Event::BlockEnd { content: Some(content), .. } => signature_line(&content).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn encode_delta(&mut self, block: BlockId, text: &str) -> Option<Value> {
        match self.blocks.get_mut(&block)? {
            NdjsonBlockKind::Text => Some(json!({ "type": "text", "content": text })),
            NdjsonBlockKind::Thinking { begun: true } => {
                Some(json!({ "type": "thinking", "content": text, "append": true }))
            }
            NdjsonBlockKind::Thinking { begun } => {
                *begun = true;
                Some(json!({ "type": "thinking", "content": text }))
            }
        }
    }

    fn encode_block(&mut self, block: &Block) -> Vec<Value> {
        if let Some(kind) = kind(block) {
            self.blocks.insert(block.id, kind);
        }
        let text = match &block.content {
            Content::Text { text, .. } if !text.is_empty() => Some(json!({ "type": "text", "content": text })),
            Content::Thinking { thinking, .. } if !thinking.is_empty() => {
                self.blocks.insert(block.id, NdjsonBlockKind::Thinking { begun: true });
                Some(json!({ "type": "thinking", "content": thinking }))
            }
            _ => None,
        };
        text.into_iter().chain(signature_line(&block.content)).collect()
    }
}

/// Returns the line of a signature; `None` without one, and where it was redacted.
fn signature_line(content: &Content) -> Option<Value> {
    let signature = match content {
        Content::ThinkingSignature { signature, .. } => signature,
        Content::Thinking { signature: Some(signature), .. } => signature,
        _ => return None,
    };
    (!signature.is_empty()).then(|| json!({ "type": "thinking_signature", "content": signature }))
}

fn kind(block: &Block) -> Option<NdjsonBlockKind> {
    match &block.content {
        Content::Text { .. } => Some(NdjsonBlockKind::Text),
        Content::Thinking { .. } => Some(NdjsonBlockKind::Thinking { begun: false }),
        _ => None,
    }
}

impl EventEncoder for NdjsonEncoder {
    const CONTENT_TYPE: &'static str = "application/x-ndjson";

    fn opening_bytes(&self) -> Option<Bytes> {
        None
    }

    fn displaced_bytes(&self) -> Option<Bytes> {
        None
    }

    fn encode(&mut self, outgoing: OutgoingEvent) -> Option<Bytes> {
        let values: Vec<Value> = match outgoing {
            OutgoingEvent::Followed(FollowerItem::Line(line)) => {
                serde_json::from_str(&line.json).map(|event| self.encode_event(event)).unwrap_or_default()
            }
            OutgoingEvent::Followed(FollowerItem::Snapshot(turn)) => {
                turn.blocks.iter().flat_map(|block| self.encode_block(block)).collect()
            }
            OutgoingEvent::Signal(_) => Vec::new(),
        };
        if values.is_empty() {
            return None;
        }
        Some(values.into_iter().map(|value| format!("{value}\n")).collect::<String>().into())
    }
}
