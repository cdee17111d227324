//! The settings page of a chat: what it shows and saves, and that refused input is kept.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::ModelParams;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf_providers::scripted::ScriptedProvider;

use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};

async fn page(api: &TestApi, path: &str) -> (StatusCode, String) {
    let request = Request::builder().uri(path).header("host", "127.0.0.1:3000").body(Body::empty()).unwrap();
    let response = api.send(request).await;
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// Posts the form; returns the status, the redirect target and the page.
async fn save(api: &TestApi, chat: &str, fields: &str) -> (StatusCode, Option<String>, String) {
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

async fn stored_settings(api: &TestApi, chat: &str) -> Value {
    api.call("GET", &format!("/api/chats/{chat}"), None).await.1
}

#[tokio::test]
async fn saved_settings_are_stored_and_shown() {
    let api = TestApi::new([]).await;
    let chat = api.create_chat().await;
    let branch = stored_settings(&api, &chat).await["branches"][0]["id"].as_str().unwrap().to_owned();
    let fields = "system_prompt=Be+%3Cb%3Ebrief%3C%2Fb%3E.&thinking=high&temperature=0%2C5&max_tokens=900\
                  &stop_sequences=END%0D%0A+two&policy=signatures_only";
    let (status, to, _) = save(&api, &chat, &format!("{fields}&branch_id={branch}")).await;
    assert_eq!((status, to), (StatusCode::SEE_OTHER, Some(format!("/c/{chat}/settings?saved=1"))));
    let stored = stored_settings(&api, &chat).await;
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
    assert_eq!(html.matches("<script").count(), 1, "our own: {html}");
}

#[tokio::test]
async fn invalid_settings_are_named_beside_input_and_nothing_is_saved() {
    let api = TestApi::new([]).await;
    let chat = api.create_chat().await;
    let before = stored_settings(&api, &chat).await;
    let (status, _, html) = save(&api, &chat, "system_prompt=Kept&temperature=warm&top_k=0").await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in ["Kept", "value=\"warm\"", "Enter a valid number.", "must be at least 1", "Not saved. Check the"] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let long = format!("system_prompt={}", "a".repeat(200_000));
    let (status, _, html) = save(&api, &chat, &long).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(html.contains("at most"), "{}", html.len());
    assert_eq!(stored_settings(&api, &chat).await, before);
}

#[tokio::test]
async fn branch_with_other_prompt_is_marked() {
    let api = TestApi::new([streamed_answer([text_step("one")])]).await;
    let chat = api.create_chat().await;
    save(&api, &chat, "system_prompt=The+first").await;
    let (_, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(json!({ "text": "a" }))).await;
    api.read_events(sent["assistant_turn"]["id"].as_str().unwrap(), &[]).await;
    let path = format!("/c/{chat}/settings");
    assert!(!page(&api, &path).await.1.contains("class=\"kept\""));
    save(&api, &chat, "system_prompt=The+second").await;
    let html = page(&api, &path).await.1;
    assert!(html.contains("” keeps the prompt it started with") && html.contains("The first"), "{html}");
}

#[tokio::test]
async fn missing_chat_has_no_settings() {
    let api = TestApi::new([]).await;
    let (status, _) = page(&api, "/c/0190b5b4-7c1e-7abc-8def-0123456789ab/settings").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let (status, ..) = save(&api, "0190b5b4-7c1e-7abc-8def-0123456789ab", "system_prompt=a").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// Posts a form; returns the status and the redirect target.
async fn post(api: &TestApi, path: &str, fields: &str) -> (StatusCode, Option<String>) {
    let request = Request::builder()
        .method("POST")
        .uri(path)
        .header("host", "127.0.0.1:3000")
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Body::from(fields.to_owned()))
        .unwrap();
    let response = api.send(request).await;
    (response.status(), response.headers().get("location").map(|to| to.to_str().unwrap().to_owned()))
}

/// Starts a chat with a message, as the page's form does, and returns the chat as it is stored.
async fn start_chat(api: &TestApi, text: &str) -> Value {
    let (status, to) = post(api, "/forms/send", &format!("text={text}")).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let id = to.unwrap().trim_start_matches("/c/").split(['?', '#', '/']).next().unwrap().to_owned();
    stored_settings(api, &id).await
}

#[tokio::test]
async fn next_chat_starts_with_prepared_settings_and_following_one_with_defaults() {
    let api = TestApi::new([
        streamed_answer([text_step("One")]),
        streamed_answer([text_step("Two")]),
        streamed_answer([text_step("Three")]),
    ])
    .await;
    let to = |path: &str| (StatusCode::SEE_OTHER, Some(path.to_owned()));
    let saved = post(&api, "/forms/instructions", "system_prompt=Always+kind.").await;
    assert_eq!(saved, to("/settings/general?saved=1#instructions"));
    assert!(page(&api, "/settings/general").await.1.contains("Always kind."));
    assert!(page(&api, "/new/settings").await.1.contains("Always kind."), "what it begins with is shown");

    let set = post(&api, "/new/settings", "system_prompt=In+rhymes.&temperature=0%2C5&thinking=high").await;
    assert_eq!(set, to("/new/settings?saved=1"));
    assert_eq!(post(&api, "/new/tools", "on=calculator").await, to("/"));
    let (_, html) = page(&api, "/new/settings").await;
    for part in ["In rhymes.", "value=\"0.5\"", "action=\"/new/settings\"", "href=\"/new/tools\""] {
        assert!(html.contains(part), "{part}: {html}");
    }
    let (_, html) = page(&api, "/").await;
    assert!(html.contains("href=\"/new/tools\"") && html.contains("Tools: 1 on"), "{html}");

    let first = start_chat(&api, "hi").await;
    assert_eq!(first["system_prompt"], "In rhymes.");
    assert_eq!(first["settings"]["params"], json!({ "temperature": 0.5, "thinking": "high" }));
    let tools = format!("/api/chats/{}/tools", first["id"].as_str().unwrap());
    assert_eq!(api.call("GET", &tools, None).await.1["on"], json!(["calculator"]));

    let second = start_chat(&api, "again").await;
    assert_eq!(second["system_prompt"], "Always kind.");
    assert_eq!(second["settings"]["params"], json!({}));
    assert!(page(&api, "/").await.1.contains("Tools: 3 on"));

    // A prompt that equals the default of all new chats is not stored as the chat's own, so a new default applies
    // here, too.
    post(&api, "/new/settings", "system_prompt=Always+kind.&max_tokens=9").await;
    post(&api, "/forms/instructions", "system_prompt=").await;
    let third = start_chat(&api, "more").await;
    assert_eq!((&third["system_prompt"], &third["settings"]["params"]), (&json!(""), &json!({ "max_tokens": 9 })));
}

#[tokio::test]
async fn concurrent_settings_for_next_chat_are_merged() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", Vec::new())).await {
        let (service, owner) = (&instance.service, instance.owner);
        for number in 1..=20 {
            let params = ModelParams { max_tokens: Some(number), ..ModelParams::default() };
            let on = if number % 2 == 0 { vec!["calculator".to_owned()] } else { Vec::new() };
            let choice = ToolChoice { on, ..ToolChoice::default() };
            let words = format!("Prompt {number}");
            let (settled, chosen) = tokio::join!(
                service.set_next_chat(owner, &words, params.clone()),
                service.choose_next_chat_tools(owner, choice.clone())
            );
            settled.and(chosen).unwrap();
            let next = service.next_chat(owner).await.unwrap();
            assert_eq!((next.system_prompt, next.params, next.tools), (Some(words), params, Some(choice)));
        }
        instance.close().await;
    }
}

#[tokio::test]
async fn invalid_settings_of_next_chat_stay_on_its_page() {
    let api = TestApi::new([]).await;
    for (path, fields) in [("/new/settings", "temperature=warm"), ("/new/tools", "on=no-such-tool")] {
        assert_eq!(post(&api, path, fields).await.0, StatusCode::UNPROCESSABLE_ENTITY, "{path}");
    }
    assert!(!page(&api, "/new/settings").await.1.contains("warm"));
}
