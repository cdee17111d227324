//! The claim of a database: it keeps other processes out, is acquired again when its connection is lost, and is given
//! up when another process held the database in between.

use std::time::Duration;

use futures::FutureExt;
use sqlx::{Connection, PgConnection};
use tokio::time::timeout;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_store::database::claim::ClaimState;
use turnleaf_store::{Claim, Db, StoreError, TimeLimits};

use crate::databases::{TestDatabase, empty_sqlite, migrated_postgres, noon};
use crate::migrations::empty_postgres;
use crate::postgres_proxy::PostgresProxy;

const LOCK: i64 = 0x7475_726e_7365_7276;
const SHORT: TimeLimits = TimeLimits {
    acquire: Duration::from_millis(500),
    probe: Duration::from_millis(300),
    probe_every: Duration::from_millis(50),
    ..TimeLimits::SERVING
};
const SOON: Duration = Duration::from_secs(10);

async fn claim_database(db: &Db) -> Claim {
    let mut claim = Claim::acquire(db, ids::mint()).await.unwrap();
    claim.start_epoch().await.unwrap();
    claim
}

async fn wait_for_claim(db: &Db, is_so: impl Fn(ClaimState) -> bool) {
    let waiting = async {
        while !is_so(db.claim_state()) {
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, waiting).await.unwrap_or_else(|_| panic!("it stays {:?}", db.claim_state()));
}

/// Ends the session that holds the claim and returns the number of ended sessions.
async fn terminate_claim(admin: &mut PgConnection) {
    const END: &str = "SELECT count(pg_terminate_backend(l.pid)) FROM pg_locks l \
        JOIN pg_stat_activity a ON a.pid = l.pid AND a.datname = current_database() \
        WHERE l.locktype = 'advisory' AND l.granted AND a.application_name LIKE 'turnleaf serving%'";
    let ended: i64 = sqlx::query_scalar(END).fetch_one(admin).await.unwrap();
    assert_eq!(ended, 1);
}

/// A busy PostgreSQL server notices late that a client is gone, so a start waits for the old session.
#[tokio::test]
async fn start_waits_for_session_of_killed_process() {
    const HAS_TRIED: &str = "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() \
        AND application_name = $1 AND state = 'idle' AND query LIKE '%advisory%'";
    let Some(server) = migrated_postgres().await else { return };
    let killed = claim_database(&server.db).await;
    let mut admin = PgConnection::connect(&server.url).await.unwrap();
    let next = Db::open(&server.url).await.unwrap();
    let boot: BootId = ids::mint();
    let name = format!("turnleaf serving {}", boot.uuid().simple());
    let let_go = async {
        while !sqlx::query_scalar::<_, bool>(HAS_TRIED).bind(&name).fetch_one(&mut admin).await.unwrap() {
            tokio::task::yield_now().await;
        }
        killed.release().await;
    };
    let (taken, ()) = tokio::join!(Claim::acquire(&next, boot), timeout(SOON, let_go).map(Result::unwrap));
    taken.unwrap().release().await;
    admin.close().await.unwrap();
    next.close().await;
    server.close().await;
}

#[tokio::test]
async fn only_one_process_drives_replies_of_database() {
    let file = empty_sqlite().await;
    let claim = Claim::acquire(&file.db, ids::mint()).await.unwrap();
    assert_eq!(file.db.claim_state(), ClaimState::Unclaimed, "a lock file holds the claim");
    claim.release().await;
    // The claim works before any table exists.
    let Some(server) = empty_postgres().await else { return };
    let mut held = Claim::acquire(&server.db, ids::mint()).await.unwrap();
    let second = Db::open(&server.url).await.unwrap();
    assert!(matches!(Claim::acquire(&second, ids::mint()).await, Err(StoreError::InUse)));
    server.db.migrate(None, noon()).await.unwrap();
    held.start_epoch().await.unwrap();
    assert_eq!(server.db.claim_state(), ClaimState::Held(1));
    held.release().await;
    let mut next = Claim::acquire(&second, ids::mint()).await.unwrap();
    next.start_epoch().await.unwrap();
    assert_eq!(second.claim_state(), ClaimState::Held(2), "it rises with every claim");
    next.release().await;
    second.close().await;
    server.close().await;
}

/// A database that this process has claimed and watches, and an independent connection.
async fn watched_claim() -> Option<(TestDatabase, Db, tokio::task::JoinHandle<()>, PgConnection)> {
    let fresh = migrated_postgres().await?;
    let db = Db::open_with_limits(&fresh.url, SHORT).await.unwrap();
    let mut claim = claim_database(&db).await;
    let watching = tokio::spawn(async move { claim.watch().await });
    let admin = PgConnection::connect(&fresh.url).await.unwrap();
    Some((fresh, db, watching, admin))
}

#[tokio::test]
async fn claim_is_retaken_when_its_connection_ends() {
    let Some((fresh, db, watching, mut admin)) = watched_claim().await else { return };
    let held = db.claim_state();
    // While the table is locked, the lost claim cannot be compared with its row, so it is not acquired again.
    let mut tx = admin.begin().await.unwrap();
    sqlx::query("LOCK TABLE serving_claim").execute(&mut *tx).await.unwrap();
    terminate_claim(&mut tx).await;
    wait_for_claim(&db, |state| matches!(state, ClaimState::Lost(_))).await;
    let refused = db.begin().await.unwrap_err();
    assert!(refused.is_busy(), "nothing is written meanwhile: {refused:?}");
    let waiting = tokio::spawn({
        let db = Db::clone(&db);
        async move { db.begin().await.unwrap().rollback().await.unwrap() }
    });
    tx.rollback().await.unwrap();
    wait_for_claim(&db, |state| state == held).await;
    timeout(SOON, waiting).await.unwrap().unwrap();
    assert!(!watching.is_finished());
    watching.abort();
    admin.close().await.unwrap();
    db.close().await;
    fresh.close().await;
}

#[tokio::test]
async fn claim_is_lost_when_another_process_held_it_in_between() {
    for stays in [true, false] {
        let Some((fresh, db, watching, mut admin)) = watched_claim().await else { return };
        let mut open = db.begin().await.unwrap();
        db.fence(&mut open).await.unwrap();
        open.rollback().await.unwrap();
        // The other process waits for the lock, so it acquires it first.
        let mut other = PgConnection::connect(&fresh.url).await.unwrap();
        let wait = sqlx::query("SELECT pg_advisory_lock($1)").bind(LOCK).execute(&mut other);
        let (locked, ()) = tokio::join!(wait, terminate_claim(&mut admin));
        locked.unwrap();
        if !stays {
            sqlx::query("UPDATE serving_claim SET epoch = epoch + 1").execute(&mut other).await.unwrap();
            sqlx::query("SELECT pg_advisory_unlock($1)").bind(LOCK).execute(&mut other).await.unwrap();
        }
        timeout(SOON, watching).await.unwrap().unwrap();
        assert_eq!(db.claim_state(), ClaimState::Taken, "{stays}");
        assert!(matches!(db.begin().await, Err(StoreError::InUse)));
        other.close().await.unwrap();
        admin.close().await.unwrap();
        db.close().await;
        fresh.close().await;
    }
}

#[tokio::test]
async fn fence_refuses_writes_after_claim_of_another_process() {
    let Some((fresh, db, watching, mut admin)) = watched_claim().await else { return };
    let raise = "UPDATE serving_claim SET epoch = epoch + 1";
    let mut tx = db.begin().await.unwrap();
    db.fence(&mut tx).await.unwrap();
    sqlx::query("SET lock_timeout = 50").execute(&mut admin).await.unwrap();
    let waits = StoreError::from(sqlx::query(raise).execute(&mut admin).await.unwrap_err());
    assert!(waits.is_busy(), "the next claim waits for what is under way: {waits:?}");
    tx.commit().await.unwrap();
    let mut late = db.begin().await.unwrap();
    sqlx::query(raise).execute(&mut admin).await.unwrap();
    assert!(matches!(db.fence(&mut late).await, Err(StoreError::InUse)));
    timeout(SOON, watching).await.expect("the watch ends at once").unwrap();
    drop(late);
    admin.close().await.unwrap();
    db.close().await;
    fresh.close().await;
}

#[tokio::test]
async fn claim_is_retaken_from_own_stale_session() {
    let Some(fresh) = migrated_postgres().await else { return };
    let (before, rest) = fresh.url.split_once('@').unwrap();
    let (host, name) = rest.split_once('/').unwrap();
    let proxy = PostgresProxy::start(tokio::net::lookup_host(host).await.unwrap().next().unwrap()).unwrap();
    let db = Db::open_with_limits(&format!("{before}@{}/{name}", proxy.address()), SHORT).await.unwrap();
    let mut claim = claim_database(&db).await;
    let held = db.claim_state();
    let watching = tokio::spawn(async move { claim.watch().await });
    proxy.silence_links();
    wait_for_claim(&db, |state| matches!(state, ClaimState::Lost(_))).await;
    wait_for_claim(&db, |state| state == held).await;
    watching.abort();
    proxy.cut_links();
    db.close().await;
    fresh.close().await;
}

#[tokio::test]
async fn pool_reconnects_when_server_becomes_read_only() {
    let Some(fresh) = migrated_postgres().await else { return };
    let Db::Postgres { writer, .. } = &fresh.db else { unreachable!() };
    // After a failover, open connections may lead to a server that is now a standby.
    let mut tx = fresh.db.begin().await.unwrap();
    let turnleaf_store::Tx::Postgres(conn) = &mut tx else { unreachable!() };
    let read_only = "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY";
    sqlx::query(read_only).execute(&mut **conn).await.unwrap();
    tx.commit().await.unwrap();
    for _ in 0..3 {
        let mut tx = fresh.db.begin().await.unwrap();
        turnleaf_store::accounts::users::ensure_local_owner(&mut tx, ids::mint(), noon()).await.unwrap();
        tx.commit().await.unwrap();
    }
    let mut conn = writer.acquire().await.unwrap();
    sqlx::query("BEGIN READ ONLY").execute(&mut *conn).await.unwrap();
    let refused = sqlx::query("DELETE FROM users").execute(&mut *conn).await.unwrap_err();
    assert!(StoreError::from(refused).is_busy(), "another attempt finds the new primary");
    drop(conn.detach());
    fresh.close().await;
}
