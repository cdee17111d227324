//! The deprecated message format from before blocks: one text and a list of tool calls. It is deprecated because it
//! loses the order of text and calls.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::blocks::block::{Block, Content, ToolStatus};
use crate::blocks::derived_text::DerivedText;
use crate::id::{BlockId, ChatId, TurnId};
use crate::turns::turn::{Role, Turn};

/// A turn as one message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct LegacyMessage {
    pub id: TurnId,
    pub chat_session_id: ChatId,
    pub role: Role,
    /// All texts, including error texts.
    pub content: String,
    pub agent_actions: Vec<AgentAction>,
    pub created_at: DateTime<Utc>,
}

/// A tool call with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentAction {
    pub id: BlockId,
    pub message_id: TurnId,
    pub tool_name: String,
    pub arguments: Value,
    pub status: ToolStatus,
    /// Null until there is a result.
    pub result: Value,
    pub success: Option<bool>,
    pub created_at: DateTime<Utc>,
}

impl From<&Turn> for LegacyMessage {
    fn from(turn: &Turn) -> Self {
        let mut texts = DerivedText::default();
        for block in &turn.blocks {
            match &block.content {
                Content::Text { text, .. } => texts.push(text),
                other => texts.skip(other),
            }
        }
        Self {
            id: turn.id,
            chat_session_id: turn.chat_id,
            role: turn.role,
            content: texts.into_text(),
            agent_actions: turn.blocks.iter().filter_map(|block| action(turn, block)).collect(),
            created_at: turn.created_at,
        }
    }
}

fn action(turn: &Turn, call: &Block) -> Option<AgentAction> {
    let Content::ToolUse { tool_name, arguments, status, .. } = &call.content else { return None };
    let answer = turn.blocks.iter().find_map(|block| match &block.content {
        Content::ToolResult { result, success, .. } if block.parent_block_id == Some(call.id) => {
            Some((result.clone(), *success))
        }
        _ => None,
    });
    let (result, success) = answer.map_or((Value::Null, None), |(result, success)| (result, Some(success)));
    Some(AgentAction {
        id: call.id,
        message_id: turn.id,
        tool_name: tool_name.clone(),
        arguments: arguments.clone(),
        status: *status,
        result,
        success,
        created_at: call.created_at,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures;

    #[test]
    fn reply_becomes_its_texts_and_actions() {
        let message = LegacyMessage::from(&fixtures::rich_reply(2));
        assert!(message.content.starts_with("It is **-3 °C** in Oslo."), "{}", message.content);
        assert!(message.content.ends_with("The connection to Demo was lost."), "{}", message.content);
        let actions: Vec<_> = message.agent_actions.iter().map(|a| (a.tool_name.as_str(), a.success)).collect();
        assert_eq!(actions, [("weather", Some(true)), ("forecast", Some(false))]);
        assert_eq!(message.agent_actions[0].result, json!({"celsius": -3}));
        assert_eq!(LegacyMessage::from(&fixtures::user_turn(1, "Hi")).agent_actions, []);
        assert!(message.content.contains("\n\nThe connection"), "texts are paragraphs: {}", message.content);
    }
}
