//! Blocks: the ordered, typed pieces of a turn (domain.md 4.3). Not for how they are grouped on screen: that is
//! `segment`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::id::{BlockId, GenerationId};

/// Who wrote a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    User,
    Assistant,
    System,
    Tool,
}

/// How far a block is. Only the newest non-tool block of a turn may be `Open` (domain.md I6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockState {
    Open,
    Done,
    Failed,
    Aborted,
}

/// How far a tool call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Pending,
    AwaitingApproval,
    Running,
    Done,
    Failed,
    Cancelled,
}

impl ToolStatus {
    /// Whether the call still waits for something. A terminal turn has none of these (domain.md I7).
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::AwaitingApproval | Self::Running)
    }
}

/// What a block holds, by type. A type this version does not know is kept as it came, in its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    Text {
        text: String,
        /// The text is Turnleaf's own sentence about a failure, not the model's words.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    Thinking {
        thinking: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
        /// Opaque reasoning that the provider hides (`redacted_thinking`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        redacted: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Measured by the server with a monotonic clock, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    /// A provider's opaque proof of its reasoning. Never displayed, never streamed (domain.md C13).
    ThinkingSignature {
        signature: String,
        #[serde(default, rename = "for", skip_serializing_if = "Option::is_none")]
        attaches_to: Option<BlockId>,
    },
    ToolUse {
        tool_use_id: String,
        tool_name: String,
        /// The parsed arguments; null while they stream or when they are not JSON.
        #[serde(default)]
        arguments: Value,
        /// The arguments as the model wrote them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arguments_raw: Option<String>,
        status: ToolStatus,
        /// How long the call ran, in milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
    },
    ToolResult {
        tool_use_id: String,
        tool_name: String,
        result: Value,
        success: bool,
        is_error: bool,
        #[serde(default, skip_serializing_if = "Value::is_null")]
        metadata: Value,
    },
    Image {
        /// sha256 of the blob, hex.
        blob: String,
        mime: String,
        alt: String,
    },
    Reference {
        ref_id: String,
        ref_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_timestamp: Option<DateTime<Utc>>,
    },
    PartialReference {
        ref_id: String,
        ref_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_timestamp: Option<DateTime<Utc>>,
        /// Unicode scalar values, half open (domain.md C19).
        selection_start: u64,
        selection_end: u64,
    },
    /// `x:<name>` types and types of a newer version: stored and kept in place, not rendered.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl utoipa::ToSchema for Content {}

impl utoipa::PartialSchema for Content {
    /// Written by hand: the last kind is told from the others by what it is not.
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        let kind = |name: &str, fields: Value, needed: &[&str]| {
            let mut all = json!({ "type": { "type": "string", "enum": [name] } });
            if let (Value::Object(all), Value::Object(fields)) = (&mut all, fields) {
                all.extend(fields);
            }
            let needed: Vec<&str> = std::iter::once("type").chain(needed.iter().copied()).collect();
            json!({ "title": name, "type": "object", "properties": all, "required": needed })
        };
        let (text, flag, count) =
            (json!({ "type": "string" }), json!({ "type": "boolean" }), json!({ "type": "integer", "minimum": 0 }));
        let time = json!({ "type": "string", "format": "date-time" });
        let call = json!({ "tool_use_id": text, "tool_name": text });
        let with = |base: &Value, more: Value| match (base.clone(), more) {
            (Value::Object(mut base), Value::Object(more)) => {
                base.extend(more);
                Value::Object(base)
            }
            (base, _) => base,
        };
        let status = json!({ "type": "string", "enum": ["pending", "awaiting_approval", "running", "done", "failed", "cancelled"] });
        let reference = json!({ "ref_id": text, "ref_type": text, "version_timestamp": time });
        let known = [
            kind("text", json!({ "text": text, "is_error": flag }), &["text"]),
            kind(
                "thinking",
                json!({ "thinking": text, "signature": text, "redacted": text, "title": text, "duration_ms": count }),
                &["thinking"],
            ),
            kind("thinking_signature", json!({ "signature": text, "for": text }), &["signature"]),
            kind(
                "tool_use",
                with(&call, json!({ "arguments": {}, "arguments_raw": text, "status": status, "duration_ms": count })),
                &["tool_use_id", "tool_name", "arguments", "status"],
            ),
            kind(
                "tool_result",
                with(&call, json!({ "result": {}, "success": flag, "is_error": flag, "metadata": {} })),
                &["tool_use_id", "tool_name", "result", "success", "is_error"],
            ),
            kind("image", json!({ "blob": text, "mime": text, "alt": text }), &["blob", "mime", "alt"]),
            kind("reference", reference.clone(), &["ref_id", "ref_type"]),
            kind(
                "partial_reference",
                with(&reference, json!({ "selection_start": count, "selection_end": count })),
                &["ref_id", "ref_type", "selection_start", "selection_end"],
            ),
        ];
        let names: Vec<Value> =
            known.iter().filter_map(|kind| kind.pointer("/properties/type/enum/0").cloned()).collect();
        let other = json!({
            "title": "other",
            "description": "A type of a newer version or of an extension (`x:…`), as it came.",
            "type": "object",
            "properties": { "type": { "type": "string", "not": { "enum": names } } },
            "required": ["type"],
        });
        let all: Vec<Value> = known.into_iter().chain([other]).collect();
        // What is written here is a schema.
        serde_json::from_value(json!({ "oneOf": all })).unwrap_or_default()
    }
}

