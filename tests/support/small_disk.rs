//! A small file system of its own, so that a test can fill it.

use std::path::Path;
use std::process::Command;

/// The mount point; unmounted on drop.
pub struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Returns `None`, with a visible message, where this account may not mount.
    pub fn mount(size: &str) -> Option<Self> {
        let dir = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", size, "tmpfs"]).arg(dir.path()).output().ok()?;
        if !mounted.status.success() {
            let error_text = String::from_utf8_lossy(&mounted.stderr);
            eprintln!("SKIPPED: no small file system can be mounted here: {}", error_text.trim());
            return None;
        }
        Some(Self(dir))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}
