//! Documents, uploads and references over the real router (docs/reference/api.md 3.8), and how their referenced
//! content is sent, copied and withheld.

use axum::body::Body;
use bytes::Bytes;
use futures::stream;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnleaf::domain::documents::document_prompt;
use turnleaf::domain::{Content, Turn, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::messages::MessageBlock;
use turnleaf_store::Db;
use turnleaf_tools::toolbox::NoTools;

use crate::document_pages;
use crate::fake_file_reader::{PNG, api_with_fake_reader, apis_with_fake_reader, upload};
use crate::http_api::TestApi;
use crate::test_server::{message_to_send, streamed_answer, text_step};

pub const SAMPLE_TEXT: &str = "你好😀世界";

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn replies(count: usize) -> Vec<ScriptedAnswer> {
    vec![streamed_answer([text_step("seen")]); count]
}

pub async fn document(api: &TestApi, title: &str, content: &str) -> Value {
    let body = json!({ "title": title, "content": content });
    let (status, made) = api.call("POST", "/api/documents", Some(body)).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    made
}

pub fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

pub fn reference_part(document: &Value, start: impl Into<Value>, end: impl Into<Value>) -> Value {
    json!({
        "type": "partial_reference",
        "ref_id": document["id"],
        "ref_type": "document",
        "selection_start": start.into(),
        "selection_end": end.into(),
    })
}

fn reference_whole(document: &Value) -> Value {
    json!({ "type": "reference", "ref_id": document["id"], "ref_type": "document" })
}

async fn send(api: &TestApi, chat: &str, content: Value) -> (StatusCode, Value) {
    api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "content": content }))).await
}

/// Sends a message and waits for its reply.
pub async fn send_and_wait(api: &TestApi, chat: &str, content: Value) -> Value {
    let (status, started) = send(api, chat, content).await;
    assert_eq!(status, StatusCode::CREATED, "{started}");
    api.read_events(id(&started["assistant_turn"]), &[]).await;
    started
}

/// Returns what was attached to the messages of a reply's newest request, from its manifest.
async fn shown_references(api: &TestApi, reply: &str) -> Vec<Value> {
    let (_, made) = api.call("GET", &format!("/api/turns/{reply}/generations"), None).await;
    let turns = made.as_array().unwrap().last().unwrap()["request_manifest"]["turns"].as_array().unwrap().clone();
    turns.iter().flat_map(|turn| turn["attachments"].as_array().cloned().unwrap_or_default()).collect()
}

