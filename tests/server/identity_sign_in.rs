//! Signing in with an account of another service, on both databases: who gets in, as whom, and each answer of a provider
//! that signs nobody in.

use axum::body::Body;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use turnleaf::domain::{
    AccountRole, AuditOutcome, AuditVerb, BudgetKind, BudgetTarget, SecondFactorPolicy, UserId, limits,
};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::audit_log::{AuditEntry, AuditFilter};
use turnleaf_service::accounts::identity_sign_in::IdentityPurpose;
use turnleaf_store::accounts::{identities, identity_groups, users};

use crate::access_control::text;
use crate::account_passwords::{age, with_confirmation};
use crate::accounts_api::{AccountsApi, FORM, HTML, OWNER, PASSWORD, TestCredential, client_at};
use crate::fake_identity_provider::{FakeIdentityProvider, IdentityFault};

pub const STRANGER: TestCredential = TestCredential::Nothing;
pub const CHATS: (&str, &str) = ("GET", "/api/chats");
pub const EXPIRED: &str = "This sign-in has expired or was already used.";

/// A server with an identity provider.
struct IdentityTest {
    server: AccountsApi,
    provider: FakeIdentityProvider,
}

/// A sign-in that goes on in a browser.
struct BegunInBrowser {
    /// The path to which the provider sends the browser back.
    callback: String,
    /// The cookie of the browser.
    cookie: String,
}

/// The answer to a browser.
#[derive(Debug)]
pub struct BrowserAnswer {
    pub status: StatusCode,
    pub location: String,
    cookies: Vec<String>,
    pub page: String,
}

/// Opens a page in a browser with this session, and with a further cookie.
pub async fn visit(server: &AccountsApi, path: &str, session: &TestCredential, cookie: &str) -> BrowserAnswer {
    BrowserAnswer::read(server.send(("GET", path), session, &[HTML, ("cookie", cookie)], "").await).await
}

/// Returns the name of the account of a session.
pub async fn name_of(server: &AccountsApi, session: &TestCredential) -> String {
    let page = visit(server, "/settings/profile", session, "").await.page;
    let (_, name) = page.split_once("You are signed in as ").unwrap_or_else(|| panic!("{page}"));
    name.split(" (").next().unwrap().to_owned()
}

impl BrowserAnswer {
    pub async fn read(response: Response<Body>) -> Self {
        let all = |name: &str| -> Vec<String> {
            response.headers().get_all(name).iter().map(|value| value.to_str().unwrap().to_owned()).collect()
        };
        let (cookies, location) = (all("set-cookie"), all("location").concat());
        Self { status: response.status(), location, cookies, page: text(response).await }
    }

    /// Returns the value of a cookie that is set.
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let mut set = self.cookies.iter().filter_map(|cookie| cookie.strip_prefix(name)?.strip_prefix('='));
        set.find_map(|value| value.split(';').next()).filter(|value| !value.is_empty())
    }

    /// Returns the cookie of the sign-in that began, as a browser sends it.
    pub fn sign_in_cookie(&self) -> String {
        let secret = self.cookie("turnleaf_local_sign_in").unwrap_or_else(|| panic!("no sign-in: {self:?}"));
        format!("turnleaf_local_sign_in={secret}")
    }

    /// Returns the session that began, or goes on with another cookie.
    pub fn session(&self) -> TestCredential {
        let secret = self.cookie("turnleaf_local").unwrap_or_else(|| panic!("no session: {self:?}"));
        TestCredential::Session(secret.to_owned())
    }

    /// Asserts that nobody is signed in, with this sentence on the page.
    pub fn assert_refused(&self, sentence: &str) {
        assert_eq!(self.status, StatusCode::CONFLICT, "{sentence}: {self:?}");
        assert_eq!(self.cookie("turnleaf_local"), None, "{sentence}: {self:?}");
        assert!(self.page.contains(sentence), "{sentence}: {}", self.page);
    }
}

impl IdentityTest {
    /// Returns servers on every available database, whose provider makes accounts for these domains.
    async fn start(allowed_domains: &[&str]) -> Vec<Self> {
        let mut tests = Vec::new();
        for server in AccountsApi::on_every_database().await {
            let provider = FakeIdentityProvider::start().await;
            server.service().set_identity_providers(vec![provider.config("corp", allowed_domains)]);
            tests.push(Self { server, provider });
        }
        tests
    }

    async fn visit(&self, path: &str, credential: &TestCredential, cookie: &str) -> BrowserAnswer {
        visit(&self.server, path, credential, cookie).await
    }

