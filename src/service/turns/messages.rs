//! Validation of the blocks of a user message.

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::ServiceError;
use turnleaf_domain::documents::attachment::{Attachment, AttachmentCard, CARD_KEY};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{Block, Content, InvalidField, MessageCode, TurnId, limits};
use turnleaf_tools::result::{ResultPart, build_result};
use turnleaf_tools::toolbox::CallOutcome;

/// Returns true when a text has no visible character.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A content block of a user message. The form of the unified message model is accepted as well:
/// `{"block_type": "reference", "content": {"ref_id": …}}`; `user_text` is its name of `text`.
// With `remote`, the derives make inherent functions, so that `Deserialize` can accept both forms.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(remote = "Self", tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum MessageBlock {
    Text {
        text: String,
    },
    /// The result of a tool call that the client ran.
    ToolResult {
        /// The id of the call, as the model gave it.
        tool_use_id: String,
        #[serde(alias = "content")]
        result: Value,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
    /// An uploaded image.
    Image {
        /// The upload's `sha256`.
        blob: String,
        /// Alternative text; defaults to the name of the upload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<String>,
    },
    /// A whole document.
    Reference {
        #[schema(format = "uuid")]
        ref_id: String,
        /// `document`.
        ref_type: String,
        /// The version; defaults to the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_timestamp: Option<DateTime<Utc>>,
    },
    /// A selection of a document: Unicode scalar values of that version, half open.
    PartialReference {
        #[schema(format = "uuid")]
        ref_id: String,
        /// `document`.
        ref_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version_timestamp: Option<DateTime<Utc>>,
        #[serde(deserialize_with = "offset")]
        selection_start: u64,
        #[serde(deserialize_with = "offset")]
        selection_end: u64,
        /// The text that the client expects in the selection; a different text is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        quote: Option<String>,
    },
}

impl Serialize for MessageBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for MessageBlock {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(from)?;
        if let Some(block_type) = fields.remove("block_type") {
            fields = flatten_content(block_type, fields).map_err(D::Error::custom)?;
        }
        Self::deserialize(Value::Object(fields)).map_err(D::Error::custom)
    }
}

/// Converts the form of the unified message model, in which the content is nested. Of the members that such a block has
/// in responses, those that the server assigns are ignored, so that a block can be sent back as it was read.
fn flatten_content(block_type: Value, mut block: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let Some(Value::Object(mut fields)) = block.remove("content") else {
        return Err("`content` must be an object".to_owned());
    };
    if let Some(unknown) = block.keys().find(|name| !ASSIGNED_MEMBERS.contains(&name.as_str())) {
        return Err(format!("unknown field `{unknown}`"));
    }
    let block_type = match block_type.as_str() {
        Some("user_text") => Value::from("text"),
        Some("tool_result") => {
            fields.retain(|name, _| !matches!(name.as_str(), "tool_name" | "metadata"));
            if let Some(Value::Bool(success)) = fields.remove("success") {
                fields.entry("is_error").or_insert(Value::Bool(!success));
            }
            block_type
        }
        Some("image") => {
            fields.remove("mime");
            block_type
        }
        _ => block_type,
    };
    if fields.insert("type".to_owned(), block_type).is_some() {
        return Err("unknown field `type` in `content`".to_owned());
    }
    Ok(fields)
}

/// The members of a block of the unified message model that the server assigns (`docs/reference/domain.md C3`).
const ASSIGNED_MEMBERS: [&str; 8] =
    ["id", "chat_session_id", "turn_id", "sequence_number", "author", "parent_block_id", "metadata", "created_at"];

/// Parses an offset that every client can represent.
fn offset<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let offset = u64::deserialize(from)?;
    if i64::try_from(offset).is_err() {
        return Err(D::Error::custom("must be at most 9223372036854775807"));
    }
    Ok(offset)
}

/// A block that is validated without database access.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedBlock {
    /// The type and alternative text of an image and the version of a reference are resolved later.
    pub content: Content,
    pub quote: Option<String>,
}

/// The content of a user turn: the contents of its blocks, and their metadata.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UserMessage {
    pub contents: Vec<Content>,
    /// One entry per content.
    pub metadata: Vec<Value>,
    /// The message that this one repeats without a person reading it again.
    pub copy_of: Option<TurnId>,
}

impl UserMessage {
    /// Copies the blocks of a stored message, to send them again.
    pub fn from_blocks(blocks: &[Block]) -> Self {
        let (contents, metadata) =
            blocks.iter().map(|block| (block.content.clone(), block.block_metadata.clone())).unzip();
        Self { contents, metadata, copy_of: None }
    }

    pub(crate) fn push(&mut self, content: Content, card: Option<&AttachmentCard>) {
        self.contents.push(content);
        self.metadata.push(card.map_or(Value::Null, |card| json!({ CARD_KEY: card })));
    }

    pub(crate) fn concat(mut self, other: Self) -> Self {
        self.contents.extend(other.contents);
        self.metadata.extend(other.metadata);
        self
    }

