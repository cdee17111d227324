//! Opening the database for a command: which one, migrated, sound.

use std::sync::Arc;

use crate::domain::UserId;
use crate::server::cli::exit::Failed;
use crate::server::platform::clock::Clock;
use crate::server::platform::config::Config;
use crate::server::platform::data_dir::DataDir;
use crate::server::platform::ids;
use crate::server::store::{Db, StoreError, users};

/// Opens the configured database and brings its schema up to this binary's, after a backup where there is something to
/// lose.
pub async fn open(config: &Config, data_dir: &DataDir, clock: &Arc<dyn Clock>) -> Result<Db, Failed> {
    let db = Db::open(config.database.value.as_str()).await?;
    let migration = db.migrate(Some(&data_dir.backups()), clock.now()).await?;
    if let Some(backup) = &migration.backup {
        tracing::info!(from = migration.from, to = migration.to, backup = %backup.display(), "migrated the database");
    }
    Ok(db)
}

/// The one account of a server without accounts; made at the first start.
pub async fn local_owner(db: &Db, clock: &Arc<dyn Clock>) -> Result<UserId, StoreError> {
    let mut tx = db.begin().await?;
    let owner = users::ensure_local_owner(&mut tx, ids::mint(), clock.now()).await?;
    tx.commit().await?;
    Ok(owner)
}
