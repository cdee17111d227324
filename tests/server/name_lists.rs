//! The administrators' lists by name: pages of accounts and groups, what finds them, and forms that come back to their page.

use http::StatusCode;
use turnleaf::domain::{AccountRole, GroupId, UserId};
use turnleaf_store::accounts::groups;
use turnleaf_store::accounts::users::{self, AccountNames};
use uuid::Uuid;

use crate::access_control::text;
use crate::accounts_api::{AccountsApi, HTML, OWNER, TestCredential};

/// With the owner, three more than a page holds.
const ADDED: u128 = 52;

fn account_id(n: u128) -> UserId {
    UserId::from_uuid(Uuid::from_u128(1_000 + n))
}

fn group_id(n: u128) -> GroupId {
    GroupId::from_uuid(Uuid::from_u128(2_000 + n))
}

/// Adds accounts and groups, the last ones first, so that their order is not that of their names. The first account is in
/// the last group.
async fn add_many(server: &AccountsApi) {
    let now = server.service().supervisor().clock().now();
    let mut tx = server.api.instance.db.begin().await.unwrap();
    for n in 0..ADDED {
        let (name, group) = (format!("user-{:02}", ADDED - 1 - n), format!("Group {:02}", ADDED - 1 - n));
        let names = AccountNames { name: &name, key: &name };
        assert!(users::insert(&mut tx, account_id(n), names, AccountRole::User, None, now).await.unwrap());
        groups::insert(&mut tx, group_id(n), &group, now).await.unwrap();
    }
    assert!(groups::add_member(&mut tx, group_id(0), account_id(0)).await.unwrap());
    tx.commit().await.unwrap();
}

async fn page(server: &AccountsApi, path: &str, credential: &TestCredential) -> (StatusCode, String) {
    let response = server.send(("GET", path), credential, &[HTML], "").await;
    (response.status(), text(response).await)
}

