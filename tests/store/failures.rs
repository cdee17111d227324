//! Errors of the store when its database fails, and its recovery without a restart.

use std::time::Duration;

use crate::databases::{empty_sqlite, noon, test_databases};
use crate::domain_fixtures::{branch, chat, exchange, frozen_settings, next_id, next_time, turn};
use crate::migrations::empty_postgres;
use sqlx::Connection;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use turnleaf::domain::*;
use turnleaf_store::accounts::{settings, users};
use turnleaf_store::turns::events::{self, EventRow};
use turnleaf_store::turns::{self, exchanges};
use turnleaf_store::{Db, StoreError, branches, chats};

pub async fn create_owner(db: &Db) -> UserId {
    let mut tx = db.begin().await.unwrap();
    let owner = users::ensure_local_owner(&mut tx, next_id(), next_time()).await.unwrap();
    tx.commit().await.unwrap();
    owner
}

/// Creates a chat whose turns form one path of this length.
pub async fn create_linear_chat(db: &Db, owner: UserId, length: i64) -> (ChatId, Vec<Turn>) {
    let chat = chat(owner);
    let branch = branch(chat.id);
    let mut tx = db.begin().await.unwrap();
    chats::insert(&mut tx, &chat).await.unwrap();
    branches::insert(&mut tx, &branch, &frozen_settings()).await.unwrap();
    let mut line: Vec<Turn> = Vec::new();
    for _ in 0..length {
        let ord = chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap().unwrap();
        let mut next = turn(&branch, next_id(), line.last(), ord, Role::User);
        let exchange = exchange(&branch, next.id, None);
        next.exchange_id = exchange.id;
        exchanges::insert(&mut tx, owner, &exchange, None).await.unwrap();
        turns::insert(&mut tx, &next).await.unwrap();
        line.push(next);
    }
    tx.commit().await.unwrap();
    (chat.id, line)
}

#[tokio::test]
async fn full_disk_is_reported_and_reads_continue() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let owner = create_owner(&fresh.db).await;
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!() };
    let (_, line) = create_linear_chat(&fresh.db, owner, 1).await;
    sqlx::query("PRAGMA max_page_count = 1").execute(writer).await.unwrap();

    let large = format!("{{\"type\":\"x\",\"text\":\"{}\"}}", "x".repeat(1 << 20));
    let event = EventRow { turn_id: line[0].id, seq: 1, event: &large };
    let mut tx = fresh.db.begin().await.unwrap();
    let error = events::append(&mut tx, &[event]).await.unwrap_err();
    assert!(matches!(error, StoreError::Full), "{error:?}");
    drop(tx);
    assert_eq!(turns::find(&fresh.db, owner, line[0].id).await.unwrap().as_ref(), Some(&line[0]));

    sqlx::query("PRAGMA max_page_count = 100000").execute(writer).await.unwrap();
    let mut tx = fresh.db.begin().await.unwrap();
    events::append(&mut tx, &[event]).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(events::last_seq(&fresh.db, line[0].id).await.unwrap(), 1);
}

#[tokio::test]
async fn locked_file_is_busy_and_not_damaged() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let owner = create_owner(&fresh.db).await;
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!() };
    // The production timeout of five seconds would only slow the test down.
    sqlx::query("PRAGMA busy_timeout = 20").execute(writer).await.unwrap();
    let mut other = sqlx::SqliteConnection::connect(&fresh.url).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    // The first statement takes the lock, or the commit if there is none.
    let error = fresh.db.begin().await.unwrap().commit().await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    assert_eq!(settings::find(&fresh.db, owner, "theme").await.unwrap(), None, "reading goes on");
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    fresh.db.begin().await.unwrap().commit().await.unwrap();
}

/// A PostgreSQL server that shuts down may answer a new client with anything.
#[tokio::test]
async fn server_with_nonsense_response_is_busy() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("postgres://nobody@{}/nothing", listener.local_addr().unwrap());
    let answer = async {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let _ = client.read(&mut [0; 64]).await;
            let _ = client.write_all(&[0; 16]).await;
        }
    };
    let error = tokio::select! {
        opened = Db::open(&url) => opened.unwrap_err(),
        () = answer => unreachable!(),
    };
    assert!(error.is_busy(), "{error:?}");
}

#[tokio::test]
async fn dropped_transaction_leaves_nothing_and_blocks_no_other() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let mut tx = fresh.db.begin().await.unwrap();
        chats::insert(&mut tx, &chat(owner)).await.unwrap();
        drop(tx);
        assert_eq!(chats::list(&fresh.db, owner, 9).await.unwrap(), []);
        fresh.db.begin().await.unwrap().commit().await.unwrap();
        fresh.close().await;
    }
}

#[tokio::test]
async fn lost_connection_is_busy_and_next_one_works() {
    let Some(fresh) = empty_postgres().await else { return };
    fresh.db.migrate(None, noon()).await.unwrap();
    let owner = create_owner(&fresh.db).await;
    let mut tx = fresh.db.begin().await.unwrap();
    let mut other = sqlx::PgConnection::connect(&fresh.url).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
        WHERE datname = current_database() AND pid <> pg_backend_pid()";
    sqlx::query(end).execute(&mut other).await.unwrap();
    let error = chats::insert(&mut tx, &chat(owner)).await.unwrap_err();
    assert!(error.is_busy(), "{error:?}");
    drop(tx);
    let mut tx = fresh.db.begin().await.unwrap();
    chats::insert(&mut tx, &chat(owner)).await.unwrap();
    tx.commit().await.unwrap();
    assert_eq!(chats::list(&fresh.db, owner, 9).await.unwrap().len(), 1);
    other.close().await.unwrap();
    fresh.close().await;
}

#[tokio::test]
async fn many_tasks_that_hold_transactions_can_all_still_read() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (chat, _) = create_linear_chat(&fresh.db, owner, 1).await;
        let tasks: Vec<_> = (0..40)
            .map(|_| {
                let db = fresh.db.clone();
                tokio::spawn(async move {
                    let mut tx = db.begin().await.unwrap();
                    let ord = chats::allocate_ord(&mut tx, owner, chat, next_time()).await.unwrap().unwrap();
                    assert!(chats::find(&db, owner, chat).await.unwrap().is_some());
                    tx.commit().await.unwrap();
                    ord
                })
            })
            .collect();
        let mut ords = Vec::new();
        for task in tasks {
            ords.push(tokio::time::timeout(Duration::from_secs(60), task).await.unwrap().unwrap());
        }
        ords.sort_unstable();
        assert_eq!(ords, (2..42).collect::<Vec<_>>(), "each place is given once");
        fresh.close().await;
    }
}

#[tokio::test]
async fn long_chat_is_read_from_its_newest_end() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (chat, line) = create_linear_chat(&fresh.db, owner, 700).await;
        let last = &line[699];
        assert_eq!(turns::leaf_of_chat(&fresh.db, owner, chat).await.unwrap(), Some(last.id));
        assert_eq!(turns::leaf_below(&fresh.db, owner, line[0].id).await.unwrap(), Some(last.id));
        let (page, has_more) = turns::path(&fresh.db, owner, last.id, 50).await.unwrap();
        assert_eq!((page.as_slice(), has_more), (&line[650..], true));
        let (all, has_more) = turns::path(&fresh.db, owner, last.id, 700).await.unwrap();
        assert_eq!((all, has_more), (line, false));
        fresh.close().await;
    }
}
