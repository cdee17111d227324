//! PostgreSQL transactions with a commit outcome query. A connection that breaks during COMMIT leaves the outcome
//! open: the server may have stored everything. Another connection then queries the outcome by the transaction id.

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use sqlx::postgres::{PgConnection, Postgres};
use sqlx::{Connection, Error, PgPool, Transaction};
use tokio::time::Instant;

use crate::database::error::StoreError;
use crate::database::time_limits::{BoundedConnection, BoundedPool, TimeLimits, with_deadline};

/// Null if the transaction has written nothing.
const NUMBER: &str = "SELECT txid_current_if_assigned()";
/// Null if the transaction is too old for the server to know.
const OUTCOME: &str = "SELECT txid_status($1)";
const IS_READ_ONLY: &str = "SELECT current_setting('transaction_read_only') = 'on'";
/// The pause between two outcome queries.
const ASK_AGAIN: Duration = Duration::from_millis(50);

/// An open transaction.
#[derive(Debug)]
pub struct PostgresTx {
    tx: Transaction<'static, Postgres>,
    limits: TimeLimits,
    /// The pool for outcome queries; none for a read-only transaction.
    pool: Option<PgPool>,
}

impl Deref for PostgresTx {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.tx
    }
}

impl DerefMut for PostgresTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.tx
    }
}

impl PostgresTx {
    pub(crate) fn read_only(tx: Transaction<'static, Postgres>, limits: TimeLimits) -> Self {
        Self { tx, limits, pool: None }
    }

    pub(crate) fn read_write(tx: Transaction<'static, Postgres>, limits: TimeLimits, pool: PgPool) -> Self {
        Self { tx, limits, pool: Some(pool) }
    }

    pub(crate) fn limits(&self) -> TimeLimits {
        self.limits
    }

    /// Returns the connection with a deadline on its statements.
    pub(crate) fn bounded(&mut self) -> BoundedConnection<'_> {
        BoundedConnection { connection: &mut self.tx, limit: self.limits.response_deadline() }
    }

    pub(crate) async fn rollback(self) -> Result<(), Error> {
        with_deadline(self.limits.response_deadline(), self.tx.rollback()).await
    }

    pub(crate) async fn commit_idempotent(self) -> Result<(), StoreError> {
        Ok(with_deadline(self.limits.response_deadline(), self.tx.commit()).await?)
    }

    /// Commits; if the acknowledgement is lost, queries the outcome for at most `patience`.
    pub(crate) async fn commit(mut self, patience: Duration) -> Result<(), StoreError> {
        let Some(pool) = self.pool.take() else { return self.commit_idempotent().await };
        let number: Option<i64> = sqlx::query_scalar(NUMBER).fetch_one(&mut self.bounded()).await?;
        let limits = self.limits;
        let result = match (self.commit_idempotent().await, number) {
            (Err(error), Some(number)) if error.is_busy() => ask_outcome(&pool, limits, number, error, patience).await,
            (outcome, _) => outcome,
        };
        if let Err(StoreError::Unacknowledged(reason)) = &result {
            tracing::error!(%reason, "a commit was not acknowledged, and its outcome is not known");
        }
        result
    }
}

/// Queries the outcome of a transaction whose commit failed with `commit_error`.
async fn ask_outcome(
    pool: &PgPool,
    limits: TimeLimits,
    number: i64,
    commit_error: StoreError,
    patience: Duration,
) -> Result<(), StoreError> {
    let started = Instant::now();
    loop {
        let pool = BoundedPool { pool, limit: limits.response_deadline().or(Some(limits.attempt)) };
        let answer = sqlx::query_scalar::<_, Option<String>>(OUTCOME).bind(number).fetch_one(pool).await;
        let reason = match answer.map_err(StoreError::from) {
            Ok(Some(outcome)) if outcome == "committed" => {
                tracing::warn!(%commit_error, "a commit was not acknowledged; it was stored");
                return Ok(());
            }
            Ok(Some(outcome)) if outcome == "aborted" => return Err(commit_error),
            // The server has not noticed that its client is gone, or waits for a standby.
            Ok(Some(_)) => commit_error.to_string(),
            Ok(None) => return Err(StoreError::Unacknowledged(commit_error.to_string())),
            Err(error) if error.is_busy() => error.to_string(),
            Err(error) => return Err(StoreError::Unacknowledged(error.to_string())),
        };
        if started.elapsed() >= patience {
            return Err(StoreError::Unacknowledged(reason));
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// Returns whether a connection answers in time; an error makes the pool close it at once. The pool also tests
/// released connections, so that a dead one does not keep its slot.
pub(crate) async fn is_alive(conn: &mut PgConnection, limit: Duration) -> Result<bool, Error> {
    with_deadline(Some(limit), conn.ping()).await.map(|()| true)
}

/// Works like [`is_alive`], for a connection that will write. After a failover its server may be a standby: then the
/// pool reconnects.
pub(crate) async fn is_alive_and_writable(conn: &mut PgConnection, limit: Duration) -> Result<bool, Error> {
    let is_read_only = sqlx::query_scalar::<_, bool>(IS_READ_ONLY).fetch_one(conn);
    Ok(!with_deadline(Some(limit), is_read_only).await?)
}
