//! The live channel of an account: the order and the numbers of changes, continuing after a lost connection, the
//! separation of people, the end with the session and at the shutdown, and that use cases tell what they change
//! (docs/reference/events.md 14).

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures::StreamExt;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::branches::branch::ModelLock;
use turnleaf::domain::tools::approval::ApprovalDecision;
use turnleaf::domain::{AccountChange, AccountRole, ChatId};
use turnleaf_platform::ids;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::chats::{ChatChange, NewChat};
use turnleaf_service::projects::NewProject;
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::{ChangeFollower, Draft, FeedUpdate};

use crate::accounts_api::{AccountsApi, TestCredential};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, message_to_send, streamed_answer, text_step};
use crate::tool_call_support::{is_waiting_for_approval, tool_call_answer};
use crate::toolbox::{FakeToolbox, ToolBehavior};

/// The time within which what is told arrives, and a connection ends.
const SOON: Duration = Duration::from_secs(10);

/// An event of the channel.
#[derive(Debug)]
struct ReceivedEvent {
    name: String,
    /// The cursor after it.
    id: Option<String>,
    json: Value,
}

/// An open channel.
struct ChannelClient {
    body: BodyDataStream,
    received: String,
}

impl ChannelClient {
    fn new(response: Response<Body>) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { body: response.into_body().into_data_stream(), received: String::new() }
    }

    async fn open(api: &TestApi, query: &str, last_event_id: Option<&str>) -> Self {
        let mut request = Request::builder().uri(format!("/api/events{query}")).header("host", "127.0.0.1:3000");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        Self::new(api.send(request.body(Body::empty()).unwrap()).await)
    }

    async fn open_as(server: &AccountsApi, credential: &TestCredential) -> Self {
        Self::new(server.send(("GET", "/api/events"), credential, &[], "").await)
    }

    /// Returns the next event; none if the channel has ended.
    async fn next(&mut self) -> Option<ReceivedEvent> {
        loop {
            if let Some((event, rest)) = self.received.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.received = rest;
                let field = |name: &str| {
                    let line = event.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                    line.map(str::to_owned)
                };
                // The delay before a reconnect is no event.
                let Some(data) = field("data") else { continue };
                let json = serde_json::from_str(&data).unwrap();
                return Some(ReceivedEvent { name: field("event").unwrap(), id: field("id"), json });
            }
            let bytes = tokio::time::timeout(SOON, self.body.next()).await.expect("nothing is told");
            self.received.push_str(std::str::from_utf8(&bytes?.unwrap()).unwrap());
        }
    }

    /// Returns the names of the next events.
    async fn next_names(&mut self, count: usize) -> Vec<String> {
        let mut names = Vec::new();
        for _ in 0..count {
            let event = self.next().await.expect("the channel has ended");
            assert_eq!(event.json["type"], json!(event.name));
            names.push(event.name);
        }
        names
    }

    /// Returns the next change, with its number.
    async fn next_change(&mut self) -> (u64, Value) {
        let event = self.next().await.expect("the channel has ended");
        let id = event.json["id"].as_u64().unwrap();
        assert_eq!(event.id, Some(id.to_string()), "{event:?}");
        (id, event.json)
    }
}

#[tokio::test]
async fn channel_tells_changes_in_order_and_continues_after_last_event() {
    let api = TestApi::new([]).await;
    let mut channel = ChannelClient::open(&api, "", None).await;
    let (hello, first) = channel.next_change().await;
    let (reset, second) = channel.next_change().await;
    assert_eq!((&first["type"], &second["type"], hello), (&json!("hello"), &json!("reset"), reset));
    let chat = api.create_chat().await;
    let (listed, change) = channel.next_change().await;
    assert_eq!(change, json!({ "id": hello + 1, "type": "chat_list_changed" }));
    let path = format!("/api/chats/{chat}");
    let rename = async |title: &str| {
        let (status, _) = api.call("PATCH", &path, Some(json!({ "title": title }))).await;
        assert_eq!(status, StatusCode::OK);
    };
    rename("Weather").await;
    let (changed, change) = channel.next_change().await;
    assert_eq!(change, json!({ "id": listed + 1, "type": "chat_changed", "chat_id": chat }));
    let (seen, change) = channel.next_change().await;
    assert_eq!((change["type"].as_str(), seen), (Some("chat_list_changed"), changed + 1));
    drop(channel);

    // Changes while nobody follows.
    rename("Wind").await;
    rename("Rain").await;
    let seen = seen.to_string();
    let query = format!("?after={seen}");
    for (query, header) in [("", Some(seen.as_str())), (query.as_str(), None), ("?after=0", Some(seen.as_str()))] {
        let mut channel = ChannelClient::open(&api, query, header).await;
        let hello = channel.next().await.unwrap();
        assert_eq!((hello.name.as_str(), hello.id.as_ref()), ("hello", Some(&seen)), "{query} {header:?}");
        assert_eq!(channel.next_names(2).await, ["chat_changed", "chat_list_changed"], "each once");
    }
    for (query, header) in [("", Some("abc")), ("?after=-1", None), ("?after=0", None), ("?after=0", Some(""))] {
        let mut channel = ChannelClient::open(&api, query, header).await;
        assert_eq!(channel.next_names(2).await, ["hello", "reset"], "{query} {header:?}");
    }
    assert_eq!(api.call("GET", "/api/events?since=1", None).await.0, StatusCode::BAD_REQUEST);
    api.instance.close().await;
}

