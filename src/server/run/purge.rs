//! Purging: what is in Trash for too long, or is to go at once, is deleted for ever. In many small transactions, so that
//! a chat of many turns does not keep replies from being stored; what a crash leaves is taken up at the next start.

use chrono::{DateTime, Utc};

use crate::domain::limits;
use crate::server::store::deletions::purge;
use crate::server::store::{Db, StoreError, dialect};

/// Turns, or blobs, that one transaction deletes: a few milliseconds.
const AT_A_TIME: usize = 50;

/// Dooms what is older than Trash keeps, then purges.
pub async fn empty_old(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let mut tx = db.begin().await?;
    let doomed = purge::doom_old(&mut tx, now - limits::TRASH_KEPT, now).await?;
    tx.commit().await?;
    if doomed > 0 {
        tracing::info!(doomed, "purging what was deleted long ago");
    }
    purge_doomed(db, now).await
}

/// Deletes everything that is doomed, and then the blobs that nothing names any more.
pub async fn purge_doomed(db: &Db, now: DateTime<Utc>) -> Result<(), StoreError> {
    let doomed = purge::doomed(db).await?;
    for of in &doomed {
        let turns = purge::turns_of(db, *of).await?;
        for some in turns.chunks(AT_A_TIME) {
            let mut tx = db.begin().await?;
            purge::delete_turns(&mut tx, *of, some).await?;
            tx.commit().await?;
        }
        let mut tx = db.begin().await?;
        purge::finish(&mut tx, *of).await?;
        tx.commit().await?;
    }
    let blobs = delete_blobs(db, now).await?;
    if !doomed.is_empty() || blobs > 0 {
        give_back_space(db).await?;
    }
    Ok(())
}

/// Until there is none, or none is given: a file from elsewhere may not be able to shrink.
async fn give_back_space(db: &Db) -> Result<(), StoreError> {
    let mut before = u64::MAX;
    loop {
        let left = dialect::give_back_space(db).await?;
        if left == 0 || left >= before {
            return Ok(());
        }
        before = left;
    }
}

async fn delete_blobs(db: &Db, now: DateTime<Utc>) -> Result<u64, StoreError> {
    let mut all = 0;
    loop {
        let mut tx = db.begin().await?;
        let deleted = purge::delete_blobs(&mut tx, now - limits::BLOB_KEPT, AT_A_TIME as u32).await?;
        tx.commit().await?;
        all += deleted;
        if deleted < AT_A_TIME as u64 {
            return Ok(all);
        }
    }
}
