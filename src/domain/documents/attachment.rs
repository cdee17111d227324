//! Attachments of a message: images, documents and selections of documents. Each block carries a card with everything
//! that its display needs, so no lookup is necessary. `providers::history` renders attachments for a model.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use crate::blocks::block::{Block, Content};
use crate::documents::selection;
use crate::encoding::json_reader::{self, deserialize_members};
use crate::id::BlockId;
use crate::usage::tokens::approx_tokens;

/// The key of an [`AttachmentCard`] in `block_metadata`.
pub const CARD_KEY: &str = "card";
/// The only `ref_type` so far.
pub const DOCUMENT_REF_TYPE: &str = "document";

/// The display data of an attachment, as it was when the message was written. It is stored with the block, so that
/// live pages, reloaded pages, pages without script and exports agree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AttachmentCard {
    /// The title of the document, or the name of the image.
    pub title: String,
    /// The first and last line of a selection, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
    /// The beginning of a selection, at most [`CARD_QUOTE_CHARS`] characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The approximate number of tokens that the attachment adds to a request.
    #[serde(default)]
    pub tokens: u64,
    /// Width and height of an image, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// The sha256 of an image's thumbnail, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<String>,
}

/// The tokens that the `<document>` element around a text costs.
pub const WRAPPING_TOKENS: u64 = 25;

/// The most characters of a selection that its card keeps.
pub const CARD_QUOTE_CHARS: usize = 600;

/// Estimates the tokens of an image. Vendors count about one token for 750 pixels and scale larger images down.
pub fn image_tokens(size: Option<(u32, u32)>) -> u64 {
    const PIXELS: u64 = 750;
    let guess = |(width, height)| (u64::from(width) * u64::from(height)).div_ceil(PIXELS).clamp(85, 1_600);
    size.map_or(1_000, guess)
}

/// Returns true for a reference to a document or to a selection of one.
pub fn is_reference(content: &Content) -> bool {
    matches!(content, Content::Reference { .. } | Content::PartialReference { .. })
}

impl AttachmentCard {
    /// Returns the card of a selection of this text and the selected text, or `None` if the selection is out of
    /// range.
    pub fn from_selection(title: String, text: &str, (start, end): (u64, u64)) -> Option<(Self, &str)> {
        let selected = selection::slice(text, start, end)?;
        let card = Self {
            title,
            lines: Some(selection::line_range(text, start, end)),
            quote: Some(selected.chars().take(CARD_QUOTE_CHARS).collect()),
            tokens: approx_tokens(selected) + WRAPPING_TOKENS,
            ..Self::default()
        };
        Some((card, selected))
    }

    /// Returns the card of a block, if it has one.
    pub fn from_block(block: &Block) -> Option<Self> {
        json_reader::from_value(block.block_metadata.get(CARD_KEY)?).ok()
    }
}

/// The difference of a referenced document or image from the state that the message refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceStatus {
    /// The document has a newer version.
    Older,
    /// The document or image no longer exists.
    Deleted,
}

/// One attachment of a draft: the content of its future block, and its card.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Attachment {
    #[serde(flatten)]
    pub content: Content,
    pub card: AttachmentCard,
}

impl<'de> Deserialize<'de> for Attachment {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        deserialize_members(from, |members| {
            Ok(Self { content: members.read_all()?, card: members.get_or_default(CARD_KEY)? })
        })
    }
}

impl Attachment {
    /// Returns an uploaded image as an attachment.
    pub fn image(
        blob: String,
        mime: String,
        name: String,
        size: Option<(u32, u32)>,
        thumbnail: Option<String>,
    ) -> Self {
        let card = AttachmentCard {
            title: name.clone(),
            size,
            tokens: image_tokens(size),
            thumbnail,
            ..AttachmentCard::default()
        };
        Self { content: Content::Image { blob, mime, alt: name }, card }
    }

    /// Returns a reference to the whole newest version of a document.
    pub fn document(id: String, title: String, version: DateTime<Utc>, bytes: u64) -> Self {
        let content =
            Content::Reference { ref_id: id, ref_type: DOCUMENT_REF_TYPE.to_owned(), version_timestamp: Some(version) };
        Self {
            content,
            card: AttachmentCard { title, tokens: bytes.div_ceil(4) + WRAPPING_TOKENS, ..AttachmentCard::default() },
        }
    }

    /// Returns a reference to these lines (from 1) of the version with this text, or `None` if they select nothing.
    pub fn from_lines(
        id: String,
        title: String,
        version: DateTime<Utc>,
        text: &str,
        (first, last): (u64, u64),
    ) -> Option<Self> {
        let (start, end) = selection::select_lines(text, first, last)?;
        let content = Content::PartialReference {
            ref_id: id,
            ref_type: DOCUMENT_REF_TYPE.to_owned(),
            version_timestamp: Some(version),
            selection_start: start,
            selection_end: end,
        };
        let (card, _) = AttachmentCard::from_selection(title, text, (start, end))?;
        Some(Self { content, card })
    }

    /// Returns the attachment in a block, and `None` for blocks of other types.
    pub fn from_block(block: &Block) -> Option<Self> {
        let content = &block.content;
        is_attached(content)
            .then(|| Self { content: content.clone(), card: AttachmentCard::from_block(block).unwrap_or_default() })
    }

    /// Returns the key that identifies an attachment among those of one message.
    pub fn dedup_key(&self) -> String {
        match &self.content {
            Content::Image { blob, .. } => blob.clone(),
            Content::Reference { ref_id, .. } => ref_id.clone(),
            Content::PartialReference { ref_id, selection_start, selection_end, .. } => {
                format!("{ref_id}:{selection_start}-{selection_end}")
            }
            _ => String::new(),
        }
    }
}

/// Returns true for content that is attached to a message, as opposed to its text.
pub fn is_attached(content: &Content) -> bool {
    matches!(content, Content::Image { .. } | Content::Reference { .. } | Content::PartialReference { .. })
}

/// The form in which one attachment was sent in a request: an entry of the generation's manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ShownAttachment {
    pub block_id: BlockId,
    /// The id of the document, or the sha256 of the image.
    pub ref_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_timestamp: Option<DateTime<Utc>>,
    /// The selected range in Unicode scalar values, half open. Absent if the whole version was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<(u64, u64)>,
    pub shown_as: AttachmentRendering,
    /// The sha256 of the text or image that was sent, in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub approx_tokens: u64,
}

/// The form in which an attachment was sent to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentRendering {
    /// The text of the version or of the selection.
    Text,
    Image,
    /// The image's alternative text, because the model does not accept images, this kind of image, or this many.
    AltText,
    /// A line that says that the document was deleted.
    Deleted,
}
