//! The page of a chat's settings: what it shows, what it saves, and what it keeps when something is wrong.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};

use crate::house::{answer, text};
use crate::http_api::Api;

async fn page(api: &Api, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Sends the form; gives the status, where it leads and the page.
async fn save(api: &Api, chat: &str, fields: &str) -> (StatusCode, Option<String>, String) {
    let request = Request::builder()
        .method("POST")
        .uri(format!("/c/{chat}/settings"))
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(fields.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let to = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, to, String::from_utf8(bytes.to_vec()).unwrap())
}

async fn stored(api: &Api, chat: &str) -> Value {
    api.call("GET", &format!("/api/chats/{chat}"), None).await.1
}

#[tokio::test]
async fn what_is_saved_is_stored_and_shown() {
    let api = Api::new([]).await;
    let chat = api.chat().await;
    let branch = stored(&api, &chat).await["branches"][0]["id"].as_str().unwrap().to_owned();
    let fields = "system_prompt=Be+%3Cb%3Ebrief%3C%2Fb%3E.&thinking=high&temperature=0%2C5&max_tokens=900\
                  &stop_sequences=END%0D%0A+two&policy=signatures_only";
    let (status, to, _) = save(&api, &chat, &format!("{fields}&branch_id={branch}")).await;
    assert_eq!((status, to), (StatusCode::SEE_OTHER, Some(format!("/c/{chat}/settings?saved=1"))));
    let stored = stored(&api, &chat).await;
    assert_eq!(stored["system_prompt"], "Be <b>brief</b>.");
    let params = json!({
        "temperature": 0.5, "max_tokens": 900, "stop_sequences": ["END", " two"], "thinking": "high",
    });
    assert_eq!(stored["settings"]["params"], params);
    assert_eq!(stored["branches"][0]["policy"], "signatures_only");
    let (status, html) = page(&api, &format!("/c/{chat}/settings?saved=1")).await;
    assert_eq!(status, StatusCode::OK);
    for part in ["Saved.", "Be &lt;b&gt;brief&lt;/b&gt;.", "value=\"0.5\"", "value=\"900\"", "END\n two"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    assert!(!html.contains("<script"), "{html}");
}

#[tokio::test]
async fn what_is_wrong_is_named_beside_what_was_typed_and_nothing_is_saved() {
    let api = Api::new([]).await;
    let chat = api.chat().await;
    let before = stored(&api, &chat).await;
    let (status, _, html) = save(&api, &chat, "system_prompt=Kept&temperature=warm&top_k=0").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in ["Kept", "value=\"warm\"", "This is not a number", "must be at least 1", "Nothing was saved"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let long = format!("system_prompt={}", "a".repeat(200_000));
    let (status, _, html) = save(&api, &chat, &long).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("at most"), "{}", html.len());
    assert_eq!(stored(&api, &chat).await, before);
}

#[tokio::test]
async fn a_branch_that_keeps_another_prompt_says_so() {
    let api = Api::new([answer([text("one")])]).await;
    let chat = api.chat().await;
    save(&api, &chat, "system_prompt=The+first").await;
    let (_, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "a" }))).await;
    api.events(sent["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let path = format!("/c/{chat}/settings");
    assert!(!page(&api, &path).await.1.contains("class=\"kept\""));
    save(&api, &chat, "system_prompt=The+second").await;
    let html = page(&api, &path).await.1;
    assert!(html.contains("keeps the prompt it began with") && html.contains("The first"), "{html}");
}

#[tokio::test]
async fn a_chat_that_is_not_there_has_no_settings() {
    let api = Api::new([]).await;
    let (status, _) = page(&api, "/c/0190b5b4-7c1e-7abc-8def-0123456789ab/settings").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, ..) = save(&api, "0190b5b4-7c1e-7abc-8def-0123456789ab", "system_prompt=a").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
