//! Writes a repository to a folder atomically: under a temporary name, renamed into place when it is complete.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::sink::RepositorySink;

/// Prefix of temporary folders, followed by sixteen hex digits.
const TEMPORARY_PREFIX: &str = ".turnleaf-";
/// Number of attempts to find an unused name.
const NAME_ATTEMPTS: usize = 8;

/// A repository folder that is being written. Dropping it before [`Self::finish`] removes it; leftovers of a killed
/// process are removed by the next export to the same place.
pub struct RepositoryFolder {
    /// The destination with links resolved.
    path: PathBuf,
    /// True if an empty destination folder exists. It is filled rather than replaced, because it may be a mount point
    /// or a working directory.
    is_there: bool,
    made: PathBuf,
    /// Locked while the folder is written.
    _held: File,
}

impl RepositoryFolder {
    /// Creates the temporary folder for a destination that does not exist or is an empty folder, also behind a link.
    ///
    /// # Errors
    /// `AlreadyExists` if the destination is a file or not empty.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (path, above) = match fs::canonicalize(path) {
            Ok(path) => (path, None),
            Err(error) if error.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_ok() => {
                return Err(io::Error::new(ErrorKind::NotFound, "it is a broken link"));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Collecting the components removes a trailing slash.
                let path: PathBuf = path.components().collect();
                let no_name = || io::Error::new(ErrorKind::InvalidInput, "it is not a folder path");
                let name = path.file_name().ok_or_else(no_name)?;
                let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
                fs::create_dir_all(above)?;
                let above = fs::canonicalize(above)?;
                (above.join(name), Some(above))
            }
            Err(error) => return Err(error),
        };
        let is_there = above.is_none();
        if is_there && !path.is_dir() {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "it is not a folder"));
        }
        let within = above.unwrap_or_else(|| path.clone());
        remove_stale(&within);
        if is_there && fs::read_dir(&path)?.next().is_some() {
            return Err(io::Error::new(ErrorKind::AlreadyExists, "it is not empty"));
        }
        let (made, held) = create_temporary(&within)?;
        Ok(Self { path, is_there, made, _held: held })
    }

    /// Moves the repository to its destination.
    pub fn finish(self) -> io::Result<()> {
        if !self.is_there {
            return fs::rename(&self.made, &self.path);
        }
        let names = fs::read_dir(&self.made)?.map(|entry| entry.map(|entry| entry.file_name()));
        let mut names = names.collect::<io::Result<Vec<_>>>()?;
        // `HEAD` comes last, because git recognizes no repository without it.
        names.sort_by_key(|name| name == "HEAD");
        for (at, name) in names.iter().enumerate() {
            if let Err(error) = move_to(&self.made.join(name), &self.path.join(name)) {
                for name in &names[..at] {
                    // Files that cannot be moved back stay; the first error is returned.
                    let _ = fs::rename(self.path.join(name), self.made.join(name));
                }
                return Err(error);
            }
        }
        Ok(())
    }
}

impl Drop for RepositoryFolder {
    fn drop(&mut self) {
        // After a successful finish the temporary folder is gone or empty.
        let _ = fs::remove_dir_all(&self.made);
    }
}

impl RepositorySink for RepositoryFolder {
    fn write_file(&mut self, path: &str, _length: u64, content: &mut dyn Read) -> io::Result<()> {
        let path = self.made.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        let mut file = fs::OpenOptions::new().write(true).create_new(true).open(path)?;
        io::copy(content, &mut file)?;
        file.sync_all()
    }

    fn create_folder(&mut self, path: &str) -> io::Result<()> {
        fs::create_dir_all(self.made.join(path))
    }
}

/// Moves a file to a name that must not exist.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::Error::new(ErrorKind::AlreadyExists, "something was added to it in the meantime"));
    }
    fs::rename(from, to)
}

/// Creates an empty temporary folder and locks it.
fn create_temporary(within: &Path) -> io::Result<(PathBuf, File)> {
    for _ in 0..NAME_ATTEMPTS {
        // A new `RandomState` has random keys, which makes the name random.
        let path = within.join(format!("{TEMPORARY_PREFIX}{:016x}", RandomState::new().build_hasher().finish()));
        match fs::create_dir(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        let held = File::open(&path)?;
        // A concurrent cleanup may have removed the folder. Where folders cannot be locked, no cleanup happens.
        let is_taken = matches!(held.try_lock(), Err(TryLockError::WouldBlock));
        if !is_taken && path.is_dir() {
            return Ok((path, held));
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, "no free name was found in it"))
}

/// Removes unlocked temporary folders, whose writers were killed. Failures are ignored, for example for folders of
/// another user, because this is only cleanup.
fn remove_stale(within: &Path) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_folder || !is_ours(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        if let Ok(held) = File::open(&path)
            && held.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(path);
        }
    }
}

