//! Watches the claim on the database while the server runs. When another process has claimed the database, the server
//! stops writing: it abandons its replies, reports that it is not ready, and ends with exit code 75.

use tokio_util::sync::CancellationToken;

use crate::server::cli::exit::CliError;
use turnleaf_platform::clock::Clock;
use turnleaf_platform::ids::BootId;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_run::Supervisor;
use turnleaf_store::database::claim::ClaimState;
use turnleaf_store::{Claim, Db, StoreError};

/// Claims the database before migrating it, so that a refused process has changed nothing.
pub async fn claim_and_migrate(db: &Db, boot: BootId, clock: &dyn Clock) -> Result<Claim, StoreError> {
    let mut claim = Claim::acquire(db, boot).await?;
    let migration = db.migrate(None, clock.now()).await?;
    if let Some(backup) = &migration.backup {
        tracing::info!(backup = %backup.display(), "the database was copied before it was migrated");
    }
    claim.start_epoch().await?;
    Ok(claim)
}

/// A claim with its watcher task.
pub struct WatchedClaim {
    watcher: Task<()>,
    serving: CancellationToken,
    db: Db,
}

impl WatchedClaim {
    /// Watches the claim until it is released. `shutdown` is cancelled when another process claims the database.
    pub fn start(claim: Claim, db: Db, supervisor: Supervisor, shutdown: CancellationToken) -> Self {
        let serving = CancellationToken::new();
        let watcher = tasks::spawn(watch(claim, supervisor, shutdown, serving.clone()));
        Self { watcher, serving, db }
    }

    /// Releases the claim at the end of serving.
    ///
    /// # Errors
    /// Another process has claimed the database.
    pub async fn release(self) -> Result<(), CliError> {
        self.serving.cancel();
        // A watcher that panicked has dropped the claim as well.
        let _ = self.watcher.await;
        if self.db.claim_state() == ClaimState::Taken { Err(StoreError::InUse.into()) } else { Ok(()) }
    }
}

async fn watch(mut claim: Claim, supervisor: Supervisor, shutdown: CancellationToken, serving: CancellationToken) {
    if serving.run_until_cancelled(claim.watch()).await.is_some() {
        supervisor.abandon();
        shutdown.cancel();
        serving.cancelled().await;
    }
    claim.release().await;
}

/// Returns the reason why the database must not be written to now, if any.
pub fn write_refusal(db: &Db) -> Option<&'static str> {
    match db.claim_state() {
        ClaimState::Unclaimed | ClaimState::Held(_) => None,
        ClaimState::Lost(_) => Some("lost the database lease; acquiring it again"),
        ClaimState::Taken => Some("another process holds the database lease"),
    }
}
