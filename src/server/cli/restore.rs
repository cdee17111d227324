//! `turnleaf restore`: replaces the database with a backup of `turnleaf backup`, after checking it completely.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::domain::text::plural::counted;
use crate::server::cli::database::{block_on, create_data_dir};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::output;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::Config;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::LockFile;
use turnleaf_store::database::dialect;
use turnleaf_store::fsck::{CheckMode, check as look_at};
use turnleaf_store::{Db, StoreError};

/// The suffix, before the time, of the previous database, which stays beside the new one.
const BACKUP_SUFFIX: &str = "before-restore";
/// The suffix of SQLite's write-ahead log.
const WAL_SUFFIX: &str = "-wal";

/// Checks the backup and replaces the database. The previous database stays beside it.
pub fn run(config: &Config, file: &Path) -> Result<(), CliError> {
    let Some(target) = config.database.value.sqlite_path() else {
        let text = "this command only restores SQLite databases; for PostgreSQL use pg_restore or psql";
        return Err(CliError::new(CliExitCode::WrongUse, text));
    };
    if !file.is_file() {
        return Err(CliError::file_not_found(file));
    }
    let data_dir = create_data_dir(config)?;
    let boot: BootId = ids::mint();
    // A running server would continue with the old database.
    let _lock = LockFile::acquire(data_dir.path(), boot)?;
    let copy = backup_path(&target, "restoring");
    remove_all(&copy)?;
    let copied =
        copy_with_log(file, &copy).map_err(|error| CliError::could_not(&format!("copy {}", file.display()), error));
    if let Err(failed) = copied.and_then(|()| block_on(check(file, &copy))) {
        remove_all(&copy)?;
        return Err(failed);
    }
    let before = backup_path(&target, &format!("{BACKUP_SUFFIX}-{}", SystemClock.now().format("%Y%m%dT%H%M%S%.3fZ")));
    if target.exists() {
        keep_previous(&target, &before).map_err(|error| CliError::could_not("keep the previous database", error))?;
        output::print_line(format_args!("Moved the previous database to {}.", before.display()))?;
    }
    replace(&copy, &target).map_err(|error| CliError::could_not("replace the database", error))?;
    output::print_line(format_args!("Restored {} from {}.", target.display(), file.display()))
}

/// Copies a database with the log that a killed process left beside it.
fn copy_with_log(file: &Path, to: &Path) -> io::Result<()> {
    copy(file, to)?;
    let log = with_end(file, WAL_SUFFIX);
    if log.exists() { copy(&log, &with_end(to, WAL_SUFFIX)) } else { Ok(()) }
}

/// Copies the content of a file but not its mode, because backups are often kept read-only. Only the owner may read
/// the copy.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let mut to = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(to)?;
    io::copy(&mut File::open(from)?, &mut to)?;
    to.sync_all()
}

/// Links the present database under a second name, so that a database exists at every moment.
fn keep_previous(target: &Path, before: &Path) -> io::Result<()> {
    for end in ["", WAL_SUFFIX] {
        let (from, to) = (with_end(target, end), with_end(before, end));
        // Not every file system supports hard links.
        if from.exists() && fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to)?;
            File::open(&to)?.sync_all()?;
        }
    }
    sync_folder(before)
}

/// Replaces the database with the copy. The old log is removed first, because SQLite would apply it to the new
/// database.
fn replace(copy: &Path, target: &Path) -> io::Result<()> {
    File::open(copy)?.sync_all()?;
    for end in [WAL_SUFFIX, "-shm"] {
        remove(&with_end(target, end))?;
    }
    sync_folder(target)?;
    fs::rename(copy, target)?;
    sync_folder(target)
}

/// Syncs the folder, which makes a renamed file durable.
fn sync_folder(of: &Path) -> io::Result<()> {
    match of.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => File::open(folder)?.sync_all(),
        None => File::open(".")?.sync_all(),
    }
}

/// Checks that the copy is a complete Turnleaf database. `file` is its name in messages.
async fn check(file: &Path, copy: &Path) -> Result<(), CliError> {
    let refused = |reason: String| {
        let text = format_args!(
            "{} is not a complete backup made by `turnleaf backup`: {reason}; nothing was changed",
            file.display()
        );
        CliError::new(CliExitCode::Damaged, text)
    };
    let inspected = async {
        let db = Db::open_file(copy).await?;
        let inspected = find_problem(&db).await;
        db.close().await;
        inspected
    };
    match inspected.await {
        // Closing the database would have merged a readable log.
        Ok(None) if with_end(copy, WAL_SUFFIX).exists() => Err(refused("its log cannot be applied".to_owned())),
        Ok(None) => Ok(()),
        Ok(Some(reason)) => Err(refused(reason)),
        Err(error) if error.is_damaged() => Err(refused("it is damaged or not a database".to_owned())),
        Err(other) => Err(other.into()),
    }
}

/// Returns the problem of a database, if any.
async fn find_problem(db: &Db) -> Result<Option<String>, StoreError> {
    let plan = db.plan_migration().await?;
    if plan.from.is_none() {
        return Ok(Some("it is from another program, or empty".to_owned()));
    }
    // An older schema is migrated by the next start, after a backup; only its pages are checked here.
    let findings = if plan.is_pending() {
        dialect::check_integrity(db).await?.len()
    } else {
        look_at(db, CheckMode::Serving).await?.len()
    };
    Ok((findings > 0)
        .then(|| format!("`turnleaf fsck` finds {} in it", counted(findings as u64, "problem", "problems"))))
}

fn backup_path(file: &Path, word: &str) -> PathBuf {
    with_end(file, &format!(".{word}"))
}

fn with_end(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// Removes a database with its log and shared memory file.
fn remove_all(file: &Path) -> Result<(), CliError> {
    ["", WAL_SUFFIX, "-shm"].iter().try_for_each(|end| {
        let file = with_end(file, end);
        remove(&file).map_err(|error| CliError::could_not(&format!("remove {}", file.display()), error))
    })
}

fn remove(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
