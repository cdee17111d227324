//! One server as others see it: how it is now, its connection, and what it can be told. A task of its own keeps it.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Duration, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::config::McpServerConfig;
use super::listener::McpListener;
use super::log::ServerOutputLog;
use super::pipe::PendingAnswers;
use crate::toolbox::ToolDescription;
use turnleaf_domain::limits;
use turnleaf_providers::redaction::SecretSet;

/// How long a server may take, and how often it is begun anew.
#[derive(Debug, Clone, Copy)]
pub struct McpTimeouts {
    /// Until it is there with its list.
    pub start: Duration,
    /// Until a call that was cancelled has let go.
    pub stop: Duration,
    /// Before it is begun anew, the first time; twice as long each further time, up to the second.
    pub backoff: (Duration, Duration),
    /// Failures within this time add up; after it, one that was given up is tried once more.
    pub window: Duration,
}

impl Default for McpTimeouts {
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
pub enum McpServerState {
    Starting,
    Ready,
    /// It could not be begun, or went away; it is begun again by itself, or when it is next asked.
    Failed,
    /// It failed too often: begun again when a person says so, or after a while.
    GivenUp,
}

/// A server as settings show it.
#[derive(Debug, Clone)]
pub struct McpServerStatus {
    pub state: McpServerState,
    pub since: DateTime<Utc>,
    /// What is wrong, in a sentence.
    pub problem: Option<String>,
    /// What it calls itself, with its version.
    pub implementation: Option<String>,
    /// The end of what it said beside the protocol, cleaned.
    pub log: String,
    pub tools: Vec<ToolDescription>,
}

/// How a server is now.
#[derive(Clone)]
pub struct McpServerSnapshot {
    pub state: McpServerState,
    pub since: DateTime<Utc>,
    pub problem: Option<String>,
    pub implementation: Option<String>,
    /// As it was last listed, also while it is not there.
    pub tools: Arc<Vec<ToolDescription>>,
    pub connection: Option<Arc<McpConnection>>,
}

/// A conversation with a server that is there.
pub struct McpConnection {
    /// Counts the connections of one server, so that a late complaint about an earlier one is told apart.
    pub number: u64,
    pub peer: Peer<RoleClient>,
    pub listener: McpListener,
    /// As many calls as may run at once.
    pub slots: Arc<Semaphore>,
    /// What a program has answered. Nothing for HTTP, where leaving a call is enough.
    pub answers: Option<PendingAnswers>,
    /// How it ended, once it has.
    pub exit: watch::Receiver<Option<String>>,
}

/// What a server's task is told.
pub enum SupervisorCommand {
    /// By a person: whatever happened before.
    Restart,
    /// By a call that finds it failed.
    Wake,
    /// A call on this connection does not let go.
    Stuck(u64),
    /// This connection is of no more use, and why.
    Lost(u64, String),
    /// What this connection's server offers now.
    Listed(u64, Result<Vec<ToolDescription>, String>),
}

/// Cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    pub config: Arc<McpServerConfig>,
    /// What it is reached with: it may repeat it.
    pub secrets: SecretSet,
    pub patience: McpTimeouts,
    pub commands: mpsc::UnboundedSender<SupervisorCommand>,
    pub current: watch::Receiver<McpServerSnapshot>,
    pub end: CancellationToken,
    pub log: ServerOutputLog,
    /// The calls that run.
    pub calls: TaskTracker,
}

impl McpServer {
    pub fn send_command(&self, command: SupervisorCommand) {
        // Its task is gone only when the server is.
        let _ = self.commands.send(command);
    }

    pub fn status(&self) -> McpServerStatus {
        let current = self.current.borrow().clone();
        McpServerStatus {
            state: current.state,
            since: current.since,
            problem: current.problem.map(|problem| self.secrets.redact_known(problem)),
            implementation: current.implementation.map(|own| self.secrets.redact_known(own)),
            log: self.log.text(),
            tools: current.tools.to_vec(),
        }
    }

    /// Its list; waits while it starts.
    pub async fn tools(&self) -> Vec<ToolDescription> {
        let mut current = self.current.clone();
        let started = current.wait_for(|current| current.state != McpServerState::Starting);
        // What was known before counts where it does not start.
        let _ = timeout(self.patience.start, started).await;
        self.current.borrow().tools.to_vec()
    }

    /// The connection; waits for one that starts, and begins one that failed.
    ///
    /// # Errors
    /// Why there is none, in a sentence.
    pub async fn connection(&self) -> Result<Arc<McpConnection>, String> {
        let mut current = self.current.clone();
        let mut is_wanted = false;
        // One that is being ended takes that long before it is begun.
        let wait = self.patience.start + 2 * self.patience.stop;
        let found = timeout(wait, async {
            loop {
                let now = current.borrow_and_update().clone();
                let problem = || now.problem.clone().unwrap_or_else(|| "it failed".into());
                match now.state {
                    McpServerState::Ready => {
                        if let Some(connection) = now.connection {
                            return Ok(connection);
                        }
                    }
                    McpServerState::Starting => {}
                    McpServerState::GivenUp => return Err(problem()),
                    McpServerState::Failed if is_wanted => return Err(problem()),
                    McpServerState::Failed => {
                        is_wanted = true;
                        self.send_command(SupervisorCommand::Wake);
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
