//! The steps that a session has to take first, on both databases: nothing but the step itself answers until then, walked over
//! the whole route table. A password that was made is changed, and a second factor is set up where one is required.

use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::Value;
use turnleaf::domain::{AccountRole, PendingStep, SecondFactorPolicy, TokenScope};
use turnleaf::server::http::access_control::Access;
use turnleaf::server::http::router::access_table;
use turnleaf::server::http::site::assets::Site;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::credentials::PresentedCredential;
use turnleaf_service::accounts::management::AssignedPassword;
use turnleaf_service::accounts::sign_in::SignInStep;

use crate::access_control::{address, text};
use crate::account_forms::with_password;
use crate::account_passwords::{age, with_confirmation};
use crate::account_second_factor::{code, set_up, shown_secret};
use crate::accounts_api::{AccountsApi, HTML, JSON, OWNER, PASSWORD, TestCredential, client_at};

const STRANGER: TestCredential = TestCredential::Nothing;
const CHATS: (&str, &str) = ("GET", "/api/chats");
const MADE: &str = "a1b2c3d4e5f6a7b8c9d0";
const OWN: &str = "seven boats at dusk";
const CHANGE: &str = "/forms/finish-sign-in/password";

/// Adds an account whose password the command line has made.
async fn add_with_made_password(server: &AccountsApi, name: &str) {
    let made = AssignedPassword::made(MADE.to_owned());
    server.service().add_account(Actor::default(), name, AccountRole::User, &made).await.unwrap();
}

/// Signs in with a password, and returns the session.
async fn sign_in_with(server: &AccountsApi, name: &str, password: &str) -> TestCredential {
    let step = server.service().sign_in(name, &password.into(), &client_at([203, 0, 113, 7])).await.unwrap();
    let SignInStep::SignedIn(secret) = step else { panic!("{name} has a second factor") };
    TestCredential::Session(secret.expose().to_owned())
}

fn change(current: &str, new: &str) -> String {
    format!("next=%2Fchats&current_password={}&password={}", current.replace(' ', "+"), new.replace(' ', "+"))
}

/// Asserts that a response refuses a session in which a step is pending, and shows nothing else.
async fn assert_is_pending(response: Response<Body>, code: &str, label: &str) {
    assert_eq!(response.status(), StatusCode::FORBIDDEN, "{label}");
    let headers = response.headers();
    assert_eq!(headers["content-type"], "application/problem+json", "{label}");
    assert!(!headers.contains_key("location") && !headers.contains_key("set-cookie"), "{label}: {headers:?}");
    let problem: Value = serde_json::from_str(&text(response).await).unwrap();
    assert_eq!((&problem["code"], &problem["reason_code"]), (&code.into(), &code.into()), "{label}: {problem}");
}

async fn code_of_refusal(server: &AccountsApi, session: &TestCredential) -> Value {
    let (status, problem) = server.call(CHATS, session, Value::Null).await;
    if status == StatusCode::OK { Value::Null } else { problem["code"].clone() }
}

