//! The code of an open setup. It is in the memory of the process and in a file that only its owner reads, not in the
//! database.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::secrets::{code_digits, secret_hash};

/// The file of the code in the data directory.
pub const SETUP_CODE_FILE: &str = "setup-code";

/// The code while the server waits for its setup.
#[derive(Default)]
pub(super) struct SetupState(Mutex<Option<OpenSetup>>);

struct OpenSetup {
    /// The SHA-256 of the digits.
    hash: [u8; 32],
    file: PathBuf,
}

impl SetupState {
    fn lock(&self) -> MutexGuard<'_, Option<OpenSetup>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for this code, which is also written into a file.
    pub(super) fn open(&self, code: &str, file: PathBuf) {
        if let Err(error) = write_code(&file, code) {
            // It is printed, too.
            tracing::warn!(%error, file = %file.display(), "the setup code could not be written to its file");
        }
        *self.lock() = Some(OpenSetup { hash: secret_hash(&code_digits(code)), file });
    }

    pub(super) fn is_open(&self) -> bool {
        self.lock().is_some()
    }

    /// Hashes are compared, so the time that it takes says nothing about the code.
    pub(super) fn has_code(&self, typed: &str) -> bool {
        let hash = secret_hash(&code_digits(typed));
        self.lock().as_ref().is_some_and(|open| open.hash == hash)
    }

    /// Stops waiting, and removes the file.
    pub(super) fn close(&self) {
        if let Some(open) = self.lock().take() {
            remove_code(&open.file);
        }
    }
}

/// Removes the file of a code, if there is one.
pub(super) fn remove_code(file: &Path) {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, file = %file.display(), "the file with the setup code could not be removed");
        }
        _ => {}
    }
}

/// Writes the code into a new file with mode 0600.
fn write_code(file: &Path, code: &str) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?;
    made.write_all(format!("{code}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_of_code_is_private_and_replaced() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(SETUP_CODE_FILE);
        fs::write(&file, "an earlier one").unwrap();
        write_code(&file, "00ff-12ab").unwrap();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap(), "00ff-12ab\n");
        let setup = SetupState::default();
        assert!(!setup.has_code("00ff-12ab") && !setup.has_code(""));
        setup.open("00ff-12ab", file.clone());
        assert!(setup.has_code("00FF 12AB") && !setup.has_code("00ff-12ac") && !setup.has_code(""));
        setup.close();
        assert!(!file.exists() && !setup.has_code("00ff-12ab"));
    }
}
