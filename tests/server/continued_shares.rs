//! Continuing a shared chat over HTTP, on both databases: what a reader copies, who may, and when it is refused.

use axum::body::Body;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{AccountRole, ChatId, Content, TurnId};
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_service::ServiceError;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, SubmittedForm, TestCredential};
use crate::fake_file_reader::{PNG, api_with_fake_reader, upload};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step, thinking_step};

const STRANGER: TestCredential = TestCredential::Nothing;

/// A server on which the owner has shared the first exchange of a chat.
struct ContinuablePath {
    server: AccountsApi,
    ann: TestCredential,
    chat: ChatId,
    reply: TurnId,
    token: String,
}

fn answers() -> Vec<ScriptedAnswer> {
    vec![
        streamed_answer([thinking_step("hidden reasoning"), text_step("First answer")]),
        streamed_answer([text_step("Later answer")]),
    ]
}

/// Returns what stands between two texts in a page.
fn part<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}"));
    rest.split_once(after).unwrap().0
}

/// Returns a shared page.
async fn opened_page(api: &TestApi, token: &str) -> String {
    let request = Request::builder().uri(format!("/share/{token}")).header("host", "127.0.0.1:3000");
    text(api.send(request.body(Body::empty()).unwrap()).await).await
}

impl ContinuablePath {
    async fn on_every_database() -> Vec<Self> {
        let mut all = Vec::new();
        for server in AccountsApi::with_answers(answers).await {
            all.push(Self::new(server).await);
        }
        all
    }

    async fn new(server: AccountsApi) -> Self {
        let ann = server.sign_in(OWNER).await;
        let new = json!({ "title": "Trees", "provider": "scripted", "model": "model-a" });
        let (status, made) = server.call(("POST", "/api/chats"), &ann, new).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let chat: ChatId = made["id"].as_str().unwrap().parse().unwrap();
        let mut replies = Vec::new();
        for text in ["First question", "Later question"] {
            let path = format!("/api/chats/{chat}/turns");
            let (status, sent) = server.call(("POST", &path), &ann, json!({ "text": text })).await;
            assert_eq!(status, StatusCode::CREATED, "{sent}");
            let reply: TurnId = sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
            server.api.instance.wait_until_complete(reply).await;
            replies.push(reply);
        }
        let path = format!("/api/chats/{chat}/shares");
        let (status, made) = server.call(("POST", &path), &ann, json!({ "leaf_id": replies[0] })).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let token = made["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:3000/share/").unwrap().to_owned();
        Self { server, ann, chat, reply: replies[0], token }
    }

    /// Returns the page with the form.
    async fn page(&self, reader: &TestCredential) -> (StatusCode, String) {
        let path = format!("/share/{}/continue", self.token);
        let response = self.server.send(("GET", &path), reader, &[HTML], "").await;
        (response.status(), text(response).await)
    }

    /// Sends the form of a page.
    async fn submit(&self, reader: &TestCredential, page: &str) -> SubmittedForm {
        let key = part(page, "name=\"client_request_id\" value=\"", "\"");
        let form = format!("token={}&client_request_id={key}", self.token);
        self.server.submit("/forms/shares/continue", reader, &form).await
    }

