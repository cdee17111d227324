//! Lines of JSON in the words of the branch-and-provider design (domain.md 4.10): what the model says, piece by piece.
//! `text` pieces simply follow each other; the first piece of a reasoning block stands alone, later ones say `append`.

use std::collections::HashMap;

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::domain::{Block, BlockId, Content, Event, Turn};
use crate::server::http::streams::events::encoder::{Encoder, Outgoing};
use turnleaf_service::Followed;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Thinking { begun: bool },
}

pub struct Lines {
    blocks: HashMap<BlockId, Kind>,
}

impl Lines {
    /// For a follower of this turn. Of a block that began before the follower's cursor only growth comes, which is then
    /// appended.
    pub fn of(turn: &Turn) -> Self {
        let begun = |block: &Block| match kind(block)? {
            Kind::Thinking { .. } => Some(Kind::Thinking { begun: true }),
            kind => Some(kind),
        };
        let blocks = turn.blocks.iter().filter_map(|block| Some((block.id, begun(block)?))).collect();
        Self { blocks }
    }

    fn event(&mut self, event: Event) -> Option<Value> {
        match event {
            Event::BlockStart { block } => self.block(&block),
            Event::BlockDelta { block_id, text } => match self.blocks.get_mut(&block_id)? {
                Kind::Text => Some(json!({ "type": "text", "content": text })),
                Kind::Thinking { begun: true } => Some(json!({ "type": "thinking", "content": text, "append": true })),
                Kind::Thinking { begun } => {
                    *begun = true;
                    Some(json!({ "type": "thinking", "content": text }))
                }
            },
            _ => None,
        }
    }

    fn block(&mut self, block: &Block) -> Option<Value> {
        self.blocks.insert(block.id, kind(block)?);
        match &block.content {
            Content::Text { text, .. } if !text.is_empty() => Some(json!({ "type": "text", "content": text })),
            Content::Thinking { thinking, .. } if !thinking.is_empty() => {
                self.blocks.insert(block.id, Kind::Thinking { begun: true });
                Some(json!({ "type": "thinking", "content": thinking }))
            }
            _ => None,
        }
    }
}

fn kind(block: &Block) -> Option<Kind> {
    match &block.content {
        Content::Text { .. } => Some(Kind::Text),
        Content::Thinking { .. } => Some(Kind::Thinking { begun: false }),
        _ => None,
    }
}

impl Encoder for Lines {
    const CONTENT_TYPE: &'static str = "application/x-ndjson";

    fn opening(&self) -> Option<Bytes> {
        None
    }

    fn displaced(&self) -> Option<Bytes> {
        None
    }

    fn encode(&mut self, outgoing: Outgoing) -> Option<Bytes> {
        let values: Vec<Value> = match outgoing {
            Outgoing::Followed(Followed::Line(line)) => {
                serde_json::from_str(&line.json).ok().and_then(|event| self.event(event)).into_iter().collect()
            }
            Outgoing::Followed(Followed::Snapshot(turn)) => {
                turn.blocks.iter().filter_map(|block| self.block(block)).collect()
            }
            Outgoing::Signal(_) => Vec::new(),
        };
        if values.is_empty() {
            return None;
        }
        Some(values.into_iter().map(|value| format!("{value}\n")).collect::<String>().into())
    }
}
