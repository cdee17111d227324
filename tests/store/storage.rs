//! Stored bytes: a turn is counted after its end, a wrong number is found, and a change to the rows of an ended turn
//! has it counted again.

use turnleaf_store::Db;
use turnleaf_store::fsck::{self, CheckMode};
use turnleaf_store::turns::generations::raw;
use turnleaf_store::usage::storage;

use crate::databases;
use crate::walkthrough;

async fn run(db: &Db, words: &'static str) {
    match db {
        Db::Sqlite { writer, .. } => drop(sqlx::raw_sql(words).execute(writer).await.unwrap()),
        Db::Postgres { writer, .. } => drop(sqlx::raw_sql(words).execute(writer).await.unwrap()),
    }
}

async fn number(db: &Db, words: &'static str) -> i64 {
    match db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(words).fetch_one(readers).await.unwrap(),
        Db::Postgres { readers, .. } => sqlx::query_scalar(words).fetch_one(readers).await.unwrap(),
    }
}

#[tokio::test]
async fn counted_bytes_match_measured_bytes_and_wrong_count_is_found() {
    for fresh in databases::test_databases().await {
        let db = &fresh.db;
        let story = walkthrough::start_walkthrough(db).await;
        let owner = story.owner();
        let before = storage::measure(db, owner).await.unwrap();
        assert!(before.chats > 0, "{before:?}");
        let rows = number(db, "SELECT CAST(SUM(octet_length(content)) AS BIGINT) FROM turn_blocks").await;
        assert!(before.chats > rows.unsigned_abs(), "blocks and more: {before:?} and {rows}");
        while storage::count_pending_turns(db).await.unwrap() {}
        let left = "SELECT COUNT(*) FROM turns WHERE stored_bytes IS NULL AND completed_at IS NOT NULL";
        assert_eq!(number(db, left).await, 0);
        assert_eq!(storage::measure(db, owner).await.unwrap(), before, "counted or summed up, it is the same");
        assert_eq!(fsck::check(db, CheckMode::Serving).await.unwrap(), Vec::new());

        // A large body is packed after its turn has ended, so the turn is counted again.
        run(db, "UPDATE generations SET raw_response = NULL, raw_sha256 = NULL, raw_bytes = NULL").await;
        run(db, "UPDATE turns SET stored_bytes = NULL").await;
        while storage::count_pending_turns(db).await.unwrap() {}
        let pieces = match db {
            Db::Sqlite { .. } => {
                "INSERT INTO generation_chunks (generation_id, n, bytes) \
                SELECT id, 0, CAST('data: packed later' AS BLOB) FROM generations WHERE status <> 'running'"
            }
            Db::Postgres { .. } => {
                "INSERT INTO generation_chunks (generation_id, n, bytes) \
                SELECT id, 0, convert_to('data: packed later', 'UTF8') FROM generations WHERE status <> 'running'"
            }
        };
        run(db, "DELETE FROM generation_chunks").await;
        run(db, pieces).await;
        for generation in raw::list_unpacked(db, 100).await.unwrap() {
            raw::pack(db, generation).await.unwrap();
        }
        let miscounted =
            |findings: Vec<fsck::FsckFinding>| findings.into_iter().filter(|one| one.invariant == "quota").count();
        assert_eq!(miscounted(fsck::check(db, CheckMode::Serving).await.unwrap()), 0);
        assert!(storage::count_pending_turns(db).await.unwrap(), "turns wait to be counted again");
        assert_eq!(miscounted(fsck::check(db, CheckMode::Serving).await.unwrap()), 0);

        run(db, "UPDATE turns SET stored_bytes = stored_bytes + 1 WHERE role = 'user'").await;
        assert!(miscounted(fsck::check(db, CheckMode::Serving).await.unwrap()) > 0);
        fresh.close().await;
    }
}

/// A count that waited for a row while it holds others could deadlock with a transaction that locks the same rows in
/// another order. Only PostgreSQL locks rows.
#[tokio::test]
async fn count_of_bytes_waits_for_no_row_that_another_transaction_holds() {
    let Some(fresh) = databases::migrated_postgres().await else { return };
    let db = &fresh.db;
    walkthrough::start_walkthrough(db).await;
    let Db::Postgres { writer, .. } = db else { unreachable!() };
    const ENDED: &str = "SELECT id FROM turns WHERE completed_at IS NOT NULL ORDER BY id";
    let ended: Vec<uuid::Uuid> = sqlx::query_scalar(ENDED).fetch_all(writer).await.unwrap();
    assert!(ended.len() > 1);
    let uncounted = "SELECT COUNT(*) FROM turns WHERE stored_bytes IS NULL AND completed_at IS NOT NULL";
    for held in [ended[0], ended[ended.len() - 1]] {
        run(db, "UPDATE turns SET stored_bytes = NULL").await;
        let mut other = writer.begin().await.unwrap();
        let hold = sqlx::query("UPDATE turns SET stored_bytes = NULL WHERE id = $1").bind(held);
        hold.execute(&mut *other).await.unwrap();
        let counting = async { while storage::count_pending_turns(db).await.unwrap() {} };
        let counted = tokio::time::timeout(std::time::Duration::from_secs(5), counting).await;
        assert!(counted.is_ok(), "the count waits for the other transaction");
        assert_eq!(number(db, uncounted).await, 1, "the others are counted");
        // The other transaction locks the remaining rows after its first.
        sqlx::query("UPDATE turns SET stored_bytes = stored_bytes").execute(&mut *other).await.unwrap();
        other.commit().await.unwrap();
        while storage::count_pending_turns(db).await.unwrap() {}
        assert_eq!(number(db, uncounted).await, 0, "and the last one, when it is free");
    }
    fresh.close().await;
}
