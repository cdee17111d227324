//! The claim (a lease): one process alone drives the replies of a database, because two would end each other's
//! replies at their start. For SQLite, the lock file of the data directory is the claim. For PostgreSQL it is an
//! advisory lock, which lives as long as one connection, and an epoch in the database, which rises with every claim.
//!
//! The lock keeps others out; the epoch is the fencing token. A connection may break without this process noticing,
//! and another process may claim the database in between. So [`Claim::watch`] probes the connection and regains a lost
//! lock, writes wait meanwhile ([`ClaimGate`]), and transactions that drive replies check the epoch ([`Db::fence`]).

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{Connection, Error};
use tokio::time::Instant;

use crate::database::db::{Db, Tx};
use crate::database::error::StoreError;
use crate::database::postgres_tx::is_alive;
use crate::database::time_limits::{TimeLimits, with_deadline};
use turnleaf_platform::ids::BootId;

pub(crate) mod gate;

pub use gate::{ClaimGate, ClaimState};

/// The key of the advisory lock.
const SERVING_LOCK: i64 = 0x7475_726e_7365_7276;
const TRY_LOCK: &str = "SELECT pg_try_advisory_lock($1)";
/// The session that holds the lock, and its application name. PostgreSQL shows a 64-bit key in two halves.
const HOLDER: &str = "SELECT l.pid, COALESCE(a.application_name, '') FROM pg_locks l \
    LEFT JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND (CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT) = $1";
const TERMINATE: &str = "SELECT pg_terminate_backend($1)";
const RAISE: &str = "UPDATE serving_claim SET epoch = epoch + 1 WHERE id = 1 RETURNING epoch";
const EPOCH: &str = "SELECT epoch FROM serving_claim WHERE id = 1";
/// Locks the epoch until the transaction ends: the next claim waits for it.
const IS_EPOCH: &str = "SELECT epoch FROM serving_claim WHERE id = 1 AND epoch = $1 FOR SHARE";
/// Sets the lock timeout of the transaction, alone or together with the epoch check, which saves the journal a round
/// trip.
const BOUND_LOCK_WAITS: &str = "SELECT set_config('lock_timeout', $1, true)";
const IS_EPOCH_WITHIN: &str = "SELECT epoch, set_config('lock_timeout', $2, true) FROM serving_claim \
    WHERE id = 1 AND epoch = $1 FOR SHARE";
/// The pause between attempts to regain a lost lock, and the connect timeout of one.
const TRY_AGAIN: Duration = Duration::from_millis(200);
const CONNECT: Duration = Duration::from_secs(5);
/// The time that a start waits for the session of a killed process: a busy server ends it late.
const LET_GO: Duration = Duration::from_secs(3);

impl Db {
    /// Returns the claim state of this process.
    pub fn claim_state(&self) -> ClaimState {
        match self {
            Self::Sqlite { .. } => ClaimState::Unclaimed,
            Self::Postgres { claim, .. } => claim.state(),
        }
    }

    /// Fences the transaction: no other process can claim the database before it ends. Transactions that drive
    /// replies call this as their first statement.
    ///
    /// # Errors
    /// `InUse` when another process has claimed it.
    pub async fn fence(&self, tx: &mut Tx) -> Result<(), StoreError> {
        let (Self::Postgres { claim, .. }, Tx::Postgres(tx)) = (self, tx) else { return Ok(()) };
        let Some(epoch) = claim.state().epoch() else { return Ok(()) };
        let found = sqlx::query_scalar(IS_EPOCH).bind(epoch).fetch_optional(&mut tx.bounded()).await?;
        claim.verify_epoch(found)
    }

    /// Works like [`Self::fence`], and bounds the wait for row locks of others in this transaction to `lock_wait`.
    /// SQLite has no row locks.
    ///
    /// # Errors
    /// As [`Self::fence`].
    pub async fn fence_with_lock_timeout(&self, tx: &mut Tx, lock_wait: Duration) -> Result<(), StoreError> {
        let (Self::Postgres { claim, .. }, Tx::Postgres(tx)) = (self, tx) else { return Ok(()) };
        let lock_wait = lock_wait.as_millis().to_string();
        let Some(epoch) = claim.state().epoch() else {
            sqlx::query(BOUND_LOCK_WAITS).bind(lock_wait).execute(&mut tx.bounded()).await?;
            return Ok(());
        };
        let query = sqlx::query_as(IS_EPOCH_WITHIN).bind(epoch).bind(lock_wait);
        let found: Option<(i64, String)> = query.fetch_optional(&mut tx.bounded()).await?;
        claim.verify_epoch(found.map(|(epoch, _)| epoch))
    }
}

/// The claim of this process.
#[derive(Debug)]
pub struct Claim(Option<LockHolder>);

/// The connection that holds the lock; it is used for nothing else.
#[derive(Debug)]
struct LockHolder {
    conn: PgConnection,
    options: PgConnectOptions,
    limits: TimeLimits,
    gate: ClaimGate,
    /// The application name of the sessions of this process that hold, or held, the lock.
    name: String,
    epoch: i64,
}

