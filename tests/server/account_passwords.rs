//! Re-authentication, on both databases: dangerous actions ask for the password if it was not entered lately in the
//! session, and are completed then.

use chrono::TimeDelta;
use http::StatusCode;
use serde_json::json;
use turnleaf::domain::{AccountRole, SessionId};
use turnleaf_platform::ids;
use turnleaf_service::accounts::Actor;
use turnleaf_store::accounts::sessions;

use crate::account_forms::part;
use crate::accounts_api::{AccountsApi, OWNER, PASSWORD, SubmittedForm, TestCredential};

const WRONG: &str = "eleven lamps at nine";
const CHATS: (&str, &str) = ("GET", "/api/chats");

/// Lets all sessions forget that the password was entered.
pub async fn age(server: &AccountsApi) {
    server.api.instance.sql("UPDATE sessions SET password_at = '2026-01-01T00:00:00+00:00'").await;
}

/// Returns a form with the password that the page asks for.
pub fn with_confirmation(form: &str, password: &str) -> String {
    format!("{form}&confirm_password={}", password.replace(' ', "+"))
}

/// Sends a form whose password is asked for, first without it, then with a wrong one, and returns the page that it leads
/// to, or the answer. The session goes on with the cookie of that.
async fn confirmed(
    server: &AccountsApi,
    session: &mut TestCredential,
    (path, form): (&str, &str),
    kept: &[&str],
) -> (String, String) {
    age(server).await;
    let asked = server.submit(path, session, form).await;
    assert_eq!(asked.status, StatusCode::FORBIDDEN, "{path}: {asked:?}");
    let wrong = server.submit(path, session, &with_confirmation(form, WRONG)).await;
    assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{path}: {wrong:?}");
    assert!(wrong.page.contains("not your current password") && !wrong.page.contains(WRONG), "{path}: {wrong:?}");
    assert_eq!((asked.cookie.as_str(), wrong.cookie.as_str()), ("", ""), "{path}");
    for page in [&asked.page, &wrong.page] {
        assert!(page.contains("Enter your password") && page.contains(&format!("action=\"{path}\"")), "{page}");
        for field in kept {
            assert!(page.contains(field), "{path} {field}: {page}");
        }
    }
    let done = server.submit(path, session, &with_confirmation(form, PASSWORD)).await;
    assert_eq!(server.status(CHATS, session).await, StatusCode::UNAUTHORIZED, "{path}: the former cookie");
    *session = done.session();
    (done.location, done.page)
}

