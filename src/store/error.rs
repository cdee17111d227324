//! What can go wrong with the store, by what the caller has to do about it.

use std::path::PathBuf;

use sqlx::postgres::PgDatabaseError;
use sqlx::sqlite::SqliteError;

use turnleaf_domain::TurnId;

/// A failure of the store. Not found is not one: it is `Ok(None)`.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A row with this key exists; for a client's request id that means: answer with the earlier result.
    #[error("a row with this key exists already")]
    NotUnique,
    /// A stored value does not parse: written by a newer version or by something else.
    #[error("{table}.{column} of {id} cannot be read: {reason}")]
    Inconsistent { table: &'static str, column: &'static str, id: String, reason: String },
    /// A row that the caller saw a moment ago is gone or has moved on.
    #[error("{0} is gone")]
    Gone(&'static str),
    /// What something new was to hang on was deleted by another tab at the same moment.
    #[error("{0} was deleted")]
    Deleted(&'static str),
    /// PostgreSQL cannot store NUL in text and SQLite could, so both refuse it. Text is cleaned where it comes in.
    #[error("{0} contains a NUL character")]
    Nul(&'static str),
    /// No space left. Reads go on; writes work again when there is space (507).
    #[error("the disk of the database is full")]
    Full,
    /// Locked, out of connections, restarting or deadlocked: trying again may work (503).
    #[error("the database is busy: {0}")]
    Busy(String),
    /// No memory for it: said of a server that has none left, and of one value that is too large (503).
    #[error("the database has no memory for this: {0}")]
    NoMemory(String),
    /// The connection was lost during a commit, and nobody could be asked what became of it: it may be stored (503).
    #[error("whether the change was stored is not known: {0}")]
    Unacknowledged(String),
    /// Pages that are not a database's (exit 74). Never repaired silently.
    #[error("the database is damaged: {0}; restore a backup or copy the file before you try to repair it")]
    Damaged(String),
    /// Another process drives the replies of this database (exit 75).
    #[error("another Turnleaf uses this database")]
    InUse,
    /// The database was written by a newer Turnleaf.
    #[error(
        "the database has schema version {database}, but this Turnleaf knows only up to {binary}; \
         start the newer Turnleaf again or restore the backup made before the upgrade"
    )]
    NewerSchema { database: i64, binary: i64 },
    /// A migration that was applied is not the one this binary has, or one failed half-way.
    #[error("the schema cannot be migrated: {0}")]
    Migration(String),
    /// The backup before a migration could not be made, so nothing was migrated.
    #[error("could not write the backup {path}: {reason}")]
    Backup { path: PathBuf, reason: String },
    #[error("`{0}` is not a database this program knows: use sqlite://PATH or postgres://…")]
    UnknownScheme(String),
    /// A database in memory would forget every chat, and one on a server has no file to copy.
    #[error("this needs a SQLite database in a file")]
    NoFile,
    /// Turns of a path do not hang on each other: rows that something else has changed. `fsck` names them.
    #[error("the path to turn {0} is broken")]
    BrokenPath(TurnId),
    #[error(transparent)]
    Driver(sqlx::Error),
}

impl StoreError {
    /// A row whose value the driver cannot decode; which table it is of, the driver does not know.
    fn unreadable(column: &str, reason: &dyn std::fmt::Display) -> Self {
        let reason = if column.is_empty() { reason.to_string() } else { format!("{column}: {reason}") };
        Self::Inconsistent { table: "a row", column: "a value", id: String::new(), reason }
    }

