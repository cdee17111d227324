//! Transactions of SQLite in few hops. The driver runs a connection on a thread of its own, and each statement is a
//! hop there and back, which costs more than most statements do. Statements whose results nobody waits for are
//! therefore deferred ([`SqliteTx::defer`]), as are `BEGIN` and `COMMIT`: the next statement with a result takes all of
//! them along as one script. The driver runs the statements of a script in order and stops at the first error.

use std::borrow::Cow;
use std::collections::HashSet;
use std::{fmt, future};

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{FutureExt, StreamExt, TryStreamExt};
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteArguments, SqliteConnection, SqliteQueryResult, SqliteRow, SqliteStatement, SqliteTypeInfo};
use sqlx::{Arguments, AssertSqlSafe, Either, Error, Execute, Executor, SqlStr, Sqlite};

use crate::database::error::StoreError;
use crate::database::write_queue::Handover;

/// The sizes of scripts that repeat one statement. A few fixed sizes keep the number of prepared scripts low.
const REPETITIONS: [usize; 5] = [16, 8, 4, 2, 1];
/// The number of deferred statements at which they are run without waiting for more.
const DEFERRED_AT_MOST: usize = 256;
/// The error message of SQLite for a rollback after it has ended the transaction by itself, or when none was begun.
const NO_TRANSACTION: &str = "no transaction is active";

/// Adds a bound value to the arguments of a script.
pub(crate) type Argument = Box<dyn FnOnce(&mut SqliteArguments) -> Result<(), BoxDynError> + Send + Sync>;

type ScriptItem = Result<Either<SqliteQueryResult, SqliteRow>, Error>;

/// A statement that waits for the next script.
struct DeferredStatement {
    text: Cow<'static, str>,
    arguments: Vec<Argument>,
}

/// The beginning of a script: the deferred statements, each with a semicolon.
struct Prefix {
    text: String,
    /// The number of its statements, with `BEGIN`.
    statements: usize,
    begins: bool,
    /// The place of its first deferred statement among all of the transaction.
    first: usize,
}

/// An open transaction. Dropping it rolls it back.
pub struct SqliteTx {
    /// Present until the transaction ends.
    connection: Option<PoolConnection<Sqlite>>,
    handover: Handover,
    /// The statement that begins the transaction, until it was run.
    begin: Option<&'static str>,
    deferred: Vec<DeferredStatement>,
    /// The numbers of changed rows of all deferred statements that were run, in order.
    counts: Vec<u64>,
    /// True if a deferred statement failed or its result was not waited for: the transaction can only be rolled back.
    /// `BEGIN` may be what failed, after which a statement would be committed by itself.
    is_broken: bool,
}

impl fmt::Debug for SqliteTx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteTx").field("connection", &self.connection).finish_non_exhaustive()
    }
}

impl SqliteTx {
    /// Returns a transaction that `begin` begins, together with its first statement. Afterwards the connection is
    /// handed to whoever waits for it there.
    pub(crate) fn new(connection: PoolConnection<Sqlite>, begin: &'static str, handover: Handover) -> Self {
        Self {
            connection: Some(connection),
            handover,
            begin: Some(begin),
            deferred: Vec::new(),
            counts: Vec::new(),
            is_broken: false,
        }
    }

    /// Adds a statement, which runs before the next one with a result and before the end of the transaction. Its
    /// parameters are numbered. Returns its place for [`Self::rows_affected`].
    pub(crate) fn defer(&mut self, text: Cow<'static, str>, arguments: Vec<Argument>) -> usize {
        self.deferred.push(DeferredStatement { text, arguments });
        self.counts.len() + self.deferred.len() - 1
    }

    /// Returns whether so many statements wait that they should be run.
    pub(crate) fn is_full(&self) -> bool {
        self.deferred.len() >= DEFERRED_AT_MOST
    }

    /// Returns the number of rows that a deferred statement has changed, once it was run.
    pub(crate) fn rows_affected(&self, place: usize) -> Option<u64> {
        self.counts.get(place).copied()
    }

    /// Runs the deferred statements: different ones as one script, repeated ones in scripts of fixed sizes.
    pub(crate) async fn flush(&mut self) -> Result<(), StoreError> {
        if self.is_broken {
            return Err(broken().into());
        }
        let has_repeated = self.has_repeated();
        let mut waiting = std::mem::take(&mut self.deferred);
        while let Some(first) = waiting.first() {
            let alike = waiting.iter().take_while(|statement| statement.text == first.text).count();
            let size = REPETITIONS.into_iter().find(|size| *size <= alike).unwrap_or(1);
            let rest = waiting.split_off(if has_repeated { size } else { waiting.len() });
            self.deferred = std::mem::replace(&mut waiting, rest);
            self.run_deferred().await?;
        }
        Ok(())
    }

