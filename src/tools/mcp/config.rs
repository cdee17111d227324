//! Configuration of a server: its owner, its transport and its timeouts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use turnleaf_domain::UserId;

/// Identifies a server. One of the configuration file has no owner and is shared; others belong to the person who
/// added them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpServerKey {
    pub owner: Option<UserId>,
    /// The same id as in [`ToolOrigin::Server`](turnleaf_domain::tool::ToolOrigin).
    pub server: String,
}

/// The transport of a server.
#[derive(Debug, Clone)]
pub enum McpTransport {
    /// A program of the configuration file. `argv` is run without a shell, and the environment holds only `env` and a
    /// few variables that every program needs.
    Program { argv: Vec<String>, env: BTreeMap<String, String>, folder: Option<PathBuf> },
    /// A server that is reached by streamable HTTP.
    Http { url: url::Url, headers: Vec<(String, SecretString)>, local_network: bool },
}

/// The configuration of a server.
#[derive(Debug, Clone)]
pub struct McpServerConfig {
    pub name: String,
    pub transport: McpTransport,
    /// Timeouts of the start, and idle and total timeout of a call; the defaults of `limits` apply if they are not set.
    pub start: Option<Duration>,
    pub idle: Option<Duration>,
    pub total: Option<Duration>,
}
