//! People whom a reverse proxy names, on both databases: whose account a name opens, and that only the proxy names anybody.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{HeaderValue, Request, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf::domain::{AccountRole, AuditVerb, SecondFactorPolicy, TokenScope};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_store::accounts::{identities, identity_groups};

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, OWNER, PASSWORD, TestCredential};
use crate::http_api::{PROXY_SECRET, TestApi};
use crate::test_server::TestServer;

const PROXY: &str = "10.0.0.1:4711";
const CHATS: &str = "/api/chats";
const SECRET: (&str, &str) = ("x-turnleaf-proxy-secret", PROXY_SECRET);

/// The headers of the proxy about a person.
fn named(name: &str) -> [(&str, &str); 2] {
    [SECRET, ("remote-user", name)]
}

/// Returns servers behind a proxy, with an owner and a user called Bob.
async fn start(creates_accounts: bool) -> Vec<AccountsApi> {
    let mut servers = Vec::new();
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        for (name, role) in [(OWNER, AccountRole::Owner), ("Bob", AccountRole::User)] {
            instance.service.add_account(Actor::default(), name, role, &PASSWORD.into()).await.unwrap();
        }
        servers.push(AccountsApi { api: TestApi::behind_proxy(instance, creates_accounts) });
    }
    servers
}

