//! The queue of the search index (an outbox): each transaction that writes text adds it here, and it is indexed soon
//! afterwards, at the latest before the next search. A crash in between loses nothing.

use futures::future::BoxFuture;
use uuid::Uuid;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::readable::{Lossy, Readable, keep_readable};
use crate::search::SearchKind;
use crate::search::index::{self, IndexAge};
use crate::search::word_index;
use turnleaf_domain::{ChatId, DocumentId, TurnId};

const TABLE: &str = "search_queue";
/// The number of items per transaction, during which other writers wait.
const BATCH: i64 = 32;

sql! {
    /// The update waits for an indexer that has taken the item, and for it alone: the item is queued again, unless that
    /// indexer will read the new text anyway.
    PUT = "INSERT INTO search_queue (kind, item_id) VALUES ($1, $2) \
        ON CONFLICT (kind, item_id) DO UPDATE SET kind = excluded.kind";
    /// In one order for all indexers, so that they wait for each other and never in a circle.
    LIST = "SELECT kind, item_id FROM search_queue ORDER BY kind, item_id LIMIT $1";
    TAKE = "DELETE FROM search_queue WHERE kind = $1 AND item_id = $2";
    /// For a damaged kind, which cannot be compared.
    TAKE_ODD = "DELETE FROM search_queue WHERE item_id = $1 AND kind NOT IN ('chat', 'document', 'turn')";
    COUNT = "SELECT COUNT(*) FROM search_queue";
    COUNT_OF_ID = "SELECT COUNT(*) FROM search_queue WHERE item_id = $1";
    IDS = "SELECT item_id FROM search_queue";
}

/// Queues the text of a turn. Like the functions below, it is a deferred write: nobody waits for its result.
pub async fn put_turn(tx: &mut Tx, turn: TurnId) -> Result<(), StoreError> {
    put(tx, SearchKind::Turn, turn.uuid()).await
}

/// Queues the title of a chat.
pub async fn put_chat_title(tx: &mut Tx, chat: ChatId) -> Result<(), StoreError> {
    put(tx, SearchKind::Chat, chat.uuid()).await
}

/// Queues the title and the newest text of a document.
pub async fn put_document(tx: &mut Tx, document: DocumentId) -> Result<(), StoreError> {
    put(tx, SearchKind::Document, document.uuid()).await
}

async fn put(tx: &mut Tx, kind: SearchKind, id: Uuid) -> Result<(), StoreError> {
    tx.defer(PUT).bind(kind.as_str()).bind(id).run().await.map(drop)
}

/// An item of the queue. One whose kind is damaged is indexed as whatever has its id.
#[derive(Debug, Clone, Copy)]
struct QueuedItem {
    kind: Option<SearchKind>,
    id: Uuid,
}

impl QueuedItem {
    fn new(word: Option<String>, id: Uuid) -> Self {
        Self { kind: SearchKind::ALL.into_iter().find(|kind| word.as_deref() == Some(kind.as_str())), id }
    }
}

/// Indexes a batch of what waits; returns whether more may wait. An item that cannot be indexed is logged and left out.
///
/// # Errors
/// The database is unavailable; the batch waits on.
pub async fn index_batch(db: &Db) -> Result<bool, StoreError> {
    let rows: Vec<Readable<(Lossy<String>, Uuid)>> =
        with_pool!(db, |pool| sqlx::query_as(LIST).bind(BATCH).fetch_all(pool).await?);
    let more = rows.len() as i64 == BATCH;
    let mut items: Vec<QueuedItem> =
        keep_readable(rows, TABLE).into_iter().map(|(word, id)| QueuedItem::new(word.into_result().ok(), id)).collect();
    // A document may be as large as very many turns, so it has a transaction of its own.
    let is_document = |item: &QueuedItem| !matches!(item.kind, Some(SearchKind::Chat | SearchKind::Turn));
    let end = items.iter().position(is_document).map_or(items.len(), |at| at.max(1));
    let more = more || end < items.len();
    items.truncate(end);
    let Some(first) = items.first().copied() else { return Ok(false) };
    let taken = match index_together(db, &items).await {
        Ok(taken) => taken,
        Err(error) if error.is_busy() => return Err(error),
        Err(error) => {
            tracing::warn!(%error, "a batch could not be indexed for the search; its items are tried one by one");
            let mut taken = 0;
            for item in &items {
                taken += index_alone(db, *item).await?;
            }
            taken
        }
    };
    // Rows that another indexer has taken are no longer queued. Rows that cannot be taken, of a damaged table for
    // example, must not keep the caller busy without end.
    Ok(more && (taken > 0 || !is_queued(db, first).await?))
}