    /// Begins a sign-in, and lets the person agree at the provider.
    async fn begin(&self) -> BegunInBrowser {
        let begun = self.visit("/sign-in/corp?next=%2Fchats%3Fa%3Db", &STRANGER, "").await;
        assert_eq!(begun.status, StatusCode::SEE_OTHER, "{begun:?}");
        assert!(begun.cookies[0].contains("; Max-Age=600; HttpOnly; SameSite=Lax"), "{begun:?}");
        self.agree(&begun.location, &begun).await
    }

    async fn agree(&self, url: &str, begun: &BrowserAnswer) -> BegunInBrowser {
        BegunInBrowser { callback: self.provider.authorize(url).await, cookie: begun.sign_in_cookie() }
    }

    async fn finish(&self, begun: &BegunInBrowser) -> BrowserAnswer {
        self.visit(&begun.callback, &STRANGER, &begun.cookie).await
    }

    async fn sign_in(&self) -> BrowserAnswer {
        self.finish(&self.begin().await).await
    }

    /// Adds the identity of the person at the provider to an account.
    async fn link(&self, credential: &TestCredential) -> BrowserAnswer {
        let response = self
            .server
            .send(("POST", "/forms/profile/identities/link"), credential, &[HTML, FORM], "provider=corp")
            .await;
        let page = BrowserAnswer::read(response).await;
        assert_eq!(page.status, StatusCode::OK, "{page:?}");
        let (_, url) = page.page.split_once(&format!("href=\"{}", self.provider.issuer())).unwrap();
        let url = format!("{}{}", self.provider.issuer(), url.split('"').next().unwrap()).replace("&amp;", "&");
        let begun = self.agree(&url, &page).await;
        self.visit(&begun.callback, credential, &begun.cookie).await
    }

    async fn name_of(&self, session: &TestCredential) -> String {
        name_of(&self.server, session).await
    }

    async fn audit(&self) -> Vec<AuditEntry> {
        self.server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap()
    }

    async fn count_accounts(&self) -> usize {
        self.server.service().list_accounts().await.unwrap().len()
    }

    async fn find(&self, name: &str) -> UserId {
        self.server.service().find_account(name).await.unwrap().unwrap()
    }

    async fn close(self) {
        self.server.api.instance.check_invariants().await;
        self.server.api.instance.close().await;
    }
}

