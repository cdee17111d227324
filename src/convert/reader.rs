//! Reading files as other rooms ask for it, so that their tests need no process.

use bytes::Bytes;
use futures::future::BoxFuture;

use super::{Article, Converted, Converter, Kind, Picture, Refused};

/// What reads files and web pages. `Converter` is the real one.
pub trait Reader: Send + Sync {
    /// What a file is.
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<Kind, Refused>;
    /// Its text; `encoding` is what a person chose.
    fn text<'a>(
        &'a self,
        kind: Kind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Converted, Refused>>;
    /// What a web page from this address is about.
    fn article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, Refused>>;
    /// A picture without anything hidden in it.
    fn picture(&self, kind: Kind, bytes: Bytes) -> BoxFuture<'_, Result<Picture, Refused>>;
}

impl Reader for Converter {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<Kind, Refused> {
        super::sniff(name, bytes)
    }

    fn text<'a>(
        &'a self,
        kind: Kind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Converted, Refused>> {
        Box::pin(self.text(kind, bytes, encoding))
    }

    fn article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, Refused>> {
        Box::pin(self.article(html, url))
    }

    fn picture(&self, kind: Kind, bytes: Bytes) -> BoxFuture<'_, Result<Picture, Refused>> {
        Box::pin(self.picture(kind, bytes))
    }
}

/// Reads text in UTF-8 and nothing else: what a server has that was given no other reader.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainReader;

impl Reader for PlainReader {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<Kind, Refused> {
        if bytes.is_empty() {
            return Err(Refused::Empty);
        }
        let is_text = std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'));
        if !is_text {
            return Err(Refused::Unsupported(format!("`{name}`")));
        }
        Ok(if name.ends_with(".md") { Kind::Markdown } else { Kind::Text })
    }

    fn text<'a>(
        &'a self,
        _kind: Kind,
        bytes: Bytes,
        _encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Converted, Refused>> {
        Box::pin(async move {
            let text = String::from_utf8(bytes.into()).map_err(|_| Refused::Encoding(Vec::new()))?;
            Ok(Converted { text: text.replace("\r\n", "\n"), notes: Vec::new() })
        })
    }

    fn article<'a>(&'a self, _html: Bytes, _url: &'a str) -> BoxFuture<'a, Result<Article, Refused>> {
        Box::pin(async { Err(Refused::Unsupported("a web page".into())) })
    }

    fn picture(&self, _kind: Kind, _bytes: Bytes) -> BoxFuture<'_, Result<Picture, Refused>> {
        Box::pin(async { Err(Refused::Unsupported("an image".into())) })
    }
}
