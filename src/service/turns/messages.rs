//! Validation of the blocks of a user message.

use chrono::{DateTime, Utc};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use crate::ServiceError;
use turnleaf_domain::attachment::{Attachment, AttachmentCard, CARD_KEY};
use turnleaf_domain::{Block, Content, InvalidField, TurnId, limits};
use turnleaf_tools::result::{ResultPart, build_result};
use turnleaf_tools::toolbox::CallOutcome;

/// Returns true when a text has no visible character.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// A content block of a user message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
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

/// Parses an offset that every client can represent.
fn offset<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let offset = u64::deserialize(from)?;
    if i64::try_from(offset).is_err() {
        return Err(D::Error::custom("an offset is at most 9223372036854775807"));
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

/// The reason for refusing an empty message.
pub const EMPTY_MESSAGE_REASON: &str = "the message is empty";

/// Validates the blocks of a message as far as possible without database access. NUL, which PostgreSQL cannot store,
/// becomes its visible symbol (U+2400); nothing else changes.
pub fn check_blocks(blocks: Vec<MessageBlock>) -> Result<Vec<CheckedBlock>, ServiceError> {
    if blocks.len() > limits::BLOCKS_PER_USER_TURN {
        return Err(InvalidField::new("content", format!("at most {} blocks", limits::BLOCKS_PER_USER_TURN)).into());
    }
    let texts = blocks.iter().filter_map(|block| match block {
        MessageBlock::Text { text } => Some(text),
        _ => None,
    });
    let bytes: usize = texts.clone().map(String::len).sum();
    if bytes > limits::MESSAGE_BYTES {
        let limit = format!("at most {} KiB", limits::MESSAGE_BYTES >> 10);
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    if texts.clone().map(|text| text.chars().count()).sum::<usize>() > limits::MESSAGE_CHARS {
        let limit = format!("at most {} characters", limits::MESSAGE_CHARS);
        return Err(ServiceError::TooLarge { field: "content", limit });
    }
    let is_text = |block: &MessageBlock| matches!(block, MessageBlock::Text { .. });
    if blocks.iter().all(is_text) && texts.clone().all(|text| is_blank(text)) {
        return Err(InvalidField::new("content", EMPTY_MESSAGE_REASON).into());
    }
    let count = |is_one: fn(&MessageBlock) -> bool| blocks.iter().filter(|block| is_one(block)).count();
    let references =
        count(|block| matches!(block, MessageBlock::Reference { .. } | MessageBlock::PartialReference { .. }));
    if references > limits::REFERENCES_PER_TURN {
        let reason = format!("at most {} references", limits::REFERENCES_PER_TURN);
        return Err(InvalidField::new("content", reason).into());
    }
    if count(|block| matches!(block, MessageBlock::Image { .. })) > limits::IMAGES_PER_TURN {
        return Err(InvalidField::new("content", format!("at most {} images", limits::IMAGES_PER_TURN)).into());
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
                return Err(InvalidField::new(
                    "content",
                    format!("`alt` has at most {} characters", limits::ALT_CHARS),
                )
                .into());
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
                return Err(InvalidField::new("content", "a result names its call with `tool_use_id`").into());
            }
            let bytes = result.as_str().map_or_else(|| result.to_string().len(), str::len);
            if bytes > limits::TOOL_RESULT_BYTES {
                let limit = format!("a result has at most {} KiB", limits::TOOL_RESULT_BYTES >> 10);
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
        let checked = |said: &str| check_blocks(text(said)).unwrap().remove(0).content;
        assert_eq!(checked(odd), Content::text(odd));
        assert_eq!(checked("a\0b"), Content::text("a\u{2400}b"));
    }
}
