//! Databases of predecessor programs, from which chats are imported: opened read-only and read by one statement, so
//! that the rows are one snapshot and only a few are held in memory. `turnleaf_interchange::legacy` interprets the
//! rows.

use std::collections::HashSet;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Database, Executor};

use crate::database::error::StoreError;
use turnleaf_interchange::legacy::{LegacyField, LegacyRow, LegacyRowKind, LegacyTable};
use turnleaf_platform::config::database::DatabaseUrl;

mod query;

/// The number of prefetched rows, each of which may be large.
const ROWS_AHEAD: usize = 4;
/// The first bytes of every SQLite file.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The location of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LegacySource {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL server.
    Server(DatabaseUrl),
}

/// A database that is read and never written.
#[derive(Debug)]
pub enum LegacyDatabase {
    Sqlite {
        conn: SqliteConnection,
        /// The tables that do not number their rows.
        without_rowid: HashSet<String>,
    },
    Postgres(PgConnection),
}

/// Returns whether a file is a SQLite database.
///
/// # Errors
/// When it cannot be read.
pub fn is_sqlite_file(file: &Path) -> std::io::Result<bool> {
    Ok(read_header(file)?.starts_with(MAGIC))
}

fn read_header(file: &Path) -> std::io::Result<Vec<u8>> {
    let mut start = Vec::with_capacity(20);
    File::open(file)?.take(20).read_to_end(&mut start)?;
    Ok(start)
}

impl LegacyDatabase {
    /// Opens a database and starts a snapshot.
    ///
    /// # Errors
    /// If it does not exist or is not a database.
    pub async fn open(source: &LegacySource) -> Result<Self, StoreError> {
        match source {
            LegacySource::File(file) => Self::open_file(file).await,
            LegacySource::Server(url) => {
                let options = PgConnectOptions::from_str(url.expose())?
                    .application_name("turnleaf import")
                    .options([("timezone", "UTC"), ("default_transaction_read_only", "on")]);
                let mut conn = options.connect().await?;
                conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY").await?;
                Ok(Self::Postgres(conn))
            }
        }
    }

    async fn open_file(file: &Path) -> Result<Self, StoreError> {
        let start = read_header(file).map_err(sqlx::Error::Io)?;
        if !start.starts_with(MAGIC) {
            return Err(StoreError::NoFile);
        }
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(false)
            .read_only(true)
            // Opening a write-ahead log creates files next to the database. Without a log everything is in the file,
            // and no process has it open.
            .immutable(start.get(18) == Some(&2) && !has_log(file)?)
            .row_buffer_size(ROWS_AHEAD)
            .pragma("query_only", "ON")
            .pragma("trusted_schema", "OFF")
            .pragma("cell_size_check", "ON");
        let mut conn = options.connect().await?;
        conn.execute("BEGIN").await?;
        let without_rowid: Vec<(String,)> = sqlx::query_as(query::WITHOUT_ROWID).fetch_all(&mut conn).await?;
        Ok(Self::Sqlite { conn, without_rowid: without_rowid.into_iter().map(|(name,)| name).collect() })
    }

    /// Returns all tables with their columns.
    pub async fn tables(&mut self) -> Result<Vec<(String, Vec<String>)>, StoreError> {
        let columns: Vec<(String, String)> = match self {
            Self::Sqlite { conn, .. } => sqlx::query_as(query::SQLITE_TABLES).fetch_all(conn).await?,
            Self::Postgres(conn) => sqlx::query_as(query::POSTGRES_TABLES).fetch_all(conn).await?,
        };
        let mut tables: Vec<(String, Vec<String>)> = Vec::new();
        for (table, column) in columns {
            match tables.last_mut() {
                Some((last, columns)) if *last == table => columns.push(column),
                _ => tables.push((table, vec![column])),
            }
        }
        Ok(tables)
    }

    /// Returns the rows of all these tables, grouped by conversation, its own row first.
    pub fn rows<'c>(&'c mut self, tables: &[LegacyTable]) -> BoxStream<'c, Result<LegacyRow, StoreError>> {
        match self {
            Self::Sqlite { conn, without_rowid } => {
                let position = |table: &LegacyTable| {
                    if without_rowid.contains(&table.name) { None } else { query::sqlite_position(table) }
                };
                let text = query::rows_query(tables, query::SQLITE, &position);
                let rows = sqlx::query(AssertSqlSafe(text)).fetch(conn);
                rows.map_err(StoreError::from).map(|row| read(&row?)).boxed()
            }
            Self::Postgres(conn) => {
                let text = query::rows_query(tables, query::POSTGRES, &|_| Some(query::POSTGRES_POSITION.to_owned()));
                let rows = sqlx::query(AssertSqlSafe(text)).fetch(conn);
                rows.map_err(StoreError::from).map(|row| read(&row?)).boxed()
            }
        }
    }

    /// Closes the connection.
    pub async fn close(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite { conn, .. } => conn.close().await?,
            Self::Postgres(conn) => conn.close().await?,
        }
        Ok(())
    }
}

/// Returns whether the database has a write-ahead log.
fn has_log(file: &Path) -> Result<bool, StoreError> {
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    match Path::new(&log).metadata() {
        Ok(log) => Ok(log.len() > 0),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(sqlx::Error::Io(error).into()),
    }
}

/// Reads one row. Texts are read as bytes, because they may not be UTF-8.
fn read<R>(row: &R) -> Result<LegacyRow, StoreError>
where
    R: sqlx::Row,
    usize: sqlx::ColumnIndex<R>,
    i64: for<'r> sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<i64>: for<'r> sqlx::Decode<'r, R::Database> + sqlx::Type<R::Database>,
    Option<Vec<u8>>: for<'r> sqlx::Decode<'r, R::Database>,
    Vec<u8>: for<'r> sqlx::Decode<'r, R::Database>,
    R::Database: Database,
{
    let number: i64 = row.try_get(1)?;
    let kind = LegacyRowKind::from_number(number).ok_or(sqlx::Error::RowNotFound)?;
    let mut values = std::array::from_fn(|_| None);
    for (at, value) in values.iter_mut().enumerate().take(LegacyField::ALL.len()) {
        *value = row.try_get_unchecked(at + 3)?;
    }
    let conversation: Vec<u8> = row.try_get_unchecked(0)?;
    let position: Option<i64> = row.try_get(2)?;
    Ok(LegacyRow { conversation: String::from_utf8_lossy(&conversation).into_owned(), kind, position, values })
}
