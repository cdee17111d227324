//! One server as others see it: how it is now, its connection, and what it can be told. A task of its own keeps it.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Duration, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::ServerConfig;
use super::listener::Listener;
use super::log::Log;
use super::pipe::Answers;
use crate::toolbox::Described;
use turnleaf_domain::limits;
use turnleaf_providers::redact::Secrets;

/// How long a server may take, and how often it is begun anew.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// Until it is there with its list.
    pub start: Duration,
    /// Until a call that was cancelled has let go.
    pub stop: Duration,
    /// Before it is begun anew, the first time; twice as long each further time, up to the second.
    pub backoff: (Duration, Duration),
    /// Failures within this time add up; after it, one that was given up is tried once more.
    pub window: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            start: limits::TOOL_START,
            stop: limits::TOOL_STOP,
            backoff: (limits::TOOL_BACKOFF_FIRST, limits::TOOL_BACKOFF_MAX),
            window: limits::TOOL_RESTART_WINDOW,
        }
    }
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

/// How a server is now.
#[derive(Clone)]
pub struct Current {
    pub state: State,
    pub since: DateTime<Utc>,
    pub problem: Option<String>,
    pub implementation: Option<String>,
    /// As it was last listed, also while it is not there.
    pub tools: Arc<Vec<Described>>,
    pub connection: Option<Arc<Connection>>,
}

/// A conversation with a server that is there.
pub struct Connection {
    /// Counts the connections of one server, so that a late complaint about an earlier one is told apart.
    pub number: u64,
    pub peer: Peer<RoleClient>,
    pub listener: Listener,
    /// As many calls as may run at once.
    pub slots: Arc<Semaphore>,
    /// What a program has answered. Nothing for HTTP, where leaving a call is enough.
    pub answers: Option<Answers>,
    /// How it ended, once it has.
    pub over: watch::Receiver<Option<String>>,
}

/// What a server's task is told.
pub enum Command {
    /// By a person: whatever happened before.
    Restart,
    /// By a call that finds it failed.
    Wanted,
    /// A call on this connection does not let go.
    Stuck(u64),
    /// This connection is of no more use, and why.
    Lost(u64, String),
    /// What this connection's server offers now.
    Listed(u64, Result<Vec<Described>, String>),
}

/// Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub config: Arc<ServerConfig>,
    /// What it is reached with: it may repeat it.
    pub secrets: Secrets,
    pub patience: Patience,
    pub commands: mpsc::UnboundedSender<Command>,
    pub current: watch::Receiver<Current>,
    pub end: CancellationToken,
    pub log: Log,
    /// The calls that run.
    pub calls: TaskTracker,
}

impl Server {
    pub fn tell(&self, command: Command) {
        // Its task is gone only when the server is.
        let _ = self.commands.send(command);
    }

    pub fn status(&self) -> Status {
        let current = self.current.borrow().clone();
        Status {
            state: current.state,
            since: current.since,
            problem: current.problem.map(|problem| self.secrets.redact_known(problem)),
            implementation: current.implementation.map(|own| self.secrets.redact_known(own)),
            log: self.log.text(),
            tools: current.tools.to_vec(),
        }
    }

    /// Its list; waits while it starts.
    pub async fn tools(&self) -> Vec<Described> {
        let mut current = self.current.clone();
        let started = current.wait_for(|current| current.state != State::Starting);
        // What was known before counts where it does not start.
        let _ = timeout(self.patience.start, started).await;
        self.current.borrow().tools.to_vec()
    }

    /// The connection; waits for one that starts, and begins one that failed.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub async fn connection(&self) -> Result<Arc<Connection>, String> {
        let mut current = self.current.clone();
        let mut is_wanted = false;
        // One that is being ended takes that long before it is begun.
        let wait = self.patience.start + 2 * self.patience.stop;
        let found = timeout(wait, async {
            loop {
                let now = current.borrow_and_update().clone();
                let problem = || now.problem.clone().unwrap_or_else(|| "it failed".into());
                match now.state {
                    State::Ready => {
                        if let Some(connection) = now.connection {
                            return Ok(connection);
                        }
                    }
                    State::Starting => {}
                    State::GivenUp => return Err(problem()),
                    State::Failed if is_wanted => return Err(problem()),
                    State::Failed => {
                        is_wanted = true;
                        self.tell(Command::Wanted);
                    }
                }
                if current.changed().await.is_err() {
                    return Err("it was taken away".into());
                }
            }
        });
        found.await.unwrap_or_else(|_| Err("it takes too long to start".into()))
    }
}
