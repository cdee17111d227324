//! Database dialects: the only place where the two databases genuinely differ, in locking for migrations, backup and
//! integrity checks.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use sqlx::sqlite::SqliteConnection;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;

/// An arbitrary number that all migrating processes share.
const MIGRATION_LOCK: i64 = 0x7475_726e_6c65_6166;

/// Lets one process migrate at a time, until the transaction ends. On SQLite the write lock does so already. The time
/// limits of the connection are lifted for a migration.
///
/// On PostgreSQL, constraints are checked after each statement: pending checks would keep a table whose rows an
/// earlier file has changed from being altered by a later one.
pub(crate) async fn lock_for_migration(tx: &mut Tx) -> Result<(), StoreError> {
    if let Tx::Postgres(tx) = tx {
        for lifted in ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"] {
            sqlx::query(sqlx::AssertSqlSafe(format!("SET LOCAL {lifted} = 0"))).execute(&mut **tx).await?;
        }
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATION_LOCK).execute(&mut **tx).await?;
        sqlx::query("SET CONSTRAINTS ALL IMMEDIATE").execute(&mut **tx).await?;
    }
    Ok(())
}

/// Returns whether the table exists.
pub(crate) async fn has_table(db: &Db, table: &str) -> Result<bool, StoreError> {
    let found: Option<i64> = match db {
        Db::Sqlite { writer, .. } => {
            sqlx::query_scalar("SELECT CAST(1 AS BIGINT) FROM sqlite_schema WHERE type = 'table' AND name = $1")
                .bind(table)
                .fetch_optional(writer)
                .await?
        }
        Db::Postgres { writer, .. } => {
            sqlx::query_scalar("SELECT CAST(1 AS BIGINT) WHERE to_regclass($1) IS NOT NULL")
                .bind(table)
                .fetch_optional(writer)
                .await?
        }
    };
    Ok(found.is_some())
}

/// Writes a consistent copy of a SQLite database to `file`, which must not exist, while the database stays in use.
/// For PostgreSQL this is refused, because it has `pg_dump`. The copy has a temporary name until it is complete and
/// synced.
///
/// # Errors
/// `NoFile` on PostgreSQL; `Full` when the disk is.
pub async fn backup(db: &Db, file: &Path) -> Result<(), StoreError> {
    let Db::Sqlite { writer, .. } = db else { return Err(StoreError::NoFile) };
    if file.exists() {
        return Err(backup_error(std::io::ErrorKind::AlreadyExists.into()));
    }
    let mut unfinished = file.as_os_str().to_owned();
    unfinished.push(".unfinished");
    let unfinished = PathBuf::from(unfinished);
    let name = unfinished.to_str().ok_or(StoreError::NoFile)?;
    remove(&unfinished)?;
    let copied = sqlx::query("VACUUM INTO $1").bind(name).execute(writer).await;
    // SQLite does not sync the copy.
    let kept = copied.map_err(StoreError::from).and_then(|_| {
        let synced = File::open(&unfinished).and_then(|copy| copy.sync_all());
        synced.and_then(|()| fs::rename(&unfinished, file)).map_err(backup_error)
    });
    if kept.is_err() {
        remove(&unfinished)?;
    }
    kept
}

fn remove(file: &Path) -> Result<(), StoreError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(backup_error(error)),
        _ => Ok(()),
    }
}

fn backup_error(error: std::io::Error) -> StoreError {
    match error.kind() {
        std::io::ErrorKind::StorageFull => StoreError::Full,
        _ => StoreError::Driver(sqlx::Error::Io(error)),
    }
}

/// Checks pages and indices of SQLite and returns the problems as sentences. PostgreSQL checks its pages when it
/// reads them.
pub async fn check_integrity(db: &Db) -> Result<Vec<String>, StoreError> {
    let Db::Sqlite { readers, .. } = db else { return Ok(Vec::new()) };
    let mut conn = readers.acquire().await?;
    sqlx::query("SAVEPOINT looked").execute(&mut *conn).await?;
    let read = check_pages(&mut conn).await;
    sqlx::query("RELEASE looked").execute(&mut *conn).await?;
    let mut problems = read?;
    drop(conn);
    problems.retain(|line| line != "ok");
    let broken: Vec<(String, Option<i64>, String, i64)> =
        sqlx::query_as("PRAGMA foreign_key_check").fetch_all(readers).await?;
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for (table, _, parent, _) in broken {
        *counts.entry((table, parent)).or_default() += 1;
    }
    problems.extend(counts.into_iter().map(|((table, parent), count)| match count {
        1 => format!("a row of {table} refers to a missing row of {parent}"),
        many => format!("{many} rows of {table} refer to missing rows of {parent}"),
    }));
    Ok(problems)
}