#[tokio::test]
async fn dangerous_forms_ask_for_password_and_lose_nothing() {
    for server in AccountsApi::on_every_database().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let mut ann = server.sign_in(OWNER).await;
        let user_id = format!("name=\"user_id\" value=\"{bob}\"");
        let (to, _) =
            confirmed(&server, &mut ann, ("/forms/profile/name", "name=Ann.Lee"), &["name=\"name\" value=\"Ann.Lee\""])
                .await;
        assert_eq!(to, "/settings/profile?done=saved");
        // It counts for a while, for other forms, too.
        let again = server.submit("/forms/profile/name", &ann, "name=Ann").await;
        assert_eq!(again.location, "/settings/profile?done=saved", "{again:?}");

        let form = "name=Backup&days=9&scope=export&scope=chats%3Aread";
        let fields = ["value=\"Backup\"", "name=\"scope\" value=\"export\"", "name=\"scope\" value=\"chats:read\""];
        let (_, page) = confirmed(&server, &mut ann, ("/forms/profile/tokens/create", form), &fields).await;
        assert!(page.contains("value=\"tl_"), "{page}");
        let form = format!("user_id={bob}&role=admin");
        let fields = [user_id.as_str(), "name=\"role\" value=\"admin\""];
        let (to, _) = confirmed(&server, &mut ann, ("/forms/users/role", &form), &fields).await;
        assert_eq!(to, "/settings/users?done=role_changed");
        let form = format!("user_id={bob}");
        let (to, _) = confirmed(&server, &mut ann, ("/forms/users/disable", &form), &[user_id.as_str()]).await;
        assert_eq!(to, "/settings/users?done=disabled");
        let fields = ["name=\"role\" value=\"user\""];
        let (_, page) = confirmed(&server, &mut ann, ("/forms/users/invite", "role=user"), &fields).await;
        assert_eq!(part(&page, "/invite/", "\"").len(), 64, "{page}");
        let fields = ["name=\"word\" value=\"delete\""];
        let (to, _) = confirmed(&server, &mut ann, ("/forms/delete-everything", "word=delete"), &fields).await;
        assert_eq!(to, "/settings/data?done=deleted");
        let (_, page) = confirmed(&server, &mut ann, ("/forms/profile/second-factor/begin", ""), &[]).await;
        assert!(page.contains("otpauth://totp/Turnleaf:Ann?secret="), "{page}");
        for path in ["/forms/profile/sessions/end", "/forms/profile/sessions/end-others"] {
            let other = server.sign_in(OWNER).await;
            let sessions = server.service().sessions(server.api.instance.owner).await.unwrap();
            let form = format!("session_id={}", sessions.iter().max_by_key(|session| session.created_at).unwrap().id);
            let (to, _) = confirmed(&server, &mut ann, (path, &form), &["name=\"session_id\""]).await;
            assert!(to.starts_with("/settings/profile?done=session"), "{path}: {to}");
            assert_eq!(server.status(CHATS, &other).await, StatusCode::UNAUTHORIZED, "{path}");
            assert_eq!(server.status(CHATS, &ann).await, StatusCode::OK, "{path}");
        }
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn changes_of_rights_ask_for_password_and_lose_nothing() {
    for server in AccountsApi::on_every_database().await {
        let (service, actor) = (server.service(), Actor::default());
        let bob = server.add("Bob", AccountRole::User).await;
        let group = service.create_group(actor, "Research", None).await.unwrap().value.id;
        let mut ann = server.sign_in(OWNER).await;
        let group_id = format!("name=\"group_id\" value=\"{group}\"");
        let form = format!("group_id={group}&name=Bob");
        let fields = [group_id.as_str(), "name=\"name\" value=\"Bob\""];
        let (to, _) = confirmed(&server, &mut ann, ("/forms/groups/add-member", &form), &fields).await;
        assert_eq!(to, format!("/settings/groups/{group}?done=member_added"));
        let form = format!("kind=provider&target=scripted&group={group}&accounts=Bob");
        let fields = [format!("name=\"group\" value=\"{group}\""), "name=\"accounts\" value=\"Bob\"".to_owned()];
        let fields = fields.each_ref().map(String::as_str);
        let (to, _) = confirmed(&server, &mut ann, ("/forms/access/save", &form), &fields).await;
        assert_eq!(to, "/settings/access?done=saved");
        let rule = service.access_rules().await.unwrap().remove(0);
        assert_eq!((rule.audience.groups.len(), rule.audience.accounts.len()), (1, 1), "{rule:?}");
        let form = format!("rule_id={}", rule.id);
        let (to, _) = confirmed(&server, &mut ann, ("/forms/access/reset", &form), &[]).await;
        assert_eq!(to, "/settings/access?done=reset");
        let form = format!("group_id={group}&user_id={bob}");
        let (to, _) = confirmed(&server, &mut ann, ("/forms/groups/remove-member", &form), &[group_id.as_str()]).await;
        assert_eq!(to, format!("/settings/groups/{group}?done=member_removed"));
        let form = format!("group_id={group}");
        let (to, _) = confirmed(&server, &mut ann, ("/forms/groups/delete", &form), &[group_id.as_str()]).await;
        assert_eq!(to, "/settings/groups?done=deleted");
        let fields = ["name=\"day_tokens\" value=\"5\""];
        let (to, _) = confirmed(&server, &mut ann, ("/forms/budgets", "day_tokens=5"), &fields).await;
        assert_eq!(to, "/settings/budgets?done=saved");
        service.disable_account(actor, bob).await.unwrap();
        let form = format!("user_id={bob}");
        let (to, _) = confirmed(&server, &mut ann, ("/forms/users/enable", &form), &[]).await;
        assert_eq!(to, "/settings/users?done=enabled");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn api_by_session_needs_recent_password() {
    for server in AccountsApi::on_every_database().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let group = server.service().create_group(Actor::default(), "Research", None).await.unwrap().value.id;
        let ann = server.sign_in(OWNER).await;
        let new = json!({ "name": "Backup", "scopes": ["export"], "days": 9 });
        age(&server).await;
        let (of_group, of_member) = (format!("/api/groups/{group}"), format!("/api/groups/{group}/members/{bob}"));
        let rule = json!({ "kind": "provider", "target": "scripted", "everybody": true });
        for (route, body) in [
            (("POST", "/api/tokens"), new),
            (("PUT", "/api/grants"), rule),
            (("PUT", of_member.as_str()), json!({})),
            (("DELETE", of_member.as_str()), json!({})),
            (("DELETE", of_group.as_str()), json!({})),
        ] {
            let (status, refused) = server.call(route, &ann, body).await;
            assert_eq!(status, StatusCode::FORBIDDEN, "{route:?}: {refused}");
            for member in ["code", "reason_code"] {
                assert_eq!(refused[member], "password_needed", "{route:?}: {refused}");
            }
        }
        assert!(server.service().access_rules().await.unwrap().is_empty());
        let other = server.sign_in(OWNER).await;
        age(&server).await;
        for session in server.service().sessions(server.api.instance.owner).await.unwrap() {
            let path = format!("/api/sessions/{}", session.id);
            assert_eq!(server.status(("DELETE", &path), &ann).await, StatusCode::FORBIDDEN);
        }
        assert_eq!(server.status(CHATS, &other).await, StatusCode::OK);
        // Requests that take nothing away from their person need no password.
        assert_eq!(server.status(("GET", "/api/tokens"), &ann).await, StatusCode::OK);
        assert!(server.service().api_tokens(server.api.instance.owner).await.unwrap().is_empty());
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn session_goes_on_with_another_cookie_after_password() {
    for server in AccountsApi::on_every_database().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        server.add("Bob", AccountRole::User).await;
        let former = server.sign_in(OWNER).await;
        let listed = async || {
            let sessions = service.sessions(owner).await.unwrap();
            sessions.into_iter().map(|session| (session.id, session.created_at, session.expires_at)).collect::<Vec<_>>()
        };
        let before = listed().await;
        // Also where the action itself is refused, on its page or on one of errors.
        age(&server).await;
        let form = with_confirmation("name=Bob", PASSWORD);
        let taken = server.submit("/forms/profile/name", &former, &form).await;
        assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY, "{taken:?}");
        assert_eq!(server.status(CHATS, &former).await, StatusCode::UNAUTHORIZED);
        let second = taken.session();
        let form = with_confirmation(&format!("session_id={}", ids::mint::<SessionId>()), PASSWORD);
        let missing = server.submit("/forms/profile/sessions/end", &second, &form).await;
        assert_eq!(missing.status, StatusCode::NOT_FOUND, "{missing:?}");
        assert_eq!(server.status(CHATS, &second).await, StatusCode::UNAUTHORIZED);
        // Two tabs at once.
        let third = missing.session();
        let form = with_confirmation("name=Ann.Lee", PASSWORD);
        let rename = async || server.submit("/forms/profile/name", &third, &form).await;
        let (one, other) = tokio::join!(rename(), rename());
        let mut valid = Vec::new();
        for cookie in [one, other].iter().filter(|done| !done.cookie.is_empty()).map(SubmittedForm::session) {
            if server.status(CHATS, &cookie).await == StatusCode::OK {
                valid.push(cookie);
            }
        }
        assert_eq!((valid.len(), server.status(CHATS, &third).await), (1, StatusCode::UNAUTHORIZED));
        // It is the same session, in which the password counts.
        let renamed = server.submit("/forms/profile/name", &valid[0], "name=Ann").await;
        assert_eq!((renamed.location.as_str(), renamed.cookie.as_str()), ("/settings/profile?done=saved", ""));
        assert_eq!(listed().await, before);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn password_counts_for_ten_minutes_in_its_session() {
    for server in AccountsApi::on_every_database().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let _session = server.sign_in(OWNER).await;
        let session = service.sessions(owner).await.unwrap()[0].id;
        let actor = Actor { user: Some(owner), session: Some(session), ..Actor::default() };
        assert!(service.has_recent_password(actor).await.unwrap(), "the session began with it");
        for (minutes, is_recent) in [(9, true), (10, false)] {
            let entered = service.supervisor().clock().now() - TimeDelta::minutes(minutes);
            let mut tx = server.api.instance.db.begin().await.unwrap();
            sessions::note_password(&mut tx, owner, session, entered).await.unwrap();
            tx.commit().await.unwrap();
            assert_eq!(service.has_recent_password(actor).await.unwrap(), is_recent, "{minutes}");
        }
        // Another session of the account does not help, and the command line is not asked.
        let _other = server.sign_in(OWNER).await;
        assert!(!service.has_recent_password(actor).await.unwrap());
        assert!(service.has_recent_password(Actor::default()).await.unwrap());
        server.api.instance.close().await;
    }
}
