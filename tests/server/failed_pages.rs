//! Error pages in the browser, and the forms that rename and delete a chat without script.

use axum::body::Body;
use http::{Request, StatusCode};
use turnleaf::domain::{Failure, FailureKind, ModelLock, limits};
use turnleaf::server::page_data::PageService;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::provider::ProviderError;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::chats::NewChat;
use turnleaf_store::tools::tool_policies::{self, StoredPolicy};

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";
const NOBODY: &str = "01890000-0000-7000-8000-000000000000";

/// A response: status, content type, redirect target and text.
struct PageResponse {
    status: StatusCode,
    kind: String,
    to: String,
    text: String,
}

async fn send_request(api: &TestApi, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> PageResponse {
    let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    if !body.is_empty() {
        request = request.header("content-length", body.len().to_string());
        if headers.iter().all(|(name, _)| *name != "content-type") {
            request = request.header("content-type", "application/x-www-form-urlencoded");
        }
    }
    let response = api.send(request.body(Body::from(body.to_owned())).unwrap()).await;
    let header =
        |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default();
    let (status, kind, to) = (response.status(), header("content-type"), header("location"));
    let (policy, request_id) = (header("content-security-policy"), header("x-request-id"));
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let text = String::from_utf8(bytes.into()).unwrap();
    // An error page names the request id; a form that is shown again with its problem does not.
    if status.is_client_error() && text.contains("class=\"plain\"") && text.contains(&request_id) {
        // An error page may show the fields that a form was sent with, so no script may run on it.
        assert!(policy.contains("script-src 'none'") && !request_id.is_empty(), "{path}: {policy}");
    }
    PageResponse { status, kind, to, text }
}

async fn api() -> TestApi {
    TestApi::with_server(
        TestServer::new(ScriptedProvider::new(
            "scripted",
            [streamed_answer([text_step("one")]), streamed_answer([text_step("two")])],
        ))
        .await,
    )
}

#[tokio::test]
async fn failure_in_browser_is_page_with_back_link_and_request_id() {
    let api = api().await;
    let mut shown = Vec::new();
    for path in [
        format!("/documents/{NOBODY}"),
        "/documents/none".to_owned(),
        format!("/c/{NOBODY}/settings"),
        format!("/c/{NOBODY}/tools"),
        format!("/turns/{NOBODY}/again"),
        format!("/turns/{NOBODY}/edit"),
        format!("/turns/{NOBODY}/sent"),
        format!("/turns/{NOBODY}/calls/{NOBODY}"),
    ] {
        let page = send_request(&api, "GET", &path, &[("accept", HTML), ("x-request-id", "asked-1")], "").await;
        assert_eq!(page.status, StatusCode::NOT_FOUND, "{path}");
        assert!(page.kind.starts_with("text/html"), "{path}: {}", page.kind);
        for part in
            ["This page does not exist, or you do not have access to it.", "<code>asked-1</code>", "class=\"button\">"]
        {
            assert!(page.text.contains(part), "{part} {path}: {}", page.text);
        }
        shown.push(page.text.replace("/documents", "/"));
        let chinese = send_request(&api, "GET", &path, &[("accept", HTML), ("accept-language", "zh")], "").await;
        assert!(
            chinese.text.contains("此页面不存在，或你无权访问。") && chinese.text.contains("lang=\"zh-Hans\""),
            "{path}"
        );
        // Clients that do not ask for HTML get a problem document as before.
        for accepted in ["application/json", "*/*"] {
            let problem = send_request(&api, "GET", &path, &[("accept", accepted)], "").await;
            assert_eq!((problem.status, problem.kind.as_str()), (StatusCode::NOT_FOUND, "application/problem+json"));
        }
    }
    let api_path = format!("/api/chats/{NOBODY}");
    assert_eq!(send_request(&api, "GET", &api_path, &[("accept", HTML)], "").await.kind, "application/problem+json");
    let wrong = send_request(&api, "GET", "/documents?before=nothing", &[("accept", HTML)], "").await;
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text.contains("Request failed") && wrong.text.contains("Back to Documents"), "{}", wrong.text);
    let method = send_request(&api, "POST", "/documents", &[("accept", HTML)], "a=b").await;
    assert_eq!(method.status, StatusCode::METHOD_NOT_ALLOWED);
    assert!(method.text.contains("This address does not support that action.") && method.text.contains("plain.css"));
    let unknown = send_request(&api, "GET", "/nothing/here", &[("accept", HTML)], "").await;
    assert_eq!(unknown.status, StatusCode::NOT_FOUND);
    assert!(unknown.text.contains("This page does not exist."), "{}", unknown.text);
    api.instance.close().await;
}

