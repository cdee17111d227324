//! Connections and transactions, and the macros that make one body serve both databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{PgPool, Sqlite, SqlitePool, Transaction};

use crate::claim::gate::ClaimGate;
use crate::error::StoreError;
use crate::postgres_tx::PostgresTx;
use crate::time_limits::{TimeLimits, with_deadline};

/// Runs the same body on either database's reading pool, each time with the driver's own types.
macro_rules! with_pool {
    ($db:expr, |$pool:ident| $body:expr) => {
        match $db {
            $crate::db::Db::Sqlite { readers: $pool, .. } => $body,
            $crate::db::Db::Postgres { readers, limits, .. } => match limits.bounded(readers) {
                $pool => $body,
            },
        }
    };
}

/// Runs the same body on either database's connection in a transaction.
macro_rules! in_tx {
    ($tx:expr, |$conn:ident| $body:expr) => {
        match $tx {
            $crate::db::Tx::Sqlite(tx) => {
                let $conn = &mut **tx;
                $body
            }
            $crate::db::Tx::Postgres(tx) => {
                let $conn = &mut tx.bounded();
                $body
            }
        }
    };
}

/// From a leaf ($2) of this owner ($1) towards the root, at most $3 turns: `path` with each turn's `step` from the leaf.
/// For what is read of every turn of a path; a part of one is `turns::span`'s.
macro_rules! up_from_leaf {
    () => {
        "WITH RECURSIVE path (id, prev_turn_id, step) AS ( \
            SELECT t.id, t.prev_turn_id, CAST(1 AS BIGINT) FROM turns t JOIN chats c ON c.id = t.chat_id \
            WHERE c.owner_id = $1 AND t.id = $2 AND t.deleted_at IS NULL AND c.deleted_at IS NULL \
            UNION ALL \
            SELECT t.id, t.prev_turn_id, path.step + 1 FROM path JOIN turns t ON t.id = path.prev_turn_id \
            WHERE path.step < $3) "
    };
}

/// The sum of a column of counts, without those that can be none: a damaged row, or a provider that counts nonsense, does
/// not make a sum that no column holds, which both databases refuse. The bound is `limits::PLAUSIBLE_COUNT`.
macro_rules! bounded_sum {
    ($column:literal) => {
        concat!("SUM(CASE WHEN ", $column, " BETWEEN 0 AND 1000000000000 THEN ", $column, " END)")
    };
}

/// The newest turn of a chat.
macro_rules! newest_turn_of {
    ($chat:literal) => {
        concat!(
            "SELECT n.id FROM turns n WHERE n.chat_id = ",
            $chat,
            " AND n.deleted_at IS NULL ORDER BY n.ord DESC LIMIT 1"
        )
    };
}

/// The statements of one file: a constant each, and the table from which the tests prepare them. A beginning that a
/// list of ids or of rows completes stands here when it can be prepared without it.
macro_rules! sql {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        $($(#[$doc])* const $name: &str = $text;)*
        pub(crate) const STATEMENTS: &[(&str, &str)] = &[$((stringify!($name), $name)),*];
    };
}

/// An open database. Cheap to clone.
///
/// Reading and writing have separate pools on both databases: a task that holds a transaction may still read without
/// waiting for other tasks that hold transactions. SQLite has one writing connection, because it has one writer anyway
/// and queueing in the pool is fairer than in the file's lock.
#[derive(Debug, Clone)]
pub enum Db {
    Sqlite { writer: SqlitePool, readers: SqlitePool, path: PathBuf },
    Postgres { writer: PgPool, readers: PgPool, limits: TimeLimits, claim: ClaimGate },
}

/// A transaction. Dropped without [`Tx::commit`], it is rolled back.
#[derive(Debug)]
pub enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(PostgresTx),
}

