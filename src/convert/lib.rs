//! What people upload and what tools bring, made into what Turnleaf keeps: files and web pages into text, pictures into
//! pictures without anything hidden in them. Whatever is hard to read is read by a process of its own (`turnleaf convert`), with bounds on its memory and its
//! time, so that a hostile file takes nothing with it.

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

/// What a file is, told by its own bytes first and by its name only among kinds of text.
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
    /// Anything else that is text: code, logs, configuration.
    Text,
}

impl FileKind {
    pub fn is_image(self) -> bool {
        matches!(self, Self::Png | Self::Jpeg | Self::Gif | Self::WebP)
    }

    /// Whether its bytes are a text in some encoding, which its reader may have to name.
    pub fn is_text(self) -> bool {
        matches!(self, Self::Html | Self::Markdown | Self::Csv | Self::Text)
    }

    /// How documents name it (`documents.kind`) and what is served of it.
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
    /// Line ends are `\n`; no NUL; at most `limits::DOCUMENT_BYTES`.
    pub text: String,
    /// What there is to say of it, for people: pages without text, sheets that were cut.
    pub notes: Vec<String>,
}

/// What a web page is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// One line; empty where it has none.
    pub title: String,
    /// Markdown, at most `limits::DOCUMENT_BYTES`.
    pub text: String,
}

/// A picture without anything hidden in it, upright, with its other forms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConvertedPicture {
    /// What is kept and shown.
    pub image: EncodedImage,
    /// At most `limits::THUMBNAIL_PIXELS` wide and high; none where the image itself is that small.
    pub thumbnail: Option<EncodedImage>,
    /// What models are sent, where the image itself is larger than they take.
    pub for_models: Option<EncodedImage>,
}

/// One form of a picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncodedImage {
    pub mime: &'static str,
    pub width: u32,
    pub height: u32,
    pub bytes: Bytes,
}

/// Why a file was not taken. The words are for people.
#[derive(Debug, Clone, PartialEq, Eq, Error, serde::Serialize, serde::Deserialize)]
pub enum ConversionError {
    #[error("the file is empty")]
    Empty,
    /// 415: neither text nor a kind that can be read.
    #[error("{0} cannot be read here")]
    Unsupported(String),
    /// 422 `image_too_large`.
    #[error("the image is too large: at most {0}")]
    ImageTooLarge(String),
    /// 422 `encoding`: bytes that are no UTF-8 and have no mark; the encodings that they may be in.
    #[error("the text's encoding is not known; choose one")]
    Encoding(Vec<String>),
    /// 422: unpacks to too much.
    #[error("the file unpacks to more than {0}")]
    Bomb(String),
    /// 413: more text than a document has.
    #[error("the text is too long: at most {0}")]
    TooLong(String),
    /// 422.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    /// 422: pages that are pictures.
    #[error("there is no text in the file")]
    NoText,
    /// 422: the process that read it was over its time or its memory, or broke.
    #[error("the file could not be read within its bounds")]
    OutOfBounds,
}
