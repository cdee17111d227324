//! The sign-in of people at an identity provider from npm (oidc-provider), on both databases: who gets in and as whom, what
//! counts only once and in one browser, and how dangerous actions are confirmed there. These tests run where those in
//! [`crate::third_party_sign_in`] do. The faults of a provider itself are in [`crate::identity_sign_in`].

use http::StatusCode;
use serde_json::{Value, json};
use tokio::process::Child;
use turnleaf::domain::AccountRole;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::identity_providers::IdentityProviderConfig;
use turnleaf_store::accounts::identities::{self, ListedIdentity};
use turnleaf_store::accounts::identity_groups;

use crate::account_forms::part;
use crate::accounts_api::{AccountsApi, FORM, HTML, SubmittedForm, TestCredential};
use crate::identity_sign_in::{BrowserAnswer, CHATS, EXPIRED, STRANGER, name_of, visit};
use crate::third_party_sign_in::{ScriptBrowser, script_client, start_script};

const SCRIPT: &str = "identity_provider.mjs";
/// A client of the script that is not told when a person authenticated, with tokens that are signed with RS256.
const CORP: &str = "corp";
/// A client that is told, with tokens that are signed with ES256.
const TIMED: &str = "timed";
const CLIENT_SECRET: &str = "a secret, of this:client";

/// The provider on a port.
struct NpmProvider {
    origin: String,
    _process: Child,
}

impl NpmProvider {
    async fn start() -> Option<Self> {
        let (process, origin) = start_script(SCRIPT).await?;
        Some(Self { origin, _process: process })
    }

    /// Returns the configuration of a client.
    fn config(&self, id: &str, allowed_domains: &[&str]) -> IdentityProviderConfig {
        IdentityProviderConfig {
            id: id.to_owned(),
            name: id.to_owned(),
            issuer: self.origin.parse().unwrap(),
            client_id: id.to_owned(),
            client_secret: Some(CLIENT_SECRET.into()),
            scopes: ["openid", "email", "groups", "profile"].map(str::to_owned).into(),
            allowed_domains: allowed_domains.iter().map(|domain| (*domain).to_owned()).collect(),
            groups_claim: Some("groups".to_owned()),
        }
    }

    /// Sets the claims about a person, who authenticates now or at the time that is among them.
    async fn describe(&self, name: &str, claims: Value) {
        let place = format!("{}/people/{name}", self.origin);
        let response = script_client().put(place).body(claims.to_string()).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::NO_CONTENT, "{name}");
    }

    /// Describes a person whose address is of the domain that is allowed.
    async fn describe_member(&self, name: &str) {
        self.describe(name, json!({ "email": format!("{name}@corp.example"), "email_verified": true })).await;
    }
}

/// A server with the provider.
struct NpmTest<'p> {
    server: AccountsApi,
    provider: &'p NpmProvider,
    client: &'static str,
}

/// A sign-in whose person has authenticated.
struct AuthenticatedSignIn {
    callback: String,
    cookie: String,
}

impl<'p> NpmTest<'p> {
    /// Returns servers on every available database, on which the provider makes accounts for these domains.
    async fn start(provider: &'p NpmProvider, client: &'static str, allowed_domains: &[&str]) -> Vec<Self> {
        let servers = AccountsApi::on_every_database().await;
        for server in &servers {
            server.service().set_identity_providers(vec![provider.config(client, allowed_domains)]);
        }
        servers.into_iter().map(|server| Self { server, provider, client }).collect()
    }

    /// Returns the answer with which a sign-in begins. It leads to the provider.
    async fn begin(&self) -> BrowserAnswer {
        let path = format!("/sign-in/{}?next=%2Fchats%3Fa%3Db", self.client);
        let begun = visit(&self.server, &path, &STRANGER, "").await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{begun:?}");
        begun
    }

    /// Authenticates a person at an address of the provider.
    async fn authenticate(
        &self,
        person: &str,
        browser: &mut ScriptBrowser,
        (begun, address): (&BrowserAnswer, &str),
    ) -> AuthenticatedSignIn {
        let address = format!("{address}&login_hint={person}");
        AuthenticatedSignIn {
            callback: browser.open(&self.provider.origin, &address).await,
            cookie: begun.sign_in_cookie(),
        }
    }

