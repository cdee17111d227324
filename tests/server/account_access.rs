//! The ways in, walked over the whole route table, on both databases: a session or a token that has ended opens nothing,
//! and a token opens only what its scopes name.

use http::StatusCode;
use serde_json::json;
use turnleaf::domain::{AccountRole, TokenScope};
use turnleaf::server::access::Scope;
use turnleaf::server::http::access_control::Access;
use turnleaf::server::http::router::access_table;
use turnleaf::server::http::site::assets::Site;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;

use crate::access_control::{address, assert_is_refusal, text};
use crate::accounts_api::{AccountsApi, HTML, JSON, OWNER, TestCredential};

const CHATS: (&str, &str) = ("GET", "/api/chats");

/// Returns a session and a token of a new administrator.
async fn credentials_of(server: &AccountsApi, name: &str) -> [TestCredential; 2] {
    let user = server.add(name, AccountRole::Admin).await;
    [server.sign_in(name).await, server.token(user, &TokenScope::ALL).await]
}

/// Returns credentials that are not valid: none, made-up ones, and those that have ended in each way.
async fn ended_credentials(server: &AccountsApi) -> Vec<(&'static str, TestCredential)> {
    let made_up = "00".repeat(32);
    let mut ended = vec![
        ("nothing", TestCredential::Nothing),
        ("made-up session", TestCredential::Session(made_up.clone())),
        ("made-up token", TestCredential::Token(format!("tl_{made_up}"))),
        ("no token", TestCredential::Token("sesame".into())),
    ];
    for name in ["Expired", "Revoked", "Disabled", "Changed"] {
        ended.extend(credentials_of(server, name).await.map(|credential| (name, credential)));
    }
    // A token has no idle time.
    let [idle, _] = credentials_of(server, "Idle").await;
    ended.push(("Idle", idle));
    let instance = &server.api.instance;
    for statement in [
        "UPDATE sessions SET seen_at = '2020-01-01T00:00:00+00:00' \
            WHERE owner_id = (SELECT id FROM users WHERE name = 'Idle')",
        "UPDATE sessions SET expires_at = created_at WHERE owner_id = (SELECT id FROM users WHERE name = 'Expired')",
        "UPDATE api_tokens SET expires_at = created_at WHERE owner_id = (SELECT id FROM users WHERE name = 'Expired')",
        "UPDATE users SET disabled_at = created_at WHERE name = 'Disabled'",
        "UPDATE users SET auth_rev = auth_rev + 1 WHERE name = 'Changed'",
    ] {
        instance.sql(statement).await;
    }
    // Those that are revoked were used before, so that they are in the cache.
    let service = server.service();
    let revoked = service.find_account("revoked").await.unwrap().unwrap();
    for (name, credential) in &ended {
        if *name == "Revoked" {
            assert_eq!(server.status(CHATS, credential).await, StatusCode::OK, "{credential:?}");
        }
    }
    for session in service.sessions(revoked).await.unwrap() {
        service.end_session(revoked, Actor::default(), session.id).await.unwrap();
    }
    for token in service.api_tokens(revoked).await.unwrap() {
        service.revoke_api_token(revoked, Actor::default(), token.id).await.unwrap();
    }
    ended
}