/// Checks the pages after a search, because FTS5 checks its index by the structure that this connection read last,
/// which others may have changed since: it would take a merged segment for a lost one. A search rereads the
/// structure; the caller's savepoint keeps it.
async fn check_pages(conn: &mut SqliteConnection) -> Result<Vec<String>, sqlx::Error> {
    const SEARCH: &str = "SELECT CAST(COUNT(*) AS BIGINT) FROM search_words WHERE search_words MATCH 'a'";
    const IS_THERE: &str = "SELECT name FROM sqlite_schema WHERE name = 'search_words'";
    let is_there: Option<String> = sqlx::query_scalar(IS_THERE).fetch_optional(&mut *conn).await?;
    if is_there.is_some() {
        // An error here is ignored, because the check reports damage better.
        let _ = sqlx::query_scalar::<_, i64>(SEARCH).fetch_one(&mut *conn).await;
    }
    sqlx::query_scalar("PRAGMA integrity_check").fetch_all(&mut *conn).await
}

/// Refuses a damaged database before anything is served from it, by the quick form of [`check_integrity`].
///
/// # Errors
/// `Damaged`, with SQLite's first message.
pub async fn quick_check(db: &Db) -> Result<(), StoreError> {
    let Db::Sqlite { writer, .. } = db else { return Ok(()) };
    let report: String = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_one(writer).await?;
    if report == "ok" { Ok(()) } else { Err(StoreError::Damaged(report)) }
}

/// Returns free pages to the file system, a bounded number at a time; returns the number of pages left. PostgreSQL
/// has autovacuum.
pub async fn reclaim_free_pages(db: &Db) -> Result<u64, StoreError> {
    let Db::Sqlite { writer, .. } = db else { return Ok(0) };
    sqlx::query("PRAGMA incremental_vacuum(1000)").execute(writer).await?;
    let left: i64 = sqlx::query_scalar("PRAGMA freelist_count").fetch_one(writer).await?;
    Ok(left.unsigned_abs())
}

/// Returns an expression for the stored bytes of a column, whatever its type and content.
pub(crate) fn column_bytes_expr(db: &Db, column: &str) -> String {
    match db {
        Db::Sqlite { .. } => format!("CAST({column} AS BLOB)"),
        Db::Postgres { .. } => format!("convert_to(CAST({column} AS TEXT), 'UTF8')"),
    }
}

/// Returns an expression that casts a bound text to a JSON column. All other texts are bound directly.
pub(crate) fn json_expr(db: &Db, placeholder: &str) -> String {
    match db {
        Db::Sqlite { .. } => placeholder.to_owned(),
        Db::Postgres { .. } => format!("CAST({placeholder} AS JSONB)"),
    }
}

/// Returns the columns of a table that are stored, not computed.
pub(crate) async fn stored_columns(db: &Db, table: &str) -> Result<Vec<String>, StoreError> {
    const SQLITE: &str = "SELECT name FROM pragma_table_xinfo($1) WHERE hidden = 0";
    const POSTGRES: &str = "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
        WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position";
    Ok(match db {
        Db::Sqlite { readers, .. } => sqlx::query_scalar(SQLITE).bind(table).fetch_all(readers).await?,
        Db::Postgres { readers, .. } => sqlx::query_scalar(POSTGRES).bind(table).fetch_all(readers).await?,
    })
}

/// Turns foreign key enforcement of SQLite on or off. PostgreSQL always enforces them.
pub(crate) async fn set_foreign_keys(db: &Db, is_on: bool) -> Result<(), StoreError> {
    let Db::Sqlite { writer, .. } = db else { return Ok(()) };
    let text = if is_on { "PRAGMA foreign_keys = ON" } else { "PRAGMA foreign_keys = OFF" };
    // The writer pool has one connection, so this applies to all writes.
    sqlx::query(text).execute(writer).await?;
    Ok(())
}

/// Returns an expression for a null id, with the type of an id.
pub(crate) fn null_id_expr(db: &Db) -> &'static str {
    match db {
        Db::Sqlite { .. } => "NULL",
        Db::Postgres { .. } => "CAST(NULL AS UUID)",
    }
}
