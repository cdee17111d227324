//! Attachments on pages: the current status of references, and the composer's forms without script.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::documents::attachment::ReferenceStatus;
use turnleaf::domain::{Content, Turn, UserId, limits};
use turnleaf_convert::{Article, ConversionError, ConvertedPicture, ConvertedText, FileKind, FileReader, PlainReader};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::fake_file_reader::{PNG, apis_with_fake_reader};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

async fn post(api: &TestApi, path: &str, kind: &str, body: Vec<u8>) -> (StatusCode, String) {
    let request = Request::builder().method("POST").uri(path).header("host", "127.0.0.1:3000");
    let answer = api.send(request.header("content-type", kind).body(Body::from(body)).unwrap()).await;
    let to = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    let status = answer.status();
    let body = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
    (status, to.unwrap_or_else(|| String::from_utf8(body.to_vec()).unwrap()))
}

/// Posts the composer's form with these files.
async fn attach(api: &TestApi, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> (StatusCode, String) {
    form_with_files(api, "/forms/attach", fields, files).await
}

async fn form_with_files(
    api: &TestApi,
    path: &str,
    fields: &[(&str, &str)],
    files: &[(&str, &[u8])],
) -> (StatusCode, String) {
    let mut body = Vec::new();
    for (name, value) in fields {
        body.extend(format!("--X\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n").bytes());
    }
    for (name, bytes) in files {
        body.extend(
            format!("--X\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{name}\"\r\n\r\n").bytes(),
        );
        body.extend(*bytes);
        body.extend(b"\r\n");
    }
    body.extend(b"--X--\r\n");
    post(api, path, "multipart/form-data; boundary=X", body).await
}

async fn form(api: &TestApi, path: &str, fields: &[(&str, &str)]) -> (StatusCode, String) {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    post(api, path, "application/x-www-form-urlencoded", body.join("&").into_bytes()).await
}

#[tokio::test]
async fn reference_status_is_current_and_shown_only_to_owner() {
    for api in apis_with_fake_reader(|| vec![streamed_answer([text_step("seen")])]).await {
        let (_, made) = api.call("POST", "/api/documents", Some(json!({ "title": "T", "content": "one" }))).await;
        let id = made["id"].as_str().unwrap();
        let (status, image) = crate::fake_file_reader::upload(&api, "a.png", [PNG, b"x"].concat()).await;
        assert_eq!(status, StatusCode::CREATED);
        let content = json!([
            { "type": "text", "text": "Read" },
            { "type": "reference", "ref_id": id, "ref_type": "document" },
            { "type": "image", "blob": image["sha256"] },
        ]);
        let chat = api.create_chat().await;
        let (status, started) =
            api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "content": content }))).await;
        assert_eq!(status, StatusCode::CREATED, "{started}");
        api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let turn: Turn =
            service.turn(owner, started["user_turn"]["id"].as_str().unwrap().parse().unwrap()).await.unwrap();
        let [reference, picture] = [&turn.blocks[1], &turn.blocks[2]];
        assert!(matches!(picture.content, Content::Image { .. }));
        assert_eq!(
            picture.block_metadata["card"]["thumbnail"], image["thumbnail"],
            "the card knows the small form of an image"
        );
        let status_for = async |owner| {
            let found = service.reference_statuses(owner, &[&turn]).await.unwrap();
            (found.get(&reference.id).copied(), found.get(&picture.id).copied())
        };
        assert_eq!(status_for(owner).await, (None, None));
        let path = format!("/api/documents/{id}");
        api.call("PUT", &path, Some(json!({ "content": "two" }))).await;
        assert_eq!(status_for(owner).await, (Some(ReferenceStatus::Older), None));
        api.call("DELETE", &path, None).await;
        assert_eq!(status_for(owner).await, (Some(ReferenceStatus::Deleted), None));
        api.call("POST", &format!("{path}/restore"), None).await;
        assert_eq!(status_for(owner).await.0, Some(ReferenceStatus::Older));
        let stranger: UserId = ids::mint();
        assert_eq!(status_for(stranger).await, (Some(ReferenceStatus::Deleted), Some(ReferenceStatus::Deleted)));
        api.instance.sql("DELETE FROM block_blobs").await;
        assert_eq!(status_for(owner).await.1, Some(ReferenceStatus::Deleted), "its bytes are lost");
    }
}

