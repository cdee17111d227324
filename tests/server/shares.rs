//! Shares over HTTP, on both databases: what their pages contain and leave out, who may open them, when they end, and
//! the pages and the API of their owners.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use chrono::TimeDelta;
use http::{Request, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnleaf::domain::{ChatId, Share, ShareAudience, SharedParts, SharedTurns, TurnId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider};
use turnleaf_run::purge::purge_expired;
use turnleaf_run::sweep::delete_ended_shares;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::shares::{RenderedSnapshot, ShareRequest};
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::Db;
use turnleaf_store::shares::snapshots::{self, NewStoredShare};

use crate::fake_file_reader::{PNG, api_with_fake_reader, upload};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step, thinking_step};
use crate::tool_call_support::tool_call_answer;
use crate::toolbox::{FakeToolbox, ToolBehavior};

/// The parts that are shared only when chosen, with words that only they contain.
const PARTS: [(&str, &[&str]); 4] = [
    ("reasoning", &["hidden reasoning"]),
    ("tools", &["hidden argument", "hidden result"]),
    ("system_prompt", &["Hidden prompt"]),
    ("documents", &["Hidden document"]),
];
/// Parts of what a shared page never contains: whatever is not on its path, what acts, and what loads from elsewhere.
const NEVER: [&str; 11] = [
    "Later",
    "Other version",
    "<script",
    "<form",
    "<button",
    "<iframe",
    "<link",
    "/api/",
    "href=\"/",
    "src=\"http",
    "src=\"//",
];
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";

/// A response without the id of its request.
#[derive(Debug, PartialEq, Eq)]
struct OpenedAddress {
    status: StatusCode,
    headers: BTreeMap<String, Vec<u8>>,
    body: Bytes,
}

impl OpenedAddress {
    fn html(&self) -> String {
        assert_eq!(self.status, StatusCode::OK, "{:?}", self.body);
        String::from_utf8(self.body.to_vec()).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        std::str::from_utf8(&self.headers[name]).unwrap()
    }
}

async fn request(api: &TestApi, method: &str, path: &str) -> OpenedAddress {
    let request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
    let response = api.send(request.body(Body::empty()).unwrap()).await;
    let (parts, body) = response.into_parts();
    let headers = parts.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect();
    OpenedAddress { status: parts.status, headers, body: axum::body::to_bytes(body, usize::MAX).await.unwrap() }
}

async fn open(api: &TestApi, path: &str) -> OpenedAddress {
    request(api, "GET", path).await
}

async fn count(db: &Db, sql: &'static str) -> i64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
    }
}

/// A server with a chat that has everything a share may leave out, a later exchange, and another version of its reply.
struct SharedChat {
    api: TestApi,
    chat: ChatId,
    /// The end of the path to share.
    reply: TurnId,
    /// The end of the chat.
    later: TurnId,
    /// The images of the path and of the later exchange.
    images: Vec<String>,
    /// Ids of the owner, none of which a page contains.
    own_ids: Vec<String>,
}

