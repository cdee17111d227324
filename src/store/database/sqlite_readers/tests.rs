//! Tests of the readers over databases in memory.

use std::time::Duration;

use sqlx::AssertSqlSafe;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions};

use super::*;

/// Returns readers of an empty database in memory, over at most this many connections.
fn readers(most: u32) -> SqliteReaders {
    let pool = SqlitePoolOptions::new().max_connections(most).acquire_timeout(Duration::from_secs(10));
    SqliteReaders::new(pool.connect_lazy_with(SqliteConnectOptions::new().in_memory(true)))
}

async fn read(readers: &SqliteReaders, text: &str) -> Result<i64, Error> {
    sqlx::query_scalar(AssertSqlSafe(text.to_owned())).fetch_one(readers).await
}

#[tokio::test]
async fn connection_whose_read_succeeded_is_kept_for_next_read() {
    let readers = readers(2);
    for _ in 0..3 {
        assert_eq!(read(&readers, "SELECT 1").await.unwrap(), 1);
        let all: Vec<i64> = sqlx::query_scalar("SELECT 1 UNION SELECT 2").fetch_all(&readers).await.unwrap();
        assert_eq!(all, [1, 2]);
        // The pool has one connection, and the handover has it.
        assert_eq!((readers.pool.size(), readers.pool.num_idle()), (1, 0));
    }
}

#[tokio::test]
async fn reads_wait_for_each_other_and_survive_failures() {
    let readers = readers(1);
    let held = readers.acquire().await.unwrap();
    let waiting = async { read(&readers, "SELECT 7").await };
    let giving = async {
        tokio::task::yield_now().await;
        readers.handover().give(held);
    };
    let (row, ()) = tokio::join!(waiting, giving);
    assert_eq!(row.unwrap(), 7);
    assert!(read(&readers, "SELECT no_such_column").await.is_err());
    // A stream that is dropped in the middle.
    let mut rows = sqlx::query("SELECT 1 UNION SELECT 2").fetch(&readers);
    assert!(rows.try_next().await.unwrap().is_some());
    drop(rows);
    assert_eq!(read(&readers, "SELECT 8").await.unwrap(), 8);
}

#[tokio::test]
async fn closing_waits_for_reads_and_closes_kept_connections() {
    let readers = readers(2);
    let held = readers.acquire().await.unwrap();
    read(&readers, "SELECT 1").await.unwrap();
    assert_eq!(readers.pool.size(), 2);
    let giving = async {
        tokio::task::yield_now().await;
        readers.handover().give(held);
    };
    tokio::join!(readers.close(), giving);
    assert_eq!(readers.pool.size(), 0);
    assert!(matches!(read(&readers, "SELECT 1").await, Err(Error::PoolClosed)));
}

#[test]
fn kept_connections_are_closed_without_runtime() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let readers = runtime.block_on(async {
        let readers = readers(1);
        read(&readers, "SELECT 1").await.unwrap();
        readers
    });
    drop(runtime);
    drop(readers);
}
