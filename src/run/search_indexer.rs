//! The indexer of the search: a task that indexes queued texts a little later than they were written, in small
//! transactions, so that nobody who sends a message waits for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use turnleaf_platform::tasks;
use turnleaf_store::Db;
use turnleaf_store::search::queue;

/// The wait after a text was written, in which others join its batch.
const DEBOUNCE: Duration = Duration::from_secs(1);

/// The pause after a failure, which is mostly a busy database.
const RETRY: Duration = Duration::from_secs(10);

/// A handle to the indexer.
pub struct SearchIndexer(Arc<Notify>);

impl SearchIndexer {
    /// Starts the indexer, which ends when `closing` is cancelled. What waits then is indexed after the next start.
    pub fn start(db: Db, closing: CancellationToken) -> Self {
        let woken = Arc::new(Notify::new());
        let waits = woken.clone();
        // The task is detached and ends with the token.
        drop(tasks::spawn(closing.run_until_cancelled_owned(async move {
            loop {
                waits.notified().await;
                sleep(DEBOUNCE).await;
                loop {
                    match queue::index_batch(&db).await {
                        Ok(true) => {}
                        Ok(false) => break,
                        Err(error) => {
                            tracing::warn!(%error, "the search index is late");
                            sleep(RETRY).await;
                        }
                    }
                }
            }
        })));
        Self(woken)
    }

    /// Announces that a text was written.
    pub fn wake(&self) {
        self.0.notify_one();
    }
}
