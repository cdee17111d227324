//! NDJSON (docs/reference/domain.md 4.10): the text and reasoning of the model as deltas. `text` deltas are
//! concatenated; the first delta of a reasoning block has no mark, later ones have `append`.

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

    fn encode_event(&mut self, event: Event) -> Option<Value> {
        match event {
            Event::BlockStart { block } => self.encode_block(&block),
            Event::BlockDelta { block_id, text } => match self.blocks.get_mut(&block_id)? {
                NdjsonBlockKind::Text => Some(json!({ "type": "text", "content": text })),
                NdjsonBlockKind::Thinking { begun: true } => {
                    Some(json!({ "type": "thinking", "content": text, "append": true }))
                }
                NdjsonBlockKind::Thinking { begun } => {
                    *begun = true;
                    Some(json!({ "type": "thinking", "content": text }))
                }
            },
            _ => None,
        }
    }

    fn encode_block(&mut self, block: &Block) -> Option<Value> {
        self.blocks.insert(block.id, kind(block)?);
        match &block.content {
            Content::Text { text, .. } if !text.is_empty() => Some(json!({ "type": "text", "content": text })),
            Content::Thinking { thinking, .. } if !thinking.is_empty() => {
                self.blocks.insert(block.id, NdjsonBlockKind::Thinking { begun: true });
                Some(json!({ "type": "thinking", "content": thinking }))
            }
            _ => None,
        }
    }
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
                serde_json::from_str(&line.json).ok().and_then(|event| self.encode_event(event)).into_iter().collect()
            }
            OutgoingEvent::Followed(FollowerItem::Snapshot(turn)) => {
                turn.blocks.iter().filter_map(|block| self.encode_block(block)).collect()
            }
            OutgoingEvent::Signal(_) => Vec::new(),
        };
        if values.is_empty() {
            return None;
        }
        Some(values.into_iter().map(|value| format!("{value}\n")).collect::<String>().into())
    }
}