#[tokio::test]
async fn person_links_service_and_signs_in_with_it() {
    for test in IdentityTest::start(&[]).await {
        let bob = test.server.add("Bob", AccountRole::User).await;
        test.server.add("Cy", AccountRole::Admin).await;
        let page = test.visit("/sign-in?next=%2Fchats", &STRANGER, "").await.page;
        for part in ["href=\"/sign-in/corp?next=%2Fchats\"", "Sign in with Corp &lt;ID&gt;"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        // Nobody has linked it.
        test.sign_in().await.assert_refused("No account here belongs to this sign-in.");
        assert_eq!(test.count_accounts().await, 3);

        let session = test.server.sign_in("Bob").await;
        let linked = test.link(&session).await;
        assert_eq!(linked.location, "/settings/profile?done=linked#identities", "{linked:?}");
        let page = test.visit(&linked.location, &session, "").await.page;
        assert!(page.contains("You can sign in with it now.") && page.contains("identities/unlink"), "{page}");
        assert!(!page.contains("Link Corp"), "{page}");
        let signed_in = test.sign_in().await;
        assert_eq!((signed_in.status, signed_in.location.as_str()), (StatusCode::SEE_OTHER, "/chats?a=b"));
        assert!(signed_in.cookies.iter().any(|cookie| cookie.starts_with("turnleaf_local_sign_in=;")), "{signed_in:?}");
        assert_eq!(test.server.status(CHATS, &signed_in.session()).await, StatusCode::OK);
        assert_eq!(test.name_of(&signed_in.session()).await, "Bob");
        // Again is no error, and another account cannot have it.
        assert_eq!(test.link(&session).await.status, StatusCode::SEE_OTHER);
        let cy = test.server.sign_in("Cy").await;
        test.link(&cy).await.assert_refused("This sign-in already belongs to another account.");
        assert_eq!(test.name_of(&test.sign_in().await.session()).await, "Bob");

        let identities = test.server.service().own_identities(bob).await.unwrap();
        let form = format!("identity_id={}", identities.linked[0].id);
        let foreign = test.server.submit("/forms/profile/identities/unlink", &cy, &form).await;
        assert_eq!(foreign.status, StatusCode::NOT_FOUND, "{foreign:?}");
        let unlinked = test.server.submit("/forms/profile/identities/unlink", &session, &form).await;
        assert_eq!(unlinked.location, "/settings/profile?done=unlinked#identities", "{unlinked:?}");
        test.sign_in().await.assert_refused("No account here belongs to this sign-in.");

        let audit = test.audit().await;
        let entry = |verb: AuditVerb, actor: Option<UserId>, outcome| {
            let is_such = |entry: &&AuditEntry| (entry.actor, entry.outcome) == (actor, outcome);
            audit.iter().filter(|entry| entry.verb == verb.as_str()).filter(is_such).count()
        };
        assert_eq!(entry(AuditVerb::LinkIdentity, Some(bob), AuditOutcome::Done), 1);
        let cy = test.find("cy").await;
        assert_eq!(entry(AuditVerb::LinkIdentity, Some(cy), AuditOutcome::Refused), 1);
        assert_eq!(entry(AuditVerb::UnlinkIdentity, Some(bob), AuditOutcome::Done), 1);
        assert_eq!(entry(AuditVerb::SignIn, Some(bob), AuditOutcome::Done), 3);
        test.close().await;
    }
}

#[tokio::test]
async fn wrong_answers_sign_nobody_in() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "eve@corp.example", "email_verified": true, "groups": [] });
        for (fault, reason) in [
            (IdentityFault::Denies, "Access was not granted."),
            (IdentityFault::OtherIssuerInAnswer, "The answer came from another sign-in service."),
            (IdentityFault::NoIdToken, "without a token that can be used"),
            (IdentityFault::WrongIssuer, "(wrong_issuer)"),
            (IdentityFault::WrongAudience, "(wrong_audience)"),
            (IdentityFault::OneOfSeveralAudiences, "(wrong_audience)"),
            (IdentityFault::Expired, "(expired_token)"),
            (IdentityFault::OfTheFuture, "(token_of_the_future)"),
            (IdentityFault::WrongNonce, "(wrong_nonce)"),
            (IdentityFault::NoNonce, "(wrong_nonce)"),
            (IdentityFault::NoSubject, "(wrong_subject)"),
            (IdentityFault::AlgorithmNone, "(wrong_algorithm)"),
            (IdentityFault::PublicKeyAsSecret, "(wrong_algorithm)"),
            (IdentityFault::UnpublishedKey, "(wrong_signature)"),
            (IdentityFault::ChangedClaims, "(wrong_signature)"),
        ] {
            test.provider.state().fault = fault;
            test.sign_in().await.assert_refused(reason);
        }
        for (fault, reason) in [
            (IdentityFault::OtherIssuer, "calls itself https://other.example"),
            (IdentityFault::PlainPkce, "does not support PKCE"),
            (IdentityFault::NoKeys, "describes itself in a way that cannot be used"),
        ] {
            test.provider.state().fault = fault;
            let refused = test.visit("/sign-in/corp", &STRANGER, "").await;
            refused.assert_refused(reason);
            assert!(refused.cookies.is_empty(), "{refused:?}");
        }
        assert_eq!(test.count_accounts().await, 1, "no account was made");
        // The same person without a fault.
        test.provider.state().fault = IdentityFault::None;
        assert_eq!(test.sign_in().await.status, StatusCode::SEE_OTHER);
        assert_eq!(test.count_accounts().await, 2);
        test.close().await;
    }
}

#[tokio::test]
async fn refusal_is_in_language_of_reader() {
    for test in IdentityTest::start(&[]).await {
        test.provider.state().fault = IdentityFault::WrongNonce;
        let begun = test.begin().await;
        let headers = [HTML, ("cookie", begun.cookie.as_str()), ("accept-language", "zh-CN")];
        let response = test.server.send(("GET", &begun.callback), &STRANGER, &headers, "").await;
        let page = text(response).await;
        assert!(
            page.contains("返回的身份无法信任（wrong_nonce）") && page.contains("使用 Corp &lt;ID&gt; 登录"),
            "{page}"
        );
        test.close().await;
    }
}

