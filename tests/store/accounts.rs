//! Accounts with their second factors, passkeys, sessions, tokens, invitations, audit entries, groups and rules, on both
//! databases: one chapter of the walkthrough. It leaves a row in every table, with a value in every column.

use chrono::{DateTime, TimeDelta, Utc};
use turnleaf::domain::access_rights::{AudienceScope, GrantAudience, GrantTarget};
use turnleaf::domain::*;
use turnleaf_store::access_rules::{self, NewGrant, StoredAccessRule};
use turnleaf_store::account_groups;
use turnleaf_store::api_tokens::{self, NewToken};
use turnleaf_store::audit::{self, AuditEntry, AuditSelection};
use turnleaf_store::group_mappings;
use turnleaf_store::identities::{self, IdentityKey};
use turnleaf_store::identity_groups;
use turnleaf_store::identity_sign_ins::{self, StoredIdentitySignIn};
use turnleaf_store::invites::{self, NewInvite};
use turnleaf_store::passkeys::{self, NewPasskey, PasskeyUse};
use turnleaf_store::second_factors;
use turnleaf_store::sessions::{self, NewSession};
use turnleaf_store::users::{self, AccountNames};
use turnleaf_store::{Db, StoreError};
use uuid::Uuid;

use crate::domain_fixtures::{next_id, next_time};

const OWNER: AccountNames<'_> = AccountNames { name: "Ann", key: "ann" };
const OTHER: AccountNames<'_> = AccountNames { name: "Bob", key: "bob" };

fn hour() -> TimeDelta {
    TimeDelta::hours(1)
}

fn new_session(hash: u8, created_at: DateTime<Utc>) -> NewSession {
    NewSession {
        id: next_id(),
        hash: [hash; 32],
        created_at,
        expires_at: created_at + hour(),
        ip: Some("203.0.113.7".into()),
        agent: Some("Firefox".into()),
        password_at: Some(created_at),
        began_with: SessionOrigin::Password,
    }
}

fn new_token(hash: u8, created_at: DateTime<Utc>) -> NewToken {
    NewToken {
        id: next_id(),
        hash: [hash; 32],
        name: "backup".into(),
        scopes: [TokenScope::Export].into_iter().collect(),
        created_at,
        expires_at: created_at + hour(),
    }
}

/// Nobody has set up accounts before.
pub async fn check_accounts(db: &Db, owner: UserId) {
    let stranger: UserId = next_id();
    assert!(!users::is_set_up(db).await.unwrap());
    let before = users::find(db, owner).await.unwrap().unwrap();
    assert_eq!((before.name.as_str(), before.role, before.password), ("", AccountRole::Owner, None));
    let mut tx = db.begin().await.unwrap();
    assert_eq!(users::set_up_owner(&mut tx, OWNER, "hash").await.unwrap(), Some(owner));
    assert_eq!(users::set_up_owner(&mut tx, OTHER, "other").await.unwrap(), None, "it happens once");
    tx.commit().await.unwrap();
    assert!(users::is_set_up(db).await.unwrap());
    let found = users::find_by_name(db, "ann").await.unwrap().unwrap();
    assert_eq!(users::find(db, owner).await.unwrap(), Some(found.clone()));
    assert_eq!((found.id, found.name.as_str(), found.password.as_deref()), (owner, "Ann", Some("hash")));
    assert_eq!((found.role, found.auth_rev, found.disabled_at), (AccountRole::Owner, before.auth_rev + 1, None));
    assert_eq!(users::find_by_name(db, "").await.unwrap(), None);
    assert_eq!(users::find(db, stranger).await.unwrap(), None);

    let bob = check_second_account(db).await;
    check_sessions(db, owner, bob).await;
    check_tokens(db, owner, bob).await;
    check_changes(db, owner, bob).await;
    check_deletion(db, owner).await;
    check_second_factors(db, owner, bob).await;
    check_passkeys(db, owner, bob).await;
    check_invites(db, owner).await;
    let identity = check_identities(db, owner, bob).await;
    check_identity_sign_ins(db, owner).await;
    check_audit(db, owner).await;
    check_groups_and_rules(db, owner, bob).await;
    check_group_mappings(db, (owner, identity), bob).await;
}

async fn check_second_account(db: &Db) -> UserId {
    let (bob, now): (UserId, _) = (next_id(), next_time());
    let mut tx = db.begin().await.unwrap();
    let role = AccountRole::Admin;
    assert!(!users::insert(&mut tx, next_id(), OWNER, role, Some("x"), now).await.unwrap(), "the name is taken");
    assert!(users::insert(&mut tx, bob, OTHER, role, Some("secret"), now).await.unwrap());
    tx.commit().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    let renamed = users::rename(&mut tx, bob, OWNER).await;
    assert!(matches!(renamed, Err(StoreError::NotUnique)), "{renamed:?}");
    tx.rollback().await.unwrap();
    let mut tx = db.begin().await.unwrap();
    assert!(users::rename(&mut tx, bob, AccountNames { name: "BOB", key: "bob" }).await.unwrap());
    assert!(!users::rename(&mut tx, next_id(), AccountNames { name: "Nobody", key: "nobody" }).await.unwrap());
    tx.commit().await.unwrap();
    let listed = users::list_accounts(db, 10).await.unwrap();
    let listed = listed.iter().find(|account| account.id == bob).unwrap();
    assert_eq!((listed.name.as_str(), listed.role, listed.has_password), ("BOB", AccountRole::Admin, true));
    assert_eq!((listed.created_at, listed.disabled_at, listed.seen_at), (now, None, None));
    assert_eq!(users::list_accounts(db, 1).await.unwrap().len(), 1);
    bob
}

