//! Storage bounds and their measurements: free disk space, and a quota per person.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Mutex;
use tokio::time::Instant;

use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::{CodedMessage, MessageCode, UserId, limits};

/// The free space of the fullest disk among those that the server writes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSpace {
    pub bytes: u64,
    /// The directory on that disk, for the operator.
    pub directory: PathBuf,
}

/// A function that measures the free space.
pub type FreeSpaceProbe = Arc<dyn Fn() -> BoxFuture<'static, io::Result<FreeSpace>> + Send + Sync>;

/// The reason why growth was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StorageRefusal {
    /// A disk that the server writes to has less free space than its bound.
    DiskLow,
    /// The person has used up their quota.
    QuotaReached { quota_bytes: u64 },
}

impl StorageRefusal {
    pub const DISK_LOW: &str = "disk_space_low";
    pub const QUOTA_REACHED: &str = "quota_reached";
    /// All codes.
    pub const CODES: [&str; 2] = [Self::DISK_LOW, Self::QUOTA_REACHED];

    /// Returns the stable code that clients see.
    pub fn code(self) -> &'static str {
        match self {
            Self::DiskLow => Self::DISK_LOW,
            Self::QuotaReached { .. } => Self::QUOTA_REACHED,
        }
    }
}

impl From<StorageRefusal> for CodedMessage {
    fn from(refusal: StorageRefusal) -> Self {
        match refusal {
            StorageRefusal::DiskLow => MessageCode::DiskLow.into(),
            StorageRefusal::QuotaReached { quota_bytes } => {
                MessageCode::QuotaReached.with("quota", ByteSize(quota_bytes).rounded())
            }
        }
    }
}

impl fmt::Display for StorageRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        CodedMessage::from(*self).fmt(f)
    }
}

/// The storage bounds, shared by all requests. Without a probe the disk is not checked, and without a quota a
/// person's usage is not.
#[derive(Clone, Default)]
pub struct StorageLimits(Arc<Limits>);

#[derive(Default)]
struct Limits {
    free_space: Option<FreeSpaceProbe>,
    min_free_bytes: AtomicU64,
    quota_bytes: AtomicU64,
    /// True while the disk is low; each change is logged once.
    is_low: AtomicBool,
    measured: QuotaMeasurements,
}

/// The last measurement of each person, plus what was admitted since. The requests of one person are serialized, so
/// that only the first one measures; requests of other people do not wait.
#[derive(Default)]
pub(super) struct QuotaMeasurements(std::sync::Mutex<HashMap<UserId, Arc<Mutex<Option<Measured>>>>>);

#[derive(Debug, Clone, Copy)]
struct Measured {
    at: Instant,
    used: u64,
}

