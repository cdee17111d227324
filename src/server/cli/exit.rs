//! How a command ends: the exit codes that scripts may rely on (contract.md 1), and the message that goes with them.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use turnleaf_platform::config::ConfigError;
use turnleaf_platform::lock_file::LockError;

/// Exit codes other than 0. Wrong use (2) is the argument parser's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Failed = 1,
    WrongUse = 2,
    /// The data is damaged; nothing was repaired.
    Damaged = 74,
    /// Another process uses the data directory.
    InUse = 75,
    /// The configuration is unsafe or wrong.
    Configuration = 78,
}

/// A command that did not succeed: its exit code, and what standard error says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    pub exit: Exit,
    pub message: String,
}

impl Failed {
    pub fn new(exit: Exit, message: impl Display) -> Self {
        Self { exit, message: message.to_string() }
    }

    /// A file that was named and is not there.
    pub fn no_file(path: &Path) -> Self {
        Self::new(Exit::Failed, format_args!("there is no file {}", path.display()))
    }

    /// A failure without a code of its own, in the words "could not …: why".
    pub fn because(what: &str, error: impl Display) -> Self {
        Self::new(Exit::Failed, format_args!("could not {what}: {error}"))
    }
}

impl From<ConfigError> for Failed {
    fn from(error: ConfigError) -> Self {
        Self::new(Exit::Configuration, error)
    }
}

impl From<LockError> for Failed {
    fn from(error: LockError) -> Self {
        let exit = match error {
            LockError::InUse { .. } => Exit::InUse,
            LockError::Io { .. } => Exit::Failed,
        };
        Self::new(exit, error)
    }
}

/// Prints the message of a failure and gives its code to the process.
pub fn code(result: Result<(), Failed>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("turnleaf: {}", failed.message);
            ExitCode::from(failed.exit as u8)
        }
    }
}
