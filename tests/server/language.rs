//! Pages in the reader's language, chosen by the cookie or else by the browser's preference, on every thread and in
//! cached fragments.

use axum::body::Body;
use http::header::{CONTENT_LANGUAGE, LOCATION, SET_COOKIE};
use http::{Request, StatusCode};
use serde_json::json;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::http_api::TestApi;
use crate::test_server::{streamed_answer, text_step};

async fn api() -> TestApi {
    let reply = text_step("Run this:\n\n```rust\nfn main() {}\n```\n");
    TestApi::with_provider(ScriptedProvider::new("scripted", [streamed_answer([reply])])).await
}

/// Requests a page with these headers. Returns the status, the declared language and the text.
async fn get(api: &TestApi, path: &str, headers: &[(&str, &str)]) -> (StatusCode, String, String) {
    let mut request = Request::builder().uri(path).header("host", "127.0.0.1:3000");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let status = response.status();
    let language = response.headers().get(CONTENT_LANGUAGE).map(|value| value.to_str().unwrap().to_owned());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, language.unwrap_or_default(), String::from_utf8(bytes.into()).unwrap())
}

#[tokio::test]
async fn page_is_in_language_of_its_reader() {
    let api = api().await;
    for (headers, lang, word) in [
        (&[][..], "en", "Skip to the message box"),
        (&[("accept-language", "zh-CN,zh;q=0.9,en;q=0.8")], "zh-Hans", "跳到"),
        (&[("accept-language", "de,fr;q=0.5")], "en", "Skip to the message box"),
        (&[("accept-language", "zh"), ("cookie", "a=b; turnleaf_language=en")], "en", "Skip to the message box"),
        (&[("accept-language", "en"), ("cookie", "turnleaf_language=zh-Hans")], "zh-Hans", "跳到"),
        (&[("cookie", "turnleaf_language=en-XA")], "en-XA", "[Skïp tô"),
        (&[("cookie", "turnleaf_language=\"><script>")], "en", "Skip to the message box"),
    ] {
        for path in ["/", "/settings/general", "/usage", "/nothing/here"] {
            let (_, content_language, html) = get(&api, path, headers).await;
            assert_eq!(content_language, lang, "{path} {headers:?}");
            assert!(html.contains(&format!("<html lang=\"{lang}\"")), "{path}: {html}");
        }
        let (_, _, html) = get(&api, "/", headers).await;
        assert!(html.contains(word), "{headers:?}: {html}");
    }
    api.instance.close().await;
}

#[tokio::test]
async fn text_cache_is_per_language() {
    let api = api().await;
    let chat = api.create_chat().await;
    let (_, started) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "hi" }))).await;
    api.read_events(started["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let path = format!("/c/{chat}");
    for _ in 0..2 {
        let (_, _, english) = get(&api, &path, &[]).await;
        assert!(english.contains("Copy code") && !english.contains("复制代码"), "{english}");
        let (_, _, chinese) = get(&api, &path, &[("accept-language", "zh")]).await;
        assert!(chinese.contains("复制代码") && !chinese.contains("Copy code"), "{chinese}");
    }
    api.instance.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_in_two_languages_do_not_mix() {
    let api = std::sync::Arc::new(api().await);
    let ask = |at: usize| {
        let api = api.clone();
        tokio::spawn(async move {
            let is_chinese = at.is_multiple_of(2);
            let (accepted, lang, own, other) = if is_chinese {
                ("zh", "<html lang=\"zh-Hans\"", "设置", ">Settings<")
            } else {
                ("en", "<html lang=\"en\"", ">Settings<", "设置")
            };
            let path = ["/", "/settings/general", "/settings/providers"][at % 3];
            let (status, _, html) = get(&api, path, &[("accept-language", accepted)]).await;
            assert_eq!(status, StatusCode::OK);
            for part in [lang, own] {
                assert!(html.contains(part), "{part} {path}: {html}");
            }
            assert!(!html.contains(other), "{other} {path}: {html}");
        })
    };
    for answered in futures::future::join_all((0..48).map(ask)).await {
        answered.unwrap();
    }
}

#[tokio::test]
async fn language_choice_is_stored_in_browser() {
    let api = api().await;
    let choose = async |fields: &str| {
        let request = Request::builder().method("POST").uri("/forms/preferences").header("host", "127.0.0.1:3000");
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = api.send(request.body(Body::from(fields.to_owned())).unwrap()).await;
        let cookies: Vec<String> =
            response.headers().get_all(SET_COOKIE).iter().map(|value| value.to_str().unwrap().to_owned()).collect();
        (response.headers()[LOCATION].to_str().unwrap().to_owned(), cookies)
    };
    let (to, cookies) = choose("size=18&next=/settings/appearance?saved=1").await;
    assert_eq!(to, "/settings/appearance?saved=1#size");
    assert_eq!(cookies, ["turnleaf_size=18; Path=/; Max-Age=31536000; SameSite=Lax"]);
    let (_, cookies) = choose("size=99%3B+evil&motion=reduced").await;
    assert_eq!(cookies.len(), 2);
    assert!(cookies[0].starts_with("turnleaf_size=16;") && cookies[1].starts_with("turnleaf_motion=reduced;"));
    let (_, cookies) = choose("language=zh-Hans").await;
    assert!(cookies[0].starts_with("turnleaf_language=zh-Hans;"), "{cookies:?}");
    let (_, cookies) = choose("language=").await;
    assert!(cookies[0].starts_with("turnleaf_language=; Path=/; Max-Age=0;"), "{cookies:?}");
    let (to, cookies) = choose("next=//canary.test").await;
    assert_eq!((to.as_str(), cookies.len()), ("/", 0));

    let cookie = ("cookie", "turnleaf_size=18; turnleaf_density=compact; turnleaf_theme=dark");
    for path in ["/", "/settings/appearance?saved=1"] {
        let (_, _, html) = get(&api, path, &[cookie]).await;
        for mark in ["data-theme=\"dark\"", "data-size=\"18\"", "data-density=\"compact\""] {
            assert!(html.contains(mark), "{path} {mark}: {html}");
        }
        assert!(!html.contains("data-motion"), "{html}");
    }
    let (_, _, html) = get(&api, "/settings/appearance?saved=1", &[cookie]).await;
    assert!(html.contains("name=\"size\" value=\"18\" aria-pressed=\"true\""), "{html}");
    assert!(html.contains("Saved."), "{html}");
    api.instance.close().await;
}

#[tokio::test]
async fn pages_of_settings_are_there() {
    let api = api().await;
    for (path, word) in [
        ("/settings/general", "Ctrl+Enter always sends"),
        ("/settings/appearance", "Text size"),
        ("/settings/shortcuts", "<kbd>F6</kbd>"),
        ("/settings/about", "SQLite"),
    ] {
        let (status, _, html) = get(&api, path, &[]).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(html.contains(word), "{path}: {html}");
        assert!(html.contains(&format!("<a href=\"{path}\" aria-current=\"page\">")), "{path}: {html}");
    }
    api.instance.close().await;
}

#[tokio::test]
async fn unchanged_shortcut_field_is_no_change() {
    let api = api().await;
    let (status, to) = api.post_form("/forms/keys", &[("command", "search"), ("keys", " ")]).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/shortcuts"));
    let (status, page) = api.post_form("/forms/keys", &[("command", "search"), ("keys", "nonsense")]).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
    let (status, to) = api.post_form("/forms/keys", &[("command", "search"), ("none", "1")]).await;
    assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/shortcuts?saved=1"));
    api.instance.close().await;
}
