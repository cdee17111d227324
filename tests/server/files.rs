//! A reader of files for tests, in the place of the one that runs a process for each: text, pictures that say `PNG`, and
//! every way to refuse.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde_json::Value;
use turnleaf_convert::{Article, Converted, Form, Kind, Picture, Reader, Refused};
use turnleaf_providers::scripted::Answer;

use crate::house::House;
use crate::http_api::Api;

/// What a picture begins with.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

pub struct Files;

impl Reader for Files {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<Kind, Refused> {
        match bytes {
            [] => Err(Refused::Empty),
            bytes if bytes.starts_with(PNG) => Ok(Kind::Png),
            bytes if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"<svg") => {
                Err(Refused::Unsupported("such a file".into()))
            }
            _ if name.ends_with(".html") => Ok(Kind::Html),
            _ if name.ends_with(".md") => Ok(Kind::Markdown),
            _ => Ok(Kind::Text),
        }
    }

    fn text<'a>(
        &'a self,
        _kind: Kind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Converted, Refused>> {
        Box::pin(async move {
            if bytes.starts_with(b"BOMB") {
                return Err(Refused::Bomb("256 MiB".into()));
            }
            let text = match (std::str::from_utf8(&bytes), encoding) {
                (Ok(text), _) => text.to_owned(),
                (Err(_), Some(encoding)) => format!("read as {encoding}"),
                (Err(_), None) => return Err(Refused::Encoding(vec!["gb18030".into(), "big5".into()])),
            };
            Ok(Converted { text, notes: vec!["a note".into()] })
        })
    }

    fn article<'a>(&'a self, _html: Bytes, _url: &'a str) -> BoxFuture<'a, Result<Article, Refused>> {
        Box::pin(async { Err(Refused::OutOfBounds) })
    }

    fn picture(&self, _kind: Kind, bytes: Bytes) -> BoxFuture<'_, Result<Picture, Refused>> {
        Box::pin(async move {
            // As the real one does: a picture that was made here stays as it is.
            const CLEAN: &[u8] = b"clean";
            if bytes.ends_with(b"huge") {
                return Err(Refused::ImageTooLarge("50 megapixels".into()));
            }
            let form = |what: &str, side| Form {
                mime: "image/png",
                width: side,
                height: side,
                bytes: [PNG, what.as_bytes(), &bytes[PNG.len()..]].concat().into(),
            };
            Ok(Picture {
                image: match bytes[PNG.len()..].starts_with(CLEAN) {
                    true => form("", 3_000),
                    false => form("clean", 3_000),
                },
                thumbnail: Some(form("small", 512)),
                for_models: Some(form("models", 2_000)),
            })
        })
    }
}

/// A server that reads files, over a database of every kind.
pub async fn apis(answers: impl Fn() -> Vec<Answer>) -> Vec<Api> {
    let houses = House::everywhere(|| turnleaf_providers::scripted::Scripted::new("scripted", answers())).await;
    houses.into_iter().map(reading).collect()
}

/// The same over this one.
pub fn reading(mut house: House) -> Api {
    house.service = house.service.clone().with_reader(Arc::new(Files));
    Api::over(house)
}

/// Uploads a file.
pub async fn upload(api: &Api, name: &str, bytes: impl Into<Body>) -> (StatusCode, Value) {
    let request = Request::builder().method("POST").uri(format!("/api/blobs?name={name}"));
    let request = request.header("host", "127.0.0.1:3000").body(bytes.into()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}
