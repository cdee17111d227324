//! Store errors, classified by what the caller has to do about them.

use std::path::PathBuf;

use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

use turnleaf_domain::TurnId;

/// A failure of the store. A missing row is not one: it is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A row with this key exists; for an idempotency key the caller returns the earlier result.
    #[error("a row with this key already exists")]
    NotUnique,
    /// A stored value does not parse: it was written by a newer version or by something else.
    #[error("{table}.{column} of {id} cannot be read: {reason}")]
    Inconsistent { table: &'static str, column: &'static str, id: String, reason: String },
    /// A row that the caller just saw is deleted or has changed.
    #[error("{0} no longer exists")]
    Gone(&'static str),
    /// The parent of a new row was deleted concurrently.
    #[error("{0} was deleted")]
    Deleted(&'static str),
    /// The text contains NUL, which PostgreSQL cannot store; SQLite refuses it too, for equal behavior. Text is
    /// cleaned at the boundary.
    #[error("{0} contains a NUL character")]
    Nul(&'static str),
    /// The disk is full. Reads still work; writes work again when there is space (507).
    #[error("the disk of the database is full")]
    Full,
    /// The database is locked, out of connections, restarting or deadlocked: a retry may work (503).
    #[error("the database is busy: {0}")]
    Busy(String),
    /// The database is out of memory, or one value is too large for it (503).
    #[error("the database has no memory for this: {0}")]
    NoMemory(String),
    /// The connection was lost during a commit, and its outcome could not be determined: it may be stored (503).
    #[error("the change may not have been stored: {0}")]
    Unacknowledged(String),
    /// Pages are damaged (exit 74). They are never repaired silently.
    #[error("the database is damaged: {0}; restore a backup or copy the file before you try to repair it")]
    Damaged(String),
    /// Another process drives the replies of this database (exit 75).
    #[error("another Turnleaf server is using this database")]
    InUse,
    /// The database was written by a newer Turnleaf.
    #[error(
        "the database has schema version {database}, but this version of Turnleaf only supports up to {binary}; start \
        the newer version again or restore the backup made before the upgrade"
    )]
    NewerSchema { database: i64, binary: i64 },
    /// An applied migration differs from the one in this binary, or a migration failed half-way.
    #[error("the schema cannot be migrated: {0}")]
    Migration(String),
    /// The backup before a migration failed, so nothing was migrated.
    #[error("could not write the backup {path}: {reason}")]
    Backup { path: PathBuf, reason: String },
    #[error("`{0}` is not a supported database URL: use sqlite://PATH or postgres://…")]
    UnknownScheme(String),
    /// An in-memory database would lose every chat, and a server database has no file to copy.
    #[error("this requires a SQLite database file")]
    NoFile,
    /// The turns of a path are not connected: something else has changed the rows. `fsck` names them.
    #[error("the path to turn {0} is broken")]
    BrokenPath(TurnId),
    #[error(transparent)]
    Driver(sqlx::Error),
}

impl StoreError {
    /// Returns the error for a value that the driver cannot decode; the driver does not know its table.
    fn unreadable(column: &str, reason: &dyn std::fmt::Display) -> Self {
        let reason = if column.is_empty() { reason.to_string() } else { format!("{column}: {reason}") };
        Self::Inconsistent { table: "a row", column: "a value", id: String::new(), reason }
    }

