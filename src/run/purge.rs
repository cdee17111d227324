//! Purging: what is in Trash for too long, or is to go at once, is deleted for ever. In many small transactions, so that
//! a chat of many turns does not keep replies from being stored; what a crash leaves is taken up at the next start.

use chrono::{DateTime, Utc};

use turnleaf_domain::limits;
use turnleaf_store::deletions::purge;
use turnleaf_store::documents::purge::{DocumentPurgeTarget, delete_one};
use turnleaf_store::{Db, StoreError, dialect, uploads};

/// Turns, or blobs, that one transaction deletes: a few milliseconds.
const AT_A_TIME: usize = 50;

/// Dooms what is older than Trash keeps, then purges.
pub async fn purge_expired(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    let doomed = purge::schedule_purge_of_old(&mut tx, now - limits::TRASH_KEPT, now).await?;
    tx.commit().await?;
    if doomed > 0 {
        tracing::info!(doomed, "purging what was deleted long ago");
    }
    let documents = delete_documents(db, DocumentPurgeTarget::TrashedBefore(now - limits::TRASH_KEPT)).await?;
    if documents > 0 {
        tracing::info!(documents, "documents that were deleted long ago are gone");
    }
    purge_scheduled(db, now).await
}

/// Deletes these documents of Trash, one after the other; gives how many. What their files took comes back with the next
/// purge behind their day ([`limits::BLOB_KEPT`]).
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

/// Deletes everything that is doomed, and then the blobs that nothing names any more. One that fails keeps nothing else
/// from going; the next purge tries it again.
///
/// # Errors
/// When the database does not answer; behind everything else, why the first that failed did.
pub async fn purge_scheduled(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let doomed = purge::list_due(db, now).await?;
    let mut failed = None;
    for of in &doomed {
        match purge_one(db, *of, now).await {
            Err(error) if !error.is_busy() => {
                tracing::error!(deletion = %of.id, %error, "something that was deleted cannot be purged");
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

/// Until there is none, or none is given: a file from elsewhere may not be able to shrink.
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

/// Until there is none: with an image go its other forms, which nothing names from then on.
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
