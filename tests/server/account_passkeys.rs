//! Passkeys, on both databases: how one is added, what it signs in to, each answer that counts for nothing, and how it is
//! removed.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use turnleaf::domain::encoding::url_encoding;
use turnleaf::domain::{AccountRole, AuditOutcome, AuditVerb, SecondFactorPolicy, limits};
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::accounts::management::AssignedPassword;
use turnleaf_store::accounts::passkeys::{self, PasskeyUse};

use crate::access_control::text;
use crate::account_forms::{part, with_password};
use crate::accounts_api::{AccountsApi, HTML, OWNER, PASSWORD, SubmittedForm, TestCredential};

const STRANGER: TestCredential = TestCredential::Nothing;
const CHATS: (&str, &str) = ("GET", "/api/chats");
const SITE: &str = "https://chat.example";
const BEGIN: &str = "/forms/profile/passkeys/begin";
const ADD: &str = "/forms/profile/passkeys/add";
const REMOVE: &str = "/forms/profile/passkeys/remove";
const SIGN_IN: &str = "/forms/sign-in/passkey";
const EXPIRED: &str = "This sign-in has expired or was already used.";
const UNUSABLE: &str = "This passkey cannot be used here.";

/// An authenticator with one credential, in a browser at [`SITE`].
struct TestPasskey {
    pair: EcdsaKeyPair,
    id: Vec<u8>,
    user_handle: Vec<u8>,
    sign_count: u32,
    origin: &'static str,
}

/// A ceremony that has begun.
struct BegunInPage {
    ceremony: String,
    options: Value,
}

impl BegunInPage {
    fn form(&self, answer: &Value) -> String {
        self.form_with(("ceremony", "passkey"), answer)
    }

    fn form_with(&self, (ceremony, passkey): (&str, &str), answer: &Value) -> String {
        format!("{ceremony}={}&{passkey}={}", self.ceremony, url_encoding::encode(&answer.to_string()))
    }
}

