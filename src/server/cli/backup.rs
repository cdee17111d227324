//! `turnleaf backup`: a consistent copy of a SQLite database, even while a server uses it.

use std::path::Path;

use crate::server::cli::database::{block_on, open_existing};
use crate::server::cli::exit::{CliError, CliExitCode};
use crate::server::cli::output;
use turnleaf_platform::config::Config;
use turnleaf_platform::sealing::KEY_FILE;
use turnleaf_store::database::dialect;

/// Copies the database to a file that must not exist yet.
pub fn run(config: &Config, file: &Path) -> Result<(), CliError> {
    if !config.database.value.is_sqlite() {
        let text = "this command only backs up SQLite databases; for PostgreSQL use pg_dump";
        return Err(CliError::new(CliExitCode::WrongUse, text));
    }
    if file.exists() {
        return Err(CliError::new(CliExitCode::Failed, format_args!("{} already exists", file.display())));
    }
    block_on(async {
        let db = open_existing(config).await?;
        dialect::backup(&db, file).await?;
        db.close().await;
        Ok(())
    })?;
    output::print_line(format_args!("Backed up the database to {}.", file.display()))?;
    let key = config.data_dir.value.join(KEY_FILE);
    if config.security.secret_key.is_none() && key.exists() {
        let text = "API keys in the backup can only be decrypted with {}: back up that file too.";
        output::print_line(format_args!("{}", text.replace("{}", &key.display().to_string())))?;
    }
    Ok(())
}