#[tokio::test]
async fn ended_credentials_open_no_route() {
    let table = access_table(&Site::open(None));
    for server in AccountsApi::on_every_database().await {
        let owner = server.sign_in(OWNER).await;
        for (ending, credential) in ended_credentials(&server).await {
            let mut refused = 0;
            for (method, pattern, access) in table.rows() {
                if access == Access::Public {
                    continue;
                }
                let label = format!("{ending} {credential:?}: {method} {pattern}");
                assert_is_refusal(server.send((method, &address(pattern)), &credential, &[JSON], "{}").await, &label)
                    .await;
                refused += 1;
            }
            assert!(refused > 250, "{refused}");
        }
        assert_eq!(server.status(CHATS, &owner).await, StatusCode::OK, "the others go on");
        let instance = &server.api.instance;
        assert!(instance.service.list_chats(instance.owner, 10).await.unwrap().is_empty(), "a chat was created");
        instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn token_opens_only_routes_of_its_scopes() {
    let table = access_table(&Site::open(None));
    for server in AccountsApi::on_every_database().await {
        let owner = server.api.instance.owner;
        let all = server.token(owner, &TokenScope::ALL).await;
        let mut lacking = Vec::new();
        for scope in TokenScope::ALL {
            let others: Vec<TokenScope> = TokenScope::ALL.into_iter().filter(|other| *other != scope).collect();
            lacking.push((Scope::from(scope), server.token(owner, &others).await));
        }
        for (method, pattern, access) in table.rows() {
            let credential = match access {
                Access::Public | Access::User { scope: None, .. } => continue,
                // The token of the owner is no administrator, opens no page, and makes no token.
                Access::Admin | Access::Pending(_) => &all,
                Access::User { scope: Some(scope), .. } => {
                    lacking.iter().find(|(lacked, _)| *lacked == scope).map_or(&all, |(_, token)| token)
                }
            };
            let response = server.send((method, &address(pattern)), credential, &[JSON], "{}").await;
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{method} {pattern}");
            let refusal = text(response).await;
            assert!(!refusal.contains("cross_site"), "{method} {pattern}: {refusal}");
        }
        let reading = server.token(owner, &[TokenScope::ChatsRead]).await;
        assert_eq!(server.status(CHATS, &reading).await, StatusCode::OK);
        assert_eq!(server.status(("POST", "/api/chats"), &reading).await, StatusCode::FORBIDDEN);
        assert_eq!(server.status(("GET", "/api/features"), &reading).await, StatusCode::OK, "of no scope");
        assert_eq!(server.status(("POST", "/api/chats"), &all).await, StatusCode::CREATED);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn pages_of_administrators_are_not_for_others() {
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        server.add("Cy", AccountRole::Admin).await;
        let people = [(OWNER, true), ("Bob", false), ("Cy", true)];
        for (name, is_admin) in people {
            let session = server.sign_in(name).await;
            for path in ["/settings/users", "/settings/audit", "/api/audit"] {
                let response = server.send(("GET", path), &session, &[HTML], "").await;
                let expected = if is_admin { StatusCode::OK } else { StatusCode::FORBIDDEN };
                assert_eq!(response.status(), expected, "{name} {path}");
            }
            let profile = text(server.send(("GET", "/settings/profile"), &session, &[HTML], "").await).await;
            assert_eq!(profile.contains("href=\"/settings/users\""), is_admin, "{name}: {profile}");
            assert!(profile.contains(&format!("You are signed in as {name}")), "{profile}");
            // Nobody reads what others wrote.
            let (status, made) = server.call(("POST", "/api/chats"), &session, json!({ "title": name })).await;
            assert_eq!(status, StatusCode::CREATED, "{made}");
            let (_, chats) = server.call(CHATS, &session, json!({})).await;
            let titles: Vec<&str> =
                chats.as_array().unwrap().iter().filter_map(|chat| chat["title"].as_str()).collect();
            assert_eq!(titles, [name], "{chats}");
        }
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn only_administrators_connect_what_is_in_network_of_server() {
    for server in AccountsApi::on_every_database().await {
        let bob_id = server.add("Bob", AccountRole::User).await;
        let (ann, bob) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        // Of a model server that was found beside this one, too.
        let service = &server.api.instance.service;
        let used = ("http://127.0.0.1:9", true);
        let refused = service.set_local_server_used(bob_id, Actor::default(), used).await.unwrap_err();
        assert!(matches!(refused, ServiceError::Invalid(error) if error.field == "local_network"));
        let provider = json!({ "name": "Box", "api": "openai_chat", "base_url": "http://127.0.0.1:9/v1" });
        let tool_server = json!({ "name": "Box", "url": "http://127.0.0.1:9/mcp" });
        let engine = json!({ "engine": "searxng", "url": "http://127.0.0.1:9" });
        for (route, mut body) in [
            (("POST", "/api/providers"), provider.clone()),
            (("POST", "/api/tool-servers"), tool_server),
            (("PUT", "/api/web-search"), engine),
        ] {
            body["local_network"] = json!(true);
            let (status, refusal) = server.call(route, &bob, body).await;
            let expected = (StatusCode::UNPROCESSABLE_ENTITY, json!("local_network_for_admins"));
            assert_eq!((status, refusal["reason_code"].clone()), expected, "{route:?}: {refusal}");
        }
        let mut body = provider;
        body["local_network"] = json!(true);
        let (status, made) = server.call(("POST", "/api/providers"), &ann, body).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn request_has_one_identity() {
    for server in AccountsApi::on_every_database().await {
        let session = server.sign_in(OWNER).await;
        let response = server.send(CHATS, &session, &[("authorization", "Bearer tl_00ff")], "").await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "a wrong token is not made up for by a cookie");
        // A proxy in front may ask for a password of its own.
        let response = server.send(CHATS, &session, &[("authorization", "Basic YTpi")], "").await;
        assert_eq!(response.status(), StatusCode::OK);
        // The cookie of a server with HTTPS is another one.
        let secure = format!("__Host-turnleaf={}", session.secret());
        let response = server.send(CHATS, &TestCredential::Nothing, &[("cookie", &secure)], "").await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        let as_token = TestCredential::Token(session.secret().to_owned());
        assert_eq!(server.status(CHATS, &as_token).await, StatusCode::UNAUTHORIZED);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn page_leads_stranger_to_sign_in_and_back() {
    for server in AccountsApi::on_every_database().await {
        let location = async |route: (&str, &str), headers: &[(&str, &str)]| {
            let response = server.send(route, &TestCredential::Nothing, headers, "").await;
            let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
            (response.status(), location.unwrap_or_default())
        };
        for (path, expected) in [
            ("/", "/sign-in"),
            ("/settings/tools?done=saved", "/sign-in?next=%2Fsettings%2Ftools%3Fdone%3Dsaved"),
            ("/nothing/here", "/sign-in?next=%2Fnothing%2Fhere"),
        ] {
            assert_eq!(location(("GET", path), &[HTML]).await, (StatusCode::SEE_OTHER, expected.into()), "{path}");
        }
        // Programs and forms get a refusal.
        for (method, path, header) in
            [("GET", "/chats", JSON), ("GET", "/api/chats", HTML), ("POST", "/forms/send", HTML)]
        {
            let refused = (StatusCode::UNAUTHORIZED, String::new());
            assert_eq!(location((method, path), &[header]).await, refused, "{method} {path}");
        }
        let page =
            text(server.send(("GET", "/sign-in?next=%2Fchats"), &TestCredential::Nothing, &[HTML], "").await).await;
        assert!(page.contains("name=\"next\" value=\"/chats\""), "{page}");
        let page = server.send(("GET", "/sign-in?next=%2F%2Fcanary.test"), &TestCredential::Nothing, &[HTML], "").await;
        assert!(!text(page).await.contains("canary"));
        server.api.instance.close().await;
    }
}