impl SharedChat {
    async fn on_every_database() -> Vec<Self> {
        let lab = FakeToolbox::default().with_tool("look", ToolBehavior::Returns(json!("hidden result")));
        let provider = || {
            let call = [("lab__look", r#"{"place":"hidden argument"}"#)];
            let answers: [ScriptedAnswer; 5] = [
                tool_call_answer([thinking_step("hidden reasoning")], &call),
                streamed_answer([text_step("First answer ![a](https://tracker.example/pixel.png)")]),
                streamed_answer([text_step("Later answer")]),
                streamed_answer([text_step("Other version")]),
                streamed_answer([text_step("Later still")]),
            ];
            ScriptedProvider::new("scripted", answers)
        };
        let mut all = Vec::new();
        for instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
            all.push(Self::new(instance, &lab).await);
        }
        all
    }

    async fn new(instance: TestServer, lab: &FakeToolbox) -> Self {
        let api = api_with_fake_reader(instance);
        let chat = api.instance.chat_with_tools(&lab.offered_tools()).await;
        let prompt = json!({ "system_prompt": "Hidden prompt" });
        let (status, changed) = api.call("PATCH", &format!("/api/chats/{chat}"), Some(prompt)).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
        let mut images = Vec::new();
        for name in ["leaf", "tree"] {
            let (status, image) = upload(&api, "a.png", [PNG, name.as_bytes()].concat()).await;
            assert_eq!(status, StatusCode::CREATED, "{image}");
            images.push(image["sha256"].as_str().unwrap().to_owned());
        }
        let document = json!({ "title": "Hidden document", "content": "one\ntwo" });
        let (status, document) = api.call("POST", "/api/documents", Some(document)).await;
        assert_eq!(status, StatusCode::CREATED, "{document}");
        let send = async |body: Value| {
            let (status, sent) = api.call("POST", &format!("/api/chats/{chat}/turns"), Some(body)).await;
            assert_eq!(status, StatusCode::CREATED, "{sent}");
            let reply: TurnId = sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
            api.instance.wait_until_complete(reply).await;
            (sent, reply)
        };
        let (first, reply) = send(json!({ "content": [
            { "type": "text", "text": "First question" },
            { "type": "image", "blob": images[0], "alt": "A leaf" },
            { "type": "reference", "ref_id": document["id"], "ref_type": "document" },
        ] }))
        .await;
        let (_, later) = send(json!({ "prev_turn_id": reply, "content": [
            { "type": "text", "text": "Later question" },
            { "type": "image", "blob": images[1], "alt": "Later image" },
        ] }))
        .await;
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let other = service.retry_turn(owner, reply, PlacementRequest::default(), Default::default(), None).await;
        api.instance.wait_until_complete(other.unwrap().assistant_turn.id).await;
        let mut own_ids = vec![chat.to_string(), owner.to_string(), document["id"].as_str().unwrap().to_owned()];
        own_ids.extend([&first["user_turn"]["id"], &first["branch"]["id"]].map(|id| id.as_str().unwrap().to_owned()));
        let turn = service.turn(owner, reply).await.unwrap();
        own_ids.extend(turn.blocks.iter().map(|block| block.id.to_string()));
        own_ids.extend([reply.to_string(), turn.exchange_id.to_string()]);
        Self { api, chat, reply, later, images, own_ids }
    }

    /// Shares the path to the first reply. Returns the response and the token.
    async fn share(&self, body: Value) -> (Value, String) {
        let mut body = body;
        body["leaf_id"] = json!(self.reply);
        let (status, made) = self.api.call("POST", &format!("/api/chats/{}/shares", self.chat), Some(body)).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let token = made["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:3000/share/").unwrap().to_owned();
        assert_eq!(token.len(), 64, "256 bits: {token}");
        (made, token)
    }

    /// Returns the stored page of a link.
    async fn stored(&self, token: &str) -> String {
        let (db, now) = (&self.api.instance.db, self.now());
        let share = snapshots::open(db, &Sha256::digest(token.as_bytes()), now, false).await.unwrap().unwrap();
        String::from_utf8(share.snapshot).unwrap()
    }

    fn now(&self) -> chrono::DateTime<chrono::Utc> {
        self.api.instance.service.supervisor().clock().now()
    }

    async fn close(self) {
        self.api.instance.check_invariants().await;
        self.api.instance.close().await;
    }
}

fn share_path(token: &str) -> String {
    format!("/share/{token}")
}

#[tokio::test]
async fn stored_page_has_only_its_path_and_chosen_parts() {
    for shared in SharedChat::on_every_database().await {
        let all: Vec<&str> = PARTS.iter().map(|(field, _)| *field).collect();
        let choices = [vec![], all.clone()].into_iter().chain(all.iter().map(|field| vec![*field]));
        for chosen in choices {
            let parts: serde_json::Map<String, Value> =
                chosen.iter().map(|field| ((*field).to_owned(), true.into())).collect();
            let (made, token) = shared.share(json!({ "parts": parts })).await;
            for (field, _) in PARTS {
                assert_eq!(made["parts"][field], chosen.contains(&field), "{made}");
            }
            let page = shared.stored(&token).await;
            for part in ["First question", "First answer", "alt=\"A leaf\"", "content=\"noindex\""] {
                assert!(page.contains(part), "{chosen:?} {part}: {page}");
            }
            for (field, texts) in PARTS {
                for text in texts {
                    assert_eq!(page.contains(text), chosen.contains(&field), "{chosen:?} {text}: {page}");
                }
            }
            let own = shared.own_ids.iter().map(String::as_str).chain(NEVER).chain([token.as_str()]);
            for never in own {
                assert!(!page.contains(never), "{chosen:?} {never}: {page}");
            }
        }
        shared.close().await;
    }
}

#[tokio::test]
async fn stranger_reads_page_and_its_images_and_nothing_else() {
    for mut shared in SharedChat::on_every_database().await {
        let (_, token) = shared.share(json!({})).await;
        let owner = shared.api.instance.owner;
        shared.api = TestApi::for_strangers(shared.api.instance);
        let api = &shared.api;
        let page = open(api, &share_path(&token)).await;
        let folder = format!("/share/{token}/blobs/");
        let html = page.html();
        let images: Vec<&str> =
            html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()?.strip_prefix(&folder)).collect();
        assert_eq!(images, [shared.images[0].as_str()], "{html}");
        assert_eq!(html.matches("src=\"").count(), 1, "{html}");
        for never in NEVER {
            assert!(!html.contains(never), "{never}: {html}");
        }
        let headers = [
            ("cache-control", "no-store"),
            ("x-robots-tag", "noindex, nofollow"),
            ("content-security-policy", POLICY),
            ("content-type", "text/html; charset=utf-8"),
        ];
        for (name, value) in headers {
            assert_eq!(page.header(name), value, "{name}");
        }
        let image = open(api, &format!("{folder}{}", shared.images[0])).await;
        assert_eq!((image.status, image.header("content-type")), (StatusCode::OK, "image/png"));
        assert!(image.body.starts_with(PNG));
        assert_eq!((image.header("cache-control"), image.header("x-robots-tag")), ("no-store", "noindex, nofollow"));
        assert!(image.header("content-security-policy").starts_with("sandbox; default-src 'none'"));

        // The link opens nothing else of its owner, and changes nothing.
        for path in [format!("/api/blobs/{}", shared.images[0]), format!("/c/{}", shared.chat), "/".into()] {
            assert_eq!(open(api, &path).await.status, StatusCode::UNAUTHORIZED, "{path}");
        }
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            for path in [share_path(&token), format!("{folder}{}", shared.images[0])] {
                assert!(request(api, method, &path).await.status.is_client_error(), "{method} {path}");
            }
        }
        assert_eq!(open(api, &share_path(&token)).await, page, "it is the same page each time");
        let listed = api.instance.service.shares(owner).await.unwrap();
        assert!(listed[0].share.last_access_at.is_some(), "{listed:?}");
        shared.close().await;
    }
}

