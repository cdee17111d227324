//! Traces of people, on both databases: the audit log with its filters, pages and CSV, and the rows that the deletion
//! of an account leaves.

use http::StatusCode;
use serde_json::{Value, json};
use turnleaf::domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf::domain::{AccountRole, AuditOutcome, AuditVerb, TokenScope, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_store::accounts::audit::{self, AuditEntry};
use turnleaf_store::accounts::users;
use turnleaf_store::chats;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, TestCredential};

/// The entries that a test adds: more than two pages of the log.
const ADDED: usize = 2 * limits::AUDIT_PAGE as usize + 50;

/// Adds entries of an account whose target is a formula.
async fn add_entries(server: &AccountsApi, actor: UserId) {
    let instance = &server.api.instance;
    let mut tx = instance.db.begin().await.unwrap();
    for _ in 0..ADDED {
        let entry = AuditEntry {
            id: ids::mint(),
            at: instance.service.supervisor().clock().now(),
            actor: Some(actor),
            actor_name: None,
            token: None,
            ip: Some("203.0.113.7".into()),
            verb: AuditVerb::RevokeToken.as_str().into(),
            target: "=cmd()".into(),
            outcome: AuditOutcome::Done,
        };
        audit::insert(&mut tx, &entry).await.unwrap();
    }
    tx.commit().await.unwrap();
}

async fn list(server: &AccountsApi, credential: &TestCredential, query: &str) -> Vec<Value> {
    let path = format!("/api/audit?{query}");
    let (status, entries) = server.call(("GET", &path), credential, json!({})).await;
    assert_eq!(status, StatusCode::OK, "{path}: {entries}");
    entries.as_array().unwrap().clone()
}

