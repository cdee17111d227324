//! The lock of the data directory: two processes on one SQLite file would sweep each other's running turns
//! (`docs/adr/0008-database-claim-and-fencing.md`). The kernel holds the lock, so it is released when a process is
//! killed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::ids::BootId;

/// The lock file in the data directory.
pub const LOCK_FILE: &str = "turnleaf.lock";

/// The lock, held until it is dropped. The file is never removed: otherwise two processes could lock two files of the
/// same name.
#[derive(Debug)]
pub struct LockFile {
    _file: File,
}

/// The reason why the data directory could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    #[error(
        "the data directory {} is in use by another turnleaf process{holder}.\n\
        Stop that process first, or use another directory with --data-dir.",
        path.display()
    )]
    InUse {
        path: PathBuf,
        /// ` (process 1234)`, or empty if the file does not name the process.
        holder: String,
    },
    #[error("cannot lock the data directory {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl LockFile {
    /// Locks the directory and records the process that holds it. Does not wait.
    pub fn acquire(data_dir: &Path, boot: BootId) -> Result<Self, LockError> {
        let failed = |error| LockError::Io { path: data_dir.to_owned(), error };
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let mut file = options.open(data_dir.join(LOCK_FILE)).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::InUse { path: data_dir.to_owned(), holder: read_holder(&mut file) });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        write_holder(&mut file, boot).map_err(failed)?;
        Ok(Self { _file: file })
    }
}

fn write_holder(file: &mut File, boot: BootId) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "pid {}\nboot {boot}", std::process::id())?;
    file.sync_data()
}

/// Reads the holder from the file. It is read without the lock, so it may be incomplete; then the result is empty.
fn read_holder(file: &mut File) -> String {
    let mut text = String::new();
    if file.take(256).read_to_string(&mut text).is_err() {
        return String::new();
    }
    let pid = text.lines().find_map(|line| line.strip_prefix("pid ")?.parse::<u32>().ok());
    pid.map(|pid| format!(" (process {pid})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::mint;

    #[test]
    fn second_acquirer_learns_holder_and_lock_ends_with_holder() {
        let dir = tempfile::tempdir().unwrap();
        let first = LockFile::acquire(dir.path(), mint()).unwrap();
        let refused = LockFile::acquire(dir.path(), mint()).unwrap_err();
        let LockError::InUse { holder, .. } = &refused else { panic!("{refused}") };
        assert_eq!(holder, &format!(" (process {})", std::process::id()));
        drop(first);
        LockFile::acquire(dir.path(), mint()).unwrap();
    }

    #[test]
    fn missing_directory_cannot_be_locked() {
        let dir = tempfile::tempdir().unwrap();
        let error = LockFile::acquire(&dir.path().join("none"), mint()).unwrap_err();
        assert!(matches!(error, LockError::Io { .. }));
    }
}