#[tokio::test]
async fn later_message_and_title_never_enter_existing_page() {
    for shared in SharedChat::on_every_database().await {
        let (_, token) = shared.share(json!({})).await;
        let before = open(&shared.api, &share_path(&token)).await;
        let (api, chat) = (&shared.api, format!("/api/chats/{}", shared.chat));
        let more = json!({ "text": "And then?", "prev_turn_id": shared.later });
        let (status, sent) = api.call("POST", &format!("{chat}/turns"), Some(more)).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        api.instance.wait_until_complete(sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap()).await;
        let (status, changed) = api.call("PATCH", &chat, Some(json!({ "title": "A later title" }))).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
        assert_eq!(open(api, &share_path(&token)).await, before);
        shared.close().await;
    }
}

#[tokio::test]
async fn revoked_expired_and_unknown_links_have_same_response() {
    for mut shared in SharedChat::on_every_database().await {
        let (revoked, revoked_token) = shared.share(json!({})).await;
        let (_, expired_token) = shared.share(json!({ "expires_in_days": 1 })).await;
        let id = revoked["id"].as_str().unwrap();
        let (status, _) = shared.api.call("DELETE", &format!("/api/shares/{id}"), None).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        shared.api.instance.sql("UPDATE shares SET expires_at = created_at WHERE revoked_at IS NULL").await;
        let (_, listed) = shared.api.call("GET", "/api/shares", None).await;
        let states: Vec<(bool, bool)> = listed.as_array().unwrap().iter().map(state).collect();
        assert_eq!(states, [(false, false), (false, true)], "both are still listed, newest first: {listed}");
        let (_, token) = shared.share(json!({})).await;
        let (image, stray) = (shared.images[0].clone(), shared.images[1].clone());
        shared.api = TestApi::for_strangers(shared.api.instance);
        let api = &shared.api;
        let unknown = open(api, &share_path(&"0".repeat(64))).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        assert_eq!(unknown.header("x-robots-tag"), "noindex, nofollow");
        assert_eq!(unknown.header("cache-control"), "no-store");
        let page = String::from_utf8(unknown.body.to_vec()).unwrap();
        assert!(page.contains("Link not available") && !page.contains("<script"), "{page}");
        assert!(!page.contains("href=\"/settings/") && !page.contains("href=\"/trash\""), "{page}");
        let of_image = |token: &str, sha256: &str| format!("/share/{token}/blobs/{sha256}");
        for path in [
            share_path(&revoked_token),
            share_path(&expired_token),
            share_path("x"),
            share_path("%FF"),
            share_path(&"é".repeat(20).bytes().map(|byte| format!("%{byte:02X}")).collect::<String>()),
            share_path(&token.to_uppercase()),
            share_path(&format!("{token}0")),
            of_image(&revoked_token, &image),
            of_image(&expired_token, &image),
            of_image(&"0".repeat(64), &image),
            // Neither another image of the owner nor anything that is no image.
            of_image(&token, &stray),
            of_image(&token, &"0".repeat(64)),
            of_image(&token, "x"),
            // No PostgreSQL text has NUL.
            of_image(&token, "%00"),
        ] {
            assert_eq!(open(api, &path).await, unknown, "{path}");
        }
        shared.api.instance.sql("UPDATE users SET disabled_at = created_at").await;
        for path in [share_path(&token), of_image(&token, &image)] {
            assert_eq!(open(api, &path).await, unknown, "of a disabled account: {path}");
        }
        shared.api.instance.sql("UPDATE users SET disabled_at = NULL").await;
        assert_eq!(open(api, &share_path(&token)).await.status, StatusCode::OK);
        // After a while the ended ones are no longer listed.
        let later = shared.now() + limits::SHARE_KEPT + TimeDelta::minutes(1);
        delete_ended_shares(&shared.api.instance.db, later).await.unwrap();
        assert_eq!(count(&shared.api.instance.db, "SELECT COUNT(*) FROM shares").await, 1);
        shared.close().await;
    }
}

