//! Permissions of the installation's files: chats, keys and backups are readable by their owner alone. New files are
//! covered by the umask of the process; this module repairs files and folders that an older version, a copy or
//! another tool left open to other accounts.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::server::cli::installation::IMPORTS_DIR;
use turnleaf_platform::config::Config;
use turnleaf_platform::lock_file::LOCK_FILE;
use turnleaf_platform::sealing::KEY_FILE;
use turnleaf_service::accounts::SETUP_CODE_FILE;

/// The permission bits of the group and of others.
const GROUP_AND_OTHERS: u32 = 0o077;
/// The sticky bit marks a folder that many accounts share, such as `/tmp`, which never belongs to an installation.
const STICKY: u32 = 0o1000;

/// Restricts all files that this process and its children create from now on to their owner.
pub fn restrict_umask() {
    rustix::process::umask(Mode::from_raw_mode(GROUP_AND_OTHERS));
}

/// Restricts the permissions of the installation's files, and returns a warning if other accounts could read any.
pub fn repair(config: &Config) -> Option<String> {
    let own_uid = rustix::process::geteuid().as_raw();
    ExposedPaths::find_for_config(config).restrict(own_uid).warning()
}

/// Paths that other accounts may read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExposedPaths {
    /// Paths of this account, which can be restricted.
    pub restrictable: Vec<PathBuf>,
    /// Paths that are left unchanged, each with the reason.
    pub skipped: Vec<(PathBuf, &'static str)>,
}

impl ExposedPaths {
    /// Finds the exposed paths of the configured installation.
    pub fn find_for_config(config: &Config) -> Self {
        let database = config.database.value.sqlite_path();
        Self::find(&config.data_dir.value, database.as_deref(), rustix::process::geteuid().as_raw())
    }

    /// Finds the exposed paths: the data directory, its known files, and the SQLite file with its companions.
    /// `own_uid` is the account of this process.
    pub fn find(data_dir: &Path, database: Option<&Path>, own_uid: u32) -> Self {
        let mut found = Self::default();
        for path in known_paths(data_dir, database) {
            // A path that is missing or disappears in between is not exposed.
            let Ok(itself) = fs::symlink_metadata(&path) else { continue };
            let Ok(target) = fs::metadata(&path) else { continue };
            if target.mode() & GROUP_AND_OTHERS == 0 {
                continue;
            }
            match reason_to_leave(&itself, own_uid) {
                Some(reason) => found.skipped.push((path, reason)),
                None => found.restrictable.push(path),
            }
        }
        found
    }

    /// Returns all of them, restrictable or not.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.restrictable.iter().chain(self.skipped.iter().map(|(path, _)| path))
    }

    /// Removes the permissions of others. Must run before this process opens the database: SQLite's locks belong to
    /// the process, and closing any descriptor of the file releases them.
    pub fn restrict(self, own_uid: u32) -> FileModeRepair {
        let mut repair = FileModeRepair { skipped: self.skipped, ..FileModeRepair::default() };
        for path in self.restrictable {
            match close_path(&path, own_uid) {
                Ok(()) => repair.restricted.push(path),
                Err(error) => repair.failed.push((path, error)),
            }
        }
        repair
    }
}

/// The result of a repair.
#[derive(Debug, Default)]
pub struct FileModeRepair {
    pub restricted: Vec<PathBuf>,
    pub skipped: Vec<(PathBuf, &'static str)>,
    pub failed: Vec<(PathBuf, io::Error)>,
}

impl FileModeRepair {
    /// Returns one warning that names every path that was restricted or could not be; `None` when all was in order.
    pub fn warning(&self) -> Option<String> {
        let shown = |path: &PathBuf| path.display().to_string();
        let mut sentences = Vec::new();
        if !self.restricted.is_empty() {
            let closed: Vec<String> = self.restricted.iter().map(shown).collect();
            sentences.push(format!("restricted {} to its owner; other accounts could read it", closed.join(", ")));
        }
        let left = self.skipped.iter().map(|(path, reason)| (path, (*reason).to_owned()));
        let failed = self.failed.iter().map(|(path, error)| (path, error.to_string()));
        for (path, reason) in left.chain(failed) {
            sentences.push(format!("other accounts can read {}; not changed: {reason}", shown(path)));
        }
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// Returns every path whose permissions matter: the data directory, the lock, the key, the setup code, waiting imports,
/// and the database with its log, backups and copies, all of which begin with its name.
fn known_paths(data_dir: &Path, database: Option<&Path>) -> Vec<PathBuf> {
    let files = [LOCK_FILE, KEY_FILE, SETUP_CODE_FILE].map(|file| data_dir.join(file));
    let mut paths: Vec<PathBuf> = std::iter::once(data_dir.to_owned()).chain(files).collect();
    let imports = data_dir.join(IMPORTS_DIR);
    paths.push(imports.clone());
    // A folder behind a symbolic link was arranged by an administrator: its content is not touched.
    if fs::symlink_metadata(&imports).is_ok_and(|itself| itself.is_dir()) {
        paths.extend(entries(&imports));
    }
    let files_next_to = |database: &Path| {
        let folder = database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = database.file_name().unwrap_or_default().as_encoded_bytes().to_vec();
        let is_of_database = move |path: &PathBuf| {
            let rest = path.file_name().and_then(|file| file.as_encoded_bytes().strip_prefix(&name[..]));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"-") || rest.starts_with(b"."))
        };
        entries(folder).into_iter().filter(is_of_database).collect::<Vec<_>>()
    };
    paths.extend(database.into_iter().flat_map(files_next_to));
    paths
}

/// Returns the sorted paths of a folder; none when it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn reason_to_leave(itself: &Metadata, own_uid: u32) -> Option<&'static str> {
    if itself.is_symlink() {
        Some("it is a symbolic link")
    } else if itself.uid() != own_uid {
        Some("it belongs to another account")
    } else if itself.mode() & STICKY != 0 {
        Some("it is a shared folder")
    } else if !itself.is_file() && !itself.is_dir() {
        Some("it is not a file or folder")
    } else {
        None
    }
}