    async fn finish(&self, signed: &AuthenticatedSignIn, session: &TestCredential) -> BrowserAnswer {
        visit(&self.server, &signed.callback, session, &signed.cookie).await
    }

    async fn sign_in(&self, person: &str, browser: &mut ScriptBrowser) -> BrowserAnswer {
        let begun = self.begin().await;
        self.finish(&self.authenticate(person, browser, (&begun, &begun.location)).await, &STRANGER).await
    }

    /// Adds the identity of a person to the account of a session.
    async fn link(&self, person: &str, session: &TestCredential) -> BrowserAnswer {
        let (to, form) = (("POST", "/forms/profile/identities/link"), format!("provider={}", self.client));
        let page = BrowserAnswer::read(self.server.send(to, session, &[HTML, FORM], &form).await).await;
        let origin = &self.provider.origin;
        let address = part(&page.page, &format!("href=\"{origin}"), "\"").replace("&amp;", "&");
        let (mut browser, address) = (ScriptBrowser::default(), format!("{origin}{address}"));
        self.finish(&self.authenticate(person, &mut browser, (&page, &address)).await, session).await
    }

    /// Confirms at the provider that somebody is the person of a session.
    async fn confirm(&self, person: &str, browser: &mut ScriptBrowser, session: &TestCredential) -> BrowserAnswer {
        let path = format!("/settings/profile/confirm/{}", self.client);
        let begun = visit(&self.server, &path, session, "").await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{begun:?}");
        self.finish(&self.authenticate(person, browser, (&begun, &begun.location)).await, session).await
    }

    /// Sends a form that only a person who authenticated lately may send.
    async fn rename(&self, session: &TestCredential) -> SubmittedForm {
        self.server.submit("/forms/profile/name", session, "name=Bobby").await
    }

    /// Returns the only identity of an account.
    async fn identity_of(&self, account: &str) -> ListedIdentity {
        let account = self.server.service().find_account(account).await.unwrap().unwrap();
        let mut listed = identities::list(&self.server.api.instance.db, account).await.unwrap();
        assert_eq!(listed.len(), 1);
        listed.remove(0)
    }

    async fn count_accounts(&self) -> usize {
        self.server.service().list_accounts().await.unwrap().len()
    }

    /// Returns the names of all groups that the provider has stated last.
    async fn groups(&self) -> Vec<String> {
        identity_groups::names(&self.server.api.instance.db, 9).await.unwrap()
    }

    async fn close(self) {
        self.server.api.instance.check_invariants().await;
        self.server.api.instance.close().await;
    }
}

/// Returns an address in which a parameter has another value, or is missing.
fn with_parameter(address: &str, name: &str, value: Option<&str>) -> String {
    let mut changed = reqwest::Url::parse(address).unwrap();
    let others: Vec<(String, String)> = changed.query_pairs().into_owned().filter(|(key, _)| key != name).collect();
    changed.query_pairs_mut().clear().extend_pairs(others).extend_pairs(value.map(|value| (name, value)));
    changed.into()
}

