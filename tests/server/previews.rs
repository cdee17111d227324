//! Previews of code blocks: what is served of them, with which headers, and to whom.

use axum::body::Body;
use http::{HeaderMap, Request, StatusCode};
use turnleaf::domain::blocks::preview::preview_address;
use turnleaf::domain::{BlockId, Content, Turn, TurnId};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

const FIRST: &str = "A page:\n\n```html index.html\n<script>leave()</script>one\n```\n\n```svg\n<svg></svg>\n```\n";
const SECOND: &str =
    "```md\n# *Title*\n```\n\n```html index.html\n<script>leave()</script>two\n```\n\n```mermaid\ngraph TD\n```\n";

fn provider() -> ScriptedProvider {
    ScriptedProvider::new("scripted", [FIRST, SECOND].map(|text| streamed_answer([text_step(text)])))
}

/// Has both replies written; returns them.
async fn write_replies(instance: &TestServer) -> [Turn; 2] {
    let started = instance.send("Make a page").await;
    let first = instance.wait_until_complete(started.assistant_turn.id).await;
    let started = instance.send_to(first.chat_id, "Another").await;
    [first, instance.wait_until_complete(started.assistant_turn.id).await]
}

fn text_block(turn: &Turn) -> BlockId {
    turn.blocks.iter().find(|block| matches!(block.content, Content::Text { .. })).unwrap().id
}

/// Returns the address of the preview of the `number`th code block; `part` is below its page.
fn address(turn: &Turn, part: &str, number: usize) -> String {
    format!("/turns/{}/previews/{}{part}?code={number}", turn.id, text_block(turn))
}

async fn get(api: &TestApi, path: &str, destination: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").header("sec-fetch-dest", destination);
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let (status, headers) = (response.status(), response.headers().clone());
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn document_has_neither_origin_nor_network() {
    for instance in TestServer::on_every_database(provider).await {
        let [reply, _] = write_replies(&instance).await;
        let api = TestApi::with_server(instance);
        for (number, shown) in [(1, "<script>leave()</script>one\n"), (2, "<svg></svg>\n")] {
            let (status, headers, html) = get(&api, &address(&reply, "/document", number), "iframe").await;
            assert_eq!(status, StatusCode::OK);
            assert!(html.ends_with(shown), "{html}");
            let policy = headers["content-security-policy"].to_str().unwrap();
            assert!(policy.starts_with("sandbox allow-scripts; default-src 'none'; "), "{policy}");
            for directive in ["connect-src", "frame-src", "worker-src", "object-src", "form-action", "base-uri"] {
                assert!(policy.contains(&format!("; {directive} 'none'")), "{directive}: {policy}");
            }
            for loose in ["allow-same-origin", "allow-popups", "allow-top", "allow-downloads", "http", "'self';"] {
                assert!(!policy.contains(loose), "{loose}: {policy}");
            }
            for (name, value) in [
                ("content-type", "text/html; charset=utf-8"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
                ("x-dns-prefetch-control", "off"),
                ("cache-control", "no-store"),
            ] {
                assert_eq!(headers[name], value, "{name}");
            }
            assert!(headers.get("set-cookie").is_none());
            // Whoever visits it gets the page around it, which keeps it at this server.
            let (status, headers, _) = get(&api, &address(&reply, "/document", number), "document").await;
            assert_eq!(
                (status, headers["location"].to_str().unwrap()),
                (StatusCode::SEE_OTHER, &*address(&reply, "", number))
            );
        }
        let (status, headers, page) = get(&api, &address(&reply, "", 1), "document").await;
        assert_eq!(status, StatusCode::OK);
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("; frame-src 'self'; ") && policy.contains("frame-ancestors 'none'"), "{policy}");
        assert!(page.contains("sandbox=\"allow-scripts\"") && !page.contains("leave()"), "{page}");
        api.instance.close().await;
    }
}

#[tokio::test]
async fn page_shows_versions_source_and_changes() {
    for instance in TestServer::on_every_database(provider).await {
        let [first, second] = write_replies(&instance).await;
        let api = TestApi::with_server(instance);
        let (_, _, chat) = get(&api, &format!("/c/{}", second.chat_id), "document").await;
        for (turn, number) in [(&first, 1), (&first, 2), (&second, 1), (&second, 2), (&second, 3)] {
            let link = format!("class=\"md-preview\" href=\"{}\"", preview_address(turn.id, text_block(turn), number));
            assert!(chat.contains(&link), "{link}: {chat}");
        }
        let newest = address(&second, "", 2);
        let (_, _, page) = get(&api, &newest, "document").await;
        assert!(
            page.contains("Preview: index.html") && page.contains(&format!("href=\"{}\"", address(&first, "", 1))),
            "{page}"
        );
        let (_, _, page) = get(&api, &format!("{newest}&show=changes"), "document").await;
        assert!(page.contains("<del>") && page.contains("<ins>") && page.contains("two"), "{page}");
        let (_, _, page) = get(&api, &format!("{newest}&show=source"), "document").await;
        assert!(page.contains("&lt;script&gt;leave()&lt;/script&gt;two") && !page.contains("<iframe"), "{page}");
        let (_, _, page) = get(&api, &address(&second, "", 1), "document").await;
        assert!(page.contains("<em>Title</em>") && !page.contains("<iframe"), "{page}");
        // A build without the bundle has no library for diagrams.
        let (_, _, page) = get(&api, &address(&second, "", 3), "document").await;
        assert!(page.contains("This diagram cannot be drawn.") && !page.contains("<iframe"), "{page}");
        let (status, headers, file) = get(&api, &address(&second, "/file", 2), "document").await;
        assert_eq!((status, file.as_str()), (StatusCode::OK, "<script>leave()</script>two\n"));
        assert_eq!(headers["content-type"], "application/octet-stream");
        assert_eq!([&headers["cache-control"], &headers["x-content-type-options"]], ["no-store", "nosniff"]);
        assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"index.html\""));
        api.instance.check_invariants().await;
        api.instance.close().await;
    }
}

