//! Mappings of groups, on both databases: whom a sign-in service names for a mapped group is a member, with what the group
//! may use, until the service names them no more.

use http::{Response, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::accounts::access_rights::{GrantAudience, GrantTarget};
use turnleaf::domain::{AccountRole, AuditVerb, BudgetKind, BudgetTarget, GroupId, IdentityId, UserId, limits};
use turnleaf_platform::ids;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::accounts::mapped_groups::GroupService;
use turnleaf_store::accounts::identities::{self, IdentityKey};
use turnleaf_store::accounts::identity_groups;

use crate::access_control::text;
use crate::account_passwords::{age, with_confirmation};
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, TestCredential};
use crate::fake_identity_provider::FakeIdentityProvider;

const STRANGER: TestCredential = TestCredential::Nothing;
/// The name of the service.
const CORP: &str = "Corp <ID>";

/// A server with an identity provider, whose models are for the members of one group.
struct MappingTest {
    server: AccountsApi,
    provider: FakeIdentityProvider,
    group: GroupId,
}

impl MappingTest {
    async fn start() -> Vec<Self> {
        let mut tests = Vec::new();
        for server in AccountsApi::on_every_database().await {
            let (provider, service) = (FakeIdentityProvider::start().await, server.service());
            service.set_identity_providers(vec![provider.config("corp", &["corp.example"])]);
            let group = service.create_group(Actor::default(), "Research", None).await.unwrap().value.id;
            let audience = GrantAudience { groups: [group].into(), ..GrantAudience::default() };
            let all = GrantTarget::Provider("scripted".into());
            service.set_access_rule(Actor::default(), all, audience).await.unwrap();
            tests.push(Self { server, provider, group });
        }
        tests
    }

    async fn map(&self, name: &str) {
        self.server.service().map_group(Actor::default(), self.group, ("corp", name)).await.unwrap();
    }

    async fn unmap(&self, name: &str) {
        let service = self.server.service();
        let mappings = service.group_mappings(self.group).await.unwrap();
        let mapping = mappings.iter().find(|mapping| mapping.name == name).unwrap();
        service.unmap_group(Actor::default(), self.group, mapping.id).await.unwrap();
    }

    /// Signs Bob in at the provider, which says this about his groups.
    async fn sign_in(&self, groups: Value) -> TestCredential {
        let mut person = json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true });
        person.as_object_mut().unwrap().extend(groups.as_object().unwrap().clone());
        self.provider.state().person = person;
        let begun = self.server.send(("GET", "/sign-in/corp"), &STRANGER, &[HTML], "").await;
        let (url, browser) = (begun.headers()["location"].to_str().unwrap(), cookie(&begun, "turnleaf_local_sign_in"));
        let callback = self.provider.authorize(url).await;
        let headers = [HTML, ("cookie", browser.as_str())];
        let done = self.server.send(("GET", &callback), &STRANGER, &headers, "").await;
        assert_eq!(done.status(), StatusCode::SEE_OTHER, "{done:?}");
        let session = cookie(&done, "turnleaf_local");
        TestCredential::Session(session.split_once('=').unwrap().1.to_owned())
    }

    /// Returns whether somebody may use the models.
    async fn may_use(&self, credential: &TestCredential) -> bool {
        let (status, models) = self.server.call(("GET", "/api/models"), credential, json!({})).await;
        assert_eq!(status, StatusCode::OK, "{models}");
        !models.as_array().unwrap().is_empty()
    }

    /// Returns the members of the group by name, with whether somebody added them and the names of the services.
    async fn members(&self) -> Vec<(String, bool, Vec<String>)> {
        let (_, members) = self.server.service().group(self.group).await.unwrap();
        let names = |services: Vec<GroupService>| -> Vec<String> {
            services.iter().map(|service| service.name().to_owned()).collect()
        };
        members.into_iter().map(|member| (member.name, member.is_added, names(member.services))).collect()
    }

    async fn find(&self, name: &str) -> UserId {
        self.server.service().find_account(name).await.unwrap().unwrap()
    }

    /// Returns the actors and the targets of the entries with this action, oldest first.
    async fn entries(&self, verb: AuditVerb) -> Vec<(Option<UserId>, String)> {
        let filter = AuditFilter { action: Some(verb), ..AuditFilter::default() };
        let entries = self.server.service().audit_log(&filter, None, 100).await.unwrap();
        entries.into_iter().rev().map(|entry| (entry.actor, entry.target)).collect()
    }

    async fn close(self) {
        self.server.api.instance.check_invariants().await;
        self.server.api.instance.close().await;
    }
}

