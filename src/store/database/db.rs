//! Connections and transactions, and the macros that make one body serve both databases.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{PgPool, SqlitePool};

use crate::database::claim::gate::ClaimGate;
use crate::database::error::StoreError;
use crate::database::postgres_tx::PostgresTx;
use crate::database::sqlite_readers::SqliteReaders;
use crate::database::sqlite_tx::SqliteTx;
use crate::database::time_limits::{TimeLimits, with_deadline};
use crate::database::write_queue::WriteQueue;

/// Runs the same body on the reader pool of either database, compiled once per driver.
macro_rules! with_pool {
    ($db:expr, |$pool:ident| $body:expr) => {
        match $db {
            $crate::database::db::Db::Sqlite { readers: $pool, .. } => $body,
            $crate::database::db::Db::Postgres { readers, limits, .. } => match limits.bounded(readers) {
                $pool => $body,
            },
        }
    };
}

/// Runs the same body on the connection of a transaction of either database.
macro_rules! in_tx {
    ($tx:expr, |$conn:ident| $body:expr) => {
        match $tx {
            $crate::database::db::Tx::Sqlite(tx) => {
                let $conn = &mut **tx;
                $body
            }
            $crate::database::db::Tx::Postgres(tx) => {
                let $conn = &mut tx.bounded();
                $body
            }
        }
    };
}

/// Implements `sqlx::FromRow` for both drivers by column names. sqlx's own derive would compile the drivers, with SQLite
/// and TLS, a second time for the compiler (`docs/performance.md`). After a field stands what differs from its column:
/// another name, `flatten` for a struct of columns, or `default` when the query may leave the column out.
macro_rules! from_row {
    ($row:ident { $($field:ident $(: $column:tt)?),+ $(,)? }) => {
        from_row!(@driver sqlx::sqlite::SqliteRow, $row { $($field $(: $column)?),+ });
        from_row!(@driver sqlx::postgres::PgRow, $row { $($field $(: $column)?),+ });
    };
    (@driver $driver:ty, $row:ident { $($field:ident $(: $column:tt)?),+ }) => {
        impl<'r> sqlx::FromRow<'r, $driver> for $row {
            fn from_row(row: &'r $driver) -> sqlx::Result<Self> {
                Ok(Self { $($field: from_row!(@field row, $field $(, $column)?)),+ })
            }
        }
    };
    (@field $row:ident, $field:ident) => {
        sqlx::Row::try_get($row, stringify!($field))?
    };
    (@field $row:ident, $field:ident, flatten) => {
        sqlx::FromRow::from_row($row)?
    };
    (@field $row:ident, $field:ident, default) => {
        match sqlx::Row::try_get($row, stringify!($field)) {
            Err(sqlx::Error::ColumnNotFound(_)) => Default::default(),
            value => value?,
        }
    };
    (@field $row:ident, $field:ident, $column:literal) => {
        sqlx::Row::try_get($row, $column)?
    };
}

/// The path from a leaf ($2) of this owner ($1) towards the root, at most $3 turns, with each turn's `step` from the
/// leaf. It is for queries over whole paths; `turns::span` reads parts of one.
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

/// The sum of a column of counts, without implausible ones: a damaged row, or nonsense from a provider, must not
/// overflow the sum, which both databases refuse. The bound is `limits::PLAUSIBLE_COUNT`.
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

/// The groups `n` that services name for the accounts of identities `i`, with the mappings `p` that make these accounts
/// members of groups here. Names are compared as they are.
macro_rules! mapped_identities {
    () => {
        "group_mappings p JOIN identity_groups n ON n.issuer = p.issuer AND n.name = p.external_name \
         JOIN identities i ON i.id = n.identity_id"
    };
}

/// The memberships of accounts in groups: those that administrators gave, and those that follow from mappings. With
/// `of_account` those of the account $1, with `of_group` those in the group $1.
macro_rules! memberships {
    () => {
        memberships!("", "")
    };
    (of_account) => {
        memberships!(" WHERE user_id = $1", " WHERE i.owner_id = $1")
    };
    (of_group) => {
        memberships!(" WHERE group_id = $1", " WHERE p.group_id = $1")
    };
    ($given:literal, $mapped:literal) => {
        concat!(
            "(SELECT group_id, user_id FROM group_members",
            $given,
            " UNION SELECT p.group_id, i.owner_id FROM ",
            mapped_identities!(),
            $mapped,
            ")"
        )
    };
}

/// The SQL statements of one file: a constant each, and the table from which tests prepare them. A prefix that a list
/// of ids or rows completes is included if it can be prepared without the list.
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
    Sqlite { writer: SqlitePool, readers: SqliteReaders, queue: WriteQueue, path: PathBuf },
    Postgres { writer: PgPool, readers: PgPool, queue: WriteQueue, limits: TimeLimits, claim: ClaimGate },
}

