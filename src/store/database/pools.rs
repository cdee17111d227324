//! Connection pools: opens a database and configures its connections.

use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use sqlx::Connection;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};

use crate::database::claim::gate::ClaimGate;
use crate::database::db::Db;
use crate::database::error::StoreError;
use crate::database::postgres_tx::{is_alive, is_alive_and_writable};
use crate::database::sqlite_readers::SqliteReaders;
use crate::database::time_limits::TimeLimits;
use crate::database::write_queue::WriteQueue;

/// The time that a statement waits for another process's lock on the file.
const BUSY: Duration = Duration::from_secs(5);
/// The time that a task waits for a connection.
const ACQUIRE: Duration = Duration::from_secs(10);
/// The readers of a SQLite file; each is a thread.
const SQLITE_READERS: u32 = 4;
const POSTGRES_WRITERS: u32 = 8;
const POSTGRES_READERS: u32 = 8;
/// The statement cache of a connection, larger than the number of statements, so that each is prepared once.
const STATEMENTS: usize = 256;
/// The page cache of the writer in bytes, enough for the pages that five hundred growing replies touch repeatedly.
const WRITER_CACHE: u32 = 8 << 20;
/// The checkpoint interval of the write-ahead log, in pages of 4 KiB. A page that changes with every commit is copied
/// once per checkpoint.
const CHECKPOINT_PAGES: u32 = 4_000;
/// The size to which the write-ahead log is truncated after a checkpoint.
const WAL_BYTES: u32 = 64 << 20;
impl Db {
    /// Opens the database of a URL: `sqlite://path` (created if missing) or `postgres://…`.
    ///
    /// # Errors
    /// `UnknownScheme` for anything else, so that a misspelt URL never becomes a new empty SQLite file; `Damaged`
    /// when the file is not a database; driver errors when it cannot be reached.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with_limits(url, TimeLimits::COMMAND).await
    }

    /// Works like [`Self::open`], with other time limits, which apply to PostgreSQL only.
    pub async fn open_with_limits(url: &str, limits: TimeLimits) -> Result<Self, StoreError> {
        let scheme = url.split(':').next().unwrap_or_default();
        match scheme {
            "sqlite" => open_sqlite_url(url).await,
            "postgres" | "postgresql" => open_postgres(url, limits).await,
            _ => Err(StoreError::UnknownScheme(scheme.to_owned())),
        }
    }

    /// Opens a SQLite file (created if missing) whose path may hold characters that a URL would have to escape.
    pub async fn open_file(path: &Path) -> Result<Self, StoreError> {
        open_sqlite(SqliteConnectOptions::new().filename(path)).await
    }
}

async fn open_sqlite_url(url: &str) -> Result<Db, StoreError> {
    if url.contains(":memory:") || url.contains("mode=memory") {
        return Err(StoreError::NoFile);
    }
    open_sqlite(SqliteConnectOptions::from_str(url)?).await
}

async fn open_sqlite(options: SqliteConnectOptions) -> Result<Db, StoreError> {
    let path = options.get_filename().to_path_buf();
    if path.as_os_str().is_empty() {
        return Err(StoreError::NoFile);
    }
    let is_new = !path.exists();
    let options = options
        // With NORMAL, a commit in WAL mode is not durable; "accepted means stored" needs the fsync.
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        .statement_cache_capacity(STATEMENTS)
        .pragma("journal_size_limit", WAL_BYTES.to_string());
    // Both of the next settings are stored in the file. Setting them takes the write lock, which a reader that
    // connects later must not need.
    let mut writing = options
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // Statement journals stay in memory instead of temporary files.
        .pragma("temp_store", "MEMORY")
        .pragma("cache_size", format!("-{}", WRITER_CACHE >> 10))
        .pragma("wal_autocheckpoint", CHECKPOINT_PAGES.to_string());
    if is_new {
        writing = writing.auto_vacuum(SqliteAutoVacuum::Incremental);
    }
    // A connection to a file cannot go stale, so it is neither tested nor renewed.
    let pool = SqlitePoolOptions::new()
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None);
    // Only migrations use transactions of the driver. A connection that one of them leaves open is replaced.
    let writer = pool.clone().max_connections(1);
    let writer = writer.after_release(|conn, _| Box::pin(std::future::ready(Ok(!conn.is_in_transaction()))));
    let writer = writer.connect_with(writing).await?;
    let readers = pool.max_connections(SQLITE_READERS).connect_lazy_with(options.pragma("query_only", "ON"));
    Ok(Db::Sqlite { writer, readers: SqliteReaders::new(readers), queue: WriteQueue::new(1, ACQUIRE), path })
}

async fn open_postgres(url: &str, limits: TimeLimits) -> Result<Db, StoreError> {
    let options = PgConnectOptions::from_str(url)?
        .application_name("turnleaf")
        .options([("timezone", "UTC")])
        .statement_cache_capacity(STATEMENTS);
    let options = limits.apply(options);
    // The driver's own test of a connection has no deadline, so these with a deadline replace it.
    let pool = PgPoolOptions::new().acquire_timeout(limits.acquire).test_before_acquire(false);
    let pool = pool.after_release(move |conn, _| Box::pin(is_alive(conn, limits.probe)));
    let writer = pool.clone().max_connections(POSTGRES_WRITERS);
    let writer = writer.before_acquire(move |conn, _| Box::pin(is_alive_and_writable(conn, limits.probe)));
    let readers = pool.max_connections(POSTGRES_READERS);
    let readers = readers.before_acquire(move |conn, _| Box::pin(is_alive(conn, limits.probe)));
    let writer = writer.connect_with(options.clone()).await?;
    let readers = readers.connect_lazy_with(options);
    Ok(Db::Postgres {
        writer,
        readers,
        queue: WriteQueue::new(POSTGRES_WRITERS as usize - 1, limits.acquire),
        limits,
        claim: ClaimGate::default(),
    })
}
