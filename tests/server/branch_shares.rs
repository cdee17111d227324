//! Live shares over HTTP, on both databases: who reads a branch, what its page has and leaves out as the branch grows, when
//! it ends, and the forms and the API of its owner.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Bytes;
use chrono::TimeDelta;
use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::{AccountRole, ChatId, GroupId, TurnId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::{ScriptedAnswer, ScriptedProvider, ScriptedStep};
use turnleaf_run::purge::purge_expired;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_store::Db;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, TestCredential};
use crate::fake_file_reader::{FakeFileReader, PNG};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step, thinking_step};

const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'";
/// Texts that no page of a reader contains: other versions and branches, controls, and addresses elsewhere.
const NEVER: [&str; 11] = [
    "hidden reasoning",
    "Hidden prompt",
    "Other version",
    "Other question",
    "<script",
    "<form",
    "<button",
    "<iframe",
    "/api/",
    "href=\"/",
    "src=\"http",
];

/// A response without the id of its request.
#[derive(Debug, PartialEq, Eq)]
struct ReadPage {
    status: StatusCode,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl ReadPage {
    fn html(&self) -> String {
        let html = String::from_utf8(self.body.clone()).unwrap();
        assert_eq!(self.status, StatusCode::OK, "{html}");
        html
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }
}

async fn read(server: &AccountsApi, path: &str, reader: &TestCredential) -> ReadPage {
    let (parts, body) = server.send(("GET", path), reader, &[HTML], "").await.into_parts();
    let headers = parts.headers.iter().filter(|(name, _)| *name != "x-request-id");
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap().to_vec();
    ReadPage { status: parts.status, headers, body }
}

/// Returns what stands between two texts in a page.
fn part<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}"));
    rest.split_once(after).unwrap().0
}

/// A server on which Ann shares a branch live with Bob and with a group that has Cy. It has one exchange with an image;
/// another version of its reply goes on with another image.
struct LiveBranch {
    server: AccountsApi,
    ann: TestCredential,
    bob: TestCredential,
    bob_id: UserId,
    cy: TestCredential,
    cy_id: UserId,
    group: GroupId,
    chat: ChatId,
    reply: TurnId,
    branch: String,
    /// The images of the branch and of the other version.
    images: [String; 2],
    /// The id of the share.
    share: String,
}

fn answers() -> Vec<ScriptedAnswer> {
    vec![
        streamed_answer([thinking_step("hidden reasoning"), text_step("First answer")]),
        streamed_answer([text_step("Other version")]),
        streamed_answer([text_step("Other version continued")]),
        streamed_answer([text_step("Later answer")]),
    ]
}

impl LiveBranch {
    async fn on_every_database() -> Vec<Self> {
        Self::with_answers(answers).await
    }