/// A transaction. Dropping it without [`Tx::commit`] rolls it back.
#[derive(Debug)]
pub enum Tx {
    Sqlite(Box<SqliteTx>),
    Postgres(PostgresTx),
}

impl Db {
    /// Starts a write transaction. On SQLite no other task of this process has one at the same time; its first
    /// statement takes the lock of the file, so no later one can find the database busy.
    ///
    /// # Errors
    /// `Busy` while the claim of this process is lost (see [`crate::database::claim`]), `InUse` once another process
    /// has it.
    pub async fn begin(&self) -> Result<Tx, StoreError> {
        let (Self::Sqlite { queue, .. } | Self::Postgres { queue, .. }) = self;
        let _first_in_queue = queue.wait().await?;
        self.begin_in_order(false).await
    }

    /// Works like [`Self::begin`] but overtakes the transactions that wait there: for the journal, for which every
    /// running reply waits.
    ///
    /// # Errors
    /// As of [`Self::begin`].
    pub async fn begin_urgent(&self) -> Result<Tx, StoreError> {
        self.begin_in_order(true).await
    }

    async fn begin_in_order(&self, is_urgent: bool) -> Result<Tx, StoreError> {
        Ok(match self {
            Self::Sqlite { writer, queue, .. } => {
                let connection = queue.handover.acquire(writer, is_urgent).await?;
                Tx::Sqlite(Box::new(SqliteTx::new(connection, "BEGIN IMMEDIATE", queue.handover.clone())))
            }
            Self::Postgres { writer, limits, claim, .. } => {
                claim.wait_until_writable(limits.acquire).await?;
                let tx = with_deadline(limits.response_deadline(), writer.begin()).await?;
                Tx::Postgres(PostgresTx::read_write(tx, *limits, writer.clone()))
            }
        })
    }

    /// Starts a read-only snapshot transaction: all statements in it see the same state.
    pub async fn snapshot(&self) -> Result<Tx, StoreError> {
        Ok(match self {
            Self::Sqlite { readers, .. } => {
                Tx::Sqlite(Box::new(SqliteTx::new(readers.acquire().await?, "BEGIN", readers.handover().clone())))
            }
            Self::Postgres { readers, limits, .. } => {
                let begun = readers.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY");
                Tx::Postgres(PostgresTx::read_only(with_deadline(limits.response_deadline(), begun).await?, *limits))
            }
        })
    }

    /// Returns the time limit of one attempt at a retried write, if the database has one.
    pub fn attempt_limit(&self) -> Option<Duration> {
        match self {
            Self::Sqlite { .. } => None,
            Self::Postgres { limits, .. } => Some(limits.attempt),
        }
    }

    /// Returns the database file, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Sqlite { path, .. } => Some(path),
            Self::Postgres { .. } => None,
        }
    }

    /// Waits for running work and closes all connections. For PostgreSQL the wait is bounded by the acquire timeout.
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
                // A connection that died while it was released never becomes free.
                if tokio::time::timeout(limits.acquire, closed).await.is_err() {
                    tracing::warn!("a connection to the database does not end");
                }
            }
        }
    }
}

impl Tx {
    /// Commits the transaction atomically. If the acknowledgement of a commit is lost, a commit outcome query
    /// determines whether it was stored.
    ///
    /// # Errors
    /// `Unacknowledged` when the outcome could not be determined in time; every other error means that nothing was
    /// stored.
    pub async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => {
                let patience = tx.limits().outcome;
                tx.commit(patience).await
            }
        }
    }

    /// Works like [`Self::commit`], with a longer wait for the outcome, for callers that depend on it.
    pub async fn commit_with_timeout(self, patience: Duration) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit(patience).await,
        }
    }

    /// Works like [`Self::commit`], for idempotent writes: the caller repeats them and does not need the outcome of
    /// this attempt.
    pub async fn commit_idempotent(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await,
            Self::Postgres(tx) => tx.commit_idempotent().await,
        }
    }

    /// Creates a savepoint.
    pub async fn savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("SAVEPOINT mark").await
    }

    /// Rolls back to the savepoint, also after a failed statement, and releases it.
    pub async fn rollback_to_savepoint(&mut self) -> Result<(), StoreError> {
        if let Self::Sqlite(tx) = self {
            return tx.rollback_to_savepoint().await;
        }
        self.execute("ROLLBACK TO SAVEPOINT mark").await?;
        self.release_savepoint().await
    }

    /// Releases the savepoint: the changes since then become part of the transaction.
    pub async fn release_savepoint(&mut self) -> Result<(), StoreError> {
        self.execute("RELEASE SAVEPOINT mark").await
    }

    /// Ends the savepoint: keeps the change, or rolls it back if it failed with an error that `is_tolerated`, which
    /// is returned.
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

    /// Rolls back the transaction.
    pub async fn rollback(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.rollback().await,
            Self::Postgres(tx) => Ok(tx.rollback().await?),
        }
    }
}
