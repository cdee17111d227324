//! What the command line sets.

use std::path::PathBuf;

/// The flags of the command line. Everything absent is left to the environment, the file and the defaults.
#[derive(Debug, Clone, Default)]
pub struct CliFlags {
    /// `--listen HOST:PORT`
    pub listen: Option<String>,
    /// `--database URL`
    pub database: Option<String>,
    /// `--data-dir DIR`
    pub data_dir: Option<PathBuf>,
    /// `--config FILE`
    pub config: Option<PathBuf>,
}