#[tokio::test]
async fn answer_counts_once_and_in_its_browser_only() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let (one, other) = (test.begin().await, test.begin().await);
        // The browser of somebody else, also one with a sign-in of its own, and one without any.
        for cookie in [other.cookie.as_str(), "", "turnleaf_local_sign_in=00"] {
            test.visit(&one.callback, &STRANGER, cookie).await.assert_refused(EXPIRED);
        }
        let (start, rest) = one.callback.split_once("state=").unwrap();
        let (state, code) = rest.split_once('&').unwrap();
        let guessed = format!("{start}state={}&{code}", state.chars().rev().collect::<String>());
        test.visit(&guessed, &STRANGER, &one.cookie).await.assert_refused(EXPIRED);
        assert_eq!(test.provider.state().tokens, 0, "no code was redeemed");
        // The code of another sign-in.
        let code = |callback: &str| callback.split_once("&code=").unwrap().1.to_owned();
        let injected = one.callback.replace(&code(&one.callback), &code(&other.callback));
        test.visit(&injected, &STRANGER, &one.cookie).await.assert_refused("(invalid_grant)");
        test.visit(&one.callback, &STRANGER, &one.cookie).await.assert_refused(EXPIRED);

        let begun = test.begin().await;
        assert_eq!(test.finish(&begun).await.status, StatusCode::SEE_OTHER);
        test.finish(&begun).await.assert_refused(EXPIRED);
        let late = test.begin().await;
        test.server
            .api
            .instance
            .sql("UPDATE identity_sign_ins SET expires_at = (SELECT created_at FROM users LIMIT 1)")
            .await;
        test.finish(&late).await.assert_refused(EXPIRED);
        // An answer to one provider is none of another, which a changed configuration makes it, too.
        let begun = test.begin().await;
        let elsewhere = FakeIdentityProvider::start().await;
        let configs = vec![test.provider.config("corp", &[]), elsewhere.config("mine", &[])];
        test.server.service().set_identity_providers(configs);
        let moved = begun.callback.replace("/sign-in/corp/", "/sign-in/mine/");
        test.visit(&moved, &STRANGER, &begun.cookie).await.assert_refused(EXPIRED);
        let gone = test.visit("/sign-in/nobody/callback?state=a&code=b", &STRANGER, &begun.cookie).await;
        assert_eq!((gone.status, gone.cookies.len()), (StatusCode::NOT_FOUND, 0), "{gone:?}");
        test.close().await;
    }
}

#[tokio::test]
async fn only_person_at_this_site_begins_sign_in() {
    for test in IdentityTest::start(&[]).await {
        let begin = async |site: &str| {
            let headers = [HTML, ("sec-fetch-site", site)];
            let to = ("GET", "/sign-in/corp?next=%2Fchats");
            BrowserAnswer::read(test.server.send(to, &STRANGER, &headers, "").await).await
        };
        for site in ["cross-site", "same-site", "something-new"] {
            let led = begin(site).await;
            assert_eq!(
                (led.status, led.location.as_str()),
                (StatusCode::SEE_OTHER, "/sign-in?next=%2Fchats"),
                "{site}"
            );
            assert!(led.cookies.is_empty(), "{site}: {led:?}");
        }
        // The link of the sign-in page, and an address that was typed.
        for site in ["same-origin", "none"] {
            let begun = begin(site).await;
            assert!(begun.location.starts_with(&test.provider.issuer()), "{site}: {begun:?}");
            assert!(begun.cookie("turnleaf_local_sign_in").is_some(), "{site}: {begun:?}");
        }
        test.close().await;
    }
}

#[tokio::test]
async fn link_belongs_to_person_who_began_it() {
    for test in IdentityTest::start(&[]).await {
        test.server.add("Bob", AccountRole::User).await;
        let (ann, bob) = (test.server.sign_in(OWNER).await, test.server.sign_in("Bob").await);
        let begin = |credential: TestCredential| {
            let (server, headers) = (&test.server, [HTML, FORM]);
            async move {
                let to = ("POST", "/forms/profile/identities/link");
                BrowserAnswer::read(server.send(to, &credential, &headers, "provider=corp").await).await
            }
        };
        for (case, other) in [("nobody", STRANGER), ("another person", bob.clone())] {
            let page = begin(ann.clone()).await;
            let (_, url) = page.page.split_once(&format!("href=\"{}", test.provider.issuer())).unwrap();
            let url = format!("{}{}", test.provider.issuer(), url.split('"').next().unwrap()).replace("&amp;", "&");
            let begun = test.agree(&url, &page).await;
            let refused = test.visit(&begun.callback, &other, &begun.cookie).await;
            refused.assert_refused(EXPIRED);
            assert_eq!(test.provider.state().tokens, 0, "{case}");
        }
        for name in ["ann", "bob"] {
            let user = test.find(name).await;
            assert!(test.server.service().own_identities(user).await.unwrap().linked.is_empty(), "{name}");
        }
        // A request from another site begins nothing.
        let headers = [HTML, FORM, ("sec-fetch-site", "cross-site")];
        let form = ("POST", "/forms/profile/identities/link");
        let response = test.server.send(form, &ann, &headers, "provider=corp").await;
        assert_eq!(response.status(), StatusCode::FORBIDDEN);
        test.close().await;
    }
}

