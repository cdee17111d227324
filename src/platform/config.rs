//! The configuration: one value, read once at start, from the flags, the environment and one TOML file, in this order
//! of precedence, with defaults below them (contract.md 2). One file a concern lies in `config/`.

pub mod binding;
pub mod database;
pub mod drain;
pub mod environment;
mod error;
pub mod file;
mod flags;
pub mod listen;
pub mod logging;
pub mod masked_config;
pub mod presets;
pub mod prices;
pub mod providers;
pub mod security;
pub mod setting;
pub mod storage;
pub mod tool_servers;

use std::path::PathBuf;

pub use error::ConfigError;
pub use flags::CliFlags;

use crate::config::database::DatabaseUrl;
use crate::config::drain::DrainSettings;
use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::listen::ListenAddress;
use crate::config::logging::LoggingSettings;
use crate::config::providers::ConfiguredProviders;
use crate::config::security::{AuthMode, SecuritySettings};
use crate::config::setting::SourcedSetting;
use crate::config::tool_servers::ToolServerConfig;
use crate::price::ModelPrice;
use turnleaf_domain::byte_size::ByteSize;

/// Everything that can be set from outside.
#[derive(Debug, Clone)]
pub struct Config {
    /// The file that was read, if there was one.
    pub file: Option<PathBuf>,
    pub listen: ListenAddress,
    pub data_dir: SourcedSetting<PathBuf>,
    pub database: SourcedSetting<DatabaseUrl>,
    /// Whether the providers' raw bytes are kept.
    pub store_raw: SourcedSetting<bool>,
    /// The free space on the disk of the data directory below which nothing new begins; 0 is no bound.
    pub min_free_disk: SourcedSetting<ByteSize>,
    /// What each person may keep in all; 0 is no bound.
    pub quota: SourcedSetting<ByteSize>,
    pub providers: ConfiguredProviders,
    /// What models cost, beside the list that comes with this version.
    pub prices: Vec<ModelPrice>,
    /// Programs and addresses that offer tools to every chat.
    pub tool_servers: Vec<ToolServerConfig>,
    pub security: SecuritySettings,
    pub drain: DrainSettings,
    pub logging: LoggingSettings,
    /// A directory that holds the built site, instead of the one inside the binary. For development.
    pub site_root: Option<PathBuf>,
}

impl Config {
    /// Reads the configuration. Touches only the files that it names; listens on nothing and resolves no name.
    pub fn load(flags: &CliFlags, environment: &Environment) -> Result<Self, ConfigError> {
        let path = file::locate(flags, environment)?;
        let file = path.as_deref().map(file::read).transpose()?.unwrap_or_default();
        Self::compose(flags, environment, path, file)
    }

    fn compose(
        flags: &CliFlags,
        environment: &Environment,
        path: Option<PathBuf>,
        mut file: ConfigFile,
    ) -> Result<Self, ConfigError> {
        let security = SecuritySettings::read(environment, &file)?;
        let is_public = security.public_url.as_ref().is_some_and(|url| !url.is_loopback());
        let data_dir = storage::data_dir(flags, environment, file.data_dir.clone())?;
        Ok(Self {
            listen: ListenAddress::read(flags, environment, &file)?,
            database: database::read_database_url(flags, environment, &file, &data_dir.value)?,
            store_raw: storage::store_raw(environment, &file)?,
            min_free_disk: storage::min_free_disk(environment, &file)?,
            quota: storage::quota(environment, &file)?,
            drain: drain::read(environment, &file, is_public || security.auth.value == AuthMode::Proxy)?,
            security,
            logging: LoggingSettings::read(environment, &file)?,
            site_root: environment.text("TURNLEAF_SITE_ROOT").map(PathBuf::from),
            tool_servers: tool_servers::read(std::mem::take(&mut file.tool_servers), environment)?,
            prices: prices::read(std::mem::take(&mut file.prices))?,
            providers: ConfiguredProviders::read(environment, file)?,
            data_dir,
            file: path,
        })
    }
}