    /// Returns the title of the first attachment; empty when there is none.
    pub fn first_title(&self) -> &str {
        self.metadata.iter().find_map(|metadata| metadata[CARD_KEY]["title"].as_str()).unwrap_or_default()
    }
}

impl From<Attachment> for MessageBlock {
    /// Converts an attachment of a draft into the block that is sent.
    fn from(attachment: Attachment) -> Self {
        match attachment.content {
            Content::Image { blob, alt, .. } => Self::Image { blob, alt: Some(alt) },
            Content::Reference { ref_id, ref_type, version_timestamp } => {
                Self::Reference { ref_id, ref_type, version_timestamp }
            }
            Content::PartialReference { ref_id, ref_type, version_timestamp, selection_start, selection_end } => {
                let quote = None;
                Self::PartialReference { ref_id, ref_type, version_timestamp, selection_start, selection_end, quote }
            }
            // Drafts have no other attachments.
            _ => Self::Text { text: String::new() },
        }
    }
}

/// Validates the blocks of a message as far as possible without database access. NUL, which PostgreSQL cannot store,
/// becomes its visible symbol (U+2400); nothing else changes.
pub fn check_blocks(blocks: Vec<MessageBlock>) -> Result<Vec<CheckedBlock>, ServiceError> {
    if blocks.len() > limits::BLOCKS_PER_USER_TURN {
        let reason = MessageCode::TooManyBlocks.with("most", limits::BLOCKS_PER_USER_TURN);
        return Err(InvalidField::new("content", reason).into());
    }
    let texts = blocks.iter().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text),
        _ => None,
    });
    let bytes: usize = texts.clone().map(String::len).sum();
    if bytes > limits::MESSAGE_BYTES {
        let limit = MessageCode::SizeLimit.with("limit", ByteSize::from_usize(limits::MESSAGE_BYTES));
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    if texts.clone().map(|text| text.chars().count()).sum::<usize>() > limits::MESSAGE_CHARS {
        let limit = MessageCode::TooManyCharacters.with("most", limits::MESSAGE_CHARS);
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    let is_text = |block: &MessageBlock| matches!(block, MessageBlock::Text { .. });
    if blocks.iter().all(is_text) && texts.clone().all(|text| is_blank(text)) {
        return Err(InvalidField::new("content", MessageCode::EmptyMessage).into());
    }
    let count = |is_one: fn(&MessageBlock) -> bool| blocks.iter().filter(|block| is_one(block)).count();
    let references =
        count(|block| matches!(block, MessageBlock::Reference { .. } | MessageBlock::PartialReference { .. }));
    if references > limits::REFERENCES_PER_TURN {
        let reason = MessageCode::TooManyReferences.with("most", limits::REFERENCES_PER_TURN);
        return Err(InvalidField::new("content", reason).into());
    }
    if count(|block| matches!(block, MessageBlock::Image { .. })) > limits::IMAGES_PER_TURN {
        let reason = MessageCode::TooManyImages.with("most", limits::IMAGES_PER_TURN);
        return Err(InvalidField::new("content", reason).into());
    }
    blocks.into_iter().map(check_block).collect()
}

fn check_block(block: MessageBlock) -> Result<CheckedBlock, ServiceError> {
    let quote = match &block {
        MessageBlock::PartialReference { quote, .. } => quote.clone(),
        _ => None,
    };
    Ok(CheckedBlock { content: content(block)?, quote })
}

fn content(block: MessageBlock) -> Result<Content, ServiceError> {
    match block {
        MessageBlock::Text { text } => Ok(Content::text(text.replace('\0', "\u{2400}"))),
        MessageBlock::Image { blob, alt } => {
            let alt = alt.unwrap_or_default().replace('\0', "\u{2400}");
            if alt.chars().count() > limits::ALT_CHARS {
                let reason = MessageCode::AltTooLong.with("most", limits::ALT_CHARS);
                return Err(InvalidField::new("content", reason).into());
            }
            Ok(Content::Image { blob, mime: String::new(), alt })
        }
        MessageBlock::Reference { ref_id, ref_type, version_timestamp } => {
            Ok(Content::Reference { ref_id, ref_type, version_timestamp })
        }
        MessageBlock::PartialReference {
            ref_id, ref_type, version_timestamp, selection_start, selection_end, ..
        } => Ok(Content::PartialReference { ref_id, ref_type, version_timestamp, selection_start, selection_end }),
        MessageBlock::ToolResult { tool_use_id, result, is_error } => {
            if tool_use_id.is_empty() || tool_use_id.contains('\0') {
                return Err(InvalidField::new("content", MessageCode::ToolResultNeedsId).into());
            }
            let bytes = result.as_str().map_or_else(|| result.to_string().len(), str::len);
            if bytes > limits::TOOL_RESULT_BYTES {
                let limit = ByteSize::from_usize(limits::TOOL_RESULT_BYTES);
                let limit = MessageCode::ToolResultLimit.with("limit", limit);
                return Err(ServiceError::TooLarge { field: "content", limit });
            }
            let cleaned = match result {
                Value::String(text) => build_result(CallOutcome::Done, vec![ResultPart::Text(text)], None),
                other => build_result(CallOutcome::Done, Vec::new(), Some(other)),
            };
            let metadata = if cleaned.metadata.is_empty() { Value::Null } else { Value::Object(cleaned.metadata) };
            Ok(Content::ToolResult {
                tool_use_id,
                // The name is taken from the call; see `tool_results`.
                tool_name: String::new(),
                result: cleaned.result,
                success: !is_error,
                is_error,
                metadata,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Vec<MessageBlock> {
        vec![MessageBlock::Text { text: text.into() }]
    }

    #[test]
    fn message_of_nothing_visible_is_empty() {
        for blank in ["", " \n\t\u{200b}\u{a0}", "\u{feff}", "\u{e0061}"] {
            assert!(matches!(check_blocks(text(blank)), Err(ServiceError::Invalid(_))), "{blank:?}");
        }
        assert!(check_blocks(Vec::new()).is_err());
    }

    #[test]
    fn block_is_accepted_in_form_of_unified_model() {
        let id = "0190b5b4-0000-7000-8000-000000000001";
        for (unified, own) in [
            (
                json!({ "block_type": "user_text", "content": { "text": "Hello" } }),
                json!({ "type": "text", "text": "Hello" }),
            ),
            (
                json!({ "block_type": "text", "content": { "text": "Hello" }, "id": id, "author": "user",
                    "sequence_number": 1, "metadata": {}, "parent_block_id": null }),
                json!({ "type": "text", "text": "Hello" }),
            ),
            (
                json!({ "block_type": "reference", "content": { "ref_id": id, "ref_type": "document",
                    "version_timestamp": "2025-01-15T10:30:00Z" } }),
                json!({ "type": "reference", "ref_id": id, "ref_type": "document",
                    "version_timestamp": "2025-01-15T10:30:00Z" }),
            ),
            (
                json!({ "block_type": "partial_reference", "content": { "ref_id": id, "ref_type": "document",
                    "selection_start": 100, "selection_end": 500 } }),
                json!({ "type": "partial_reference", "ref_id": id, "ref_type": "document",
                    "selection_start": 100, "selection_end": 500 }),
            ),
            (
                json!({ "block_type": "tool_result", "content": { "tool_use_id": "c1", "tool_name": "weather",
                    "result": { "celsius": -3 }, "success": false, "metadata": {} } }),
                json!({ "type": "tool_result", "tool_use_id": "c1", "result": { "celsius": -3 }, "is_error": true }),
            ),
            (
                json!({ "block_type": "image", "content": { "blob": "ab", "mime": "image/png", "alt": "A leaf" } }),
                json!({ "type": "image", "blob": "ab", "alt": "A leaf" }),
            ),
        ] {
            let block = serde_json::from_value::<MessageBlock>(unified.clone()).expect("the unified form");
            assert_eq!(block, serde_json::from_value(own.clone()).expect("the own form"), "{unified}");
            assert_eq!(serde_json::from_value::<MessageBlock>(json!(block)).expect("what was written"), block);
        }
    }

    #[test]
    fn invalid_block_is_refused_with_reason() {
        for (block, reason) in [
            (json!({ "block_type": "text" }), "`content` must be an object"),
            (json!({ "block_type": "text", "content": "Hello" }), "`content` must be an object"),
            (json!({ "block_type": "text", "content": { "text": "a", "type": "text" } }), "unknown field `type`"),
            (json!({ "block_type": "text", "content": { "text": "a" }, "colour": 1 }), "unknown field `colour`"),
            (json!({ "block_type": "text", "content": { "text": "a", "colour": 1 } }), "unknown field `colour`"),
            (json!({ "block_type": "song", "content": {} }), "unknown variant `song`"),
            (json!({ "block_type": 1, "content": {} }), "expected variant identifier"),
            (json!({ "type": "text", "text": "a", "colour": 1 }), "unknown field `colour`"),
            (json!({ "text": "a" }), "missing field `type`"),
        ] {
            let refused = serde_json::from_value::<MessageBlock>(block.clone()).expect_err("invalid").to_string();
            assert!(refused.contains(reason), "{block}: {refused}");
        }
    }

    #[test]
    fn bound_is_one_mebibyte_and_not_a_byte_more() {
        // With four bytes per character the number of characters stays below its own bound.
        let largest = "𝄞".repeat(limits::MESSAGE_BYTES / 4);
        assert!(check_blocks(text(&largest)).is_ok());
        assert!(matches!(check_blocks(text(&(largest + "a"))), Err(ServiceError::TooLarge { .. })));
        assert!(matches!(
            check_blocks(text(&"a".repeat(limits::MESSAGE_CHARS + 1))),
            Err(ServiceError::TooLarge { .. })
        ));
    }

    #[test]
    fn text_is_kept_except_for_nul() {
        let odd = "👩‍👩‍👧 e\u{301} \u{fb01} Å  \n";
        let checked = |input: &str| check_blocks(text(input)).unwrap().remove(0).content;
        assert_eq!(checked(odd), Content::text(odd));
        assert_eq!(checked("a\0b"), Content::text("a\u{2400}b"));
    }
}