fn is_ours(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX)).unwrap_or_default();
    digits.len() == 16 && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// A folder that is removed on drop.
    struct ParentFolder(PathBuf);

    impl ParentFolder {
        fn new() -> Self {
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            let name = format!("turnleaf-folder-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> =
                fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for ParentFolder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn write(path: &Path) -> io::Result<()> {
        let mut folder = RepositoryFolder::create(path)?;
        folder.write_file("HEAD", 1, &mut &b"x"[..])?;
        folder.write_file("a/b", 1, &mut &b"x"[..])?;
        folder.finish()
    }

    fn kind(written: io::Result<()>) -> Option<ErrorKind> {
        written.err().map(|error| error.kind())
    }

    #[test]
    fn folder_appears_when_complete_and_aborted_one_leaves_nothing() {
        let above = ParentFolder::new();
        let path = above.0.join("chat.git");
        let mut broken = RepositoryFolder::create(&path).unwrap();
        broken.write_file("a/b", 1, &mut &b"x"[..]).unwrap();
        assert!(!path.exists() && above.names().len() == 1);
        drop(broken);
        assert_eq!(above.names(), [""; 0]);
        write(&path).unwrap();
        assert_eq!((fs::read(path.join("a/b")).unwrap(), above.names()), (b"x".to_vec(), vec!["chat.git".to_owned()]));
        assert_eq!(kind(write(&path)), Some(ErrorKind::AlreadyExists));
        assert_eq!(kind(write(&path.join("HEAD"))), Some(ErrorKind::AlreadyExists));
        write(&above.0.join("new/er/chat.git/")).unwrap();
        assert!(above.0.join("new/er/chat.git/HEAD").exists());
    }

    #[test]
    fn empty_folder_is_filled_in_place_also_behind_symlink() {
        use std::os::unix::fs::{MetadataExt, symlink};
        let above = ParentFolder::new();
        let (path, link, nowhere) = (above.0.join("empty"), above.0.join("link"), above.0.join("nowhere"));
        fs::create_dir(&path).unwrap();
        symlink("empty", &link).unwrap();
        symlink("gone", &nowhere).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        let mut broken = RepositoryFolder::create(&link).unwrap();
        broken.write_file("HEAD", 1, &mut &b"x"[..]).unwrap();
        drop(broken);
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        write(&link).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&path).unwrap().ino(), before);
        assert!(path.join("HEAD").exists() && path.join("a/b").exists());
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
        assert_eq!(kind(write(&nowhere)), Some(ErrorKind::NotFound));
        assert_eq!(above.names(), ["empty", "link", "nowhere"]);
    }

    #[test]
    fn target_filled_meanwhile_is_left_untouched() {
        let above = ParentFolder::new();
        let mut folder = RepositoryFolder::create(&above.0).unwrap();
        folder.write_file("HEAD", 1, &mut &b"x"[..]).unwrap();
        folder.write_file("a/b", 1, &mut &b"x"[..]).unwrap();
        fs::write(above.0.join("HEAD"), "another's").unwrap();
        assert_eq!(kind(folder.finish()), Some(ErrorKind::AlreadyExists));
        assert_eq!(above.names(), ["HEAD"]);
        assert_eq!(fs::read(above.0.join("HEAD")).unwrap(), b"another's");
    }

    #[test]
    fn unremovable_leftover_does_not_block_writing() {
        use std::os::unix::fs::PermissionsExt;
        let above = ParentFolder::new();
        let left = above.0.join(".turnleaf-0123456789abcdef");
        fs::create_dir_all(left.join("objects")).unwrap();
        fs::set_permissions(&left, fs::Permissions::from_mode(0o555)).unwrap();
        let written = write(&above.0.join("chat.git"));
        // Root may remove it nevertheless.
        let _ = fs::set_permissions(&left, fs::Permissions::from_mode(0o755));
        assert_eq!(kind(written), None);
        assert!(above.names().contains(&"chat.git".to_owned()));
    }

    #[test]
    fn only_leftovers_of_killed_process_are_removed() {
        let above = ParentFolder::new();
        for name in [".turnleaf-0123456789abcdef", ".turnleaf-mine", ".turnleaf-fedcba9876543210"] {
            fs::create_dir_all(above.0.join(name).join("objects")).unwrap();
        }
        // Another process is writing it.
        let held = File::open(above.0.join(".turnleaf-fedcba9876543210")).unwrap();
        held.lock().unwrap();
        write(&above.0.join("chat.git")).unwrap();
        assert_eq!(above.names(), [".turnleaf-fedcba9876543210", ".turnleaf-mine", "chat.git"]);
        // A folder that contains only leftovers counts as empty.
        let inner = above.0.join("chats");
        fs::create_dir_all(inner.join(".turnleaf-0123456789abcdef/objects")).unwrap();
        write(&inner).unwrap();
        assert_eq!(fs::read_dir(&inner).unwrap().count(), 2);
    }
}
