//! The port for reading files, so that tests of other crates need no converter process.

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{Article, ConversionError, ConvertedPicture, ConvertedText, Converter, FileKind};

/// Reads files and web pages. `Converter` is the production implementation.
pub trait FileReader: Send + Sync {
    /// Detects the kind of a file.
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError>;
    /// Extracts the text; `encoding` is the label that a person chose.
    fn read_text<'a>(
        &'a self,
        kind: FileKind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>>;
    /// Extracts the main content of a web page from this address.
    fn read_article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>>;
    /// Re-encodes an image without metadata.
    fn read_picture(&self, kind: FileKind, bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>>;
}

impl FileReader for Converter {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
        super::sniff(name, bytes)
    }

    fn read_text<'a>(
        &'a self,
        kind: FileKind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>> {
        Box::pin(self.read_text(kind, bytes, encoding))
    }

    fn read_article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>> {
        Box::pin(self.read_article(html, url))
    }

    fn read_picture(&self, kind: FileKind, bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>> {
        Box::pin(self.read_picture(kind, bytes))
    }
}

/// Reads only UTF-8 text: the default of a server without a converter.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainReader;

impl FileReader for PlainReader {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
        if bytes.is_empty() {
            return Err(ConversionError::Empty);
        }
        let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
        if !is_text {
            return Err(ConversionError::Unsupported(format!("`{name}`")));
        }
        Ok(if name.ends_with(".md") { FileKind::Markdown } else { FileKind::Text })
    }

    fn read_text<'a>(
        &'a self,
        _kind: FileKind,
        bytes: Bytes,
        _encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>> {
        Box::pin(async move {
            let text = String::from_utf8(bytes.into()).map_err(|_| ConversionError::Encoding(Vec::new()))?;
            Ok(ConvertedText { text: text.replace("\r\n", "\n"), notes: Vec::new() })
        })
    }

    fn read_article<'a>(&'a self, _html: Bytes, _url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>> {
        Box::pin(async { Err(ConversionError::Unsupported("a web page".into())) })
    }

    fn read_picture(&self, _kind: FileKind, _bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>> {
        Box::pin(async { Err(ConversionError::Unsupported("an image".into())) })
    }
}
