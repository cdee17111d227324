//! The bytes of uploads on their way: they count against the quota and the disk before they are kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use turnleaf_domain::UserId;

/// The bytes of one person's spools: all that counts, and what of it is not written yet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct SpooledSize {
    pub promised: u64,
    pub written: u64,
}

/// The bytes of the spools of everybody.
#[derive(Debug, Clone, Default)]
pub(crate) struct SpooledBytes(Arc<Mutex<HashMap<UserId, SpooledSize>>>);

impl SpooledBytes {
    /// What counts against this person's quota.
    pub fn owner_bytes(&self, owner: UserId) -> u64 {
        self.with(|all| all.get(&owner).map_or(0, |spooled| spooled.promised))
    }

    /// What the disk has yet to take.
    pub fn unwritten_bytes(&self) -> u64 {
        self.with(|all| all.values().map(|spooled| spooled.promised.saturating_sub(spooled.written)).sum())
    }

    fn with<T>(&self, act: impl FnOnce(&mut HashMap<UserId, SpooledSize>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The part of one spool in those bytes, given back when it is dropped.
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
