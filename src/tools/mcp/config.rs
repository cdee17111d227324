//! Configuration of a server: its owner, its transport and its timeouts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};

use super::authorization::{ServerAuthorization, SignInNeed};
use turnleaf_domain::UserId;

/// Identifies a server. One of the configuration file has no owner and is shared; others belong to the person who
/// added them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct McpServerKey {
    pub owner: Option<UserId>,
    /// The same id as in [`ToolOrigin::Server`](turnleaf_domain::tools::tool::ToolOrigin).
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
    /// The access tokens of a server over HTTP that a person can sign in to.
    pub authorization: Option<ServerAuthorization>,
}

impl McpServerConfig {
    /// Returns true if both have the same name, transport, timeouts and authorization.
    pub fn is_same_as(&self, other: &Self) -> bool {
        let is_same_authorization = match (&self.authorization, &other.authorization) {
            (Some(one), Some(other)) => one.is_same_as(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        (&self.name, self.start, self.idle, self.total) == (&other.name, other.start, other.idle, other.total)
            && self.transport.is_same_as(&other.transport)
            && is_same_authorization
    }

    /// Returns why the person has to sign in to the server.
    pub fn sign_in_need(&self) -> Option<SignInNeed> {
        self.authorization.as_ref()?.need()
    }
}

impl McpTransport {
    fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Program { argv, env, folder },
                Self::Program { argv: other_argv, env: other_env, folder: other_folder },
            ) => (argv, env, folder) == (other_argv, other_env, other_folder),
            (
                Self::Http { url, headers, local_network },
                Self::Http { url: other_url, headers: other_headers, local_network: other_local },
            ) => {
                let plain = |headers: &[(String, SecretString)]| -> Vec<(String, String)> {
                    headers.iter().map(|(name, value)| (name.clone(), value.expose_secret().to_owned())).collect()
                };
                (url, local_network) == (other_url, other_local) && plain(headers) == plain(other_headers)
            }
            _ => false,
        }
    }
}
