//! `turnleaf migrate`: migrates the schema without serving.

use serde_json::json;

use crate::server::cli::database::{block_on, create_data_dir, open_existing};
use crate::server::cli::exit::CliError;
use crate::server::cli::output;
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_platform::config::Config;
use turnleaf_platform::ids::{self, BootId};
use turnleaf_platform::lock_file::LockFile;
use turnleaf_store::database::migrate::Migration;
use turnleaf_store::{Claim, Db};

/// Migrates, or shows what would be done. A dry run changes nothing and creates no file.
pub fn run(config: &Config, dry_run: bool, json: bool) -> Result<(), CliError> {
    let migration = if dry_run { block_on(plan(config))? } else { block_on(migrate(config))? };
    if json {
        return output::print_json(&match &migration {
            Some(done) => {
                json!({ "from": done.from, "to": done.to, "pending": done.is_pending(), "backup": done.backup })
            }
            None => json!({ "from": null, "to": null, "pending": true, "backup": null }),
        });
    }
    let Some(done) = migration else { return output::print_line("Would create a new database.") };
    let was = if dry_run { "would be" } else { "was" };
    match (done.from, done.is_pending()) {
        (_, false) => output::print_line(format_args!("The schema is already at version {}.", done.to))?,
        (None, true) => {
            output::print_line(format_args!("A new database {was} created with schema version {}.", done.to))?
        }
        (Some(from), true) => {
            output::print_line(format_args!("The schema {was} migrated from version {from} to {}.", done.to))?
        }
    }
    match done.backup {
        Some(path) => output::print_line(format_args!("Backup of the previous database: {}", path.display())),
        None => Ok(()),
    }
}

async fn plan(config: &Config) -> Result<Option<Migration>, CliError> {
    if config.database.value.sqlite_path().is_some_and(|path| !path.exists()) {
        return Ok(None);
    }
    let db = open_existing(config).await?;
    let plan = db.plan_migration().await?;
    db.close().await;
    Ok(Some(plan))
}

async fn migrate(config: &Config) -> Result<Option<Migration>, CliError> {
    let data_dir = create_data_dir(config)?;
    let boot: BootId = ids::mint();
    let _lock = LockFile::acquire(data_dir.path(), boot)?;
    let db = Db::open(config.database.value.expose()).await?;
    // The claim keeps out a server with the old schema; a new epoch fences off one that lost its claim for a moment.
    let mut claim = Claim::acquire(&db, boot).await?;
    let done = db.migrate(None, SystemClock.now()).await?;
    claim.start_epoch().await?;
    db.close().await;
    claim.release().await;
    Ok(Some(done))
}
