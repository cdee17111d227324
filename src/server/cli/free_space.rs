//! The free space on the disk of the data directory, as the service asks for it.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::domain::limits;
use crate::server::platform::config::Config;
use crate::server::service::storage::{FreeSpaceProbe, StorageLimits};

/// The bounds on storage that are configured.
pub fn storage_limits(config: &Config) -> StorageLimits {
    let data_dir = config.data_dir.value.clone();
    let probe = remembered(limits::FREE_DISK_MEASURED_FOR, move || free_bytes(&data_dir));
    StorageLimits::new(probe, config.min_free_disk.value.0, config.quota.value.0)
}

/// The bytes that this account may still write on the disk of this folder, or of the nearest one above that exists.
pub fn free_bytes(folder: &Path) -> io::Result<u64> {
    let mut folder = PathBuf::from(folder);
    loop {
        match rustix::fs::statvfs(&folder) {
            Ok(disk) => return Ok(disk.f_bavail.saturating_mul(disk.f_frsize)),
            Err(rustix::io::Errno::NOENT) if folder.pop() && !folder.as_os_str().is_empty() => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A probe that measures at most once in this time: many requests come at once, and a disk does not fill up meanwhile.
fn remembered(time: Duration, measure: impl Fn() -> io::Result<u64> + Send + Sync + 'static) -> FreeSpaceProbe {
    let last: Mutex<Option<(Instant, u64)>> = Mutex::new(None);
    Arc::new(move || {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, free)) = last.filter(|(at, _)| at.elapsed() < time) {
            return Ok(free);
        }
        let free = measure()?;
        *last = Some((Instant::now(), free));
        Ok(free)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_probe_measures_again_when_its_time_is_over_and_after_a_failure() {
        let asked = Arc::new(AtomicU64::new(0));
        let counting = |asked: &Arc<AtomicU64>| {
            let asked = asked.clone();
            move || match asked.fetch_add(1, Ordering::Relaxed) {
                0 => Err(io::Error::other("not yet")),
                n => Ok(n),
            }
        };
        let probe = remembered(Duration::from_secs(3_600), counting(&asked));
        assert!(probe().is_err());
        assert_eq!((probe().unwrap(), probe().unwrap()), (1, 1));
        asked.store(0, Ordering::Relaxed);
        let probe = remembered(Duration::ZERO, counting(&asked));
        assert!(probe().is_err());
        assert_eq!((probe().unwrap(), probe().unwrap()), (1, 2));
    }

    #[test]
    fn free_space_of_a_folder_that_does_not_exist_yet_is_that_of_the_one_above() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(&dir.path().join("a").join("b")).unwrap() > 0);
    }
}