/// Restricts one path through a descriptor that follows no symbolic link, so that the path that was checked is the
/// one that is changed.
fn close_path(path: &Path, own_uid: u32) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let opened = file.metadata()?;
    if let Some(reason) = reason_to_leave(&opened, own_uid) {
        return Err(io::Error::other(reason));
    }
    let mut permissions = opened.permissions();
    permissions.set_mode(opened.mode() & 0o7777 & !GROUP_AND_OTHERS);
    file.set_permissions(permissions)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode_of(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn closed_dir() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
        dir
    }

    #[test]
    fn file_of_another_account_and_symbolic_link_are_reported_and_skipped() {
        let dir = closed_dir();
        let (key, elsewhere) = (dir.path().join(KEY_FILE), dir.path().join("elsewhere"));
        fs::write(&elsewhere, "").unwrap();
        fs::set_permissions(&elsewhere, PermissionsExt::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &key).unwrap();
        let lock = dir.path().join(LOCK_FILE);
        fs::write(&lock, "").unwrap();
        fs::set_permissions(&lock, PermissionsExt::from_mode(0o644)).unwrap();
        let own_uid = fs::metadata(&lock).unwrap().uid();

        // Checks as an account that owns none of the files.
        let found = ExposedPaths::find(dir.path(), None, own_uid + 1);
        assert_eq!(found.restrictable, Vec::<PathBuf>::new());
        let warning = found.restrict(own_uid + 1).warning().unwrap();
        assert!(warning.contains("another account") && warning.contains("turnleaf.lock"), "{warning}");
        assert_eq!(mode_of(&lock), 0o644);

        let repair = ExposedPaths::find(dir.path(), None, own_uid).restrict(own_uid);
        assert_eq!(repair.restricted, std::slice::from_ref(&lock));
        assert_eq!(repair.skipped, [(key, "it is a symbolic link")]);
        assert_eq!((mode_of(&lock), mode_of(&elsewhere)), (0o600, 0o644));
    }

    #[test]
    fn path_replaced_by_link_after_check_is_not_followed() {
        let dir = closed_dir();
        let (lock, elsewhere) = (dir.path().join(LOCK_FILE), dir.path().join("elsewhere"));
        fs::write(&lock, "").unwrap();
        fs::set_permissions(&lock, PermissionsExt::from_mode(0o644)).unwrap();
        let own_uid = fs::metadata(&lock).unwrap().uid();
        let found = ExposedPaths::find(dir.path(), None, own_uid);
        fs::rename(&lock, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
        let repair = found.restrict(own_uid);
        assert_eq!((repair.restricted.len(), repair.failed.len()), (0, 1));
        assert_eq!(mode_of(&elsewhere), 0o644);
    }

    #[test]
    fn read_only_backup_stays_read_only() {
        let dir = closed_dir();
        let backup = dir.path().join("turnleaf.db.backup-19-20260101T000000.000Z");
        fs::write(&backup, "").unwrap();
        fs::set_permissions(&backup, PermissionsExt::from_mode(0o444)).unwrap();
        let own_uid = fs::metadata(&backup).unwrap().uid();
        let database = dir.path().join("turnleaf.db");
        let repair = ExposedPaths::find(dir.path(), Some(&database), own_uid).restrict(own_uid);
        assert_eq!(repair.restricted, std::slice::from_ref(&backup));
        assert_eq!(mode_of(&backup), 0o400);
    }
}
