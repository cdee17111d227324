//! A view of blocks in the vocabulary of the unified message model: the type names the author, and the order is that
//! of the chat (`docs/reference/domain.md C3`, `docs/reference/domain.md C5`). It serves clients of that model and is
//! never stored.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::blocks::block::{Author, Block, BlockState, Content};
use crate::id::{BlockId, ChatId, TurnId};

/// One block in the unified message model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ContentBlock {
    pub id: BlockId,
    pub chat_session_id: ChatId,
    /// The turn that contains the block. An addition to the unified model.
    pub turn_id: TurnId,
    /// The position in the chat. Strictly increasing on every path from a root to a leaf.
    pub sequence_number: i64,
    /// `user_text`, `assistant_text`, `system`, `tool_call`, `tool_result` or `image`. Types that the unified model
    /// does not have keep their own names (`thinking`, `reference`, …).
    pub block_type: String,
    pub author: Author,
    /// The content by type: `{text}`, `{tool_name, arguments, status}`, `{tool_name, result, success}`, and further
    /// members.
    #[schema(value_type = Object)]
    pub content: Map<String, Value>,
    /// The tool call that this result answers.
    pub parent_block_id: Option<BlockId>,
    /// Metadata. `streaming` is true while the block grows.
    #[schema(value_type = Object)]
    pub metadata: Map<String, Value>,
    pub created_at: DateTime<Utc>,
}

impl ContentBlock {
    /// Builds the view of a block of this chat and turn.
    pub fn new(chat: ChatId, turn: TurnId, block: &Block) -> Self {
        let mut content = match serde_json::to_value(&block.content) {
            Ok(Value::Object(fields)) => fields,
            // Contents always serialize to objects; anything else has nothing to show.
            _ => Map::new(),
        };
        content.remove("type");
        let mut metadata = match &block.block_metadata {
            Value::Object(fields) => fields.clone(),
            Value::Null => Map::new(),
            other => Map::from_iter([("value".to_owned(), other.clone())]),
        };
        if block.state == BlockState::Open {
            metadata.insert("streaming".into(), true.into());
        }
        Self {
            id: block.id,
            chat_session_id: chat,
            turn_id: turn,
            sequence_number: block.chat_seq,
            block_type: block_type(block).to_owned(),
            author: block.author,
            content,
            parent_block_id: block.parent_block_id,
            metadata,
            created_at: block.created_at,
        }
    }
}

/// Returns the name of the block's type in the unified message model.
pub fn block_type(block: &Block) -> &str {
    match (&block.content, block.author) {
        (Content::Text { .. }, Author::User) => "user_text",
        (Content::Text { .. }, Author::System) => "system",
        (Content::Text { .. }, Author::Assistant | Author::Tool) => "assistant_text",
        (Content::ToolUse { .. }, _) => "tool_call",
        (content, _) => content.block_type(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures;

    #[test]
    fn block_types_name_author_and_keep_content() {
        let turn = fixtures::rich_reply(2);
        let user = fixtures::user_turn(1, "Weather?");
        let mut blocks: Vec<Value> = Vec::new();
        for turn in [&user, &turn] {
            blocks.extend(turn.blocks.iter().map(|b| json!(ContentBlock::new(turn.chat_id, turn.id, b))));
        }
        let types: Vec<&str> = blocks.iter().map(|block| block["block_type"].as_str().unwrap()).collect();
        assert_eq!(types[..6], ["user_text", "thinking", "tool_call", "tool_result", "thinking", "assistant_text"]);
        assert_eq!(blocks[0]["content"], json!({"text": "Weather?"}));
        assert_eq!(blocks[0]["metadata"], json!({}));
        assert_eq!(blocks[2]["content"]["tool_name"], "weather");
        assert_eq!(blocks[2]["content"]["arguments"], json!({"city": "Oslo"}));
        assert_eq!(blocks[2]["content"]["status"], "done");
        assert_eq!(blocks[3]["content"]["result"], json!({"celsius": -3}));
        assert_eq!(blocks[3]["content"]["success"], true);
        assert_eq!(blocks[3]["parent_block_id"], blocks[2]["id"]);
        assert_eq!(blocks[3]["author"], "tool");
        let numbers: Vec<i64> = blocks.iter().map(|block| block["sequence_number"].as_i64().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn system_prompt_and_streaming_text_are_distinguished() {
        let mut block = fixtures::block(2, 0, Content::text("Be brief."));
        block.author = Author::System;
        assert_eq!(block_type(&block), "system");
        block.author = Author::Assistant;
        block.state = BlockState::Open;
        let turn = fixtures::reply(2, []);
        assert_eq!(json!(ContentBlock::new(turn.chat_id, turn.id, &block))["metadata"], json!({"streaming": true}));
    }
}