    /// Returns whether a deferred statement is repeated.
    fn has_repeated(&self) -> bool {
        let mut seen: HashSet<&str> = HashSet::new();
        !self.deferred.iter().all(|statement| seen.insert(&statement.text))
    }

    async fn run_deferred(&mut self) -> Result<(), StoreError> {
        let mut arguments = SqliteArguments::default();
        let prefix = self.take_deferred(&mut arguments).map_err(Error::Encode)?;
        let mut results = self.run(prefix, "", arguments, true);
        while results.try_next().await?.is_some() {}
        Ok(())
    }

    /// Commits the transaction.
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        sqlx::query("COMMIT").execute(&mut self).await?;
        self.release();
        Ok(())
    }

    /// Rolls the transaction back.
    pub(crate) async fn rollback(mut self) -> Result<(), StoreError> {
        self.deferred.clear();
        if self.begin.is_none()
            && let Some(connection) = &mut self.connection
        {
            roll_back(connection).await?;
        }
        self.release();
        Ok(())
    }

    /// Rolls back to the savepoint and releases it. Statements that were deferred since then are dropped.
    pub(crate) async fn rollback_to_savepoint(&mut self) -> Result<(), StoreError> {
        self.counts.resize(self.counts.len() + self.deferred.len(), 0);
        self.deferred.clear();
        let Some(connection) = &mut self.connection else { return Err(Error::WorkerCrashed.into()) };
        let connection: &mut SqliteConnection = connection;
        sqlx::query("ROLLBACK TO SAVEPOINT mark").execute(&mut *connection).await?;
        sqlx::query("RELEASE SAVEPOINT mark").execute(connection).await?;
        self.is_broken = false;
        Ok(())
    }

    /// Gives the connection away after the end of the transaction.
    fn release(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.handover.give(connection);
        }
    }

    /// Takes the deferred statements as the beginning of a script, and adds their arguments behind those of the
    /// statement that the script ends with.
    fn take_deferred(&mut self, arguments: &mut SqliteArguments) -> Result<Prefix, BoxDynError> {
        let begins = self.begin.is_some();
        let statements = self.deferred.len() + usize::from(begins);
        let mut prefix = Prefix { text: String::new(), statements, begins, first: self.counts.len() };
        self.counts.resize(self.counts.len() + self.deferred.len(), 0);
        if let Some(begin) = self.begin {
            prefix.text.push_str(begin);
            prefix.text.push_str(";\n");
        }
        // Until the statements are answered.
        self.is_broken = true;
        for statement in std::mem::take(&mut self.deferred) {
            push_shifted(&mut prefix.text, &statement.text, <SqliteArguments as Arguments>::len(arguments));
            prefix.text.push_str(";\n");
            for add in statement.arguments {
                add(arguments)?;
            }
        }
        self.begin = None;
        Ok(prefix)
    }

    /// Runs a script that ends with this statement, and returns the results of that.
    fn run<'e>(
        &'e mut self,
        prefix: Prefix,
        last: &str,
        arguments: SqliteArguments,
        is_persistent: bool,
    ) -> BoxStream<'e, ScriptItem> {
        let Self { connection: Some(connection), counts, is_broken, .. } = self else {
            return failed(Error::WorkerCrashed);
        };
        let connection: &mut SqliteConnection = connection;
        let Prefix { mut text, statements: mut left, mut begins, first: mut place } = prefix;
        text.push_str(last);
        let query = sqlx::query_with::<Sqlite, SqliteArguments>(AssertSqlSafe(text), arguments);
        let items = connection.fetch_many(query.persistent(is_persistent));
        let of_last = move |item: Either<SqliteQueryResult, SqliteRow>| {
            let kept = match item {
                Either::Left(done) if left > 0 => {
                    if !std::mem::take(&mut begins) {
                        if let Some(count) = counts.get_mut(place) {
                            *count = done.rows_affected();
                        }
                        place += 1;
                    }
                    left -= 1;
                    *is_broken = left > 0;
                    None
                }
                Either::Right(_) if left > 0 => None,
                item => Some(item),
            };
            future::ready(Ok(kept))
        };
        items.try_filter_map(of_last).boxed()
    }
}