#[tokio::test]
async fn audit_log_is_filtered_and_read_page_by_page() {
    for server in AccountsApi::on_every_database().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let ann = server.sign_in(OWNER).await;
        add_entries(&server, bob).await;
        let query = format!("action=revoke_token&account={bob}");
        let (mut seen, mut before) = (0, String::new());
        loop {
            let page = list(&server, &ann, &format!("{query}{before}")).await;
            let Some(last) = page.last() else { break };
            assert!(page.len() <= limits::AUDIT_PAGE as usize, "{}", page.len());
            assert_eq!((&last["action"], &last["actor_id"]), (&json!("revoke_token"), &json!(bob)), "{last}");
            assert_eq!((&last["actor_name"], &last["outcome"]), (&json!("Bob"), &json!("done")), "{last}");
            seen += page.len();
            before = format!("&before={}", last["id"].as_str().unwrap());
        }
        assert_eq!(seen, ADDED);
        assert_eq!(list(&server, &ann, &format!("{query}&limit=7")).await.len(), 7);

        let today = server.service().supervisor().clock().now().date_naive();
        let (before, after) = (today.pred_opt().unwrap(), today.succ_opt().unwrap());
        assert!(!list(&server, &ann, &format!("from={before}&to={after}")).await.is_empty());
        for query in [
            format!("from={after}"),
            format!("to={}", before.pred_opt().unwrap()),
            "action=change_role".to_owned(),
            format!("account={}", ids::mint::<UserId>()),
        ] {
            assert_eq!(list(&server, &ann, &query).await, Vec::<Value>::new(), "{query}");
        }
        for (query, field) in [
            (format!("from={after}&to={before}"), "from"),
            ("action=read_chat".to_owned(), "action"),
            ("limit=0".to_owned(), "limit"),
        ] {
            let (status, refused) = server.call(("GET", &format!("/api/audit?{query}")), &ann, json!({})).await;
            assert!(status.is_client_error() && refused.to_string().contains(field), "{query}: {status} {refused}");
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn changes_of_rights_say_what_was_given() {
    for server in AccountsApi::on_every_database().await {
        let (service, actor) = (server.service(), Actor::default());
        let bob = server.add("Bob", AccountRole::User).await;
        service.change_role(actor, bob, AccountRole::Admin).await.unwrap();
        let target = || GrantTarget::Provider("scripted".into());
        for audience in [GrantAudience::everybody(), GrantAudience::default()] {
            service.set_access_rule(actor, target(), audience).await.unwrap();
        }
        let rule = service.access_rules().await.unwrap().remove(0).id;
        service.delete_access_rule(actor, rule).await.unwrap();
        for (verb, expected) in [
            (AuditVerb::ChangeRole, &["Bob: admin"][..]),
            (AuditVerb::ChangeGrants, &["scripted/*: default", "scripted/*: listed", "scripted/*: everybody"]),
        ] {
            let filter = AuditFilter { action: Some(verb), ..AuditFilter::default() };
            let entries = service.audit_log(&filter, None, 10).await.unwrap();
            let targets: Vec<&str> = entries.iter().map(|entry| entry.target.as_str()).collect();
            assert_eq!(targets, expected, "{verb:?}");
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn page_of_audit_log_keeps_its_filter_without_script() {
    for server in AccountsApi::on_every_database().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let ann = server.sign_in(OWNER).await;
        add_entries(&server, bob).await;
        let page = async |path: &str| {
            let response = server.send(("GET", path), &ann, &[HTML], "").await;
            (response.status(), text(response).await)
        };
        let filter = format!("action=revoke_token&account={bob}&from=&to=");
        let (mut path, mut rows) = (format!("/settings/audit?{filter}"), 0);
        loop {
            let (status, html) = page(&path).await;
            assert_eq!(status, StatusCode::OK, "{path}: {html}");
            assert!(html.contains("<option value=\"revoke_token\" selected>") && html.contains("format=csv"), "{html}");
            rows += html.matches("<td>Revoke API token</td>").count();
            let older =
                html.split("href=\"").find(|rest| rest.starts_with("/settings/audit?") && rest.contains("before="));
            let Some(older) = older.filter(|rest| rest.split('"').next().unwrap().contains("before=")) else { break };
            path = older.split('"').next().unwrap().replace("&amp;", "&");
        }
        assert_eq!(rows, ADDED);
        let (status, html) = page("/settings/audit?from=2026-02-30").await;
        assert!(status == StatusCode::BAD_REQUEST && html.contains("must be a date"), "{html}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn csv_of_audit_log_is_whole_and_for_administrators() {
    for server in AccountsApi::on_every_database().await {
        let bob_id = server.add("Bob", AccountRole::User).await;
        let (ann, bob) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        add_entries(&server, bob_id).await;
        let path = "/api/audit?action=revoke_token&format=csv";
        let response = server.send(("GET", path), &ann, &[], "").await;
        let headers = response.headers();
        assert_eq!(headers["content-type"], "text/csv; charset=utf-8");
        assert!(headers["content-disposition"].to_str().unwrap().starts_with("attachment; filename=\"audit-"));
        let csv = text(response).await;
        let lines: Vec<&str> = csv.split_terminator("\r\n").collect();
        assert_eq!(lines.len(), ADDED + 1, "a head and all entries");
        assert!(lines[0].starts_with("id,at,actor_id,"), "{}", lines[0]);
        for line in &lines[1..] {
            assert!(line.ends_with(",Bob,,203.0.113.7,revoke_token,'=cmd(),done"), "no cell is a formula: {line}");
        }
        let by_accept = server.send(("GET", "/api/audit"), &ann, &[("accept", "text/csv")], "").await;
        assert_eq!(by_accept.headers()["content-type"], "text/csv; charset=utf-8");
        for path in [path, "/api/audit"] {
            assert_eq!(server.status(("GET", path), &bob).await, StatusCode::FORBIDDEN, "{path}");
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn person_deletes_own_account_after_confirmation() {
    for server in AccountsApi::on_every_database().await {
        let bob_id = server.add("Bob", AccountRole::Admin).await;
        let (ann, bob, elsewhere) =
            (server.sign_in(OWNER).await, server.sign_in("Bob").await, server.sign_in("Bob").await);
        let token = server.token(bob_id, &TokenScope::ALL).await;
        let (status, chat) = server.call(("POST", "/api/chats"), &bob, json!({ "title": "Mine" })).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        let chat = chat["id"].as_str().unwrap().parse().unwrap();
        let provider = json!({ "name": "Box", "api": "openai_chat", "base_url": "https://models.example/v1" });
        let (status, made) = server.call(("POST", "/api/providers"), &bob, provider).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");

        let page = text(server.send(("GET", "/settings/profile/delete"), &bob, &[HTML], "").await).await;
        assert!(page.contains("1 chat, with all its branches"), "{page}");
        let refused = server.submit("/forms/profile/delete", &bob, "word=Bob").await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        assert!(refused.page.contains("value=\"Bob\"") && refused.page.contains("Nothing was deleted."), "{refused:?}");
        server.api.instance.sql("UPDATE sessions SET password_at = NULL").await;
        let asked = server.submit("/forms/profile/delete", &bob, "word=Delete").await;
        assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
        assert!(asked.page.contains("name=\"word\" value=\"Delete\""), "{asked:?}");
        let form = format!("word=Delete&confirm_password={}", PASSWORD.replace(' ', "+"));
        let done = server.submit("/forms/profile/delete", &bob, &form).await;
        assert_eq!(done.location, "/sign-in?done=account_deleted", "{done:?}");
        assert!(done.cookie.contains("Max-Age=0") && done.clears.is_some(), "{done:?}");
        let page = server.send(("GET", &done.location), &TestCredential::Nothing, &[HTML], "").await;
        assert!(text(page).await.contains("Your account was deleted."));
        for ended in [&bob, &elsewhere, &token] {
            assert_eq!(server.status(("GET", "/api/chats"), ended).await, StatusCode::UNAUTHORIZED, "{ended:?}");
        }
        let db = &server.api.instance.db;
        assert_eq!(users::find(db, bob_id).await.unwrap(), None);
        assert_eq!(chats::find(db, bob_id, chat).await.unwrap(), None);
        // The entry has the id and no name, and the name is free.
        let entries = list(&server, &ann, "action=delete_account").await;
        assert_eq!((entries.len(), &entries[0]["actor_id"]), (1, &json!(bob_id)), "{entries:?}");
        assert_eq!((&entries[0]["actor_name"], &entries[0]["target"]), (&Value::Null, &json!("")), "{entries:?}");
        assert_ne!(server.add("Bob", AccountRole::User).await, bob_id);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn owner_stays_and_interrupted_deletion_is_completed() {
    for server in AccountsApi::on_every_database().await {
        let owner = server.api.instance.owner;
        let ann = server.sign_in(OWNER).await;
        let kept = server.submit("/forms/profile/delete", &ann, "word=delete").await;
        assert_eq!((kept.status, kept.location.as_str()), (StatusCode::SEE_OTHER, "/settings/profile"), "{kept:?}");
        let refused = server.service().delete_own_account(owner, Actor::default()).await.unwrap_err();
        assert!(matches!(refused, AccountError::Service(ServiceError::Conflict { code: "owner_account", .. })));
        assert_eq!(server.status(("GET", "/api/chats"), &ann).await, StatusCode::OK);

        // The server was killed right after the deletion had started.
        let (cy, dan) = (server.add("Cy", AccountRole::User).await, server.add("Dan", AccountRole::User).await);
        let session = server.sign_in("Cy").await;
        let (status, chat) = server.call(("POST", "/api/chats"), &session, json!({ "title": "Mine" })).await;
        assert_eq!(status, StatusCode::CREATED, "{chat}");
        let db = &server.api.instance.db;
        let now = server.service().supervisor().clock().now();
        let mut tx = db.begin().await.unwrap();
        assert!(users::start_deletion(&mut tx, cy, now).await.unwrap());
        tx.commit().await.unwrap();
        let listed = server.service().list_accounts().await.unwrap();
        assert!(listed.iter().all(|account| account.id != cy), "{listed:?}");
        let refused = server.service().enable_account(Actor::default(), cy).await;
        assert!(refused.is_ok() && users::find(db, cy).await.unwrap().unwrap().disabled_at.is_some());
        server.service().finish_account_deletions().await.unwrap();
        assert_eq!(users::find(db, cy).await.unwrap(), None);
        assert!(users::find(db, dan).await.unwrap().is_some(), "the others stay");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}
