//! Reading files as other rooms ask for it, so that their tests need no process.

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{Article, ConversionError, ConvertedPicture, ConvertedText, Converter, FileKind};

/// What reads files and web pages. `Converter` is the real one.
pub trait FileReader: Send + Sync {
    /// What a file is.
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError>;
    /// Its text; `encoding` is what a person chose.
    fn read_text<'a>(
        &'a self,
        kind: FileKind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>>;
    /// What a web page from this address is about.
    fn read_article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>>;
    /// A picture without anything hidden in it.
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

/// Reads text in UTF-8 and nothing else: what a server has that was given no other reader.
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