    /// Whether the same call may work in a moment.
    pub fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_) | Self::NoMemory(_) | Self::Unacknowledged(_))
    }

    /// Whether a value cannot be stored, or what it names is not there, while the database itself is well.
    pub fn is_value_error(&self) -> bool {
        match self {
            Self::NotUnique | Self::Gone(_) | Self::Deleted(_) | Self::Nul(_) => true,
            Self::Driver(sqlx::Error::Database(said)) => {
                let is_of_kind = said.is_check_violation() || said.is_foreign_key_violation();
                // PostgreSQL's class of errors in data.
                is_of_kind || said.code().is_some_and(|code| code.len() == 5 && code.starts_with("22"))
            }
            _ => false,
        }
    }

    /// Whether the database, being well, refuses what is to be stored for what it is: a value, or its size. Other rows of
    /// this key are not meant.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotUnique => false,
            Self::Driver(sqlx::Error::Encode(_)) => true,
            Self::Driver(sqlx::Error::Database(said)) => {
                self.is_value_error() || said.code().is_some_and(|code| is_refusal_code(&code))
            }
            other => other.is_value_error(),
        }
    }

    /// Whether what looks busy may be a refusal, which no later attempt gets past, where the database stores other things.
    pub fn may_be_refusal(&self) -> bool {
        matches!(self, Self::NoMemory(_)) || self.is_refusal() || matches!(self, Self::Inconsistent { .. })
    }

    /// Whether the database as a whole does not do what is asked, as when it cannot read its file. Else the fault is of
    /// the rows that were read or written, and the same call may work on others.
    pub fn is_database_wide(&self) -> bool {
        let is_of_rows = matches!(self, Self::NotUnique | Self::Inconsistent { .. } | Self::BrokenPath(_));
        !is_of_rows && !self.is_refusal()
    }

    /// Whether the data itself is broken (exit 74).
    pub fn is_damaged(&self) -> bool {
        matches!(self, Self::Damaged(_))
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let sqlx::Error::Database(said) = &error else {
            return match error {
                sqlx::Error::PoolTimedOut => Self::Busy("no connection became free".into()),
                // Turnleaf is stopping.
                sqlx::Error::PoolClosed => Self::Busy("the database is closed".into()),
                sqlx::Error::Io(why) if why.kind() == std::io::ErrorKind::StorageFull => Self::Full,
                // PostgreSQL went away, perhaps in the middle of an answer; the pool connects again.
                sqlx::Error::Io(why) => Self::Busy(why.to_string()),
                sqlx::Error::Protocol(why) => Self::Busy(why),
                sqlx::Error::Tls(why) => Self::Busy(why.to_string()),
                sqlx::Error::ColumnDecode { index, source } => Self::unreadable(&index, &source),
                sqlx::Error::Decode(source) => Self::unreadable("", &source),
                other => Self::Driver(other),
            };
        };
        if said.is_unique_violation() {
            return Self::NotUnique;
        }
        let words = said.message().to_owned();
        if let Some(sqlite) = said.try_downcast_ref::<SqliteError>() {
            return match sqlite_primary(sqlite) {
                SQLITE_BUSY | SQLITE_LOCKED => Self::Busy(words),
                SQLITE_FULL => Self::Full,
                SQLITE_CORRUPT | SQLITE_NOTADB => Self::Damaged(words),
                _ => Self::Driver(error),
            };
        }
        match said.try_downcast_ref::<PgDatabaseError>().map(PgDatabaseError::code) {
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

/// Whether a later attempt may find a PostgreSQL that does what this one could not.
fn is_busy_code(code: &str) -> bool {
    // connection_exception, transaction_rollback (deadlocks, serialization failures)
    matches!(code.get(..2), Some("08" | "40"))
        // read_only_sql_transaction, after a failover, until the pool has connected to the new primary;
        // idle_in_transaction_session_timeout; lock_not_available
        || matches!(code, "25006" | "25P03" | "55P03")
        // insufficient_resources, but for disk_full and out_of_memory: too_many_connections, configuration_limit_exceeded
        || matches!(code, "53000" | "53300" | "53400")
        // query_canceled (statement_timeout), admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout
        || matches!(code, "57014" | "57P01" | "57P02" | "57P03" | "57P05")
}

/// Whether a database says by this code that it does not take a value or a statement of this size.
fn is_refusal_code(code: &str) -> bool {
    match code.parse::<u32>() {
        // SQLite's codes are short numbers, with the primary one in the low byte.
        Ok(number) if code.len() < 5 => matches!(number & 0xff, SQLITE_TOOBIG | SQLITE_CONSTRAINT | SQLITE_MISMATCH),
        // integrity_constraint_violation, program_limit_exceeded; internal_error, which is also said of memory that is
        // asked for at once and of a size that is never given.
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

/// SQLite's primary result code: the low byte of the extended one.
fn sqlite_primary(error: &SqliteError) -> u32 {
    use sqlx::error::DatabaseError;
    error.code().and_then(|code| code.parse::<u32>().ok()).map_or(0, |code| code & 0xff)
}