async fn check_sessions(db: &Db, owner: UserId, bob: UserId) {
    let now = next_time();
    let (first, second) = (new_session(1, now), new_session(2, now + TimeDelta::minutes(1)));
    let mut tx = db.begin().await.unwrap();
    for new in [&first, &second] {
        assert!(sessions::insert(&mut tx, bob, new).await.unwrap());
    }
    assert!(!sessions::insert(&mut tx, next_id(), &new_session(3, now)).await.unwrap(), "nobody's");
    tx.commit().await.unwrap();
    let valid =
        async |hash: u8, at: DateTime<Utc>| sessions::find_valid(db, &[hash; 32], at, at - hour()).await.unwrap();
    let found = valid(1, now).await.unwrap();
    assert_eq!((found.id, found.owner, found.role), (first.id, bob, AccountRole::Admin));
    assert_eq!((found.seen_at, found.expires_at), (now, first.expires_at));
    assert_eq!((found.began_with, found.has_password), (SessionOrigin::Password, true));
    assert_eq!((found.has_made_password, found.has_second_factor), (false, false));
    for (hash, origin) in [(50, SessionOrigin::Passkey), (51, SessionOrigin::Identity)] {
        let other = NewSession { began_with: origin, ..new_session(hash, now) };
        let mut tx = db.begin().await.unwrap();
        assert!(sessions::insert(&mut tx, bob, &other).await.unwrap());
        tx.commit().await.unwrap();
        assert_eq!(valid(hash, now).await.unwrap().began_with, origin);
        let mut tx = db.begin().await.unwrap();
        assert!(sessions::delete(&mut tx, bob, other.id).await.unwrap());
        tx.commit().await.unwrap();
    }
    assert_eq!(valid(9, now).await, None);
    assert_eq!(valid(1, first.expires_at).await, None, "it expires");
    assert_eq!(sessions::find_valid(db, &[1; 32], now, now).await.unwrap(), None, "it was not used for too long");

    let listed = sessions::list(db, bob, now, now - hour()).await.unwrap();
    assert_eq!(listed.iter().map(|session| session.id).collect::<Vec<_>>(), [second.id, first.id]);
    assert_eq!((listed[1].ip.as_deref(), listed[1].agent.as_deref()), (Some("203.0.113.7"), Some("Firefox")));
    assert_eq!((listed[1].created_at, listed[1].seen_at, listed[1].expires_at), (now, now, first.expires_at));
    assert_eq!(sessions::list(db, owner, now, now - hour()).await.unwrap(), []);
    let addresses = async |key: &str, since| sessions::list_addresses(db, key, now, since).await.unwrap();
    assert_eq!(addresses("bob", now - hour()).await, ["203.0.113.7", "203.0.113.7"]);
    assert_eq!(addresses("bob", now).await, ["203.0.113.7"], "the first was not used for too long");
    assert!(addresses("ann", now - hour()).await.is_empty() && addresses("", now - hour()).await.is_empty());

    // A session begins with a password.
    let entered = async |id| sessions::password_at(db, bob, id).await.unwrap();
    assert_eq!((entered(first.id).await, entered(next_id()).await), (Some(now), None));
    assert_eq!(sessions::password_at(db, owner, first.id).await.unwrap(), None);
    let later = now + TimeDelta::minutes(5);
    let mut tx = db.begin().await.unwrap();
    sessions::note_password(&mut tx, owner, first.id, later).await.unwrap();
    sessions::note_password(&mut tx, bob, second.id, later).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!((entered(first.id).await, entered(second.id).await), (Some(now), Some(later)));
    let mut tx = db.begin().await.unwrap();
    sessions::touch(&mut tx, owner, first.id, later).await.unwrap();
    assert!(!sessions::delete(&mut tx, owner, first.id).await.unwrap());
    assert_eq!(sessions::delete_others(&mut tx, owner, None).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(valid(1, now).await.unwrap().seen_at, now, "other accounts change nothing");
    let mut tx = db.begin().await.unwrap();
    sessions::touch(&mut tx, bob, first.id, later).await.unwrap();
    sessions::touch(&mut tx, bob, first.id, now).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(valid(1, now).await.unwrap().seen_at, later, "the time does not go back");
    let accounts = users::list_accounts(db, 10).await.unwrap();
    assert_eq!(accounts.iter().find(|account| account.id == bob).unwrap().seen_at, Some(later));

    let mut tx = db.begin().await.unwrap();
    assert!(!sessions::renew(&mut tx, owner, first.id, &[8; 32]).await.unwrap(), "it is of another account");
    assert!(sessions::renew(&mut tx, bob, first.id, &[9; 32]).await.unwrap());
    assert!(!sessions::renew(&mut tx, bob, next_id(), &[8; 32]).await.unwrap());
    tx.commit().await.unwrap();
    let (renewed, former) = (valid(9, now).await.unwrap(), valid(1, now).await);
    assert_eq!((renewed.id, renewed.expires_at, former), (first.id, first.expires_at, None));
    let mut tx = db.begin().await.unwrap();
    assert!(sessions::renew(&mut tx, bob, first.id, &first.hash).await.unwrap());
    tx.commit().await.unwrap();

    let mut tx = db.begin().await.unwrap();
    sessions::delete_surplus(&mut tx, bob, 1).await.unwrap();
    tx.commit().await.unwrap();
    assert!(valid(1, now).await.is_some() && valid(2, now).await.is_none(), "the last used one stays");
    let mut tx = db.begin().await.unwrap();
    assert!(sessions::insert(&mut tx, bob, &new_session(4, now)).await.unwrap());
    assert_eq!(sessions::delete_others(&mut tx, bob, Some(first.id)).await.unwrap(), 1);
    assert!(sessions::delete(&mut tx, bob, first.id).await.unwrap());
    assert!(sessions::insert(&mut tx, bob, &new_session(5, now)).await.unwrap());
    assert!(sessions::insert(&mut tx, bob, &new_session(7, now)).await.unwrap());
    assert!(sessions::delete_by_hash(&mut tx, &[7; 32]).await.unwrap());
    assert!(!sessions::delete_by_hash(&mut tx, &[7; 32]).await.unwrap());
    sessions::delete_expired(&mut tx, now + hour(), now - hour()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(valid(5, now).await, None);
}

async fn check_tokens(db: &Db, owner: UserId, bob: UserId) {
    let now = next_time();
    let (first, second) = (new_token(1, now), new_token(2, now));
    let mut tx = db.begin().await.unwrap();
    for new in [&first, &second] {
        assert!(api_tokens::insert(&mut tx, bob, new).await.unwrap());
    }
    assert!(!api_tokens::insert(&mut tx, next_id(), &new_token(3, now)).await.unwrap(), "nobody's");
    assert_eq!(api_tokens::count(&mut tx, bob).await.unwrap(), 2);
    assert_eq!(api_tokens::count(&mut tx, owner).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let found = api_tokens::find_valid(db, &[1; 32], now).await.unwrap().unwrap();
    assert_eq!((found.id, found.owner, found.role, found.scopes), (first.id, bob, AccountRole::Admin, first.scopes));
    assert_eq!((found.expires_at, found.last_used_at), (first.expires_at, None));
    assert_eq!(api_tokens::find_valid(db, &[9; 32], now).await.unwrap(), None);
    assert_eq!(api_tokens::find_valid(db, &[1; 32], first.expires_at).await.unwrap(), None, "it expires");

    let mut tx = db.begin().await.unwrap();
    api_tokens::touch(&mut tx, owner, first.id, now).await.unwrap();
    assert!(!api_tokens::delete(&mut tx, owner, first.id).await.unwrap());
    api_tokens::delete_ended(&mut tx, owner, now + hour()).await.unwrap();
    api_tokens::touch(&mut tx, bob, second.id, now).await.unwrap();
    tx.commit().await.unwrap();
    let listed = api_tokens::list(db, bob).await.unwrap();
    assert_eq!(listed.iter().map(|token| token.id).collect::<Vec<_>>(), [second.id, first.id]);
    assert_eq!((listed[0].last_used_at, listed[1].last_used_at), (Some(now), None));
    assert_eq!((listed[1].name.as_str(), listed[1].scopes, listed[1].created_at), ("backup", first.scopes, now));
    assert_eq!(listed[1].expires_at, first.expires_at);
    assert_eq!(api_tokens::find(db, bob, first.id).await.unwrap().as_ref(), Some(&listed[1]));
    assert_eq!(api_tokens::find(db, owner, first.id).await.unwrap(), None);
    assert_eq!(api_tokens::list(db, owner).await.unwrap(), []);
    let mut tx = db.begin().await.unwrap();
    assert!(api_tokens::delete(&mut tx, bob, first.id).await.unwrap());
    api_tokens::delete_expired(&mut tx, now).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(api_tokens::list(db, bob).await.unwrap().len(), 1);
}

/// Each change of an account ends its sessions and tokens, and those of the owner are refused.
async fn check_changes(db: &Db, owner: UserId, bob: UserId) {
    let now = next_time();
    let mut tx = db.begin().await.unwrap();
    assert!(sessions::insert(&mut tx, owner, &new_session(6, now)).await.unwrap());
    assert!(!users::disable(&mut tx, owner, now).await.unwrap(), "the owner stays");
    assert!(!users::set_role(&mut tx, owner, AccountRole::User).await.unwrap(), "the owner stays");
    assert!(!users::enable(&mut tx, owner).await.unwrap());
    assert!(users::hold_administrator(&mut tx, owner).await.unwrap());
    assert!(users::hold_administrator(&mut tx, bob).await.unwrap());
    assert!(!users::hold_administrator(&mut tx, next_id()).await.unwrap());
    tx.commit().await.unwrap();
    for (at, change) in (10..).zip(["role", "password", "sign out", "disable"]) {
        let mut tx = db.begin().await.unwrap();
        assert!(sessions::insert(&mut tx, bob, &new_session(at, now)).await.unwrap());
        assert!(api_tokens::insert(&mut tx, bob, &new_token(at, now)).await.unwrap());
        tx.commit().await.unwrap();
        let is_valid = async || {
            let session = sessions::find_valid(db, &[at; 32], now, now - hour()).await.unwrap().is_some();
            assert_eq!(api_tokens::find_valid(db, &[at; 32], now).await.unwrap().is_some(), session);
            session
        };
        assert!(is_valid().await, "{change}");
        let mut tx = db.begin().await.unwrap();
        let is_changed = match change {
            "role" => users::set_role(&mut tx, bob, AccountRole::User).await.unwrap(),
            "password" => users::set_password(&mut tx, bob, "new").await.unwrap(),
            "sign out" => users::sign_out(&mut tx, bob).await.unwrap(),
            _ => users::disable(&mut tx, bob, now).await.unwrap(),
        };
        assert!(is_changed, "{change}");
        tx.commit().await.unwrap();
        assert!(!is_valid().await, "{change}");
        assert!(sessions::find_valid(db, &[6; 32], now, now - hour()).await.unwrap().is_some(), "the owner's stay");
    }
    let mut tx = db.begin().await.unwrap();
    assert!(!sessions::insert(&mut tx, bob, &new_session(20, now)).await.unwrap(), "it is disabled");
    assert!(!api_tokens::insert(&mut tx, bob, &new_token(20, now)).await.unwrap(), "it is disabled");
    assert!(!users::disable(&mut tx, bob, now).await.unwrap(), "it is already");
    assert!(!users::set_role(&mut tx, bob, AccountRole::User).await.unwrap(), "it has the role");
    api_tokens::delete_ended(&mut tx, bob, now).await.unwrap();
    assert_eq!(api_tokens::count(&mut tx, bob).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let found = users::find(db, bob).await.unwrap().unwrap();
    assert_eq!((found.role, found.password.as_deref()), (AccountRole::User, Some("new")));
    assert_eq!(found.disabled_at, Some(now));
    // Some stay enabled with a session and a token, for the tests of damage.
    let mut tx = db.begin().await.unwrap();
    assert!(users::enable(&mut tx, bob).await.unwrap());
    assert!(!users::hold_administrator(&mut tx, bob).await.unwrap(), "the role was taken away");
    let token = new_token(30, now);
    assert!(api_tokens::insert(&mut tx, bob, &token).await.unwrap());
    api_tokens::touch(&mut tx, bob, token.id, now).await.unwrap();
    assert!(users::set_password_expiry(&mut tx, bob, now + hour()).await.unwrap());
    assert!(!users::set_password_expiry(&mut tx, next_id(), now).await.unwrap());
    assert!(!users::set_password(&mut tx, next_id(), "x").await.unwrap());
    assert!(!users::sign_out(&mut tx, next_id()).await.unwrap());
    tx.commit().await.unwrap();
    let found = users::find(db, bob).await.unwrap().unwrap();
    assert_eq!(found.password_expires_at, Some(now + hour()));
    assert!(!found.has_expired_password(now) && found.has_expired_password(now + hour()));
}

async fn check_deletion(db: &Db, owner: UserId) {
    let (cy, dan): (UserId, UserId) = (next_id(), next_id());
    let (listed, now) = (users::list_accounts(db, 10).await.unwrap().len(), next_time());
    let mut tx = db.begin().await.unwrap();
    for (id, names) in [(cy, AccountNames { name: "Cy", key: "cy" }), (dan, AccountNames { name: "Dan", key: "dan" })] {
        assert!(users::insert(&mut tx, id, names, AccountRole::User, Some("secret"), now).await.unwrap());
    }
    assert!(sessions::insert(&mut tx, cy, &new_session(40, now)).await.unwrap());
    assert!(!users::delete(&mut tx, cy).await.unwrap(), "its deletion has not started");
    assert!(!users::start_deletion(&mut tx, owner, now).await.unwrap(), "the owner stays");
    for id in [cy, dan] {
        assert!(users::start_deletion(&mut tx, id, now).await.unwrap());
        assert!(!users::start_deletion(&mut tx, id, now).await.unwrap(), "it has started");
        assert!(!users::enable(&mut tx, id).await.unwrap(), "it does not come back");
    }
    tx.commit().await.unwrap();
    assert_eq!(sessions::find_valid(db, &[40; 32], now, now - hour()).await.unwrap(), None);
    assert_eq!(users::list_deleted(db).await.unwrap(), [cy, dan]);
    let found = users::find(db, cy).await.unwrap().unwrap();
    assert_eq!((found.name.as_str(), found.password, found.disabled_at), ("", None, Some(now)));
    assert_eq!(users::find_by_name(db, "cy").await.unwrap(), None, "its name is free");
    assert_eq!(users::list_accounts(db, 10).await.unwrap().len(), listed);
    let mut tx = db.begin().await.unwrap();
    assert!(users::delete(&mut tx, cy).await.unwrap());
    assert!(!users::delete(&mut tx, cy).await.unwrap());
    tx.commit().await.unwrap();
    // The other stays for the tests of damage.
    assert_eq!(users::list_deleted(db).await.unwrap(), [dan]);
}

/// A second factor counts once a code was entered, and each code works once.
async fn check_second_factors(db: &Db, owner: UserId, bob: UserId) {
    let (now, later) = (next_time(), next_time());
    let found = async |user| second_factors::find(db, user).await.unwrap();
    assert_eq!(found(bob).await, None);
    let mut tx = db.begin().await.unwrap();
    assert!(second_factors::begin(&mut tx, bob, "first", now).await.unwrap());
    assert!(second_factors::begin(&mut tx, bob, "second", now).await.unwrap(), "it does not count yet");
    assert!(!second_factors::use_step(&mut tx, bob, 5).await.unwrap());
    assert!(!second_factors::confirm(&mut tx, bob, "first", 7, later).await.unwrap(), "it was replaced");
    assert!(!second_factors::confirm(&mut tx, owner, "second", 7, later).await.unwrap());
    tx.commit().await.unwrap();
    let stored = found(bob).await.unwrap();
    assert_eq!((stored.sealed.as_str(), stored.confirmed_at), ("second", None));

    let mut tx = db.begin().await.unwrap();
    assert!(!second_factors::is_confirmed(&mut tx, bob).await.unwrap());
    assert!(second_factors::confirm(&mut tx, bob, "second", 7, later).await.unwrap());
    assert!(second_factors::is_confirmed(&mut tx, bob).await.unwrap());
    assert!(!second_factors::is_confirmed(&mut tx, owner).await.unwrap());
    assert!(sessions::insert(&mut tx, bob, &new_session(60, later)).await.unwrap());
    assert!(!second_factors::confirm(&mut tx, bob, "second", 8, later).await.unwrap(), "once");
    assert!(!second_factors::begin(&mut tx, bob, "third", later).await.unwrap(), "it counts");
    for (step, is_new) in [(7, false), (6, false), (8, true), (8, false)] {
        assert_eq!(second_factors::use_step(&mut tx, bob, step).await.unwrap(), is_new, "{step}");
    }
    assert!(!second_factors::use_step(&mut tx, owner, 9).await.unwrap());
    let codes: [(Uuid, [u8; 32]); 2] = [[1; 32], [2; 32]].map(|hash| (next_id(), hash));
    second_factors::replace_codes(&mut tx, bob, &codes[..1], now).await.unwrap();
    second_factors::replace_codes(&mut tx, bob, &codes, now).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(found(bob).await.unwrap().confirmed_at, Some(later));
    let session = sessions::find_valid(db, &[60; 32], later, later - hour()).await.unwrap().unwrap();
    assert_eq!((session.has_made_password, session.has_second_factor), (true, true));
    let accounts = users::list_accounts(db, 10).await.unwrap();
    let with_factor: Vec<_> = accounts.iter().filter(|account| account.has_second_factor).map(|one| one.id).collect();
    assert_eq!(with_factor, [bob]);
    assert_eq!(second_factors::count_codes(db, bob).await.unwrap(), 2);
    assert_eq!(second_factors::count_codes(db, owner).await.unwrap(), 0);
    let mut tx = db.begin().await.unwrap();
    assert!(!second_factors::use_code(&mut tx, owner, &[1; 32]).await.unwrap());
    assert!(second_factors::use_code(&mut tx, bob, &[1; 32]).await.unwrap());
    assert!(!second_factors::use_code(&mut tx, bob, &[1; 32]).await.unwrap(), "once");
    assert!(!second_factors::delete(&mut tx, owner).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(second_factors::count_codes(db, bob).await.unwrap(), 1);
    let mut tx = db.begin().await.unwrap();
    assert!(second_factors::delete(&mut tx, bob).await.unwrap());
    tx.rollback().await.unwrap();
    assert!(found(bob).await.is_some(), "it stays, for the tests of damage");
}

/// A credential belongs to one account, and its authenticator counts on. One passkey stays, for the tests of damage.
async fn check_passkeys(db: &Db, owner: UserId, bob: UserId) {
    let (now, later) = (next_time(), next_time());
    let new = |id: &[u8], sign_count| NewPasskey {
        id: next_id(),
        credential_id: id.to_vec(),
        name: "My phone".into(),
        public_key: vec![0xa0],
        algorithm: -7,
        sign_count,
        is_backed_up: false,
        created_at: now,
    };
    let (first, second) = (new(b"first", u32::MAX - 1), new(b"second", 0));
    let mut tx = db.begin().await.unwrap();
    assert!(passkeys::insert(&mut tx, owner, &first).await.unwrap());
    assert!(passkeys::insert(&mut tx, owner, &second).await.unwrap());
    assert!(!passkeys::insert(&mut tx, bob, &new(b"first", 0)).await.unwrap(), "it has an account");
    assert_eq!(passkeys::count(&mut tx, owner).await.unwrap(), 2);
    assert_eq!(passkeys::count(&mut tx, bob).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(passkeys::find(db, b"third").await.unwrap(), None);
    let found = passkeys::find(db, b"first").await.unwrap().unwrap();
    assert_eq!((found.id, found.owner, found.account.as_str(), found.is_disabled), (first.id, owner, "Ann", false));
    assert_eq!((found.name, found.public_key, found.algorithm), (first.name, first.public_key, first.algorithm));
    assert_eq!(passkeys::credential_ids(db, owner).await.unwrap(), [b"first".to_vec(), b"second".to_vec()]);
    assert!(passkeys::credential_ids(db, bob).await.unwrap().is_empty());

    let used = |sign_count| PasskeyUse { sign_count, is_backed_up: true, at: later };
    let mut tx = db.begin().await.unwrap();
    assert!(!passkeys::record_use(&mut tx, bob, first.id, used(u32::MAX)).await.unwrap());
    for (id, count, is_taken) in [
        (first.id, u32::MAX - 1, false),
        (first.id, u32::MAX, true),
        (first.id, u32::MAX, false),
        (first.id, 0, false),
        (second.id, 0, true),
        (second.id, 0, true),
        (second.id, 3, true),
        (second.id, 2, false),
        (second.id, 0, false),
    ] {
        assert_eq!(passkeys::record_use(&mut tx, owner, id, used(count)).await.unwrap(), is_taken, "{count}");
    }
    tx.commit().await.unwrap();
    let listed = passkeys::list(db, owner).await.unwrap();
    let (one, other) = (&listed[0], &listed[1]);
    assert_eq!((one.id, one.name.as_str(), one.is_backed_up), (first.id, "My phone", true));
    assert_eq!((one.created_at, one.last_used_at, other.id), (now, Some(later), second.id));
    assert_eq!(passkeys::list(db, bob).await.unwrap(), []);
    let mut tx = db.begin().await.unwrap();
    assert_eq!(passkeys::delete(&mut tx, bob, second.id).await.unwrap(), None);
    assert_eq!(passkeys::delete(&mut tx, owner, second.id).await.unwrap().as_deref(), Some("My phone"));
    assert_eq!(passkeys::delete(&mut tx, owner, second.id).await.unwrap(), None);
    tx.commit().await.unwrap();
}

async fn check_invites(db: &Db, owner: UserId) {
    let now = next_time();
    let new = |hash: u8, made_by: Option<UserId>| NewInvite {
        id: next_id(),
        hash: [hash; 32],
        role: AccountRole::User,
        made_by,
        created_at: now,
        expires_at: now + hour(),
    };
    let (first, second) = (new(1, Some(owner)), new(2, None));
    let mut tx = db.begin().await.unwrap();
    for invite in [&first, &second] {
        invites::insert(&mut tx, invite).await.unwrap();
    }
    assert_eq!(invites::count_open(&mut tx, now).await.unwrap(), 2);
    tx.commit().await.unwrap();
    let found = invites::find_open(db, &[1; 32], now).await.unwrap().unwrap();
    assert_eq!((found.id, found.role, found.made_by), (first.id, AccountRole::User, Some(owner)));
    assert_eq!((found.made_by_name.as_deref(), found.created_at), (Some("Ann"), now));
    assert_eq!(found.expires_at, first.expires_at);
    assert_eq!(invites::find_open(db, &[1; 32], first.expires_at).await.unwrap(), None, "it expires");
    assert_eq!(invites::find_open(db, &[9; 32], now).await.unwrap(), None);
    let listed = invites::list_open(db, now, 9).await.unwrap();
    assert_eq!(listed.iter().map(|invite| invite.id).collect::<Vec<_>>(), [second.id, first.id]);
    assert_eq!((listed[0].made_by, listed[0].made_by_name.as_deref()), (None, None));

    let mut tx = db.begin().await.unwrap();
    assert_eq!(invites::accept(&mut tx, &[1; 32], owner, first.expires_at).await.unwrap(), None);
    assert_eq!(invites::accept(&mut tx, &[1; 32], owner, now).await.unwrap(), Some(AccountRole::User));
    assert_eq!(invites::accept(&mut tx, &[1; 32], owner, now).await.unwrap(), None, "once");
    assert!(!invites::delete_open(&mut tx, first.id).await.unwrap());
    assert!(invites::delete_open(&mut tx, second.id).await.unwrap());
    assert!(!invites::delete_open(&mut tx, second.id).await.unwrap());
    let (third, fourth) = (new(3, Some(owner)), new(4, None));
    for invite in [&third, &fourth] {
        invites::insert(&mut tx, invite).await.unwrap();
    }
    invites::delete_open_of_maker(&mut tx, next_id()).await.unwrap();
    assert_eq!(invites::count_open(&mut tx, now).await.unwrap(), 2);
    invites::delete_open_of_maker(&mut tx, owner).await.unwrap();
    assert!(!invites::delete_open(&mut tx, third.id).await.unwrap());
    assert!(invites::delete_open(&mut tx, fourth.id).await.unwrap(), "that of somebody else stays");
    invites::delete_expired(&mut tx, now).await.unwrap();
    assert_eq!(invites::count_open(&mut tx, now).await.unwrap(), 0);
    tx.commit().await.unwrap();
    assert_eq!(invites::list_open(db, now, 9).await.unwrap(), []);
}

/// Leaves the identity of the owner: a test damages its values, which are unique together.
async fn check_identities(db: &Db, owner: UserId, bob: UserId) -> IdentityId {
    let (now, own): (_, IdentityId) = (next_time(), next_id());
    let (key, email) = (IdentityKey { issuer: "https://id.example", subject: "0042" }, Some("ann@id.example"));
    let mut tx = db.begin().await.unwrap();
    assert_eq!(identities::find(&mut tx, key).await.unwrap(), None);
    assert!(identities::insert(&mut tx, owner, (own, key), now).await.unwrap());
    assert!(!identities::insert(&mut tx, bob, (next_id(), key), now).await.unwrap(), "it has an account");
    let others = [IdentityKey { subject: "0043", ..key }, IdentityKey { issuer: "https://id2.example", ..key }];
    for other in others {
        assert_eq!(identities::find(&mut tx, other).await.unwrap(), None, "{other:?}");
    }
    let found = identities::find(&mut tx, key).await.unwrap().unwrap();
    assert_eq!((found.id, found.owner, found.name.as_str(), found.is_disabled), (own, owner, "Ann", false));
    tx.commit().await.unwrap();
    let valid = identities::find_valid(db, owner, own).await.unwrap().unwrap();
    assert_eq!((valid.role, valid.last_used_at), (AccountRole::Owner, now));
    assert_eq!(identities::find_valid(db, bob, own).await.unwrap(), None);
    let listed = identities::list(db, owner).await.unwrap();
    assert_eq!((listed[0].id, listed[0].issuer.as_str(), &listed[0].email), (own, key.issuer, &None));
    assert_eq!((listed[0].created_at, listed[0].last_used_at), (now, now));
    assert_eq!(identities::list(db, bob).await.unwrap(), []);

    let later = now + hour();
    let mut tx = db.begin().await.unwrap();
    identities::record_use(&mut tx, owner, own, email, later).await.unwrap();
    identities::record_use(&mut tx, bob, own, None, later + hour()).await.unwrap();
    identities::touch(&mut tx, owner, own, now).await.unwrap();
    identities::touch(&mut tx, bob, own, later + hour()).await.unwrap();
    assert_eq!(identities::count_of_others(&mut tx, owner, "").await.unwrap(), 1);
    assert_eq!(identities::count_of_others(&mut tx, owner, key.issuer).await.unwrap(), 0);
    assert_eq!(identities::count_of_issuer(&mut tx, owner, key.issuer).await.unwrap(), 1);
    assert_eq!(identities::count_of_issuer(&mut tx, bob, key.issuer).await.unwrap(), 0);
    let keys = identities::keys(&mut tx, owner, "former").await.unwrap();
    assert_eq!(keys, [(key.issuer.to_owned(), key.subject.to_owned())]);
    assert_eq!(identities::keys(&mut tx, owner, key.issuer).await.unwrap(), []);
    tx.commit().await.unwrap();
    let listed = identities::list(db, owner).await.unwrap();
    assert_eq!((listed[0].email.as_deref(), listed[0].last_used_at), (email, later));
    let accounts = users::list_accounts(db, 10).await.unwrap();
    let with_identity: Vec<_> = accounts.iter().filter(|account| account.has_identity).map(|one| one.id).collect();
    assert_eq!(with_identity, [owner]);

    let mut tx = db.begin().await.unwrap();
    assert!(users::lock(&mut tx, owner).await.unwrap() && !users::lock(&mut tx, next_id()).await.unwrap());
    assert_eq!(identities::delete(&mut tx, bob, own).await.unwrap(), None);
    assert_eq!(identities::delete(&mut tx, owner, own).await.unwrap().as_deref(), Some(key.issuer));
    assert!(identities::insert(&mut tx, owner, (own, key), now).await.unwrap());
    identities::record_use(&mut tx, owner, own, email, later).await.unwrap();
    tx.commit().await.unwrap();
    own
}

async fn check_identity_sign_ins(db: &Db, owner: UserId) {
    let now = next_time();
    let begun = |hash: u8, expires_at: DateTime<Utc>| StoredIdentitySignIn {
        id: next_id(),
        state_hash: [hash; 32],
        browser_hash: [hash + 1; 32],
        owner: Some(owner),
        sealed: "sealed".into(),
        expires_at,
    };
    let (first, second) = (begun(1, now + hour()), begun(3, now));
    let stranger = StoredIdentitySignIn { owner: None, ..begun(5, now + hour() * 2) };
    let mut tx = db.begin().await.unwrap();
    for one in [&first, &second, &stranger] {
        identity_sign_ins::begin(&mut tx, one).await.unwrap();
    }
    assert_eq!(identity_sign_ins::take(&mut tx, &[1; 32], &[4; 32]).await.unwrap(), None, "another browser");
    assert_eq!(identity_sign_ins::take(&mut tx, &[9; 32], &[2; 32]).await.unwrap(), None, "another state");
    assert_eq!(identity_sign_ins::take(&mut tx, &[1; 32], &[2; 32]).await.unwrap(), Some(first.clone()));
    assert_eq!(identity_sign_ins::take(&mut tx, &[1; 32], &[2; 32]).await.unwrap(), None, "once");
    identity_sign_ins::delete_expired(&mut tx, now).await.unwrap();
    assert_eq!(identity_sign_ins::take(&mut tx, &[3; 32], &[4; 32]).await.unwrap(), None, "it has expired");
    identity_sign_ins::begin(&mut tx, &first).await.unwrap();
    identity_sign_ins::delete_surplus(&mut tx, 1).await.unwrap();
    assert_eq!(identity_sign_ins::take(&mut tx, &[1; 32], &[2; 32]).await.unwrap(), None, "it began first");
    assert_eq!(identity_sign_ins::take(&mut tx, &[5; 32], &[6; 32]).await.unwrap(), Some(stranger));
    identity_sign_ins::begin(&mut tx, &first).await.unwrap();
    tx.commit().await.unwrap();
}

async fn check_audit(db: &Db, owner: UserId) {
    let entry = |verb: AuditVerb, outcome| AuditEntry {
        id: next_id(),
        at: next_time(),
        actor: Some(owner),
        actor_name: Some("Ann".into()),
        token: Some(next_id()),
        ip: Some("203.0.113.7".into()),
        verb: verb.as_str().into(),
        target: "Bob".into(),
        outcome,
    };
    let first = entry(AuditVerb::Invite, AuditOutcome::Done);
    let nobody = AuditEntry { actor: None, actor_name: None, token: None, ip: None, ..first.clone() };
    let second = AuditEntry { id: next_id(), outcome: AuditOutcome::Refused, ..nobody };
    let mut tx = db.begin().await.unwrap();
    for entry in [&first, &second] {
        audit::insert(&mut tx, entry).await.unwrap();
    }
    tx.commit().await.unwrap();
    let (all, both) = (AuditSelection::default(), [second.clone(), first.clone()]);
    assert_eq!(audit::list(db, &all, 9).await.unwrap(), both);
    assert_eq!(audit::list(db, &all, 1).await.unwrap(), std::slice::from_ref(&second));
    let (fits, at) = (|selection| async move { audit::list(db, &selection, 9).await.unwrap() }, first.at);
    let only_first = AuditSelection { actor: Some(owner), ..all };
    assert_eq!(second.at, at, "they differ by their actor");
    for selection in [AuditSelection { before: Some(second.id), ..all }, only_first] {
        assert_eq!(fits(selection).await, std::slice::from_ref(&first), "{selection:?}");
    }
    let moment = TimeDelta::milliseconds(1);
    for selection in [
        AuditSelection { verb: Some(AuditVerb::Invite), ..all },
        AuditSelection { from: Some(at), until: Some(at + moment), ..all },
    ] {
        assert_eq!(fits(selection).await, both, "{selection:?}");
    }
    for selection in [
        AuditSelection { verb: Some(AuditVerb::SignIn), ..all },
        AuditSelection { actor: Some(next_id()), ..all },
        AuditSelection { from: Some(at + moment), ..all },
        AuditSelection { until: Some(at), ..all },
        AuditSelection { verb: Some(AuditVerb::SignIn), ..only_first },
    ] {
        assert_eq!(fits(selection).await, [], "{selection:?}");
    }
    let mut tx = db.begin().await.unwrap();
    audit::delete_old(&mut tx, first.at - hour()).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(audit::list(db, &all, 9).await.unwrap().len(), 2);
}

async fn check_groups_and_rules(db: &Db, owner: UserId, bob: UserId) {
    let (group, other, now): (GroupId, GroupId, _) = (next_id(), next_id(), next_time());
    let mut tx = db.begin().await.unwrap();
    account_groups::insert(&mut tx, group, "Research", now).await.unwrap();
    account_groups::insert(&mut tx, other, "Teaching", now).await.unwrap();
    for (user, is_added) in [(owner, true), (bob, true), (bob, false), (next_id(), false)] {
        assert_eq!(account_groups::add_member(&mut tx, group, user).await.unwrap(), is_added, "{user}");
    }
    assert!(!account_groups::add_member(&mut tx, next_id(), bob).await.unwrap(), "there is no such group");
    assert!(account_groups::add_member(&mut tx, other, bob).await.unwrap());
    assert!(account_groups::rename(&mut tx, group, "Lab").await.unwrap());
    assert!(!account_groups::rename(&mut tx, next_id(), "Lab").await.unwrap());
    tx.commit().await.unwrap();
    let listed = account_groups::list(db, 9).await.unwrap();
    let seen: Vec<_> = listed.iter().map(|group| (group.name.as_str(), group.members)).collect();
    assert_eq!(seen, [("Lab", 2), ("Teaching", 1)]);
    assert_eq!(account_groups::find(db, group).await.unwrap().as_ref(), listed.first());
    assert_eq!(account_groups::find(db, next_id()).await.unwrap(), None);
    let members = account_groups::members(db, group, 9).await.unwrap();
    assert_eq!(members.iter().map(|member| member.user).collect::<Vec<_>>(), [owner, bob]);
    assert_eq!(account_groups::all_members(db).await.unwrap().len(), 3);

    let model = GrantTarget::Model(ModelLock::new("openai", "large"));
    let server = GrantTarget::ToolServer("files".into());
    let (rule, of_server): (AccessRuleId, AccessRuleId) = (next_id(), next_id());
    let grants =
        [NewGrant::Group(next_id(), group), NewGrant::Group(next_id(), other), NewGrant::Account(next_id(), bob)];
    let mut tx = db.begin().await.unwrap();
    access_rules::put(&mut tx, rule, (&model, AudienceScope::Everybody), &[], now).await.unwrap();
    access_rules::put(&mut tx, next_id(), (&model, AudienceScope::Listed), &grants, now).await.unwrap();
    access_rules::put(&mut tx, of_server, (&server, AudienceScope::Everybody), &[], now).await.unwrap();
    assert_eq!(access_rules::count(&mut tx).await.unwrap(), 2);
    tx.commit().await.unwrap();
    let audience = GrantAudience { everybody: false, groups: [group, other].into(), accounts: [bob].into() };
    let first = StoredAccessRule { id: rule, target: model.clone(), audience, changed_at: now };
    let listed = access_rules::list(db).await.unwrap();
    assert_eq!((listed.rules.first(), listed.rules.len(), listed.is_incomplete), (Some(&first), 2, false));
    assert!(listed.rules[1].audience.everybody);

    // A group or a rule takes its memberships and grants with it.
    let mut tx = db.begin().await.unwrap();
    assert!(account_groups::remove_member(&mut tx, group, owner).await.unwrap());
    assert!(!account_groups::remove_member(&mut tx, group, owner).await.unwrap());
    assert!(account_groups::delete(&mut tx, other).await.unwrap());
    assert!(!account_groups::delete(&mut tx, other).await.unwrap());
    assert!(access_rules::delete(&mut tx, of_server).await.unwrap());
    assert!(!access_rules::delete(&mut tx, of_server).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(account_groups::all_members(db).await.unwrap(), [(group, bob)]);
    let listed = access_rules::list(db).await.unwrap().rules;
    assert_eq!((listed.len(), &listed[0].audience.groups), (1, &[group].into()));
}

/// Leaves the owner a member by a mapping of the group that the chapter before has left with Bob in it.
async fn check_group_mappings(db: &Db, (owner, identity): (UserId, IdentityId), bob: UserId) {
    const ISSUER: &str = "https://id.example/";
    const OTHER_ISSUER: &str = "https://id.example/other";
    let group = account_groups::list(db, 1).await.unwrap().remove(0).id;
    let names = async || identity_groups::names(db, 9).await.unwrap();
    let name = async |account: UserId, identity: IdentityId, issuer: &str, groups: &[&str]| {
        let groups: Vec<String> = groups.iter().map(|group| (*group).to_owned()).collect();
        let mut tx = db.begin().await.unwrap();
        let is_changed = identity_groups::replace(&mut tx, account, identity, (issuer, &groups)).await.unwrap();
        tx.commit().await.unwrap();
        is_changed
    };
    assert!(!name(owner, identity, ISSUER, &[]).await, "it has none");
    assert!(name(owner, identity, ISSUER, &["students"]).await);
    assert!(name(owner, identity, ISSUER, &["staff", "admins", "staff"]).await);
    assert!(!name(owner, identity, ISSUER, &["admins", "staff"]).await, "these are its groups");
    name(bob, identity, ISSUER, &["boards"]).await;
    assert_eq!(names().await, ["admins", "staff"], "it is not Bob's");
    assert_eq!(identity_groups::names(db, 1).await.unwrap().len(), 1);

    let (staff, other): (GroupMappingId, GroupMappingId) = (next_id(), next_id());
    let mut tx = db.begin().await.unwrap();
    for (group, id, issuer, external_name, is_made) in [
        (group, staff, ISSUER, "staff", true),
        (group, next_id(), ISSUER, "staff", false),
        (next_id(), next_id(), ISSUER, "staff", false),
        (group, other, OTHER_ISSUER, "boards", true),
    ] {
        let made = group_mappings::insert(&mut tx, group, id, (issuer, external_name)).await.unwrap();
        assert_eq!(made, is_made, "{group} {issuer} {external_name}");
    }
    assert_eq!(group_mappings::count(&mut tx, group).await.unwrap(), 2);
    assert_eq!(group_mappings::count(&mut tx, next_id()).await.unwrap(), 0);
    tx.commit().await.unwrap();
    let listed = group_mappings::list(db, group).await.unwrap();
    let shown: Vec<_> =
        listed.iter().map(|mapping| (mapping.id, mapping.issuer.as_str(), mapping.external_name.as_str())).collect();
    assert_eq!(shown, [(staff, ISSUER, "staff"), (other, OTHER_ISSUER, "boards")]);
    assert_eq!(group_mappings::list(db, next_id()).await.unwrap(), []);

    // The reasons of each member.
    let members = async || {
        let members = account_groups::members(db, group, 9).await.unwrap().into_iter();
        members.map(|member| (member.user, member.is_added, member.issuers)).collect::<Vec<_>>()
    };
    let (by_issuer, added) = ((owner, false, vec![ISSUER.to_owned()]), (bob, true, Vec::<String>::new()));
    assert_eq!(members().await, [by_issuer.clone(), added.clone()]);
    assert_eq!(account_groups::members(db, group, 1).await.unwrap().len(), 1);
    assert_eq!(account_groups::find(db, group).await.unwrap().unwrap().members, 2);
    assert_eq!(account_groups::list(db, 1).await.unwrap()[0].members, 2);
    let mut all = account_groups::all_members(db).await.unwrap();
    all.sort_unstable();
    let mut both = [(group, owner), (group, bob)];
    both.sort_unstable();
    assert_eq!(all, both);

    // Another issuer, another spelling and a group that is not mapped make nobody a member.
    for (issuer, groups) in
        [(OTHER_ISSUER, &["staff"][..]), (ISSUER, &["Staff"]), (ISSUER, &["staff "]), (ISSUER, &["boards"])]
    {
        assert!(name(owner, identity, issuer, groups).await);
        assert_eq!(members().await, std::slice::from_ref(&added), "{issuer} {groups:?}");
    }
    // A membership with several sources ends with the last one.
    let second: IdentityId = next_id();
    let mut tx = db.begin().await.unwrap();
    let key = IdentityKey { issuer: OTHER_ISSUER, subject: "7" };
    assert!(identities::insert(&mut tx, owner, (second, key), next_time()).await.unwrap());
    assert!(account_groups::add_member(&mut tx, group, owner).await.unwrap());
    tx.commit().await.unwrap();
    name(owner, identity, ISSUER, &["admins", "staff"]).await;
    name(owner, second, OTHER_ISSUER, &["boards"]).await;
    let issuers = vec![ISSUER.to_owned(), OTHER_ISSUER.to_owned()];
    assert_eq!(members().await, [(owner, true, issuers.clone()), added.clone()]);
    assert_eq!(account_groups::find(db, group).await.unwrap().unwrap().members, 2, "it is one member");
    let mut tx = db.begin().await.unwrap();
    let memberships = account_groups::list_of_member(&mut tx, owner).await.unwrap();
    let [membership] = &memberships[..] else { panic!("{memberships:?}") };
    let shown = (membership.group, membership.group_name.as_str(), membership.member_name.as_str());
    assert_eq!(shown, (group, "Lab", "Ann"));
    assert_eq!(account_groups::list_of_member(&mut tx, next_id()).await.unwrap(), []);
    assert!(account_groups::remove_member(&mut tx, group, owner).await.unwrap());
    tx.commit().await.unwrap();
    assert_eq!(members().await, [(owner, false, issuers), added.clone()]);
    let mut tx = db.begin().await.unwrap();
    identities::delete(&mut tx, owner, second).await.unwrap().unwrap();
    tx.commit().await.unwrap();
    assert_eq!((members().await, names().await), (vec![by_issuer, added], vec!["admins".into(), "staff".into()]));

    let mut tx = db.begin().await.unwrap();
    assert!(!group_mappings::delete(&mut tx, next_id(), other).await.unwrap());
    assert!(group_mappings::delete(&mut tx, group, other).await.unwrap());
    assert!(!group_mappings::delete(&mut tx, group, other).await.unwrap());
    tx.commit().await.unwrap();
}