/// Returns whether a listed share is active, and whether it was revoked.
fn state(share: &Value) -> (bool, bool) {
    assert_eq!(share["url"], Value::Null, "{share}");
    (share["is_active"].as_bool().unwrap(), !share["revoked_at"].is_null())
}

#[tokio::test]
async fn share_is_closed_while_path_is_in_trash_and_ends_with_it() {
    for shared in SharedChat::on_every_database().await {
        let (_, token) = shared.share(json!({})).await;
        let api = &shared.api;
        let (service, owner, db) = (&api.instance.service, api.instance.owner, &api.instance.db);
        let status = async || open(api, &share_path(&token)).await.status;
        let page = open(api, &share_path(&token)).await;
        let deleted = service.delete_turn(owner, shared.reply).await.unwrap();
        assert_eq!(status().await, StatusCode::NOT_FOUND);
        assert!(service.shares(owner).await.unwrap().is_empty());
        service.restore_deletion(owner, deleted.deletion_id).await.unwrap();
        assert_eq!(open(api, &share_path(&token)).await, page);
        service.delete_chat(owner, shared.chat).await.unwrap();
        assert_eq!(status().await, StatusCode::NOT_FOUND);
        let image = format!("/share/{token}/blobs/{}", shared.images[0]);
        assert_eq!(open(api, &image).await.status, StatusCode::NOT_FOUND);
        service.restore_chat(owner, shared.chat).await.unwrap();
        assert_eq!(status().await, StatusCode::OK);

        service.delete_chat(owner, shared.chat).await.unwrap();
        purge_expired(db, shared.now() + limits::TRASH_KEPT + TimeDelta::minutes(1)).await.unwrap();
        assert_eq!(count(db, "SELECT COUNT(*) FROM shares").await, 0);
        assert_eq!(count(db, "SELECT COUNT(*) FROM share_blobs").await, 0);
        assert_eq!(status().await, StatusCode::NOT_FOUND);
        shared.close().await;
    }
}

