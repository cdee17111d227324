//! The document pages without script: every form works, and no text becomes markup.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::json;
use turnleaf::domain::Content;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::fake_file_reader::{PNG, api_with_fake_reader};
use crate::http_api::TestApi;
use crate::providers::assert_scripts_are_own;
use crate::test_server::{TestServer, streamed_answer, text_step};

async fn api() -> TestApi {
    api_with_fake_reader(
        TestServer::new(ScriptedProvider::new("scripted", vec![streamed_answer([text_step("seen")]); 2])).await,
    )
}

pub async fn get(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    read(api, request).await
}

async fn read(api: &TestApi, request: Request<Body>) -> (StatusCode, String) {
    let response = api.send(request).await;
    let status = response.status();
    let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, location.unwrap_or_else(|| String::from_utf8(bytes.into()).unwrap()))
}

/// Posts a form; returns its status and the redirect target or the page.
async fn post(api: &TestApi, path: &str, fields: &[(&str, &str)]) -> (StatusCode, String) {
    let escape = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let body: Vec<String> = fields.iter().map(|(name, value)| format!("{name}={}", escape(value))).collect();
    let request = Request::builder().method("POST").uri(path).header("host", "127.0.0.1:3000");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    read(api, request.body(Body::from(body.join("&"))).unwrap()).await
}

/// Posts a multipart form with files, given as names and bytes.
async fn upload(api: &TestApi, fields: &[(&str, &str)], files: &[(&str, &[u8])]) -> (StatusCode, String) {
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
    send(api, "multipart/form-data; boundary=X", body).await
}

async fn send(api: &TestApi, kind: &str, body: Vec<u8>) -> (StatusCode, String) {
    let request = Request::builder().method("POST").uri("/forms/documents/upload").header("host", "127.0.0.1:3000");
    read(api, request.header("content-type", kind).body(Body::from(body)).unwrap()).await
}

fn id_of(address: &str) -> String {
    address.strip_prefix("/documents/").unwrap().split(['?', '#']).next().unwrap().to_owned()
}