async fn send(
    server: &AccountsApi,
    peer: &str,
    (method, path): (&str, &str),
    headers: &[(&str, &str)],
    body: Value,
) -> (StatusCode, String) {
    let mut request = Request::builder().method(method).uri(path).header("host", "127.0.0.1:3000");
    for (name, value) in [headers, &[("content-type", "application/json")]].concat() {
        request = request.header(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    let mut request = request.body(Body::from(body.to_string())).unwrap();
    request.extensions_mut().insert(ConnectInfo(peer.parse::<SocketAddr>().unwrap()));
    let response = server.api.send(request).await;
    (response.status(), text(response).await)
}

/// Returns the status of a reading request through the proxy.
async fn status(server: &AccountsApi, headers: &[(&str, &str)]) -> StatusCode {
    send(server, PROXY, ("GET", CHATS), headers, json!({})).await.0
}

/// Creates a chat as a person, and returns how many they see.
async fn count_with_new_chat(server: &AccountsApi, name: &str) -> usize {
    let made = send(server, PROXY, ("POST", CHATS), &named(name), json!({})).await;
    assert_eq!(made.0, StatusCode::CREATED, "{name}: {made:?}");
    let (_, listed) = send(server, PROXY, ("GET", CHATS), &named(name), json!({})).await;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    listed.as_array().unwrap().len()
}

#[tokio::test]
async fn name_opens_account_of_that_name_only() {
    for server in start(false).await {
        assert_eq!(count_with_new_chat(&server, "bob").await, 1);
        assert_eq!(count_with_new_chat(&server, "ann").await, 1, "each sees their own");
        assert_eq!(count_with_new_chat(&server, "bob").await, 2);
        // The proxy decides about factors.
        server.service().set_second_factor_policy(SecondFactorPolicy::Everyone);
        assert_eq!(status(&server, &named("bob")).await, StatusCode::OK);
        // The second letter is Cyrillic.
        for unknown in ["Cy", "b\u{43e}b", "ann ann", "ann@corp.example"] {
            let (status, problem) = send(&server, PROXY, ("GET", CHATS), &named(unknown), json!({})).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{unknown}");
            assert!(problem.contains("proxy_user_unknown") && problem.contains(unknown), "{problem}");
        }
        for nobody in [
            &[SECRET][..],
            &[SECRET, ("remote-user", "")],
            &[SECRET, ("remote-user", "bob"), ("remote-user", "ann")],
            &[SECRET, ("remote-groups", "admins")],
            &[SECRET, ("x-remote-user", "bob")],
        ] {
            assert_eq!(status(&server, nobody).await, StatusCode::UNAUTHORIZED, "{nobody:?}");
        }
        assert_eq!(server.service().list_accounts().await.unwrap().len(), 2, "no account was made");
        let audit = server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        let links = audit.iter().filter(|entry| entry.verb == AuditVerb::LinkIdentity.as_str());
        assert_eq!(
            links.map(|entry| (entry.target.as_str(), entry.ip.as_deref())).collect::<Vec<_>>(),
            [("proxy", Some("10.0.0.1")), ("proxy", Some("10.0.0.1")),]
        );
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn only_proxy_names_people() {
    for server in start(true).await {
        for (peer, headers) in [
            // Without the secret, with a wrong one, and from elsewhere.
            (PROXY, &[("remote-user", "bob")][..]),
            (PROXY, &[("remote-user", "bob"), ("x-turnleaf-proxy-secret", "another-secret-of-a-proxy")]),
            ("127.0.0.1:4711", &named("bob")),
            ("203.0.113.7:4711", &named("bob")),
            ("203.0.113.7:4711", &[SECRET, ("remote-user", "bob"), ("x-forwarded-for", "10.0.0.1")]),
        ] {
            let (status, problem) = send(&server, peer, ("GET", CHATS), headers, json!({})).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{peer} {headers:?}");
            assert!(problem.contains("proxy_required"), "{problem}");
        }
        let bob = server.service().find_account("bob").await.unwrap().unwrap();
        assert!(identities::list(&server.api.instance.db, bob).await.unwrap().is_empty());
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn account_is_made_only_if_allowed_and_groups_are_kept() {
    for server in start(true).await {
        let groups = |groups| [SECRET, ("remote-user", "cy@corp.example"), ("remote-groups", groups)];
        assert_eq!(status(&server, &groups("staff,admins")).await, StatusCode::OK);
        let cy = server.service().find_account("cy@corp.example").await.unwrap().unwrap();
        let stored = async || identity_groups::names(&server.api.instance.db, 9).await.unwrap();
        assert_eq!(stored().await, ["admins", "staff"]);
        let accounts = server.service().list_accounts().await.unwrap();
        let listed = accounts.iter().find(|account| account.id == cy).unwrap();
        assert_eq!((listed.role, listed.has_password), (AccountRole::User, false), "a proxy makes no administrators");
        assert_eq!(status(&server, &groups("staff")).await, StatusCode::OK);
        assert_eq!(stored().await, ["staff"]);
        // A name that looks like another one is somebody else's.
        assert_eq!(status(&server, &named("\u{430}nn")).await, StatusCode::OK);
        assert_eq!(count_with_new_chat(&server, "ann").await, 1);
        let owner = server.api.instance.owner;
        assert_eq!(identities::list(&server.api.instance.db, owner).await.unwrap().len(), 1);
        // Many first requests at once.
        let names = named("dee");
        let all = futures::future::join_all((0..8).map(|_| status(&server, &names))).await;
        assert!(all.iter().all(|status| *status == StatusCode::OK), "{all:?}");
        assert_eq!(server.service().list_accounts().await.unwrap().len(), 5);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn mapped_groups_of_proxy_count_from_each_request() {
    for server in start(true).await {
        let (service, actor) = (server.service(), Actor::default());
        let group = service.create_group(actor, "Research", None).await.unwrap().value.id;
        let audience = GrantAudience { groups: [group].into(), ..GrantAudience::default() };
        service.set_access_rule(actor, GrantTarget::Provider("scripted".into()), audience).await.unwrap();
        service.map_group(actor, group, ("proxy", "staff")).await.unwrap();
        let headers = |groups| [SECRET, ("remote-user", "cy"), ("remote-groups", groups)];
        // The groups may change and change back at any time, also while a person is cached.
        for (groups, is_member) in [
            ("admins", false),
            ("staff,admins", true),
            ("admins", false),
            ("staff", true),
            ("", false),
            ("staff", true),
        ] {
            let (status, models) = send(&server, PROXY, ("GET", "/api/models"), &headers(groups), json!({})).await;
            assert_eq!(status, StatusCode::OK, "{groups}: {models}");
            assert_eq!(models.contains("model-a"), is_member, "{groups}: {models}");
        }
        let (_, models) = send(&server, PROXY, ("GET", "/api/models"), &named("cy"), json!({})).await;
        assert_eq!(models, "[]", "without the header there are no groups");
        assert_eq!(status(&server, &headers("staff")).await, StatusCode::OK);

        let cy = service.find_account("cy").await.unwrap().unwrap();
        let audit = service.audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        let of = |verb: AuditVerb| audit.iter().filter(|entry| entry.verb == verb.as_str()).collect::<Vec<_>>();
        let (added, removed) = (of(AuditVerb::AddMember), of(AuditVerb::RemoveMember));
        assert_eq!((added.len(), removed.len()), (4, 3), "{audit:?}");
        for entry in added.iter().chain(&removed) {
            assert_eq!((entry.actor, entry.target.as_str()), (Some(cy), "Research: cy (proxy)"));
            assert_eq!(entry.ip.as_deref(), Some("10.0.0.1"));
        }
        let html = ("accept", "text/html,application/xhtml+xml");
        let headers = [&named("ann")[..], &[html]].concat();
        let path = format!("/settings/groups/{group}");
        let (_, page) = send(&server, PROXY, ("GET", &path), &headers, json!({})).await;
        for part in ["<option value=\"proxy\">Reverse proxy", "From Reverse proxy", "staff</bdi>"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn name_stays_with_its_account() {
    for server in start(true).await {
        let service = server.service();
        assert_eq!(count_with_new_chat(&server, "bob").await, 1);
        let bob = service.find_account("bob").await.unwrap().unwrap();
        // Under another name it is the same account, and the person of that name does not share it.
        service.change_own_name(bob, Actor::default(), "Cy").await.unwrap();
        assert_eq!(count_with_new_chat(&server, "bob").await, 2);
        assert_eq!(status(&server, &named("cy")).await, StatusCode::FORBIDDEN);
        // A disabled account stays disabled, also where names get accounts.
        service.disable_account(Actor::default(), bob).await.unwrap();
        assert_eq!(status(&server, &named("bob")).await, StatusCode::FORBIDDEN);
        service.enable_account(Actor::default(), bob).await.unwrap();
        assert_eq!(count_with_new_chat(&server, "bob").await, 3);
        let dee = server.add("Dee", AccountRole::User).await;
        service.disable_account(Actor::default(), dee).await.unwrap();
        assert_eq!(status(&server, &named("dee")).await, StatusCode::FORBIDDEN);
        // A change that the command line makes beside the server is found at the next check.
        server.api.instance.sql("UPDATE users SET disabled_at = created_at WHERE name = 'Cy'").await;
        service.recheck_credentials().await.unwrap();
        assert_eq!(status(&server, &named("bob")).await, StatusCode::FORBIDDEN);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn person_behind_proxy_has_account_page_and_tokens() {
    for server in start(false).await {
        let html = ("accept", "text/html,application/xhtml+xml");
        let headers = [&named("bob")[..], &[html]].concat();
        let (status, page) = send(&server, PROXY, ("GET", "/settings/profile"), &headers, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{page}");
        assert!(page.contains("You are signed in as Bob (User).") && page.contains("id=\"new-token\""), "{page}");
        assert!(!page.contains("/forms/sign-out") && !page.contains("href=\"/settings/users\""), "{page}");
        let headers = [&named("ann")[..], &[html]].concat();
        let (status, page) = send(&server, PROXY, ("GET", "/settings/users"), &headers, json!({})).await;
        assert!(status == StatusCode::OK && page.contains("Bob"), "{page}");

        let bob = server.service().find_account("bob").await.unwrap().unwrap();
        let token = server.token(bob, &[TokenScope::ChatsRead]).await;
        let bearer = format!("Bearer {}", token.secret());
        let (status, _) = send(&server, PROXY, ("GET", CHATS), &[SECRET, ("authorization", &bearer)], json!({})).await;
        assert_eq!(status, StatusCode::OK);
        // The token of the proxy itself is not ours.
        let headers = [SECRET, ("remote-user", "bob"), ("authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")];
        assert_eq!(send(&server, PROXY, ("GET", CHATS), &headers, json!({})).await.0, StatusCode::OK);
        // A session of another way in opens nothing here.
        let TestCredential::Session(session) = server.sign_in("Bob").await else { panic!("no session") };
        let cookie = format!("turnleaf_local={session}");
        let (status, _) = send(&server, PROXY, ("GET", CHATS), &[SECRET, ("cookie", &cookie)], json!({})).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        server.api.instance.close().await;
    }
}