#[tokio::test]
async fn session_with_pending_step_opens_nothing_else() {
    let table = access_table(&Site::open(None));
    for server in AccountsApi::on_every_database().await {
        add_with_made_password(&server, "Bob").await;
        server.add("Cy", AccountRole::Admin).await;
        server.service().set_second_factor_policy(SecondFactorPolicy::Administrators);
        let (bob, cy) = (sign_in_with(&server, "Bob", MADE).await, server.sign_in("Cy").await);
        for (session, step, code) in [
            (&bob, PendingStep::ChangePassword, "password_change_required"),
            (&cy, PendingStep::SetUpSecondFactor, "second_factor_required"),
        ] {
            let mut refused = 0;
            for (method, pattern, access) in table.rows() {
                let is_open = match access {
                    Access::Public => true,
                    Access::Pending(of) => of.is_none_or(|of| of == step),
                    Access::User { .. } | Access::Admin => false,
                };
                if !is_open {
                    let response = server.send((method, &address(pattern)), session, &[JSON], "{}").await;
                    assert_is_pending(response, code, &format!("{step:?}: {method} {pattern}")).await;
                    refused += 1;
                }
            }
            assert!(refused > 250, "{refused}");
            // Addresses without a route are not for it, either.
            let response = server.send(("GET", "/nothing/here"), session, &[JSON], "").await;
            assert_is_pending(response, code, "no route").await;
            // To public pages it is a stranger's.
            let response = server.send(("GET", "/sign-in"), session, &[HTML], "").await;
            assert_eq!(response.status(), StatusCode::OK);
            // Every other page leads to the step.
            for (path, to) in [
                ("/", "/finish-sign-in"),
                ("/settings/tools?done=saved", "/finish-sign-in?next=%2Fsettings%2Ftools%3Fdone%3Dsaved"),
                ("/nothing/here", "/finish-sign-in?next=%2Fnothing%2Fhere"),
            ] {
                let response = server.send(("GET", path), session, &[HTML], "").await;
                assert_eq!(response.status(), StatusCode::SEE_OTHER, "{path}");
                assert_eq!(response.headers()["location"], to, "{path}");
            }
        }
        let instance = &server.api.instance;
        assert!(instance.service.list_chats(instance.owner, 10).await.unwrap().is_empty(), "a chat was created");
        instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn made_password_is_changed_at_first_sign_in() {
    for server in AccountsApi::on_every_database().await {
        add_with_made_password(&server, "Bob").await;
        let form = with_password("next=%2Fchats&", "Bob", MADE);
        let signed_in = server.submit("/forms/sign-in", &STRANGER, &form).await;
        assert_eq!((signed_in.status, signed_in.location.as_str()), (StatusCode::SEE_OTHER, "/chats"), "{signed_in:?}");
        let bob = signed_in.session();
        let response = server.send(("GET", "/finish-sign-in?next=%2Fchats"), &bob, &[HTML], "").await;
        assert_eq!(response.status(), StatusCode::OK);
        let page = text(response).await;
        for part in ["action=\"/forms/finish-sign-in/password\"", "value=\"/chats\"", "action=\"/forms/sign-out\""] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("href=\"/settings") && !page.contains("way-back"), "it leads nowhere else: {page}");
        for (current, new, reason) in [
            ("eleven lamps at nine", OWN, "not your current password"),
            (MADE, "short", "at least 12"),
            (MADE, MADE, "choose another one"),
        ] {
            let refused = server.submit(CHANGE, &bob, &change(current, new)).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{reason}: {refused:?}");
            assert!(
                refused.page.contains(reason) && refused.page.contains("value=\"/chats\""),
                "{reason}: {refused:?}"
            );
            assert!(!refused.page.contains(MADE) && refused.cookie.is_empty(), "{reason}: {refused:?}");
        }
        assert_eq!(code_of_refusal(&server, &bob).await, "password_change_required");
        let changed = server.submit(CHANGE, &bob, &change(MADE, OWN)).await;
        assert_eq!((changed.status, changed.location.as_str()), (StatusCode::SEE_OTHER, "/chats"), "{changed:?}");
        assert_eq!(server.status(CHATS, &changed.session()).await, StatusCode::OK);
        assert_eq!(server.status(CHATS, &bob).await, StatusCode::UNAUTHORIZED, "the former session has ended");
        // Nothing is pending any more, and a form that is sent again goes on.
        assert_eq!(server.status(CHATS, &sign_in_with(&server, "Bob", OWN).await).await, StatusCode::OK);
        let session = changed.session();
        let again = server.submit(CHANGE, &session, &change(MADE, OWN)).await;
        assert_eq!((again.status, again.location.as_str()), (StatusCode::SEE_OTHER, "/chats"), "{again:?}");
        let away = server.send(("GET", "/finish-sign-in?next=%2F%2Fcanary.test"), &session, &[HTML], "").await;
        assert_eq!(away.headers()["location"], "/");

        // A reset on the command line makes another one.
        let bob = server.service().find_account("bob").await.unwrap().unwrap();
        let made = AssignedPassword::made(MADE.to_owned());
        server.service().reset_password(Actor::default(), bob, (&made, false)).await.unwrap();
        let session = sign_in_with(&server, "Bob", MADE).await;
        assert_eq!(code_of_refusal(&server, &session).await, "password_change_required");
        server.service().reset_password(Actor::default(), bob, (&PASSWORD.into(), false)).await.unwrap();
        assert_eq!(code_of_refusal(&server, &server.sign_in("Bob").await).await, Value::Null, "that one was chosen");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn made_password_ends_after_its_time() {
    for server in AccountsApi::on_every_database().await {
        add_with_made_password(&server, "Bob").await;
        let bob = sign_in_with(&server, "Bob", MADE).await;
        server.api.instance.sql("UPDATE users SET password_expires_at = created_at WHERE name = 'Bob'").await;
        let form = with_password("", "Bob", MADE);
        let refused = server.submit("/forms/sign-in", &STRANGER, &form).await;
        assert_eq!((refused.status, refused.cookie.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, ""), "{refused:?}");
        assert!(refused.page.contains("has expired"), "{refused:?}");
        let wrong = server.submit("/forms/sign-in", &STRANGER, &with_password("", "Bob", OWN)).await;
        assert!(wrong.page.contains("The name or the password is wrong."), "only whoever has it is told: {wrong:?}");
        let late = server.submit(CHANGE, &bob, &change(MADE, OWN)).await;
        assert_eq!(late.status, StatusCode::UNPROCESSABLE_ENTITY, "{late:?}");
        assert!(late.page.contains("has expired") && late.cookie.is_empty(), "{late:?}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn required_second_factor_is_set_up_before_anything_else() {
    for server in AccountsApi::on_every_database().await {
        let service = server.service();
        let bob = server.add("Bob", AccountRole::User).await;
        let (ann, of_bob) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        let token = server.token(bob, &TokenScope::ALL).await;
        assert_eq!(code_of_refusal(&server, &ann).await, Value::Null, "it is optional");
        // A session that has begun before is asked, too.
        service.set_second_factor_policy(SecondFactorPolicy::Administrators);
        assert_eq!(code_of_refusal(&server, &ann).await, "second_factor_required");
        assert_eq!(code_of_refusal(&server, &of_bob).await, Value::Null, "of administrators only");
        service.set_second_factor_policy(SecondFactorPolicy::Everyone);
        assert_eq!(code_of_refusal(&server, &of_bob).await, "second_factor_required");
        assert_eq!(code_of_refusal(&server, &token).await, Value::Null, "programs take no steps");

        let page = text(server.send(("GET", "/finish-sign-in?next=%2Fchats"), &ann, &[HTML], "").await).await;
        assert!(page.contains("/second-factor/begin") && !page.contains("href=\"/settings"), "{page}");
        let begun = server.submit("/forms/profile/second-factor/begin", &ann, "next=%2Fchats").await;
        assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
        assert!(begun.page.contains("name=\"next\" value=\"/chats\""), "{begun:?}");
        let confirm = "/forms/profile/second-factor/confirm";
        let wrong = server.submit(confirm, &ann, "next=%2Fchats&code=12345").await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        assert_eq!(code_of_refusal(&server, &ann).await, "second_factor_required");
        let form = format!("next=%2Fchats&code={}", code(&server, &shown_secret(&begun.page), 0));
        let done = server.submit(confirm, &ann, &form).await;
        assert!(done.status == StatusCode::OK && done.page.contains("href=\"/chats\""), "{done:?}");
        assert_eq!(code_of_refusal(&server, &ann).await, Value::Null);
        let users = text(server.send(("GET", "/settings/users"), &ann, &[HTML], "").await).await;
        assert_eq!(users.matches("<span class=\"mark\">Second factor</span>").count(), 1, "{users}");

        // The last one stays while it is required.
        let remove = "/forms/profile/second-factor/remove";
        let refused = server.submit(remove, &ann, "").await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{refused:?}");
        assert!(refused.page.contains("the last one stays"), "{refused:?}");
        assert!(service.second_factor(server.api.instance.owner).await.unwrap().is_some());
        service.set_second_factor_policy(SecondFactorPolicy::Optional);
        assert_eq!(code_of_refusal(&server, &of_bob).await, Value::Null);
        let removed = server.submit(remove, &ann, "").await;
        assert_eq!(removed.location, "/settings/profile?done=second_factor_removed", "{removed:?}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn step_stays_pending_in_session_that_goes_on_with_another_cookie() {
    let begin = "/forms/profile/second-factor/begin";
    for server in AccountsApi::on_every_database().await {
        let former = server.sign_in(OWNER).await;
        server.service().set_second_factor_policy(SecondFactorPolicy::Everyone);
        age(&server).await;
        let asked = server.submit(begin, &former, "next=%2Fchats").await;
        assert_eq!((asked.status, asked.cookie.as_str()), (StatusCode::FORBIDDEN, ""), "{asked:?}");
        for part in ["Enter your password", "name=\"next\" value=\"/chats\"", "href=\"/finish-sign-in\""] {
            assert!(asked.page.contains(part), "{part}: {asked:?}");
        }
        assert!(!asked.page.contains("href=\"/settings"), "it leads nowhere else: {asked:?}");
        let begun = server.submit(begin, &former, &with_confirmation("next=%2Fchats", PASSWORD)).await;
        assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
        let renewed = begun.session();
        assert_eq!(server.status(CHATS, &former).await, StatusCode::UNAUTHORIZED);
        assert_eq!(code_of_refusal(&server, &renewed).await, "second_factor_required");
        let form = format!("next=%2Fchats&code={}", code(&server, &shown_secret(&begun.page), 0));
        let done = server.submit("/forms/profile/second-factor/confirm", &renewed, &form).await;
        assert!(done.status == StatusCode::OK && done.page.contains("href=\"/chats\""), "{done:?}");
        assert_eq!(code_of_refusal(&server, &renewed).await, Value::Null);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn open_connections_end_when_step_becomes_pending() {
    for server in AccountsApi::on_every_database().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let ann = server.sign_in(OWNER).await;
        set_up(&server, &ann).await;
        service.set_second_factor_policy(SecondFactorPolicy::Everyone);
        let presented = PresentedCredential::session(ann.secret()).unwrap();
        let before = service.authenticate(&presented).await.unwrap().unwrap();
        service.recheck_credentials().await.unwrap();
        assert!(before.pending.is_none() && !before.revocation.is_revoked());
        // As the command line does it, beside the server.
        server.api.instance.sql("DELETE FROM second_factors").await;
        service.recheck_credentials().await.unwrap();
        assert!(before.revocation.is_revoked());
        let after = service.authenticate(&presented).await.unwrap().unwrap();
        assert_eq!(after.pending, Some(PendingStep::SetUpSecondFactor));
        assert!(!after.revocation.is_revoked(), "the pages of the step answer");
        set_up(&server, &ann).await;
        assert!(service.authenticate(&presented).await.unwrap().unwrap().pending.is_none());
        service.reset_second_factor(Actor::default(), owner).await.unwrap();
        assert!(service.authenticate(&presented).await.unwrap().unwrap().pending.is_some());
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn every_page_has_way_to_sign_out_where_people_sign_in() {
    let sign_out = "action=\"/forms/sign-out\"";
    for server in AccountsApi::on_every_database().await {
        server.add("Bob", AccountRole::User).await;
        let bob = server.sign_in("Bob").await;
        for (path, status) in [
            ("/", StatusCode::OK),
            ("/settings", StatusCode::OK),
            ("/settings/profile", StatusCode::OK),
            ("/chats", StatusCode::OK),
            ("/trash", StatusCode::OK),
            ("/usage", StatusCode::OK),
            ("/nothing/here", StatusCode::NOT_FOUND),
            ("/settings/users", StatusCode::FORBIDDEN),
        ] {
            let response = server.send(("GET", path), &bob, &[HTML], "").await;
            assert_eq!(response.status(), status, "{path}");
            let page = text(response).await;
            assert!(page.contains(sign_out) && page.contains("Sign out"), "{path}: {page}");
        }
        let chinese = ("accept-language", "zh-CN");
        for path in ["/", "/trash"] {
            let page = text(server.send(("GET", path), &bob, &[HTML, chinese], "").await).await;
            assert!(page.contains("退出登录"), "{path}: {page}");
        }
        let page = text(server.send(("GET", "/sign-in"), &STRANGER, &[HTML], "").await).await;
        assert!(!page.contains(sign_out), "{page}");
        server.api.instance.close().await;
    }
}
