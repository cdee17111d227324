//! The context of a scenario: its directory, its own database, the binary, and its random numbers.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::installation::TestInstallation;
use crate::own_cluster::OwnCluster;
use crate::seeded_rng::SeededRng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScenarioDatabase {
    Sqlite,
    Postgres,
}

impl ScenarioDatabase {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The PostgreSQL cluster of this run.
pub struct SharedCluster(Mutex<OwnCluster>);

impl SharedCluster {
    /// Starts a cluster. Returns `None` where PostgreSQL's programs are not installed.
    pub fn start() -> Option<Self> {
        OwnCluster::try_start().map(|cluster| Self(Mutex::new(cluster)))
    }

    fn with_cluster<T>(&self, work: impl FnOnce(&mut OwnCluster) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the URL of the cluster's own database, from which others are created.
    pub fn url(&self) -> String {
        self.with_cluster(|cluster| cluster.url())
    }

    /// Creates an empty database and returns its URL.
    pub async fn create_database(&self, name: &str) -> String {
        self.sql(format!("CREATE DATABASE \"{name}\"")).await;
        let url = self.url();
        format!("{}/{name}", url.rsplit_once('/').unwrap().0)
    }

    /// Copies a database without connected clients. Returns the URL of the copy.
    pub async fn copy_database(&self, of: &str, name: &str) -> String {
        self.sql(format!("DROP DATABASE IF EXISTS \"{name}\"")).await;
        self.sql(format!("CREATE DATABASE \"{name}\" TEMPLATE \"{of}\"")).await;
        let url = self.url();
        format!("{}/{name}", url.rsplit_once('/').unwrap().0)
    }

    async fn sql(&self, text: String) {
        let mut admin = PgConnection::connect(&self.url()).await.unwrap();
        sqlx::query(AssertSqlSafe(text)).execute(&mut admin).await.unwrap();
        admin.close().await.unwrap();
    }
}

/// Keeps the database of a failed scenario as a copy, because its cluster ends with this process.
pub struct DatabaseCopy(Option<(Arc<SharedCluster>, String)>);

impl DatabaseCopy {
    pub fn write(&self, dir: &Path) {
        if let Some((cluster, name)) = &self.0 {
            cluster.with_cluster(|cluster| cluster.dump_database(name, &dir.join("database.sql")));
        }
    }
}

pub struct ScenarioContext {
    pub binary: PathBuf,
    pub dir: PathBuf,
    pub database: ScenarioDatabase,
    pub cluster: Option<Arc<SharedCluster>>,
    pub randomness: SeededRng,
    /// The name of the scenario's database in the cluster.
    pub database_name: String,
    pub url: Option<String>,
}

impl ScenarioContext {
    pub async fn new(
        binary: PathBuf,
        dir: PathBuf,
        database: ScenarioDatabase,
        cluster: Option<Arc<SharedCluster>>,
        name: &str,
        randomness: SeededRng,
    ) -> Self {
        std::fs::create_dir_all(&dir).unwrap();
        let url = match (database, &cluster) {
            (ScenarioDatabase::Postgres, Some(cluster)) => Some(cluster.create_database(name).await),
            _ => None,
        };
        Self { binary, dir, database, cluster, randomness, database_name: name.to_owned(), url }
    }

    /// Returns an installation on this database with these providers, given as the text of a configuration file.
    pub fn installation(&self, configuration: &str) -> TestInstallation {
        TestInstallation::new(&self.binary, &self.dir, self.url.clone(), configuration)
    }

    pub fn database_copy(&self) -> DatabaseCopy {
        let cluster = self.cluster.clone().filter(|_| self.database == ScenarioDatabase::Postgres);
        DatabaseCopy(cluster.map(|cluster| (cluster, self.database_name.clone())))
    }
}
