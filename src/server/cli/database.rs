//! Opens the configured database for a command, and maps its errors to exit codes.

use crate::server::cli::exit::{CliError, CliExitCode};
use turnleaf_platform::config::Config;
use turnleaf_platform::storage_dir::StorageDir;
use turnleaf_store::database::db::Db;
use turnleaf_store::database::error::StoreError;

impl From<StoreError> for CliError {
    fn from(error: StoreError) -> Self {
        let exit = match &error {
            StoreError::Damaged(_) => CliExitCode::Damaged,
            StoreError::InUse => CliExitCode::InUse,
            StoreError::UnknownScheme(_) | StoreError::NewerSchema { .. } => CliExitCode::Configuration,
            _ => CliExitCode::Failed,
        };
        Self::new(exit, error)
    }
}

/// Runs a command's future on a single-threaded runtime, which is enough for everything but serving.
pub fn block_on<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| CliError::could_not("start", error))?.block_on(work)
}

/// Creates the data directory if it is missing.
pub fn create_data_dir(config: &Config) -> Result<StorageDir, CliError> {
    let path = &config.data_dir.value;
    StorageDir::open(path)
        .map_err(|error| CliError::could_not(&format!("create the data directory {}", path.display()), error))
}

/// Opens the database of an existing installation. A read-only command must not create an empty one, and a database
/// of a newer Turnleaf is refused.
pub async fn open_existing(config: &Config) -> Result<Db, CliError> {
    if let Some(path) = config.database.value.sqlite_path().filter(|path| !path.exists()) {
        let text = format!("no database at {} (set by {})", path.display(), config.database.source);
        return Err(CliError::new(CliExitCode::Failed, text));
    }
    let db = Db::open(config.database.value.expose()).await?;
    db.plan_migration().await?;
    Ok(db)
}

/// Opens a database that must have this binary's schema.
pub async fn open_current(config: &Config) -> Result<Db, CliError> {
    let db = open_existing(config).await?;
    if db.plan_migration().await?.is_pending() {
        let text = "the database is older than this version of Turnleaf; run `turnleaf migrate` to update it";
        return Err(CliError::new(CliExitCode::Failed, text));
    }
    Ok(db)
}
