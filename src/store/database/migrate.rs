//! Migrations: bring the schema to this binary's version, all pending files in one transaction, after a backup of an
//! existing SQLite file. A database of a newer binary is refused.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use chrono::{DateTime, Utc};
use sqlx::SqlStr;
use sqlx::migrate::{MigrateError, Migration as AppliedMigration, MigrationType, Migrator};
use sqlx::sqlite::SqliteConnection;

use crate::database::db::{Db, Tx};
use crate::database::dialect;
use crate::database::error::StoreError;

/// Embeds the files of both databases, which have the same names. A test compares the names with the folders.
macro_rules! migration_files {
    ($($name:literal),+ $(,)?) => {
        const SQLITE_FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../migrations/sqlite/", $name, ".sql")))),+];
        const POSTGRES_FILES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../migrations/postgres/", $name, ".sql")))),+];
    };
}

migration_files!(
    "0001_tables",
    "0002_branches_keep_their_prompt",
    "0003_costs",
    "0004_parameters_not_sent",
    "0005_generations_know_their_api",
    "0006_turns_by_place_in_their_branch",
    "0007_visits_and_copies",
    "0008_deletions",
    "0009_requests",
    "0012_grafts",
    "0013_tools",
    "0014_documents",
    "0015_tool_counts",
    "0016_search",
    "0017_chat_sources",
    "0018_chats_pinned_and_archived",
    "0019_requests_apart",
    "0020_requests_after_earlier_ones",
    "0021_epochs_of_chats",
    "0023_serving_claim",
    "0024_tool_grants_by_host",
    "0025_trusted_tools",
    "0028_stored_bytes",
    "0029_quarantine",
    "0030_quarantine_owners",
    "0031_packed_pieces",
    "0032_search_queue",
    "0043_server_policies",
    "0044_imports",
    "0045_server_instructions",
    "0046_tool_sign_ins",
    "0047_view_calls",
    "0049_import_reports",
    "0051_queued_messages",
    "0053_projects",
    "0054_unread_replies",
    "0055_title_requests",
    "0056_search_deletions",
    "0057_accounts",
    "0058_shares",
    "0059_second_factors",
    "0060_identities",
    "0061_groups_and_grants",
    "0062_ledger",
    "0063_deleted_accounts_and_shared_turns",
    "0064_branch_shares",
    "0065_passkeys",
    "0066_group_budgets",
    "0067_pending_steps",
    "0068_group_mappings",
);

/// The schema snapshot: the result of all SQLite files, created in a fifth of their time, because every start on an empty
/// data folder and most tests begin with it. A test compares it with the files. PostgreSQL databases are rarely new.
const SQLITE_SCHEMA: &str = include_str!("../../../migrations/sqlite_schema.sql");
const IS_EMPTY: &str = "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)";
const RECORD: &str = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
    VALUES ($1, $2, TRUE, $3, -1)";

static SQLITE: LazyLock<Migrator> = LazyLock::new(|| migrator_of(SQLITE_FILES));
/// The migrator's own lock would belong to the connection and block migrations after a failure until that is closed.
/// Ours belongs to the transaction.
static POSTGRES: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrator = migrator_of(POSTGRES_FILES);
    migrator.set_locking(false);
    migrator
});

/// Returns the migrator of files as (`NNNN_name`, SQL), with the same versions, descriptions and checksums as
/// `sqlx::migrate!` gives them: every database compares its applied migrations with these.
fn migrator_of(files: &[(&'static str, &'static str)]) -> Migrator {
    let migration = |(name, sql): &(&'static str, &'static str)| {
        let (version, description) = name.split_once('_')?;
        let description = description.replace('_', " ").into();
        let sql = SqlStr::from_static(sql);
        Some(AppliedMigration::new(version.parse().ok()?, description, MigrationType::Simple, sql, false))
    };
    Migrator::with_migrations(files.iter().filter_map(migration).collect())
}

const APPLIED: &str = "SELECT MAX(version) FROM _sqlx_migrations";

/// A migration that was applied, or is pending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    /// The version of the database; `None` for a new one.
    pub from: Option<i64>,
    /// The version of this binary.
    pub to: i64,
    /// The backup that was made, if the database existed.
    pub backup: Option<PathBuf>,
}

