//! Images of an archive are imported like uploads: the real converter process re-encodes them, and they get the names
//! of the new bytes.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::Content;
use turnleaf_convert::{
    Article, ConversionError, ConvertedPicture, ConvertedText, Converter, EncodedImage, FileKind, FileReader,
    PlainReader, sniff,
};
use turnleaf_interchange::archive::ArchivedBytes as Kept;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::transfer::exports::ExportScope;
use turnleaf_store::documents::blobs;

use crate::fake_file_reader::upload;
use crate::http_api::TestApi;
use crate::interchange::{export_archive, import_file, without_ids};
use crate::made::{photo, png_head, png_with_words};
use crate::test_server::{TestServer, streamed_answer, text_step};

/// Stores every image unchanged, as a server did before images were re-encoded, or as a crafted archive may contain it.
struct PassthroughConverter;

impl FileReader for PassthroughConverter {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
        sniff(name, bytes)
    }

    fn read_text<'a>(
        &'a self,
        kind: FileKind,
        bytes: Bytes,
        label: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>> {
        PlainReader.read_text(kind, bytes, label)
    }

    fn read_article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>> {
        PlainReader.read_article(html, url)
    }

    fn read_picture(&self, kind: FileKind, bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>> {
        let image = EncodedImage { mime: kind.mime(), width: 3, height: 2, bytes };
        Box::pin(async { Ok(ConvertedPicture { image, thumbnail: None, for_models: None }) })
    }
}

fn with_real_converter(mut instance: TestServer) -> TestServer {
    let converter = Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")));
    instance.service = instance.service.clone().with_reader(Arc::new(converter));
    instance
}

fn replies() -> ScriptedProvider {
    ScriptedProvider::new("scripted", [streamed_answer([text_step("seen")])])
}

/// Returns the bytes of the blobs of an archive.
fn bytes_of(archive: &[u8]) -> Vec<Vec<u8>> {
    let archive: Value = serde_json::from_slice(archive).unwrap();
    let blobs = archive["blobs"].as_array().unwrap().iter();
    blobs.map(|blob| serde_json::from_value::<Kept>(blob["bytes"].clone()).unwrap().0).collect()
}

/// Searches the blobs for data that no imported image may contain.
fn hidden_in(blobs: &[Vec<u8>]) -> Option<&'static str> {
    let is_in =
        |hidden: &&str| blobs.iter().any(|blob| blob.windows(hidden.len()).any(|window| window == hidden.as_bytes()));
    ["Exif", "GPS!", "<script>", "secret words"].into_iter().find(is_in)
}

#[tokio::test]
async fn archive_images_are_reencoded_and_renamed_on_both_databases() {
    for mut source in TestServer::on_every_database(replies).await {
        source.service = source.service.clone().with_reader(Arc::new(PassthroughConverter));
        let api = TestApi::with_server(source);
        let mut content = vec![json!({ "type": "text", "text": "Look." })];
        for (name, file) in [
            ("photo.jpg", photo(300, 200)),
            ("words.png", png_with_words("secret words")),
            ("bomb.png", png_head(50_000, 50_000, 8)),
            ("cut.jpg", photo(300, 200)[..400].to_vec()),
        ] {
            let (status, image) = upload(&api, name, file).await;
            assert_eq!(status, StatusCode::CREATED, "{image}");
            content.push(json!({ "type": "image", "blob": image["sha256"] }));
        }
        let chat = api.create_chat().await;
        let body = json!({ "content": content });
        let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        api.instance.wait_until_ended(started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        let archive = export_archive(&api.instance, ExportScope::Everything).await;
        assert_eq!(hidden_in(&bytes_of(&archive)), Some("Exif"), "the test's own images");
        for target in TestServer::on_every_database(replies).await {
            let target = with_real_converter(target);
            let preview = import_file(&target, "look.json", &archive, true).await;
            let report = import_file(&target, "all.json", &archive, false).await;
            assert_eq!((preview.imported, preview.lost), (report.imported, report.lost), "{preview:?}");
            // Two files are no images: the files and their places in the message are lost.
            assert_eq!((report.imported, report.lost), (1, 4), "{report:?}");
            let path = target.service.path(target.owner, report.chats[0].id.unwrap(), None, 10).await.unwrap();
            let mut shown = Vec::new();
            for block in &path.turns[0].blocks {
                match &block.content {
                    Content::Image { blob, mime, .. } => {
                        let stored = blobs::find(&target.db, target.owner, blob).await.unwrap().unwrap();
                        assert_eq!(stored.mime, *mime);
                        shown.push(mime.clone());
                    }
                    Content::Text { text, .. } => shown.push(text.clone()),
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!(shown[..3], ["Look.", "image/jpeg", "image/png"], "{shown:?}");
            assert!(shown.len() == 5 && shown[3..].iter().all(|note| note.starts_with('[')), "{shown:?}");
            let again = export_archive(&target, ExportScope::Everything).await;
            assert_eq!((bytes_of(&again).len(), hidden_in(&bytes_of(&again))), (2, None));
            // Images that were re-encoded here are exported and imported unchanged, however often.
            let third = with_real_converter(TestServer::new(replies()).await);
            let onward = import_file(&third, "again.json", &again, false).await;
            assert_eq!((onward.imported, onward.lost), (1, 0), "{onward:?}");
            assert_eq!(without_ids(&export_archive(&third, ExportScope::Everything).await), without_ids(&again));
            target.check_invariants().await;
            target.close().await;
        }
        api.instance.close().await;
    }
}
