//! Grants of models, over the real router and on both databases: a model that is not granted is not listed, not chosen and
//! not called, whichever route asks; old branches stay readable and continue with another model.

use std::sync::{Arc, Mutex};

use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Notify;
use turnleaf::domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf::domain::blocks::block::ToolStatus;
use turnleaf::domain::{AccountRole, FailureKind, ModelLock, TurnId, TurnStatus, UserId};
use turnleaf_providers::scripted::{RequestLog, ScriptedAnswer, ScriptedProvider};
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, FORM, HTML, OWNER, PASSWORD, TestCredential};
use crate::http_api::TestApi;
use crate::test_server::{TestServer, streamed_answer, text_step};
use crate::tool_call_support::{statuses, tool_call_answer};
use crate::toolbox::{FakeToolbox, ToolBehavior};

const CLOSED: &str = "model-a";
const OPEN: &str = "model-b";

/// A server with an owner and an account, and the requests that its provider has got.
struct GrantsApi {
    server: AccountsApi,
    requests: Arc<RequestLog>,
    bob: UserId,
    session: TestCredential,
}

fn model(name: &str) -> GrantTarget {
    GrantTarget::Model(ModelLock::new("scripted", name))
}

fn answers(count: usize) -> Vec<ScriptedAnswer> {
    (0..count).map(|_| streamed_answer([text_step("ok")])).collect()
}

impl GrantsApi {
    async fn on_every_database(answers: impl Fn() -> Vec<ScriptedAnswer>) -> Vec<Self> {
        let logs = Mutex::new(Vec::new());
        let provider = || {
            let provider = ScriptedProvider::new("scripted", answers());
            logs.lock().unwrap().push(provider.log());
            provider
        };
        let instances = TestServer::on_every_database_patient(provider).await;
        let mut servers = Vec::new();
        for (instance, requests) in instances.into_iter().zip(logs.into_inner().unwrap()) {
            let service = &instance.service;
            service.add_account(Actor::default(), OWNER, AccountRole::Owner, &PASSWORD.into()).await.unwrap();
            let server = AccountsApi { api: TestApi::with_accounts(instance) };
            let bob = server.add("Bob", AccountRole::User).await;
            let session = server.sign_in("Bob").await;
            servers.push(Self { server, requests, bob, session });
        }
        servers
    }

    async fn set(&self, target: GrantTarget, audience: GrantAudience) {
        self.server.service().set_access_rule(Actor::default(), target, audience).await.unwrap();
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        self.server.call((method, path), &self.session, body).await
    }

    /// Begins a chat of Bob with the closed model, which is still open then. Returns the chat, the message and the reply.
    async fn begin_chat(&self) -> (String, String, String) {
        let new = json!({ "provider": "scripted", "model": CLOSED });
        let (status, chat) = self.call("POST", "/api/chats", new).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        let chat = chat["id"].as_str().unwrap().to_owned();
        let (status, sent) = self.call("POST", &format!("/api/chats/{chat}/turns"), json!({ "text": "a" })).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        let id = |turn: &str| sent[turn]["id"].as_str().unwrap().to_owned();
        (chat, id("user_turn"), id("assistant_turn"))
    }

    async fn wait_until_ended(&self, reply: &str) -> turnleaf::domain::Turn {
        let (service, reply): (_, TurnId) = (self.server.service(), reply.parse().unwrap());
        if let Some(live) = service.supervisor().live_turn(reply) {
            live.wait_until_ended().await;
        }
        service.turn(self.bob, reply).await.unwrap()
    }

