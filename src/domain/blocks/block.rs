//! Blocks: the ordered, typed pieces of a turn (`docs/reference/domain.md 4.3`). Grouping for display belongs to
//! `segment`.

use chrono::{DateTime, TimeDelta, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Error, Map, Value};

use crate::encoding::json_bounds;
use crate::encoding::json_reader::{JsonMembers, unknown_variant};
use crate::id::{BlockId, GenerationId};

mod schema;
pub use schema::content_schema;

/// The author of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Author {
    User,
    Assistant,
    System,
    Tool,
}

/// The state of a block. Only the newest block of a turn that is not a tool block may be `open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockState {
    Open,
    Done,
    Failed,
    Aborted,
}

/// The state of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Pending,
    AwaitingApproval,
    Running,
    Done,
    Failed,
    Cancelled,
    /// A person denied the call, and the tool did not run.
    Denied,
    /// The server stopped while the tool ran. The tool may or may not have finished, and is not run again.
    Interrupted,
    /// The client that declared the tool runs it and sends the result in a turn of its own.
    HandedOver,
}

impl ToolStatus {
    /// Returns true while the server still has to act on the call. A finished turn has no such calls
    /// (`docs/reference/domain.md I7`).
    pub fn is_open(self) -> bool {
        matches!(self, Self::Pending | Self::AwaitingApproval | Self::Running)
    }
}

/// The content of a block, by type. Types that this version does not know are kept unchanged.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    Text {
        text: String,
        /// True if the text is Turnleaf's description of a failure, not the model's output.
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
    /// A provider's opaque proof of its reasoning. Never displayed and never sent to clients
    /// (`docs/reference/domain.md C13`).
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
        /// The duration of the call in milliseconds.
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
        /// The selected range in Unicode scalar values, half open (`docs/reference/domain.md C19`).
        selection_start: u64,
        selection_end: u64,
    },
    /// `x:<name>` types and types of newer versions: stored and kept in place, not rendered.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

impl Content {
    /// Returns plain text of the model or the user.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), is_error: false }
    }

    /// Returns reasoning that has only text so far.
    pub fn thinking(thinking: impl Into<String>) -> Self {
        Self::Thinking { thinking: thinking.into(), signature: None, redacted: None, title: None, duration_ms: None }
    }

    /// Returns the stored type name: one of `docs/reference/domain.md 4.3` or `x:<name>`.
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

    /// Limits the JSON values in the content to the bounds within which they can be stored and read back.
    pub fn enforce_bounds(&mut self) {
        match self {
            Self::ToolUse { arguments, .. } => {
                json_bounds::enforce(arguments);
            }
            Self::ToolResult { result, metadata, .. } => {
                json_bounds::enforce(result);
                json_bounds::enforce(metadata);
            }
            Self::Other(members) => {
                json_bounds::enforce_members(members, |name| MEMBERS_OF_BLOCK.contains(&name));
            }
            _ => {}
        }
    }

    /// Returns the string that deltas extend while the block streams: text, reasoning, or raw tool arguments.
    pub fn streaming_text_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { thinking, .. } => Some(thinking),
            Self::ToolUse { arguments_raw, .. } => Some(arguments_raw.get_or_insert_default()),
            _ => None,
        }
    }

    /// Returns the string that deltas extend, for reading.
    pub fn streaming_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Thinking { thinking, .. } => Some(thinking),
            Self::ToolUse { arguments_raw, .. } => Some(arguments_raw.as_deref().unwrap_or_default()),
            _ => None,
        }
    }
}