impl Db {
    /// Begins a writing transaction. On SQLite it holds the write lock from the start, so no later statement of it can
    /// find the database busy.
    ///
    /// # Errors
    /// `Busy` while the claim of this process is lost (see [`crate::claim`]), `InUse` once another process
    /// has it.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Self::Sqlite { writer, .. } => Tx::Sqlite(writer.begin_with("BEGIN IMMEDIATE").await?),
            Self::Postgres { writer, limits, claim, .. } => {
                claim.wait_until_writable(limits.acquire).await?;
                let tx = with_deadline(limits.response_deadline(), writer.begin()).await?;
                Tx::Postgres(PostgresTx::read_write(tx, *limits, writer.clone()))
            }
        })
    }

    /// Begins reading: all statements in it see the same moment.
    pub async fn snapshot(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Self::Sqlite { readers, .. } => Tx::Sqlite(readers.begin().await?),
            Self::Postgres { readers, limits, .. } => {
                let begun = readers.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
                Tx::Postgres(PostgresTx::read_only(with_deadline(limits.response_deadline(), begun).await?, *limits))
            }
        })
    }

    /// How long one attempt at a write that is tried again may take, where anything bounds it.
    pub fn attempt_limit(&self) -> Option<Duration> {
        match self {
            Self::Sqlite { .. } => None,
            Self::Postgres { limits, .. } => Some(limits.attempt),
        }
    }

    /// The database's file, where it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite { path, .. } => Some(path),
            Self::Postgres { .. } => None,
        }
    }

    /// Waits for running work and closes all connections. PostgreSQL's are not waited for longer than for a new one.
    pub async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers, .. } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres { writer, readers, limits, .. } => {
                let closed = async {
                    readers.close().await;
                    writer.close().await;
                };
                // A connection that died while it was released never says that it is free.
                if tokio::time::timeout(limits.acquire, closed).await.is_err() {
                    tracing::warn!("a connection to the database does not end");
                }
            }
        }
    }
}

impl Tx {
    /// Makes everything in the transaction durable, or nothing. A commit whose acknowledgement is lost is asked after.
    ///
    /// # Errors
    /// `Unacknowledged` when nobody could be asked in time; every other error means that nothing was stored.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.commit().await?),
            Self::Postgres(tx) => {
                let patience = tx.limits().outcome;
                tx.commit(patience).await
            }
        }
    }

    /// The same for a caller that waits much longer for the outcome, because something follows from it.
    pub async fn commit_with_timeout(self, patience: Duration) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.commit().await?),
            Self::Postgres(tx) => tx.commit(patience).await,
        }
    }

    /// The same for writes that are idempotent: the caller repeats them, and need not know what became of this attempt.
    pub async fn commit_idempotent(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.commit().await?),
            Self::Postgres(tx) => tx.commit_idempotent().await,
        }
    }

    /// Makes a mark: what comes behind it can be undone by itself.
    pub async fn savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("SAVEPOINT mark").await
    }

    /// Undoes what came behind the mark, also where a statement of it failed; the mark goes, too.
    pub async fn rollback_to_savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("ROLLBACK TO SAVEPOINT mark").await?;
        self.release_savepoint().await
    }

    /// Takes the mark away: what came behind it is a part of the transaction like the rest.
    pub async fn release_savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("RELEASE SAVEPOINT mark").await
    }

    /// Ends a mark: keeps the change behind it, or undoes it where it failed as `is_tolerated` says, and gives that failure.
    ///
    /// # Errors
    /// Every other failure of the change.
    pub async fn finish_savepoint<T>(
        &mut self,
        change: Result<T, StoreError>,
        is_tolerated: impl FnOnce(&StoreError) -> bool,
    ) -> Result<Result<T, StoreError>, StoreError> {
        match change {
            Ok(done) => self.release_savepoint().await.map(|()| Ok(done)),
            Err(error) if is_tolerated(&error) => self.rollback_to_savepoint().await.map(|()| Err(error)),
            Err(error) => Err(error),
        }
    }

    async fn execute(&mut self, text: &'static str) -> Result<(), StoreError> {
        in_tx!(self, |conn| sqlx::query(text).execute(conn).await.map(drop))?;
        Ok(())
    }

    /// Undoes everything in the transaction.
    pub async fn rollback(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.rollback().await?,
            Self::Postgres(tx) => tx.rollback().await?,
        }
        Ok(())
    }
}