    /// Returns the names of the models that somebody can choose.
    async fn models(&self, credential: &TestCredential) -> Vec<String> {
        let (status, models) = self.server.call(("GET", "/api/models"), credential, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{models}");
        let names = models.as_array().unwrap().iter().map(|model| model["model"].as_str().unwrap().to_owned());
        names.collect()
    }
}

#[tokio::test]
async fn model_that_is_not_granted_is_neither_listed_nor_chosen_nor_called() {
    for grants in GrantsApi::on_every_database(|| answers(3)).await {
        let (chat, message, reply) = grants.begin_chat().await;
        grants.wait_until_ended(&reply).await;
        let owner = grants.server.sign_in(OWNER).await;
        assert_eq!(grants.models(&grants.session).await, [CLOSED, OPEN], "everything is granted by default");
        grants.set(model(CLOSED), GrantAudience::default()).await;
        assert_eq!(grants.models(&grants.session).await, [OPEN]);
        assert_eq!(grants.models(&owner).await, [CLOSED, OPEN], "the owner may use everything");
        let service = grants.server.service();
        assert_eq!(service.default_model(grants.bob).await.unwrap(), ModelLock::new("scripted", OPEN));

        let sent = grants.requests.requests().len();
        let closed = || json!({ "provider": "scripted", "model": CLOSED });
        let with = |mut body: Value, more: Value| {
            body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            body
        };
        for (path, body) in [
            ("/api/chats".to_owned(), closed()),
            // No list has this name, so it may be another one of the closed model.
            ("/api/chats".to_owned(), json!({ "provider": "scripted", "model": "model-a:online" })),
            (format!("/api/chats/{chat}/turns"), json!({ "text": "b" })),
            (format!("/api/chats/{chat}/turns"), with(closed(), json!({ "text": "b", "prev_turn_id": null }))),
            (format!("/api/chats/{chat}/branches"), json!({})),
            (format!("/api/chats/{chat}/branches"), closed()),
            (format!("/api/chats/{chat}/grafts"), with(closed(), json!({ "leaf_turn_id": reply }))),
            (format!("/api/chats/{chat}/title-suggestions"), json!({})),
            (format!("/api/turns/{message}/edit"), json!({ "text": "b" })),
            (format!("/api/turns/{reply}/retry"), json!({})),
            (format!("/api/turns/{reply}/retry"), closed()),
            (format!("/api/turns/{reply}/queue"), with(closed(), json!({ "text": "b" }))),
        ] {
            let (status, refused) = grants.call("POST", &path, body.clone()).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{path} {body}: {refused}");
            assert_eq!(
                (&refused["code"], &refused["reason_code"], &refused["fork"]["model"]),
                (&json!("model_not_granted"), &json!("model_not_granted"), &json!(OPEN)),
                "{path} {body}: {refused}"
            );
        }
        let queued = format!("/api/turns/{reply}/queue");
        let (status, waiting) = grants.call("POST", &queued, json!({ "text": "b" })).await;
        assert_eq!(status, StatusCode::CREATED, "{waiting}");
        let send = format!("/api/queued-messages/{}/send", waiting["id"].as_str().unwrap());
        assert_eq!(grants.call("POST", &send, json!({})).await.0, StatusCode::FORBIDDEN);
        let (status, _) = grants.call("PUT", "/api/models/default", closed()).await;
        assert!(status.is_client_error(), "{status}");
        let form = format!("chat_id={chat}&prev_turn_id={reply}&text=b&model=scripted%2F{CLOSED}");
        for (path, body) in [
            ("/forms/send", form),
            ("/forms/retry", format!("turn_id={reply}")),
            ("/forms/continue-reply", format!("turn_id={reply}")),
        ] {
            let response = grants.server.send(("POST", path), &grants.session, &[HTML, FORM], &body).await;
            assert!(!response.status().is_server_error(), "{path}: {}", response.status());
        }
        let service_refuses = service.suggest_title(grants.bob, chat.parse().unwrap(), None).await.is_err();
        assert!(service_refuses && grants.requests.requests().len() == sent, "nothing reached the provider");

        // The old branch can be read, and continues with the other model.
        let (status, path) = grants.call("GET", &format!("/api/chats/{chat}/turns"), json!({})).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        let page = grants.server.send(("GET", &format!("/c/{chat}")), &grants.session, &[HTML], "").await;
        assert_eq!(page.status(), StatusCode::OK);
        let page = text(page).await;
        assert!(page.contains("model-a is no longer available") && page.contains("Continue with"), "{page}");
        let fork = json!({ "from_turn_id": reply, "provider": "scripted", "model": OPEN });
        let (status, branch) = grants.call("POST", &format!("/api/chats/{chat}/branches"), fork).await;
        assert_eq!(status, StatusCode::CREATED, "{branch}");
        let next = json!({ "text": "c", "branch_id": branch["id"] });
        let (status, sent) = grants.call("POST", &format!("/api/chats/{chat}/turns"), next).await;
        assert_eq!(status, StatusCode::CREATED, "{sent}");
        let turn = grants.wait_until_ended(sent["assistant_turn"]["id"].as_str().unwrap()).await;
        assert_eq!(turn.status, TurnStatus::Complete, "{turn:?}");
        grants.server.api.instance.check_invariants().await;
        grants.server.api.instance.close().await;
    }
}

#[tokio::test]
async fn grants_of_groups_accounts_and_everybody_take_effect_at_once() {
    for grants in GrantsApi::on_every_database(Vec::new).await {
        let (service, actor) = (grants.server.service().clone(), Actor::default());
        let group = service.create_group(actor, "Research", None).await.unwrap().value.id;
        let of_group = || GrantAudience { groups: [group].into(), ..GrantAudience::default() };
        let all = GrantTarget::Provider("scripted".into());
        let seen = async || grants.models(&grants.session).await;

        grants.set(all.clone(), of_group()).await;
        assert_eq!(seen().await, [""; 0], "he is in no group");
        service.add_group_member(actor, group, grants.bob).await.unwrap();
        assert_eq!(seen().await, [CLOSED, OPEN]);
        grants.set(model(CLOSED), GrantAudience::default()).await;
        assert_eq!(seen().await, [OPEN]);
        grants.set(model(CLOSED), GrantAudience { accounts: [grants.bob].into(), ..<_>::default() }).await;
        service.remove_group_member(actor, group, grants.bob).await.unwrap();
        assert_eq!(seen().await, [CLOSED], "by his name");
        grants.set(all.clone(), GrantAudience::everybody()).await;
        assert_eq!(seen().await, [CLOSED, OPEN]);
        grants.set(all.clone(), of_group()).await;
        service.add_group_member(actor, group, grants.bob).await.unwrap();
        service.delete_group(actor, group).await.unwrap();
        assert_eq!(seen().await, [CLOSED], "what the group was granted goes with it");
        for rule in service.access_rules().await.unwrap() {
            service.delete_access_rule(actor, rule.id).await.unwrap();
        }
        assert_eq!(seen().await, [CLOSED, OPEN], "the default again");

        // A change of another process is found when the database is asked again.
        grants.set(all, GrantAudience::default()).await;
        grants.server.api.instance.sql("DELETE FROM access_rules").await;
        assert_eq!(seen().await, [""; 0]);
        service.load_rights().await.unwrap();
        assert_eq!(seen().await, [CLOSED, OPEN]);
        grants.server.api.instance.close().await;
    }
}

#[tokio::test]
async fn run_asks_for_grant_again_before_its_next_call() {
    let gate = Arc::new(Notify::new());
    let waits = ToolBehavior::ReturnsOnNotify(gate.clone(), json!("waited"));
    let lab = FakeToolbox::default().with_tool("wait", waits);
    let provider = || {
        let calls = tool_call_answer([], &[("lab__wait", "{}")]);
        ScriptedProvider::new("scripted", [calls, streamed_answer([text_step("never")])])
    };
    for mut instance in TestServer::on_every_database_with_tools(provider, || Arc::new(lab.clone())).await {
        let service = instance.service.clone();
        let bob = service.add_account(Actor::default(), "Bob", AccountRole::User, &PASSWORD.into()).await.unwrap();
        // The owner may use everything, so the chat is Bob's.
        instance.owner = bob;
        let chat = instance.chat_with_tools(&lab.offered_tools()).await;
        let reply = instance.send_to(chat, "go").await.assistant_turn.id;
        instance.wait_until(reply, |turn| statuses(turn) == [ToolStatus::Running]).await;
        let closed = GrantTarget::Provider("scripted".into());
        service.set_access_rule(Actor::default(), closed, GrantAudience::default()).await.unwrap();
        gate.notify_one();
        let turn = instance.wait_until_ended(reply).await;
        let error = turn.error.as_ref().map(|failure| failure.kind);
        assert_eq!((turn.status, error), (TurnStatus::Error, Some(FailureKind::ModelNotFound)), "{turn:?}");
        assert_eq!(statuses(&turn), [ToolStatus::Done]);
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn only_administrators_manage_groups_and_grants() {
    for grants in GrantsApi::on_every_database(Vec::new).await {
        let owner = grants.server.sign_in(OWNER).await;
        let token = grants.server.token(grants.bob, &turnleaf::domain::TokenScope::ALL).await;
        for credential in [&grants.session, &token] {
            for route in
                [("GET", "/api/groups"), ("POST", "/api/groups"), ("GET", "/api/grants"), ("PUT", "/api/grants")]
            {
                assert_eq!(grants.server.status(route, credential).await, StatusCode::FORBIDDEN, "{route:?}");
            }
        }
        let call = async |method: &str, path: &str, body: Value| grants.server.call((method, path), &owner, body).await;
        let new = || json!({ "name": "Research", "client_request_id": "g1" });
        let (status, group) = call("POST", "/api/groups", new()).await;
        assert_eq!((status, &group["member_count"]), (StatusCode::CREATED, &json!(0)), "{group}");
        let (status, again) = call("POST", "/api/groups", new()).await;
        assert_eq!((status, &again["id"]), (StatusCode::OK, &group["id"]), "{again}");
        let (status, taken) = call("POST", "/api/groups", json!({ "name": "RESEARCH" })).await;
        assert_eq!((status, &taken["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!("name")), "{taken}");
        let id = group["id"].as_str().unwrap();
        let member = format!("/api/groups/{id}/members/{}", grants.bob);
        assert_eq!(call("PUT", &member, json!({})).await.0, StatusCode::NO_CONTENT);
        let (_, shown) = call("GET", &format!("/api/groups/{id}"), json!({})).await;
        assert_eq!((&shown["name"], &shown["members"][0]["name"]), (&json!("Research"), &json!("Bob")), "{shown}");
        let (status, _) = call("PATCH", &format!("/api/groups/{id}"), json!({ "name": "Lab" })).await;
        assert_eq!(status, StatusCode::OK);

        let rule = json!({ "kind": "model", "target": "scripted", "model": CLOSED, "groups": [id] });
        let (status, rule) = call("PUT", "/api/grants", rule).await;
        assert_eq!(
            (status, &rule["groups"], &rule["everybody"]),
            (StatusCode::OK, &json!([id]), &json!(false)),
            "{rule}"
        );
        for wrong in [
            json!({ "kind": "model", "target": "scripted" }),
            json!({ "kind": "provider", "target": "Not An Id" }),
            json!({ "kind": "provider", "target": "scripted", "groups": ["0190b5b4-7c1e-7abc-8def-0123456789ab"] }),
            json!({ "kind": "provider", "target": "scripted", "accounts": ["0190b5b4-7c1e-7abc-8def-0123456789ab"] }),
        ] {
            let (status, refused) = call("PUT", "/api/grants", wrong.clone()).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong}: {refused}");
        }
        let (_, listed) = call("GET", "/api/grants", json!({})).await;
        assert_eq!(listed, json!([rule]));
        let address = format!("/api/grants/{}", rule["id"].as_str().unwrap());
        assert_eq!(call("DELETE", &address, json!({})).await.0, StatusCode::NO_CONTENT);
        assert_eq!(call("DELETE", &address, json!({})).await.0, StatusCode::NOT_FOUND);
        assert_eq!(call("DELETE", &member, json!({})).await.0, StatusCode::NO_CONTENT);
        assert_eq!(call("DELETE", &format!("/api/groups/{id}"), json!({})).await.0, StatusCode::NO_CONTENT);
        let log = grants.server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        let verbs: Vec<&str> = log.iter().map(|entry| entry.verb.as_str()).collect();
        for verb in ["add_group", "rename_group", "add_member", "remove_member", "change_grants", "delete_group"] {
            assert!(verbs.contains(&verb), "{verb}: {verbs:?}");
        }
        grants.server.api.instance.close().await;
    }
}

#[tokio::test]
async fn groups_and_access_are_managed_on_pages_without_script() {
    for grants in GrantsApi::on_every_database(Vec::new).await {
        let owner = grants.server.sign_in(OWNER).await;
        let submit = async |path: &str, body: String| grants.server.submit(path, &owner, &body).await;
        let page = async |path: &str| text(grants.server.send(("GET", path), &owner, &[HTML], "").await).await;
        let made = submit("/forms/groups/create", "name=Research".into()).await;
        assert_eq!(made.status, StatusCode::SEE_OTHER, "{made:?}");
        let address = made.location.split('?').next().unwrap().to_owned();
        let id = address.rsplit('/').next().unwrap().to_owned();
        let again = submit("/forms/groups/create", "name=research".into()).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(again.page.contains("value=\"research\""), "{}", again.page);
        let nobody = submit("/forms/groups/add-member", format!("group_id={id}&name=nobody")).await;
        assert!(nobody.status == StatusCode::UNPROCESSABLE_ENTITY && nobody.page.contains("no account nobody"));
        let added = submit("/forms/groups/add-member", format!("group_id={id}&name=bob")).await;
        assert_eq!(added.location, format!("{address}?done=member_added"));
        assert!(page(&address).await.contains("Bob</bdi>"));

        let matrix = page("/settings/access?provider=scripted").await;
        for part in ["Everybody", CLOSED, OPEN, "as its provider"] {
            assert!(matrix.contains(part), "{part}: {matrix}");
        }
        let rule = format!("kind=model&target=scripted&model={CLOSED}");
        assert!(page(&format!("/settings/access/rule?{rule}")).await.contains("Research"));
        let unknown = submit("/forms/access/save", format!("{rule}&accounts=nobody")).await;
        assert!(unknown.status == StatusCode::UNPROCESSABLE_ENTITY && unknown.page.contains("value=\"nobody\""));
        let saved = submit("/forms/access/save", rule.clone()).await;
        assert_eq!(saved.location, "/settings/access?done=saved", "{saved:?}");
        assert_eq!(grants.models(&grants.session).await, [OPEN]);
        let saved = submit("/forms/access/save", format!("{rule}&group={id}&accounts=ann%2C+bob")).await;
        assert_eq!(saved.status, StatusCode::SEE_OTHER, "{saved:?}");
        assert_eq!(grants.models(&grants.session).await, [CLOSED, OPEN]);
        assert!(
            page("/settings/access").await.contains("Research, Ann, Bob"),
            "the row of the rule names its audience"
        );
        let stored = grants.server.service().access_rules().await.unwrap().remove(0);
        let reset = submit("/forms/access/reset", format!("rule_id={}", stored.id)).await;
        assert_eq!(reset.location, "/settings/access?done=reset", "{reset:?}");
        let deleted = submit("/forms/groups/delete", format!("group_id={id}")).await;
        assert_eq!(deleted.location, "/settings/groups?done=deleted", "{deleted:?}");
        for path in ["/settings/groups", "/settings/access"] {
            let refused = grants.server.send(("GET", path), &grants.session, &[HTML], "").await;
            assert_eq!(refused.status(), StatusCode::FORBIDDEN, "{path}");
        }
        grants.server.api.instance.close().await;
    }
}