#[tokio::test]
async fn missing_and_foreign_resources_look_the_same() {
    let api = api().await;
    let (deleted, theirs) = (api.create_chat().await, api.create_chat().await);
    assert_eq!(api.call("DELETE", &format!("/api/chats/{deleted}"), None).await.0, StatusCode::NO_CONTENT);
    api.instance
        .sql(
            "INSERT INTO users (id, name, is_local_owner, created_at) \
             VALUES (x'01900000000070008000000000000001', 'B', 0, '2026-01-01T00:00:00+00:00'); \
             UPDATE chats SET owner_id = x'01900000000070008000000000000001' WHERE deleted_at IS NULL",
        )
        .await;
    let headers = [("accept", HTML), ("x-request-id", "same")];
    let never = send_request(&api, "GET", &format!("/c/{NOBODY}/settings"), &headers, "").await;
    assert_eq!(never.status, StatusCode::NOT_FOUND);
    for chat in [deleted, theirs] {
        let gone = send_request(&api, "GET", &format!("/c/{chat}/settings"), &headers, "").await;
        assert_eq!((gone.status, gone.text.as_str()), (never.status, never.text.as_str()));
    }
    api.instance.close().await;
}

#[tokio::test]
async fn failed_form_is_reported_and_keeps_its_text() {
    let api = api().await;
    let fields = format!("turn_id={NOBODY}&text=My+long+%3Cb%3Ewords%3C%2Fb%3E&key=secret-key");
    let failed = send_request(&api, "POST", "/forms/edit", &[("accept", HTML)], &fields).await;
    assert_eq!(failed.status, StatusCode::NOT_FOUND);
    for part in ["Your input", "My long &lt;b&gt;words&lt;/b&gt;"] {
        assert!(failed.text.contains(part), "{part}: {}", failed.text);
    }
    assert!(!failed.text.contains("secret-key") && !failed.text.contains("<script"), "{}", failed.text);
    // The same holds for a form with files.
    let part =
        |name: &str, value: &str| format!("--X\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
    let parts = format!("{}{}--X--\r\n", part("turn_id", NOBODY), part("text", "My long <b>words</b>"));
    let headers = [("accept", HTML), ("content-type", "multipart/form-data; boundary=X")];
    let failed = send_request(&api, "POST", "/forms/edit", &headers, &parts).await;
    assert_eq!(failed.status, StatusCode::NOT_FOUND);
    assert!(failed.text.contains("My long &lt;b&gt;words&lt;/b&gt;"), "{}", failed.text);
    // Text that arrived before the unreadable part is still shown.
    let broken = format!("{}{}{}--X--\r\n", part("turn_id", NOBODY), part("text", "My long words"), part("what", "1"));
    let failed = send_request(&api, "POST", "/forms/edit", &headers, &broken).await;
    assert_eq!(failed.status, StatusCode::BAD_REQUEST);
    assert!(failed.text.contains("My long words") && failed.text.contains("unknown field"), "{}", failed.text);
    // A plain-text rejection of an axum extractor becomes a page too.
    let unread = send_request(&api, "POST", "/forms/send", &[("accept", HTML)], "chat_id=1").await;
    assert!(unread.status.is_client_error() && unread.kind.starts_with("text/html"), "{}", unread.text);
    let copy = format!("chat_id={NOBODY}&turn_id={NOBODY}");
    assert!(send_request(&api, "POST", "/forms/copy", &[("accept", HTML)], &copy).await.kind.starts_with("text/html"));
    // A cross-site request is refused, and its fields are not shown.
    let headers = [("accept", HTML), ("sec-fetch-site", "cross-site")];
    let foreign = send_request(&api, "POST", "/forms/edit", &headers, &fields).await;
    assert_eq!(foreign.status, StatusCode::FORBIDDEN);
    assert!(foreign.text.contains("This request came from another site.") && !foreign.text.contains("My long"));
    api.instance.close().await;
}

#[tokio::test]
async fn interrupted_form_is_not_treated_as_empty() {
    let api = api().await;
    let chat = api.create_chat().await;
    let settings = format!("/c/{chat}/settings");
    let of_chat = format!("/api/chats/{chat}");
    let saved = send_request(&api, "POST", &settings, &[], "system_prompt=Be+brief").await;
    assert_eq!(saved.status, StatusCode::SEE_OTHER, "{}", saved.text);
    let before = api.call("GET", &of_chat, None).await.1;
    assert!(before.to_string().contains("Be brief"), "{before}");
    let pieces = [Ok("system_prompt=Be"), Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset))];
    let request = Request::post(&settings)
        .header("host", "127.0.0.1:3000")
        .header("accept", HTML)
        .header("content-type", "application/x-www-form-urlencoded")
        .header("content-length", "400")
        .body(Body::from_stream(futures::stream::iter(pieces)));
    assert_eq!(api.send(request.unwrap()).await.status(), StatusCode::BAD_REQUEST);
    assert_eq!(api.call("GET", &of_chat, None).await.1, before);
    api.instance.close().await;
}

