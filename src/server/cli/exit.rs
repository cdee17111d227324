//! Results of commands: the exit codes on which scripts may rely (docs/reference/api.md 1), and the error message.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use turnleaf_platform::config::ConfigError;
use turnleaf_platform::lock_file::LockError;

/// Exit codes other than 0. The argument parser uses 2 itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum CliExitCode {
    Failed = 1,
    WrongUse = 2,
    /// A part of the input was imported; the report says what was not.
    InPart = 3,
    /// The data is damaged; nothing was repaired.
    Damaged = 74,
    /// Another process uses the data directory.
    InUse = 75,
    /// The configuration is unsafe or wrong.
    Configuration = 78,
}

/// The failure of a command: its exit code, and the message for standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CliError {
    pub code: CliExitCode,
    pub message: String,
}

impl CliError {
    pub fn new(exit: CliExitCode, message: impl Display) -> Self {
        Self { code: exit, message: message.to_string() }
    }

    /// Returns the failure of a command whose file does not exist.
    pub fn file_not_found(path: &Path) -> Self {
        Self::new(CliExitCode::Failed, format_args!("file not found: {}", path.display()))
    }

    /// Returns a general failure, with the message "could not …: why".
    pub fn could_not(action: &str, error: impl Display) -> Self {
        Self::new(CliExitCode::Failed, format_args!("could not {action}: {error}"))
    }
}

impl From<ConfigError> for CliError {
    fn from(error: ConfigError) -> Self {
        Self::new(CliExitCode::Configuration, error)
    }
}

impl From<LockError> for CliError {
    fn from(error: LockError) -> Self {
        let exit = match error {
            LockError::InUse { .. } => CliExitCode::InUse,
            LockError::Io { .. } => CliExitCode::Failed,
        };
        Self::new(exit, error)
    }
}

/// Prints the message of a failure and returns its exit code.
pub fn exit_code(result: Result<(), CliError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failed) => {
            eprintln!("turnleaf: {}", failed.message);
            ExitCode::from(failed.code as u8)
        }
    }
}
