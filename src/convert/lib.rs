//! Converts uploads and tool output into the forms that Turnleaf stores: files and web pages into text, images into
//! images without metadata. Complex formats are parsed in a separate process (`turnleaf convert`) with bounded memory
//! and time, so that a hostile file cannot harm the server.

mod archive;
pub mod child;
mod converter;
mod encoding;
mod office;
pub mod page;
mod pdf;
mod picture;
mod reader;
pub mod sandbox;
mod sheets;
mod sniff;
mod text_cleanup;
mod wire;

use bytes::Bytes;
use thiserror::Error;

pub use converter::Converter;
pub use reader::{FileReader, PlainReader};
pub use sniff::sniff;

/// The kind of a file, detected from its bytes; the name only distinguishes kinds of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    Png,
    Jpeg,
    Gif,
    WebP,
    Pdf,
    Docx,
    Pptx,
    Xlsx,
    Html,
    Markdown,
    Csv,
    /// Any other text, such as code, logs or configuration.
    Text,
}

impl FileKind {
    const IMAGES: [Self; 4] = [Self::Png, Self::Jpeg, Self::Gif, Self::WebP];

    pub fn is_image(self) -> bool {
        Self::IMAGES.contains(&self)
    }

    /// Returns the kind of images of this MIME type.
    pub fn of_image(mime: &str) -> Option<Self> {
        Self::IMAGES.into_iter().find(|kind| kind.mime() == mime)
    }

    /// Returns whether the file is text in some encoding, which the user may have to choose.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Html | Self::Markdown | Self::Csv | Self::Text)
    }

    /// Returns the MIME type, as stored in `documents.kind` and served to clients.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Html => "text/html",
            Self::Markdown => "text/markdown",
            Self::Csv => "text/csv",
            Self::Text => "text/plain",
        }
    }
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ConvertedText {
    /// Lines end with `\n`; no NUL; at most `limits::DOCUMENT_BYTES`.
    pub text: String,
    /// Notes for people, such as pages without text or truncated sheets.
    pub notes: Vec<String>,
}

/// The main content of a web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// The title on one line; empty if the page has none.
    pub title: String,
    /// Markdown, at most `limits::DOCUMENT_BYTES`.
    pub text: String,
}

/// A re-encoded image without metadata, upright, with its variants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertedPicture {
    /// The image that is stored and shown.
    pub image: EncodedImage,
    /// At most `limits::THUMBNAIL_PIXELS` wide and high; none if the image itself is that small.
    pub thumbnail: Option<EncodedImage>,
    /// The variant for models, if the image itself is larger than they accept.
    pub for_models: Option<EncodedImage>,
}

/// One encoded variant of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedImage {
    pub mime: &'static str,
    pub width: u32,
    pub height: u32,
    pub bytes: Bytes,
}

/// The reason why a file was refused. The messages are for people.
#[derive(Debug, Clone, PartialEq, Eq, Error, serde::Serialize, serde::Deserialize)]
pub enum ConversionError {
    #[error("the file is empty")]
    Empty,
    /// 415: neither text nor a supported kind.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// 422 `image_too_large`.
    #[error("the image is too large: at most {0}")]
    ImageTooLarge(String),
    /// 422 `encoding`: the bytes are not UTF-8 and have no byte order mark. Lists the likely encodings.
    #[error("the text encoding is unknown; choose one")]
    Encoding(Vec<String>),
    /// 422: a decompression bomb.
    #[error("the uncompressed file is larger than {0}")]
    Bomb(String),
    /// 413: the text exceeds the size of a document.
    #[error("the text is too long: at most {0}")]
    TooLong(String),
    /// 422.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// 422: the pages are images.
    #[error("the file contains no text")]
    NoText,
    /// 422: the converter process exceeded its time or memory, or crashed.
    #[error("the file took too much time or memory to read")]
    OutOfBounds,
}
