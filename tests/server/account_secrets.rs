//! The setup, which makes one owner whoever comes first, invitations, and secrets, of which the database has none that
//! can be used.

use std::os::unix::fs::PermissionsExt;

use futures::future::join_all;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use sqlx::AssertSqlSafe;
use turnleaf::domain::{AccountRole, TokenScope};
use turnleaf_platform::hex::hex;
use turnleaf_providers::scripted::ScriptedProvider;
use turnleaf_service::ServiceError;
use turnleaf_service::accounts::account_error::AccountError;
use turnleaf_service::accounts::credentials::PresentedCredential;
use turnleaf_service::accounts::{Actor, SETUP_CODE_FILE};
use turnleaf_store::Db;

use crate::accounts_api::{AccountsApi, OWNER, PASSWORD, client_at};
use crate::test_server::TestServer;

async fn servers_before_setup() -> Vec<TestServer> {
    TestServer::on_every_database(|| ScriptedProvider::new("scripted", [])).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_setups_at_once_make_one_owner() {
    for instance in servers_before_setup().await {
        let code = instance.service.open_setup(instance.dir.path()).await.unwrap().unwrap();
        let setups = (0..50_u8).map(|n| {
            let (service, code) = (instance.service.clone(), code.clone());
            tokio::spawn(async move {
                let password: SecretString = PASSWORD.into();
                service.set_up(&code, &format!("Owner{n}"), &password, &client_at([10, 0, 0, n])).await.is_ok()
            })
        });
        let made: Vec<bool> = join_all(setups).await.into_iter().map(Result::unwrap).collect();
        assert_eq!(made.iter().filter(|is_made| **is_made).count(), 1, "{made:?}");
        let accounts = instance.service.list_accounts().await.unwrap();
        let [owner] = accounts.as_slice() else { panic!("{accounts:?}") };
        assert_eq!((owner.id, owner.role, owner.has_password), (instance.owner, AccountRole::Owner, true));
        assert_eq!(owner.name, format!("Owner{}", made.iter().position(|is_made| *is_made).unwrap()));
        assert_eq!(instance.service.sessions(instance.owner).await.unwrap().len(), 1);
        assert!(!instance.service.needs_setup());
        let late = instance.service.set_up(&code, "Late", &PASSWORD.into(), &client_at([10, 0, 1, 1])).await;
        assert!(
            matches!(late, Err(AccountError::Service(ServiceError::Conflict { code: "already_set_up", .. }))),
            "{late:?}"
        );
        instance.check_invariants().await;
        instance.close().await;
    }
}

#[tokio::test]
async fn setup_code_is_in_private_file_until_it_was_used() {
    for instance in servers_before_setup().await {
        let (service, folder) = (&instance.service, instance.dir.path());
        let file = folder.join(SETUP_CODE_FILE);
        let code = service.open_setup(folder).await.unwrap().unwrap();
        assert!(service.needs_setup());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{code}\n"));
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        // The next start has another one.
        let next = service.open_setup(folder).await.unwrap().unwrap();
        assert_ne!(code, next);
        let set_up = async |code: &str| service.set_up(code, OWNER, &PASSWORD.into(), &client_at([10, 0, 0, 1])).await;
        for wrong in [code.as_str(), "", "0000-0000-0000-0000-0000"] {
            let refused = set_up(wrong).await;
            assert!(
                matches!(&refused, Err(AccountError::Service(ServiceError::Invalid(field))) if field.field == "code"),
                "{refused:?}"
            );
        }
        set_up(&next.to_uppercase().replace('-', " ")).await.unwrap();
        assert!(!file.exists() && !service.needs_setup());
        assert_eq!(service.open_setup(folder).await.unwrap(), None, "a server that was set up has no setup");
        instance.close().await;
    }
}

#[tokio::test]
async fn wrong_setup_codes_are_limited() {
    for instance in servers_before_setup().await {
        let code = instance.service.open_setup(instance.dir.path()).await.unwrap().unwrap();
        let mut waits = 0;
        for _ in 0..40 {
            let tried = instance.service.set_up("0000", OWNER, &PASSWORD.into(), &client_at([10, 0, 0, 1])).await;
            waits += usize::from(matches!(tried, Err(AccountError::Wait { seconds: 1.., .. })));
        }
        assert_eq!(waits, 20);
        let blocked = instance.service.set_up(&code, OWNER, &PASSWORD.into(), &client_at([10, 0, 0, 1])).await;
        assert!(matches!(blocked, Err(AccountError::Wait { .. })), "{blocked:?}");
        instance.service.set_up(&code, OWNER, &PASSWORD.into(), &client_at([10, 0, 0, 2])).await.unwrap();
        instance.close().await;
    }
}

#[tokio::test]
async fn invitation_of_former_administrator_opens_nothing() {
    for server in AccountsApi::on_every_database().await {
        let service = server.service();
        let (bob, cy) = (server.add("Bob", AccountRole::Admin).await, server.add("Cy", AccountRole::Admin).await);
        let mut codes = Vec::new();
        for user in [Some(bob), Some(cy), None] {
            let actor = Actor { user, ..Actor::default() };
            codes.push(service.create_invite(actor, AccountRole::Admin).await.unwrap());
        }
        service.disable_account(Actor::default(), bob).await.unwrap();
        service.change_role(Actor::default(), cy, AccountRole::User).await.unwrap();
        for (code, is_open) in codes.iter().zip([false, false, true]) {
            assert_eq!(service.find_invite(code.expose()).await.unwrap().is_some(), is_open);
        }
        let client = client_at([203, 0, 113, 9]);
        let refused = service.accept_invite(codes[0].expose(), "Bob2", &PASSWORD.into(), &client).await;
        assert!(matches!(refused, Err(AccountError::Service(ServiceError::Conflict { .. }))), "{refused:?}");
        assert_eq!(service.open_invites().await.unwrap().len(), 1);
        // A request that was admitted before makes none any more.
        for user in [bob, cy] {
            let actor = Actor { user: Some(user), ..Actor::default() };
            let refused = service.create_invite(actor, AccountRole::Admin).await;
            assert!(matches!(refused, Err(AccountError::Forbidden)), "{refused:?}");
        }
        assert_eq!(service.open_invites().await.unwrap().len(), 1);
        server.api.instance.close().await;
    }
}

/// Returns everything that the database has, as text.
pub async fn dump(db: &Db) -> String {
    match db {
        Db::Sqlite { path, .. } => {
            let log = std::path::PathBuf::from(format!("{}-wal", path.display()));
            let bytes = [std::fs::read(path).unwrap(), std::fs::read(log).unwrap_or_default()].concat();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        Db::Postgres { writer, .. } => {
            const TABLES: &str = "SELECT table_name::text FROM information_schema.tables WHERE table_schema = 'public'";
            let tables: Vec<String> = sqlx::query_scalar(TABLES).fetch_all(writer).await.unwrap();
            let mut all = String::new();
            for table in tables {
                let rows = format!("SELECT row_to_json(t)::text FROM \"{table}\" t");
                let rows: Vec<String> = sqlx::query_scalar(AssertSqlSafe(rows)).fetch_all(writer).await.unwrap();
                all.extend(rows);
            }
            all
        }
    }
}

#[tokio::test]
async fn dump_of_database_has_no_secret_that_can_be_used() {
    for server in AccountsApi::on_every_database().await {
        let service = server.service();
        let session = server.sign_in(OWNER).await;
        let token = server.token(server.api.instance.owner, &TokenScope::ALL).await;
        let invite = service.create_invite(Actor::default(), AccountRole::Admin).await.unwrap();
        let setup = service.begin_second_factor(server.api.instance.owner, Actor::default()).await.unwrap();
        let now = service.supervisor().clock().now();
        let code = setup.secret.code_at(now).unwrap();
        let owner = server.api.instance.owner;
        let codes = service.confirm_second_factor(owner, Actor::default(), &code).await.unwrap();
        let code_digits = codes[0].expose().replace('-', "");
        let token_digits = token.secret().strip_prefix("tl_").unwrap();
        let dumped = dump(&server.api.instance.db).await;
        assert!(dumped.contains("$argon2id$") && dumped.contains("Test browser"), "it was read");
        for secret in [
            session.secret(),
            token_digits,
            invite.expose(),
            PASSWORD,
            setup.secret.expose(),
            codes[0].expose(),
            code_digits.as_str(),
        ] {
            assert!(!dumped.contains(secret), "{secret}");
        }
        // The stored values open nothing.
        let stored = |secret: &str| hex(Sha256::digest(secret));
        for presented in [
            PresentedCredential::session(&stored(session.secret())),
            PresentedCredential::token(&stored(token.secret())),
            PresentedCredential::token(&format!("tl_{}", stored(token.secret()))),
        ] {
            let Some(presented) = presented else { continue };
            assert!(service.authenticate(&presented).await.unwrap().is_none());
        }
        assert_eq!(service.find_invite(&stored(invite.expose())).await.unwrap().map(|invite| invite.id), None);
        assert!(service.find_invite(invite.expose()).await.unwrap().is_some());
        server.api.instance.close().await;
    }
}
