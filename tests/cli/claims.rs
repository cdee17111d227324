//! A server on PostgreSQL and other processes that claim its database: a refused process has changed nothing, and a
//! server whose claim was taken exits.

use std::process::{Command, Stdio};

use sqlx::{Connection, PgConnection};

use crate::{CliServer, databases, text, turnleaf};

const LOCK: i64 = 0x7475_726e_7365_7276;

fn command(dir: &std::path::Path, url: &str) -> Command {
    let mut command = turnleaf(dir);
    command.env("DATABASE_URL", url);
    command
}

#[tokio::test]
async fn process_refused_with_75_has_not_migrated() {
    let Some(fresh) = databases::postgres("").await else { return };
    let mut holder = PgConnection::connect(&fresh.url).await.unwrap();
    sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut holder).await.unwrap();
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'";
    for arguments in [&["serve", "--listen", "127.0.0.1:0"] as &[&str], &["migrate"]] {
        let refused = command(fresh.dir.path(), &fresh.url).args(arguments).output().unwrap();
        assert_eq!(refused.status.code(), Some(75), "{arguments:?}: {}", text(&refused.stderr));
        let found: i64 = sqlx::query_scalar(tables).fetch_one(&mut holder).await.unwrap();
        assert_eq!(found, 0, "{arguments:?}");
    }
    let plan = command(fresh.dir.path(), &fresh.url).args(["migrate", "--dry-run"]).output().unwrap();
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
    holder.close().await.unwrap();
    let migrated = command(fresh.dir.path(), &fresh.url).arg("migrate").output().unwrap();
    assert_eq!(migrated.status.code(), Some(0), "{}", text(&migrated.stderr));
    fresh.close().await;
}

#[tokio::test]
async fn server_whose_claim_was_taken_exits_with_75() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let mut serve = command(fresh.dir.path(), &fresh.url);
    let mut server = CliServer::spawn(serve.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::null()));
    assert!(server.get("/readyz").starts_with("HTTP/1.1 200"));
    // The other process queues for the lock, so it gets the lock before the server can try again.
    let mut other = PgConnection::connect(&fresh.url).await.unwrap();
    let mut admin = PgConnection::connect(&fresh.url).await.unwrap();
    let wait = sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut other);
    let end = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name LIKE 'turnleaf serving%'";
    let (locked, ended) = tokio::join!(wait, sqlx::query_scalar::<_, i64>(end).fetch_one(&mut admin));
    locked.unwrap();
    assert_eq!(ended.unwrap(), 1);
    let status = tokio::task::spawn_blocking(move || server.child.wait()).await.unwrap().unwrap();
    assert_eq!(status.code(), Some(75));
    other.close().await.unwrap();
    admin.close().await.unwrap();
    fresh.close().await;
}