impl Migration {
    /// Returns whether the database is not at this binary's version.
    pub fn is_pending(&self) -> bool {
        self.from != Some(self.to)
    }
}

impl Db {
    /// Returns what [`Db::migrate`] would do.
    ///
    /// # Errors
    /// `NewerSchema` when the database is ahead of this binary.
    pub async fn plan_migration(&self) -> Result<Migration, StoreError> {
        let to = self.migrator().iter().map(|migration| migration.version).max().unwrap_or(0);
        let from = self.schema_version().await?;
        match from {
            Some(database) if database > to => Err(StoreError::NewerSchema { database, binary: to }),
            _ => Ok(Migration { from, to, backup: None }),
        }
    }

    /// Applies pending migrations. Before that, an existing SQLite file is copied to `<name>.backup-<version>-<time>`
    /// in `backup_dir`, or next to itself.
    ///
    /// # Errors
    /// `NewerSchema`, `Backup` and `Migration`; in each case the database is unchanged.
    pub async fn migrate(&self, backup_dir: Option<&Path>, now: DateTime<Utc>) -> Result<Migration, StoreError> {
        let mut done = self.plan_migration().await?;
        if !done.is_pending() {
            // The applied files are still compared with those of this binary.
            return self.apply().await.map(|()| done);
        }
        if let (Some(version), Some(path)) = (done.from, self.path()) {
            let file = backup_file(path, backup_dir, version, now);
            dialect::backup(self, &file)
                .await
                .map_err(|error| StoreError::Backup { path: file.clone(), reason: error.to_string() })?;
            done.backup = Some(file);
        }
        self.apply().await?;
        Ok(done)
    }

    async fn apply(&self) -> Result<(), StoreError> {
        match self {
            // The migrator nests transactions in this one, which the driver must know for that.
            Self::Sqlite { writer, .. } => {
                let mut tx = writer.begin_with("BEGIN IMMEDIATE").await?;
                create_if_empty(&mut tx).await?;
                SQLITE.run(&mut *tx).await.map_err(explain)?;
                Ok(tx.commit().await?)
            }
            Self::Postgres { .. } => {
                let mut tx = self.begin().await?;
                dialect::lock_for_migration(&mut tx).await?;
                if let Tx::Postgres(tx) = &mut tx {
                    POSTGRES.run(&mut **tx).await.map_err(explain)?;
                }
                tx.commit().await
            }
        }
    }

    fn migrator(&self) -> &'static Migrator {
        match self {
            Self::Sqlite { .. } => &SQLITE,
            Self::Postgres { .. } => &POSTGRES,
        }
    }

    async fn schema_version(&self) -> Result<Option<i64>, StoreError> {
        if !dialect::has_table(self, "_sqlx_migrations").await? {
            return Ok(None);
        }
        Ok(with_pool!(self, |pool| sqlx::query_scalar(APPLIED).fetch_one(pool).await)?)
    }
}

/// Creates the whole schema in an empty database, with the record of the files whose result it is.
async fn create_if_empty(conn: &mut SqliteConnection) -> Result<(), StoreError> {
    let is_empty: bool = sqlx::query_scalar(IS_EMPTY).fetch_one(&mut *conn).await?;
    if !is_empty {
        return Ok(());
    }
    sqlx::raw_sql(SQLITE_SCHEMA).execute(&mut *conn).await?;
    for file in SQLITE.iter() {
        let record = sqlx::query(RECORD).bind(file.version).bind(&*file.description).bind(&*file.checksum);
        record.execute(&mut *conn).await?;
    }
    Ok(())
}

fn explain(error: MigrateError) -> StoreError {
    match error {
        MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _) => match StoreError::from(cause) {
            StoreError::Driver(cause) => StoreError::Migration(cause.to_string()),
            known => known,
        },
        other => StoreError::Migration(other.to_string()),
    }
}

fn backup_file(database: &Path, dir: Option<&Path>, version: i64, now: DateTime<Utc>) -> PathBuf {
    let mut name = database.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".backup-{version}-{}", now.format("%Y%m%dT%H%M%S%.3fZ")));
    match dir {
        Some(dir) => dir.join(name),
        None => database.with_file_name(name),
    }
}
