//! Reservations for uploads in progress: their bytes count against the quota and the disk before they are stored.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use turnleaf_domain::UserId;

/// The bytes of one person's spools: the reserved ones, and those of them that are written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SpooledSize {
    pub promised: u64,
    pub written: u64,
}

/// The bytes of all spools, by person.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpooledBytes(Arc<Mutex<HashMap<UserId, SpooledSize>>>);

impl SpooledBytes {
    /// Returns the bytes that count against this person's quota.
    pub fn owner_bytes(&self, owner: UserId) -> u64 {
        self.with(|all| all.get(&owner).map_or(0, |spooled| spooled.promised))
    }

    /// Returns the reserved bytes that are not written yet.
    pub fn unwritten_bytes(&self) -> u64 {
        self.with(|all| all.values().map(|spooled| spooled.promised.saturating_sub(spooled.written)).sum())
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<UserId, SpooledSize>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The reservation of one spool, released when it is dropped.
pub(crate) struct Reservation {
    all: SpooledBytes,
    owner: UserId,
    pub part: SpooledSize,
}

impl Reservation {
    pub fn new(all: SpooledBytes, owner: UserId, promised: u64) -> Self {
        let mut reservation = Self { all, owner, part: SpooledSize::default() };
        reservation.change(SpooledSize { promised, written: 0 });
        reservation
    }

    pub fn change(&mut self, to: SpooledSize) {
        let from = std::mem::replace(&mut self.part, to);
        self.all.with(|all| {
            let spooled = all.entry(self.owner).or_default();
            spooled.promised = spooled.promised - from.promised + to.promised;
            spooled.written = spooled.written - from.written + to.written;
            if *spooled == SpooledSize::default() {
                all.remove(&self.owner);
            }
        });
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.change(SpooledSize::default());
    }
}