#[tokio::test]
async fn chat_is_renamed_and_deleted_without_script() {
    let api = api().await;
    let chat = api.create_chat().await;
    let settings = format!("/c/{chat}/settings");
    let page = send_request(&api, "GET", &settings, &[("accept", HTML)], "").await;
    for part in ["action=\"/forms/rename\"", "action=\"/forms/delete-chat\"", "name=\"title\""] {
        assert!(page.text.contains(part), "{part}: {}", page.text);
    }
    let renamed =
        send_request(&api, "POST", "/forms/rename", &[], &format!("chat_id={chat}&title=Plans+%26+more")).await;
    assert_eq!((renamed.status, renamed.to), (StatusCode::SEE_OTHER, format!("{settings}?saved=1")));
    assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.1["title"], "Plans & more");
    let long = "x".repeat(limits::TITLE_CHARS + 1);
    for (title, reason) in [("", "must not be empty"), (long.as_str(), "at most 200 characters")] {
        let refused = send_request(&api, "POST", "/forms/rename", &[], &format!("chat_id={chat}&title={title}")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{title}");
        assert!(
            refused.text.contains(reason) && refused.text.contains(&format!("value=\"{title}\"")),
            "{}",
            refused.text
        );
    }
    assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.1["title"], "Plans & more");

    let deleted = send_request(&api, "POST", "/forms/delete-chat", &[], &format!("chat_id={chat}")).await;
    assert_eq!((deleted.status, deleted.to.as_str()), (StatusCode::SEE_OTHER, "/trash?done=chat"));
    let trash = send_request(&api, "GET", &deleted.to, &[("accept", HTML)], "").await;
    assert!(trash.text.contains("Chat moved to Trash.") && trash.text.contains("Plans &amp; more"), "{}", trash.text);
    let of_restore = trash.text.split("action=\"/forms/restore\"").nth(1).unwrap();
    let id = of_restore.split("value=\"").nth(1).unwrap().split('"').next().unwrap();
    let restored = send_request(&api, "POST", "/forms/restore", &[], &format!("deletion_id={id}")).await;
    assert_eq!(restored.status, StatusCode::SEE_OTHER);
    assert_eq!(api.call("GET", &format!("/api/chats/{chat}"), None).await.0, StatusCode::OK);
    api.instance.close().await;
}

