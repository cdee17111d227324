//! The reading connections of SQLite. A pool tests each connection that it gets back with a hop to the connection's
//! thread, which costs as much as most reads do. A connection whose read has succeeded is therefore kept for the next
//! read; one whose read failed, or was given up, returns to the pool and is tested there.

use async_stream::try_stream;
use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnection, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo};
use sqlx::{Either, Error, Execute, Executor, SqlStr, Sqlite, SqlitePool};

use crate::database::write_queue::Handover;

/// A pool of reading connections. Cheap to clone.
#[derive(Debug, Clone)]
pub struct SqliteReaders {
    pool: SqlitePool,
    handover: Handover,
}

impl SqliteReaders {
    /// Returns the readers of a pool that others use as well: idle connections are in the pool.
    pub fn of_shared_pool(pool: SqlitePool) -> Self {
        Self { pool, handover: Handover::default() }
    }

    /// Returns the readers of a pool that nobody else uses.
    pub(crate) fn new(pool: SqlitePool) -> Self {
        Self { pool, handover: Handover::keeping_idle() }
    }

    /// Returns a connection. When it is dropped, the pool tests it; [`Self::handover`] passes it on without a test.
    pub(crate) async fn acquire(&self) -> Result<PoolConnection<Sqlite>, Error> {
        self.handover.acquire(&self.pool, false).await
    }

    pub(crate) fn handover(&self) -> &Handover {
        &self.handover
    }

    /// Waits for running reads and closes all connections.
    pub(crate) async fn close(&self) {
        self.handover.release_idle();
        self.pool.close().await;
    }
}

impl<'c> Executor<'c> for &SqliteReaders {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> BoxStream<'e, Result<Either<SqliteQueryResult, SqliteRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let readers = self.clone();
        let items = try_stream! {
            let mut connection = readers.acquire().await?;
            {
                let reader: &mut SqliteConnection = &mut connection;
                let mut items = reader.fetch_many(query);
                while let Some(item) = items.try_next().await? {
                    yield item;
                }
            }
            readers.handover.give(connection);
        };
        items.boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<SqliteRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        let readers = self.clone();
        async move {
            let mut connection = readers.acquire().await?;
            let reader: &mut SqliteConnection = &mut connection;
            let row = reader.fetch_optional(query).await?;
            readers.handover.give(connection);
            Ok(row)
        }
        .boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [SqliteTypeInfo],
    ) -> BoxFuture<'e, Result<SqliteStatement, Error>>
    where
        'c: 'e,
    {
        let readers = self.clone();
        async move {
            let mut connection = readers.acquire().await?;
            let reader: &mut SqliteConnection = &mut connection;
            let statement = reader.prepare_with(sql, parameters).await?;
            readers.handover.give(connection);
            Ok(statement)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests;
