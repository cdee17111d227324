//! The data directory. Only its owner may access it, because it contains chats and keys.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// An existing data directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StorageDir(PathBuf);

impl StorageDir {
    /// Creates the directory with mode 0700 if it does not exist. `cli::file_modes` checks the mode of an existing
    /// one.
    pub fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Ok(Self(path.to_owned()))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn new_data_directory_is_private_to_owner() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("a").join("turnleaf");
        StorageDir::open(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        StorageDir::open(&path).unwrap();
    }

    #[test]
    fn file_in_place_of_directory_is_error() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("turnleaf");
        std::fs::write(&path, "").unwrap();
        assert!(StorageDir::open(&path).is_err());
    }
}
