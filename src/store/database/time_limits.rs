//! Time limits of PostgreSQL. The server enforces some of them; deadlines of our own cover a connection that is dead
//! without an error, on which no response ever arrives. SQLite needs none, because its driver bounds every wait.

use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgQueryResult, PgRow, PgStatement, PgTypeInfo, Postgres};
use sqlx::{Either, Error, Execute, Executor, PgPool, SqlStr};

/// All limits of one open database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeLimits {
    /// The wait of a task for a connection, and of a write for the claim.
    pub acquire: Duration,
    /// The time that a connection may take to show that it is alive.
    pub probe: Duration,
    /// The interval at which the connection that holds the claim is probed.
    pub probe_every: Duration,
    /// The time that a statement may take; `None` for commands, which migrate, check and export everything.
    pub statement: Option<Duration>,
    /// The time of one attempt of the journal, from the connection to the commit.
    pub attempt: Duration,
    /// The time for which the outcome of an unacknowledged commit is queried.
    pub outcome: Duration,
}

/// The time that a statement waits for a row or table lock.
const LOCK: Duration = Duration::from_secs(10);
/// The time that a transaction may be idle: its locks are released then, even if its client is unreachable.
const IDLE_IN_TRANSACTION: Duration = Duration::from_secs(60);
/// Keepalive of the server: the locks of a dead machine are released within 25 s.
const KEEPALIVE: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "25000"),
];

impl TimeLimits {
    /// The limits of a command: its work is unlimited, but a dead connection is noticed.
    pub const COMMAND: Self = Self {
        acquire: Duration::from_secs(10),
        probe: Duration::from_secs(2),
        probe_every: Duration::from_secs(1),
        statement: None,
        attempt: Duration::from_secs(15),
        outcome: Duration::from_secs(10),
    };
    /// The limits of a server.
    pub const SERVING: Self = Self { statement: Some(Duration::from_secs(60)), ..Self::COMMAND };

    /// Adds the limits that the server enforces.
    pub(crate) fn apply(&self, options: PgConnectOptions) -> PgConnectOptions {
        let options = options.options(KEEPALIVE);
        let Some(statement) = self.statement else { return options };
        let milliseconds = |limit: Duration| limit.as_millis().to_string();
        options.options([
            ("statement_timeout", milliseconds(statement)),
            ("lock_timeout", milliseconds(LOCK.min(statement))),
            ("idle_in_transaction_session_timeout", milliseconds(IDLE_IN_TRANSACTION)),
        ])
    }

    /// Returns the pool with a deadline on its statements.
    pub(crate) fn bounded<'p>(&self, pool: &'p PgPool) -> BoundedPool<'p> {
        BoundedPool { pool, limit: self.response_deadline() }
    }

    /// Returns the deadline of a response, later than the server's own statement timeout.
    pub(crate) fn response_deadline(&self) -> Option<Duration> {
        self.statement.map(|statement| statement + self.probe)
    }
}

/// Returns the error of a passed deadline; the store treats it as busy, like any lost connection.
pub(crate) fn deadline_error() -> Error {
    Error::Io(std::io::Error::new(std::io::ErrorKind::TimedOut, "the database did not respond in time"))
}

/// Runs the work with a deadline.
pub(crate) async fn with_deadline<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.unwrap_or_else(|_| Err(deadline_error())),
        None => work.await,
    }
}

/// Applies a deadline to each item of a stream.
fn each_with_deadline<'e, T: Send + 'e>(
    limit: Option<Duration>,
    items: BoxStream<'e, Result<T, Error>>,
) -> BoxStream<'e, Result<T, Error>> {
    let Some(limit) = limit else { return items };
    let next = move |items: Option<BoxStream<'e, Result<T, Error>>>| async move {
        let mut items = items?;
        match tokio::time::timeout(limit, items.next()).await {
            Ok(item) => item.map(|item| (item, Some(items))),
            // The rest of the response is dropped with the connection.
            Err(_) => Some((Err(deadline_error()), None)),
        }
    };
    stream::unfold(Some(items), next).boxed()
}

/// A pool whose statements have a deadline.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundedPool<'p> {
    pub pool: &'p PgPool,
    pub limit: Option<Duration>,
}

/// A connection whose statements have a deadline.
#[derive(Debug)]
pub(crate) struct BoundedConnection<'x> {
    pub connection: &'x mut PgConnection,
    pub limit: Option<Duration>,
}

/// Both execute through the wrapped executor.
macro_rules! bounded_executor {
    (|$self:ident| $executor:expr) => {
        type Database = Postgres;

        fn fetch_many<'e, 'q: 'e, E>(
            $self,
            query: E,
        ) -> BoxStream<'e, Result<Either<PgQueryResult, PgRow>, Error>>
        where
            'c: 'e,
            E: 'q + Execute<'q, Postgres>,
        {
            let limit = $self.limit;
            each_with_deadline(limit, $executor.fetch_many(query))
        }

        fn fetch_optional<'e, 'q: 'e, E>($self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
        where
            'c: 'e,
            E: 'q + Execute<'q, Postgres>,
        {
            let limit = $self.limit;
            with_deadline(limit, $executor.fetch_optional(query)).boxed()
        }

        fn prepare_with<'e>(
            $self,
            sql: SqlStr,
            parameters: &'e [PgTypeInfo],
        ) -> BoxFuture<'e, Result<PgStatement, Error>>
        where
            'c: 'e,
        {
            let limit = $self.limit;
            with_deadline(limit, $executor.prepare_with(sql, parameters)).boxed()
        }
    };
}

impl<'c> Executor<'c> for BoundedPool<'c> {
    bounded_executor!(|self| self.pool);
}

impl<'c> Executor<'c> for &'c mut BoundedConnection<'_> {
    bounded_executor!(|self| (&mut *self.connection));
}