/// Returns the pair of a cookie that a response sets.
fn cookie(response: &Response<axum::body::Body>, name: &str) -> String {
    let mut set = response.headers().get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap());
    let cookie = set.find(|cookie| cookie.split('=').next() == Some(name)).unwrap_or_else(|| panic!("no {name}"));
    cookie.split(';').next().unwrap().to_owned()
}

fn groups(names: &[&str]) -> Value {
    json!({ "groups": names })
}

#[tokio::test]
async fn mapped_groups_count_from_sign_in_to_the_next() {
    for test in MappingTest::start().await {
        test.map("staff").await;
        let first = test.sign_in(groups(&["students"])).await;
        assert!(!test.may_use(&first).await && test.members().await.is_empty());
        let session = test.sign_in(groups(&["staff", "students"])).await;
        assert!(test.may_use(&session).await && test.may_use(&first).await, "the account is a member");
        assert_eq!(test.members().await, [("bob".to_owned(), false, vec![CORP.to_owned()])]);
        for (claims, is_member) in [
            (groups(&["Staff", "staff "]), false),
            (json!({ "groups": "staff" }), true),
            (groups(&[]), false),
            (groups(&["staff"]), true),
            // A token without the claim names no groups.
            (json!({}), false),
            (groups(&["staff"]), true),
            (groups(&["staff"]), true),
        ] {
            let again = test.sign_in(claims.clone()).await;
            assert_eq!(test.may_use(&again).await, is_member, "{claims}");
            assert_eq!(test.may_use(&first).await, is_member, "{claims}");
        }
        // Neither does a provider whose groups are not asked for any more.
        let mut config = test.provider.config("corp", &["corp.example"]);
        config.groups_claim = None;
        test.server.service().set_identity_providers(vec![config]);
        let last = test.sign_in(groups(&["staff"])).await;
        assert!(!test.may_use(&last).await);

        let bob = test.find("bob").await;
        let expected = |count| vec![(Some(bob), format!("Research: bob ({CORP})")); count];
        assert_eq!(test.entries(AuditVerb::AddMember).await, expected(4));
        assert_eq!(test.entries(AuditVerb::RemoveMember).await, expected(4));
        test.close().await;
    }
}

#[tokio::test]
async fn first_sign_in_makes_member_at_once() {
    for test in MappingTest::start().await {
        test.map("staff").await;
        let session = test.sign_in(groups(&["staff"])).await;
        assert!(test.may_use(&session).await);
        let bob = test.find("bob").await;
        assert_eq!(test.entries(AuditVerb::AddMember).await, [(Some(bob), format!("Research: bob ({CORP})"))]);
        test.close().await;
    }
}

#[tokio::test]
async fn mapping_takes_effect_at_once_and_what_it_gave_ends_with_it() {
    for test in MappingTest::start().await {
        let (service, actor) = (test.server.service(), Actor::default());
        let session = test.sign_in(groups(&["staff", "lab"])).await;
        assert!(!test.may_use(&session).await, "nothing is mapped");
        let bob = test.find("bob").await;
        let changes = vec![(BudgetKind::MonthTokens, Some(900))];
        service.set_budgets(actor, BudgetTarget::Group(test.group), changes).await.unwrap();
        assert_eq!(service.budgets(bob).await.unwrap(), []);

        test.map("staff").await;
        assert!(test.may_use(&session).await);
        let budget = service.budgets(bob).await.unwrap().remove(0);
        assert_eq!((budget.most, budget.is_of_group), (900, true), "it bounds him");
        // Nobody has added him, so nobody removes him.
        let refused = service.remove_group_member(actor, test.group, bob).await.unwrap_err().to_string();
        assert!(refused.contains("member by a mapping"), "{refused}");
        // A further reason outlives the first one.
        test.map("lab").await;
        test.unmap("staff").await;
        assert!(test.may_use(&session).await);
        service.add_group_member(actor, test.group, bob).await.unwrap();
        assert_eq!(test.members().await, [("bob".to_owned(), true, vec![CORP.to_owned()])]);
        test.unmap("lab").await;
        assert!(test.may_use(&session).await, "he was added, too");
        test.sign_in(groups(&[])).await;
        assert_eq!(test.members().await, [("bob".to_owned(), true, Vec::new())], "no sign-in takes that back");
        service.remove_group_member(actor, test.group, bob).await.unwrap();
        service.remove_group_member(actor, test.group, bob).await.unwrap();
        assert!(!test.may_use(&session).await);
        assert_eq!(service.budgets(bob).await.unwrap(), []);

        let mapped = |name: &str| -> (Option<UserId>, String) { (None, format!("Research: {name} ({CORP})")) };
        assert_eq!(test.entries(AuditVerb::MapGroup).await, [mapped("staff"), mapped("lab")]);
        assert_eq!(test.entries(AuditVerb::UnmapGroup).await, [mapped("staff"), mapped("lab")]);
        test.close().await;
    }
}

