//! The configuration file: TOML, with the names of the environment variables in lower case and without our prefix.
//! Unknown keys are errors, because a misspelled setting that is ignored is worse than none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use serde::Deserialize;

use crate::config::environment::Environment;
use crate::config::{CliFlags, ConfigError};

/// The whole file. There is no `Debug`, because it may contain secrets.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    pub listen: Option<String>,
    pub database_url: Option<String>,
    pub database_url_file: Option<String>,
    pub data_dir: Option<PathBuf>,
    pub store_raw: Option<bool>,
    pub min_free_disk: Option<SizeEntry>,
    pub quota: Option<SizeEntry>,
    pub auth: Option<String>,
    pub public_url: Option<String>,
    pub allowed_hosts: Option<Vec<String>>,
    pub trusted_proxies: Option<Vec<String>>,
    pub proxy_secret: Option<String>,
    pub proxy_secret_file: Option<String>,
    pub proxy_user_header: Option<String>,
    pub proxy_groups_header: Option<String>,
    pub proxy_create_accounts: Option<bool>,
    pub second_factor: Option<String>,
    pub drain_seconds: Option<u64>,
    pub drain_announce_seconds: Option<u64>,
    pub secret_key: Option<String>,
    pub secret_key_file: Option<String>,
    pub log: Option<String>,
    pub log_format: Option<String>,
    pub find_local_servers: Option<bool>,
    #[serde(default)]
    pub providers: Vec<ProviderEntry>,
    #[serde(default)]
    pub prices: Vec<PriceEntry>,
    #[serde(default)]
    pub tool_servers: Vec<ToolServerEntry>,
    pub web_search: Option<WebSearchEntry>,
    #[serde(default)]
    pub identity_providers: Vec<IdentityProviderEntry>,
}

/// A size in the file: a text, or a bare number of bytes. Other values are rejected later, where the setting's name
/// is known.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum SizeEntry {
    Text(String),
    Other(serde_json::Value),
}

impl SizeEntry {
    /// Returns the text that [`turnleaf_domain::text::byte_size::ByteSize`] is parsed from.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Other(value) => value.to_string(),
        }
    }
}

/// A `[[tool_servers]]` table: a program (`command`) or a URL (`url`).
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolServerEntry {
    pub id: String,
    pub name: Option<String>,
    /// The program and its arguments as a list, because no shell splits a text.
    pub command: Option<Vec<String>>,
    #[serde(default)]
    pub env: BTreeMap<String, SecretEntry>,
    /// The working directory of the program.
    pub folder: Option<PathBuf>,
    pub url: Option<String>,
    #[serde(default)]
    pub headers: BTreeMap<String, SecretEntry>,
    pub start_seconds: Option<u64>,
    pub idle_seconds: Option<u64>,
    pub total_seconds: Option<u64>,
    /// Tools that run without approval; `*` means all.
    #[serde(default)]
    pub trusted_tools: Vec<ToolTrustEntry>,
}

/// The `[web_search]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearchEntry {
    /// The engine (`SearchEngineKind::from_name`).
    pub engine: String,
    pub url: Option<String>,
    pub api_key: Option<SecretEntry>,
}

/// An `[[identity_providers]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdentityProviderEntry {
    pub id: String,
    /// The name on its button. If absent, the host of the issuer.
    pub name: Option<String>,
    pub issuer: String,
    pub client_id: String,
    pub client_secret: Option<SecretEntry>,
    pub scopes: Option<Vec<String>>,
    /// The domains whose people get an account at their first sign-in.
    #[serde(default)]
    pub allowed_domains: Vec<String>,
    /// The claim with the groups of a person.
    pub groups_claim: Option<String>,
}

/// A trusted tool: as it is when first seen, or only if its schema and description have this hash.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields, expecting = "must be a name or { name = \"...\", sha256 = \"...\" }")]
pub enum ToolTrustEntry {
    Name(String),
    Pinned { name: String, sha256: String },
}

/// A value that may be a secret: the value itself, or its location.
#[derive(Deserialize)]
#[serde(untagged, expecting = "must be a string, { file = \"...\" } or { env = \"...\" }")]
pub enum SecretEntry {
    Text(String),
    File {
        file: String,
    },
    /// The variable that contains the value.
    Env {
        env: String,
    },
}

/// A `[[prices]]` table: US dollars per million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceEntry {
    pub provider: String,
    pub model: String,
    pub input: f64,
    pub output: f64,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// A `[[providers]]` table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    pub id: String,
    pub name: Option<String>,
    /// The protocol (`ProviderApi::from_name`). If absent, that of the preset with this id, else chat completions.
    pub api: Option<String>,
    pub dialect: Option<String>,
    pub base_url: Option<String>,
    pub api_key: Option<String>,
    pub api_key_file: Option<String>,
    /// The variable that contains the key.
    pub api_key_env: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    pub default_model: Option<String>,
    /// See `ProviderEndpoint::keeps_responses`.
    #[serde(default)]
    pub keeps_responses: bool,
    /// See `RetryPolicy`.
    pub retries: Option<u32>,
    pub silence_seconds: Option<u32>,
}

/// Returns the path of the configuration file: the flag's, the environment's, else the default path if it exists. A
/// named file must exist.
pub fn locate(flags: &CliFlags, environment: &Environment) -> Result<Option<PathBuf>, ConfigError> {
    let named = flags.config.clone().or_else(|| environment.text("TURNLEAF_CONFIG").map(PathBuf::from));
    if named.is_some() {
        return Ok(named);
    }
    Ok(default_path(environment).filter(|path| path.exists()))
}

/// Returns the path of the configuration file that is used when none is named; `None` without a home directory.
pub fn default_path(environment: &Environment) -> Option<PathBuf> {
    let directory = match environment.text("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute()) {
        Some(directory) => Some(directory),
        None => etcetera::choose_base_strategy().ok().map(|strategy| strategy.config_dir()),
    };
    directory.map(|directory| directory.join("turnleaf").join("config.toml"))
}

/// Reads and parses the file at `path`.
pub fn read(path: &Path) -> Result<ConfigFile, ConfigError> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| ConfigError::new(format!("cannot read the configuration file {shown}: {error}")))?;
    parse(&text).map_err(|error| ConfigError::new(format!("the configuration file {shown}, {error}")))
}

/// Parses the text of a file. The error has the line number but not the line, which may contain a secret.
pub fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
    toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| 1 + text[..span.start.min(text.len())].matches('\n').count());
        ConfigError::new(format!("line {line}: {}", error.message()))
    })
}
