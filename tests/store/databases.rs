//! Fresh, migrated databases for tests: a SQLite file always, a PostgreSQL database when `TURNLEAF_TEST_PG` names a
//! throwaway cluster.

use chrono::{DateTime, TimeZone, Utc};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tempfile::TempDir;
use turnleaf::server::store::Db;

/// A database of its own for one test.
pub struct Fresh {
    pub db: Db,
    pub url: String,
    /// Where the SQLite file is; kept so that it lives as long as the test.
    pub dir: TempDir,
}

/// The moment at which tests begin.
pub fn noon() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 3, 1, 12, 0, 0).unwrap()
}

/// A new SQLite file without a schema.
pub async fn empty_sqlite() -> Fresh {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}", dir.path().join("turnleaf.db").display());
    Fresh { db: Db::open(&url).await.unwrap(), url, dir }
}

/// A new PostgreSQL database without a schema, or `None` when no cluster is named.
pub async fn empty_postgres() -> Option<Fresh> {
    let Ok(cluster) = std::env::var("TURNLEAF_TEST_PG") else {
        eprintln!("TURNLEAF_TEST_PG is not set: not run on PostgreSQL");
        return None;
    };
    let name = format!("t{}", turnleaf::server::platform::ids::mint::<uuid::Uuid>().simple());
    let url = postgres_url(&cluster, &name);
    run_on_cluster(&cluster, format!("CREATE DATABASE {name}")).await;
    Some(Fresh { db: Db::open(&url).await.unwrap(), url, dir: tempfile::tempdir().unwrap() })
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

impl Fresh {
    fn cluster(&self, cluster: String) -> Option<String> {
        matches!(self.db, Db::Postgres { .. }).then_some(cluster)
    }

    /// Closes it, and drops a PostgreSQL database, whose pages would pile up.
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
    run_on_cluster(cluster, format!("DROP DATABASE {name}")).await;
}

/// Migrated databases of every kind there is here.
pub async fn fresh() -> Vec<Fresh> {
    let mut all = vec![empty_sqlite().await];
    all.extend(empty_postgres().await);
    for one in &all {
        one.db.migrate(None, noon()).await.unwrap();
    }
    all
}