/// Parses content of a type and shape that this version knows.
fn parse_known_content(content: &JsonMembers<'_>) -> Result<Content, Error> {
    Ok(match content.tag("type")? {
        "text" => Content::Text { text: content.get("text")?, is_error: content.get_or_default("is_error")? },
        "thinking" => Content::Thinking {
            thinking: content.get("thinking")?,
            signature: content.get_or_default("signature")?,
            redacted: content.get_or_default("redacted")?,
            title: content.get_or_default("title")?,
            duration_ms: content.get_or_default("duration_ms")?,
        },
        "thinking_signature" => Content::ThinkingSignature {
            signature: content.get("signature")?,
            attaches_to: content.get_or_default("for")?,
        },
        "tool_use" => Content::ToolUse {
            tool_use_id: content.get("tool_use_id")?,
            tool_name: content.get("tool_name")?,
            arguments: content.get_or_default("arguments")?,
            arguments_raw: content.get_or_default("arguments_raw")?,
            status: content.get("status")?,
            duration_ms: content.get_or_default("duration_ms")?,
        },
        "tool_result" => Content::ToolResult {
            tool_use_id: content.get("tool_use_id")?,
            tool_name: content.get("tool_name")?,
            result: content.get("result")?,
            success: content.get("success")?,
            is_error: content.get("is_error")?,
            metadata: content.get_or_default("metadata")?,
        },
        "image" => Content::Image { blob: content.get("blob")?, mime: content.get("mime")?, alt: content.get("alt")? },
        "reference" => Content::Reference {
            ref_id: content.get("ref_id")?,
            ref_type: content.get("ref_type")?,
            version_timestamp: content.get_or_default("version_timestamp")?,
        },
        "partial_reference" => Content::PartialReference {
            ref_id: content.get("ref_id")?,
            ref_type: content.get("ref_type")?,
            version_timestamp: content.get_or_default("version_timestamp")?,
            selection_start: content.get("selection_start")?,
            selection_end: content.get("selection_end")?,
        },
        other => return Err(unknown_variant(other)),
    })
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        match (parse_known_content(&JsonMembers(&value)), value) {
            (Ok(content), _) => Ok(content),
            (Err(_), Value::Object(map)) => Ok(Self::Other(map)),
            (Err(error), _) => Err(D::Error::custom(error)),
        }
    }
}

/// One typed piece of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Block {
    pub id: BlockId,
    /// The position in the turn, from 0, without gaps.
    pub seq: u32,
    /// The position in the chat. Strictly increasing on every path from a root to a leaf.
    pub chat_seq: i64,
    pub author: Author,
    pub state: BlockState,
    #[serde(flatten)]
    pub content: Content,
    /// The tool call that this tool result answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_block_id: Option<BlockId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation_id: Option<GenerationId>,
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub block_metadata: Value,
    pub created_at: DateTime<Utc>,
}

/// The members of a block's JSON object beside those of its content.
const MEMBERS_OF_BLOCK: [&str; 9] =
    ["id", "seq", "chat_seq", "author", "state", "parent_block_id", "generation_id", "block_metadata", "created_at"];

/// The key of `block_metadata` that holds the start time of a call. The block itself is older: the call may have
/// waited for approval.
pub const RUNS_SINCE: &str = "runs_since";

/// The value of `block_metadata.run_by` for a call that the provider itself runs within its response.
pub const RUN_BY_PROVIDER: &str = "provider";

/// The key of `block_metadata` that holds the step of a tool call: the number of its provider call in the reply, from
/// 0.
pub const STEP: &str = "step";

impl Block {
    /// Creates a finished block at this position (`ord` of the turn, `seq` of the block), which belongs to no tool call
    /// and no generation.
    pub fn new(
        id: BlockId,
        (turn_ord, seq): (i64, u32),
        author: Author,
        content: Content,
        created_at: DateTime<Utc>,
    ) -> Self {
        Self {
            id,
            seq,
            chat_seq: chat_seq(turn_ord, seq),
            author,
            state: BlockState::Done,
            content,
            parent_block_id: None,
            generation_id: None,
            block_metadata: Value::Null,
            created_at,
        }
    }

    /// Returns true for a call that the provider itself runs, so that it needs no answer here.
    pub fn is_run_by_provider(&self) -> bool {
        self.block_metadata.get("run_by").and_then(Value::as_str) == Some(RUN_BY_PROVIDER)
    }

    pub fn is_image(&self) -> bool {
        matches!(self.content, Content::Image { .. })
    }

    /// Returns the start time of a block that is still running: reasoning that streams, or a call whose tool runs.
    /// Returns `None` for finished blocks and for calls that wait for a person or for a free slot.
    pub fn running_since(&self) -> Option<DateTime<Utc>> {
        match (&self.content, self.state) {
            (Content::Thinking { .. }, BlockState::Open) => Some(self.created_at),
            (Content::ToolUse { status: ToolStatus::Running, .. }, BlockState::Done) => Some(self.began_at()),
            _ => None,
        }
    }

    /// Returns the end time of a block, if it is known; that of text is not.
    pub fn ended_at(&self) -> Option<DateTime<Utc>> {
        let (began, ms) = match &self.content {
            _ if self.state == BlockState::Open => return None,
            Content::Text { is_error: false, .. } => return None,
            Content::Thinking { duration_ms, .. } => (self.created_at, (*duration_ms)?),
            Content::ToolUse { duration_ms, .. } => (self.began_at(), (*duration_ms)?),
            _ => (self.created_at, 0),
        };
        began.checked_add_signed(TimeDelta::try_milliseconds(i64::try_from(ms).ok()?)?)
    }