#[tokio::test]
async fn membership_ends_with_last_identity_that_gives_it_and_with_account() {
    for test in MappingTest::start().await {
        let (service, db, actor) = (test.server.service(), &test.server.api.instance.db, Actor::default());
        test.map("staff").await;
        test.sign_in(groups(&["staff"])).await;
        let bob = test.find("bob").await;
        // A second identity of the same service.
        let second: IdentityId = ids::mint();
        let (issuer, staff) = (test.provider.issuer(), ["staff".to_owned()]);
        let mut tx = db.begin().await.unwrap();
        let key = IdentityKey { issuer: &issuer, subject: "0043" };
        assert!(identities::insert(&mut tx, bob, (second, key), service.supervisor().clock().now()).await.unwrap());
        assert!(identity_groups::replace(&mut tx, bob, second, (&issuer, &staff)).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(test.members().await, [("bob".to_owned(), false, vec![CORP.to_owned()])]);
        service.unlink_identity(bob, actor, second).await.unwrap();
        assert_eq!(test.members().await.len(), 1, "the first one still gives it");
        assert!(test.entries(AuditVerb::RemoveMember).await.is_empty());

        // The last way in is kept until there is a password.
        let first = service.own_identities(bob).await.unwrap().linked.remove(0).id;
        assert!(service.unlink_identity(bob, actor, first).await.is_err());
        assert_eq!(test.members().await.len(), 1);
        service.reset_password(actor, bob, (&PASSWORD.into(), false)).await.unwrap();
        let session = test.server.sign_in("bob").await;
        assert!(test.may_use(&session).await);
        service.unlink_identity(bob, actor, first).await.unwrap();
        assert!(!test.may_use(&session).await && test.members().await.is_empty());
        let removed: (Option<UserId>, String) = (None, format!("Research: bob ({CORP})"));
        assert_eq!(test.entries(AuditVerb::RemoveMember).await, std::slice::from_ref(&removed));
        // The same person comes back with another account, whose password is reset.
        test.sign_in(groups(&["staff"])).await;
        let other = test.find("bob2").await;
        assert_eq!(test.members().await, [("bob2".to_owned(), false, vec![CORP.to_owned()])]);
        service.reset_password(actor, other, (&PASSWORD.into(), true)).await.unwrap();
        assert!(test.members().await.is_empty(), "its identities are unlinked");
        let last = test.entries(AuditVerb::RemoveMember).await.pop();
        assert_eq!(last, Some((None, format!("Research: bob2 ({CORP})"))));

        test.sign_in(groups(&["staff"])).await;
        let third = test.find("bob3").await;
        assert_eq!(test.members().await.len(), 1);
        service.delete_own_account(third, actor).await.unwrap();
        service.finish_account_deletions().await.unwrap();
        assert!(test.members().await.is_empty());
        test.close().await;
    }
}

#[tokio::test]
async fn administrators_manage_mappings_by_api() {
    for test in MappingTest::start().await {
        let (server, group) = (&test.server, test.group);
        let ann = server.sign_in(OWNER).await;
        server.add("Cy", AccountRole::User).await;
        let (cy, path) = (server.sign_in("Cy").await, format!("/api/groups/{group}/mappings"));
        let call = async |method: &str, path: &str, body: Value| server.call((method, path), &ann, body).await;
        let mapping = || json!({ "service": "corp", "name": "staff" });
        assert_eq!(server.status(("PUT", &path), &cy).await, StatusCode::FORBIDDEN);
        let (status, made) = call("PUT", &path, mapping()).await;
        assert_eq!(status, StatusCode::OK, "{made}");
        let shown = (&made["service"], &made["service_name"], &made["name"]);
        assert_eq!(shown, (&json!("corp"), &json!(CORP), &json!("staff")));
        assert_eq!(call("PUT", &path, mapping()).await, (StatusCode::OK, made.clone()), "it is there already");
        for (wrong, field) in [
            (json!({ "service": "oidc", "name": "staff" }), "service"),
            // No proxy names people here.
            (json!({ "service": "proxy", "name": "staff" }), "service"),
            (json!({ "service": "corp", "name": " " }), "name"),
            (json!({ "service": "corp", "name": "a\nb" }), "name"),
            (json!({ "service": "corp", "name": "x".repeat(limits::IDENTITY_GROUP_CHARS + 1) }), "name"),
        ] {
            let (status, refused) = call("PUT", &path, wrong.clone()).await;
            assert_eq!((status, &refused["field"]), (StatusCode::UNPROCESSABLE_ENTITY, &json!(field)), "{wrong}");
        }
        let nowhere = "/api/groups/0190b5b4-7c1e-7abc-8def-0123456789ab/mappings";
        assert_eq!(call("PUT", nowhere, mapping()).await.0, StatusCode::NOT_FOUND);

        test.sign_in(groups(&["staff"])).await;
        let bob = test.find("bob").await;
        let (_, details) = call("GET", &format!("/api/groups/{group}"), json!({})).await;
        assert_eq!((&details["member_count"], &details["mappings"]), (&json!(1), &json!([made])), "{details}");
        let member = json!({ "user_id": bob, "name": "bob", "is_added": false, "services": [CORP] });
        assert_eq!(details["members"], json!([member]));
        let of_member = format!("/api/groups/{group}/members/{bob}");
        let (status, refused) = call("DELETE", &of_member, json!({})).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("mapped_member")), "{refused}");

        // A service that is not configured any more is named by its host.
        server.service().set_identity_providers(Vec::new());
        let (_, details) = call("GET", &format!("/api/groups/{group}"), json!({})).await;
        let former = &details["mappings"][0];
        let host = json!(test.provider.address.to_string());
        assert_eq!((&former["service"], &former["service_name"]), (&Value::Null, &host), "{details}");
        assert_eq!(details["member_count"], json!(1), "what it named last still counts");
        let address = format!("{path}/{}", made["id"].as_str().unwrap());
        assert_eq!(server.status(("DELETE", &address), &cy).await, StatusCode::FORBIDDEN);
        age(server).await;
        for route in [("PUT", path.as_str()), ("DELETE", address.as_str())] {
            let (status, refused) = server.call(route, &ann, mapping()).await;
            assert_eq!((status, &refused["code"]), (StatusCode::FORBIDDEN, &json!("password_needed")), "{route:?}");
        }
        let ann = server.sign_in(OWNER).await;
        assert_eq!(server.status(("DELETE", &address), &ann).await, StatusCode::NO_CONTENT);
        assert_eq!(server.status(("DELETE", &address), &ann).await, StatusCode::NOT_FOUND);
        assert!(test.members().await.is_empty());

        server.service().set_identity_providers(vec![test.provider.config("corp", &[])]);
        for n in 0..limits::GROUP_MAPPINGS {
            test.map(&format!("group {n}")).await;
        }
        let (status, refused) = server.call(("PUT", &path), &ann, mapping()).await;
        assert_eq!((status, &refused["code"]), (StatusCode::CONFLICT, &json!("too_many_mappings")), "{refused}");
        test.close().await;
    }
}