#[tokio::test]
async fn document_is_created_viewed_changed_compared_and_deleted() {
    let api = api().await;
    let (status, empty) = get(&api, "/documents").await;
    assert_eq!(status, StatusCode::OK);
    assert!(empty.contains("href=\"/documents/new\"") && empty.contains("aria-current=\"page\""), "{empty}");
    assert!(get(&api, "/documents/new").await.1.contains("name=\"content\""));
    let hostile = "</textarea><script>alert(1)</script>";
    let fields = [("title", hostile), ("content", "# Head\r\n<img src=x onerror=alert(1)>"), ("do", "preview")];
    let (status, preview) = post(&api, "/forms/documents/save", &fields).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        preview.contains("<h4")
            && preview.contains("Head")
            && preview.matches("<script").count() == 1
            && !preview.contains("<img"),
        "{preview}"
    );

    let (status, problem) = post(&api, "/forms/documents/save", &[("title", " "), ("content", "kept words")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(problem.contains("kept words") && problem.contains("aria-invalid=\"true\""), "{problem}");
    let (status, to) =
        post(&api, "/forms/documents/save", &[("title", hostile), ("content", "one\r\ntwo <b>\r\nthree")]).await;
    assert_eq!((status, to.ends_with("?done=created")), (StatusCode::SEE_OTHER, true), "{to}");
    let id = id_of(&to);
    let (_, page) = get(&api, &format!("/documents/{id}?lines=2-3#L2-L3")).await;
    for part in [
        "<li id=\"L2\" class=\"marked\"",
        "id=\"L2-L3\"",
        "two &lt;b&gt;",
        "<ol start=\"1\" class=\"document-lines\"",
        "name=\"version\"",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    // The page's only script is its own.
    assert_eq!(page.matches("<script").count(), 1, "{page}");
    assert!(page.contains("\"enhance\")</script>") && !page.contains("alert(1)</script>"), "{page}");

    let save = |rev: &'static str, content: &'static str| {
        let id = id.clone();
        let api = &api;
        async move {
            let fields = [("document_id", id.as_str()), ("rev", rev), ("title", "Plan"), ("content", content)];
            post(api, "/forms/documents/save", &fields).await
        }
    };
    assert_eq!(save("1", "one\r\n2").await.0, StatusCode::SEE_OTHER);
    let (status, late) = save("1", "my late words").await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert!(late.contains("my late words") && late.contains("value=\"2\""), "the next save goes over it: {late}");
    let (_, versions) = api.call("GET", &format!("/api/documents/{id}/versions"), None).await;
    let name = |at: usize| versions[at]["version_timestamp"].as_str().unwrap().to_owned();
    let (status, compared) = get(&api, &format!("/documents/{id}/compare?left={}&right={}", name(1), name(0))).await;
    assert_eq!(status, StatusCode::OK);
    assert!(compared.contains("<del>") && compared.contains("<ins>"), "{compared}");
    let (_, older) = get(&api, &format!("/documents/{id}?version={}", name(1))).await;
    assert!(older.contains("This is an older version."), "{older}");
    let (status, _) = post(&api, "/forms/documents/restore", &[("document_id", &id), ("version", &name(1))]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_eq!(api.call("GET", &format!("/api/documents/{id}"), None).await.1["content"], "one\ntwo <b>\nthree");

    // The deletion takes effect at once and offers Undo.
    let (_, to) = post(&api, "/forms/documents/delete", &[("document_id", &id)]).await;
    assert_eq!(to, format!("/documents?deleted={id}"));
    let (_, rest) = get(&api, &to).await;
    for part in ["Deleted “Plan”.", "action=\"/forms/documents/restore\"", ">Undo<"] {
        assert!(rest.contains(part), "{part}: {rest}");
    }
    assert_eq!(get(&api, &format!("/documents/{id}")).await.0, StatusCode::NOT_FOUND);
    assert!(get(&api, "/trash").await.1.contains(&format!("data-document=\"{id}\"")));
    assert_eq!(post(&api, "/forms/documents/restore", &[("document_id", &id)]).await.0, StatusCode::SEE_OTHER);
    assert!(!get(&api, &to).await.1.contains(">Undo<"), "it is back");
    post(&api, "/forms/documents/delete", &[("document_id", &id)]).await;
    assert!(
        post(&api, "/forms/documents/purge", &[("document_id", &id)]).await.1.contains("Delete “Plan” permanently?")
    );
    assert_eq!(
        post(&api, "/forms/documents/purge", &[("document_id", &id), ("sure", "1")]).await.0,
        StatusCode::SEE_OTHER
    );
    assert!(!get(&api, "/trash").await.1.contains(&id));
}

#[tokio::test]
async fn form_files_are_stored_one_by_one() {
    let api = api().await;
    let files: [(&str, &[u8]); 5] =
        [("a.md", b"# A"), ("b.png", PNG), ("c.txt", b"\xc4\xe3"), ("d.txt", b""), ("e.txt", b"E")];
    let (status, page) = upload(&api, &[("encoding", "")], &files).await;
    assert_eq!(status, StatusCode::OK);
    for expected in [
        "a.md",
        "b.png: an image cannot be a document",
        "c.txt: the text encoding",
        "d.txt: the file is empty",
        "e.txt",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let (_, list) = api.call("GET", "/api/documents", None).await;
    assert_eq!(list.as_array().unwrap().len(), 2);
    let (_, filtered) = get(&api, "/documents?q=A.M").await;
    assert!(
        filtered.contains(">1 document<") && filtered.contains("a.md") && !filtered.contains("e.txt"),
        "{filtered}"
    );
    let (_, none) = get(&api, "/documents?q=%3Cx").await;
    assert!(none.contains("No document titles contain “&lt;x”."), "{none}");
    let (status, to) = upload(&api, &[("encoding", "gb18030")], &[("c.txt", b"\xc4\xe3")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{to}");
    let id = id_of(&to);
    let (status, _) = upload(&api, &[("encoding", ""), ("document_id", &id)], &[("later.txt", b"later")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let (_, now) = api.call("GET", &format!("/api/documents/{id}"), None).await;
    assert_eq!((&now["content"], &now["title"]), (&json!("later"), &json!("c.txt")));
    assert_eq!(upload(&api, &[("encoding", "")], &[("", b"")]).await.0, StatusCode::UNPROCESSABLE_ENTITY);

    // Malformed and oversized multipart bodies are refused.
    let part = b"--X\r\ncontent-disposition: form-data; name=\"files\"; filename=\"a\"\r\n\r\na".to_vec();
    assert_eq!(send(&api, "multipart/form-data", part.clone()).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(send(&api, "multipart/form-data; boundary=X", part).await.0, StatusCode::BAD_REQUEST);
    assert_eq!(send(&api, "multipart/form-data; boundary=X", vec![b'-'; 1 << 20]).await.0, StatusCode::BAD_REQUEST);
    let many: Vec<(&str, &[u8])> = (0..10_000).map(|_| ("x.txt", &b"x"[..])).collect();
    let (status, page) = upload(&api, &[], &many).await;
    assert_eq!(status, StatusCode::OK);
    assert!(page.contains("Too many files."), "{page}");
}

#[tokio::test]
async fn file_named_like_document_is_offered_as_its_new_version() {
    let api = api().await;
    let (status, to) = upload(&api, &[("encoding", "")], &[("plan.md", b"one")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let id = id_of(&to);
    let count = async || api.call("GET", "/api/documents", None).await.1.as_array().unwrap().len();
    let text = async || api.call("GET", &format!("/api/documents/{id}"), None).await.1["content"].clone();
    let value = |page: &str, name: &str| {
        let field = page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("{name}: {page}"));
        field.split('"').next().unwrap().to_owned()
    };

    // The same bytes, and other ones: neither makes a second document by itself.
    for (bytes, versions) in [(&b"one"[..], 1), (&b"two"[..], 2)] {
        let (status, page) = upload(&api, &[("encoding", "")], &[("plan.md", bytes), ("other.md", b"other")]).await;
        assert_eq!(status, StatusCode::OK);
        assert!(page.contains("There is already a document “plan.md”."), "{page}");
        assert_eq!(value(&page, "document_id"), id);
        let blob = value(&page, "blob");
        let fields =
            [("document_id", &*id), ("title", "plan.md"), ("blob", &*blob), ("encoding", ""), ("do", "version")];
        let (status, to) = post(&api, "/forms/documents/from-upload", &fields).await;
        assert_eq!((status, id_of(&to)), (StatusCode::SEE_OTHER, id.clone()));
        assert_eq!(text().await, json!(String::from_utf8_lossy(bytes)));
        let (_, all) = api.call("GET", &format!("/api/documents/{id}/versions"), None).await;
        assert_eq!(all.as_array().unwrap().len(), versions, "{all}");
    }
    assert_eq!(count().await, 2);

    let (_, page) = upload(&api, &[("encoding", "")], &[("plan.md", b"three")]).await;
    let blob = value(&page, "blob");
    let create = [("document_id", &*id), ("title", "plan.md"), ("blob", &*blob), ("encoding", ""), ("do", "create")];
    let (status, to) = post(&api, "/forms/documents/from-upload", &create).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    assert_ne!(id_of(&to), id);
    assert_eq!((count().await, text().await), (3, json!("two")));

    // No document and no file of another person.
    let foreign = [("document_id", "018f0000-0000-7000-8000-000000000000"), ("blob", &*blob), ("do", "version")];
    assert_eq!(post(&api, "/forms/documents/from-upload", &foreign).await.0, StatusCode::NOT_FOUND);
    let zeros = "0".repeat(64);
    let unknown = [("document_id", &*id), ("blob", &*zeros), ("do", "version")];
    assert!(post(&api, "/forms/documents/from-upload", &unknown).await.0.is_client_error());
    assert_eq!(text().await, json!("two"));
}

#[tokio::test]
async fn quoted_lines_are_sent_with_next_message() {
    let api = api().await;
    let chat = api.create_chat().await;
    let (_, made) =
        api.call("POST", "/api/documents", Some(json!({ "title": "Plan", "content": "one\ntwo\nthree\n" }))).await;
    let id = made["id"].as_str().unwrap();
    for (first, last) in [("4", "9"), ("3", "2"), ("x", "1"), ("0", "1")] {
        let version = made["version_timestamp"].as_str().unwrap();
        let fields = [("document_id", id), ("version", version), ("first", first), ("last", last), ("chat_id", &chat)];
        let (status, page) = post(&api, "/forms/documents/quote", &fields).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{first}-{last}");
        assert!(page.contains("id=\"quote-first-error\""), "{page}");
    }
    let fields = [
        ("document_id", id),
        ("version", made["version_timestamp"].as_str().unwrap()),
        ("first", "2"),
        ("last", "3"),
        ("chat_id", chat.as_str()),
    ];
    let (status, to) = post(&api, "/forms/documents/quote", &fields).await;
    assert_eq!((status, to), (StatusCode::SEE_OTHER, format!("/c/{chat}#latest")));
    let (status, to) =
        post(&api, "/forms/send", &[("text", "So?"), ("chat_id", &chat), ("client_request_id", "f-1")]).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{to}");
    let path = api.instance.service.path(api.instance.owner, chat.parse().unwrap(), None, 9).await.unwrap();
    let contents: Vec<&Content> = path.turns[0].blocks.iter().map(|block| &block.content).collect();
    assert!(
        matches!(
            contents[..],
            [Content::PartialReference { selection_start: 4, selection_end: 13, .. }, Content::Text { .. }]
        ),
        "{contents:?}"
    );
    assert!(get(&api, &format!("/documents/{id}")).await.1.contains("used in 1 chat"));
    // The document is quoted in a new chat that does not exist yet.
    let (status, to) = post(&api, "/forms/documents/quote", &fields[..4]).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/"));
}

#[tokio::test]
async fn long_document_is_shown_in_parts() {
    let api = api().await;
    let long: String = (1..=5_000).map(|n| format!("line {n}\n")).collect();
    let (_, made) = api.call("POST", "/api/documents", Some(json!({ "title": "Long", "content": long }))).await;
    let id = made["id"].as_str().unwrap();
    let (_, first) = get(&api, &format!("/documents/{id}")).await;
    assert!(first.contains("id=\"L2000\"") && !first.contains("id=\"L2001\"") && first.contains("from=2001"));
    let (_, marked) = get(&api, &format!("/documents/{id}?lines=4000-4001")).await;
    assert!(marked.contains("id=\"L4000\"") && marked.contains("start=\"3980\"") && marked.contains("line 5000"));
    assert_eq!(get(&api, &format!("/documents/{id}?from=0")).await.0, StatusCode::OK);
    assert_eq!(get(&api, &format!("/documents/{id}?from=99999999")).await.0, StatusCode::OK);
}

#[tokio::test]
async fn server_pages_run_only_own_script() {
    let api = api().await;
    let (_, made) =
        api.call("POST", "/api/documents", Some(json!({ "title": "Plan", "content": "one\n\nthree" }))).await;
    let policy = async |path: String| {
        let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
        let response = api.send(request).await;
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        let page = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        (policy, String::from_utf8(page.into()).unwrap())
    };
    let path = format!("/documents/{}", made["id"].as_str().unwrap());
    let (allowed, page) = policy(path.clone()).await;
    let nonce = page.split("<script type=\"module\" nonce=\"").nth(1).unwrap().split('"').next().unwrap();
    let expected = format!("script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval';");
    assert!(nonce.len() >= 22 && allowed.contains(&expected), "{allowed}");
    assert_ne!(policy(path.clone()).await.0, allowed, "a nonce is used once");
    // An empty line has an empty element, because a selection over it is counted from the page.
    assert!(page.contains("<li id=\"L2\" class=\"\"><code dir=\"auto\"></code></li>"), "{page}");
    // Controls that need script are in the page, but hidden.
    assert!(page.contains("id=\"quote-bar\"") && page.contains(" hidden"), "{page}");
    let edit = format!("{path}/edit");
    for other in
        ["/documents", "/trash", "/settings/providers", "/settings/general", "/documents/new", &edit, "/search"]
    {
        let (allowed, page) = policy(other.to_owned()).await;
        assert!(!allowed.contains("script-src 'none'"), "{other}: {allowed}");
        assert_scripts_are_own(&allowed, &page);
    }
    let (denied, page) = policy("/offline".to_owned()).await;
    assert!(denied.contains("script-src 'none'") && !page.contains("<script"), "{denied}");
}
