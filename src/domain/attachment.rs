//! What a message has beside its text: images, documents and selections of them. Here is what a block says of itself so
//! that it can be shown without looking anything up; what a model is shown of it is `providers::history`'s.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer, Serialize};

use crate::block::{Block, Content};
use crate::id::BlockId;
use crate::json_reader::{self, deserialize_members};
use crate::selection;
use crate::tokens::approx_tokens;

/// The key of a [`Card`] in `block_metadata`.
pub const CARD_KEY: &str = "card";
/// The only `ref_type` there is so far.
pub const DOCUMENT_REF_TYPE: &str = "document";

/// What a chip or a picture says, as it was when the message was written. Kept with the block: the same live, after a
/// reload, without script and in exports.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AttachmentCard {
    /// The document's title, the image's name.
    pub title: String,
    /// Of a selection: its first and last line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<(u64, u64)>,
    /// Of a selection: its beginning, at most [`QUOTE_CHARS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// Roughly, of what is shown to a model ([`crate::tokens::approx_tokens`]).
    #[serde(default)]
    pub tokens: u64,
    /// Of an image, in pixels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<(u32, u32)>,
    /// Of an image: the sha256 of its small form, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail: Option<String>,
}

/// What wrapping a document costs a model beside its text.
pub const WRAPPING_TOKENS: u64 = 25;

/// How much of a selection its card has.
pub const CARD_QUOTE_CHARS: usize = 600;

/// What an image costs a model, roughly: vendors take about a token for 750 pixels, and make larger ones smaller.
pub fn image_tokens(size: Option<(u32, u32)>) -> u64 {
    const PIXELS: u64 = 750;
    let guess = |(width, height)| (u64::from(width) * u64::from(height)).div_ceil(PIXELS).clamp(85, 1_600);
    size.map_or(1_000, guess)
}

/// Whether it names a document, or a selection of one.
pub fn is_reference(content: &Content) -> bool {
    matches!(content, Content::Reference { .. } | Content::PartialReference { .. })
}

impl AttachmentCard {
    /// The card of a selection of this text, and what is selected; nothing where it does not lie within it.
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

    /// The card of a block, where it has one.
    pub fn from_block(block: &Block) -> Option<Self> {
        json_reader::from_value(block.block_metadata.get(CARD_KEY)?).ok()
    }
}

/// How what is named stands now, where it is not as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceStatus {
    /// The document has a newer version.
    Older,
    /// The document, or the image, is not there any more.
    Deleted,
}

/// One attachment of a draft: the block that it will be, and its card.
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
    /// What an uploaded image is as an attachment.
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

    /// The newest version of a document, all of it.
    pub fn document(id: String, title: String, version: DateTime<Utc>, bytes: u64) -> Self {
        let content =
            Content::Reference { ref_id: id, ref_type: DOCUMENT_REF_TYPE.to_owned(), version_timestamp: Some(version) };
        Self {
            content,
            card: AttachmentCard { title, tokens: bytes.div_ceil(4) + WRAPPING_TOKENS, ..AttachmentCard::default() },
        }
    }

    /// These lines of a document at a version with this text, from 1. Nothing where there is nothing on them.
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

    /// What a block of a message has attached; nothing of any other.
    pub fn from_block(block: &Block) -> Option<Self> {
        let content = &block.content;
        is_attached(content)
            .then(|| Self { content: content.clone(), card: AttachmentCard::from_block(block).unwrap_or_default() })
    }

    /// What it is told apart by among those of one message.
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

/// Whether this is attached to a message, not said in it.
pub fn is_attached(content: &Content) -> bool {
    matches!(content, Content::Image { .. } | Content::Reference { .. } | Content::PartialReference { .. })
}

/// How one attachment went into a request: a line of the generation's manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ShownAttachment {
    pub block_id: BlockId,
    /// The document, or the image's sha256.
    pub ref_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_timestamp: Option<DateTime<Utc>>,
    /// Unicode scalar values, half open; all of the version where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<(u64, u64)>,
    pub shown_as: AttachmentRendering,
    /// Of the text or the image that was shown, hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    pub approx_tokens: u64,
}

/// What became of an attachment on its way to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentRendering {
    /// The text of the version or of the selection.
    Text,
    Image,
    /// Its alternative text, because the model does not see, or takes no more or no such images.
    AltText,
    /// Nothing but a line that it is not there any more.
    Deleted,
}