    /// Returns whether a retry of the same call may work soon.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::NoMemory(_) | Self::Unacknowledged(_))
    }

    /// Returns whether a value cannot be stored, or a referenced row is missing, while the database itself works.
    pub fn is_value_error(&self) -> bool {
        match self {
            Self::NotUnique | Self::Gone(_) | Self::Deleted(_) | Self::Nul(_) => true,
            Self::Driver(sqlx::Error::Database(database_error)) => {
                let is_of_kind = database_error.is_check_violation() || database_error.is_foreign_key_violation();
                // Class 22 of PostgreSQL: data exceptions.
                is_of_kind || database_error.code().is_some_and(|code| code.len() == 5 && code.starts_with("22"))
            }
            _ => false,
        }
    }

    /// Returns whether a working database refuses a write because of its value or size. Conflicts with other rows of
    /// the same key are not included.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotUnique => false,
            Self::Driver(sqlx::Error::Encode(_)) => true,
            Self::Driver(sqlx::Error::Database(database_error)) => {
                self.is_value_error() || database_error.code().is_some_and(|code| is_refusal_code(&code))
            }
            other => other.is_value_error(),
        }
    }

    /// Returns whether an apparently busy error may be a refusal, which no retry gets past, if the database stores
    /// other writes.
    pub fn may_be_refusal(&self) -> bool {
        matches!(self, Self::NoMemory(_)) || self.is_refusal() || matches!(self, Self::Inconsistent { .. })
    }

    /// Returns whether the database as a whole fails, for example because it cannot read its file. Otherwise the
    /// fault is in the rows that were read or written, and the same call may work on others.
    pub fn is_database_wide(&self) -> bool {
        let is_of_rows = matches!(self, Self::NotUnique | Self::Inconsistent { .. } | Self::BrokenPath(_));
        !is_of_rows && !self.is_refusal()
    }

    /// Returns whether the data itself is damaged (exit 74).
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let sqlx::Error::Database(database_error) = &error else {
            return match error {
                sqlx::Error::PoolTimedOut => Self::Busy("no connection became available".into()),
                // Turnleaf is stopping.
                sqlx::Error::PoolClosed => Self::Busy("the database is closed".into()),
                sqlx::Error::Io(cause) if cause.kind() == std::io::ErrorKind::StorageFull => Self::Full,
                // The connection to PostgreSQL broke, perhaps during a response; the pool reconnects.
                sqlx::Error::Io(cause) => Self::Busy(cause.to_string()),
                sqlx::Error::Protocol(cause) => Self::Busy(cause),
                sqlx::Error::Tls(cause) => Self::Busy(cause.to_string()),
                sqlx::Error::ColumnDecode { index, source } => Self::unreadable(&index, &source),
                sqlx::Error::Decode(source) => Self::unreadable("", &source),
                other => Self::Driver(other),
            };
        };
        if database_error.is_unique_violation() {
            return Self::NotUnique;
        }
        let words = database_error.message().to_owned();
        if let Some(sqlite) = database_error.try_downcast_ref::<SqliteError>() {
            return match sqlite_primary(sqlite) {
                SQLITE_BUSY | SQLITE_LOCKED => Self::Busy(words),
                SQLITE_FULL => Self::Full,
                SQLITE_CORRUPT | SQLITE_NOTADB => Self::Damaged(words),
                _ => Self::Driver(error),
            };
        }
        match database_error.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::code) {
            // disk_full
            Some("53100") => Self::Full,
            // data_corrupted, index_corrupted
            Some("XX001" | "XX002") => Self::Damaged(words),
            // out_of_memory
            Some("53200") => Self::NoMemory(words),
            Some(code) if is_busy_code(code) => Self::Busy(words),
            _ => Self::Driver(error),
        }
    }
}

/// Returns whether this PostgreSQL code is transient.
fn is_busy_code(code: &str) -> bool {
    // connection_exception, transaction_rollback (deadlocks, serialization failures)
    matches!(code.get(..2), Some("08" | "40"))
        // read_only_sql_transaction, after a failover, until the pool has connected to the new primary;
        // idle_in_transaction_session_timeout; lock_not_available
        || matches!(code, "25006" | "25P03" | "55P03")
        // insufficient_resources, but for disk_full and out_of_memory: too_many_connections,
        // configuration_limit_exceeded
        || matches!(code, "53000" | "53300" | "53400")
        // query_canceled (statement_timeout), admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout
        || matches!(code, "57014" | "57P01" | "57P02" | "57P03" | "57P05")
}

/// Returns whether this code refuses a value or a statement for its content or size.
fn is_refusal_code(code: &str) -> bool {
    match code.parse::<u32>() {
        // SQLite codes are short numbers, with the primary code in the low byte.
        Ok(number) if code.len() < 5 => matches!(number & 0xff, SQLITE_TOOBIG | SQLITE_CONSTRAINT | SQLITE_MISMATCH),
        // integrity_constraint_violation, program_limit_exceeded; internal_error, which PostgreSQL also reports for
        // an oversized memory allocation.
        _ => matches!(code.get(..2), Some("23" | "54")) || code == "XX000",
    }
}

const SQLITE_TOOBIG: u32 = 18;
const SQLITE_CONSTRAINT: u32 = 19;
const SQLITE_MISMATCH: u32 = 20;
const SQLITE_BUSY: u32 = 5;
const SQLITE_LOCKED: u32 = 6;
const SQLITE_CORRUPT: u32 = 11;
const SQLITE_FULL: u32 = 13;
const SQLITE_NOTADB: u32 = 26;

/// Returns SQLite's primary result code: the low byte of the extended one.
fn sqlite_primary(error: &SqliteError) -> u32 {
    use sqlx::error::DatabaseError;
    error.code().and_then(|code| code.parse::<u32>().ok()).map_or(0, |code| code & 0xff)
}