#[tokio::test]
async fn first_sign_in_makes_account_only_for_allowed_domain() {
    for test in IdentityTest::start(&["corp.example"]).await {
        let unknown = "No account here belongs to this sign-in.";
        for (email, is_verified) in [
            ("bob@other.example", true),
            ("bob@sub.corp.example", true),
            ("bob@corp.example.evil", true),
            ("bob@corp.example", false),
        ] {
            test.provider.state().person =
                json!({ "sub": "0042", "email": email, "email_verified": is_verified, "groups": [] });
            test.sign_in().await.assert_refused(unknown);
        }
        assert_eq!(test.count_accounts().await, 1);

        // The address and the groups are in the further claims only.
        test.provider.state().person = json!({ "sub": "0042", "preferred_username": "ANN" });
        test.provider.state().user_info =
            json!({ "email": "ann@Corp.Example", "email_verified": true, "groups": ["staff", "admins"] });
        test.provider.state().fault = IdentityFault::UserInfoOfAnother;
        test.sign_in().await.assert_refused("(wrong_subject)");
        test.provider.state().fault = IdentityFault::None;
        let made = test.sign_in().await.session();
        // The name of the owner is taken, in whatever case.
        assert_eq!(test.name_of(&made).await, "ANN2");
        let account = test.find("ann2").await;
        assert_ne!(account, test.server.api.instance.owner);
        let accounts = test.server.service().list_accounts().await.unwrap();
        let listed = accounts.iter().find(|listed| listed.id == account).unwrap();
        assert_eq!((listed.role, listed.has_password, listed.has_identity), (AccountRole::User, false, true));
        assert_eq!(test.server.status(("GET", "/settings/users"), &made).await, StatusCode::FORBIDDEN);
        let db = &test.server.api.instance.db;
        let stored = identities::list(db, account).await.unwrap();
        assert_eq!(stored[0].issuer, test.provider.issuer());
        assert_eq!(identity_groups::names(db, 9).await.unwrap(), ["admins", "staff"]);
        // The next time it is the same account, with the groups of that time, and an address that is not allowed.
        test.provider.state().user_info = json!({ "email": "ann@other.example", "groups": ["staff"] });
        assert_eq!(test.name_of(&test.sign_in().await.session()).await, "ANN2");
        let stored = identities::list(db, account).await.unwrap();
        assert_eq!((stored.len(), &stored[0].email), (1, &None), "it was not verified");
        assert_eq!(identity_groups::names(db, 9).await.unwrap(), ["staff"]);

        // Without a password the service is the only way in.
        let page = test.visit("/settings/profile", &made, "").await.page;
        assert!(page.contains("Your account has no password.") && !page.contains("/forms/profile/password"), "{page}");
        let form = format!("identity_id={}", stored[0].id);
        let kept = test.server.submit("/forms/profile/identities/unlink", &made, &form).await;
        assert_eq!(kept.status, StatusCode::CONFLICT);
        assert!(kept.page.contains("This is the only way to sign in to your account"), "{kept:?}");
        assert_eq!(test.name_of(&test.sign_in().await.session()).await, "ANN2");
        test.close().await;
    }
}

#[tokio::test]
async fn equal_address_joins_no_accounts() {
    for test in IdentityTest::start(&["corp.example"]).await {
        let address = "bob@corp.example";
        let bob = test.server.add(address, AccountRole::Admin).await;
        test.provider.state().person =
            json!({ "sub": "0042", "preferred_username": address, "email": address, "email_verified": true });
        let other = test.sign_in().await.session();
        assert_eq!(test.name_of(&other).await, "bob@corp.example2");
        assert_ne!(test.find("bob@corp.example2").await, bob);
        // Neither does an equal subject of another issuer.
        let elsewhere = FakeIdentityProvider::start().await;
        elsewhere.state().person = test.provider.state().person.clone();
        test.server.service().set_identity_providers(vec![elsewhere.config("corp", &[])]);
        let begun = test.visit("/sign-in/corp", &STRANGER, "").await;
        let callback = elsewhere.authorize(&begun.location).await;
        let refused = test.visit(&callback, &STRANGER, &begun.sign_in_cookie()).await;
        refused.assert_refused("No account here belongs to this sign-in.");
        assert_eq!(test.count_accounts().await, 3);
        test.close().await;
    }
}

#[tokio::test]
async fn long_return_address_of_stranger_is_not_stored() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let long = "b".repeat(limits::SIGN_IN_RETURN_BYTES);
        let page = test.visit(&format!("/sign-in/corp?next=%2Fchats%3Fa%3D{long}"), &STRANGER, "").await;
        let begun = test.agree(&page.location, &page).await;
        let done = test.finish(&begun).await;
        assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/"), "{done:?}");
        test.close().await;
    }
}

#[tokio::test]
async fn keys_of_provider_may_change_at_any_time() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let begun = test.begin().await;
        test.provider.rotate_keys();
        assert_eq!(test.finish(&begun).await.status, StatusCode::SEE_OTHER);
        test.provider.rotate_keys();
        let again = test.sign_in().await;
        assert_eq!(again.status, StatusCode::SEE_OTHER, "{again:?}");
        assert_eq!(test.count_accounts().await, 2, "it is the same person");
        test.close().await;
    }
}

