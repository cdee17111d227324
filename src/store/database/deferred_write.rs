//! Writes whose results nobody waits for. On SQLite they run together with the next statement that has a result, or
//! with the commit (see [`crate::database::sqlite_tx`]); on PostgreSQL they run at once.

use std::borrow::Cow;

use sqlx::postgres::PgArguments;
use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, AssertSqlSafe, Encode, Postgres, Sqlite, Type};

use crate::database::db::Tx;
use crate::database::error::StoreError;
use crate::database::postgres_tx::PostgresTx;
use crate::database::sqlite_tx::{Argument, SqliteTx};

/// A write with its values. It does nothing before [`DeferredWrite::run`].
#[must_use]
pub(crate) enum DeferredWrite<'t> {
    Sqlite { tx: &'t mut SqliteTx, text: Cow<'static, str>, arguments: Vec<Argument> },
    Postgres { tx: &'t mut PostgresTx, query: Query<'static, Postgres, PgArguments> },
}

/// The number of rows that a deferred write changes, for [`Tx::rows_affected`].
#[derive(Debug, Clone, Copy)]
pub struct ChangedRows(Count);

#[derive(Debug, Clone, Copy)]
enum Count {
    Known(u64),
    /// The place of the statement among the deferred ones of its transaction.
    Deferred(usize),
}

impl Tx {
    /// Prepares a write. Its parameters are numbered (`$1`), and their values are bound in this order. A failure is
    /// returned by the next statement with a result, [`Self::flush`], or the commit.
    pub(crate) fn defer(&mut self, text: impl Into<Cow<'static, str>>) -> DeferredWrite<'_> {
        let text = text.into();
        match self {
            Self::Sqlite(tx) => DeferredWrite::Sqlite { tx, text, arguments: Vec::new() },
            Self::Postgres(tx) => DeferredWrite::Postgres { tx, query: sqlx::query(AssertSqlSafe(text)) },
        }
    }

    /// Runs the deferred writes and returns their first failure.
    pub async fn flush(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.flush().await,
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Returns the number of rows that a write of this transaction has changed, if it has run.
    pub(crate) fn known_rows_affected(&self, count: ChangedRows) -> Option<u64> {
        match (count.0, self) {
            (Count::Known(rows), _) => Some(rows),
            (Count::Deferred(place), Self::Sqlite(tx)) => tx.rows_affected(place),
            (Count::Deferred(_), Self::Postgres(_)) => None,
        }
    }

    /// Runs the deferred writes, and returns the number of rows that one of them has changed.
    pub async fn rows_affected(&mut self, count: ChangedRows) -> Result<u64, StoreError> {
        self.flush().await?;
        Ok(self.known_rows_affected(count).unwrap_or(0))
    }
}

impl DeferredWrite<'_> {
    /// Binds the value of the next parameter.
    pub(crate) fn bind<T>(self, value: T) -> Self
    where
        T: Encode<'static, Sqlite> + Type<Sqlite> + Encode<'static, Postgres> + Type<Postgres>,
        T: Send + Sync + 'static,
    {
        match self {
            Self::Sqlite { tx, text, mut arguments } => {
                arguments
                    .push(Box::new(move |all: &mut SqliteArguments| <SqliteArguments as Arguments>::add(all, value)));
                Self::Sqlite { tx, text, arguments }
            }
            Self::Postgres { tx, query } => Self::Postgres { tx, query: query.bind(value) },
        }
    }

    /// Adds the write to its transaction.
    pub(crate) async fn run(self) -> Result<ChangedRows, StoreError> {
        match self {
            Self::Sqlite { tx, text, arguments } => {
                let place = tx.defer(text, arguments);
                if tx.is_full() {
                    tx.flush().await?;
                }
                Ok(ChangedRows(Count::Deferred(place)))
            }
            Self::Postgres { tx, query } => {
                let done = query.execute(&mut tx.bounded()).await?;
                Ok(ChangedRows(Count::Known(done.rows_affected())))
            }
        }
    }
}

/// Returns an insert of `rows` rows with `columns` numbered parameters each, between a beginning and an end.
pub(crate) fn insert_of_rows(beginning: &str, rows: usize, columns: usize, end: &str) -> String {
    let row = |row: usize| {
        let parameters: Vec<String> = (1..=columns).map(|column| format!("${}", row * columns + column)).collect();
        format!("({})", parameters.join(", "))
    };
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!("{beginning}VALUES {}{end}", rows.join(", "))
}
