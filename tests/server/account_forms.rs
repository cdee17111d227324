//! The pages and forms of accounts without script, on both databases: the setup, an invitation, signing in and out, the
//! own account, and what administrators do.

use http::StatusCode;
use serde_json::json;
use turnleaf::domain::{AccountRole, TokenScope};
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::chats::NewChat;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, SubmittedForm, TestCredential};
use crate::http_api::TestApi;
use crate::test_server::TestServer;

const STRANGER: TestCredential = TestCredential::Nothing;
const CHATS: (&str, &str) = ("GET", "/api/chats");

/// Returns a form with a name and a password.
pub fn with_password(fields: &str, name: &str, password: &str) -> String {
    format!("{fields}name={name}&password={}", password.replace(' ', "+"))
}

async fn page(server: &AccountsApi, path: &str, credential: &TestCredential) -> (StatusCode, String) {
    let response = server.send(("GET", path), credential, &[HTML], "").await;
    (response.status(), text(response).await)
}

/// Returns what stands between two texts in a page.
pub fn part<'a>(page: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = page.split_once(before).unwrap_or_else(|| panic!("{before}: {page}"));
    rest.split_once(after).unwrap().0
}

fn assert_signed_in(done: &SubmittedForm, to: &str) {
    assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, to), "{done:?}");
    assert!(done.cookie.contains("; HttpOnly; SameSite=Lax"), "{done:?}");
}