#[tokio::test]
async fn first_sign_in_makes_account_that_next_one_opens() {
    let Some(provider) = NpmProvider::start().await else { return };
    for test in NpmTest::start(&provider, CORP, &["corp.example"]).await {
        let unknown = "No account here belongs to this sign-in.";
        provider.describe("eve", json!({ "email": "eve@other.example", "email_verified": true })).await;
        provider.describe("dan", json!({ "email": "dan@corp.example", "email_verified": false })).await;
        for person in ["eve", "dan"] {
            test.sign_in(person, &mut ScriptBrowser::default()).await.assert_refused(unknown);
        }
        assert_eq!(test.count_accounts().await, 1);

        let address = json!({ "email": "bob@corp.example", "email_verified": true, "preferred_username": "Bob.Lee" });
        let describe = async |groups: Value| {
            let mut claims = address.clone();
            claims["groups"] = groups;
            provider.describe("bob", claims).await;
        };
        describe(json!(["staff", "admins"])).await;
        let mut browser = ScriptBrowser::default();
        let made = test.sign_in("bob", &mut browser).await;
        assert_eq!((made.status, made.location.as_str()), (StatusCode::SEE_OTHER, "/chats?a=b"), "{made:?}");
        assert_eq!(name_of(&test.server, &made.session()).await, "Bob.Lee");
        let identity = test.identity_of("bob.lee").await;
        assert_eq!((&identity.issuer, identity.email), (&provider.origin, Some("bob@corp.example".to_owned())));
        assert_eq!(test.groups().await, ["admins", "staff"]);
        assert_eq!(browser.questions, 2, "to authenticate, and to agree");
        // The provider knows the browser, and the groups are those of that time.
        describe(json!(["staff"])).await;
        let again = test.sign_in("bob", &mut browser).await;
        assert_eq!((name_of(&test.server, &again.session()).await.as_str(), browser.questions), ("Bob.Lee", 2));
        assert_eq!(test.groups().await, ["staff"]);
        assert_eq!(test.count_accounts().await, 2);
        test.close().await;
    }
}

#[tokio::test]
async fn person_links_provider_and_signs_in_with_it() {
    let Some(provider) = NpmProvider::start().await else { return };
    provider.describe_member("robert").await;
    for test in NpmTest::start(&provider, CORP, &[]).await {
        test.server.add("Bob", AccountRole::User).await;
        test.server.add("Cy", AccountRole::User).await;
        let sign_in = async || test.sign_in("robert", &mut ScriptBrowser::default()).await;
        sign_in().await.assert_refused("No account here belongs to this sign-in.");
        let linked = test.link("robert", &test.server.sign_in("Bob").await).await;
        assert_eq!(linked.location, "/settings/profile?done=linked#identities", "{linked:?}");
        assert_eq!(name_of(&test.server, &sign_in().await.session()).await, "Bob");
        let refused = test.link("robert", &test.server.sign_in("Cy").await).await;
        refused.assert_refused("This sign-in already belongs to another account.");
        assert_eq!(name_of(&test.server, &sign_in().await.session()).await, "Bob");
        test.close().await;
    }
}

#[tokio::test]
async fn answer_counts_once_and_in_its_browser_only() {
    let Some(provider) = NpmProvider::start().await else { return };
    provider.describe_member("bob").await;
    for test in NpmTest::start(&provider, CORP, &["corp.example"]).await {
        let mut browser = ScriptBrowser::default();
        let begun = test.begin().await;
        let own = test.authenticate("bob", &mut browser, (&begun, &begun.location)).await;
        let begun = test.begin().await;
        let other = test.authenticate("bob", &mut browser, (&begun, &begun.location)).await;
        for cookie in [other.cookie.as_str(), ""] {
            visit(&test.server, &own.callback, &STRANGER, cookie).await.assert_refused(EXPIRED);
        }
        assert_eq!(test.count_accounts().await, 1);
        for signed in [own, other] {
            let session = test.finish(&signed, &STRANGER).await.session();
            assert_eq!(test.server.status(CHATS, &session).await, StatusCode::OK);
            test.finish(&signed, &STRANGER).await.assert_refused(EXPIRED);
        }
        assert_eq!(test.count_accounts().await, 2);
        test.close().await;
    }
}

