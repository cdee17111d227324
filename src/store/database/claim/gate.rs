//! The claim gate: every write passes it, and waits in it while the claim is lost. [`super::Claim`] takes and keeps
//! the claim.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::database::error::StoreError;

/// The claim state of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimState {
    /// The process claims nothing: it is a command, or the database is SQLite.
    Unclaimed,
    /// The process drives the replies, under this epoch.
    Held(i64),
    /// The connection that holds the lock broke. Writes wait until the lock is regained.
    Lost(i64),
    /// Another process has claimed the database. This state is final.
    Taken,
}

impl ClaimState {
    /// Returns the epoch under which this process writes, or wrote last.
    pub(super) fn epoch(self) -> Option<i64> {
        match self {
            Self::Held(epoch) | Self::Lost(epoch) => Some(epoch),
            Self::Unclaimed | Self::Taken => None,
        }
    }
}

/// The gate for writes.
#[derive(Debug, Clone)]
pub struct ClaimGate(Arc<watch::Sender<ClaimState>>);

impl Default for ClaimGate {
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(ClaimState::Unclaimed)))
    }
}

impl ClaimGate {
    pub(super) fn state(&self) -> ClaimState {
        *self.0.borrow()
    }

    /// Sets the state, unless another process has claimed the database.
    pub(super) fn set(&self, state: ClaimState) {
        self.0.send_if_modified(|now| {
            let changes = *now != ClaimState::Taken && *now != state;
            if changes {
                *now = state;
            }
            changes
        });
    }

    /// Closes the gate if the epoch of this process was not found.
    pub(super) fn verify_epoch(&self, found: Option<i64>) -> Result<(), StoreError> {
        if found.is_some() {
            return Ok(());
        }
        self.set(ClaimState::Taken);
        Err(StoreError::InUse)
    }

    pub(super) async fn wait_until(&self, is_so: impl FnMut(&ClaimState) -> bool) -> ClaimState {
        let mut states = self.0.subscribe();
        // The sender lives in self, so this cannot fail during the wait.
        states.wait_for(is_so).await.map_or(ClaimState::Taken, |state| *state)
    }

    /// Waits at most `patience` until the claim is not lost.
    pub(crate) async fn wait_until_writable(&self, patience: Duration) -> Result<(), StoreError> {
        match tokio::time::timeout(patience, self.wait_until(|state| !matches!(state, ClaimState::Lost(_)))).await {
            Ok(ClaimState::Taken) => Err(StoreError::InUse),
            Ok(_) => Ok(()),
            Err(_) => Err(StoreError::Busy("the database lease is being acquired again".into())),
        }
    }
}
