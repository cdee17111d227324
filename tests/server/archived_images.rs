//! Images of an archive come in as uploads do: drawn again by the real process, under the names that they have then.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::Content;
use turnleaf_convert::{Article, Converted, Converter, Form, Kind, Picture, PlainReader, Reader, Refused, sniff};
use turnleaf_interchange::archive::Bytes as Kept;
use turnleaf_providers::scripted::Scripted;
use turnleaf_service::transfer::exports::Which;
use turnleaf_store::blobs;

use crate::files::upload;
use crate::house::{House, answer, text};
use crate::http_api::Api;
use crate::interchange::{exported, imported, without_ids};
use crate::made::{photo, png_head, png_with_words};

/// Keeps every image as it came, as a server did before images were drawn again, or as somebody writes an archive.
struct AsItCame;

impl Reader for AsItCame {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<Kind, Refused> {
        sniff(name, bytes)
    }

    fn text<'a>(
        &'a self,
        kind: Kind,
        bytes: Bytes,
        label: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Converted, Refused>> {
        PlainReader.text(kind, bytes, label)
    }

    fn article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, Refused>> {
        PlainReader.article(html, url)
    }

    fn picture(&self, kind: Kind, bytes: Bytes) -> BoxFuture<'_, Result<Picture, Refused>> {
        let image = Form { mime: kind.mime(), width: 3, height: 2, bytes };
        Box::pin(async { Ok(Picture { image, thumbnail: None, for_models: None }) })
    }
}

fn drawing(mut house: House) -> House {
    let converter = Converter::new(PathBuf::from(env!("CARGO_BIN_EXE_turnleaf")));
    house.service = house.service.clone().with_reader(Arc::new(converter));
    house
}

fn replies() -> Scripted {
    Scripted::new("scripted", [answer([text("seen")])])
}

/// The bytes of the blobs of an archive.
fn bytes_of(archive: &[u8]) -> Vec<Vec<u8>> {
    let archive: Value = serde_json::from_slice(archive).unwrap();
    let blobs = archive["blobs"].as_array().unwrap().iter();
    blobs.map(|blob| serde_json::from_value::<Kept>(blob["bytes"].clone()).unwrap().0).collect()
}

/// What no image that came in holds.
fn hidden_in(blobs: &[Vec<u8>]) -> Option<&'static str> {
    let is_in =
        |hidden: &&str| blobs.iter().any(|blob| blob.windows(hidden.len()).any(|window| window == hidden.as_bytes()));
    ["Exif", "GPS!", "<script>", "secret words"].into_iter().find(is_in)
}

#[tokio::test]
async fn images_of_an_archive_are_drawn_again_and_named_so_on_either_database() {
    for mut source in House::everywhere(replies).await {
        source.service = source.service.clone().with_reader(Arc::new(AsItCame));
        let api = Api::over(source);
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
        let chat = api.chat().await;
        let body = json!({ "content": content });
        let (status, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        api.house.ended(started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        let archive = exported(&api.house, Which::Everything).await;
        assert_eq!(hidden_in(&bytes_of(&archive)), Some("Exif"), "the test's own images");
        for target in House::everywhere(replies).await {
            let target = drawing(target);
            let looked = imported(&target, "look.json", &archive, true).await;
            let report = imported(&target, "all.json", &archive, false).await;
            assert_eq!((looked.imported, looked.lost), (report.imported, report.lost), "{looked:?}");
            // Two files that are no pictures, and their places in the message.
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
            let again = exported(&target, Which::Everything).await;
            assert_eq!((bytes_of(&again).len(), hidden_in(&bytes_of(&again))), (2, None));
            // Images that were made here go on unchanged, however often.
            let third = drawing(House::new(replies()).await);
            let onward = imported(&third, "again.json", &again, false).await;
            assert_eq!((onward.imported, onward.lost), (1, 0), "{onward:?}");
            assert_eq!(without_ids(&exported(&third, Which::Everything).await), without_ids(&again));
            target.check().await;
            target.close().await;
        }
        api.house.close().await;
    }
}