#[tokio::test]
async fn disabled_account_stays_disabled() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let session = test.sign_in().await.session();
        let bob = test.find("bob").await;
        test.server.service().disable_account(Actor::default(), bob).await.unwrap();
        assert_eq!(test.server.status(CHATS, &session).await, StatusCode::UNAUTHORIZED);
        test.sign_in().await.assert_refused("Your account is disabled.");
        assert_eq!(test.count_accounts().await, 2, "no other account is made");
        test.close().await;
    }
}

#[tokio::test]
async fn reset_password_lists_identities_and_unlinks_them_on_request() {
    for test in IdentityTest::start(&[]).await {
        let bob = test.server.add("Bob", AccountRole::User).await;
        let session = test.server.sign_in("Bob").await;
        assert_eq!(test.link(&session).await.status, StatusCode::SEE_OTHER);
        let reset = async |unlinks| {
            let listed = test.server.service().reset_password(Actor::default(), bob, (&PASSWORD.into(), unlinks)).await;
            listed.unwrap().identities.into_iter().map(|identity| identity.name).collect::<Vec<_>>()
        };
        assert_eq!(reset(false).await, ["Corp <ID>"]);
        let signed_in = test.sign_in().await.session();
        assert_eq!(test.name_of(&signed_in).await, "Bob", "another password does not end it");
        assert_eq!(reset(true).await, ["Corp <ID>"]);
        assert_eq!(test.server.status(CHATS, &signed_in).await, StatusCode::UNAUTHORIZED);
        test.sign_in().await.assert_refused("No account here belongs to this sign-in.");
        assert!(reset(true).await.is_empty());
        let resets = AuditFilter { action: Some(AuditVerb::ResetPassword), ..AuditFilter::default() };
        let entries = test.server.service().audit_log(&resets, None, 10).await.unwrap();
        let targets: Vec<&str> = entries.iter().map(|entry| entry.target.as_str()).collect();
        assert_eq!(targets, ["Bob", "Bob: unlinked Corp <ID>", "Bob"]);
        test.close().await;
    }
}

#[tokio::test]
async fn sign_in_ends_former_session_of_browser() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let former = test.sign_in().await.session();
        let begun = test.begin().await;
        let signed_in = test.visit(&begun.callback, &former, &begun.cookie).await;
        assert_eq!(signed_in.status, StatusCode::SEE_OTHER, "{signed_in:?}");
        assert_eq!(test.server.status(CHATS, &former).await, StatusCode::UNAUTHORIZED);
        assert_eq!(test.server.status(CHATS, &signed_in.session()).await, StatusCode::OK);
        test.close().await;
    }
}

#[tokio::test]
async fn dangerous_form_asks_for_password_or_for_another_sign_in() {
    const FORGET: &str = "UPDATE sessions SET password_at = NULL";
    for test in IdentityTest::start(&["corp.example"]).await {
        let ann = test.server.sign_in(OWNER).await;
        test.server.api.instance.sql(FORGET).await;
        let asked = test.server.submit("/forms/profile/identities/link", &ann, "provider=corp").await;
        assert_eq!((asked.status, asked.cookie.as_str()), (StatusCode::FORBIDDEN, ""), "{asked:?}");
        assert!(asked.page.contains("name=\"provider\" value=\"corp\""), "{asked:?}");
        // So does the service, whoever asks it.
        let (service, owner) = (test.server.service(), test.server.api.instance.owner);
        let session = service.sessions(owner).await.unwrap()[0].id;
        let actor = Actor { user: Some(owner), session: Some(session), ..Actor::default() };
        let (to, client) = (("http://127.0.0.1:3000", "/"), client_at([203, 0, 113, 7]));
        let refused = service.begin_identity_sign_in("corp", to, IdentityPurpose::Link(actor), &client).await;
        let Err(AccountError::Service(ServiceError::Forbidden { code, .. })) = refused else { panic!("{refused:?}") };
        assert_eq!(code, "password_needed");

        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let bob = test.sign_in().await.session();
        test.server.api.instance.sql(FORGET).await;
        let asked = test.server.submit("/forms/profile/name", &bob, "name=Bobby").await;
        assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
        assert!(asked.page.contains("your account has no password to enter"), "{asked:?}");
        assert!(!asked.page.contains("confirm_password"), "{asked:?}");
        let again = test.sign_in().await.session();
        let saved = test.server.submit("/forms/profile/name", &again, "name=Bobby").await;
        assert_eq!(saved.location, "/settings/profile?done=saved", "{saved:?}");
        test.close().await;
    }
}