#[tokio::test]
async fn files_are_attached_and_removed_by_forms_and_typed_text_stays() {
    for api in apis_with_fake_reader(Vec::new).await {
        let typed = [("text", "half a\r\nthought"), ("chat_id", ""), ("thinking", "high"), ("client_request_id", "x")];
        let files: [(&str, &[u8]); 3] = [("a.md", b"# A"), ("b.png", PNG), ("c.txt", b"")];
        let (status, page) = attach(&api, &typed, &files).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(page.contains("<bdi>c.txt</bdi>") && page.contains("empty"), "{page}");
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let draft = async || service.draft(owner, None).await.unwrap().unwrap();
        let kept = draft().await;
        let attached = kept.attachments.unwrap();
        let titles: Vec<&str> = attached.iter().map(|one| one.card.title.as_str()).collect();
        assert_eq!((kept.text.as_str(), titles), ("half a\nthought", vec!["a.md", "b.png"]));
        let key = attached[0].dedup_key();
        let (status, to) = form(&api, "/forms/detach", &[("text", "more"), ("chat_id", ""), ("detach", &key)]).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/"));
        let left = draft().await;
        assert_eq!((left.text.as_str(), left.attachments.unwrap().len()), ("more", 1));
        // Detaching is idempotent: a second request, or one for an attachment that never existed, succeeds.
        let (status, _) = form(&api, "/forms/detach", &[("text", "more"), ("detach", &key)]).await;
        assert_eq!((status, draft().await.attachments.unwrap().len()), (StatusCode::SEE_OTHER, 1));
        assert_eq!(attach(&api, &typed, &[]).await.0, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(attach(&api, &[("chat_id", "no id")], &[]).await.0, StatusCode::NOT_FOUND);
        let missing: Value = json!(ids::mint::<uuid::Uuid>());
        let missing = missing.as_str().unwrap();
        assert_eq!(attach(&api, &[("chat_id", missing)], &files[..1]).await.0, StatusCode::NOT_FOUND);
        // The same file again is the same document, attached once.
        for _ in 0..2 {
            let (status, to) = attach(&api, &typed, &[("d.txt", b"D")]).await;
            assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/"));
            assert_eq!(draft().await.attachments.unwrap().len(), 2);
            let (_, documents) = api.call("GET", "/api/documents", None).await;
            assert_eq!(documents.as_array().unwrap().len(), 2, "a.md and d.txt: {documents}");
        }
    }
}

#[tokio::test]
async fn edit_form_keeps_selected_attachments_and_stores_files_once() {
    for api in apis_with_fake_reader(|| {
        vec![
            streamed_answer([text_step("seen")]),
            streamed_answer([text_step("again")]),
            streamed_answer([text_step("more")]),
        ]
    })
    .await
    {
        let mut named = Vec::new();
        for title in ["kept", "left out"] {
            let (_, made) = api.call("POST", "/api/documents", Some(json!({ "title": title, "content": title }))).await;
            named.push(json!({ "type": "reference", "ref_id": made["id"], "ref_type": "document" }));
        }
        named.push(json!({ "type": "text", "text": "Read" }));
        let chat = api.create_chat().await;
        let (_, started) =
            api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "content": named }))).await;
        let id = started["user_turn"]["id"].as_str().unwrap().to_owned();
        api.instance.wait_until_ended(started["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        let turn: Turn = api.instance.service.turn(api.instance.owner, id.parse().unwrap()).await.unwrap();
        let key = turn
            .blocks
            .iter()
            .find_map(turnleaf::domain::documents::attachment::Attachment::from_block)
            .unwrap()
            .dedup_key();
        let fields = [("turn_id", id.as_str()), ("client_request_id", "e1"), ("text", "Read it"), ("keep", &key)];
        let picture = [PNG, b"x"].concat();
        let files: [(&str, &[u8]); 2] = [("new.txt", b"new words"), ("a.png", &picture)];
        let (status, to) = form_with_files(&api, "/forms/edit", &fields, &files).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{to}");
        let again = form_with_files(&api, "/forms/edit", &fields, &files).await;
        assert_eq!(again, (status, to.clone()), "a second press makes nothing twice");
        let reply = to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap();
        let reply = api.instance.wait_until_ended(reply).await;
        let edited = api.instance.service.turn(api.instance.owner, reply.prev_turn_id.unwrap()).await.unwrap();
        let titles: Vec<String> = edited
            .blocks
            .iter()
            .filter_map(turnleaf::domain::documents::attachment::Attachment::from_block)
            .map(|one| one.card.title)
            .collect();
        assert_eq!(
            (titles, edited.content_text()),
            (vec!["kept".into(), "new.txt".into(), "a.png".into()], "Read it".into())
        );
        // A refused file is named and the typed text is kept, also for a turn that does not exist.
        let fields = [("turn_id", id.as_str()), ("client_request_id", "e2"), ("text", "My long words")];
        let (status, html) = form_with_files(&api, "/forms/edit", &fields, &[("empty.txt", b"")]).await;
        assert!(status == StatusCode::UNPROCESSABLE_ENTITY && html.contains("empty.txt: "), "{html}");
        assert!(html.contains("My long words"), "{html}");
        // The file before the refused one is stored already. It is no obstacle when the form is sent again with another
        // file in that place, and two files may have the same content.
        let (one, other): (&[u8], &[u8]) = (b"one", b"other");
        let (status, html) = form_with_files(&api, "/forms/edit", &fields, &[("a.txt", one), ("b.txt", b"")]).await;
        assert!(status == StatusCode::UNPROCESSABLE_ENTITY && html.contains("b.txt: "), "{html}");
        let files = [("c.txt", other), ("a.txt", one), ("d.txt", one)];
        let (status, to) = form_with_files(&api, "/forms/edit", &fields, &files).await;
        assert_eq!(status, StatusCode::SEE_OTHER, "{to}");
        api.instance
            .wait_until_ended(to.split("at=").nth(1).unwrap().trim_end_matches("#latest").parse().unwrap())
            .await;
        // A form over its limits is reported beside the text, which is kept.
        let mut fields = vec![("turn_id", id.as_str()), ("client_request_id", "e3"), ("text", "Kept words")];
        let files = vec![("a.txt", one); limits::FORM_FILES + 1];
        let (status, html) = form_with_files(&api, "/forms/edit", &fields, &files).await;
        assert!(status == StatusCode::UNPROCESSABLE_ENTITY && html.contains("Too many files."), "{html}");
        assert!(html.contains("Kept words"), "{html}");
        let long = format!("Long words{}", "!".repeat(limits::MESSAGE_BYTES));
        fields[2].1 = &long;
        let (status, html) = form_with_files(&api, "/forms/edit", &fields, &[]).await;
        assert!(status == StatusCode::UNPROCESSABLE_ENTITY && html.contains("too large"), "{status}");
        assert!(html.contains("Long words!"));
        api.instance.check_invariants().await;
    }
}