#[tokio::test]
async fn problem_has_code_with_arguments_and_sentence_of_language() {
    let api = api().await;
    let chat = api.create_chat().await;
    let path = format!("/api/chats/{chat}");
    let body = serde_json::json!({ "title": "x".repeat(limits::TITLE_CHARS + 1) }).to_string();
    for (language, localized) in [("en", None), ("zh", Some("title：最多 200 个字符"))] {
        let headers = [("content-type", "application/json"), ("accept-language", language)];
        let refused = send_request(&api, "PATCH", &path, &headers, &body).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{}", refused.text);
        let problem: serde_json::Value = serde_json::from_str(&refused.text).unwrap();
        assert_eq!((&problem["field"], &problem["code"]), (&"title".into(), &"invalid".into()));
        assert_eq!(problem["reason_code"], "too_many_characters");
        assert_eq!(problem["args"], serde_json::json!({ "most": "200" }));
        assert_eq!(problem["detail"], "title: must be at most 200 characters");
        assert_eq!(problem["localized"].as_str(), localized);
    }
    // The reason of a parser has no code.
    let headers = [("content-type", "application/json"), ("accept-language", "zh")];
    let refused = send_request(&api, "PATCH", &path, &headers, "{").await;
    let problem: serde_json::Value = serde_json::from_str(&refused.text).unwrap();
    assert_eq!(refused.status, StatusCode::BAD_REQUEST);
    assert!(problem.get("reason_code").is_none() && problem.get("localized").is_none(), "{problem}");
    // Conflicts and missing things have codes, too.
    let missing = send_request(&api, "GET", &format!("/api/chats/{NOBODY}"), &headers, "").await;
    let problem: serde_json::Value = serde_json::from_str(&missing.text).unwrap();
    assert_eq!(
        (&problem["reason_code"], &problem["localized"]),
        (&"not_found".into(), &"此内容不存在，或你无权访问。".into())
    );
    api.instance.close().await;
}

#[tokio::test]
async fn short_document_urls_redirect_to_long_ones() {
    let api = api().await;
    for (path, to) in [
        ("/docs".to_owned(), "/documents".to_owned()),
        (format!("/docs/{NOBODY}"), format!("/documents/{NOBODY}")),
        (format!("/docs/{NOBODY}?sel=10-42"), format!("/documents/{NOBODY}?lines=10-42")),
        (format!("/docs/{NOBODY}?sel=%0d%0aX:1"), format!("/documents/{NOBODY}")),
    ] {
        let response = send_request(&api, "GET", &path, &[], "").await;
        assert_eq!((response.status, response.to), (StatusCode::PERMANENT_REDIRECT, to), "{path}");
    }
    let response = send_request(&api, "GET", &format!("/docs/{NOBODY}?v=2026-01-02T03:04:05Z&sel=1-2"), &[], "").await;
    assert!(
        response.to.contains("?version=2026-01-02T03:04:05") && response.to.ends_with("&lines=1-2"),
        "{}",
        response.to
    );
    api.instance.close().await;
}

