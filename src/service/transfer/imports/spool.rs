//! Files of imports on the disk: uploads that wait or are read, and scratch files of readers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{SpooledTempFile, TempDir, TempPath};

/// The number of bytes of a spool that stay in memory.
const SHORT: usize = 4 << 20;

/// The upload of an import, which is removed when dropped.
#[derive(Debug)]
pub enum SpooledImport {
    File(TempPath),
    /// Several files that were uploaded together.
    Folder(TempDir),
}

impl SpooledImport {
    pub fn path(&self) -> &Path {
        match self {
            Self::File(file) => file,
            Self::Folder(folder) => folder.path(),
        }
    }
}

impl From<TempPath> for SpooledImport {
    fn from(file: TempPath) -> Self {
        Self::File(file)
    }
}

impl From<TempDir> for SpooledImport {
    fn from(folder: TempDir) -> Self {
        Self::Folder(folder)
    }
}

/// Returns the bytes of the uploads in this folder.
pub(super) fn spooled_bytes(folder: &Path) -> u64 {
    let length = |entry: io::Result<fs::DirEntry>| {
        let entry = entry.ok()?;
        let metadata = entry.metadata().ok()?;
        Some(if metadata.is_dir() { files_bytes(&entry.path()) } else { metadata.len() })
    };
    fs::read_dir(folder).into_iter().flatten().filter_map(length).sum()
}

/// Returns the bytes of the files of one upload, which has no folders in its folder.
fn files_bytes(folder: &Path) -> u64 {
    let length = |entry: io::Result<fs::DirEntry>| entry.ok()?.metadata().ok().map(|file| file.len());
    fs::read_dir(folder).into_iter().flatten().filter_map(length).sum()
}

/// The factory of unnamed scratch files, which disappear however the program ends.
#[derive(Debug, Clone)]
pub(crate) struct ImportScratch(Option<PathBuf>);

impl ImportScratch {
    /// Creates the files in this folder; `None` uses the system's temporary folder.
    pub fn in_folder(folder: Option<PathBuf>) -> Self {
        Self(folder)
    }

    /// Creates an empty file.
    pub fn new_file(&self) -> io::Result<File> {
        match &self.0 {
            Some(folder) => tempfile::tempfile_in(folder),
            None => tempfile::tempfile(),
        }
    }

    /// Creates a spool that is in memory while it is short.
    pub fn new_spool(&self) -> SpooledTempFile {
        match &self.0 {
            Some(folder) => tempfile::spooled_tempfile_in(SHORT, folder),
            None => tempfile::spooled_tempfile(SHORT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_files_and_folders_are_counted_until_removed() {
        let spool = tempfile::tempdir().unwrap();
        fs::write(spool.path().join("one"), "12345").unwrap();
        let several = TempDir::new_in(spool.path()).unwrap();
        fs::write(several.path().join("a.json"), "[]").unwrap();
        fs::write(several.path().join("b.json"), "{}").unwrap();
        let several = SpooledImport::from(several);
        assert_eq!((spooled_bytes(spool.path()), several.path().is_dir()), (9, true));
        drop(several);
        assert_eq!(spooled_bytes(spool.path()), 5);
    }
}
