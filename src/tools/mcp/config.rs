//! A server as it is configured: whose it is, how it is reached, and how long its calls may take.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use turnleaf_domain::UserId;

/// Which server: one of the configuration file is everybody's, others belong to who connected them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpServerKey {
    pub owner: Option<UserId>,
    /// As [`ToolOrigin::Server`](turnleaf_domain::tool::ToolOrigin) names it.
    pub server: String,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum McpTransport {
    /// A program of the configuration file: `argv`, no shell, and no variables but these and the few that every program
    /// needs.
    Program { argv: Vec<String>, env: BTreeMap<String, String>, folder: Option<PathBuf> },
    /// Streamable HTTP.
    Http { url: url::Url, headers: Vec<(String, SecretString)>, local_network: bool },
}

/// A server as it is configured.
#[derive(Debug, Clone)]
pub struct McpServerConfig {
    pub name: String,
    pub transport: McpTransport,
    /// How long a call may be silent, and how long it may take in all; `limits` where nothing is said.
    pub idle: Option<Duration>,
    pub total: Option<Duration>,
}