#[tokio::test]
async fn chat_tool_permissions_are_listed_and_revoked() {
    use turnleaf::domain::tools::approval::ToolApprovalPolicy;
    let api = api().await;
    let (chat, other) = (api.create_chat().await, api.create_chat().await);
    let (instance, now) = (&api.instance, SystemClock.now());
    let mut tx = instance.db.begin().await.unwrap();
    for chat in [&chat, &other] {
        let id = Some(chat.parse().unwrap());
        let (server, tool) = ("files".to_owned(), "write".to_owned());
        let policy =
            StoredPolicy { chat: id, server, tool, host: None, policy: ToolApprovalPolicy::Allow, schema_hash: None };
        tool_policies::put(&mut tx, instance.owner, &policy, now).await.unwrap();
    }
    tx.commit().await.unwrap();
    let tools = format!("/c/{chat}/tools");
    let page = send_request(&api, "GET", &tools, &[], "").await;
    assert!(page.text.contains("Allowed in this chat") && page.text.contains("value=\"write\""), "{}", page.text);
    let fields = format!("chat_id={chat}&server=files&tool=write");
    let taken = send_request(&api, "POST", "/forms/tools/ask-again", &[], &fields).await;
    assert_eq!((taken.status, taken.to), (StatusCode::SEE_OTHER, format!("{tools}?done=asks")));
    assert!(!send_request(&api, "GET", &tools, &[], "").await.text.contains("Allowed in this chat"));
    let left = instance.service.tool_policies(instance.owner).await.unwrap();
    assert_eq!(left.iter().map(|policy| policy.chat.unwrap().to_string()).collect::<Vec<_>>(), [other]);
    let nobodys = format!("chat_id={NOBODY}&server=files&tool=write");
    let refused = send_request(&api, "POST", "/forms/tools/ask-again", &[], &nobodys).await;
    assert_eq!(refused.status, StatusCode::NOT_FOUND);
    api.instance.close().await;
}

#[tokio::test]
async fn chat_list_is_paginated() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        let pages = PageService::new(instance.service.clone());
        let all = limits::LISTED_CHATS as usize + 2;
        for _ in 0..all {
            instance.service.create_chat(instance.owner, NewChat::default()).await.unwrap();
        }
        let newest = pages.list_chats(instance.owner, None, 0).await.unwrap();
        assert_eq!(newest.len(), limits::LISTED_CHATS as usize);
        let last = newest.last().unwrap().id;
        let older = pages.list_chats(instance.owner, Some(last), 0).await.unwrap();
        assert_eq!(older.len(), 2);
        assert!(older.iter().all(|chat| newest.iter().all(|other| other.id != chat.id)));
        let stranger = turnleaf_platform::ids::mint();
        assert!(pages.list_chats(stranger, Some(last), 0).await.unwrap().is_empty(), "not those of somebody else");
        instance.close().await;
    }
}

#[tokio::test]
async fn new_chat_offers_last_used_model() {
    let refused =
        || ScriptedAnswer::Refuse(ProviderError::without_response(Failure::new(FailureKind::ProviderAuth, "scripted")));
    let answers = || ScriptedProvider::new("scripted", [streamed_answer([text_step("b")]), refused()]);
    for instance in TestServer::on_every_database(answers).await {
        let pages = PageService::new(instance.service.clone());
        let default = async || {
            let page = pages.chat(instance.owner, None, None, None, None).await.unwrap();
            page.models.iter().filter(|model| model.is_default).map(|model| model.lock.clone()).collect::<Vec<_>>()
        };
        assert_eq!(default().await, [ModelLock::new("scripted", "model-a")]);
        let new = NewChat { model: Some("model-b".into()), provider: Some("scripted".into()), ..NewChat::default() };
        let (chat, _) = instance.service.create_chat(instance.owner, new).await.unwrap().value;
        assert_eq!(default().await, [ModelLock::new("scripted", "model-a")], "it has answered nothing yet");
        let started = instance.send_to(chat.id, "hi").await;
        instance.wait_until_ended(started.assistant_turn.id).await;
        assert_eq!(default().await, [ModelLock::new("scripted", "model-b")]);
        // A failed reply does not change the default model.
        let failed = instance.send("fails").await;
        instance.wait_until_ended(failed.assistant_turn.id).await;
        assert_eq!(default().await, [ModelLock::new("scripted", "model-b")]);
        instance.close().await;
    }
}