#[tokio::test]
async fn changes_of_another_person_never_arrive() {
    for server in AccountsApi::on_every_database().await {
        for name in ["Bob", "Cid"] {
            server.add(name, AccountRole::User).await;
        }
        let (bob, cid) = (server.sign_in("Bob").await, server.sign_in("Cid").await);
        let mut of_bob = ChannelClient::open_as(&server, &bob).await;
        let mut of_cid = ChannelClient::open_as(&server, &cid).await;
        assert_eq!(of_cid.next_names(2).await, ["hello", "reset"]);
        let (hello, _) = of_bob.next_change().await;
        of_bob.next_change().await;
        for _ in 0..3 {
            let new = json!({ "provider": "scripted", "model": "model-a" });
            let (status, _) = server.call(("POST", "/api/chats"), &cid, new).await;
            assert_eq!(status, StatusCode::CREATED);
        }
        assert_eq!(of_cid.next_names(1).await, ["chat_list_changed"]);
        let new = json!({ "provider": "scripted", "model": "model-a" });
        let (status, _) = server.call(("POST", "/api/chats"), &bob, new).await;
        assert_eq!(status, StatusCode::CREATED);
        // Not even the numbers tell that somebody else did something.
        assert_eq!(of_bob.next_change().await, (hello + 1, json!({ "id": hello + 1, "type": "chat_list_changed" })));
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn channel_ends_with_its_session_and_at_shutdown() {
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        let (here, there) = (server.sign_in("Bob").await, server.sign_in("Bob").await);
        let mut of_here = ChannelClient::open_as(&server, &here).await;
        let mut of_there = ChannelClient::open_as(&server, &there).await;
        for channel in [&mut of_here, &mut of_there] {
            assert_eq!(channel.next_names(2).await, ["hello", "reset"]);
        }
        let done = server.submit("/forms/sign-out", &here, "").await;
        assert_eq!(done.status, StatusCode::SEE_OTHER, "{done:?}");
        assert!(of_here.next().await.is_none(), "it goes on");
        // The other session is told of changes still.
        let new = json!({ "provider": "scripted", "model": "model-a" });
        let (status, _) = server.call(("POST", "/api/chats"), &there, new).await;
        assert_eq!(status, StatusCode::CREATED);
        assert_eq!(of_there.next_names(1).await, ["chat_list_changed"]);
        server.api.closing.cancel();
        assert!(of_there.next().await.is_none(), "it goes on");
        server.api.instance.close().await;
    }
}

/// Waits until a follower was told all of these changes.
async fn expect_changes(follower: &mut ChangeFollower, expected: &[AccountChange]) {
    let mut missing = expected.to_vec();
    while !missing.is_empty() {
        let update = tokio::time::timeout(SOON, follower.next()).await;
        let Ok(FeedUpdate::Changes(changes)) = update else { panic!("not told: {missing:?}: {update:?}") };
        missing.retain(|change| changes.iter().all(|(_, told)| told != change));
    }
}

/// Follows an account from now on.
fn follow(instance: &TestServer) -> ChangeFollower {
    instance.service.follow_changes(instance.owner, None)
}

#[tokio::test]
async fn use_cases_tell_what_they_change() {
    let answers = || ScriptedProvider::new("scripted", [streamed_answer([text_step("ok")])]);
    for instance in TestServer::on_every_database(answers).await {
        let (service, owner) = (&instance.service, instance.owner);
        let list = AccountChange::ChatListChanged;

        let mut told = follow(&instance);
        let chat = service.create_chat(owner, NewChat::default()).await.unwrap().value.0.id;
        expect_changes(&mut told, &[list]).await;
        let changed = AccountChange::ChatChanged { chat_id: chat };

        let mut told = follow(&instance);
        let change = ChatChange { title: Some("Weather".into()), unread: Some(false), ..ChatChange::default() };
        service.change_chat(owner, chat, change).await.unwrap();
        expect_changes(&mut told, &[changed, list, AccountChange::UnreadChanged]).await;

        for chat_id in [Some(chat), None] {
            let mut told = follow(&instance);
            let draft = Draft { text: "later".into(), ..Draft::default() };
            let rev = service.save_draft(owner, chat_id, draft).await.unwrap();
            expect_changes(&mut told, &[AccountChange::DraftChanged { chat_id, rev: Some(rev) }]).await;
        }

        let mut told = follow(&instance);
        let reply = instance.send_to(chat, "hi").await.assistant_turn.id;
        expect_changes(&mut told, &[AccountChange::DraftChanged { chat_id: Some(chat), rev: None }]).await;
        instance.wait_until_ended(reply).await;
        expect_changes(&mut told, &[changed, list, AccountChange::UnreadChanged]).await;

        let mut told = follow(&instance);
        service.mark_chat_read(owner, chat).await;
        expect_changes(&mut told, &[AccountChange::UnreadChanged]).await;
        // Nothing changes where everything is read already.
        let mut told = follow(&instance);
        let next = told.seen() + 1;
        service.mark_chat_read(owner, chat).await;
        service.mark_all_read(owner).await.unwrap();
        let FeedUpdate::Changes(changes) = told.next().await else { panic!("a reset") };
        assert_eq!(changes[0], (next, AccountChange::NotificationsChanged));

        let mut told = follow(&instance);
        let place = PlacementRequest { prev_turn_id: Some(reply), ..PlacementRequest::default() };
        let behind = TurnRequest { place, ..message_to_send("and then?") };
        let queued = service.queue_message(owner, behind).await.unwrap().value.id;
        expect_changes(&mut told, &[changed]).await;
        let mut told = follow(&instance);
        service.cancel_queued_message(owner, queued).await.unwrap();
        expect_changes(&mut told, &[changed]).await;

        let mut told = follow(&instance);
        service.delete_chat(owner, chat).await.unwrap();
        expect_changes(&mut told, &[changed, list, AccountChange::UnreadChanged]).await;
        let mut told = follow(&instance);
        service.restore_chat(owner, chat).await.unwrap();
        expect_changes(&mut told, &[changed, list, AccountChange::UnreadChanged]).await;

        let mut told = follow(&instance);
        let project = NewProject { name: "Boat".into(), ..NewProject::default() };
        service.create_project(owner, project).await.unwrap();
        expect_changes(&mut told, &[list]).await;

        let mut told = follow(&instance);
        service.set_instructions(owner, "Be brief.").await.unwrap();
        expect_changes(&mut told, &[AccountChange::SettingsChanged]).await;
        let mut told = follow(&instance);
        service.supervisor().registry().set_default(owner, Some(ModelLock::new("scripted", "model-b")));
        expect_changes(&mut told, &[AccountChange::SettingsChanged]).await;
        // A default of somebody else changes no model of this person.
        let mut told = follow(&instance);
        service.supervisor().registry().set_default(ids::mint(), Some(ModelLock::new("scripted", "model-b")));
        service.create_chat(owner, NewChat::default()).await.unwrap();
        let FeedUpdate::Changes(changes) = told.next().await else { panic!("a reset") };
        assert_eq!(changes.into_iter().map(|(_, change)| change).collect::<Vec<_>>(), [list]);
        instance.close().await;
    }
}

#[tokio::test]
async fn reply_that_waits_for_its_person_is_told_and_so_is_its_answer() {
    let answers = || {
        let asks = tool_call_answer([text_step("I write.")], &[("lab__write", r#"{"a":1}"#)]);
        ScriptedProvider::new("scripted", [asks, streamed_answer([text_step("Written.")])])
    };
    let lab = FakeToolbox::default().with_asking_tool("write", ToolBehavior::Echo);
    for instance in TestServer::on_every_database_with_tools(answers, || Arc::new(lab.clone())).await {
        let chat: ChatId = instance.chat_with_tools(&lab.offered_tools()).await;
        let changes = [
            AccountChange::ChatChanged { chat_id: chat },
            AccountChange::NotificationsChanged,
            AccountChange::ChatListChanged,
        ];
        let mut told = follow(&instance);
        let reply = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(reply, is_waiting_for_approval).await;
        expect_changes(&mut told, &changes).await;
        let mut told = follow(&instance);
        instance.decide(reply, ApprovalDecision::Allow, None).await.unwrap();
        expect_changes(&mut told, &changes).await;
        instance.wait_until_complete(reply).await;
        instance.close().await;
    }
}
