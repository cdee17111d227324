//! A file reader for tests, in place of the one that runs a converter process for each file: it accepts text and
//! bytes that begin like a PNG, and fails in every way on demand.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde_json::Value;
use turnleaf_convert::{Article, ConversionError, ConvertedPicture, ConvertedText, EncodedImage, FileKind, FileReader};
use turnleaf_providers::scripted::ScriptedAnswer;

use crate::http_api::TestApi;
use crate::test_server::TestServer;

/// The first bytes of an image.
pub const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";

pub struct FakeFileReader;

impl FileReader for FakeFileReader {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
        match bytes {
            [] => Err(ConversionError::Empty),
            bytes if bytes.starts_with(PNG) => Ok(FileKind::Png),
            bytes if bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"<svg") => {
                Err(ConversionError::Unsupported("such a file".into()))
            }
            _ if name.ends_with(".html") => Ok(FileKind::Html),
            _ if name.ends_with(".md") => Ok(FileKind::Markdown),
            _ => Ok(FileKind::Text),
        }
    }

    fn read_text<'a>(
        &'a self,
        _kind: FileKind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>> {
        Box::pin(async move {
            if bytes.starts_with(b"BOMB") {
                return Err(ConversionError::Bomb("256 MiB".into()));
            }
            let text = match (std::str::from_utf8(&bytes), encoding) {
                (Ok(text), _) => text.to_owned(),
                (Err(_), Some(encoding)) => format!("read as {encoding}"),
                (Err(_), None) => return Err(ConversionError::Encoding(vec!["gb18030".into(), "big5".into()])),
            };
            Ok(ConvertedText { text, notes: vec!["a note".into()] })
        })
    }

    fn read_article<'a>(&'a self, _html: Bytes, _url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>> {
        Box::pin(async { Err(ConversionError::OutOfBounds) })
    }

    fn read_picture(&self, _kind: FileKind, bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>> {
        Box::pin(async move {
            // Like the real converter, an image that was re-encoded here stays unchanged.
            const CLEAN: &[u8] = b"clean";
            if bytes.ends_with(b"huge") {
                return Err(ConversionError::ImageTooLarge("50 megapixels".into()));
            }
            let form = |content: &str, side| EncodedImage {
                mime: "image/png",
                width: side,
                height: side,
                bytes: [PNG, content.as_bytes(), &bytes[PNG.len()..]].concat().into(),
            };
            Ok(ConvertedPicture {
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

/// Returns APIs that read files, over a database of every kind.
pub async fn apis_with_fake_reader(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<TestApi> {
    let instances =
        TestServer::on_every_database(|| turnleaf_providers::scripted::ScriptedProvider::new("scripted", answers()))
            .await;
    instances.into_iter().map(api_with_fake_reader).collect()
}

/// Returns an API that reads files, over this server.
pub fn api_with_fake_reader(mut instance: TestServer) -> TestApi {
    instance.service = instance.service.clone().with_reader(Arc::new(FakeFileReader));
    TestApi::with_server(instance)
}

/// Uploads a file. Returns the status and the JSON.
pub async fn upload(api: &TestApi, name: &str, bytes: impl Into<Body>) -> (StatusCode, Value) {
    let request = Request::builder().method("POST").uri(format!("/api/blobs?name={name}"));
    let request = request.header("host", "127.0.0.1:3000").body(bytes.into()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}