impl Content {
    /// Plain text of the model or the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), is_error: false }
    }

    /// Reasoning that has only text so far.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), signature: None, redacted: None, title: None, duration_ms: None }
    }

    /// The stored type name: one of domain.md 4.3 or `x:<name>`.
    pub fn block_type(&self) -> &str {
        match self {
            Self::Text { .. } => "text",
            Self::Thinking { .. } => "thinking",
            Self::ThinkingSignature { .. } => "thinking_signature",
            Self::ToolUse { .. } => "tool_use",
            Self::ToolResult { .. } => "tool_result",
            Self::Image { .. } => "image",
            Self::Reference { .. } => "reference",
            Self::PartialReference { .. } => "partial_reference",
            Self::Other(map) => map.get("type").and_then(Value::as_str).unwrap_or("x:unknown"),
        }
    }

    /// The growing string of a block while it streams: text, reasoning, or raw tool arguments.
    pub fn growing_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { thinking, .. } => Some(thinking),
            Self::ToolUse { arguments_raw, .. } => Some(arguments_raw.get_or_insert_default()),
            _ => None,
        }
    }
}

/// One typed piece of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Block {
    pub id: BlockId,
    /// Place in the turn, from 0 and dense.
    pub seq: u32,
    /// Place in the chat: strictly rising on every path from a root to a leaf (domain.md I5).
    pub chat_seq: i64,
    pub author: Author,
    pub state: BlockState,
    #[serde(flatten)]
    pub content: Content,
    /// A tool result's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_block_id: Option<BlockId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation_id: Option<GenerationId>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub block_metadata: Value,
    pub created_at: DateTime<Utc>,
}

/// How many blocks a turn may have before `chat_seq` would run into the next turn's numbers.
const BLOCKS_PER_TURN_BITS: u32 = 20;

/// A block's place in its chat. A turn's `ord` rises from parent to child (a child is created later), so putting it in
/// the high bits makes `chat_seq` rise on every path without a counter that running replies would have to share.
pub fn chat_seq(turn_ord: i64, seq: u32) -> i64 {
    (turn_ord << BLOCKS_PER_TURN_BITS) | i64::from(seq)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_of_a_newer_version_survives_load_and_save() {
        for newer in [
            json!({"type": "x:citation", "url": "https://example.org", "span": [0, 4]}),
            json!({"type": "hologram", "data": {"deep": [1, 2, {"k": null}]}}),
        ] {
            let content: Content = serde_json::from_value(newer.clone()).unwrap();
            assert!(matches!(content, Content::Other(_)), "{newer}");
            assert_eq!(content.block_type(), newer["type"]);
            assert_eq!(serde_json::to_value(&content).unwrap(), newer);
        }
    }

    #[test]
    fn chat_seq_rises_from_turn_to_turn_and_from_block_to_block() {
        assert!(chat_seq(3, 0) < chat_seq(3, 1));
        assert!(chat_seq(3, 1_000) < chat_seq(4, 0));
        // A chat may have 50 000 turns; JavaScript keeps integers exactly below 2^53.
        assert!(chat_seq(50_000, u32::MAX >> 12) < (1 << 53));
    }
}
