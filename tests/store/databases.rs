//! Fresh, migrated databases for tests: a SQLite file always, a PostgreSQL database when `TURNLEAF_TEST_PG` names a
//! throwaway cluster.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;

use chrono::{DateTime, TimeZone, Utc};
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;
use turnleaf_store::Db;

/// A database for one test.
pub struct TestDatabase {
    pub db: Db,
    pub url: String,
    /// The folder of the SQLite file; kept so that it lives as long as the test.
    pub dir: TempDir,
}

/// The time at which tests start.
pub fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

/// Creates an SQLite file without a schema.
pub async fn empty_sqlite() -> TestDatabase {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", dir.path().join("turnleaf.db").display());
    TestDatabase { db: Db::open(&url).await.unwrap(), url, dir }
}

/// Creates a PostgreSQL database with the schema; returns `None` when no cluster is named.
pub async fn migrated_postgres() -> Option<TestDatabase> {
    let template = template(&cluster()?).await;
    postgres(&format!("TEMPLATE {template}")).await
}

/// Creates a PostgreSQL database with these options of `CREATE DATABASE`; returns `None` when no cluster is named.
pub async fn postgres(options: &str) -> Option<TestDatabase> {
    let cluster = cluster()?;
    let name = format!("t{}", turnleaf_platform::ids::mint::<uuid::Uuid>().simple());
    let url = postgres_url(&cluster, &name);
    run_on_cluster(&cluster, format!("CREATE DATABASE {name} {options}")).await;
    Some(TestDatabase { db: Db::open(&url).await.unwrap(), url, dir: tempfile::tempdir().unwrap() })
}

fn cluster() -> Option<String> {
    let named = std::env::var("TURNLEAF_TEST_PG").ok();
    if named.is_none() {
        eprintln!("TURNLEAF_TEST_PG is not set: not run on PostgreSQL");
    }
    named
}

/// Returns a migrated template database of the cluster: a copy takes a fraction of the time of the migrations. The
/// first test that needs it creates it, under a name derived from the migrations.
async fn template(cluster: &str) -> String {
    const IS_THERE: &str = "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)";
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/postgres");
    let mut hasher = DefaultHasher::new();
    Migrator::new(files).await.unwrap().iter().for_each(|migration| migration.checksum.hash(&mut hasher));
    let name = format!("template_{:016x}", hasher.finish());
    let mut admin = PgConnection::connect(cluster).await.unwrap();
    let is_there: bool = sqlx::query_scalar(IS_THERE).bind(&name).fetch_one(&mut admin).await.unwrap();
    if !is_there {
        // The advisory lock lets one test create it, and ends with the connection.
        sqlx::query("SELECT pg_advisory_lock(1)").execute(&mut admin).await.unwrap();
        let is_there: bool = sqlx::query_scalar(IS_THERE).bind(&name).fetch_one(&mut admin).await.unwrap();
        if !is_there {
            let unfinished = format!("{name}_unfinished");
            run_on_cluster(cluster, format!("DROP DATABASE IF EXISTS {unfinished}")).await;
            run_on_cluster(cluster, format!("CREATE DATABASE {unfinished}")).await;
            let db = Db::open(&postgres_url(cluster, &unfinished)).await.unwrap();
            db.migrate(None, noon()).await.unwrap();
            db.close().await;
            run_on_cluster(cluster, format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
        }
    }
    admin.close().await.unwrap();
    name
}

fn postgres_url(cluster: &str, database: &str) -> String {
    let (base, query) = cluster.split_once('?').unwrap_or((cluster, ""));
    let host = base.find("://").map_or(0, |at| at + 3);
    let end = base[host..].find('/').map_or(base.len(), |at| host + at);
    let question = if query.is_empty() { "" } else { "?" };
    format!("{}/{database}{question}{query}", &base[..end])
}

async fn run_on_cluster(cluster: &str, text: String) {
    let mut admin = PgConnection::connect(cluster).await.unwrap();
    sqlx::query(AssertSqlSafe(text)).execute(&mut admin).await.unwrap();
    admin.close().await.unwrap();
}

impl TestDatabase {
    fn cluster(&self, cluster: String) -> Option<String> {
        matches!(self.db, Db::Postgres { .. }).then_some(cluster)
    }

    /// Closes the database, and drops a PostgreSQL database so that they do not pile up.
    pub async fn close(self) {
        self.db.close().await;
        if let Ok(Some(cluster)) = std::env::var("TURNLEAF_TEST_PG").map(|cluster| self.cluster(cluster)) {
            drop_postgres(&cluster, &self.url).await;
        }
    }
}

/// Drops a closed database of the cluster.
pub async fn drop_postgres(cluster: &str, url: &str) {
    let name = url.rsplit('/').next().unwrap().split('?').next().unwrap();
    // Sessions of connections that a test let die may still be there.
    run_on_cluster(cluster, format!("DROP DATABASE {name} WITH (FORCE)")).await;
}

/// Creates migrated databases of every available kind.
pub async fn test_databases() -> Vec<TestDatabase> {
    let sqlite = empty_sqlite().await;
    sqlite.db.migrate(None, noon()).await.unwrap();
    let mut all = vec![sqlite];
    all.extend(migrated_postgres().await);
    all
}
