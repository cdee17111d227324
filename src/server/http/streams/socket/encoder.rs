//! The block API over the WebSocket (docs/reference/domain.md 4.10): translates journal events into one message for
//! each change that matters to its clients. It folds the events with the same function as `events`, so that blocks
//! can always be sent whole.

use serde_json::{Value, json};

use crate::domain::blocks::content_block::ContentBlock;
use crate::domain::blocks::notice::is_notice;
use crate::domain::turns::fold::{self, ApplyOutcome};
use crate::domain::{Block, BlockState, Content, Event, Failure, Role, Turn, TurnStatus};
use crate::server::http::streams::socket::arguments::{ArgumentsEncoder, ArgumentsForm};
use turnleaf_service::EventLine;

/// The encoder of one turn for one client.
pub struct SocketEncoder {
    /// The state of the turn that the client has been sent.
    turn: Turn,
    /// The client already has the blocks up to this `sequence_number`.
    had: i64,
    arguments: ArgumentsEncoder,
}

impl SocketEncoder {
    /// Creates the encoder of a turn of which the client has the blocks up to `had` (a `sequence_number`), and
    /// nothing else.
    pub fn new(turn: &Turn, had: i64, form: ArgumentsForm) -> Self {
        let unsent =
            Turn { blocks: Vec::new(), error: None, last_event_seq: 0, status: TurnStatus::Pending, ..turn.clone() };
        Self { turn: unsent, had, arguments: ArgumentsEncoder::new(form) }
    }

    /// Returns the number of the last event that the client was sent.
    pub fn last_event_seq(&self) -> u64 {
        self.turn.last_event_seq
    }

    pub fn is_over(&self) -> bool {
        self.turn.status.is_terminal()
    }

    /// Encodes an event of the journal. An event that is covered already yields nothing.
    pub fn encode_line(&mut self, line: &EventLine) -> Vec<Value> {
        let Ok(event) = serde_json::from_str::<Event>(&line.json) else { return Vec::new() };
        let before = match &event {
            Event::BlockEnd { block_id, .. } => self.turn.block_mut(*block_id).map(|block| block.clone()),
            _ => None,
        };
        if fold::apply(&mut self.turn, line.seq, &event) != ApplyOutcome::Changed {
            return Vec::new();
        }
        let block = match &event {
            Event::BlockStart { block } => Some(block.id),
            Event::BlockDelta { block_id, .. }
            | Event::BlockUpdate { block_id, .. }
            | Event::CallEdited { block_id, .. }
            | Event::BlockEnd { block_id, .. } => Some(*block_id),
            _ => None,
        };
        let block = block.and_then(|id| self.turn.blocks.iter().find(|block| block.id == id));
        match (event, block) {
            (_, Some(block)) if block.chat_seq <= self.had => Vec::new(),
            (Event::BlockStart { .. }, Some(block)) => self.block_start_messages(block),
            (Event::BlockDelta { text, .. }, Some(block)) => {
                let chunk = text_chunk_message(block, &text).or_else(|| self.arguments.encode_growth(block, &text));
                chunk.into_iter().collect()
            }
            (Event::BlockUpdate { .. } | Event::CallEdited { .. }, Some(block)) => {
                self.whole_block_message(block).into_iter().collect()
            }
            (Event::BlockEnd { .. }, Some(block)) => match before {
                Some(before) => self.block_end_messages(&before, block),
                None => Vec::new(),
            },
            (Event::Error(failure), _) => vec![error_message(&failure)],
            (Event::TurnEnd { .. }, _) => vec![self.turn_end_message()],
            _ => Vec::new(),
        }
    }

