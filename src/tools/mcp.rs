//! MCP servers: programs and addresses that offer tools. Each is begun, watched, begun anew and ended here.
//!
//! `config` is what a server is and how it is reached, `keeper` the task that keeps one, `server` what others see of it,
//! `call` a call. `program`, `guard`, `lines`
//! and `pipe` are servers that are programs, `web` those that are addresses; `listing` and `content` read what a server
//! says, `listener` is what Turnleaf offers to it, and `broken`, `clean` and `log` are what its text goes through.

mod call;
mod config;
mod content;
mod error_messages;
pub mod guard;
mod lines;
mod listener;
mod listing;
mod log;
mod pipe;
mod program;
mod sanitizer;
mod secrets;
mod server;
mod supervisor;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use self::config::{McpServerConfig, McpServerKey, McpTransport};
use self::log::ServerOutputLog;
use self::server::{McpServer, McpServerSnapshot, SupervisorCommand};
pub use self::server::{McpServerState, McpServerStatus, McpTimeouts};
use self::supervisor::{McpRuntime, McpSupervisor};
use super::result::{CallOutcome, text_result};
use super::toolbox::{RunningCall, ToolCaller, ToolDescription};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::http_client::HttpClient;

/// All servers that are configured now. Cheap to clone; all of them end with the last clone.
#[derive(Clone)]
pub struct McpServers(Arc<McpServersInner>);

struct McpServersInner {
    runtime: McpRuntime,
    servers: Mutex<BTreeMap<McpServerKey, McpServer>>,
    /// The tasks that keep them, also of those that are being ended.
    tasks: TaskTracker,
    end: CancellationToken,
    _end_with_the_last: DropGuard,
}

/// Changes that nobody has read yet; whoever falls behind looks at everything.
const UNREAD: usize = 64;

impl McpServers {
    pub fn new() -> Self {
        // Without a path there is no program to guard with, and starting one says so.
        Self::with_guard(std::env::current_exe().unwrap_or_default(), McpTimeouts::default(), Arc::new(SystemClock))
    }

    /// With `guard` as the program whose command `guard` stands between Turnleaf and the programs of servers: this very
    /// program, except in tests.
    pub fn with_guard(guard: PathBuf, patience: McpTimeouts, clock: Arc<dyn Clock>) -> Self {
        let changed = broadcast::Sender::new(UNREAD);
        let end = CancellationToken::new();
        Self(Arc::new(McpServersInner {
            runtime: McpRuntime { guard, http: HttpClient::default(), clock, patience, changed },
            servers: Mutex::default(),
            tasks: TaskTracker::new(),
            _end_with_the_last: end.clone().drop_guard(),
            end,
        }))
    }

    /// Begins a server, or begins it anew with another configuration. Gives at once; nobody waits for its start.
    pub fn put(&self, key: McpServerKey, config: McpServerConfig) {
        if let Some(before) = self.start(key, config) {
            before.end.cancel();
        }
    }

    /// The same, but calls that run on the one before end first.
    pub fn replace(&self, key: McpServerKey, config: McpServerConfig) {
        if let Some(before) = self.start(key, config) {
            self.end_after_calls(before);
        }
    }

    /// Takes a server away: no further call reaches it, and it ends when those that run have ended.
    pub fn retire(&self, key: &McpServerKey) {
        let retired = self.lock_servers().remove(key);
        if let Some(server) = retired {
            self.end_after_calls(server);
            let _ = self.0.runtime.changed.send(key.clone());
        }
    }

    fn end_after_calls(&self, server: McpServer) {
        server.calls.close();
        self.0.tasks.spawn(async move {
            // A shutdown ends everything, and every call has a limit of its own.
            server.end.run_until_cancelled(server.calls.wait()).await;
            server.end.cancel();
        });
    }

    /// Begins a server and gives the one that was there before.
    fn start(&self, key: McpServerKey, config: McpServerConfig) -> Option<McpServer> {
        let config = Arc::new(config);
        let (commands, received) = mpsc::unbounded_channel();
        let (current, seen) = watch::channel(McpServerSnapshot {
            state: McpServerState::Starting,
            since: self.0.runtime.clock.now(),
            problem: None,
            implementation: None,
            tools: Arc::default(),
            connection: None,
        });
        let secrets = config.secrets();
        let (end, log) = (self.0.end.child_token(), ServerOutputLog::with_secrets(secrets.clone()));
        let keeper = McpSupervisor {
            key: key.clone(),
            config: config.clone(),
            runtime: self.0.runtime.clone(),
            commands: received,
            own_sender: commands.downgrade(),
            current,
            end: end.clone(),
            secrets: secrets.clone(),
            log: log.clone(),
        };
        self.0.tasks.spawn(keeper.run());
        let (patience, calls) = (self.0.runtime.patience, TaskTracker::new());
        let server = McpServer { config, secrets, patience, commands, current: seen, end, log, calls };
        self.lock_servers().insert(key, server)
    }

    /// Ends it and forgets it.
    pub fn remove(&self, key: &McpServerKey) {
        let removed = self.lock_servers().remove(key);
        if let Some(server) = removed {
            server.end.cancel();
            let _ = self.0.runtime.changed.send(key.clone());
        }
    }

    /// Begins it anew, whatever happened before.
    pub fn restart(&self, key: &McpServerKey) {
        if let Some(server) = self.find(key) {
            server.send_command(SupervisorCommand::Restart);
        }
    }

    pub fn status(&self, key: &McpServerKey) -> Option<McpServerStatus> {
        self.find(key).map(|server| server.status())
    }

    /// What it offers, as far as it is known; waits for a server that starts, at most the start limit. `None` when there
    /// is no such server.
    pub async fn tools(&self, key: &McpServerKey) -> Option<Vec<ToolDescription>> {
        let server = self.find(key)?;
        Some(server.tools().await)
    }

    /// Names every server whose list or state changed.
    pub fn subscribe_changes(&self) -> broadcast::Receiver<McpServerKey> {
        self.0.runtime.changed.subscribe()
    }

    /// Calls a tool. A server that failed is begun for it.
    pub fn call(
        &self,
        key: &McpServerKey,
        tool: &str,
        arguments: Map<String, Value>,
        _caller: ToolCaller,
    ) -> RunningCall {
        match self.find(key) {
            Some(server) => call::start(server, tool.to_owned(), arguments),
            None => RunningCall::from_result(text_result(CallOutcome::Unavailable, "this server is not there")),
        }
    }

    /// Ends all of them; gives when nothing of theirs runs any more. None can be begun afterwards.
    pub async fn shut_down(&self) {
        self.lock_servers().clear();
        self.0.end.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn find(&self, key: &McpServerKey) -> Option<McpServer> {
        self.lock_servers().get(key).cloned()
    }

    fn lock_servers(&self) -> MutexGuard<'_, BTreeMap<McpServerKey, McpServer>> {
        self.0.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for McpServers {
    fn default() -> Self {
        Self::new()
    }
}
