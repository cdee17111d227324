//! The database URL. Unknown schemes are rejected, so that a typo does not silently create a new SQLite file.

use std::fmt;
use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;

use crate::config::environment::{Environment, read_secret_file};
use crate::config::file::ConfigFile;
use crate::config::setting::{SettingSource, SourcedSetting};
use crate::config::{CliFlags, ConfigError};

/// A database URL. It may contain a password, so `Display` and `Debug` mask it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Accepts `sqlite:` and `postgres:` URLs.
    pub fn new(url: impl Into<String>) -> Result<Self, ConfigError> {
        let url = url.into();
        let known = ["sqlite:", "postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
        if known {
            Ok(Self(url))
        } else {
            Err(ConfigError::new("the database URL must start with sqlite:// or postgres://"))
        }
    }

    /// Returns the URL with its password. For connecting only.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns true for a SQLite file, which only one process may use.
    pub fn is_sqlite(&self) -> bool {
        self.0.starts_with("sqlite:")
    }

    /// Returns the file of a SQLite URL.
    pub fn sqlite_path(&self) -> Option<PathBuf> {
        let rest = self.0.strip_prefix("sqlite:")?;
        let rest = rest.strip_prefix("//").unwrap_or(rest);
        rest.split('?').next().filter(|path| !path.is_empty()).map(PathBuf::from)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query may contain a password too.
        let shown = self.0.split('?').next().unwrap_or_default();
        match shown.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?))) {
            Some((scheme, (user, host))) => {
                let user = user.split(':').next().unwrap_or_default();
                write!(f, "{scheme}://{user}:********@{host}")
            }
            None => f.write_str(shown),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({self})")
    }
}

/// Reads the database URL; the default is a SQLite file in the data directory.
pub fn read_database_url(
    flags: &CliFlags,
    environment: &Environment,
    file: &ConfigFile,
    data_dir: &Path,
) -> Result<SourcedSetting<DatabaseUrl>, ConfigError> {
    let from_environment = environment.secret("DATABASE_URL")?.map(|url| url.expose_secret().to_owned());
    let from_file = match &file.database_url_file {
        Some(path) => Some(read_secret_file("database_url_file", path)?.expose_secret().to_owned()),
        None => file.database_url.clone(),
    };
    SourcedSetting::first_set(
        [
            (SettingSource::Flag("--database"), flags.database.clone()),
            (SettingSource::Environment("DATABASE_URL"), from_environment),
            (SettingSource::File("database_url"), from_file),
        ],
        || format!("sqlite://{}", data_dir.join("turnleaf.db").display()),
    )
    .try_map(|url, source| {
        DatabaseUrl::new(url).map_err(|error| ConfigError::new(format!("{error} (set by {source})")))
    })
}