    /// Encodes a snapshot as its difference from what the client was sent.
    pub fn encode_snapshot(&mut self, turn: Turn) -> Vec<Value> {
        let before = std::mem::replace(&mut self.turn, turn);
        let mut messages = Vec::new();
        for block in self.turn.blocks.iter().filter(|block| block.chat_seq > self.had) {
            match before.blocks.iter().find(|old| old.id == block.id) {
                None => messages.extend(self.block_start_messages(block)),
                Some(old) if old == block => {}
                Some(old) if block.state != BlockState::Open => messages.extend(self.block_end_messages(old, block)),
                Some(old) => match (text_of(old), text_of(block)) {
                    (Some(old), Some(new)) if new.starts_with(old) => {
                        messages.extend(text_chunk_message(block, &new[old.len()..]))
                    }
                    _ => messages.extend(self.whole_block_message(block)),
                },
            }
        }
        if let Some(failure) = self.turn.error.as_ref().filter(|failure| before.error.as_ref() != Some(failure)) {
            messages.push(error_message(failure));
        }
        if self.turn.status.is_terminal() && !before.status.is_terminal() && self.turn.role == Role::Assistant {
            messages.push(self.turn_end_message());
        }
        messages
    }

    fn block_start_messages(&self, block: &Block) -> Vec<Value> {
        let begin = |name: &str| json!({ "type": name, "block_id": block.id, "sequence_number": block.chat_seq });
        let mut messages = match (&block.content, self.turn.role) {
            (Content::Text { .. }, Role::Assistant) => vec![begin("assistant_text_start")],
            (Content::Thinking { .. }, _) => vec![begin("thinking_start")],
            _ => return self.whole_block_message(block).into_iter().collect(),
        };
        messages
            .extend(text_of(block).filter(|text| !text.is_empty()).and_then(|text| text_chunk_message(block, text)));
        if block.state != BlockState::Open {
            messages.push(json!({ "type": end_name(block), "block_id": block.id, "state": block.state }));
        }
        messages
    }

    /// Encodes the end of a block, with what its deltas did not contain: parsed arguments, or a replaced text.
    fn block_end_messages(&self, before: &Block, block: &Block) -> Vec<Value> {
        let Some(text) = text_of(block).filter(|_| self.turn.role == Role::Assistant) else {
            return self.whole_block_message(block).into_iter().collect();
        };
        let mut end = json!({ "type": end_name(block), "block_id": block.id, "state": block.state });
        if let (Some(old), Value::Object(fields)) = (text_of(before), &mut end)
            && old != text
        {
            fields.insert("content".into(), text.into());
        }
        vec![end]
    }

    /// Encodes a block as a whole.
    fn whole_block_message(&self, block: &Block) -> Option<Value> {
        let name = match (&block.content, self.turn.role) {
            // These blocks are never sent to clients; notices are, because they tell what happened to the reply.
            (Content::ThinkingSignature { .. }, _) => return None,
            (content @ Content::Other(_), _) if !is_notice(content) => return None,
            (Content::Text { .. }, Role::User) => "user_text_block",
            (Content::ToolUse { .. }, _) => "tool_call_block",
            (Content::ToolResult { .. }, _) => "tool_result_block",
            _ => "content_block",
        };
        Some(json!({ "type": name, "block": ContentBlock::new(self.turn.chat_id, self.turn.id, block) }))
    }

    fn turn_end_message(&self) -> Value {
        let Turn { chat_id, id, status, .. } = &self.turn;
        json!({ "type": "end", "session_id": chat_id, "turn_id": id, "status": status })
    }
}

fn end_name(block: &Block) -> &'static str {
    if matches!(block.content, Content::Thinking { .. }) { "thinking_end" } else { "assistant_text_end" }
}

fn text_of(block: &Block) -> Option<&str> {
    match &block.content {
        Content::Text { text, .. } => Some(text),
        Content::Thinking { thinking, .. } => Some(thinking),
        _ => None,
    }
}

fn text_chunk_message(block: &Block, text: &str) -> Option<Value> {
    let name = match &block.content {
        Content::Text { .. } => "chunk",
        Content::Thinking { .. } => "thinking_chunk",
        _ => return None,
    };
    Some(json!({ "type": name, "content": text, "block_id": block.id }))
}

fn error_message(failure: &Failure) -> Value {
    json!({ "type": "error", "message": failure.message, "code": failure.kind })
}
