//! The configuration: one value, read once at start from the flags, the environment, one TOML file and the defaults,
//! in this order of precedence (`docs/reference/api.md 2`). Each concern has a file in `config/`.

pub mod binding;
pub mod database;
pub mod drain;
pub mod environment;
mod error;
pub mod file;
mod flags;
pub mod identity_providers;
pub mod listen;
pub mod logging;
pub mod masked_config;
pub mod presets;
pub mod prices;
pub mod providers;
pub mod proxy_users;
pub mod security;
pub mod setting;
pub mod storage;
pub mod tool_server_tables;
pub mod tool_servers;
pub mod web_search;

use std::path::PathBuf;

pub use error::ConfigError;
pub use flags::CliFlags;

use crate::config::database::DatabaseUrl;
use crate::config::drain::DrainSettings;
use crate::config::environment::Environment;
use crate::config::file::ConfigFile;
use crate::config::identity_providers::IdentityProviderConfig;
use crate::config::listen::ListenAddress;
use crate::config::logging::LoggingSettings;
use crate::config::providers::ConfiguredProviders;
use crate::config::security::{AuthMode, SecuritySettings};
use crate::config::setting::SourcedSetting;
use crate::config::tool_servers::ToolServerConfig;
use crate::price::ModelPrice;
use crate::search_engine::SearchEngine;
use turnleaf_domain::text::byte_size::ByteSize;

/// The whole configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The configuration file that was read, if any.
    pub file: Option<PathBuf>,
    pub listen: ListenAddress,
    pub data_dir: SourcedSetting<PathBuf>,
    pub database: SourcedSetting<DatabaseUrl>,
    /// True if the raw bytes of providers are stored.
    pub store_raw: SourcedSetting<bool>,
    /// The free disk space of the data directory below which nothing new is accepted; 0 means no bound.
    pub min_free_disk: SourcedSetting<ByteSize>,
    /// The storage quota of each person; 0 means no bound.
    pub quota: SourcedSetting<ByteSize>,
    pub providers: ConfiguredProviders,
    /// The prices of models, in addition to the list of this version.
    pub prices: Vec<ModelPrice>,
    /// The tool servers, programs or URLs, that are available to every chat.
    pub tool_servers: Vec<ToolServerConfig>,
    /// The search engine of the tool `search_web`, for everybody. If unset, each person may choose one.
    pub web_search: Option<SearchEngine>,
    pub security: SecuritySettings,
    /// The services with whose accounts people sign in.
    pub identity_providers: Vec<IdentityProviderConfig>,
    pub drain: DrainSettings,
    pub logging: LoggingSettings,
    /// A directory with the built site, used instead of the embedded one. For development.
    pub site_root: Option<PathBuf>,
}

impl Config {
    /// Loads the configuration. It reads only the files that it names, opens no socket and resolves no name.
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
            web_search: web_search::read(file.web_search.take(), environment)?,
            identity_providers: identity_providers::read(std::mem::take(&mut file.identity_providers), environment)?,
            prices: prices::read(std::mem::take(&mut file.prices))?,
            providers: ConfiguredProviders::read(environment, file)?,
            data_dir,
            file: path,
        })
    }
}