    async fn with_answers(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<Self> {
        let mut all = Vec::new();
        let provider = || ScriptedProvider::new("scripted", answers());
        for mut instance in TestServer::on_every_database_patient(provider).await {
            instance.service = instance.service.clone().with_reader(Arc::new(FakeFileReader));
            instance.service.add_account(Actor::default(), OWNER, AccountRole::Owner, &PASSWORD.into()).await.unwrap();
            all.push(Self::new(AccountsApi { api: TestApi::with_accounts(instance) }).await);
        }
        all
    }

    async fn new(server: AccountsApi) -> Self {
        let (bob_id, cy_id) = (server.add("Bob", AccountRole::User).await, server.add("Cy", AccountRole::User).await);
        let (ann, bob, cy) = (server.sign_in(OWNER).await, server.sign_in("Bob").await, server.sign_in("Cy").await);
        let (service, owner) = (server.service().clone(), server.api.instance.owner);
        let group = service.create_group(Actor::default(), "Research", None).await.unwrap().value.id;
        service.add_group_member(Actor::default(), group, cy_id).await.unwrap();
        let new = json!({
            "title": "Trees", "provider": "scripted", "model": "model-a", "system_prompt": "Hidden prompt",
        });
        let (status, made) = server.call(("POST", "/api/chats"), &ann, new).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let chat: ChatId = made["id"].as_str().unwrap().parse().unwrap();
        let mut images = Vec::new();
        for name in ["leaf", "stray"] {
            let bytes = Bytes::from([PNG, name.as_bytes()].concat());
            images.push(service.upload_file(owner, "a.png", bytes).await.unwrap().sha256);
        }
        let images: [String; 2] = images.try_into().unwrap();
        let image = |sha256: &str| json!({ "type": "image", "blob": sha256, "alt": "A leaf" });
        let say = |text: &str| json!({ "type": "text", "text": text });
        let content = json!({ "content": [say("First question"), image(&images[0])] });
        let (reply, sent) = Self::send(&server, &ann, chat, content).await;
        let branch = sent["branch"]["id"].as_str().unwrap().to_owned();
        let other = service.retry_turn(owner, reply, PlacementRequest::default(), Default::default(), None).await;
        let other = other.unwrap().assistant_turn.id;
        server.api.instance.wait_until_complete(other).await;
        let content = json!({ "prev_turn_id": other, "content": [say("Other question"), image(&images[1])] });
        Self::send(&server, &ann, chat, content).await;
        let path = format!("/api/branches/{branch}/shares");
        let readers = json!({ "readers": { "accounts": ["bob"], "groups": ["research"] } });
        let (status, made) = server.call(("POST", &path), &ann, readers).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let share = made["id"].as_str().unwrap().to_owned();
        Self { server, ann, bob, bob_id, cy, cy_id, group, chat, reply, branch, images, share }
    }

    /// Sends a message and waits for its reply. Returns the reply and the response.
    async fn send(server: &AccountsApi, ann: &TestCredential, chat: ChatId, message: Value) -> (TurnId, Value) {
        let (status, sent) = server.call(("POST", &format!("/api/chats/{chat}/turns")), ann, message).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        let reply: TurnId = sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        server.api.instance.wait_until_complete(reply).await;
        (reply, sent)
    }

    fn address(&self) -> String {
        format!("/shared/branches/{}", self.share)
    }

    fn image_address(&self, sha256: &str) -> String {
        format!("{}/blobs/{sha256}", self.address())
    }

    async fn open(&self, reader: &TestCredential) -> ReadPage {
        read(&self.server, &self.address(), reader).await
    }

    /// Returns the answer to an id that does not exist.
    async fn unknown(&self, reader: &TestCredential) -> ReadPage {
        let unknown = read(&self.server, &format!("/shared/branches/{}", ids::mint::<uuid::Uuid>()), reader).await;
        assert_eq!(unknown.status, StatusCode::NOT_FOUND);
        assert_eq!(unknown.header("cache-control"), Some("no-store"));
        unknown
    }

    async fn set_readers(&self, readers: Value) {
        let path = format!("/api/branch-shares/{}/readers", self.share);
        let (status, changed) = self.server.call(("PUT", &path), &self.ann, readers).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
    }

    async fn end(&self) {
        let path = format!("/api/branch-shares/{}", self.share);
        let (status, ended) = self.server.call(("DELETE", &path), &self.ann, json!({})).await;
        assert_eq!(status, StatusCode::NO_CONTENT, "{ended}");
    }

    async fn close(self) {
        self.server.api.instance.check_invariants().await;
        self.server.api.instance.close().await;
    }
}

async fn count(db: &Db, sql: &'static str) -> i64 {
    match db {
        Db::Sqlite { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
        Db::Postgres { writer, .. } => sqlx::query_scalar(sql).fetch_one(writer).await.unwrap(),
    }
}

#[tokio::test]
async fn readers_see_branch_as_it_grows_and_nothing_else_of_chat() {
    for live in LiveBranch::on_every_database().await {
        let own_ids = [live.chat.to_string(), live.branch.clone(), live.reply.to_string()];
        for reader in [&live.bob, &live.cy, &live.ann] {
            let page = live.open(reader).await;
            let html = page.html();
            for shown in
                ["Trees", "First question", "First answer", "alt=\"A leaf\"", "content=\"noindex\"", ">Refresh<"]
            {
                assert!(html.contains(shown), "{shown}: {html}");
            }
            for never in own_ids.iter().map(String::as_str).chain(NEVER).chain(["Later"]) {
                assert!(!html.contains(never), "{never}: {html}");
            }
            for (name, value) in [
                ("cache-control", Some("no-store")),
                ("x-robots-tag", Some("noindex, nofollow")),
                ("content-security-policy", Some(POLICY)),
                ("refresh", None),
            ] {
                assert_eq!(page.header(name), value, "{name}");
            }
        }
        let more = json!({ "prev_turn_id": live.reply, "text": "Later question" });
        LiveBranch::send(&live.server, &live.ann, live.chat, more).await;
        for reader in [&live.bob, &live.cy] {
            let html = live.open(reader).await.html();
            assert!(html.contains("Later question") && html.contains("Later answer"), "{html}");
            assert!(NEVER.iter().all(|never| !html.contains(never)), "{html}");
        }
        // The list of a reader leads there, and that of the owner says who reads.
        for (reader, part) in [(&live.bob, "Shared by Ann"), (&live.cy, "Shared by Ann"), (&live.ann, "Bob</textarea>")]
        {
            let list = read(&live.server, "/settings/shared-links", reader).await.html();
            assert!(list.contains(part) && list.contains(&format!("href=\"{}\"", live.address())), "{list}");
        }
        live.close().await;
    }
}

#[tokio::test]
async fn key_in_title_is_redacted_for_readers() {
    for live in LiveBranch::on_every_database().await {
        let key = "canary-of-a-key-9876";
        live.server.service().supervisor().registry().remember_credentials([key.into()]);
        let title = json!({ "title": format!("About {key}") });
        let chat = format!("/api/chats/{}", live.chat);
        let (status, changed) = live.server.call(("PATCH", &chat), &live.ann, title).await;
        assert_eq!(status, StatusCode::OK, "{changed}");
        let list = read(&live.server, "/settings/shared-links", &live.bob).await.html();
        for page in [list, live.open(&live.bob).await.html()] {
            assert!(page.contains("About [removed]") && !page.contains(key), "{page}");
        }
        live.close().await;
    }
}

#[tokio::test]
async fn chosen_parts_are_on_page() {
    for live in LiveBranch::on_every_database().await {
        let path = format!("/api/branches/{}/shares", live.branch);
        let body = json!({ "readers": { "accounts": ["Bob"] }, "parts": { "reasoning": true } });
        let (status, made) = live.server.call(("POST", &path), &live.ann, body).await;
        assert_eq!((status, &made["parts"]["reasoning"]), (StatusCode::CREATED, &json!(true)), "{made}");
        let address = format!("/shared/branches/{}", made["id"].as_str().unwrap());
        let html = read(&live.server, &address, &live.bob).await.html();
        assert!(html.contains("hidden reasoning") && !html.contains("Hidden prompt"), "{html}");
        assert!(!live.open(&live.bob).await.html().contains("hidden reasoning"), "the other share is as it was");
        let body = json!({ "readers": { "accounts": ["Bob"] }, "parts": { "system_prompt": true } });
        let (status, refused) = live.server.call(("POST", &path), &live.ann, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{refused}");
        live.close().await;
    }
}

#[tokio::test]
async fn page_follows_reply_that_runs() {
    let answers = || {
        let mut answers = answers();
        answers.truncate(3);
        answers.push(ScriptedAnswer::Stream(vec![text_step("half a sen"), ScriptedStep::Hang]));
        answers
    };
    for live in LiveBranch::with_answers(answers).await {
        let path = format!("/api/chats/{}/turns", live.chat);
        let more = json!({ "prev_turn_id": live.reply, "text": "Later question" });
        let (status, sent) = live.server.call(("POST", &path), &live.ann, more).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        let reply: TurnId = sent["assistant_turn"]["id"].as_str().unwrap().parse().unwrap();
        let instance = &live.server.api.instance;
        instance.wait_until(reply, |turn| turn.content_text().contains("half a sen")).await;
        let page = live.open(&live.bob).await;
        let html = page.html();
        assert!(html.contains("Later question") && html.contains("half a sen"), "{html}");
        assert!(html.contains("A reply is being generated."), "{html}");
        assert!(NEVER.iter().all(|never| !html.contains(never)), "{html}");
        assert_eq!(page.header("refresh"), Some("5"));
        // A running reply is not copied.
        let copied = read(&live.server, &format!("{}/continue", live.address()), &live.bob).await.html();
        assert!(copied.contains("3 messages"), "{copied}");
        let stop = format!("/api/turns/{reply}/stop");
        let (status, stopped) = live.server.call(("POST", &stop), &live.ann, json!({})).await;
        assert!(status.is_success(), "{stopped}");
        instance.wait_until(reply, |turn| turn.status.is_terminal()).await;
        let page = live.open(&live.bob).await;
        assert!(page.html().contains("half a sen") && page.header("refresh").is_none());
        live.close().await;
    }
}

#[tokio::test]
async fn image_is_read_on_its_path_only() {
    for live in LiveBranch::on_every_database().await {
        let html = live.open(&live.bob).await.html();
        let folder = live.image_address("");
        let shown: Vec<&str> =
            html.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next()?.strip_prefix(&folder)).collect();
        assert_eq!(shown, [live.images[0].as_str()], "{html}");
        let image = read(&live.server, &live.image_address(shown[0]), &live.bob).await;
        assert_eq!((image.status, image.header("content-type")), (StatusCode::OK, Some("image/png")));
        assert!(image.body.starts_with(PNG));
        assert_eq!(image.header("cache-control"), Some("no-store"));
        assert!(image.header("content-security-policy").unwrap().starts_with("sandbox; default-src 'none'"));
        let unknown = live.unknown(&live.bob).await;
        for sha256 in [live.images[1].as_str(), &"0".repeat(64), "x", "%00"] {
            assert_eq!(read(&live.server, &live.image_address(sha256), &live.bob).await, unknown, "{sha256}");
        }
        // The share opens nothing else of its owner.
        for path in [format!("/api/blobs/{}", live.images[0]), format!("/api/chats/{}", live.chat)] {
            assert_eq!(read(&live.server, &path, &live.bob).await.status, StatusCode::NOT_FOUND, "{path}");
        }
        live.close().await;
    }
}

#[tokio::test]
async fn share_that_is_closed_in_any_way_is_like_unknown_one() {
    for live in LiveBranch::on_every_database().await {
        let (service, instance) = (live.server.service(), &live.server.api.instance);
        let (owner, actor) = (instance.owner, Actor::default());
        let image = live.image_address(&live.images[0]);
        let is_closed = async |reader: &TestCredential, reason: &str| {
            let unknown = live.unknown(reader).await;
            for path in [live.address(), image.clone(), format!("{}/continue", live.address())] {
                assert_eq!(read(&live.server, &path, reader).await, unknown, "{reason}: {path}");
            }
            let form = format!("share_id={}", live.share);
            let refused = live.server.submit("/forms/shares/continue-branch", reader, &form).await;
            assert_eq!(refused.status, StatusCode::NOT_FOUND, "{reason}: {refused:?}");
            let list = read(&live.server, "/settings/shared-links", reader).await.html();
            assert!(!list.contains(&live.address()), "{reason}: {list}");
        };
        let is_open = async |reader: &TestCredential| live.open(reader).await.status == StatusCode::OK;

        live.server.add("Dan", AccountRole::Admin).await;
        let dan = live.server.sign_in("Dan").await;
        is_closed(&dan, "an administrator who is not named").await;
        let stranger = live.open(&TestCredential::Nothing).await;
        let to_sign_in = stranger.header("location").unwrap_or_default();
        assert!(to_sign_in.starts_with("/sign-in?next="), "{stranger:?}");
        for address in ["/shared/branches/x", "/shared/branches/%FF"] {
            assert_eq!(read(&live.server, address, &live.bob).await, live.unknown(&live.bob).await, "{address}");
        }

        service.remove_group_member(actor, live.group, live.cy_id).await.unwrap();
        is_closed(&live.cy, "not in the group any more").await;
        assert!(is_open(&live.bob).await);
        service.add_group_member(actor, live.group, live.cy_id).await.unwrap();
        assert!(is_open(&live.cy).await);

        instance.sql("UPDATE users SET disabled_at = created_at WHERE role = 'owner'").await;
        is_closed(&live.bob, "of a disabled account").await;
        instance.sql("UPDATE users SET disabled_at = NULL").await;
        // A session that still counts for a moment after its account was disabled elsewhere reads nothing.
        instance.sql("UPDATE users SET disabled_at = created_at WHERE name = 'Bob'").await;
        is_closed(&live.bob, "a disabled reader").await;
        instance.sql("UPDATE users SET disabled_at = NULL").await;
        assert!(is_open(&live.bob).await);

        service.delete_chat(owner, live.chat).await.unwrap();
        is_closed(&live.bob, "in Trash").await;
        service.restore_chat(owner, live.chat).await.unwrap();
        assert!(is_open(&live.bob).await);

        live.set_readers(json!({ "groups": ["Research"] })).await;
        is_closed(&live.bob, "not named any more").await;
        assert!(is_open(&live.cy).await);
        live.end().await;
        is_closed(&live.cy, "it has ended").await;
        is_closed(&live.ann, "it has ended").await;
        live.close().await;
    }
}

#[tokio::test]
async fn share_goes_with_its_chat() {
    for live in LiveBranch::on_every_database().await {
        let instance = &live.server.api.instance;
        live.server.service().delete_chat(instance.owner, live.chat).await.unwrap();
        let now = live.server.service().supervisor().clock().now();
        purge_expired(&instance.db, now + limits::TRASH_KEPT + TimeDelta::minutes(1)).await.unwrap();
        assert_eq!(count(&instance.db, "SELECT COUNT(*) FROM branch_shares").await, 0);
        assert_eq!(count(&instance.db, "SELECT COUNT(*) FROM branch_share_readers").await, 0);
        live.close().await;
    }
}

#[tokio::test]
async fn only_owner_changes_share_and_each_change_is_in_audit_log() {
    for live in LiveBranch::on_every_database().await {
        let path = format!("/api/branch-shares/{}", live.share);
        for (method, path) in [("PUT", format!("{path}/readers")), ("DELETE", path.clone())] {
            let (status, refused) = live.server.call((method, &path), &live.bob, json!({ "accounts": ["Bob"] })).await;
            assert_eq!(status, StatusCode::NOT_FOUND, "{refused}");
        }
        let shares = format!("/api/branches/{}/shares", live.branch);
        let body = json!({ "readers": { "accounts": ["Cy"] }, "client_request_id": "once" });
        let (status, refused) = live.server.call(("POST", &shares), &live.bob, body.clone()).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{refused}");
        let (_, listed) = live.server.call(("GET", "/api/branch-shares"), &live.bob, json!({})).await;
        assert_eq!(listed, json!([]));
        let (_, listed) = live.server.call(("GET", "/api/branch-shares"), &live.ann, json!({})).await;
        let readers = json!({ "accounts": ["Bob"], "groups": ["Research"] });
        assert_eq!((&listed[0]["readers"], &listed[0]["chat_title"]), (&readers, &json!("Trees")), "{listed}");

        let (status, made) = live.server.call(("POST", &shares), &live.ann, body.clone()).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        let (status, again) = live.server.call(("POST", &shares), &live.ann, body).await;
        assert_eq!((status, &again["id"]), (StatusCode::OK, &made["id"]), "{again}");
        live.set_readers(json!({ "accounts": ["Cy"] })).await;
        live.end().await;
        let log = live.server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        let is_of_shares = |verb: &str| ["share_branch", "change_readers", "end_branch_share"].contains(&verb);
        let entries: Vec<_> = log
            .iter()
            .filter(|entry| is_of_shares(&entry.verb))
            .map(|entry| (entry.verb.as_str(), entry.target.as_str(), entry.actor))
            .collect();
        let (owner, id) = (Some(live.server.api.instance.owner), live.share.as_str());
        let second = made["id"].as_str().unwrap();
        assert_eq!(
            entries,
            [
                ("end_branch_share", id, owner),
                ("change_readers", id, owner),
                ("share_branch", second, owner),
                ("share_branch", id, owner)
            ]
        );
        live.close().await;
    }
}

#[tokio::test]
async fn unknown_and_disabled_names_are_refused_alike() {
    for live in LiveBranch::on_every_database().await {
        let eve = live.server.add("Eve", AccountRole::User).await;
        live.server.service().disable_account(Actor::default(), eve).await.unwrap();
        let path = format!("/api/branches/{}/shares", live.branch);
        let mut refusals = Vec::new();
        for name in ["Eve", "Nobody"] {
            let body = json!({ "readers": { "accounts": ["Bob", name] } });
            let (status, refused) = live.server.call(("POST", &path), &live.ann, body).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{refused}");
            refusals.push((refused["field"].clone(), refused["detail"].as_str().unwrap().replace(name, "")));
        }
        assert_eq!(refusals[0], refusals[1]);
        let many: Vec<String> = (0..=limits::BRANCH_READERS).map(|number| format!("n{number}")).collect();
        for (readers, field) in [
            (json!({ "groups": ["Nothing"] }), "groups"),
            (json!({}), "accounts"),
            (json!({ "accounts": many }), "accounts"),
        ] {
            let body = json!({ "readers": readers });
            let (status, refused) = live.server.call(("POST", &path), &live.ann, body).await;
            assert_eq!((status, &refused["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(field)), "{refused}");
        }
        live.close().await;
    }
}

#[tokio::test]
async fn forms_share_branch_change_its_readers_and_end_it() {
    for live in LiveBranch::on_every_database().await {
        live.end().await;
        let page = read(&live.server, &format!("/c/{}/share?leaf={}", live.chat, live.reply), &live.ann).await.html();
        let form = part(&page, "action=\"/forms/shares/branch\"", "</form>");
        let branch = part(form, "name=\"branch_id\" value=\"", "\"");
        assert_eq!(branch, live.branch);
        let key = part(form, "name=\"client_request_id\" value=\"", "\"");
        let fields = format!("chat_id={}&leaf={}&branch_id={branch}", live.chat, live.reply);
        let refused = format!("{fields}&client_request_id={key}&accounts=Bob%0D%0Anobody&tools=1");
        let refused = live.server.submit("/forms/shares/branch", &live.ann, &refused).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        assert!(refused.page.contains("no account nobody") && refused.page.contains("Bob\nnobody"), "{}", refused.page);
        let tick =
            part(part(&refused.page, "action=\"/forms/shares/branch\"", "</form>"), "name=\"tools\" value=\"1\"", ">");
        assert!(tick.contains("checked"), "{}", refused.page);
        let done = live.server.submit("/forms/shares/branch", &live.ann, &format!("{fields}&accounts=bob")).await;
        assert_eq!(done.location, "/settings/shared-links?done=live", "{done:?}");
        let list = read(&live.server, &done.location, &live.ann).await.html();
        let id = part(part(&list, "action=\"/forms/shares/readers\"", "</form>"), "name=\"share_id\" value=\"", "\"");
        let address = format!("/shared/branches/{id}");
        assert!(list.contains("The branch is shared live.") && list.contains(&address), "{list}");
        assert_eq!(read(&live.server, &address, &live.bob).await.status, StatusCode::OK);

        let refused = live.server.submit("/forms/shares/readers", &live.ann, &format!("share_id={id}")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "nobody is named: {refused:?}");
        let change = format!("share_id={id}&accounts=&groups=Research%0D%0A");
        let done = live.server.submit("/forms/shares/readers", &live.ann, &change).await;
        assert_eq!(done.location, "/settings/shared-links?done=readers", "{done:?}");
        assert_eq!(read(&live.server, &address, &live.bob).await.status, StatusCode::NOT_FOUND);
        assert_eq!(read(&live.server, &address, &live.cy).await.status, StatusCode::OK);
        let foreign = live.server.submit("/forms/shares/end", &live.cy, &format!("share_id={id}")).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{foreign:?}");
        let done = live.server.submit("/forms/shares/end", &live.ann, &format!("share_id={id}")).await;
        assert_eq!(done.location, "/settings/shared-links?done=ended", "{done:?}");
        assert_eq!(read(&live.server, &address, &live.cy).await.status, StatusCode::NOT_FOUND);
        live.close().await;
    }
}

#[tokio::test]
async fn server_without_accounts_offers_no_live_share() {
    let api = TestApi::new([streamed_answer([text_step("One")])]).await;
    let started = api.instance.send("First question").await;
    api.instance.wait_until_complete(started.assistant_turn.id).await;
    let page = api.get_page(&format!("/c/{}/share", started.chat.id)).await;
    assert!(page.contains("/forms/shares/create") && !page.contains("/forms/shares/branch"), "{page}");
}

#[tokio::test]
async fn reader_continues_branch_in_chat_of_own() {
    for live in LiveBranch::on_every_database().await {
        let address = format!("{}/continue", live.address());
        let page = text(live.server.send(("GET", &address), &live.bob, &[HTML], "").await).await;
        assert!(page.contains("Trees") && page.contains("2 messages"), "{page}");
        let key = part(&page, "name=\"client_request_id\" value=\"", "\"");
        let form = format!("share_id={}&client_request_id={key}", live.share);
        let done = live.server.submit("/forms/shares/continue-branch", &live.bob, &form).await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{done:?}");
        let again = live.server.submit("/forms/shares/continue-branch", &live.bob, &form).await;
        assert_eq!(again.location, done.location);
        let (_, chats) = live.server.call(("GET", "/api/chats"), &live.bob, json!({})).await;
        assert_eq!(chats.as_array().unwrap().len(), 1, "{chats}");
        let chat: ChatId = chats[0]["id"].as_str().unwrap().parse().unwrap();
        let copied = live.server.service().path(live.bob_id, chat, None, 50).await.unwrap();
        assert_eq!((copied.chat.title.as_str(), copied.chat.copied_from_turn_id), ("Trees", None));
        let kinds: Vec<Vec<&str>> = copied
            .turns
            .iter()
            .map(|turn| turn.blocks.iter().map(|block| block.content.block_type()).collect())
            .collect();
        assert_eq!(kinds, [vec!["text", "image"], vec!["text"]]);
        assert!(live.server.service().blob(live.bob_id, &live.images[0]).await.is_ok(), "the image is in the copy");
        // Later messages of the owner are not in it.
        let more = json!({ "prev_turn_id": live.reply, "text": "Later question" });
        LiveBranch::send(&live.server, &live.ann, live.chat, more).await;
        let copied = live.server.service().path(live.bob_id, chat, None, 50).await.unwrap();
        assert_eq!(copied.turns.len(), 2);
        live.close().await;
    }
}