#[tokio::test]
async fn person_without_password_authenticates_again_at_provider() {
    for test in IdentityTest::start(&["corp.example"]).await {
        let person = |subject: &str, auth_time: Value| {
            let claims = json!({ "sub": subject, "email": "bob@corp.example", "email_verified": true, "groups": [] });
            let mut claims = claims.as_object().unwrap().clone();
            claims.insert("auth_time".into(), auth_time);
            test.provider.state().person = Value::Object(claims);
        };
        let rename =
            async |session: &TestCredential| test.server.submit("/forms/profile/name", session, "name=Bobby").await;
        // The provider knows the browser and does not tell since when, or for longer than a password counts.
        person("0042", json!(null));
        let first = test.sign_in().await.session();
        assert!(!test.provider.state().asked.contains_key("prompt"));
        person("0042", json!(SystemClock.now().timestamp() - 3_600));
        let bob = test.sign_in().await.session();
        for session in [&first, &bob] {
            let asked = rename(session).await;
            assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
            for part in ["href=\"/settings/profile/confirm/corp\"", "name=\"name\" value=\"Bobby\""] {
                assert!(asked.page.contains(part), "{part}: {asked:?}");
            }
        }
        let begin = async |session: &TestCredential| test.visit("/settings/profile/confirm/corp", session, "").await;
        let confirm = async || {
            let page = begin(&bob).await;
            assert_eq!(page.status, StatusCode::SEE_OTHER, "{page:?}");
            let begun = test.agree(&page.location, &page).await;
            test.visit(&begun.callback, &bob, &begun.cookie).await
        };
        // Another site begins nothing.
        for site in ["cross-site", "same-site"] {
            let to = ("GET", "/settings/profile/confirm/corp");
            let response = test.server.send(to, &bob, &[HTML, ("sec-fetch-site", site)], "").await;
            let led = BrowserAnswer::read(response).await;
            assert_eq!(led.location, "/settings/profile", "{site}: {led:?}");
            assert_eq!(led.cookie("turnleaf_local_sign_in"), None, "{site}: {led:?}");
        }
        person("0043", json!(SystemClock.now().timestamp()));
        confirm().await.assert_refused("This sign-in is not linked to your account.");
        person("0042", json!(1));
        confirm().await.assert_refused("(old_authentication)");
        // A provider that does not tell it may not have asked.
        person("0042", json!(null));
        confirm().await.assert_refused("did not say when you signed in there");
        let page = begin(&bob).await;
        let begun = test.agree(&page.location, &page).await;
        let headers = [HTML, ("cookie", begun.cookie.as_str()), ("accept-language", "zh-CN")];
        let response = test.server.send(("GET", &begun.callback), &bob, &headers, "").await;
        assert!(text(response).await.contains("没有说明你何时在那里登录"), "in the language of the reader");
        person("0042", json!(SystemClock.now().timestamp()));
        let page = begin(&bob).await;
        let begun = test.agree(&page.location, &page).await;
        test.visit(&begun.callback, &STRANGER, &begun.cookie).await.assert_refused(EXPIRED);
        assert_eq!(rename(&bob).await.status, StatusCode::FORBIDDEN, "none of these counts");

        let confirmed = confirm().await;
        assert_eq!(confirmed.location, "/settings/profile?done=confirmed", "{confirmed:?}");
        let asked = test.provider.state().asked.clone();
        assert_eq!((asked["prompt"].as_str(), asked["max_age"].as_str()), ("login", "0"));
        assert_eq!(test.server.status(CHATS, &bob).await, StatusCode::UNAUTHORIZED, "the former cookie");
        assert_eq!(rename(&confirmed.session()).await.location, "/settings/profile?done=saved");
        assert_eq!(rename(&first).await.status, StatusCode::FORBIDDEN, "it counts in its session alone");
        // An account with a password is asked for it instead.
        let ann = test.server.sign_in(OWNER).await;
        assert_eq!(begin(&ann).await.status, StatusCode::FORBIDDEN);
        test.close().await;
    }
}

