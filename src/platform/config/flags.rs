//! The command line flags that set configuration.

use std::path::PathBuf;

/// The command line flags. Absent ones are left to the environment, the file and the defaults.
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
