//! Shares: the snapshot of one path that others read. A snapshot is an allowlist: each turn is built again from what may
//! go out, so that a field or a block type that is added later stays out.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::blocks::block::{Author, Block, Content};
use crate::blocks::sources;
use crate::documents::attachment::{AttachmentCard, CARD_KEY};
use crate::id::{BlockId, BranchId, ChatId, ExchangeId, ShareId, TurnId};
use crate::turns::turn::{Role, Turn};
use crate::usage::token_counts::Usage;

/// The readers of a share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ShareAudience {
    /// Anybody with the link.
    #[default]
    Link,
    /// Anybody with the link who is signed in to this server.
    SignedIn,
}

impl ShareAudience {
    /// Returns its word in JSON and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::SignedIn => "signed_in",
        }
    }

    /// Returns whether a reader belongs to it.
    pub fn admits(self, is_signed_in: bool) -> bool {
        self == Self::Link || is_signed_in
    }
}

/// The parts of a path that are shared besides its messages and replies. All of them are left out unless they are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SharedParts {
    /// The reasoning of the models.
    pub reasoning: bool,
    /// Tool calls with their arguments and results.
    pub tools: bool,
    /// The system prompt of the chat.
    pub system_prompt: bool,
    /// The names and the quoted lines of attached documents.
    pub documents: bool,
}

/// A share as its owner sees it. Its link is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Share {
    pub id: ShareId,
    pub chat_id: ChatId,
    /// The last message or reply of the path.
    pub leaf_id: TurnId,
    pub audience: ShareAudience,
    pub parts: SharedParts,
    pub created_at: DateTime<Utc>,
    pub expires_at: DateTime<Utc>,
    /// When the owner revoked the link. Null if they did not.
    pub revoked_at: Option<DateTime<Utc>>,
    /// When somebody opened the link last, to the minute. Null if nobody did.
    pub last_access_at: Option<DateTime<Utc>>,
}

impl Share {
    /// Returns whether the link is valid.
    pub fn is_active(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && now < self.expires_at
    }
}

/// The members of a tool result's metadata that its rendering needs.
const RESULT_MEMBERS: [&str; 4] = ["images", "files", "cut", "cleaned"];

/// Copies the turns of a path, root first, into a snapshot. Ids become numbers in the order of the path.
#[derive(Debug)]
pub struct PathSnapshot {
    parts: SharedParts,
    last: Option<TurnId>,
    turns: u32,
    blocks: HashMap<BlockId, BlockId>,
    calls: HashMap<String, String>,
}

impl PathSnapshot {
    /// Starts a snapshot with these parts.
    pub fn new(parts: SharedParts) -> Self {
        Self { parts, last: None, turns: 0, blocks: HashMap::new(), calls: HashMap::new() }
    }

    /// Returns the copy of the next turn; `None` if the whole turn is left out.
    pub fn copy_turn(&mut self, turn: Turn) -> Option<Turn> {
        if turn.role == Role::System && !self.parts.system_prompt {
            return None;
        }
        let depth = i64::from(self.turns);
        self.turns += 1;
        let id = TurnId::from_uuid(numbered(self.turns));
        let mut blocks = Vec::new();
        for block in turn.blocks {
            let seq = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
            blocks.extend(self.copy_block(block, seq));
        }
        Some(Turn {
            id,
            chat_id: ChatId::from_uuid(numbered(1)),
            ord: depth + 1,
            depth,
            branch_id: BranchId::from_uuid(numbered(1)),
            exchange_id: ExchangeId::from_uuid(id.uuid()),
            prev_turn_id: self.last.replace(id),
            role: turn.role,
            status: turn.status,
            provider_used: None,
            model_used: turn.model_used,
            usage: Usage::default(),
            cost: None,
            context_tokens: None,
            // The reason of a failure may quote a provider; that the reply failed is its status.
            error: None,
            last_event_seq: 0,
            created_at: turn.created_at,
            started_at: None,
            completed_at: None,
            blocks,
            attempt: None,
        })
    }

