//! What a scenario stands on: a directory, a database of its own, the binary, and its randomness.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::installation::Installation;
use crate::own_cluster::OwnCluster;
use crate::randomness::Randomness;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    pub fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The PostgreSQL of this run.
pub struct Cluster(Mutex<OwnCluster>);

impl Cluster {
    /// `None` where PostgreSQL's programs are absent.
    pub fn start() -> Option<Self> {
        OwnCluster::begin().map(|cluster| Self(Mutex::new(cluster)))
    }

    fn with<T>(&self, work: impl FnOnce(&mut OwnCluster) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where its own database is, from which others are made.
    pub fn url(&self) -> String {
        self.with(|cluster| cluster.url())
    }

    /// Makes an empty database.
    pub async fn database(&self, name: &str) -> String {
        self.sql(format!("CREATE DATABASE \"{name}\"")).await;
        let url = self.url();
        format!("{}/{name}", url.rsplit_once('/').unwrap().0)
    }

    /// A database that is a copy of another one, to which nobody is connected.
    pub async fn copy(&self, of: &str, name: &str) -> String {
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
pub struct DatabaseCopy(Option<(Arc<Cluster>, String)>);

impl DatabaseCopy {
    pub fn write(&self, dir: &Path) {
        if let Some((cluster, name)) = &self.0 {
            cluster.with(|cluster| cluster.dump(name, &dir.join("database.sql")));
        }
    }
}

pub struct Ground {
    pub binary: PathBuf,
    pub dir: PathBuf,
    pub database: Database,
    pub cluster: Option<Arc<Cluster>>,
    pub randomness: Randomness,
    /// The name of its database in the cluster.
    pub database_name: String,
    pub url: Option<String>,
}

impl Ground {
    pub async fn new(
        binary: PathBuf,
        dir: PathBuf,
        database: Database,
        cluster: Option<Arc<Cluster>>,
        name: &str,
        randomness: Randomness,
    ) -> Self {
        std::fs::create_dir_all(&dir).unwrap();
        let url = match (database, &cluster) {
            (Database::Postgres, Some(cluster)) => Some(cluster.database(name).await),
            _ => None,
        };
        Self { binary, dir, database, cluster, randomness, database_name: name.to_owned(), url }
    }

    /// A server on this database that asks these providers; the text is that of a configuration file.
    pub fn installation(&self, configuration: &str) -> Installation {
        Installation::new(&self.binary, &self.dir, self.url.clone(), configuration)
    }

    pub fn database_copy(&self) -> DatabaseCopy {
        let cluster = self.cluster.clone().filter(|_| self.database == Database::Postgres);
        DatabaseCopy(cluster.map(|cluster| (cluster, self.database_name.clone())))
    }
}