impl QuotaMeasurements {
    fn of_owner(&self, owner: UserId) -> Arc<Mutex<Option<Measured>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(owner).or_default().clone()
    }

    /// Checks the measurement, measuring again when it is too old: a refusal is valid for `refused_for`, an admission
    /// for longer.
    pub async fn check<E>(
        &self,
        owner: UserId,
        refused_for: Duration,
        fits: impl Fn(u64) -> bool,
        measure: impl AsyncFnOnce() -> Result<u64, E>,
    ) -> Result<bool, E> {
        let measured = self.of_owner(owner);
        let mut measured = measured.lock().await;
        if let Some(known) = *measured {
            let (age, fits) = (known.at.elapsed(), fits(known.used));
            if age < if fits { limits::STORAGE_MEASURED_FOR } else { refused_for } {
                return Ok(fits);
            }
        }
        let used = measure().await?;
        *measured = Some(Measured { at: Instant::now(), used });
        Ok(fits(used))
    }

    pub async fn add(&self, owner: UserId, bytes: u64) {
        if let Some(measured) = &mut *self.of_owner(owner).lock().await {
            measured.used = measured.used.saturating_add(bytes);
        }
    }

    /// Clears all measurements after a deletion.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl StorageLimits {
    /// Creates bounds; 0 means unbounded.
    pub fn new(free_space: FreeSpaceProbe, min_free_bytes: u64, quota_bytes: u64) -> Self {
        let limits = Self(Arc::new(Limits { free_space: Some(free_space), ..Limits::default() }));
        limits.set(min_free_bytes, quota_bytes);
        limits
    }

    /// Changes the bounds at run time.
    pub fn set(&self, min_free_bytes: u64, quota_bytes: u64) {
        self.0.min_free_bytes.store(min_free_bytes, Ordering::Relaxed);
        self.0.quota_bytes.store(quota_bytes, Ordering::Relaxed);
    }

    /// Returns the quota, if there is one.
    pub fn quota_bytes(&self) -> Option<u64> {
        Some(self.0.quota_bytes.load(Ordering::Relaxed)).filter(|quota| *quota > 0)
    }

    /// Returns the measurements for the quota.
    pub(super) fn measured(&self) -> &QuotaMeasurements {
        &self.0.measured
    }

    /// Checks the free space of all disks. When it cannot be measured, growth is admitted, and the database reports a
    /// full disk itself.
    pub async fn has_free_disk(&self, growth: u64) -> bool {
        let bound = self.0.min_free_bytes.load(Ordering::Relaxed);
        let Some(probe) = self.0.free_space.as_ref().filter(|_| bound > 0) else { return true };
        let (free, directory) = match probe().await {
            Ok(FreeSpace { bytes, directory }) => (bytes, directory),
            Err(error) => {
                tracing::debug!(%error, "the free space of the disk cannot be read");
                return true;
            }
        };
        let is_low = free < bound;
        if self.0.is_low.swap(is_low, Ordering::Relaxed) != is_low {
            let directory = directory.display();
            if is_low {
                tracing::warn!(free, bound, %directory, "the disk has too little free space: new work is refused \
                    until there is more");
            } else {
                tracing::info!(free, bound, %directory, "every disk has enough free space again");
            }
        }
        free.saturating_sub(growth) >= bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use turnleaf_platform::ids;

    #[tokio::test(start_paused = true)]
    async fn refusal_is_remembered_and_measures_once_for_many_requests() {
        let (measurements, owner) = (QuotaMeasurements::default(), ids::mint());
        let measured = AtomicU64::new(0);
        let check = async |used: u64, refused_for: Duration| {
            let measure = async || {
                measured.fetch_add(1, Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(10)).await;
                Ok::<_, ()>(used)
            };
            measurements.check(owner, refused_for, |used| used < 10, measure).await.unwrap()
        };
        let second = Duration::from_secs(1);
        let many = futures::future::join_all((0..50).map(|_| check(10, second))).await;
        assert!(many.iter().all(|fits| !fits));
        assert_eq!(measured.load(Ordering::Relaxed), 1, "all but the first find the number");
        tokio::time::advance(second).await;
        assert!(check(5, second).await, "room is found again");
        assert_eq!(measured.load(Ordering::Relaxed), 2);
        // Admitted bytes are added to the measurement, and an import does not measure for each refused chat.
        measurements.add(owner, 5).await;
        tokio::time::advance(2 * second).await;
        assert!(!check(0, limits::STORAGE_MEASURED_FOR).await);
        assert_eq!(measured.load(Ordering::Relaxed), 2);
        measurements.clear();
        assert!(check(0, second).await);
    }

    #[tokio::test]
    async fn measurement_of_one_person_blocks_no_other() {
        let measurements = QuotaMeasurements::default();
        let never = async || std::future::pending::<Result<u64, ()>>().await;
        let mut slow = Box::pin(measurements.check(ids::mint(), Duration::ZERO, |_| true, never));
        assert!(futures::poll!(&mut slow).is_pending());
        assert_eq!(measurements.check(ids::mint(), Duration::ZERO, |_| true, async || Ok::<_, ()>(1)).await, Ok(true));
    }
}