#[tokio::test]
async fn repeated_request_creates_one_share_and_does_not_repeat_its_link() {
    for shared in SharedChat::on_every_database().await {
        let api = &shared.api;
        let path = format!("/api/chats/{}/shares", shared.chat);
        let body = json!({ "leaf_id": shared.reply, "client_request_id": "once" });
        let (status, made) = api.call("POST", &path, Some(body.clone())).await;
        assert_eq!((status, made["is_active"].as_bool()), (StatusCode::CREATED, Some(true)), "{made}");
        let (status, again) = api.call("POST", &path, Some(body)).await;
        assert_eq!((status, &again["id"], &again["url"]), (StatusCode::OK, &made["id"], &Value::Null), "{again}");
        let other = json!({ "leaf_id": shared.later, "client_request_id": "once" });
        let (status, refused) = api.call("POST", &path, Some(other)).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("idempotency_mismatch")), "{refused}");
        let created = made["created_at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        let expires = made["expires_at"].as_str().unwrap().parse::<chrono::DateTime<chrono::Utc>>().unwrap();
        assert_eq!(expires - created, TimeDelta::days(limits::SHARE_DAYS_DEFAULT.into()));
        assert_eq!(count(&api.instance.db, "SELECT COUNT(*) FROM shares").await, 1);
        shared.close().await;
    }
}

#[tokio::test]
async fn invalid_requests_and_full_list_are_refused() {
    for shared in SharedChat::on_every_database().await {
        let (api, path) = (&shared.api, format!("/api/chats/{}/shares", shared.chat));
        for (body, expected) in [
            (json!({ "expires_in_days": 0 }), StatusCode::UNPROCESSABLE_ENTITY),
            (json!({ "expires_in_days": 366 }), StatusCode::UNPROCESSABLE_ENTITY),
            (json!({ "parts": { "everything": true } }), StatusCode::BAD_REQUEST),
            (json!({ "audience": "signed_in" }), StatusCode::BAD_REQUEST),
            (json!({ "leaf_id": ids::mint::<uuid::Uuid>() }), StatusCode::NOT_FOUND),
        ] {
            let (status, refused) = api.call("POST", &path, Some(body.clone())).await;
            assert_eq!(status, expected, "{body}: {refused}");
        }
        let empty = api.create_chat().await;
        let (status, refused) = api.call("POST", &format!("/api/chats/{empty}/shares"), Some(json!({}))).await;
        assert_eq!((status, &refused["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("leaf_id")), "{refused}");
        let foreign = json!({ "leaf_id": shared.reply });
        let (status, refused) = api.call("POST", &format!("/api/chats/{empty}/shares"), Some(foreign)).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "the leaf is of another chat: {refused}");
        assert!(api.get_page(&format!("/c/{empty}/share")).await.contains("This chat has no messages to share yet."));

        let now = shared.now();
        let mut tx = api.instance.db.begin().await.unwrap();
        for number in 0..limits::SHARES {
            let share = Share {
                id: ids::mint(),
                chat_id: shared.chat,
                leaf_id: shared.reply,
                audience: ShareAudience::Link,
                parts: SharedParts::default(),
                created_at: now,
                expires_at: now + TimeDelta::days(1),
                revoked_at: None,
                last_access_at: None,
            };
            let hash = Sha256::digest(number.to_be_bytes()).to_vec();
            let new = NewStoredShare { share, hash, snapshot: Bytes::from_static(b"a page"), turns: None };
            assert!(snapshots::insert(&mut tx, api.instance.owner, &new).await.unwrap());
        }
        tx.commit().await.unwrap();
        let (status, refused) = api.call("POST", &path, Some(json!({}))).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("too_many_shares")), "{refused}");
        // One that has ended makes room, and does not keep a valid one out of the list.
        let (service, owner) = (&api.instance.service, api.instance.owner);
        let ended = service.shares(owner).await.unwrap()[0].share.id;
        service.revoke_share(owner, Actor::default(), ended).await.unwrap();
        let (status, made) = api.call("POST", &path, Some(json!({}))).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let listed = service.shares(owner).await.unwrap();
        assert!(listed.len() == limits::SHARES && listed.iter().all(|one| one.share.id != ended));
        shared.close().await;
    }
}