    /// Returns the id that a block has in the snapshot; `None` if it is left out.
    pub fn copied_block(&self, own: BlockId) -> Option<BlockId> {
        self.blocks.get(&own).copied()
    }

    /// Returns the copy of a block; `None` if it is left out.
    fn copy_block(&mut self, block: Block, seq: u32) -> Option<Block> {
        // A search lists the pages that it has found in a block of its own, whether the reply cites them or not.
        if block.author == Author::Tool && !self.parts.tools {
            return None;
        }
        let block_metadata = match &block.content {
            Content::Image { .. } | Content::Reference { .. } | Content::PartialReference { .. } => card(&block),
            _ => Value::Null,
        };
        let content = self.copy_content(block.content)?;
        let number = u32::try_from(self.blocks.len() + 1).unwrap_or(u32::MAX);
        let id = BlockId::from_uuid(numbered(number));
        self.blocks.insert(block.id, id);
        Some(Block {
            id,
            seq,
            chat_seq: i64::from(number),
            author: block.author,
            state: block.state,
            content,
            parent_block_id: block.parent_block_id.and_then(|parent| self.copied_block(parent)),
            generation_id: None,
            block_metadata,
            created_at: block.created_at,
        })
    }

    /// Returns the copy of what a block says; `None` if it is left out.
    fn copy_content(&mut self, content: Content) -> Option<Content> {
        let parts = self.parts;
        match content {
            Content::Text { text, is_error: false } => Some(Content::text(text)),
            Content::Image { .. } => Some(content),
            Content::Reference { .. } | Content::PartialReference { .. } => parts.documents.then_some(content),
            Content::Thinking { thinking, title, duration_ms, .. } => parts.reasoning.then_some(Content::Thinking {
                thinking,
                signature: None,
                redacted: None,
                title,
                duration_ms,
            }),
            Content::ToolUse { tool_use_id, tool_name, arguments, arguments_raw, status, duration_ms } => {
                let tool_use_id = self.call_id(tool_use_id);
                parts.tools.then_some(Content::ToolUse {
                    tool_use_id,
                    tool_name,
                    arguments,
                    arguments_raw,
                    status,
                    duration_ms,
                })
            }
            Content::ToolResult { tool_use_id, tool_name, result, success, is_error, metadata } => {
                let (tool_use_id, metadata) = (self.call_id(tool_use_id), members(&metadata, &RESULT_MEMBERS));
                parts.tools.then_some(Content::ToolResult {
                    tool_use_id,
                    tool_name,
                    result,
                    success,
                    is_error,
                    metadata,
                })
            }
            // The pages that a reply cites are numbered in its text; those of a tool come with its result.
            Content::Other(fields) if fields.get("type").and_then(Value::as_str) == Some(sources::TYPE) => {
                let cited = fields.get("sources").cloned().unwrap_or_default();
                Some(Content::Other(Map::from_iter([
                    ("type".to_owned(), sources::TYPE.into()),
                    ("sources".to_owned(), cited),
                ])))
            }
            Content::Text { .. } | Content::ThinkingSignature { .. } | Content::Other(_) => None,
        }
    }

    /// Returns the number of a tool call, which a result has in common with its call.
    fn call_id(&mut self, tool_use_id: String) -> String {
        let next = format!("call-{}", self.calls.len() + 1);
        self.calls.entry(tool_use_id).or_insert(next).clone()
    }
}

/// Returns the `number`th id of a snapshot. Neighbours differ in more than the last bit, which pages use for keys of their
/// own.
fn numbered(number: u32) -> Uuid {
    Uuid::from_u128(u128::from(number) << 16)
}

/// Returns the card of an attachment as metadata of its copy.
fn card(block: &Block) -> Value {
    AttachmentCard::from_block(block).map_or(Value::Null, |card| json!({ CARD_KEY: card }))
}

/// Returns an object with these of its members.
fn members(value: &Value, names: &[&str]) -> Value {
    let Some(object) = value.as_object() else { return Value::Null };
    let kept = object.iter().filter(|(name, _)| names.contains(&name.as_str()));
    let kept: Map<String, Value> = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

#[cfg(test)]
mod tests;