#[tokio::test]
async fn changed_request_signs_nobody_in() {
    let Some(provider) = NpmProvider::start().await else { return };
    provider.describe_member("bob").await;
    for test in NpmTest::start(&provider, CORP, &["corp.example"]).await {
        let other = "0123456789abcdef0123456789abcdef0123456789a";
        for (name, value, reason) in [
            ("nonce", Some(other), "(wrong_nonce)"),
            ("nonce", None, "(wrong_nonce)"),
            ("code_challenge", Some(other), "(invalid_grant)"),
            ("code_challenge", None, "(invalid_request)"),
            ("code_challenge_method", Some("plain"), "(invalid_request)"),
            ("state", Some(other), EXPIRED),
        ] {
            let begun = test.begin().await;
            let changed = with_parameter(&begun.location, name, value);
            assert_ne!(changed, begun.location, "{name}");
            let mut browser = ScriptBrowser::default();
            let signed = test.authenticate("bob", &mut browser, (&begun, &changed)).await;
            test.finish(&signed, &STRANGER).await.assert_refused(reason);
        }
        assert_eq!(test.count_accounts().await, 1);
        // The same request as it is.
        let begun = test.begin().await;
        let same = with_parameter(&begun.location, "", None);
        let signed = test.authenticate("bob", &mut ScriptBrowser::default(), (&begun, &same)).await;
        assert_eq!(name_of(&test.server, &test.finish(&signed, &STRANGER).await.session()).await, "bob");
        test.close().await;
    }
}

#[tokio::test]
async fn signing_in_again_ends_former_session_of_browser() {
    let Some(provider) = NpmProvider::start().await else { return };
    provider.describe_member("bob").await;
    for test in NpmTest::start(&provider, CORP, &["corp.example"]).await {
        let mut browser = ScriptBrowser::default();
        let former = test.sign_in("bob", &mut browser).await.session();
        let begun = test.begin().await;
        let signed = test.authenticate("bob", &mut browser, (&begun, &begun.location)).await;
        let again = test.finish(&signed, &former).await;
        assert_eq!(again.location, "/chats?a=b", "{again:?}");
        assert_eq!(test.server.status(CHATS, &former).await, StatusCode::UNAUTHORIZED);
        assert_eq!(test.server.status(CHATS, &again.session()).await, StatusCode::OK);
        test.close().await;
    }
}

#[tokio::test]
async fn dangerous_form_is_confirmed_at_provider() {
    let Some(provider) = NpmProvider::start().await else { return };
    provider.describe_member("eve").await;
    for test in NpmTest::start(&provider, CORP, &["corp.example"]).await {
        provider.describe_member("bob").await;
        let mut browser = ScriptBrowser::default();
        let bob = test.sign_in("bob", &mut browser).await.session();
        let asked = test.rename(&bob).await;
        assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
        assert!(asked.page.contains("href=\"/settings/profile/confirm/corp\""), "{asked:?}");
        let refused = test.confirm("eve", &mut ScriptBrowser::default(), &bob).await;
        refused.assert_refused("This sign-in is not linked to your account.");
        assert_eq!(test.rename(&bob).await.status, StatusCode::FORBIDDEN);
        // The provider asks, although it knows the browser.
        let questions = browser.questions;
        let confirmed = test.confirm("bob", &mut browser, &bob).await;
        assert_eq!(confirmed.location, "/settings/profile?done=confirmed", "{confirmed:?}");
        assert_eq!(browser.questions, questions + 1);
        assert_eq!(test.server.status(CHATS, &bob).await, StatusCode::UNAUTHORIZED, "the former cookie");
        assert_eq!(test.rename(&confirmed.session()).await.location, "/settings/profile?done=saved");
        test.close().await;
    }
}

#[tokio::test]
async fn sign_in_counts_from_time_that_provider_tells() {
    let Some(provider) = NpmProvider::start().await else { return };
    for test in NpmTest::start(&provider, TIMED, &["corp.example"]).await {
        let hour_ago = SystemClock.now().timestamp() - 3_600;
        provider.describe_member("bob").await;
        let recent = test.sign_in("bob", &mut ScriptBrowser::default()).await.session();
        assert_eq!(test.rename(&recent).await.location, "/settings/profile?done=saved");
        let address = json!({ "email": "bob@corp.example", "email_verified": true, "authenticated_at": hour_ago });
        provider.describe("bob", address).await;
        let old = test.sign_in("bob", &mut ScriptBrowser::default()).await.session();
        assert_eq!(test.rename(&old).await.status, StatusCode::FORBIDDEN);
        let refused = test.confirm("bob", &mut ScriptBrowser::default(), &old).await;
        refused.assert_refused("(old_authentication)");
        assert_eq!(test.rename(&old).await.status, StatusCode::FORBIDDEN);
        test.close().await;
    }
}
