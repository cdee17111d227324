//! Temporary directories in memory, for data that is not needed after the run. On a disk, a fifth of the processor goes
//! into creating and removing the 300 files of each test's PostgreSQL database, and every commit on SQLite waits
//! milliseconds for the disk.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use anyhow::Result;
use tempfile::TempDir;

use crate::step::output;

/// A file system in memory, and the free bytes that it must have.
const MEMORY: &str = "/dev/shm";
const MEMORY_NEEDED: u64 = 4 << 30;
/// The mode of `/tmp`: programs of other accounts use it, too, such as PostgreSQL, which does not run as root.
const FOR_EVERYBODY: u32 = 0o1777;

/// Creates a directory in memory if there is room, else on disk.
///
/// # Errors
/// The directory cannot be created.
pub fn temporary_dir(prefix: &str) -> Result<TempDir> {
    match dir_in_memory(prefix) {
        Some(dir) => Ok(dir),
        None => Ok(tempfile::Builder::new().prefix(prefix).tempdir()?),
    }
}

/// Creates a directory in memory that can take the place of `/tmp` (`TMPDIR`). Returns `None` if there is no room, or if
/// no program may be run from there, as in containers.
pub fn shared_dir(prefix: &str) -> Option<TempDir> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    if !may_run_programs(&mounts) {
        return None;
    }
    let dir = dir_in_memory(prefix)?;
    fs::set_permissions(dir.path(), Permissions::from_mode(FOR_EVERYBODY)).ok()?;
    Some(dir)
}

fn dir_in_memory(prefix: &str) -> Option<TempDir> {
    let table = output(Command::new("df").args(["--output=avail", "--block-size=1", MEMORY])).ok()?;
    let free: u64 = table.lines().last()?.trim().parse().ok()?;
    if free < MEMORY_NEEDED {
        return None;
    }
    tempfile::Builder::new().prefix(prefix).tempdir_in(MEMORY).ok()
}

/// Returns true if the list of mounted file systems has the one in memory, and does not forbid programs there.
fn may_run_programs(mounts: &str) -> bool {
    // A later mount hides an earlier one.
    let options = mounts.lines().rev().find_map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
        [_, MEMORY, _, options, ..] => Some(options),
        _ => None,
    });
    options.is_some_and(|options| options.split(',').all(|option| option != "noexec"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_directory_is_open_to_everybody_and_removed() {
        let Some(dir) = shared_dir("turnleaf-memory") else { return };
        let path = dir.path().to_owned();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, FOR_EVERYBODY);
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn programs_run_where_mount_does_not_forbid_them() {
        let root = "/dev/vda / ext4 rw,relatime 0 0\n";
        for (options, is_allowed) in [("rw,relatime,size=24684092k", true), ("rw,nosuid,noexec,relatime", false)] {
            let mounts = format!("{root}tmpfs /dev/shm tmpfs {options} 0 0\n");
            assert_eq!(may_run_programs(&mounts), is_allowed, "{options}");
        }
        assert!(!may_run_programs(root), "nothing is in memory");
    }
}