#[tokio::test]
async fn text_of_interrupted_or_refused_form_is_restored() {
    let words = "half a thought";
    let field =
        |name: &str, value: &str| format!("--X\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let file = "--X\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a.md\"\r\n\r\n# A";
    let missing = ids::mint::<uuid::Uuid>().to_string();
    let long = format!("{words} {}", "x".repeat(limits::MESSAGE_BYTES));
    for api in apis_with_fake_reader(Vec::new).await {
        for (case, body, status) in [
            ("it breaks off in its file", field("text", words) + file, StatusCode::BAD_REQUEST),
            (
                "its chat is gone",
                field("text", words) + &field("chat_id", &missing) + file + "\r\n--X--\r\n",
                StatusCode::NOT_FOUND,
            ),
            ("it is too long", field("text", &long) + file + "\r\n--X--\r\n", StatusCode::BAD_REQUEST),
        ] {
            let request = Request::builder().method("POST").uri("/forms/attach").header("host", "127.0.0.1:3000");
            let request =
                request.header("accept", "text/html").header("content-type", "multipart/form-data; boundary=X");
            let answer = api.send(request.body(Body::from(body)).unwrap()).await;
            assert_eq!(answer.status(), status, "{case}");
            let page = axum::body::to_bytes(answer.into_body(), usize::MAX).await.unwrap();
            let page = String::from_utf8(page.into()).unwrap();
            assert!(page.contains(words), "{case}: {page}");
        }
    }
}

/// Delays reading a file until its gate is opened.
#[derive(Default)]
struct GatedReader {
    begun: Notify,
    gate: Notify,
}

impl FileReader for GatedReader {
    fn sniff(&self, name: &str, bytes: &[u8]) -> Result<FileKind, ConversionError> {
        PlainReader.sniff(name, bytes)
    }

    fn read_text<'a>(
        &'a self,
        kind: FileKind,
        bytes: Bytes,
        encoding: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ConvertedText, ConversionError>> {
        Box::pin(async move {
            self.begun.notify_one();
            self.gate.notified().await;
            PlainReader.read_text(kind, bytes, encoding).await
        })
    }

    fn read_article<'a>(&'a self, html: Bytes, url: &'a str) -> BoxFuture<'a, Result<Article, ConversionError>> {
        PlainReader.read_article(html, url)
    }

    fn read_picture(&self, kind: FileKind, bytes: Bytes) -> BoxFuture<'_, Result<ConvertedPicture, ConversionError>> {
        PlainReader.read_picture(kind, bytes)
    }
}

#[tokio::test]
async fn form_with_files_holds_admission_until_they_are_stored() {
    let reader = Arc::new(GatedReader::default());
    let mut instance =
        TestServer::new(ScriptedProvider::new("scripted", [streamed_answer([text_step("Hello")])])).await;
    instance.service = instance.service.clone().with_reader(reader.clone());
    let api = TestApi::with_server(instance);
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    let turn = started["user_turn"]["id"].as_str().unwrap();
    let edit = [("turn_id", turn), ("client_request_id", "one"), ("text", "hi again")];
    let of_attach = [("chat_id", chat.as_str()), ("text", "")];
    for (path, fields) in [("/forms/attach", &of_attach[..]), ("/forms/edit", &edit)] {
        let free = async || {
            let mut places = Vec::new();
            while let Some(Some(place)) = api.instance.service.upload_permit().now_or_never() {
                places.push(place);
            }
            places.len()
        };
        assert_eq!(free().await, limits::UPLOADS_AT_ONCE);
        let form = form_with_files(&api, path, fields, &[("notes.txt", b"some words")]);
        let watch = async {
            reader.begun.notified().await;
            let free = free().await;
            reader.gate.notify_one();
            free
        };
        let ((status, body), free_meanwhile) = tokio::join!(form, watch);
        assert_eq!(free_meanwhile, limits::UPLOADS_AT_ONCE - 1, "{path}");
        assert_eq!(status, StatusCode::SEE_OTHER, "{path}: {body}");
        assert_eq!(free().await, limits::UPLOADS_AT_ONCE, "{path}");
    }
}