#[tokio::test]
async fn shares_and_their_end_are_in_audit_log() {
    for shared in SharedChat::on_every_database().await {
        let (made, token) = shared.share(json!({})).await;
        let id = made["id"].as_str().unwrap();
        let (status, _) = shared.api.call("DELETE", &format!("/api/shares/{id}"), None).await;
        assert_eq!(status, StatusCode::NO_CONTENT);
        let log = shared.api.instance.service.audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        let entries: Vec<_> =
            log.iter().map(|entry| (entry.verb.as_str(), entry.target.as_str(), entry.actor)).collect();
        let owner = Some(shared.api.instance.owner);
        assert_eq!(entries, [("revoke_share", id, owner), ("create_share", id, owner)]);
        assert!(!format!("{log:?}").contains(&token));
        shared.close().await;
    }
}

#[tokio::test]
async fn share_in_trash_makes_room() {
    for shared in SharedChat::on_every_database().await {
        shared.share(json!({})).await;
        let instance = &shared.api.instance;
        let count = async || {
            let mut tx = instance.db.begin().await.unwrap();
            let count = snapshots::count(&mut tx, instance.owner, shared.now()).await.unwrap();
            tx.rollback().await.unwrap();
            count
        };
        assert_eq!(count().await, 1);
        instance.service.delete_chat(instance.owner, shared.chat).await.unwrap();
        assert_eq!(count().await, 0);
        shared.close().await;
    }
}

#[tokio::test]
async fn share_belongs_to_its_owner_and_signed_in_audience_needs_principal() {
    for mut shared in SharedChat::on_every_database().await {
        let (made, _) = shared.share(json!({})).await;
        let id = made["id"].as_str().unwrap().parse().unwrap();
        let (service, stranger): (_, UserId) = (shared.api.instance.service.clone(), ids::mint());
        assert!(matches!(service.share(stranger, id).await, Err(ServiceError::NotFound)));
        assert!(matches!(service.revoke_share(stranger, Actor::default(), id).await, Err(ServiceError::NotFound)));
        assert!(service.shares(stranger).await.unwrap().is_empty());
        let foreign = service.shareable_path(stranger, shared.chat, Some(shared.reply)).await;
        assert!(matches!(foreign, Err(ServiceError::NotFound)));
        let (status, _) = shared.api.call("DELETE", &format!("/api/shares/{}", ids::mint::<uuid::Uuid>()), None).await;
        assert_eq!(status, StatusCode::NOT_FOUND);

        let request = ShareRequest {
            chat: shared.chat,
            leaf: Some(shared.reply),
            audience: ShareAudience::SignedIn,
            parts: SharedParts::default(),
            days: 1,
            client_request_id: None,
        };
        let html = "<p>for accounts</p>".to_owned();
        let turns = SharedTurns::default();
        let snapshot = RenderedSnapshot { leaf: shared.reply, html: html.clone(), images: Vec::new(), turns };
        let issued =
            service.create_share(shared.api.instance.owner, Actor::default(), request, snapshot).await.unwrap().value;
        let path = share_path(&issued.token.unwrap());
        assert_eq!(open(&shared.api, &path).await.html(), html);
        shared.api = TestApi::for_strangers(shared.api.instance);
        let unknown = open(&shared.api, &share_path("0")).await;
        assert_eq!(open(&shared.api, &path).await, unknown);
        shared.close().await;
    }
}

