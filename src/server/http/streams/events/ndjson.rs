//! NDJSON (docs/reference/domain.md 4.10): the text and reasoning of the model as deltas. `text` deltas are
//! concatenated; the first delta of a reasoning block has no mark, later ones have `append`. A text that the provider
//! corrected after its deltas follows with what it replaces. Signatures of reasoning are written if they arrive, which
//! they do only for clients that ask for them.

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

/// The part of a block that the client was sent.
struct NdjsonBlock {
    kind: NdjsonBlockKind,
    /// Its text, unless the block began before the client's cursor.
    text: Option<String>,
}

pub struct NdjsonEncoder {
    blocks: HashMap<BlockId, NdjsonBlock>,
}

impl NdjsonEncoder {
    /// Creates the encoder for a follower of this turn. Blocks that began before the follower's cursor only send
    /// deltas, which are appended.
    pub fn new(turn: &Turn) -> Self {
        let begun = |block: &Block| match kind(block)? {
            NdjsonBlockKind::Thinking { .. } => Some(NdjsonBlockKind::Thinking { begun: true }),
            kind => Some(kind),
        };
        let known = |block: &Block| Some((block.id, NdjsonBlock { kind: begun(block)?, text: None }));
        let blocks = turn.blocks.iter().filter_map(known).collect();
        Self { blocks }
    }

    fn encode_event(&mut self, event: Event) -> Vec<Value> {
        match event {
            Event::BlockStart { block } => self.encode_block(&block),
            Event::BlockDelta { block_id, text } => self.encode_delta(block_id, &text).into_iter().collect(),
            Event::BlockEnd { block_id, content: Some(content), .. } => {
                self.encode_correction(block_id, &content).into_iter().chain(signature_line(&content)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn encode_delta(&mut self, block: BlockId, text: &str) -> Option<Value> {
        let block = self.blocks.get_mut(&block)?;
        if let Some(sent) = &mut block.text {
            sent.push_str(text);
        }
        match &mut block.kind {
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

    /// Writes the text of an ended block if it is another one than the client was sent, which then replaces that.
    fn encode_correction(&mut self, block: BlockId, content: &Content) -> Option<Value> {
        let block = self.blocks.get_mut(&block)?;
        let (text, name) = match content {
            Content::Text { text, .. } => (text, "text_replaced"),
            Content::Thinking { thinking, .. } => (thinking, "thinking_replaced"),
            _ => return None,
        };
        let sent = block.text.as_mut().filter(|sent| sent.as_str() != text.as_str())?;
        let before = std::mem::replace(sent, text.clone());
        Some(json!({ "type": name, "content": text, "replaces": before }))
    }

    fn encode_block(&mut self, block: &Block) -> Vec<Value> {
        let (text, line) = match &block.content {
            Content::Text { text, .. } => (text, json!({ "type": "text", "content": text })),
            Content::Thinking { thinking, .. } => (thinking, json!({ "type": "thinking", "content": thinking })),
            content => return signature_line(content).into_iter().collect(),
        };
        let kind = match kind(block) {
            Some(NdjsonBlockKind::Thinking { .. }) => NdjsonBlockKind::Thinking { begun: !text.is_empty() },
            _ => NdjsonBlockKind::Text,
        };
        self.blocks.insert(block.id, NdjsonBlock { kind, text: Some(text.clone()) });
        let text = (!text.is_empty()).then_some(line);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{BlockState, Role, TurnStatus, fixtures};

    #[test]
    fn corrected_text_follows_with_what_it_replaces() {
        let turn = fixtures::turn(2, Role::Assistant, TurnStatus::Streaming);
        let mut encoder = NdjsonEncoder::new(&turn);
        let mut block = fixtures::block(2, 0, Content::text(""));
        block.state = BlockState::Open;
        let id = block.id;
        let end = |content| Event::BlockEnd { block_id: id, state: BlockState::Done, content };
        let mut lines = Vec::new();
        for event in [
            Event::BlockStart { block },
            Event::BlockDelta { block_id: id, text: "Oe".into() },
            Event::BlockDelta { block_id: id, text: "n".into() },
            end(Some(Content::text("Oen"))),
            end(Some(Content::text("One"))),
            end(Some(Content::text("One."))),
        ] {
            lines.extend(encoder.encode_event(event));
        }
        let replaced =
            |content: &str, before: &str| json!({"type": "text_replaced", "content": content, "replaces": before});
        let more = |content: &str| json!({"type": "text", "content": content});
        assert_eq!(lines, [more("Oe"), more("n"), replaced("One", "Oen"), replaced("One.", "One")]);
    }

    #[test]
    fn block_from_before_the_cursor_is_not_corrected() {
        let turn = fixtures::reply(2, [Content::thinking("Wogrn")]);
        let mut encoder = NdjsonEncoder::new(&turn);
        let content = Some(Content::thinking("Right"));
        let end = Event::BlockEnd { block_id: turn.blocks[0].id, state: BlockState::Done, content };
        assert!(encoder.encode_event(end).is_empty());
    }
}
