//! Limits on attempts to enter a password, on both databases: whom they stop, and what they do not tell.

use secrecy::SecretString;
use turnleaf::domain::AuditOutcome;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::audit_log::AuditFilter;
use turnleaf_service::accounts::sign_in::SignInStep;

use crate::accounts_api::{AccountsApi, OWNER, PASSWORD, client_at};

const WRONG: &str = "eleven lamps at nine";
const HOME: [u8; 4] = [203, 0, 113, 7];

/// Tries to sign in as the owner.
async fn attempt(server: &AccountsApi, password: &str, from: [u8; 4]) -> Result<SignInStep, AccountError> {
    server.service().sign_in(OWNER, &password.into(), &client_at(from)).await
}

fn is_wrong<T>(tried: &Result<T, AccountError>) -> bool {
    matches!(tried, Err(AccountError::Service(ServiceError::Invalid(_))))
}

fn must_wait<T>(tried: &Result<T, AccountError>) -> bool {
    matches!(tried, Err(AccountError::Wait { seconds: 1.., .. }))
}

#[tokio::test]
async fn strangers_do_not_keep_person_out() {
    for server in AccountsApi::on_every_database().await {
        let _session = server.sign_in(OWNER).await;
        for _ in 0..5 {
            assert!(is_wrong(&attempt(&server, WRONG, [198, 51, 100, 1]).await));
        }
        assert!(must_wait(&attempt(&server, PASSWORD, [198, 51, 100, 2]).await), "it is about the name");
        attempt(&server, PASSWORD, HOME).await.unwrap();
        for _ in 0..5 {
            assert!(is_wrong(&attempt(&server, WRONG, HOME).await));
        }
        assert!(must_wait(&attempt(&server, PASSWORD, HOME).await), "the known network has no more attempts");
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn own_password_has_same_attempts_after_rename() {
    for server in AccountsApi::on_every_database().await {
        let (service, owner) = (server.service(), server.api.instance.owner);
        for _ in 0..5 {
            assert!(is_wrong(&attempt(&server, WRONG, [198, 51, 100, 1]).await));
        }
        let (client, new): (_, SecretString) = (client_at(HOME), "another nine lamps".into());
        for number in 0..5 {
            let passwords = (&WRONG.into(), &new);
            let tried = service.change_own_password(owner, Actor::default(), passwords, &client).await;
            assert!(is_wrong(&tried), "attempts to sign in do not count: {number}");
            service.change_own_name(owner, Actor::default(), &format!("Ann{number}")).await.unwrap();
        }
        let passwords = (&PASSWORD.into(), &new);
        assert!(must_wait(&service.change_own_password(owner, Actor::default(), passwords, &client).await));
        server.api.instance.close().await;
    }
}

#[tokio::test]
async fn refused_sign_in_does_not_wait_for_its_audit_entry() {
    for server in AccountsApi::on_every_database().await {
        // The only writer of SQLite is taken: a name that exists has the answer of one that does not, as soon.
        let tx = server.api.instance.db.begin().await.unwrap();
        assert!(is_wrong(&attempt(&server, WRONG, HOME).await));
        tx.rollback().await.unwrap();
        let is_recorded = async || {
            let entries = server.service().audit_log(&AuditFilter::default(), None, 100).await.unwrap();
            entries.iter().any(|entry| entry.outcome == AuditOutcome::Refused && entry.target == OWNER)
        };
        while !is_recorded().await {
            tokio::task::yield_now().await;
        }
        server.api.instance.close().await;
    }
}