#[tokio::test]
async fn forms_preview_create_list_and_revoke_link() {
    for shared in SharedChat::on_every_database().await {
        let (api, leaf) = (&shared.api, shared.reply.to_string());
        let page = api.get_page(&format!("/c/{}/share?leaf={leaf}&tools=1&days=7", shared.chat)).await;
        let preview = format!("/c/{}/share/preview?leaf={leaf}&tools=1", shared.chat);
        assert!(page.contains(&format!("src=\"{}\"", preview.replace('&', "&amp;"))), "{page}");
        let key = page.split("name=\"client_request_id\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let chat = shared.chat.to_string();
        let fields = [
            ("chat_id", chat.as_str()),
            ("leaf", leaf.as_str()),
            ("tools", "1"),
            ("days", "7"),
            ("client_request_id", key),
        ];
        let (status, created) = api.post_form("/forms/shares/create", &fields).await;
        assert_eq!(status, StatusCode::OK, "{created}");
        let token = created.split("http://127.0.0.1:3000/share/").nth(1).unwrap().split('"').next().unwrap();
        // The preview is the page that goes out, and only this server may frame it.
        let previewed = open(api, &preview).await;
        assert!(previewed.header("content-security-policy").ends_with("frame-ancestors 'self'"));
        // The link to continue is no part of it.
        let shown = open(api, &share_path(token)).await.html();
        let link = format!(
            "<p class=\"standalone-continue\" lang=\"en\"><a href=\"{token}/continue\">Continue this chat</a></p>"
        );
        assert_eq!(shown.matches(&link).count(), 1, "{shown}");
        let shown = shown.replace(&link, "");
        assert_eq!(previewed.html().replace("/api/blobs/", &format!("/share/{token}/blobs/")), shown);
        assert!(shown.contains("hidden result") && !shown.contains("hidden reasoning"), "{shown}");

        // The same form again creates nothing, and no other page has the link.
        let (status, to) = api.post_form("/forms/shares/create", &fields).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/shared-links?done=known"));
        let list = api.get_page(&to).await;
        assert!(list.contains("This link was already created") && !list.contains(token), "{list}");
        let id = list.split("name=\"share_id\" value=\"").nth(1).unwrap().split('"').next().unwrap();
        let (status, to) = api.post_form("/forms/shares/revoke", &[("share_id", id)]).await;
        assert_eq!((status, to.as_str()), (StatusCode::SEE_OTHER, "/settings/shared-links?done=revoked"));
        let list = api.get_page(&to).await;
        assert!(list.contains("Link revoked.") && !list.contains("name=\"share_id\""), "{list}");
        assert_eq!(open(api, &share_path(token)).await.status, StatusCode::NOT_FOUND);

        let too_long = [("chat_id", chat.as_str()), ("leaf", leaf.as_str()), ("days", "999")];
        let (status, page) = api.post_form("/forms/shares/create", &too_long).await;
        assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{page}");
        assert!(page.contains("share-preview"), "the form stays: {page}");
        for path in [format!("/c/{chat}/share"), "/settings/shared-links".into()] {
            let request = Request::builder().uri(&path).header("host", "127.0.0.1:3000");
            let request = request.header("accept-language", "zh-CN").body(Body::empty()).unwrap();
            let body = axum::body::to_bytes(api.send(request).await.into_body(), usize::MAX).await.unwrap();
            assert!(String::from_utf8_lossy(&body).contains("分享的链接"), "{path}");
        }
        shared.close().await;
    }
}