    /// Returns the chats of a person.
    async fn chats(&self, reader: &TestCredential) -> Vec<Value> {
        let (status, chats) = self.server.call(("GET", "/api/chats"), reader, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{chats}");
        chats.as_array().unwrap().clone()
    }

    async fn close(self) {
        self.server.api.instance.check_invariants().await;
        self.server.api.instance.close().await;
    }
}

#[tokio::test]
async fn reader_continues_what_page_shows_in_chat_of_own() {
    for shared in ContinuablePath::on_every_database().await {
        let server = &shared.server;
        let bob_id = server.add("Bob", AccountRole::User).await;
        let bob = server.sign_in("Bob").await;
        let path = format!("/share/{}", shared.token);
        let opened = text(server.send(("GET", &path), &bob, &[HTML], "").await).await;
        assert!(opened.contains(&format!("href=\"{}/continue\"", shared.token)), "{opened}");
        let (status, page) = shared.page(&bob).await;
        assert!(status == StatusCode::OK && page.contains("Trees") && page.contains("2 messages"), "{page}");
        let done = shared.submit(&bob, &page).await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{done:?}");
        // The same form again leads to the same chat.
        assert_eq!(shared.submit(&bob, &page).await.location, done.location);

        let chats = shared.chats(&bob).await;
        let [listed] = &chats[..] else { panic!("{chats:?}") };
        let chat: ChatId = listed["id"].as_str().unwrap().parse().unwrap();
        assert!(done.location.starts_with(&format!("/c/{chat}?at=")), "{done:?}");
        let copied = server.service().path(bob_id, chat, None, 50).await.unwrap();
        assert_eq!((copied.chat.title.as_str(), copied.chat.copied_from_turn_id), ("Trees", None));
        let contents: Vec<&Content> =
            copied.turns.iter().flat_map(|turn| &turn.blocks).map(|block| &block.content).collect();
        assert_eq!(contents, [&Content::text("First question"), &Content::text("First answer")]);
        assert!(copied.turns.iter().all(|turn| turnleaf_platform::ids::is_imported(turn.id.uuid())));
        let lock = &copied.branch.as_ref().unwrap().lock;
        assert!(lock.provider == "imported" && lock.model.starts_with("model-a"), "as the page names it: {lock:?}");
        let origin = server.service().imported_from(bob_id, chat).await.unwrap().unwrap();
        assert_eq!((origin.format.as_str(), origin.file.as_str()), ("shared-link", "Trees"));
        // Nothing of the owner is in it, and nothing of it is the owner's.
        let seen = serde_json::to_string(&copied.turns).unwrap();
        for id in [shared.chat.to_string(), shared.reply.to_string(), server.api.instance.owner.to_string()] {
            assert!(!seen.contains(&id), "{id}: {seen}");
        }
        assert_eq!(shared.chats(&shared.ann).await.len(), 1);
        shared.close().await;
    }
}

#[tokio::test]
async fn stranger_signs_in_and_comes_back_to_continue() {
    for shared in ContinuablePath::on_every_database().await {
        let server = &shared.server;
        let path = format!("/share/{}", shared.token);
        let opened = text(server.send(("GET", &path), &STRANGER, &[HTML], "").await).await;
        assert!(opened.contains("Continue this chat"), "{opened}");
        let address = format!("{path}/continue");
        let response = server.send(("GET", &address), &STRANGER, &[HTML], "").await;
        let to_sign_in = response.headers()["location"].to_str().unwrap().to_owned();
        let next = format!("%2Fshare%2F{}%2Fcontinue", shared.token);
        assert_eq!(to_sign_in, format!("/sign-in?next={next}"));
        let form = format!("name={OWNER}&password=eleven+lamps+at+noon&next={next}");
        let done = server.submit("/forms/sign-in", &STRANGER, &form).await;
        assert_eq!(done.location, address, "{done:?}");
        let refused = server.submit("/forms/shares/continue", &STRANGER, &format!("token={}", shared.token)).await;
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{refused:?}");
        shared.close().await;
    }
}

#[tokio::test]
async fn revoked_and_unknown_links_cannot_be_continued() {
    for shared in ContinuablePath::on_every_database().await {
        let server = &shared.server;
        let bob_id = server.add("Bob", AccountRole::User).await;
        let bob = server.sign_in("Bob").await;
        let (_, page) = shared.page(&bob).await;
        let (_, earlier) = shared.page(&bob).await;
        let made = shared.submit(&bob, &earlier).await;
        let (_, shares) = server.call(("GET", "/api/shares"), &shared.ann, json!({})).await;
        let id = shares[0]["id"].as_str().unwrap();
        let (status, _) = server.call(("DELETE", &format!("/api/shares/{id}")), &shared.ann, json!({})).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        let (status, missing) = shared.page(&bob).await;
        assert!(status == StatusCode::NOT_FOUND && missing.contains("Link not available"), "{missing}");
        let refused = shared.submit(&bob, &page).await;
        assert!(refused.status == StatusCode::NOT_FOUND && refused.page.contains("Link not available"), "{refused:?}");
        // A copy that was made before stays, and its form still finds it.
        assert_eq!(shared.submit(&bob, &earlier).await.location, made.location);
        assert_eq!(shared.chats(&bob).await.len(), 1);
        server.api.instance.sql("UPDATE shares SET revoked_at = NULL, expires_at = created_at").await;
        assert_eq!(shared.page(&bob).await.0, StatusCode::NOT_FOUND, "it has expired");
        let unknown = server.service().continue_share(bob_id, "00ff", None).await;
        assert!(matches!(unknown, Err(ServiceError::NotFound)), "{unknown:?}");
        shared.close().await;
    }
}

#[tokio::test]
async fn share_of_earlier_version_shows_page_without_link() {
    for shared in ContinuablePath::on_every_database().await {
        let server = &shared.server;
        server.api.instance.sql("UPDATE shares SET turns = NULL, turns_sha256 = NULL, turns_bytes = NULL").await;
        let path = format!("/share/{}", shared.token);
        let opened = text(server.send(("GET", &path), &shared.ann, &[HTML], "").await).await;
        assert!(opened.contains("First answer") && !opened.contains("Continue this chat"), "{opened}");
        assert_eq!(shared.page(&shared.ann).await.0, StatusCode::NOT_FOUND);
        shared.close().await;
    }
}

#[tokio::test]
async fn owner_without_accounts_continues_own_path_with_its_images() {
    let provider = || ScriptedProvider::new("scripted", answers());
    for instance in TestServer::on_every_database(provider).await {
        let api = api_with_fake_reader(instance);
        let owner = api.instance.owner;
        let (status, image) = upload(&api, "a.png", [PNG, b"leaf"].concat()).await;
        assert_eq!(status, StatusCode::CREATED, "{image}");
        let chat = api.create_chat().await;
        let content = json!({ "content": [
            { "type": "text", "text": "First question" },
            { "type": "image", "blob": image["sha256"], "alt": "A leaf" },
        ] });
        let (status, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(content)).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        let reply: TurnId = sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        api.instance.wait_until_complete(reply).await;
        let body = json!({ "parts": { "reasoning": true } });
        let (status, made) = api.call("POST", &format!("/api/chats/{chat}/shares"), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let token = made["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:3000/share/").unwrap().to_owned();
        assert!(opened_page(&api, &token).await.contains("Continue this chat"));

        let copied = api.instance.service.continue_share(owner, &token, None).await.unwrap().value;
        assert_eq!(copied.chat.copied_from_turn_id, Some(reply), "the way back to the original");
        let path = api.instance.service.path(owner, copied.chat.id, None, 50).await.unwrap();
        let kinds: Vec<Vec<&str>> = path
            .turns
            .iter()
            .map(|turn| turn.blocks.iter().map(|block| block.content.block_type()).collect())
            .collect();
        assert_eq!(kinds, [vec!["text", "image"], vec!["thinking", "text"]]);
        // Strangers of a server without accounts cannot sign in, so they are offered nothing.
        api.instance.check_invariants().await;
        let api = TestApi::for_strangers(api.instance);
        let opened = opened_page(&api, &token).await;
        assert!(opened.contains("First question") && !opened.contains("Continue this chat"), "{opened}");
        api.instance.close().await;
    }
}