/// The result of an attempt to regain a lost lock.
enum RegainAttempt {
    Regained(PgConnection),
    /// Another process holds the claim, or held it meanwhile.
    Taken,
    /// A dead session of this process, which the server believes to be alive, held the lock.
    Retry,
}

impl Claim {
    /// Acquires the lock. It works on an empty database too, so this comes before migrating. `boot` distinguishes the
    /// sessions of this process from those of others. A killed process may hold the lock for a moment, until the
    /// server notices.
    ///
    /// # Errors
    /// `InUse` when another process has it.
    pub async fn acquire(db: &Db, boot: BootId) -> Result<Self, StoreError> {
        let Db::Postgres { writer, limits, claim, .. } = db else { return Ok(Self(None)) };
        let name = format!("turnleaf serving {}", boot.uuid().simple());
        // The epoch row may be locked for a while by a transaction whose client is gone.
        let options = PgConnectOptions::clone(&writer.connect_options()).application_name(&name);
        let options = options.options([("lock_timeout", 0)]);
        let mut conn = connect(&options).await?;
        let since = Instant::now();
        while !try_lock(&mut conn, *limits).await? {
            if since.elapsed() >= limits.acquire.min(LET_GO) {
                return Err(StoreError::InUse);
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
        Ok(Self(Some(LockHolder { conn, options, limits: *limits, gate: claim.clone(), name, epoch: 0 })))
    }

    /// Raises the epoch after migrating: from now on no write of an earlier process can be stored.
    pub async fn start_epoch(&mut self) -> Result<(), StoreError> {
        let Some(holder) = &mut self.0 else { return Ok(()) };
        holder.epoch = sqlx::query_scalar(RAISE).fetch_one(&mut holder.conn).await?;
        holder.gate.set(ClaimState::Held(holder.epoch));
        Ok(())
    }

    /// Watches the claim: probes its connection, and regains the lock when the connection is lost. Returns when
    /// another process has claimed the database; never for SQLite.
    pub async fn watch(&mut self) {
        let Some(holder) = &mut self.0 else { return std::future::pending().await };
        let gate = holder.gate.clone();
        tokio::select! {
            () = holder.watch_connection() => {}
            // The fence of a transaction may notice the loss first.
            _ = gate.wait_until(|state| *state == ClaimState::Taken) => {}
        }
    }

    /// Releases the claim.
    pub async fn release(self) {
        if let Some(holder) = self.0 {
            // The lock ends with the connection, whether it is closed cleanly or not.
            let _ = with_deadline(Some(holder.limits.probe), holder.conn.close()).await;
        }
    }
}

impl LockHolder {
    async fn watch_connection(&mut self) {
        loop {
            tokio::time::sleep(self.limits.probe_every).await;
            let Err(error) = is_alive(&mut self.conn, self.limits.probe).await else { continue };
            tracing::warn!(%error, "lost the connection that holds the database lease");
            self.gate.set(ClaimState::Lost(self.epoch));
            if !self.regain().await {
                tracing::error!("another process holds the database lease");
                self.gate.set(ClaimState::Taken);
                return;
            }
            tracing::info!("the database lease is held again; no other process had it");
            self.gate.set(ClaimState::Held(self.epoch));
        }
    }

    /// Retries until the lock is regained; returns false if another process had it meanwhile.
    async fn regain(&mut self) -> bool {
        loop {
            match self.try_regain().await {
                Ok(RegainAttempt::Regained(conn)) => {
                    self.conn = conn;
                    return true;
                }
                Ok(RegainAttempt::Taken) => return false,
                Ok(RegainAttempt::Retry) => {}
                Err(error) => tracing::debug!(%error, "the database lease cannot be acquired yet"),
            }
            tokio::time::sleep(TRY_AGAIN).await;
        }
    }

    async fn try_regain(&self) -> Result<RegainAttempt, Error> {
        let limit = Some(self.limits.probe);
        let mut conn = connect(&self.options).await?;
        if try_lock(&mut conn, self.limits).await? {
            let epoch: Option<i64> = with_deadline(limit, sqlx::query_scalar(EPOCH).fetch_optional(&mut conn)).await?;
            return Ok(if epoch == Some(self.epoch) { RegainAttempt::Regained(conn) } else { RegainAttempt::Taken });
        }
        let holder = sqlx::query_as(HOLDER).bind(SERVING_LOCK).fetch_optional(&mut conn);
        let holder: Option<(i32, String)> = with_deadline(limit, holder).await?;
        match holder {
            // The server has not noticed that the connection is dead. As long as its session held the lock, no other
            // process did.
            Some((session, name)) if name == self.name => {
                with_deadline(limit, sqlx::query(TERMINATE).bind(session).execute(&mut conn)).await?;
                Ok(RegainAttempt::Retry)
            }
            Some(_) => Ok(RegainAttempt::Taken),
            None => Ok(RegainAttempt::Retry),
        }
    }
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, Error> {
    with_deadline(Some(CONNECT), PgConnection::connect_with(options)).await
}

async fn try_lock(conn: &mut PgConnection, limits: TimeLimits) -> Result<bool, Error> {
    with_deadline(Some(limits.probe), sqlx::query_scalar(TRY_LOCK).bind(SERVING_LOCK).fetch_one(conn)).await
}
