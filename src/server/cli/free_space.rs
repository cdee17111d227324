//! Free space of the disks that the server writes to, measured for the service's storage bounds.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::sync::Mutex;

use crate::domain::limits;
use turnleaf_platform::config::Config;
use turnleaf_platform::tasks::{self, Task};
use turnleaf_service::usage::storage::{FreeSpace, FreeSpaceProbe, StorageLimits};

/// Returns the configured storage bounds.
pub fn storage_limits(config: &Config) -> StorageLimits {
    let probe = |directory: PathBuf| {
        let measure = move || free_space(directory.clone());
        sampled_probe(limits::FREE_DISK_MEASURED_FOR, limits::FREE_DISK_TIME, measure)
    };
    let probes = written_directories(config).into_iter().map(probe).collect();
    StorageLimits::new(least_free_probe(probes), config.min_free_disk.value.0, config.quota.value.0)
}

/// Returns the directories that the server writes to: the data directory, and that of a SQLite file elsewhere.
pub fn written_directories(config: &Config) -> Vec<PathBuf> {
    let mut directories = vec![config.data_dir.value.clone()];
    let database = config.database.value.sqlite_path();
    let database_dir = database.as_deref().and_then(Path::parent).filter(|folder| *folder != config.data_dir.value);
    // A relative path without a folder is in the current directory.
    directories.extend(database_dir.map(|folder| match folder.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => folder.to_owned(),
    }));
    directories
}

/// Measures all directories and returns the one with the least free space. Directories that cannot be measured are
/// skipped while another can.
fn least_free_probe(probes: Vec<FreeSpaceProbe>) -> FreeSpaceProbe {
    Arc::new(move || {
        let measured = join_all(probes.iter().map(|probe| probe()));
        Box::pin(async move {
            let mut none = io::Error::from(io::ErrorKind::NotFound);
            let mut least: Option<FreeSpace> = None;
            for measured in measured.await {
                match measured {
                    Ok(free) if least.as_ref().is_none_or(|least| free.bytes < least.bytes) => least = Some(free),
                    Ok(_) => {}
                    Err(error) => none = error,
                }
            }
            least.ok_or(none)
        })
    })
}

fn free_space(directory: PathBuf) -> io::Result<FreeSpace> {
    Ok(FreeSpace { bytes: free_bytes(&directory)?, directory })
}

/// Returns the bytes that this account may still write on the disk of this folder, or of its nearest existing
/// ancestor.
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

/// The last measurement, and one that is in progress.
#[derive(Default)]
struct Samples {
    last: Option<(Instant, FreeSpace)>,
    running: Option<Task<io::Result<FreeSpace>>>,
}

/// Returns a probe with a cache: it measures at most once in `age`, because many requests come at once and a disk
/// does not fill up in that time. It measures on a blocking thread and waits at most `patience`: an unresponsive file
/// system holds up neither the worker threads nor the requests, and occupies one thread.
fn sampled_probe(
    age: Duration,
    patience: Duration,
    measure: impl Fn() -> io::Result<FreeSpace> + Clone + Send + Sync + 'static,
) -> FreeSpaceProbe {
    let samples: Arc<Mutex<Samples>> = Arc::default();
    Arc::new(move || {
        let (samples, measure) = (samples.clone(), measure.clone());
        Box::pin(async move {
            let mut samples = samples.lock().await;
            if let Some((_, free)) = samples.last.as_ref().filter(|(at, _)| at.elapsed() < age) {
                return Ok(free.clone());
            }
            let is_late = samples.running.is_some();
            let running = samples.running.get_or_insert_with(|| tasks::spawn_blocking(measure));
            let patience = if is_late { Duration::ZERO } else { patience };
            let Ok(measured) = tokio::time::timeout(patience, running).await else {
                return Err(io::ErrorKind::TimedOut.into());
            };
            samples.running = None;
            let free = measured.map_err(io::Error::other)??;
            samples.last = Some((Instant::now(), free.clone()));
            Ok(free)
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    fn free_space_of(bytes: u64) -> FreeSpace {
        FreeSpace { bytes, directory: PathBuf::new() }
    }

    #[tokio::test]
    async fn probe_measures_again_after_expiry_and_after_failure() {
        let queries = Arc::new(AtomicU64::new(0));
        let counting = |queries: &Arc<AtomicU64>| {
            let queries = queries.clone();
            move || match queries.fetch_add(1, Ordering::Relaxed) {
                0 => Err(io::Error::other("not yet")),
                n => Ok(free_space_of(n)),
            }
        };
        let probe = sampled_probe(Duration::from_secs(3_600), PATIENCE, counting(&queries));
        assert!(probe().await.is_err());
        assert_eq!((probe().await.unwrap(), probe().await.unwrap()), (free_space_of(1), free_space_of(1)));
        queries.store(0, Ordering::Relaxed);
        let probe = sampled_probe(Duration::ZERO, PATIENCE, counting(&queries));
        assert!(probe().await.is_err());
        assert_eq!((probe().await.unwrap(), probe().await.unwrap()), (free_space_of(1), free_space_of(2)));
    }

    /// Runs on a runtime with one worker, which a blocking call would stop.
    #[tokio::test]
    async fn unresponsive_file_system_blocks_no_worker_and_is_queried_once() {
        let (answer, waiting) = mpsc::channel::<u64>();
        let (waiting, queries) = (Arc::new(std::sync::Mutex::new(waiting)), Arc::new(AtomicU64::new(0)));
        let counted = queries.clone();
        let measure = move || {
            counted.fetch_add(1, Ordering::Relaxed);
            waiting.lock().unwrap().recv().map(free_space_of).map_err(io::Error::other)
        };
        let probe = sampled_probe(Duration::from_secs(3_600), Duration::from_millis(10), measure);
        for _ in 0..3 {
            assert_eq!(probe().await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        answer.send(7).unwrap();
        let measured = loop {
            match probe().await {
                Ok(free) => break free,
                Err(_) => tokio::task::yield_now().await,
            }
        };
        assert_eq!((measured, queries.load(Ordering::Relaxed)), (free_space_of(7), 1));
    }

    #[test]
    fn free_space_of_missing_folder_is_that_of_nearest_ancestor() {
        let dir = tempfile::tempdir().unwrap();
        assert!(free_bytes(&dir.path().join("a").join("b")).unwrap() > 0);
    }

    #[tokio::test]
    async fn least_free_responding_directory_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let probe = |measure: fn() -> io::Result<FreeSpace>| sampled_probe(Duration::ZERO, PATIENCE, measure);
        let measured = {
            let directory = dir.path().to_owned();
            sampled_probe(Duration::ZERO, PATIENCE, move || free_space(directory.clone()))
        };
        // The proc file system has no free space.
        let full = probe(|| free_space("/proc".into()));
        let broken = probe(|| Err(io::Error::other("not mounted")));
        let named = least_free_probe(vec![measured.clone(), full, broken.clone()])().await.unwrap();
        assert_eq!((named.bytes, named.directory.as_path()), (0, Path::new("/proc")));
        assert_eq!(least_free_probe(vec![broken.clone(), measured])().await.unwrap().directory, dir.path());
        assert!(least_free_probe(vec![broken])().await.is_err());
    }
}
