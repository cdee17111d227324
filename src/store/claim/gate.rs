//! The gate that every write passes: how this process stands to the database, and who waits for that. What takes and
//! keeps the claim is [`super::Claim`].

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::error::StoreError;

/// How this process stands to the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimState {
    /// It claims nothing: a command, or a file.
    Unclaimed,
    /// It drives the replies, under this epoch.
    Held(i64),
    /// The connection that holds the lock broke. Writes wait until it is taken again.
    Lost(i64),
    /// Another process has claimed the database since. Final.
    Taken,
}

impl ClaimState {
    /// The epoch under which this process writes, or wrote last.
    pub(super) fn epoch(self) -> Option<i64> {
        match self {
            Self::Held(epoch) | Self::Lost(epoch) => Some(epoch),
            Self::Unclaimed | Self::Taken => None,
        }
    }
}

/// What every write passes.
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

    /// Changes the state, unless another process has the database.
    pub(super) fn set(&self, state: ClaimState) {
        self.0.send_if_modified(|now| {
            let changes = *now != ClaimState::Taken && *now != state;
            if changes {
                *now = state;
            }
            changes
        });
    }

    /// Closes the gate where the epoch of this process was not found.
    pub(super) fn verify_epoch(&self, found: Option<i64>) -> Result<(), StoreError> {
        if found.is_some() {
            return Ok(());
        }
        self.set(ClaimState::Taken);
        Err(StoreError::InUse)
    }

    pub(super) async fn wait_until(&self, is_so: impl FnMut(&ClaimState) -> bool) -> ClaimState {
        let mut states = self.0.subscribe();
        // The sender lives in self, so this cannot fail while we wait.
        states.wait_for(is_so).await.map_or(ClaimState::Taken, |state| *state)
    }

    /// Waits until the claim is not lost, at most as long as `patience` says.
    pub(crate) async fn wait_until_writable(&self, patience: Duration) -> Result<(), StoreError> {
        match tokio::time::timeout(patience, self.wait_until(|state| !matches!(state, ClaimState::Lost(_)))).await {
            Ok(ClaimState::Taken) => Err(StoreError::InUse),
            Ok(_) => Ok(()),
            Err(_) => Err(StoreError::Busy("the claim of the database is being taken again".into())),
        }
    }
}