fn encoded(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

impl TestPasskey {
    fn new(id: &[u8]) -> Self {
        let (random, algorithm) = (SystemRandom::new(), &ECDSA_P256_SHA256_ASN1_SIGNING);
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap();
        Self { pair, id: id.to_vec(), user_handle: Vec::new(), sign_count: 0, origin: SITE }
    }

    fn client_data(&self, purpose: &str, options: &Value) -> String {
        json!({ "type": purpose, "challenge": options["challenge"], "origin": self.origin }).to_string()
    }

    fn authenticator_data(&self, flags: u8, rp_id: &Value) -> Vec<u8> {
        let hash = Sha256::digest(rp_id.as_str().unwrap());
        [&hash[..], &[flags], &self.sign_count.to_be_bytes()].concat()
    }

    /// Makes the credential, as a browser does with these options.
    fn make(&mut self, options: &Value) -> Value {
        self.user_handle = URL_SAFE_NO_PAD.decode(options["user"]["id"].as_str().unwrap()).unwrap();
        let (x, y) = self.pair.public_key().as_ref()[1..].split_at(32);
        let key = [&b"\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20"[..], x, b"\x22\x58\x20", y].concat();
        let id_length = u8::try_from(self.id.len()).unwrap();
        let credential = [&[0; 16][..], &[0, id_length], &self.id, &key].concat();
        let data = [self.authenticator_data(0x45, &options["rp"]["id"]), credential].concat();
        let head = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58";
        let attestation = [&head[..], &[u8::try_from(data.len()).unwrap()], &data].concat();
        let client_data = self.client_data("webauthn.create", options);
        json!({ "client_data": encoded(client_data), "attestation": encoded(attestation) })
    }

    /// Uses the credential, as a browser does with these options.
    fn sign(&self, options: &Value) -> Value {
        let client_data = self.client_data("webauthn.get", options);
        let data = self.authenticator_data(0x05, &options["rpId"]);
        let message = [&data[..], &Sha256::digest(&client_data)[..]].concat();
        let signature = self.pair.sign(&SystemRandom::new(), &message).unwrap();
        json!({
            "id": encoded(&self.id),
            "client_data": encoded(client_data),
            "authenticator_data": encoded(data),
            "signature": encoded(signature),
            "user_handle": encoded(&self.user_handle),
        })
    }
}

/// Returns servers at a public address.
async fn servers() -> Vec<AccountsApi> {
    let servers = AccountsApi::on_every_database().await;
    for server in &servers {
        server.service().set_public_origin(SITE);
    }
    servers
}

async fn profile(server: &AccountsApi, session: &TestCredential) -> String {
    text(server.send(("GET", "/settings/profile"), session, &[HTML], "").await).await
}

/// Reads the ceremony of the page on which a passkey is made.
fn begun_in(page: &str) -> BegunInPage {
    let options = part(page, "data-options=\"", "\"").replace("&quot;", "\"").replace("&amp;", "&");
    let ceremony = part(page, "name=\"ceremony\" value=\"", "\"").to_owned();
    BegunInPage { ceremony, options: serde_json::from_str(&options).unwrap() }
}

async fn begin_to_add(server: &AccountsApi, session: &TestCredential, name: &str) -> BegunInPage {
    let begun = server.submit(BEGIN, session, &format!("name={name}")).await;
    assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
    begun_in(&begun.page)
}

/// Adds a passkey to an account.
async fn add(server: &AccountsApi, session: &TestCredential, passkey: &mut TestPasskey) {
    let begun = begin_to_add(server, session, "My+phone").await;
    let form = begun.form(&passkey.make(&begun.options));
    let added = server.submit(ADD, session, &form).await;
    assert_eq!(added.location, "/settings/profile?done=passkey_added#passkeys", "{added:?}");
}

/// Asks for a challenge, as the script of a page does.
async fn begin_to_use(server: &AccountsApi, credential: &TestCredential) -> BegunInPage {
    let response = server.send(("POST", "/forms/passkey/begin"), credential, &[], "").await;
    assert_eq!(response.status(), StatusCode::OK);
    let begun: Value = serde_json::from_str(&text(response).await).unwrap();
    assert!(begun["options"].get("allowCredentials").is_none(), "{begun}");
    let ceremony = begun["ceremony"].as_str().unwrap().to_owned();
    BegunInPage { ceremony, options: begun["options"].clone() }
}

async fn sign_in(server: &AccountsApi, passkey: &TestPasskey) -> SubmittedForm {
    let begun = begin_to_use(server, &STRANGER).await;
    let form = format!("next=%2Fchats&{}", begun.form(&passkey.sign(&begun.options)));
    server.submit(SIGN_IN, &STRANGER, &form).await
}

fn assert_refused(done: &SubmittedForm, sentence: &str) {
    assert_eq!((done.status, done.cookie.as_str()), (StatusCode::CONFLICT, ""), "{sentence}: {done:?}");
    assert!(done.page.contains(sentence), "{sentence}: {done:?}");
}

/// Lets all sessions forget that the password was entered.
async fn age(server: &AccountsApi) {
    server.api.instance.sql("UPDATE sessions SET password_at = NULL").await;
}

#[tokio::test]
async fn passkey_is_added_signs_in_and_is_removed() {
    for server in servers().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let ann = server.sign_in(OWNER).await;
        let mut passkey = TestPasskey::new(b"first");
        let begun = begin_to_add(&server, &ann, "My+phone").await;
        let options = &begun.options;
        assert_eq!(options["rp"], json!({ "id": "chat.example", "name": "Turnleaf" }));
        assert_eq!(options["user"]["id"], encoded(owner.uuid().as_bytes()));
        assert_eq!(options["attestation"], "none");
        assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
        assert_eq!(options["authenticatorSelection"]["residentKey"], "required");
        assert_eq!(options["pubKeyCredParams"][0]["alg"], -7);
        let added = server.submit(ADD, &ann, &begun.form(&passkey.make(options))).await;
        assert_eq!(added.location, "/settings/profile?done=passkey_added#passkeys", "{added:?}");
        let page = profile(&server, &ann).await;
        assert!(page.contains("My phone") && page.contains("Never used"), "{page}");
        // Browsers that have it make no second one.
        let again = begin_to_add(&server, &ann, "Another").await;
        assert_eq!(again.options["excludeCredentials"][0]["id"], encoded(b"first"));

        let done = sign_in(&server, &passkey).await;
        assert_eq!((done.status, done.location.as_str()), (StatusCode::SEE_OTHER, "/chats"), "{done:?}");
        let session = done.session();
        // It counts as the password.
        let renamed = server.submit("/forms/profile/name", &session, "name=Ann").await;
        assert_eq!(renamed.location, "/settings/profile?done=saved", "{renamed:?}");
        assert!(service.passkeys(owner).await.unwrap()[0].last_used_at.is_some());
        let log = service.audit_log(&AuditFilter::default(), None, 100).await.unwrap();
        for (verb, target) in [("add_passkey", "My phone"), ("use_passkey", "My phone"), ("sign_in", OWNER)] {
            assert!(log.iter().any(|entry| entry.verb == verb && entry.target == target), "{verb}: {log:?}");
        }

        let id = service.passkeys(owner).await.unwrap()[0].id;
        let form = format!("passkey_id={id}");
        age(&server).await;
        let asked = server.submit(REMOVE, &session, &form).await;
        assert_eq!(asked.status, StatusCode::FORBIDDEN, "{asked:?}");
        let form = format!("{form}&confirm_password={}", PASSWORD.replace(' ', "+"));
        let removed = server.submit(REMOVE, &session, &form).await;
        assert_eq!(removed.location, "/settings/profile?done=passkey_removed#passkeys", "{removed:?}");
        assert_eq!(server.submit(REMOVE, &removed.session(), &form).await.status, StatusCode::NOT_FOUND);
        assert_refused(&sign_in(&server, &passkey).await, UNUSABLE);
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn passkey_is_required_second_factor_beside_which_password_does_not_sign_in() {
    for server in servers().await {
        let service = server.service();
        service.set_second_factor_policy(SecondFactorPolicy::Everyone);
        let ann = server.sign_in(OWNER).await;
        assert_eq!(server.status(CHATS, &ann).await, StatusCode::FORBIDDEN);
        let page = text(server.send(("GET", "/finish-sign-in"), &ann, &[HTML], "").await).await;
        assert!(page.contains(&format!("data-passkeys=\"{SITE}\"")), "{page}");
        let unnamed = server.submit(BEGIN, &ann, "next=%2Fchats&name=").await;
        assert_eq!(unnamed.status, StatusCode::UNPROCESSABLE_ENTITY, "{unnamed:?}");
        assert!(unnamed.page.contains("action=\"/forms/profile/second-factor/begin\""), "{unnamed:?}");
        let mut passkey = TestPasskey::new(b"first");
        let begun = server.submit(BEGIN, &ann, "next=%2Fchats&name=My+phone").await;
        assert!(begun.page.contains("name=\"next\" value=\"/chats\""), "{begun:?}");
        let begun = begun_in(&begun.page);
        let form = format!("next=%2Fchats&{}", begun.form(&passkey.make(&begun.options)));
        let added = server.submit(ADD, &ann, &form).await;
        assert_eq!(added.location, "/chats", "{added:?}");
        assert_eq!(server.status(CHATS, &ann).await, StatusCode::OK);

        let refused = server.submit("/forms/sign-in", &STRANGER, &with_password("", OWNER, PASSWORD)).await;
        assert_eq!((refused.status, refused.cookie.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, ""), "{refused:?}");
        assert!(refused.page.contains("Sign in with your passkey."), "{refused:?}");
        let done = sign_in(&server, &passkey).await;
        assert_eq!(server.status(CHATS, &done.session()).await, StatusCode::OK, "{done:?}");
        let form = format!("passkey_id={}", service.passkeys(server.api.instance.owner).await.unwrap()[0].id);
        let kept = server.submit(REMOVE, &ann, &form).await;
        assert!(kept.status == StatusCode::CONFLICT && kept.page.contains("the last one stays"), "{kept:?}");
        // A password that the command line has made is not asked of whoever has a passkey.
        let made = AssignedPassword::made("a1b2c3d4e5f6a7b8c9d0".to_owned());
        service.reset_password(Actor::default(), server.api.instance.owner, (&made, false)).await.unwrap();
        let done = sign_in(&server, &passkey).await;
        assert_eq!(server.status(CHATS, &done.session()).await, StatusCode::OK, "{done:?}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn passkey_stands_in_for_password_and_second_factor() {
    for server in servers().await {
        let bob = server.add("Bob", AccountRole::User).await;
        let (ann, bob_session) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        let (mut passkey, mut of_bob) = (TestPasskey::new(b"ann"), TestPasskey::new(b"bob"));
        add(&server, &ann, &mut passkey).await;
        add(&server, &bob_session, &mut of_bob).await;
        let begun = server.submit("/forms/profile/second-factor/begin", &ann, "").await;
        assert_eq!(begun.status, StatusCode::OK, "{begun:?}");
        server.api.instance.sql("UPDATE second_factors SET confirmed_at = created_at").await;
        let asked = server.submit("/forms/sign-in", &STRANGER, &with_password("", OWNER, PASSWORD)).await;
        assert!(asked.page.contains("/forms/sign-in/code"), "{asked:?}");
        let done = sign_in(&server, &passkey).await;
        assert_eq!(done.location, "/chats", "no code is asked for: {done:?}");

        age(&server).await;
        let (rename, names) = ("/forms/profile/name", ("confirm_ceremony", "confirm_passkey"));
        let asked = server.submit(rename, &ann, "name=Ann.Lee").await;
        assert!(asked.status == StatusCode::FORBIDDEN && asked.page.contains("name=\"confirm_passkey\""), "{asked:?}");
        // The passkey of somebody else, and the challenge of a stranger.
        let begun = begin_to_use(&server, &ann).await;
        let form = begun.form_with(names, &of_bob.sign(&begun.options));
        assert_refused(&server.submit(rename, &ann, &format!("name=Ann.Lee&{form}")).await, UNUSABLE);
        let begun = begin_to_use(&server, &STRANGER).await;
        let form = begun.form_with(names, &passkey.sign(&begun.options));
        let refused = server.submit(rename, &ann, &format!("name=Ann.Lee&{form}")).await;
        assert_refused(&refused, EXPIRED);
        assert!(refused.page.contains("value=\"Ann.Lee\"") && !refused.page.contains("value=\"{"), "{refused:?}");
        // That of a person is not for a sign-in either.
        let begun = begin_to_use(&server, &ann).await;
        let form = begun.form(&passkey.sign(&begun.options));
        assert_refused(&server.submit(SIGN_IN, &STRANGER, &form).await, EXPIRED);
        let begun = begin_to_use(&server, &ann).await;
        let form = begun.form_with(names, &passkey.sign(&begun.options));
        let done = server.submit(rename, &ann, &format!("name=Ann.Lee&{form}")).await;
        assert_eq!(done.location, "/settings/profile?done=saved", "{done:?}");
        // The session goes on with another cookie.
        let status = async |cookie: &TestCredential| server.status(("GET", "/api/chats"), cookie).await;
        assert_eq!((status(&ann).await, status(&done.session()).await), (StatusCode::UNAUTHORIZED, StatusCode::OK));
        // Without passkeys nothing is offered.
        let of_bob = server.service().passkeys(bob).await.unwrap()[0].id;
        server.service().remove_passkey(bob, Actor::default(), of_bob).await.unwrap();
        age(&server).await;
        let asked = server.submit(rename, &bob_session, "name=Bob.Lee").await;
        assert!(asked.status == StatusCode::FORBIDDEN && !asked.page.contains("confirm_passkey"), "{asked:?}");
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn answers_count_once_and_only_if_they_are_right() {
    for server in servers().await {
        let ann = server.sign_in(OWNER).await;
        let mut passkey = TestPasskey::new(b"first");
        add(&server, &ann, &mut passkey).await;
        let begun = begin_to_use(&server, &STRANGER).await;
        let form = begun.form(&passkey.sign(&begun.options));
        assert_eq!(server.submit(SIGN_IN, &STRANGER, &form).await.location, "/");
        assert_refused(&server.submit(SIGN_IN, &STRANGER, &form).await, EXPIRED);
        // A wrong answer ends its challenge, too.
        let begun = begin_to_use(&server, &STRANGER).await;
        for (answer, sentence) in [("{}", UNUSABLE), ("{}", EXPIRED)] {
            let form = format!("ceremony={}&passkey={}", begun.ceremony, url_encoding::encode(answer));
            assert_refused(&server.submit(SIGN_IN, &STRANGER, &form).await, sentence);
        }
        // The answer to another challenge, of another site, for another account, of another key, and of no account.
        let (one, other) = (begin_to_use(&server, &STRANGER).await, begin_to_use(&server, &STRANGER).await);
        let crossed = one.form(&passkey.sign(&other.options));
        assert_refused(&server.submit(SIGN_IN, &STRANGER, &crossed).await, UNUSABLE);
        passkey.origin = "https://chat.example.evil.example";
        assert_refused(&sign_in(&server, &passkey).await, UNUSABLE);
        passkey.origin = SITE;
        let handle = std::mem::replace(&mut passkey.user_handle, vec![1; 16]);
        assert_refused(&sign_in(&server, &passkey).await, UNUSABLE);
        passkey.user_handle = handle;
        let forged = TestPasskey { user_handle: passkey.user_handle.clone(), ..TestPasskey::new(b"first") };
        assert_refused(&sign_in(&server, &forged).await, UNUSABLE);
        assert_refused(&sign_in(&server, &TestPasskey::new(b"unknown")).await, UNUSABLE);
        let is_recorded = async || {
            let log = server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
            let refused = log.iter().filter(|entry| entry.outcome == AuditOutcome::Refused && entry.verb == "sign_in");
            refused.filter(|entry| entry.target == OWNER).count() == 4
        };
        while !is_recorded().await {
            tokio::task::yield_now().await;
        }
        assert_eq!(sign_in(&server, &passkey).await.location, "/chats");
        server.api.instance.sql("UPDATE users SET disabled_at = created_at").await;
        assert_refused(&sign_in(&server, &passkey).await, "Your account is disabled.");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn reset_password_lists_passkeys_and_removes_them_on_request() {
    for server in servers().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let bob = server.add("Bob", AccountRole::User).await;
        let (ann, of_bob) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        let (mut passkey, mut other) = (TestPasskey::new(b"first"), TestPasskey::new(b"second"));
        add(&server, &ann, &mut passkey).await;
        add(&server, &of_bob, &mut other).await;
        let reset = async |unlinks| {
            let listed = service.reset_password(Actor::default(), bob, (&PASSWORD.into(), unlinks)).await;
            listed.unwrap().passkeys.into_iter().map(|passkey| passkey.name).collect::<Vec<_>>()
        };
        assert_eq!(reset(false).await, ["My phone"]);
        assert_eq!(sign_in(&server, &other).await.location, "/chats", "another password does not end it");
        assert_eq!(reset(true).await, ["My phone"]);
        assert_refused(&sign_in(&server, &other).await, UNUSABLE);
        assert!(reset(true).await.is_empty());
        // Those of others stay.
        assert_eq!(service.passkeys(owner).await.unwrap().len(), 1);
        assert_eq!(sign_in(&server, &passkey).await.location, "/chats");
        let resets = AuditFilter { action: Some(AuditVerb::ResetPassword), ..AuditFilter::default() };
        let entries = service.audit_log(&resets, None, 10).await.unwrap();
        let targets: Vec<&str> = entries.iter().map(|entry| entry.target.as_str()).collect();
        assert_eq!(targets, ["Bob", "Bob: removed passkeys My phone", "Bob"]);
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn authenticator_that_does_not_count_on_is_refused() {
    for server in servers().await {
        let ann = server.sign_in(OWNER).await;
        let mut passkey = TestPasskey::new(b"first");
        passkey.sign_count = 7;
        add(&server, &ann, &mut passkey).await;
        for (count, is_taken) in [(7, false), (6, false), (8, true), (8, false), (0, false), (1, false), (10, true)] {
            passkey.sign_count = count;
            let done = sign_in(&server, &passkey).await;
            assert_eq!(done.status == StatusCode::SEE_OTHER, is_taken, "{count}: {done:?}");
        }
        // Two uses of one count are one.
        let (db, owner) = (&server.api.instance.db, server.api.instance.owner);
        let id = passkeys::list(db, owner).await.unwrap()[0].id;
        let used = PasskeyUse { sign_count: 12, is_backed_up: false, at: server.service().supervisor().clock().now() };
        let mut tx = db.begin().await.unwrap();
        for is_first in [true, false] {
            assert_eq!(passkeys::record_use(&mut tx, owner, id, used).await.unwrap(), is_first);
        }
        tx.commit().await.unwrap();
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn adding_needs_password_name_room_and_new_credential() {
    for server in servers().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        let bob_id = server.add("Bob", AccountRole::User).await;
        let (ann, bob) = (server.sign_in(OWNER).await, server.sign_in("Bob").await);
        let mut passkey = TestPasskey::new(b"first");
        for name in ["", "+", &"a".repeat(limits::PASSKEY_NAME_CHARS + 1)] {
            let refused = server.submit(BEGIN, &ann, &format!("name={name}")).await;
            assert_eq!(refused.status, StatusCode::UNPROCESSABLE_ENTITY, "{name}: {refused:?}");
            assert!(!refused.page.contains("data-options"), "{name}: {refused:?}");
        }
        age(&server).await;
        let asked = server.submit(BEGIN, &ann, "name=Phone").await;
        assert!(asked.status == StatusCode::FORBIDDEN && asked.page.contains("value=\"Phone\""), "{asked:?}");
        let confirmed = format!("name=Phone&confirm_password={}", PASSWORD.replace(' ', "+"));
        let done = server.submit(BEGIN, &ann, &confirmed).await;
        let (ann, begun) = (done.session(), begun_in(&done.page));
        let form = begun.form(&passkey.make(&begun.options));
        age(&server).await;
        let asked = server.submit(ADD, &ann, &form).await;
        assert!(
            asked.status == StatusCode::FORBIDDEN && asked.page.contains(&begun.ceremony),
            "nothing is lost: {asked:?}"
        );
        let confirmed = format!("{form}&confirm_password={}", PASSWORD.replace(' ', "+"));
        let added = server.submit(ADD, &ann, &confirmed).await;
        assert_eq!(added.location, "/settings/profile?done=passkey_added#passkeys", "{added:?}");
        let ann = added.session();
        // Once, and only in the account that began it.
        assert_refused(&server.submit(ADD, &ann, &form).await, "The passkey could not be added.");
        let begun = begin_to_add(&server, &ann, "Other").await;
        let form = begun.form(&TestPasskey::new(b"other").make(&begun.options));
        let confirmed = format!("{form}&confirm_password={}", PASSWORD.replace(' ', "+"));
        let refused = server.submit(ADD, &bob, &confirmed).await;
        assert_eq!(refused.status, StatusCode::CONFLICT, "{refused:?}");
        assert!(refused.page.contains("The passkey could not be added."), "{refused:?}");
        let bob = refused.session();
        let begun = begin_to_add(&server, &bob, "Twice").await;
        let form = begun.form(&TestPasskey::new(b"first").make(&begun.options));
        assert_refused(&server.submit(ADD, &bob, &form).await, "The passkey could not be added.");
        assert!(service.passkeys(bob_id).await.unwrap().is_empty());
        assert_eq!(service.passkeys(owner).await.unwrap().len(), 1);
        // That of somebody else is not removed.
        let foreign = format!("passkey_id={}", service.passkeys(owner).await.unwrap()[0].id);
        assert_eq!(server.submit(REMOVE, &bob, &foreign).await.status, StatusCode::NOT_FOUND);
        for number in 0..limits::PASSKEYS_PER_USER {
            add(&server, &bob, &mut TestPasskey::new(&number.to_be_bytes())).await;
        }
        let full = server.submit(BEGIN, &bob, "name=Full").await;
        assert!(full.status == StatusCode::CONFLICT && full.page.contains("at most 20"), "{full:?}");
        service.delete_own_account(bob_id, Actor::default()).await.unwrap();
        assert!(service.passkeys(bob_id).await.unwrap().is_empty());
        server.api.instance.check_invariants().await;
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn passkeys_are_offered_only_where_browsers_have_them() {
    for server in AccountsApi::on_every_database().await {
        let service = server.service();
        let ann = server.sign_in(OWNER).await;
        // The tests come to an address without a name.
        let sign_in = async || text(server.send(("GET", "/sign-in"), &STRANGER, &[HTML], "").await).await;
        assert!(!sign_in().await.contains("passkey\"") && !profile(&server, &ann).await.contains("data-passkeys="));
        assert_eq!(
            server.send(("POST", "/forms/passkey/begin"), &STRANGER, &[], "").await.status(),
            StatusCode::CONFLICT
        );
        assert_refused(&server.submit(BEGIN, &ann, "name=Phone").await, "Passkeys cannot be used at this address.");
        service.set_public_origin(SITE);
        let offered = "data-passkeys=\"https://chat.example\" hidden";
        let page = sign_in().await;
        assert!(page.contains(offered) && page.contains("import(\"/passkeys.js\")"), "{page}");
        assert!(profile(&server, &ann).await.contains(offered));
        // An account that signs in at another service gets none.
        server.api.instance.sql("UPDATE users SET password = NULL").await;
        assert!(!profile(&server, &ann).await.contains("data-passkeys="));
        assert_refused(&server.submit(BEGIN, &ann, "name=Phone").await, "Passkeys cannot be used at this address.");
        let script = server.send(("GET", "/passkeys.js"), &STRANGER, &[], "").await;
        assert_eq!(script.headers()["content-type"], "text/javascript; charset=utf-8");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn challenges_of_network_are_limited_unless_they_are_used() {
    for server in servers().await {
        let ann = server.sign_in(OWNER).await;
        let mut passkey = TestPasskey::new(b"first");
        add(&server, &ann, &mut passkey).await;
        for _ in 0..5 {
            assert_eq!(sign_in(&server, &passkey).await.location, "/chats");
        }
        for _ in 0..limits::IDENTITY_SIGN_INS_PER_NETWORK {
            begin_to_use(&server, &STRANGER).await;
        }
        let waiting = server.send(("POST", "/forms/passkey/begin"), &STRANGER, &[], "").await;
        assert_eq!(waiting.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!(waiting.headers().contains_key("retry-after"));
        server.api.instance.close().await;
    }
}