impl Drop for SqliteTx {
    fn drop(&mut self) {
        if self.begin.is_some() {
            self.release();
        }
        let Some(mut connection) = self.connection.take() else { return };
        let handover = self.handover.clone();
        // Whatever the connection still runs comes first, because it takes its commands in order.
        tokio::spawn(async move {
            if roll_back(&mut connection).await.is_ok() {
                handover.give(connection);
            } else {
                // It would stay in the transaction.
                connection.close_on_drop();
            }
        });
    }
}

impl<'c> Executor<'c> for &'c mut SqliteTx {
    type Database = Sqlite;

    fn fetch_many<'e, 'q: 'e, E>(self, mut query: E) -> BoxStream<'e, ScriptItem>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        if self.is_broken {
            return failed(broken());
        }
        if self.begin.is_none() && self.deferred.is_empty() {
            let Some(connection) = &mut self.connection else { return failed(Error::WorkerCrashed) };
            let connection: &mut SqliteConnection = connection;
            return connection.fetch_many(query);
        }
        let arguments = match query.take_arguments() {
            Ok(arguments) => arguments,
            Err(error) => return failed(Error::Encode(error)),
        };
        // A script of each length would be kept.
        let is_persistent = query.persistent() && arguments.is_some() && !self.has_repeated();
        let mut arguments = arguments.unwrap_or_default();
        match self.take_deferred(&mut arguments) {
            Ok(prefix) => self.run(prefix, query.sql().as_str(), arguments, is_persistent),
            Err(error) => failed(Error::Encode(error)),
        }
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<SqliteRow>, Error>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Sqlite>,
    {
        if self.begin.is_none() && self.deferred.is_empty() && !self.is_broken {
            let Some(connection) = &mut self.connection else {
                return future::ready(Err(Error::WorkerCrashed)).boxed();
            };
            let connection: &mut SqliteConnection = connection;
            return connection.fetch_optional(query);
        }
        let mut items = self.fetch_many(query);
        async move {
            while let Some(item) = items.try_next().await? {
                if let Either::Right(row) = item {
                    return Ok(Some(row));
                }
            }
            Ok(None)
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
        let Some(connection) = &mut self.connection else {
            return future::ready(Err(Error::WorkerCrashed)).boxed();
        };
        let connection: &mut SqliteConnection = connection;
        connection.prepare_with(sql, parameters)
    }
}

/// Rolls the transaction back, if the connection is in one: SQLite ends some by itself.
async fn roll_back(connection: &mut SqliteConnection) -> Result<(), Error> {
    match sqlx::query("ROLLBACK").execute(connection).await {
        Err(Error::Database(error)) if error.message().contains(NO_TRANSACTION) => Ok(()),
        done => done.map(drop),
    }
}

/// The error of a statement in a transaction that can only be rolled back; it counts as busy.
fn broken() -> Error {
    Error::Protocol("an earlier statement of the transaction failed".into())
}

fn failed<'e>(error: Error) -> BoxStream<'e, ScriptItem> {
    stream::once(future::ready(Err(error))).boxed()
}

/// Appends a statement with its numbered parameters shifted by `shift`, because the parameters of a script have one
/// numbering.
fn push_shifted(script: &mut String, text: &str, shift: usize) {
    let (mut rest, mut is_quoted) = (text, false);
    while let Some(at) = rest.find(['$', '\'']) {
        let (before, after) = rest.split_at(at + 1);
        script.push_str(before);
        rest = after;
        if before.ends_with('\'') {
            is_quoted = !is_quoted;
            continue;
        }
        let digits = rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(rest.len());
        let (number, after) = rest.split_at(digits);
        match number.parse::<usize>() {
            Ok(number) if !is_quoted => script.push_str(&(number + shift).to_string()),
            _ => script.push_str(number),
        }
        rest = after;
    }
    script.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::push_shifted;

    #[test]
    fn parameters_outside_quotes_are_shifted() {
        for (text, shift, wanted) in [
            ("SELECT 1", 3, "SELECT 1"),
            ("VALUES ($1, $2, $12)", 0, "VALUES ($1, $2, $12)"),
            ("VALUES ($1, $2, $12)", 9, "VALUES ($10, $11, $21)"),
            ("SELECT '$1', $1, 'it''s $2', $2", 4, "SELECT '$1', $5, 'it''s $2', $6"),
            ("SELECT '$', $", 4, "SELECT '$', $"),
        ] {
            let mut script = String::new();
            push_shifted(&mut script, text, shift);
            assert_eq!(script, wanted);
        }
    }
}