#[tokio::test]
async fn document_is_created_changed_restored_and_deleted() {
    for api in apis_with_fake_reader(Vec::new).await {
        let made = document(&api, "Plan", "one\r\ntwo\n").await;
        let path = format!("/api/documents/{}", id(&made));
        assert_eq!(
            (&made["rev"], &made["chars"], &made["lines"], &made["used_in"]),
            (&json!(1), &json!(8), &json!(2), &json!(0))
        );
        assert_eq!(made["kind"], "text/markdown");
        let (_, shown) = api.call("GET", &path, None).await;
        assert_eq!(shown["content"], "one\ntwo\n");
        let first = shown["version_timestamp"].as_str().unwrap().to_owned();

        let (status, changed) = api.call("PUT", &path, Some(json!({ "content": "three", "rev": 1 }))).await;
        assert_eq!((status, &changed["rev"]), (StatusCode::OK, &json!(2)));
        let (status, late) = api.call("PUT", &path, Some(json!({ "content": "late", "rev": 1 }))).await;
        assert_eq!(
            (status, &late["code"], &late["rev"]),
            (StatusCode::CONFLICT, &json!("document_changed"), &json!(2))
        );
        // Saving the same text adds no version and changes nothing.
        let (_, same) = api.call("PUT", &path, Some(json!({ "content": "three" }))).await;
        assert_eq!(same, changed);
        let (_, named) = api.call("PUT", &path, Some(json!({ "title": "Plan B" }))).await;
        assert_eq!((&named["title"], &named["rev"]), (&json!("Plan B"), &json!(3)));
        let (_, versions) = api.call("GET", &format!("{path}/versions"), None).await;
        let times: Vec<&str> =
            versions.as_array().unwrap().iter().map(|v| v["version_timestamp"].as_str().unwrap()).collect();
        assert_eq!((times.len(), times[1]), (2, first.as_str()));
        let (_, old) = api.call("GET", &format!("{path}?version={first}"), None).await;
        assert_eq!(old["content"], "one\ntwo\n");
        let (_, diff) = api.call("GET", &format!("{path}/compare?left={first}&right={}", times[0]), None).await;
        assert_eq!(diff["spans"].as_array().unwrap().len(), 2, "{diff}");
        let (status, gone) = api.call("GET", &format!("{path}?version=2020-01-01T00:00:00Z"), None).await;
        assert_eq!((status, &gone["code"]), (StatusCode::NOT_FOUND, &json!("version_gone")));

        // Restoring an earlier version adds it as a new version.
        let restore = json!({ "version_timestamp": first });
        let (status, restored) = api.call("POST", &format!("{path}/restore"), Some(restore)).await;
        assert_eq!((status, &restored["chars"]), (StatusCode::OK, &json!(8)));
        assert_ne!(restored["version_timestamp"], json!(first));
        let (_, versions) = api.call("GET", &format!("{path}/versions"), None).await;
        assert_eq!(versions.as_array().unwrap().len(), 3);

        for (body, status, field) in [
            (json!({ "title": "", "content": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "title"),
            (json!({ "title": "a\u{0}b", "content": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "title"),
            (json!({ "title": "t".repeat(201), "content": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "title"),
            (json!({ "content": "x" }), StatusCode::UNPROCESSABLE_ENTITY, "title"),
            (json!({ "title": "t" }), StatusCode::BAD_REQUEST, "content"),
            (json!({ "title": "t", "content": "x", "blob": "y" }), StatusCode::BAD_REQUEST, "blob"),
            (json!({ "title": "t", "content": "x", "encoding": "y" }), StatusCode::BAD_REQUEST, "encoding"),
            (json!({ "title": "t", "content": "x", "kind": "image/png" }), StatusCode::UNPROCESSABLE_ENTITY, "kind"),
            (json!({ "title": "t", "content": "x", "owner_id": "y" }), StatusCode::BAD_REQUEST, "owner_id"),
        ] {
            let (answered, problem) = api.call("POST", "/api/documents", Some(body.clone())).await;
            assert_eq!((answered, &problem["field"]), (status, &json!(field)), "{body}: {problem}");
        }

        let (status, _) = api.call("DELETE", &path, None).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        for (method, path, body) in [
            ("GET", path.clone(), None),
            ("PUT", path.clone(), Some(json!({ "content": "x" }))),
            ("DELETE", path.clone(), None),
            ("GET", format!("{path}/versions"), None),
        ] {
            assert_eq!(api.call(method, &path, body).await.0, StatusCode::NOT_FOUND, "{method} {path}");
        }
        let (_, list) = api.call("GET", "/api/documents", None).await;
        assert_eq!(list, json!([]));
        let (_, trash) = api.call("GET", "/api/documents?deleted=true", None).await;
        assert!(trash[0]["purged_at"].is_string(), "{trash}");
        assert_eq!(api.call("POST", &format!("{path}/restore"), None).await.0, StatusCode::OK);
        assert_eq!(api.call("DELETE", &format!("{path}?forever=true"), None).await.0, StatusCode::CONFLICT);
        api.call("DELETE", &path, None).await;
        assert_eq!(api.call("DELETE", &format!("{path}?forever=true"), None).await.0, StatusCode::NO_CONTENT);
        assert_eq!(api.call("POST", &format!("{path}/restore"), None).await.0, StatusCode::NOT_FOUND);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn document_is_created_once_for_one_request() {
    let api = api_with_fake_reader(crate::test_server::TestServer::new(ScriptedProvider::new("scripted", [])).await);
    let body = json!({ "title": "Plan", "content": "x", "client_request_id": "doc-1" });
    let (status, made) = api.call("POST", "/api/documents", Some(body.clone())).await;
    assert_eq!(status, StatusCode::CREATED);
    let (status, again) = api.call("POST", "/api/documents", Some(body)).await;
    assert_eq!((status, &again["id"]), (StatusCode::OK, &made["id"]));
    let other = json!({ "title": "Plan", "content": "y", "client_request_id": "doc-1" });
    let (status, problem) = api.call("POST", "/api/documents", Some(other)).await;
    assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("idempotency_mismatch")));
}

/// docs/reference/domain.md C19
#[tokio::test]
async fn selections_are_checked_against_their_version() {
    for api in apis_with_fake_reader(|| replies(12)).await {
        let d = document(&api, "D", SAMPLE_TEXT).await;
        let family = document(&api, "Family", "👩\u{200d}👩\u{200d}👧").await;
        for (content, status, code) in [
            (reference_part(&d, 0, 6), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, 5, 6), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, 0, 16), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, 3, 2), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, 2, 2), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, 0, 9_223_372_036_854_775_807_u64), StatusCode::UNPROCESSABLE_ENTITY, "out_of_range"),
            (reference_part(&d, -1, 2), StatusCode::BAD_REQUEST, "invalid"),
            (reference_part(&d, 0, 9_223_372_036_854_775_808_u64), StatusCode::BAD_REQUEST, "invalid"),
            (reference_part(&d, 0, "2"), StatusCode::BAD_REQUEST, "invalid"),
            (reference_part(&d, 0, 2.5), StatusCode::BAD_REQUEST, "invalid"),
        ] {
            let chat = api.create_chat().await;
            let (answered, problem) = send(&api, &chat, json!([content.clone()])).await;
            assert_eq!((answered, &problem["code"]), (status, &json!(code)), "{content}: {problem}");
        }
        let chat = api.create_chat().await;
        let mut wrong = reference_part(&d, 2, 4);
        wrong["quote"] = json!("😀");
        let (status, problem) = send(&api, &chat, json!([wrong])).await;
        assert_eq!((status, &problem["code"]), (StatusCode::CONFLICT, &json!("selection_mismatch")));
        let mut gone = reference_part(&d, 2, 3);
        gone["version_timestamp"] = json!("2020-01-01T00:00:00Z");
        let (status, problem) = send(&api, &chat, json!([gone])).await;
        assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &json!("version_gone")));
        let other = json!([{ "type": "reference", "ref_id": d["id"], "ref_type": "chat" }]);
        assert_eq!(send(&api, &chat, other).await.0, StatusCode::UNPROCESSABLE_ENTITY);
        let nobody =
            json!([{ "type": "reference", "ref_id": ids::mint::<uuid::Uuid>().to_string(), "ref_type": "document" }]);
        assert_eq!(send(&api, &chat, nobody).await.0, StatusCode::NOT_FOUND);
        let (_, turns) = api.call("GET", &format!("/api/chats/{chat}/turns"), None).await;
        assert_eq!(turns["turns"], json!([]), "nothing that was refused is stored");

        let mut smile = reference_part(&d, 2, 3);
        smile["quote"] = json!("😀");
        let started =
            send_and_wait(&api, &chat, json!([reference_part(&d, 0, 5), smile, reference_part(&family, 1, 3)])).await;
        let blocks = started["user_turn"]["blocks"].as_array().unwrap();
        let quotes: Vec<&str> = blocks.iter().map(|b| b["block_metadata"]["card"]["quote"].as_str().unwrap()).collect();
        assert_eq!(quotes, [SAMPLE_TEXT, "😀", "\u{200d}👩"]);
        assert!(blocks.iter().all(|block| block["version_timestamp"].is_string()));
        assert_eq!(blocks[0]["block_metadata"]["card"]["title"], "D");
        assert_eq!(blocks[0]["block_metadata"]["card"]["lines"], json!([1, 1]));
        assert_eq!((&blocks[1]["selection_start"], &blocks[1]["selection_end"]), (&json!(2), &json!(3)));

        // The document was edited between selecting and sending: the older version still exists and is what is sent.
        let version = d["version_timestamp"].clone();
        api.call("PUT", &format!("/api/documents/{}", id(&d)), Some(json!({ "content": "all other" }))).await;
        let mut older = reference_part(&d, 3, 5);
        older["version_timestamp"] = version.clone();
        older["quote"] = json!("世界");
        let started = send_and_wait(&api, &chat, json!([older])).await;
        assert_eq!(started["user_turn"]["blocks"][0]["version_timestamp"], version);
        let (_, used) = api.call("GET", &format!("/api/documents/{}", id(&d)), None).await;
        assert_eq!(used["used_in"], 1);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

/// docs/reference/limits.md Messages and chats
#[tokio::test]
async fn message_references_are_bounded() {
    let api =
        api_with_fake_reader(crate::test_server::TestServer::new(ScriptedProvider::new("scripted", replies(2))).await);
    let chat = api.create_chat().await;
    let small = document(&api, "Small", "x").await;
    let (status, uploaded) = upload(&api, "big.md", vec![b'a'; limits::DOCUMENT_BYTES]).await;
    assert_eq!(status, StatusCode::CREATED);
    let body = json!({ "blob": uploaded["sha256"], "title": "The big one" });
    let (_, big) = api.call("POST", "/api/documents", Some(body)).await;
    let many: Vec<Value> = (0..limits::REFERENCES_PER_TURN).map(|_| reference_whole(&big)).collect();
    let (status, problem) = send(&api, &chat, json!(many)).await;
    assert_eq!((status, &problem["code"]), (StatusCode::PAYLOAD_TOO_LARGE, &json!("too_large")));
    assert!(problem["detail"].as_str().unwrap().contains("The big one"), "{problem}");
    let too_many: Vec<Value> = (0..=limits::REFERENCES_PER_TURN).map(|_| reference_whole(&small)).collect();
    assert_eq!(send(&api, &chat, json!(too_many)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let image = json!({ "type": "image", "blob": "a".repeat(64) });
    let images: Vec<Value> = (0..=limits::IMAGES_PER_TURN).map(|_| image.clone()).collect();
    assert_eq!(send(&api, &chat, json!(images)).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let file = json!([{ "type": "image", "blob": uploaded["sha256"] }]);
    assert_eq!(send(&api, &chat, file).await.0, StatusCode::UNPROCESSABLE_ENTITY, "it is no image");

    let started = send_and_wait(&api, &chat, json!([{ "type": "text", "text": "hi" }])).await;
    let reply = id(&started["assistant_turn"]);
    let body = json!({ "content": [{ "type": "text", "text": "mine" }, reference_whole(&small)] });
    let (status, problem) = api.call("POST", &format!("/api/turns/{reply}/edit"), Some(body)).await;
    assert_eq!((status, &problem["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("content")), "{problem}");
}

/// docs/reference/api.md 3.8
#[tokio::test]
async fn uploads_are_bounded_and_names_are_sanitized() {
    for api in apis_with_fake_reader(Vec::new).await {
        for (name, shown) in [
            ("..%2F..%2F..%2Fetc%2Fcron.d%2Fx", "x"),
            ("..%5C..%5Cx", "x"),
            ("%2Fetc%2Fpasswd", "passwd"),
            ("C%3A%5Cx", "x"),
            (".htaccess", "htaccess"),
            ("", "unnamed"),
        ] {
            let (status, made) = upload(&api, name, format!("{name} and more")).await;
            assert_eq!((status, &made["name"], &made["kind"]), (StatusCode::CREATED, &json!(shown), &json!("file")));
        }
        let long = upload(&api, &"n".repeat(300), "long").await.1;
        assert_eq!(long["name"].as_str().unwrap().chars().count(), limits::TITLE_CHARS);
        for (name, bytes, status, code) in [
            ("x%00.png", b"x".to_vec(), StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            ("x.svg", b"<svg onload=alert(1)>".to_vec(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_file"),
            ("x.png", b"\x7fELF".to_vec(), StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_file"),
            ("x.png", [PNG, b"huge"].concat(), StatusCode::UNPROCESSABLE_ENTITY, "image_too_large"),
            ("x.txt", Vec::new(), StatusCode::UNPROCESSABLE_ENTITY, "empty_file"),
        ] {
            let (answered, problem) = upload(&api, name, bytes).await;
            assert_eq!((answered, &problem["code"]), (status, &json!(code)), "{name}: {problem}");
            // The problem names the field and, for a file, gives advice.
            let field = if code == "invalid" { "name" } else { "file" };
            assert_eq!(problem["field"], field, "{name}: {problem}");
            assert_eq!(problem["advice"].is_string(), field == "file", "{name}: {problem}");
        }
        // A body whose declared length is too large is refused unread; a body without a declared length, as soon as
        // it is too long.
        let stated = Request::builder().method("POST").uri("/api/blobs?name=x").header("host", "127.0.0.1:3000");
        let stated = stated
            .header("content-length", "34603008")
            .body(Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>()));
        assert_eq!(api.send(stated.unwrap()).await.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let piece = Bytes::from(vec![b'a'; 1 << 20]);
        let endless = Body::from_stream(stream::repeat_with(move || Ok::<_, std::io::Error>(piece.clone())));
        assert_eq!(upload(&api, "x", endless).await.0, StatusCode::PAYLOAD_TOO_LARGE);
        let cut = vec![Ok(Bytes::from_static(b"most of it")), Err(std::io::Error::other("gone"))];
        assert_eq!(upload(&api, "x", Body::from_stream(stream::iter(cut))).await.0, StatusCode::BAD_REQUEST);
        let packed = Request::builder().method("POST").uri("/api/blobs?name=x").header("host", "127.0.0.1:3000");
        let packed = packed.header("content-encoding", "gzip").body(Body::from("x")).unwrap();
        assert_eq!(api.send(packed).await.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        // Other routes keep their smaller limit for bodies.
        let long = json!({ "title": "t", "content": "a".repeat(3 << 20) });
        assert_eq!(api.call("POST", "/api/documents", Some(long)).await.0, StatusCode::PAYLOAD_TOO_LARGE);

        let made = upload(&api, "x.html", "<script>alert(1)</script>").await.1;
        let request = Request::builder().uri(format!("/api/blobs/{}", made["sha256"].as_str().unwrap()));
        let served = api.send(request.header("host", "127.0.0.1:3000").body(Body::empty()).unwrap()).await;
        let field = |name: &str| served.headers().get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(field("content-type"), "application/octet-stream");
        assert_eq!(field("content-disposition"), "attachment; filename=\"x.html\"; filename*=UTF-8''x.html");
        assert!(field("content-security-policy").starts_with("sandbox;"));
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn same_file_uploaded_fifty_times_concurrently_is_one_blob() {
    for api in apis_with_fake_reader(Vec::new).await {
        let all = futures::future::join_all((0..50).map(|_| upload(&api, "a.png", [PNG, b"same"].concat()))).await;
        assert!(all.iter().all(|(status, made)| *status == StatusCode::CREATED && *made == all[0].1), "{all:?}");
        let made = &all[0].1;
        assert_eq!(
            (&made["kind"], &made["width"], &made["mime"]),
            (&json!("image"), &json!(3000), &json!("image/png"))
        );
        // Only the re-encoded image is stored.
        assert_eq!(made["sha256"], hash(&[PNG, b"cleansame"].concat()));
        assert_eq!(made["thumbnail"], hash(&[PNG, b"smallsame"].concat()));
        assert_eq!(count(&api, "SELECT COUNT(*) FROM blobs").await, 3);
        assert_eq!(count(&api, "SELECT COUNT(*) FROM uploads").await, 1);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn file_becomes_document_and_its_versions() {
    let api = api_with_fake_reader(crate::test_server::TestServer::new(ScriptedProvider::new("scripted", [])).await);
    let (_, file) = upload(&api, "notes.md", "# Notes").await;
    let (status, made) = api.call("POST", "/api/documents", Some(json!({ "blob": file["sha256"] }))).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    assert_eq!(
        (&made["title"], &made["origin"], &made["notes"]),
        (&json!("notes.md"), &file["sha256"], &json!(["a note"]))
    );
    let (_, foreign) = upload(&api, "gbk.txt", vec![0xc4, 0xe3]).await;
    let body = json!({ "blob": foreign["sha256"] });
    let (status, problem) = api.call("POST", "/api/documents", Some(body.clone())).await;
    assert_eq!((status, &problem["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("encoding")));
    assert_eq!(problem["choices"], json!(["gb18030", "big5"]));
    let mut chosen = body;
    chosen["encoding"] = json!("gb18030");
    let path = format!("/api/documents/{}", id(&made));
    let (status, changed) = api.call("PUT", &path, Some(chosen)).await;
    assert_eq!((status, &changed["origin"]), (StatusCode::OK, &foreign["sha256"]));
    let (_, bomb) = upload(&api, "b.txt", "BOMB").await;
    let (status, problem) = api.call("POST", "/api/documents", Some(json!({ "blob": bomb["sha256"] }))).await;
    assert_eq!((status, &problem["code"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("unpacks_too_large")));
    let (_, image) = upload(&api, "a.png", PNG.to_vec()).await;
    let (status, _) = api.call("POST", "/api/documents", Some(json!({ "blob": image["sha256"] }))).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let (status, _) = api.call("POST", "/api/documents", Some(json!({ "blob": "f".repeat(64) }))).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    api.instance.check_invariants().await;
}

#[tokio::test]
async fn reused_file_is_document_of_same_title_and_text() {
    for api in apis_with_fake_reader(Vec::new).await {
        let (_, file) = upload(&api, "plan.md", "# Plan").await;
        let body = |title: &str, reuse: bool| json!({ "blob": file["sha256"], "title": title, "reuse": reuse });
        let create = async |body: Value| api.call("POST", "/api/documents", Some(body)).await;
        let (status, first) = create(body("plan.md", true)).await;
        assert_eq!(status, StatusCode::CREATED, "{first}");
        let mut keyed = body("plan.md", true);
        keyed["client_request_id"] = json!("reuse-1");
        let (status, same) = create(keyed.clone()).await;
        assert_eq!((status, id(&same), &same["rev"]), (StatusCode::OK, id(&first), &first["rev"]));
        // Another title is another document, and so is one that is asked for.
        for (title, reuse) in [("other.md", true), ("plan.md", false)] {
            let (status, other) = create(body(title, reuse)).await;
            assert_eq!(status, StatusCode::CREATED, "{title}");
            assert_ne!(id(&other), id(&first), "{title}");
            let (status, _) = api.call("DELETE", &format!("/api/documents/{}", id(&other)), None).await;
            assert!(status.is_success(), "{status}");
        }
        // A text that has changed since is not that of the file; the key stays with its document.
        let path = format!("/api/documents/{}", id(&first));
        assert_eq!(api.call("PUT", &path, Some(json!({ "content": "Changed" }))).await.0, StatusCode::OK);
        let (status, again) = create(keyed).await;
        assert_eq!((status, id(&again)), (StatusCode::OK, id(&first)));
        let (status, second) = create(body("plan.md", true)).await;
        assert_eq!(status, StatusCode::CREATED, "{second}");
        // A document in Trash is not reused.
        let (status, _) = api.call("DELETE", &format!("/api/documents/{}", id(&second)), None).await;
        assert!(status.is_success(), "{status}");
        let (status, third) = create(body("plan.md", true)).await;
        assert_eq!(status, StatusCode::CREATED, "{third}");
        assert_ne!(id(&third), id(&second));
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

/// The model is sent the version that the message names, with the same bytes every time, in another process too;
/// deleted documents are withheld.
#[tokio::test]
async fn model_is_sent_pinned_version_with_same_bytes() {
    for api in apis_with_fake_reader(|| replies(9)).await {
        let chat = api.create_chat().await;
        let d = document(&api, "The \"plan\"", "one\ntwo </document>\nthree\n").await;
        let (_, picture) = upload(&api, "cat.png", [PNG, b"cat"].concat()).await;
        let content = json!([
            reference_whole(&d), reference_part(&d, 4, 22), { "type": "image", "blob": picture["sha256"] }, { "type": "text", "text": "and?" },
        ]);
        let started = send_and_wait(&api, &chat, content).await;
        let reply = id(&started["assistant_turn"]).to_owned();
        let first = shown_references(&api, &reply).await;
        let version = d["version_timestamp"].as_str().unwrap().parse().unwrap();
        let rendered = document_prompt::render_document(
            id(&d),
            "The \"plan\"",
            Some(version),
            None,
            "one\ntwo </document>\nthree\n",
        );
        assert_eq!(first[0]["sha256"], hash(rendered.as_bytes()), "{first:#?}");
        let rendered = document_prompt::render_document(
            id(&d),
            "The \"plan\"",
            Some(version),
            Some((2, 2)),
            "two </document>\nth",
        );
        let lines = document_prompt::render_document(
            id(&d),
            "The \"plan\"",
            Some(version),
            Some((2, 3)),
            "two </document>\nth",
        );
        assert_ne!(first[1]["sha256"], hash(rendered.as_bytes()));
        assert_eq!((&first[1]["sha256"], &first[1]["selection"]), (&json!(hash(lines.as_bytes())), &json!([4, 22])));
        assert_eq!(first[2]["shown_as"], "image");
        assert_eq!(first[2]["sha256"], hash(&[PNG, b"modelscat"].concat()), "the form for models");
        assert!(first.iter().all(|line| line["approx_tokens"].as_u64().unwrap() > 0));
        // The page shows the same to people.
        let (status, page) = document_pages::get(&api, &format!("/turns/{reply}/sent")).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        let page = page.replace("<!>", "");
        let hash_of_lines = first[1]["sha256"].as_str().unwrap();
        for words in ["lines 2–3, characters 5–22", " UTC, whole document</span>", "as an image", hash_of_lines] {
            assert!(page.contains(words), "{words} in {page}");
        }

        // Renaming and editing the document changes nothing in earlier messages.
        let path = format!("/api/documents/{}", id(&d));
        api.call("PUT", &path, Some(json!({ "title": "Renamed", "content": "all other" }))).await;
        let next = send_and_wait(&api, &chat, json!([{ "type": "text", "text": "and now?" }])).await;
        assert_eq!(shown_references(&api, id(&next["assistant_turn"])).await, first);
        let instance = api
            .instance
            .restart_after_kill(ScriptedProvider::new("scripted", replies(9)), std::sync::Arc::new(NoTools))
            .await;
        let api = api_with_fake_reader(instance);
        let next = send_and_wait(&api, &chat, json!([{ "type": "text", "text": "and later?" }])).await;
        assert_eq!(shown_references(&api, id(&next["assistant_turn"])).await, first);
        // The same bytes go to another model on another branch.
        let body = json!({ "provider": "scripted", "model": "model-b" });
        let (status, other) = api.call("POST", &format!("/api/turns/{reply}/retry"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{other}");
        api.read_events(id(&other["assistant_turn"]), &[]).await;
        assert_eq!(shown_references(&api, id(&other["assistant_turn"])).await, first);

        api.call("DELETE", &path, None).await;
        let next = send_and_wait(&api, &chat, json!([{ "type": "text", "text": "gone?" }])).await;
        let now = shown_references(&api, id(&next["assistant_turn"])).await;
        assert_eq!((&now[0]["shown_as"], &now[1]["shown_as"]), (&json!("deleted"), &json!("deleted")));
        assert_eq!(now[2], first[2]);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

/// A row that was forced into the database and names another user's document shows nothing of it
/// (docs/reference/security.md 2.2).
#[tokio::test]
async fn foreign_documents_are_neither_referenced_nor_shown() {
    for api in apis_with_fake_reader(|| replies(4)).await {
        let chat = api.create_chat().await;
        let d = document(&api, "Secret", "the secret").await;
        let (_, picture) = upload(&api, "a.png", [PNG, b"secret"].concat()).await;
        let started =
            send_and_wait(&api, &chat, json!([reference_whole(&d), { "type": "image", "blob": picture["sha256"] }]))
                .await;
        let other: UserId = ids::mint();
        change_owner(&api, other).await;
        for content in
            [reference_whole(&d), reference_part(&d, 0, 3), json!({ "type": "image", "blob": picture["sha256"] })]
        {
            let fresh = api.create_chat().await;
            // The image belongs to a message that this owner wrote, so the owner may still use it.
            let expected = if content["type"] == "image" { StatusCode::CREATED } else { StatusCode::NOT_FOUND };
            assert_eq!(send(&api, &fresh, json!([content])).await.0, expected);
        }
        for path in [format!("/api/documents/{}", id(&d)), format!("/api/documents/{}/versions", id(&d))] {
            let (status, problem) = api.call("GET", &path, None).await;
            let (_, unknown) = api.call("GET", &format!("/api/documents/{}", ids::mint::<uuid::Uuid>()), None).await;
            assert_eq!((status, &problem["code"]), (StatusCode::NOT_FOUND, &unknown["code"]));
        }
        let service = &api.instance.service;
        let stranger = service.blob(other, picture["thumbnail"].as_str().unwrap()).await;
        assert!(stranger.is_ok(), "the upload is the other's now");
        let reply = id(&started["assistant_turn"]).parse().unwrap();
        assert!(matches!(service.sent_requests(other, reply, None).await, Err(ServiceError::NotFound)));
        let block = MessageBlock::Image { blob: hash(b"never"), alt: None };
        let request = TurnRequest { content: vec![block], ..message_to_send("") };
        let refused = service.start_turn(api.instance.owner, request).await;
        assert!(matches!(refused, Err(ServiceError::NotFound)), "{refused:?}");
        let next = send_and_wait(&api, &chat, json!([{ "type": "text", "text": "and?" }])).await;
        let lines = shown_references(&api, id(&next["assistant_turn"])).await;
        assert_eq!(lines[0]["shown_as"], "deleted", "{lines:#?}");
        assert_ne!(id(&started["user_turn"]), id(&next["user_turn"]));
        api.instance.close().await;
    }
}

/// Copies, edits, retries and reruns keep the attachments of the message.
#[tokio::test]
async fn attachments_are_kept_by_edit_retry_copy_and_rerun() {
    for api in apis_with_fake_reader(|| replies(12)).await {
        let chat = api.create_chat().await;
        let d = document(&api, "Plan", "one\ntwo").await;
        let (_, picture) = upload(&api, "a.png", PNG.to_vec()).await;
        let content = json!([reference_part(&d, 0, 3), { "type": "image", "blob": picture["sha256"], "alt": "A cat" }, { "type": "text", "text": "see" }]);
        let started = send_and_wait(&api, &chat, content.clone()).await;
        let (user, reply) = (id(&started["user_turn"]).to_owned(), id(&started["assistant_turn"]).to_owned());
        let of = |turn: &Value| -> Vec<(Value, Value)> {
            let blocks = turn["blocks"].as_array().unwrap().iter().filter(|block| block["type"] != "text");
            blocks.map(|block| (block["ref_id"].clone(), block["block_metadata"].clone())).collect()
        };
        let before = of(&started["user_turn"]);
        assert_eq!(before.len(), 2);

        let (_, edited) = api.call("POST", &format!("/api/turns/{user}/edit"), Some(json!({ "text": "look" }))).await;
        assert_eq!(of(&edited["user_turn"]), before, "other words change nothing of what is attached");
        api.read_events(id(&edited["assistant_turn"]), &[]).await;
        let (_, bare) = api
            .call(
                "POST",
                &format!("/api/turns/{user}/edit"),
                Some(json!({ "content": [{ "type": "text", "text": "bare" }] })),
            )
            .await;
        assert_eq!(of(&bare["user_turn"]), []);
        api.read_events(id(&bare["assistant_turn"]), &[]).await;
        let (_, copied) =
            api.call("POST", &format!("/api/chats/{chat}/copies"), Some(json!({ "turn_id": reply }))).await;
        let copy = copied["chat"]["id"].as_str().or(copied["id"].as_str()).unwrap().to_owned();
        let (_, turns) = api.call("GET", &format!("/api/chats/{copy}/turns"), None).await;
        assert_eq!(of(&turns["turns"][0]), before);
        let (_, used) = api.call("GET", &format!("/api/documents/{}", id(&d)), None).await;
        assert_eq!(used["used_in"], 2);

        // A new message cannot name a document in Trash, but an edit can repeat a message that named it.
        api.call("DELETE", &format!("/api/documents/{}", id(&d)), None).await;
        assert_eq!(send(&api, &chat, content).await.0, StatusCode::NOT_FOUND);
        let old = json!({ "content": started["user_turn"]["blocks"].as_array().unwrap().iter().map(as_client_block).collect::<Vec<_>>() });
        let (status, again) = api.call("POST", &format!("/api/turns/{user}/edit"), Some(old)).await;
        assert_eq!(status, StatusCode::CREATED, "{again}");
        assert_eq!(of(&again["user_turn"]), before);
        api.read_events(id(&again["assistant_turn"]), &[]).await;
        let body = json!({ "leaf_turn_id": reply, "provider": "scripted", "model": "model-b" });
        let (status, graft) = api.call("POST", &format!("/api/chats/{chat}/grafts"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{graft}");
        let leaf = graft["reply_turn_id"].as_str().unwrap();
        api.read_events(leaf, &[]).await;
        let (_, reply) = api.call("GET", &format!("/api/turns/{leaf}"), None).await;
        let path = format!("/api/turns/{}", reply["prev_turn_id"].as_str().unwrap());
        let (_, grafted) = api.call("GET", &path, None).await;
        assert_eq!(of(&grafted), before);
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

/// Converts a stored block into the form that a client sends.
fn as_client_block(block: &Value) -> Value {
    let mut client_block = json!({});
    for name in
        ["type", "text", "blob", "alt", "ref_id", "ref_type", "version_timestamp", "selection_start", "selection_end"]
    {
        if let Some(value) = block.get(name) {
            client_block[name] = value.clone();
        }
    }
    client_block
}

#[tokio::test]
async fn quote_is_copied_with_its_source() {
    let api =
        api_with_fake_reader(crate::test_server::TestServer::new(ScriptedProvider::new("scripted", replies(1))).await);
    let chat = api.create_chat().await;
    let long = format!("start\n{}\nend", "word ".repeat(400));
    let d = document(&api, "Long", &long).await;
    let end = long.chars().count();
    let started =
        send_and_wait(&api, &chat, json!([reference_part(&d, 0, end), { "type": "text", "text": "So?" }])).await;
    let request = Request::builder().uri(format!("/api/turns/{}/markdown", id(&started["user_turn"])));
    let response = api.send(request.header("host", "127.0.0.1:3000").body(Body::empty()).unwrap()).await;
    assert_eq!(response.headers()["content-type"], "text/markdown; charset=utf-8");
    let text = String::from_utf8(axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap();
    assert!(
        text.starts_with("> start\n> word word") && text.contains("> end\n>\n> — [Long, lines 1-3](/documents/"),
        "{text}"
    );
    assert!(text.ends_with("#L1-L3)\n\nSo?"), "{text}");
}

#[tokio::test]
async fn draft_keeps_attachments_until_sent() {
    let api =
        api_with_fake_reader(crate::test_server::TestServer::new(ScriptedProvider::new("scripted", replies(2))).await);
    let chat = api.create_chat().await;
    let d = document(&api, "Plan", "one\ntwo").await;
    let (service, owner) = (&api.instance.service, api.instance.owner);
    let chat_id = chat.parse().unwrap();
    let block = MessageBlock::PartialReference {
        ref_id: id(&d).into(),
        ref_type: "document".into(),
        version_timestamp: None,
        selection_start: 4,
        selection_end: 7,
        quote: None,
    };
    service.attach_to_draft(owner, Some(chat_id), vec![block.clone()]).await.unwrap();
    let draft = service.draft(owner, Some(chat_id)).await.unwrap().unwrap();
    let attached = draft.attachments.unwrap();
    assert_eq!((attached.len(), attached[0].card.quote.as_deref()), (1, Some("two")));
    let request = || TurnRequest {
        chat_id: Some(chat_id),
        takes_attachments: true,
        client_request_id: Some("once".into()),
        ..message_to_send("")
    };
    let started = service.start_turn(owner, request()).await.unwrap();
    let is_quote = |turn: &Turn| matches!(turn.blocks[0].content, Content::PartialReference { .. });
    assert!(is_quote(&started.user_turn));
    assert_eq!(service.draft(owner, Some(chat_id)).await.unwrap().unwrap().attachments, Some(Vec::new()));
    // The draft is empty now, but the repeated request still returns the first result.
    let again = service.start_turn(owner, request()).await.unwrap();
    assert!(!again.is_new && again.user_turn.id == started.user_turn.id);
}

async fn count(api: &TestApi, text: &'static str) -> i64 {
    match &api.instance.db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
        Db::Postgres { readers, .. } => sqlx::query_scalar(text).fetch_one(readers).await.unwrap(),
    }
}

/// Gives every document and upload to another user.
pub async fn change_owner(api: &TestApi, other: UserId) {
    const ACCOUNT: &str = "INSERT INTO users (id, name, created_at) VALUES ($1, 'other', $2)";
    const DOCUMENTS: &str = "UPDATE documents SET owner_id = $1";
    const UPLOADS: &str = "UPDATE uploads SET owner_id = $1";
    macro_rules! run {
        ($pool:expr) => {{
            let now = chrono::DateTime::<chrono::Utc>::UNIX_EPOCH;
            sqlx::query(ACCOUNT).bind(other.uuid()).bind(now).execute($pool).await.unwrap();
            for text in [DOCUMENTS, UPLOADS] {
                sqlx::query(text).bind(other.uuid()).execute($pool).await.unwrap();
            }
        }};
    }
    match &api.instance.db {
        Db::Sqlite { writer, .. } => run!(writer),
        Db::Postgres { writer, .. } => run!(writer),
    }
}

#[tokio::test]
async fn documents_are_found_by_their_titles() {
    for api in apis_with_fake_reader(Vec::new).await {
        for title in ["Plan B", "PLÄNE", "100% sure", "1000 things", "规格"] {
            let (status, body) =
                api.call("POST", "/api/documents", Some(json!({ "title": title, "content": "x" }))).await;
            assert_eq!(status, StatusCode::CREATED, "{body}");
        }
        for (query, titles) in [
            ("plan", &["Plan B"][..]),
            ("pl%C3%A4n", &["PLÄNE"]),
            ("100%25", &["100% sure"]),
            ("100", &["1000 things", "100% sure"]),
            ("%E8%A7%84", &["规格"]),
            ("%20", &["规格", "1000 things", "100% sure", "PLÄNE", "Plan B"]),
            ("nothing", &[]),
        ] {
            let (_, list) = api.call("GET", &format!("/api/documents?title={query}"), None).await;
            let found: Vec<_> = list.as_array().unwrap().iter().map(|one| one["title"].as_str().unwrap()).collect();
            assert_eq!(found, titles, "{query}");
        }
        let path = format!("/api/documents?title={}", "x".repeat(257));
        let (status, problem) = api.call("GET", &path, None).await;
        assert_eq!((status, &problem["field"]), (StatusCode::BAD_REQUEST, &json!("title")), "{problem}");

        let (_, list) = api.call("GET", "/api/documents?title=plan", None).await;
        api.call("DELETE", &format!("/api/documents/{}", list[0]["id"].as_str().unwrap()), None).await;
        for (query, count) in [("PLAN", 1), ("pl%C3%A4n", 0)] {
            let (_, trash) = api.call("GET", &format!("/api/documents?deleted=true&title={query}"), None).await;
            assert_eq!(trash.as_array().unwrap().len(), count, "{trash}");
        }
        api.instance.close().await;
    }
}