#[tokio::test]
async fn preview_is_found_only_at_its_code() {
    let api = TestApi::with_server(TestServer::new(provider()).await);
    let [first, second] = write_replies(&api.instance).await;
    let elsewhere = |turn: TurnId, block: BlockId| format!("/turns/{turn}/previews/{block}?code=1");
    for path in [
        address(&first, "", 0),
        address(&first, "", 3),
        address(&first, "/file", 3),
        // Markdown and diagrams have no document of their own.
        address(&second, "/document", 1),
        address(&second, "/document", 3),
        elsewhere(first.id, text_block(&second)),
        elsewhere(ids::mint(), text_block(&first)),
        elsewhere(first.prev_turn_id.unwrap(), text_block(&first)),
        "/frames/diagram/0123456789abcdef".to_owned(),
    ] {
        assert_eq!(get(&api, &path, "iframe").await.0, StatusCode::NOT_FOUND, "{path}");
    }
    let path = format!("/turns/{}/previews/{}?code=x", first.id, text_block(&first));
    assert_eq!(get(&api, &path, "document").await.0, StatusCode::BAD_REQUEST);
    let (status, _) = api.call("DELETE", &format!("/api/chats/{}", first.chat_id), None).await;
    assert!(status.is_success(), "{status}");
    for part in ["", "/document", "/file"] {
        assert_eq!(
            get(&api, &address(&first, part, 1), "iframe").await.0,
            StatusCode::NOT_FOUND,
            "its chat is deleted"
        );
    }
}

#[tokio::test]
async fn panel_is_served_to_pages() {
    let api = TestApi::new([]).await;
    for (path, kind) in [("/preview.js", "text/javascript; charset=utf-8"), ("/preview.css", "text/css; charset=utf-8")]
    {
        let (status, headers, _) = get(&api, path, "script").await;
        assert_eq!((status, headers["content-type"].to_str().unwrap()), (StatusCode::OK, kind), "{path}");
    }
    let (_, _, page) = get(&api, "/", "document").await;
    assert!(page.contains("import(\"/preview.js\")"), "{page}");
}
