//! MCP servers: programs and addresses that offer tools. Each is begun, watched, begun anew and ended here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use super::result::said;
use super::toolbox::{Caller, Described, Fate, Running};
use crate::domain::UserId;

/// Which server: one of the configuration file is everybody's, others belong to who connected them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerKey {
    pub owner: Option<UserId>,
    /// As [`ToolOrigin::Server`](crate::domain::tool::ToolOrigin) names it.
    pub server: String,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// A program of the configuration file: `argv`, no shell, and no variables but these and the few that every program
    /// needs.
    Program { argv: Vec<String>, env: BTreeMap<String, String>, folder: Option<PathBuf> },
    /// Streamable HTTP.
    Http { url: url::Url, headers: Vec<(String, SecretString)>, local_network: bool },
}

/// A server as it is configured.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    pub name: String,
    pub transport: Transport,
    /// How long a call may be silent, and how long it may take in all; `limits` where nothing is said.
    pub idle: Option<std::time::Duration>,
    pub total: Option<std::time::Duration>,
}

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Starting,
    Ready,
    /// It could not be begun, or went away; it is begun again by itself, or when it is next asked.
    Failed,
    /// It failed too often: begun again when a person says so, or after a while.
    GivenUp,
}

/// A server as settings show it.
#[derive(Debug, Clone)]
pub struct Status {
    pub state: State,
    pub since: DateTime<Utc>,
    /// What is wrong, in a sentence.
    pub problem: Option<String>,
    /// What it calls itself, with its version.
    pub implementation: Option<String>,
    /// The end of what it said beside the protocol, cleaned.
    pub log: String,
    pub tools: Vec<Described>,
}

/// All servers that are configured now.
#[derive(Clone)]
pub struct Servers {
    changed: broadcast::Sender<ServerKey>,
}

impl Servers {
    pub fn new() -> Self {
        Self { changed: broadcast::Sender::new(64) }
    }

    /// Begins a server, or begins it anew with another configuration. Gives at once; nobody waits for its start.
    pub fn put(&self, key: ServerKey, config: ServerConfig) {
        let _ = (key, config);
    }

    /// Ends it and forgets it.
    pub fn remove(&self, key: &ServerKey) {
        let _ = key;
    }

    /// Begins it anew, whatever happened before.
    pub fn restart(&self, key: &ServerKey) {
        let _ = key;
    }

    pub fn status(&self, key: &ServerKey) -> Option<Status> {
        let _ = key;
        None
    }

    /// What it offers, as far as it is known; waits for a server that starts, at most the start limit.
    pub async fn tools(&self, key: &ServerKey) -> Option<Vec<Described>> {
        let _ = key;
        None
    }

    /// Names every server whose list or state changed.
    pub fn changed(&self) -> broadcast::Receiver<ServerKey> {
        self.changed.subscribe()
    }

    pub fn call(&self, key: &ServerKey, tool: &str, arguments: Map<String, Value>, caller: Caller) -> Running {
        let _ = (key, tool, arguments, caller);
        Running::over(said(Fate::Unavailable, "this server is not there"))
    }

    /// Ends all of them; gives when nothing of theirs runs any more.
    pub async fn shut_down(&self) {}
}

impl Default for Servers {
    fn default() -> Self {
        Self::new()
    }
}