#[tokio::test]
async fn server_is_set_up_and_second_person_invited() {
    for instance in TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await {
        let (chat, _) = instance.service.create_chat(instance.owner, NewChat::default()).await.unwrap().value;
        let chat = chat.id;
        let code = instance.service.open_setup(instance.dir.path()).await.unwrap().unwrap();
        let server = AccountsApi { api: TestApi::with_accounts(instance) };
        // Before the setup every page leads to it, and nobody signs in.
        for path in ["/", "/sign-in"] {
            let response = server.send(("GET", path), &STRANGER, &[HTML], "").await;
            assert_eq!(response.headers()["location"], "/setup", "{path}");
        }
        let (status, setup) = page(&server, "/setup", &STRANGER).await;
        assert!(status == StatusCode::OK && setup.contains("autocomplete=\"new-password\""), "{setup}");
        let wrong = with_password("code=0000&", OWNER, PASSWORD);
        let refused = server.submit("/forms/setup", &STRANGER, &wrong).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.page.contains("not the code") && !refused.page.contains(PASSWORD), "{refused:?}");
        let short = with_password(&format!("code={code}&"), OWNER, "eleven");
        let refused = server.submit("/forms/setup", &STRANGER, &short).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        let form = with_password(&format!("code={code}&"), OWNER, PASSWORD);
        let done = server.submit("/forms/setup", &STRANGER, &form).await;
        assert_signed_in(&done, "/");
        let ann = done.session();
        let (status, before) = page(&server, &format!("/c/{chat}/settings"), &ann).await;
        assert_eq!(status, StatusCode::OK, "the chats of the local owner are those of the owner: {before}");
        let again = server.submit("/forms/setup", &STRANGER, &form).await;
        assert_eq!((again.status, again.location.as_str()), (StatusCode::SEE_OTHER, "/sign-in"));

        let invited = server.submit("/forms/users/invite", &ann, "role=user").await;
        let code = part(&invited.page, "value=\"http://127.0.0.1:3000/invite/", "\"").to_owned();
        let (status, invitation) = page(&server, &format!("/invite/{code}"), &STRANGER).await;
        assert!(status == StatusCode::OK && invitation.contains("Your role will be: User."), "{invitation}");
        let taken = with_password(&format!("code={code}&"), "ANN", PASSWORD);
        let refused = server.submit("/forms/invite", &STRANGER, &taken).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        assert!(refused.page.contains("already in use"), "{refused:?}");
        let form = with_password(&format!("code={code}&"), "Bob", PASSWORD);
        let done = server.submit("/forms/invite", &STRANGER, &form).await;
        assert_signed_in(&done, "/");
        let bob = done.session();
        let again = server.submit("/forms/invite", &STRANGER, &form).await;
        assert_eq!(again.status, StatusCode::NOT_FOUND, "{again:?}");
        assert_eq!(page(&server, &format!("/invite/{code}"), &STRANGER).await.0, StatusCode::NOT_FOUND);
        assert_eq!(page(&server, &format!("/c/{chat}/settings"), &bob).await.0, StatusCode::NOT_FOUND);
        assert_eq!(page(&server, "/settings/users", &bob).await.0, StatusCode::FORBIDDEN);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn sign_in_says_only_that_it_is_wrong_and_is_limited() {
    for server in AccountsApi::on_every_database().await {
        server.add("Gone", AccountRole::User).await;
        server.api.instance.sql("UPDATE users SET disabled_at = created_at WHERE name = 'Gone'").await;
        let next = "next=%2Fchats&";
        for (name, password) in [(OWNER, "eleven lamps at nine"), ("Nobody", PASSWORD), ("Gone", PASSWORD)] {
            let refused = server.submit("/forms/sign-in", &STRANGER, &with_password(next, name, password)).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{name}");
            assert_eq!(refused.cookie, "", "{name}");
            assert!(refused.page.contains("The name or the password is wrong."), "{name}: {refused:?}");
            assert!(refused.page.contains(&format!("value=\"{name}\"")), "{name}: {refused:?}");
            assert!(refused.page.contains("name=\"next\" value=\"/chats\"") && !refused.page.contains(password));
        }
        for (next, to) in [("next=%2Fchats%3Fa%3Db&", "/chats?a=b"), ("next=%2F%2Fcanary.test&", "/"), ("", "/")] {
            let done = server.submit("/forms/sign-in", &STRANGER, &with_password(next, "ann", PASSWORD)).await;
            assert_signed_in(&done, to);
            assert_eq!(server.status(CHATS, &done.session()).await, StatusCode::OK);
        }
        // A person who is signed in continues at once.
        let ann = server.sign_in(OWNER).await;
        let response = server.send(("GET", "/sign-in?next=%2Fchats"), &ann, &[HTML], "").await;
        assert_eq!(response.headers()["location"], "/chats");
        let form = with_password("", OWNER, "eleven lamps at nine");
        for _ in 0..5 {
            assert_eq!(
                server.submit("/forms/sign-in", &STRANGER, &form).await.status,
                StatusCode::UNPROCESSABLE_ENTITY
            );
        }
        let waiting = server.submit("/forms/sign-in", &STRANGER, &with_password("", OWNER, PASSWORD)).await;
        assert_eq!(waiting.status, StatusCode::TOO_MANY_REQUESTS);
        let seconds: u64 = waiting.retry_after.as_ref().unwrap().parse().unwrap();
        assert!((1..=60).contains(&seconds) && waiting.page.contains("Too many attempts"), "{waiting:?}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn sign_out_ends_session_and_clears_browser() {
    for server in AccountsApi::on_every_database().await {
        let (here, there) = (server.sign_in(OWNER).await, server.sign_in(OWNER).await);
        let done = server.submit("/forms/sign-out", &here, "").await;
        assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/sign-in"));
        assert!(done.cookie.starts_with("turnleaf_local=; Path=/; Max-Age=0;"), "{done:?}");
        assert_eq!(done.clears.as_deref(), Some("\"cache\", \"storage\""));
        assert_eq!(server.status(CHATS, &here).await, StatusCode::UNAUTHORIZED);
        assert_eq!(server.status(CHATS, &there).await, StatusCode::OK);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn signing_in_again_ends_former_session_of_browser() {
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        let (here, there) = (server.sign_in(OWNER).await, server.sign_in(OWNER).await);
        assert_eq!(server.status(CHATS, &here).await, StatusCode::OK, "it is in the cache");
        let refused = server.submit("/forms/sign-in", &here, &with_password("", "Bob", "eleven lamps at nine")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(server.status(CHATS, &here).await, StatusCode::OK, "a refused one ends nothing");
        let done = server.submit("/forms/sign-in", &here, &with_password("", "Bob", PASSWORD)).await;
        assert_signed_in(&done, "/");
        for (session, status) in
            [(&here, StatusCode::UNAUTHORIZED), (&there, StatusCode::OK), (&done.session(), StatusCode::OK)]
        {
            assert_eq!(server.status(CHATS, session).await, status);
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn person_changes_own_account() {
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        let (ann, other) = (server.sign_in(OWNER).await, server.sign_in(OWNER).await);
        let taken = server.submit("/forms/profile/name", &ann, "name=bob").await;
        assert!(taken.status == StatusCode::UNPROCESSABLE_ENTITY && taken.page.contains("already in use"), "{taken:?}");
        let renamed = server.submit("/forms/profile/name", &ann, "name=Ann.Lee").await;
        assert_eq!(renamed.location, "/settings/profile?done=saved");

        let token = server.submit("/forms/profile/tokens/create", &ann, "name=Backup&days=900&scope=export").await;
        assert!(
            token.status == StatusCode::UNPROCESSABLE_ENTITY && token.page.contains("value=\"Backup\""),
            "{token:?}"
        );
        let form = "name=Backup&days=9&scope=export&scope=chats%3Aread&client_request_id=k1";
        let made = server.submit("/forms/profile/tokens/create", &ann, form).await;
        let token = TestCredential::Token(format!("tl_{}", part(&made.page, "value=\"tl_", "\"")));
        assert_eq!(server.status(CHATS, &token).await, StatusCode::OK);
        let again = server.submit("/forms/profile/tokens/create", &ann, form).await;
        assert!(again.page.contains("already created") && !again.page.contains("value=\"tl_"), "{again:?}");
        let (_, listed) = server.call(("GET", "/api/tokens"), &ann, json!({})).await;
        assert_eq!((listed[0]["name"].as_str(), listed.as_array().unwrap().len()), (Some("Backup"), 1), "{listed}");
        assert_eq!(listed[0]["scopes"], json!(["chats:read", "export"]));

        let (_, sessions) = server.call(("GET", "/api/sessions"), &ann, json!({})).await;
        let sessions = sessions.as_array().unwrap();
        let others: Vec<_> = sessions.iter().filter(|session| session["current"] == false).collect();
        assert_eq!((sessions.len(), others.len()), (2, 1), "{sessions:?}");
        let form = format!("session_id={}", others[0]["id"].as_str().unwrap());
        let ended = server.submit("/forms/profile/sessions/end", &ann, &form).await;
        assert_eq!(ended.status, StatusCode::SEE_OTHER);
        assert_eq!(server.status(CHATS, &other).await, StatusCode::UNAUTHORIZED);

        let change = |current: &str, new: &str| {
            format!("current_password={}&password={}", current.replace(' ', "+"), new.replace(' ', "+"))
        };
        let new = "seven boats at dusk";
        let wrong = server.submit("/forms/profile/password", &ann, &change("wrong guess it is", new)).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        assert!(wrong.page.contains("not your current password"), "{wrong:?}");
        let changed = server.submit("/forms/profile/password", &ann, &change(PASSWORD, new)).await;
        assert_signed_in(&changed, "/settings/profile?done=password_changed");
        assert_eq!(server.status(CHATS, &changed.session()).await, StatusCode::OK);
        for ended in [&ann, &token] {
            assert_eq!(server.status(CHATS, ended).await, StatusCode::UNAUTHORIZED);
        }
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn administrator_manages_accounts_but_not_owner_or_self() {
    for server in AccountsApi::on_every_database().await {
        let owner = server.api.instance.owner;
        let (cy, bob) = (server.add("Cy", AccountRole::Admin).await, server.add("Bob", AccountRole::User).await);
        let (admin, session) = (server.sign_in("Cy").await, server.sign_in("Bob").await);
        let token = server.token(bob, &TokenScope::ALL).await;
        for path in ["disable", "role"] {
            for account in [owner, cy] {
                let form = format!("user_id={account}&role=user");
                let refused = server.submit(&format!("/forms/users/{path}"), &admin, &form).await;
                assert_eq!(refused.status, StatusCode::CONFLICT, "{path}: {refused:?}");
            }
        }
        let form = format!("user_id={bob}");
        let done = server.submit("/forms/users/disable", &admin, &form).await;
        assert_eq!(done.location, "/settings/users?done=disabled", "{done:?}");
        for ended in [&session, &token] {
            assert_eq!(server.status(CHATS, ended).await, StatusCode::UNAUTHORIZED);
        }
        let done = server.submit("/forms/users/enable", &admin, &form).await;
        assert_eq!(done.location, "/settings/users?done=enabled", "{done:?}");
        assert_eq!(server.status(CHATS, &token).await, StatusCode::UNAUTHORIZED, "what has ended does not come back");
        let done = server.submit("/forms/users/role", &admin, &format!("user_id={bob}&role=owner")).await;
        assert_eq!(done.status, StatusCode::BAD_REQUEST, "nobody becomes the owner: {done:?}");
        let invited = server.submit("/forms/users/invite", &admin, "role=admin").await;
        let id = part(&invited.page, "name=\"invite_id\" value=\"", "\"").to_owned();
        let done = server.submit("/forms/users/revoke-invite", &admin, &format!("invite_id={id}")).await;
        assert_eq!(done.location, "/settings/users?done=invite_revoked", "{done:?}");
        let code = part(&invited.page, "/invite/", "\"").to_owned();
        assert_eq!(page(&server, &format!("/invite/{code}"), &STRANGER).await.0, StatusCode::NOT_FOUND);

        let (_, log) = page(&server, "/settings/audit", &admin).await;
        for action in ["Disable account", "Enable account", "Create invitation", "Revoke invitation", "Sign in"] {
            assert!(log.contains(action), "{action}: {log}");
        }
        assert!(!log.contains(&code) && !log.contains(token.secret()), "{log}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn server_without_accounts_has_no_sign_in() {
    let api = TestApi::new([]).await;
    let server = AccountsApi { api };
    for path in ["/sign-in", "/invite/00ff"] {
        let response = server.send(("GET", path), &STRANGER, &[HTML], "").await;
        assert_eq!(response.headers()["location"], "/", "{path}");
    }
    for path in ["/forms/sign-in", "/forms/invite", "/forms/sign-out"] {
        let done = server.submit(path, &STRANGER, &with_password("code=00&", "a", PASSWORD)).await;
        assert_eq!((done.status, done.cookie.as_str()), (StatusCode::SEE_OTHER, ""), "{path}");
    }
    // Codes, passkeys and linked identities are of people who sign in. Nothing else about these forms is looked at.
    for form in [
        "second-factor/begin",
        "second-factor/confirm",
        "second-factor/codes",
        "second-factor/remove",
        "passkeys/begin",
        "passkeys/add",
        "identities/link",
    ] {
        let done = server.submit(&format!("/forms/profile/{form}"), &STRANGER, "").await;
        assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/settings/profile"), "{form}");
    }
    let (_, profile) = page(&server, "/settings/profile", &STRANGER).await;
    assert!(
        profile.contains("This server has no accounts") && !profile.contains("href=\"/settings/users\""),
        "{profile}"
    );
}
