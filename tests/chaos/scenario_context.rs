//! What a scenario stands on: a directory, a database of its own, the binary, and its randomness.

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

/// The PostgreSQL of this run.
pub struct SharedCluster(Mutex<OwnCluster>);

impl SharedCluster {
    /// `None` where PostgreSQL's programs are absent.
    pub fn start() -> Option<Self> {
        OwnCluster::try_start().map(|cluster| Self(Mutex::new(cluster)))
    }

    fn with_cluster<T>(&self, work: impl FnOnce(&mut OwnCluster) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where its own database is, from which others are made.
    pub fn url(&self) -> String {
        self.with_cluster(|cluster| cluster.url())
    }

    /// Makes an empty database.
    pub async fn create_database(&self, name: &str) -> String {
        self.sql(format!("CREATE DATABASE \"{name}\"")).await;
        let url = self.url();
        format!("{}/{name}", url.rsplit_once('/').unwrap().0)
    }

    /// A database that is a copy of another one, to which nobody is connected.
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

/// How the database of a failed scenario is kept: its cluster goes with this process.
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
    /// The name of its database in the cluster.
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

    /// A server on this database that asks these providers; the text is that of a configuration file.
    pub fn installation(&self, configuration: &str) -> TestInstallation {
        TestInstallation::new(&self.binary, &self.dir, self.url.clone(), configuration)
    }

    pub fn database_copy(&self) -> DatabaseCopy {
        let cluster = self.cluster.clone().filter(|_| self.database == ScenarioDatabase::Postgres);
        DatabaseCopy(cluster.map(|cluster| (cluster, self.database_name.clone())))
    }
}
