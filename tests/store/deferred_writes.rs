//! Deferred writes, on both databases: they are stored with their transaction, in order and with their own values; a
//! failure has its type and leaves neither rows nor an open transaction.

use crate::databases::{empty_sqlite, noon, test_databases};
use crate::domain_fixtures::{branch, chat, frozen_settings, next_id, next_time};
use crate::failures::create_owner;
use turnleaf::domain::tools::tool::ToolChoice;
use turnleaf::domain::*;
use turnleaf_store::chats::{self, chat_tools};
use turnleaf_store::{Db, StoreError, branches};

/// Stores these chats by deferred writes alone.
async fn defer_and_commit(db: &Db, stored: &[&Chat]) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    for chat in stored {
        chats::defer_insert_with_turns(&mut tx, chat, 0).await?;
    }
    tx.commit().await
}

async fn is_stored(db: &Db, chat: &Chat) -> bool {
    chats::find(db, chat.owner_id, chat.id).await.unwrap().is_some()
}

#[tokio::test]
async fn deferred_writes_run_in_order_before_the_next_result() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let chat = chat(owner);
        let mut tx = fresh.db.begin().await.unwrap();
        chats::defer_insert_with_turns(&mut tx, &chat, 2).await.unwrap();
        let own = chat_tools::defer_put(&mut tx, owner, chat.id, &ToolChoice::default()).await.unwrap();
        let foreign = chat_tools::defer_put(&mut tx, next_id(), chat.id, &ToolChoice::default()).await.unwrap();
        branches::defer_insert_first(&mut tx, &branch(chat.id), &frozen_settings(), None).await.unwrap();
        assert_eq!(chats::allocate_ord(&mut tx, owner, chat.id, next_time()).await.unwrap(), Some(3));
        assert_eq!(tx.rows_affected(own).await.unwrap(), 1);
        assert_eq!(tx.rows_affected(foreign).await.unwrap(), 0);
        tx.commit().await.unwrap();
        let found = chats::find(&fresh.db, owner, chat.id).await.unwrap().unwrap();
        assert_eq!((found.title, found.system_prompt), (chat.title, chat.system_prompt));
        assert!(chat_tools::find(&fresh.db, owner, chat.id).await.unwrap().is_some());
        assert_eq!(branches::list(&fresh.db, owner, chat.id).await.unwrap().len(), 1);
        fresh.close().await;
    }
}

#[tokio::test]
async fn repeated_deferred_write_counts_rows_of_each() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let chat = chat(owner);
        let mut tx = fresh.db.begin().await.unwrap();
        chats::insert(&mut tx, &chat).await.unwrap();
        let mut counts = Vec::new();
        for at in 0..21 {
            let of = if at % 3 == 0 { next_id() } else { owner };
            counts.push(chat_tools::defer_put(&mut tx, of, chat.id, &ToolChoice::default()).await.unwrap());
        }
        for (at, count) in counts.into_iter().enumerate() {
            assert_eq!(tx.rows_affected(count).await.unwrap(), u64::from(at % 3 != 0), "{at}");
        }
        tx.commit().await.unwrap();
        fresh.close().await;
    }
}

#[tokio::test]
async fn failure_of_deferred_write_has_its_type_and_leaves_nothing() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (first, second) = (chat(owner), chat(owner));
        // The second attempt would find a transaction that the first one has left open.
        for _ in 0..2 {
            let error = defer_and_commit(&fresh.db, &[&first, &second, &first]).await.unwrap_err();
            assert!(matches!(error, StoreError::NotUnique), "{error:?}");
            assert!(!is_stored(&fresh.db, &first).await);
        }
        defer_and_commit(&fresh.db, &[&first, &second]).await.unwrap();
        assert!(is_stored(&fresh.db, &first).await && is_stored(&fresh.db, &second).await);
        fresh.close().await;
    }
}

#[tokio::test]
async fn deferred_writes_are_forgotten_without_commit() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let chat = chat(owner);
        let mut tx = fresh.db.begin().await.unwrap();
        chats::defer_insert_with_turns(&mut tx, &chat, 0).await.unwrap();
        tx.rollback().await.unwrap();
        let mut tx = fresh.db.begin().await.unwrap();
        chats::defer_insert_with_turns(&mut tx, &chat, 0).await.unwrap();
        drop(tx);
        fresh.db.begin().await.unwrap().commit().await.unwrap();
        assert!(!is_stored(&fresh.db, &chat).await);
        fresh.close().await;
    }
}

#[tokio::test]
async fn transaction_after_failed_deferred_write_takes_no_statement() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (first, second) = (chat(owner), chat(owner));
        let mut tx = fresh.db.begin().await.unwrap();
        chats::insert(&mut tx, &first).await.unwrap();
        assert!(chats::insert(&mut tx, &first).await.is_err());
        assert!(chats::insert(&mut tx, &second).await.is_err());
        assert!(chats::allocate_ord(&mut tx, owner, first.id, next_time()).await.is_err());
        tx.rollback().await.unwrap();
        assert!(!is_stored(&fresh.db, &first).await && !is_stored(&fresh.db, &second).await);
        fresh.close().await;
    }
}

#[tokio::test]
async fn tolerated_failure_in_savepoint_keeps_deferred_writes_around_it() {
    for fresh in test_databases().await {
        let owner = create_owner(&fresh.db).await;
        let (first, second) = (chat(owner), chat(owner));
        let mut tx = fresh.db.begin().await.unwrap();
        chats::defer_insert_with_turns(&mut tx, &first, 0).await.unwrap();
        tx.savepoint().await.unwrap();
        let again = chats::insert(&mut tx, &first).await;
        let again = tx.finish_savepoint(again, |error| matches!(error, StoreError::NotUnique)).await.unwrap();
        assert!(again.is_err());
        chats::defer_insert_with_turns(&mut tx, &second, 0).await.unwrap();
        tx.commit().await.unwrap();
        assert!(is_stored(&fresh.db, &first).await && is_stored(&fresh.db, &second).await);
        fresh.close().await;
    }
}

#[tokio::test]
async fn connection_is_passed_between_waiting_transactions() {
    let fresh = empty_sqlite().await;
    fresh.db.migrate(None, noon()).await.unwrap();
    let owner = create_owner(&fresh.db).await;
    let Db::Sqlite { writer, .. } = &fresh.db else { unreachable!() };
    let all: Vec<Chat> = (0..100).map(|_| chat(owner)).collect();
    let db = &fresh.db;
    let transactions = futures::future::join_all(all.iter().map(|chat| async move {
        let mut tx = db.begin().await?;
        chats::insert(&mut tx, chat).await?;
        // One in three is dropped with its changes.
        if chat.id.uuid().as_u128() % 3 == 0 { Ok(0) } else { tx.commit().await.map(|()| 1) }
    }));
    let others = futures::future::join_all((0..10).map(|_| sqlx::query("PRAGMA user_version").execute(writer)));
    let (transactions, others) = tokio::join!(transactions, others);
    let stored: usize = transactions.into_iter().map(|stored: Result<usize, StoreError>| stored.unwrap()).sum();
    assert!(others.iter().all(Result::is_ok), "{others:?}");
    assert_eq!(chats::list(&fresh.db, owner, 200).await.unwrap().len(), stored);
    fresh.close().await;
}
