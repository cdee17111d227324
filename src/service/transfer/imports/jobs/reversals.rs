//! The undos and restorings of this process: the newest one of each owner, with its progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::{ImportJobs, ImportSlot};
use crate::ServiceError;
use crate::transfer::imports::reversal::{ImportReversal, ImportReversalKind, SharedReversal};
use turnleaf_domain::{ImportId, UserId};

/// A running undo or restoring. Dropping it marks it as over, after its slot is free.
pub(crate) struct RunningReversal {
    jobs: ImportJobs,
    slot: Option<ImportSlot>,
    seen: SharedReversal,
    has_ended: bool,
}

impl ImportJobs {
    /// Registers an undo or a restoring, which holds the slot of its owner.
    pub(crate) fn start_reversal(
        &self,
        owner: UserId,
        import: ImportId,
        kind: ImportReversalKind,
        slot: ImportSlot,
    ) -> RunningReversal {
        let seen = Arc::new(Mutex::new(ImportReversal::new(kind)));
        self.with_reversals(|all| all.insert(owner, (import, Arc::clone(&seen))));
        RunningReversal { jobs: self.clone(), slot: Some(slot), seen, has_ended: false }
    }

    /// Returns the newest undo or restoring of an import, if this process knows it.
    pub(crate) fn reversal(&self, owner: UserId, import: ImportId) -> Option<ImportReversal> {
        let seen = self
            .with_reversals(|all| all.get(&owner).filter(|(of, _)| *of == import).map(|(_, seen)| Arc::clone(seen)))?;
        Some(seen.lock().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// Forgets the reversal of an owner.
    pub(crate) fn forget_reversal(&self, owner: UserId) {
        self.with_reversals(|all| all.remove(&owner));
    }

    fn with_reversals<T>(&self, act: impl FnOnce(&mut HashMap<UserId, (ImportId, SharedReversal)>) -> T) -> T {
        act(&mut self.0.reversals.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RunningReversal {
    /// Publishes a change of its progress.
    pub(crate) fn update(&self, change: impl FnOnce(&mut ImportReversal)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns whether it should end early, because the server shuts down.
    pub(crate) fn is_stopping(&self) -> bool {
        self.jobs.0.stop.is_cancelled()
    }

    /// Ends it with its result.
    pub(crate) fn end(mut self, result: Result<(), ServiceError>) {
        self.has_ended = true;
        if let Err(error) = result {
            if !matches!(error, ServiceError::Conflict { .. }) {
                tracing::error!(%error, "undoing or restoring an import broke off");
            }
            self.update(|seen| seen.fail(Some(&error)));
        }
    }
}

impl Drop for RunningReversal {
    fn drop(&mut self) {
        // Whoever sees that it is over can start the next one.
        drop(self.slot.take());
        let has_ended = self.has_ended;
        self.update(|seen| {
            if !has_ended {
                seen.fail(None);
            }
            seen.is_over = true;
        });
    }
}
