//! Purge: permanently deletes Trash entries that are too old or were scheduled at once. It works in many small
//! transactions, so that a large chat does not delay the journal; a purge that a crash cut off continues at the next
//! start.

use chrono::{DateTime, Utc};
use futures::future::BoxFuture;

use turnleaf_domain::limits;
use turnleaf_store::database::dialect;
use turnleaf_store::deletions::purge;
use turnleaf_store::documents::purge::{DocumentPurgeTarget, delete_one};
use turnleaf_store::documents::uploads;
use turnleaf_store::tools::tool_sign_ins;
use turnleaf_store::{Db, StoreError};

/// The number of turns or blobs per transaction: a few milliseconds of work.
const AT_A_TIME: usize = 50;

/// Schedules deletions that are older than Trash keeps them, then purges. Sign-ins that were never finished go too.
pub async fn purge_expired(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    let doomed = purge::schedule_purge_of_old(&mut tx, now - limits::TRASH_KEPT, now).await?;
    tx.commit().await?;
    if doomed > 0 {
        tracing::info!(doomed, "permanently deleting expired deletions");
    }
    let mut tx = db.begin().await?;
    tool_sign_ins::delete_expired(&mut tx, now).await?;
    tx.commit().await?;
    let documents = delete_documents(db, DocumentPurgeTarget::TrashedBefore(now - limits::TRASH_KEPT)).await?;
    if documents > 0 {
        tracing::info!(documents, "permanently deleted expired documents");
    }
    purge_scheduled(db, now).await
}

/// Permanently deletes these documents of Trash, one after the other; returns their number. The space of their files
/// is freed by the first purge after [`limits::BLOB_KEPT`].
pub async fn delete_documents(db: &Db, of: DocumentPurgeTarget) -> Result<u64, StoreError> {
    let mut gone = 0;
    loop {
        let mut tx = db.begin().await?;
        if !delete_one(&mut tx, of).await? {
            break;
        }
        tx.commit().await?;
        gone += 1;
    }
    if gone > 0 {
        shrink_database(db).await?;
    }
    Ok(gone)
}

/// Permanently deletes everything that is scheduled, and then unreferenced blobs. A deletion that fails does not stop
/// the others; the next purge retries it.
///
/// # Errors
/// When the database does not answer; after everything else, the error of the first deletion that failed.
pub fn purge_scheduled(db: &Db, now: DateTime<Utc>) -> BoxFuture<'_, Result<(), StoreError>> {
    // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
    Box::pin(async move {
        let doomed = purge::list_due(db, now).await?;
        let mut failed = None;
        for of in &doomed {
            match purge_one(db, *of, now).await {
                Err(error) if !error.is_busy() => {
                    tracing::error!(deletion = %of.id, %error, "a deletion could not be purged");
                    failed.get_or_insert(error);
                }
                purged => purged?,
            }
        }
        forget_uploads(db, now).await?;
        let blobs = delete_blobs(db, now).await?;
        if !doomed.is_empty() || blobs > 0 {
            shrink_database(db).await?;
        }
        failed.map_or(Ok(()), Err)
    })
}

async fn purge_one(db: &Db, of: purge::ScheduledPurge, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    let is_taken = purge::claim_purge(&mut tx, of, now).await?;
    tx.commit().await?;
    if !is_taken {
        return Ok(());
    }
    for some in purge::turns_to_delete(db, of).await?.chunks(AT_A_TIME) {
        let mut tx = db.begin().await?;
        purge::delete_turns(&mut tx, of, some).await?;
        tx.commit().await?;
    }
    let mut tx = db.begin().await?;
    purge::finish(&mut tx, of).await?;
    tx.commit().await
}

async fn forget_uploads(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    loop {
        let mut tx = db.begin().await?;
        let forgotten = uploads::delete_unused(&mut tx, now - limits::BLOB_KEPT, AT_A_TIME as u32).await?;
        tx.commit().await?;
        if forgotten < AT_A_TIME as u64 {
            return Ok(());
        }
    }
}

/// Reclaims free pages until none are left or their number no longer falls: a database file from elsewhere may not be
/// able to shrink.
async fn shrink_database(db: &Db) -> Result<(), StoreError> {
    let mut before = u64::MAX;
    loop {
        let left = dialect::reclaim_free_pages(db).await?;
        if left == 0 || left >= before {
            return Ok(());
        }
        before = left;
    }
}

/// Deletes unreferenced blobs until none are left: the other forms of a deleted image become unreferenced with it.
async fn delete_blobs(db: &Db, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let mut tx = db.begin().await?;
        let deleted = purge::delete_blobs(&mut tx, now - limits::BLOB_KEPT, AT_A_TIME as u32).await?;
        tx.commit().await?;
        if deleted == 0 {
            return Ok(all);
        }
        all += deleted;
    }
}
