//! MCP servers: programs and addresses that offer tools. Each is begun, watched, begun anew and ended here.
//!
//! `config` is what a server is and how it is reached, `keeper` the task that keeps one, `server` what others see of it,
//! `call` a call. `program`, `guard`, `lines`
//! and `pipe` are servers that are programs, `web` those that are addresses; `listing` and `content` read what a server
//! says, `listener` is what Turnleaf offers to it, and `broken`, `clean` and `log` are what its text goes through.

mod broken;
mod call;
mod clean;
mod config;
mod content;
pub mod guard;
mod keeper;
mod lines;
mod listener;
mod listing;
mod log;
mod pipe;
mod program;
mod secrets;
mod server;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use self::config::{ServerConfig, ServerKey, Transport};
use self::keeper::{Keeper, Means};
use self::log::Log;
use self::server::{Command, Current, Server};
pub use self::server::{Patience, State, Status};
use super::result::{Fate, said};
use super::toolbox::{Caller, Described, Running};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::http_client::HttpClient;

/// All servers that are configured now. Cheap to clone; all of them end with the last clone.
#[derive(Clone)]
pub struct Servers(Arc<Kept>);

struct Kept {
    means: Means,
    servers: Mutex<BTreeMap<ServerKey, Server>>,
    /// The tasks that keep them, also of those that are being ended.
    tasks: TaskTracker,
    end: CancellationToken,
    _end_with_the_last: DropGuard,
}

/// Changes that nobody has read yet; whoever falls behind looks at everything.
const UNREAD: usize = 64;

impl Servers {
    pub fn new() -> Self {
        // Without a path there is no program to guard with, and starting one says so.
        Self::with(std::env::current_exe().unwrap_or_default(), Patience::default(), Arc::new(SystemClock))
    }

    /// With `guard` as the program whose command `guard` stands between Turnleaf and the programs of servers: this very
    /// program, except in tests.
    pub fn with(guard: PathBuf, patience: Patience, clock: Arc<dyn Clock>) -> Self {
        let changed = broadcast::Sender::new(UNREAD);
        let end = CancellationToken::new();
        Self(Arc::new(Kept {
            means: Means { guard, http: HttpClient::default(), clock, patience, changed },
            servers: Mutex::default(),
            tasks: TaskTracker::new(),
            _end_with_the_last: end.clone().drop_guard(),
            end,
        }))
    }

    /// Begins a server, or begins it anew with another configuration. Gives at once; nobody waits for its start.
    pub fn put(&self, key: ServerKey, config: ServerConfig) {
        if let Some(before) = self.begin(key, config) {
            before.end.cancel();
        }
    }

    /// The same, but calls that run on the one before end first.
    pub fn replace(&self, key: ServerKey, config: ServerConfig) {
        if let Some(before) = self.begin(key, config) {
            self.end_after_calls(before);
        }
    }

    /// Takes a server away: no further call reaches it, and it ends when those that run have ended.
    pub fn retire(&self, key: &ServerKey) {
        let retired = self.all().remove(key);
        if let Some(server) = retired {
            self.end_after_calls(server);
            let _ = self.0.means.changed.send(key.clone());
        }
    }

    fn end_after_calls(&self, server: Server) {
        server.calls.close();
        self.0.tasks.spawn(async move {
            // A shutdown ends everything, and every call has a limit of its own.
            server.end.run_until_cancelled(server.calls.wait()).await;
            server.end.cancel();
        });
    }

    /// Begins a server and gives the one that was there before.
    fn begin(&self, key: ServerKey, config: ServerConfig) -> Option<Server> {
        let config = Arc::new(config);
        let (commands, received) = mpsc::unbounded_channel();
        let (current, seen) = watch::channel(Current {
            state: State::Starting,
            since: self.0.means.clock.now(),
            problem: None,
            implementation: None,
            tools: Arc::default(),
            connection: None,
        });
        let secrets = config.secrets();
        let (end, log) = (self.0.end.child_token(), Log::without(secrets.clone()));
        let keeper = Keeper {
            key: key.clone(),
            config: config.clone(),
            means: self.0.means.clone(),
            commands: received,
            own: commands.downgrade(),
            current,
            end: end.clone(),
            secrets: secrets.clone(),
            log: log.clone(),
        };
        self.0.tasks.spawn(keeper.run());
        let (patience, calls) = (self.0.means.patience, TaskTracker::new());
        let server = Server { config, secrets, patience, commands, current: seen, end, log, calls };
        self.all().insert(key, server)
    }

    /// Ends it and forgets it.
    pub fn remove(&self, key: &ServerKey) {
        let removed = self.all().remove(key);
        if let Some(server) = removed {
            server.end.cancel();
            let _ = self.0.means.changed.send(key.clone());
        }
    }

    /// Begins it anew, whatever happened before.
    pub fn restart(&self, key: &ServerKey) {
        if let Some(server) = self.find(key) {
            server.tell(Command::Restart);
        }
    }

    pub fn status(&self, key: &ServerKey) -> Option<Status> {
        self.find(key).map(|server| server.status())
    }

    /// What it offers, as far as it is known; waits for a server that starts, at most the start limit. `None` when there
    /// is no such server.
    pub async fn tools(&self, key: &ServerKey) -> Option<Vec<Described>> {
        let server = self.find(key)?;
        Some(server.tools().await)
    }

    /// Names every server whose list or state changed.
    pub fn changed(&self) -> broadcast::Receiver<ServerKey> {
        self.0.means.changed.subscribe()
    }

    /// Calls a tool. A server that failed is begun for it.
    pub fn call(&self, key: &ServerKey, tool: &str, arguments: Map<String, Value>, _caller: Caller) -> Running {
        match self.find(key) {
            Some(server) => call::begin(server, tool.to_owned(), arguments),
            None => Running::over(said(Fate::Unavailable, "this server is not there")),
        }
    }

    /// Ends all of them; gives when nothing of theirs runs any more. None can be begun afterwards.
    pub async fn shut_down(&self) {
        self.all().clear();
        self.0.end.cancel();
        self.0.tasks.close();
        self.0.tasks.wait().await;
    }

    fn find(&self, key: &ServerKey) -> Option<Server> {
        self.all().get(key).cloned()
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<ServerKey, Server>> {
        self.0.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Servers {
    fn default() -> Self {
        Self::new()
    }
}