async fn is_queued(db: &Db, item: QueuedItem) -> Result<bool, StoreError> {
    let rows: i64 = with_pool!(db, |pool| sqlx::query_scalar(COUNT_OF_ID).bind(item.id).fetch_one(pool).await?);
    Ok(rows > 0)
}

/// Indexes everything that waits, but at most this many batches. Returns whether nothing waits afterwards.
///
/// # Errors
/// As of [`index_batch`].
pub async fn index_all(db: &Db, at_most: u32) -> Result<bool, StoreError> {
    for _ in 0..at_most {
        if !index_batch(db).await? {
            break;
        }
    }
    // Another indexer may be at work on a batch that this one has no more steps for.
    let left: i64 = with_pool!(db, |pool| sqlx::query_scalar(COUNT).fetch_one(pool).await?);
    Ok(left == 0)
}

/// Indexes a batch in one transaction; returns the number of items that it took from the queue. During a deletion that is
/// none, because it may be rolled back.
fn index_together<'a>(db: &'a Db, items: &'a [QueuedItem]) -> BoxFuture<'a, Result<usize, StoreError>> {
    // The body is in a box, or every crate that polls it would compile it again (`docs/performance.md`).
    Box::pin(async move {
        let mut tx = db.begin().await?;
        let mut taken = Vec::with_capacity(items.len());
        // Taking may wait for writers, indexing must not: a deletion waits for its end, and may have locked what it waits for.
        for item in items {
            if take(&mut tx, *item).await? {
                taken.push(*item);
            }
        }
        if !word_index::try_exclude_deletions(&mut tx).await? {
            tx.rollback().await?;
            return Ok(0);
        }
        for item in &taken {
            for kind in SearchKind::ALL.into_iter().filter(|kind| item.kind.is_none_or(|known| known == *kind)) {
                index::index_item(&mut tx, kind, item.id, IndexAge::New).await?;
            }
        }
        tx.commit().await?;
        Ok(taken.len())
    })
}

/// Indexes one item by itself. The index is derived data: if it, or data next to the item, is damaged, the item is
/// left out, and a check of the database finds that.
async fn index_alone(db: &Db, item: QueuedItem) -> Result<usize, StoreError> {
    match index_together(db, &[item]).await {
        Err(error) if error.is_damaged() || !error.is_database_wide() => {
            tracing::error!(id = %item.id, %error, "it could not be indexed for the search");
            let mut tx = db.begin().await?;
            let is_taken = take(&mut tx, item).await?;
            tx.commit().await?;
            Ok(usize::from(is_taken))
        }
        indexed => indexed,
    }
}

/// Takes an item from the queue; returns false if another indexer has taken it. The item is read afterwards, so that
/// text of a writer that this waited for is indexed.
async fn take(tx: &mut Tx, item: QueuedItem) -> Result<bool, StoreError> {
    let taken = in_tx!(tx, |conn| {
        let query = match item.kind {
            Some(kind) => sqlx::query(TAKE).bind(kind.as_str()).bind(item.id),
            None => sqlx::query(TAKE_ODD).bind(item.id),
        };
        query.execute(conn).await?.rows_affected()
    });
    Ok(taken > 0)
}

/// Returns the ids of everything that waits.
pub(crate) async fn list_ids(db: &Db) -> Result<Vec<Uuid>, StoreError> {
    let rows: Vec<Readable<(Uuid,)>> = with_pool!(db, |pool| sqlx::query_as(IDS).fetch_all(pool).await?);
    Ok(keep_readable(rows, TABLE).into_iter().map(|(id,)| id).collect())
}
