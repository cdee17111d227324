//! A block as the block API writes it: the role and the type of what is stored become one name (domain.md C5).

use serde_json::{Value, json};

use crate::domain::{Author, Block, ChatId, Content, Role};

/// What the block API calls a block of a turn of this role; nothing for what is never shown.
pub fn block_type(role: Role, block: &Block) -> Option<&'static str> {
    Some(match (&block.content, role) {
        (Content::Text { .. }, Role::User) => "user_text",
        (Content::Text { .. }, Role::Assistant) => "assistant_text",
        (Content::Text { .. }, Role::System) => "system",
        (Content::Thinking { .. }, _) => "thinking",
        (Content::ToolUse { .. }, _) => "tool_call",
        (Content::ToolResult { .. }, _) => "tool_result",
        (Content::Image { .. }, _) => "image",
        (Content::Reference { .. }, _) => "reference",
        (Content::PartialReference { .. }, _) => "partial_reference",
        (Content::ThinkingSignature { .. } | Content::Other(_), _) => return None,
    })
}

/// The block, as the block API writes it.
pub fn content_block(chat: ChatId, role: Role, block: &Block) -> Option<Value> {
    let mut content = serde_json::to_value(&block.content).ok()?;
    if let Value::Object(fields) = &mut content {
        fields.remove("type");
    }
    let author = match block.author {
        Author::User => "user",
        Author::Assistant => "assistant",
        Author::System => "system",
        Author::Tool => "tool",
    };
    let mut metadata = match &block.block_metadata {
        Value::Object(fields) => fields.clone(),
        _ => serde_json::Map::new(),
    };
    metadata.insert("state".into(), json!(block.state));
    Some(json!({
        "id": block.id,
        "chat_session_id": chat,
        "sequence_number": block.chat_seq,
        "block_type": block_type(role, block)?,
        "author": author,
        "content": content,
        "parent_block_id": block.parent_block_id,
        "metadata": metadata,
        "created_at": block.created_at,
    }))
}