#[tokio::test]
async fn accounts_and_groups_are_found_by_name_and_listed_by_pages() {
    for server in AccountsApi::on_every_database().await {
        add_many(&server).await;
        let ann = server.sign_in(OWNER).await;
        let show = async |address: String| {
            let (status, html) = page(&server, &address, &ann).await;
            assert_eq!(status, StatusCode::OK, "{address}: {html}");
            html
        };
        // The owner is the first account, and no group.
        for (path, name, last, encoded) in [
            ("/settings/users", "user-", 48, "user-48"),
            ("/settings/budgets", "user-", 48, "user-48"),
            ("/settings/groups", "Group ", 49, "Group%2049"),
        ] {
            let is_listed = |html: &str, n: u32| html.contains(&format!("<bdi>{name}{n:02}</bdi>"));
            let first = show(path.to_owned()).await;
            assert!(is_listed(&first, 0) && is_listed(&first, last) && !is_listed(&first, last + 1), "{path}: {first}");
            assert!(first.contains(&format!("href=\"{path}?after={encoded}\"")), "{path}: {first}");
            let second = show(format!("{path}?after={encoded}")).await;
            assert!(!is_listed(&second, last) && is_listed(&second, last + 1) && is_listed(&second, 51), "{second}");
            assert!(second.contains("First page") && !second.contains("Next page"), "{path}: {second}");
            let found = show(format!("{path}?find=5")).await;
            for (n, fits) in [(4, false), (5, true), (49, false), (50, true)] {
                assert_eq!(is_listed(&found, n), fits, "{path} {n}: {found}");
            }
            assert!(found.contains("name=\"find\" value=\"5\""), "{path}: {found}");
            let none = show(format!("{path}?find=%25")).await;
            assert!(none.contains("No name contains “%”."), "{path}: {none}");
            let beyond = show(format!("{path}?find=USER&after=zz")).await;
            assert!(!is_listed(&beyond, 1), "{path}: {beyond}");
        }
        assert!(show("/settings/groups?after=Group%2049".into()).await.contains("1 member<"));
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn form_of_listed_account_comes_back_to_its_page() {
    for server in AccountsApi::on_every_database().await {
        add_many(&server).await;
        let (ann, bob) = (server.sign_in(OWNER).await, account_id(0));
        let form = format!("user_id={bob}&find=ser-5&after=user-50");
        let done = server.submit("/forms/users/disable", &ann, &form).await;
        assert_eq!(done.location, "/settings/users?done=disabled&find=ser-5&after=user-50", "{done:?}");
        let saved = server.submit("/forms/budgets", &ann, &format!("{form}&day_tokens=5")).await;
        assert_eq!(saved.location, "/settings/budgets?done=saved&find=ser-5&after=user-50", "{saved:?}");
        let wrong = server.submit("/forms/budgets", &ann, &format!("{form}&day_tokens=many")).await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY, "{wrong:?}");
        for part in ["value=\"many\"", "name=\"find\" value=\"ser-5\"", "<bdi>user-51</bdi>"] {
            assert!(wrong.page.contains(part), "{part}: {}", wrong.page);
        }
        // The chosen account is not on the first page.
        let (_, chosen) = page(&server, &format!("/settings/budgets?account={bob}"), &ann).await;
        assert!(chosen.contains("Budgets of user-51") && !chosen.contains("<bdi>user-51</bdi>"), "{chosen}");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn audit_log_is_filtered_by_typed_name() {
    for server in AccountsApi::on_every_database().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let (ann, _) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        let (status, html) = page(&server, "/settings/audit?account=BOB", &ann).await;
        assert!(status == StatusCode::OK && html.contains("value=\"BOB\""), "{html}");
        assert!(html.contains("<td><bdi>Bob</bdi>") && !html.contains("<td><bdi>Ann</bdi>"), "{html}");
        assert!(html.contains(&format!("/api/audit?account={bob}&amp;format=csv")), "{html}");
        let (_, html) = page(&server, &format!("/settings/audit?account={bob}"), &ann).await;
        assert!(html.contains("name=\"account\" value=\"Bob\""), "{html}");
        let (status, html) = page(&server, "/settings/audit?action=sign_in&account=nobody&to=2026-11-01", &ann).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{html}");
        for part in ["no account nobody", "value=\"nobody\"", "value=\"sign_in\" selected", "value=\"2026-11-01\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn form_of_rule_finds_groups_without_losing_what_is_ticked() {
    for server in AccountsApi::on_every_database().await {
        add_many(&server).await;
        let ann = server.sign_in(OWNER).await;
        let (path, rule) = ("/settings/access/rule?kind=provider&target=scripted", "kind=provider&target=scripted");
        let (_, first) = page(&server, path, &ann).await;
        assert_eq!(first.matches("name=\"group\"").count(), 20, "{first}");
        let ticked = group_id(0);
        let form = format!("{rule}&group={ticked}&accounts=nobody&find=group+3");
        let found = server.submit("/forms/access/find", &ann, &form).await;
        assert_eq!(found.status, StatusCode::OK, "{found:?}");
        assert_eq!(found.page.matches("name=\"group\"").count(), 11, "the ticked one and ten: {}", found.page);
        for part in ["value=\"nobody\"", "value=\"group 3\"", ">Group 30<", ">Group 51<"] {
            assert!(found.page.contains(part), "{part}: {}", found.page);
        }
        let refused = server.submit("/forms/access/save", &ann, &form).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{refused:?}");
        assert!(refused.page.contains("value=\"group 3\"") && refused.page.contains(">Group 51<"), "{refused:?}");
        let saved = server.submit("/forms/access/save", &ann, &format!("{rule}&group={ticked}&accounts=user-07")).await;
        assert_eq!(saved.location, "/settings/access?done=saved", "{saved:?}");
        let (_, list) = page(&server, "/settings/access", &ann).await;
        assert!(list.contains(">Group 51, user-07</td>"), "{list}");
        server.api.instance.close().await;
    }
}