    fn began_at(&self) -> DateTime<Utc> {
        let began = self.block_metadata.get(RUNS_SINCE).and_then(Value::as_str);
        began.and_then(|began| began.parse().ok()).unwrap_or(self.created_at)
    }
}

/// The bits of `chat_seq` that hold a block's position in its turn: the bound on the blocks of one turn.
const BLOCKS_PER_TURN_BITS: u32 = 20;
/// The exclusive upper bound of a block's `seq`. A stored number from here on is invalid.
pub const LAST_BLOCK_SEQ: u32 = (1 << BLOCKS_PER_TURN_BITS) - 1;

/// Computes a block's position in its chat. A turn's `ord` increases from parent to child, because a child is created
/// later. With `ord` in the high bits, `chat_seq` increases on every path without a counter that concurrent replies
/// would have to share.
pub fn chat_seq(turn_ord: i64, seq: u32) -> i64 {
    (turn_ord << BLOCKS_PER_TURN_BITS) | i64::from(seq)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn type_of_newer_version_survives_load_and_save() {
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
    fn content_of_newer_version_round_trips_with_reserved_member_names() {
        let names = MEMBERS_OF_BLOCK.into_iter().chain(["$serde_json::private::RawValue"]);
        for name in names {
            let members = [("type", "x:newer"), (name, "mine")];
            let members = members.map(|(name, text)| (name.to_owned(), Value::from(text)));
            let mut content = Content::Other(members.into_iter().collect());
            content.enforce_bounds();
            let block = crate::fixtures::block(2, 0, content.clone());
            let stored = serde_json::to_string(&block).unwrap();
            assert_eq!(serde_json::from_str::<Block>(&stored).unwrap(), block, "{stored}");
            let stored = serde_json::to_string(&content).unwrap();
            assert_eq!(serde_json::from_str::<Content>(&stored).unwrap(), content, "{stored}");
            assert!(stored.contains(&format!("\"x:{name}\":\"mine\"")), "{stored}");
        }
    }

    #[test]
    fn chat_seq_rises_from_turn_to_turn_and_from_block_to_block() {
        assert!(chat_seq(3, 0) < chat_seq(3, 1));
        assert!(chat_seq(3, 1_000) < chat_seq(4, 0));
        // A chat may have 50 000 turns; JavaScript keeps integers exact below 2^53.
        assert!(chat_seq(50_000, u32::MAX >> 12) < (1 << 53));
    }

    #[test]
    fn block_awaiting_approval_is_not_running() {
        let at = |seconds: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds);
        let began = json!({ RUNS_SINCE: at(300) });
        let call = |status, took| {
            let mut call = crate::fixtures::tool_use("c", "f", json!({}), status);
            if let Content::ToolUse { duration_ms, .. } = &mut call {
                *duration_ms = took;
            }
            call
        };
        let block = |content, metadata| Block {
            created_at: at(0),
            block_metadata: metadata,
            ..crate::fixtures::block(2, 0, content)
        };
        let awaiting = block(call(ToolStatus::AwaitingApproval, None), Value::Null);
        assert_eq!((awaiting.running_since(), awaiting.ended_at()), (None, None));
        let running = block(call(ToolStatus::Running, None), began.clone());
        assert_eq!((running.running_since(), running.ended_at()), (Some(at(300)), None));
        let of_before = block(call(ToolStatus::Running, None), Value::Null);
        assert_eq!(of_before.running_since(), Some(at(0)), "a block without a start time began when it was written");
        let over = block(call(ToolStatus::Done, Some(800)), began);
        assert_eq!((over.running_since(), over.ended_at()), (None, Some(at(300) + TimeDelta::milliseconds(800))));
        let mut thought = block(Content::thinking("hm"), Value::Null);
        thought.state = BlockState::Open;
        assert_eq!((thought.running_since(), thought.ended_at()), (Some(at(0)), None));
        thought.state = BlockState::Done;
        if let Content::Thinking { duration_ms, .. } = &mut thought.content {
            *duration_ms = Some(45_000);
        }
        assert_eq!((thought.running_since(), thought.ended_at()), (None, Some(at(45))));
        assert_eq!(block(Content::text("Hi"), Value::Null).ended_at(), None, "nobody knows");
    }
}