#[tokio::test]
async fn server_that_is_not_set_up_gets_no_owner_from_provider() {
    for instance in crate::test_server::TestServer::on_every_database(|| {
        turnleaf_providers::scripted::ScriptedProvider::new("scripted", [])
    })
    .await
    {
        instance.service.open_setup(instance.dir.path()).await.unwrap().unwrap();
        let server = AccountsApi { api: crate::http_api::TestApi::with_accounts(instance) };
        let provider = FakeIdentityProvider::start().await;
        server.service().set_identity_providers(vec![provider.config("corp", &["corp.example"])]);
        let response = server.send(("GET", "/sign-in/corp"), &STRANGER, &[HTML], "").await;
        assert_eq!(response.headers()["location"], "/setup");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn attempts_are_limited() {
    for test in IdentityTest::start(&[]).await {
        let begun = test.begin().await;
        let forged = "/sign-in/corp/callback?state=00&code=x";
        for _ in 0..20 {
            test.visit(forged, &STRANGER, &begun.cookie).await.assert_refused(EXPIRED);
        }
        let waiting = test.visit(forged, &STRANGER, &begun.cookie).await;
        assert_eq!(waiting.status, StatusCode::TOO_MANY_REQUESTS, "{waiting:?}");
        // So does a password from there.
        let form = format!("name={OWNER}&password={}", PASSWORD.replace(' ', "+"));
        let waiting = test.server.submit("/forms/sign-in", &STRANGER, &form).await;
        assert_eq!(waiting.status, StatusCode::TOO_MANY_REQUESTS, "{waiting:?}");
        test.close().await;
    }
}

#[tokio::test]
async fn database_has_no_secret_of_sign_in() {
    for test in IdentityTest::start(&[]).await {
        let begun = test.begin().await;
        let (state, rest) = begun.callback.split_once("state=").unwrap().1.split_once('&').unwrap();
        assert!(rest.starts_with("code="), "{rest}");
        let browser = begun.cookie.strip_prefix("turnleaf_local_sign_in=").unwrap();
        let dumped = crate::account_secrets::dump(&test.server.api.instance.db).await;
        assert!(dumped.contains("identity_sign_ins") || !dumped.is_empty(), "it was read");
        for secret in [state, browser, "a secret, of this:client"] {
            assert!(!dumped.contains(secret), "{secret}");
        }
        test.close().await;
    }
}

#[tokio::test]
async fn person_who_deletes_account_and_comes_back_has_same_budgets() {
    for test in IdentityTest::start(&["corp.example"]).await {
        test.provider.state().person =
            json!({ "sub": "0042", "email": "bob@corp.example", "email_verified": true, "groups": [] });
        let (service, instance, actor) = (test.server.service(), &test.server.api.instance, Actor::default());
        let come = async || test.find(&test.name_of(&test.sign_in().await.session()).await).await;
        let of = async |account| {
            let budgets = service.budgets(account).await.unwrap();
            (budgets[0].most, budgets[0].used, budgets[0].is_default)
        };
        let first = come().await;
        let budget = |most| vec![(BudgetKind::MonthTokens, Some(most))];
        service.set_budgets(actor, BudgetTarget::Default, budget(9_000)).await.unwrap();
        service.set_budgets(actor, BudgetTarget::Account(first), budget(130)).await.unwrap();
        instance
            .sql(
                "INSERT INTO ledger (id, owner_id, provider, model, status, started_at, counted_tokens, counted_micros) \
                 SELECT id, id, 'scripted', 'model-a', 'complete', created_at, 110, 0 FROM users WHERE role = 'user'",
            )
            .await;
        assert_eq!(of(first).await, (130, 110, false));
        service.delete_own_account(first, actor).await.unwrap();
        service.finish_account_deletions().await.unwrap();
        // The account that is kept names nobody.
        assert_eq!((test.count_accounts().await, users::find(&instance.db, first).await.unwrap()), (1, None));
        let kept = users::list_deleted(&instance.db).await.unwrap();
        let identities = identities::list(&instance.db, kept[0]).await.unwrap();
        assert_eq!((kept.len(), identities.len(), &identities[0].email), (1, 1, &None));

        let second = come().await;
        assert_ne!(second, first);
        assert_eq!(of(second).await, (130, 110, false));
        service.finish_account_deletions().await.unwrap();
        assert_eq!(users::list_deleted(&instance.db).await.unwrap(), [], "nothing is kept for it any more");

        // Not for ever.
        service.delete_own_account(second, actor).await.unwrap();
        instance.sql("UPDATE identities SET created_at = '2020-01-01T00:00:00+00:00' WHERE issuer = 'former'").await;
        service.finish_account_deletions().await.unwrap();
        assert_eq!(of(come().await).await, (9_000, 0, true));
        test.close().await;
    }
}

#[tokio::test]
async fn person_of_provider_has_its_factors() {
    for test in IdentityTest::start(&[]).await {
        let by_password = test.server.sign_in(OWNER).await;
        let linked = test.link(&by_password).await;
        assert_eq!(linked.location, "/settings/profile?done=linked#identities", "{linked:?}");
        test.server.service().set_second_factor_policy(SecondFactorPolicy::Everyone);
        let by_provider = test.sign_in().await.session();
        assert_eq!(test.server.status(CHATS, &by_provider).await, StatusCode::OK);
        assert_eq!(test.server.status(CHATS, &by_password).await, StatusCode::FORBIDDEN, "it has none of its own");
        // It stays a session of the provider when its person enters the password, and it goes on with another cookie.
        age(&test.server).await;
        let form = with_confirmation("name=Ann.Lee", PASSWORD);
        let renamed = test.server.submit("/forms/profile/name", &by_provider, &form).await;
        assert_eq!(renamed.location, "/settings/profile?done=saved", "{renamed:?}");
        assert_eq!(test.server.status(CHATS, &renamed.session()).await, StatusCode::OK);
        test.close().await;
    }
}