#[tokio::test]
async fn mappings_are_managed_on_page_without_script() {
    for test in MappingTest::start().await {
        let (server, group) = (&test.server, test.group);
        test.sign_in(groups(&["staff"])).await;
        let (ann, address) = (server.sign_in(OWNER).await, format!("/settings/groups/{group}"));
        let page = async || text(server.send(("GET", &address), &ann, &[HTML], "").await).await;
        let before = page().await;
        for part in ["Groups of sign-in services", "<option value=\"corp\"", "<option value=\"staff\">"] {
            assert!(before.contains(part), "{part}: {before}");
        }
        let form = |service: &str, name: &str| format!("group_id={group}&service={service}&name={name}");
        let refused = server.submit("/forms/groups/map", &ann, &form("oidc", "staff")).await;
        assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(refused.page.contains("value=\"staff\"") && refused.page.contains("id=\"mapping-service-error\""));
        age(server).await;
        let asked = server.submit("/forms/groups/map", &ann, &form("corp", "staff")).await;
        assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
        for field in ["name=\"service\" value=\"corp\"", "name=\"name\" value=\"staff\""] {
            assert!(asked.page.contains(field), "{field}: {asked:?}");
        }
        let form = with_confirmation(&form("corp", "staff"), PASSWORD);
        let mapped = server.submit("/forms/groups/map", &ann, &form).await;
        assert_eq!(mapped.location, format!("{address}?done=mapped"), "{mapped:?}");
        let ann = server.sign_in(OWNER).await;
        let page = async || text(server.send(("GET", &address), &ann, &[HTML], "").await).await;
        let shown = page().await;
        for part in ["bob</bdi>", "From Corp &lt;ID&gt;", "It ends at the service or with the mapping."] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("/forms/groups/remove-member"), "{shown}");
        let mapping = server.service().group_mappings(group).await.unwrap().remove(0).id;
        let form = format!("group_id={group}&mapping_id={mapping}");
        let unmapped = server.submit("/forms/groups/unmap", &ann, &form).await;
        assert_eq!(unmapped.location, format!("{address}?done=unmapped"), "{unmapped:?}");
        assert!(page().await.contains("No members yet."));
        test.close().await;
    }
}
