//! The handle of one server: its status, its connection and its commands. A supervisor task owns the server itself.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rmcp::RoleClient;
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::{Mutex, Semaphore, mpsc, watch};
use tokio::time::{Duration, Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::app_view;
use super::authorization::SignInNeed;
use super::catalog::{self, ResourceContent, ServerCatalog};
use super::completion::{self, ArgumentDraft};
use super::config::McpServerConfig;
use super::listener::McpListener;
use super::listing::ToolList;
use super::log::ServerOutputLog;
use super::pipe::PendingAnswers;
use super::prompt::{self, PromptAnswer, PromptRequest};
use crate::toolbox::{ToolDescription, UnusableTool};
use turnleaf_domain::{CodedMessage, MessageCode, limits};
use turnleaf_providers::redaction::SecretSet;

/// Timeouts and restart backoff of a server.
#[derive(Debug, Clone, Copy)]
pub struct McpTimeouts {
    /// Limit for the start, including the first list of tools.
    pub start: Duration,
    /// Limit for a cancelled call to stop.
    pub stop: Duration,
    /// Limit for a program to answer a cancelled call, or a ping after it.
    pub pong: Duration,
    /// Exponential backoff between restarts: the first delay and its maximum.
    pub backoff: (Duration, Duration),
    /// A server that worked this long starts with the first delay again when it fails.
    pub steady: Duration,
}

impl Default for McpTimeouts {
    fn default() -> Self {
        Self {
            start: limits::TOOL_START,
            stop: limits::TOOL_STOP,
            pong: limits::TOOL_PONG,
            backoff: (limits::TOOL_BACKOFF_FIRST, limits::TOOL_BACKOFF_MAX),
            steady: limits::TOOL_BACKOFF_MAX,
        }
    }
}

/// State of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpServerState {
    Starting,
    Ready,
    /// The server did not start or went away; it restarts after a backoff, or at the next request.
    Failed,
}

/// Status of a server for the settings.
#[derive(Debug, Clone)]
pub struct McpServerStatus {
    pub state: McpServerState,
    pub since: DateTime<Utc>,
    /// Describes the problem as a part of a sentence.
    pub problem: Option<CodedMessage>,
    /// The server's own name and version.
    pub implementation: Option<String>,
    /// The end of the server's log, sanitized.
    pub log: String,
    pub tools: Vec<ToolDescription>,
    /// The tools that it lists and that cannot be used.
    pub unusable: Vec<UnusableTool>,
    /// The server's instructions for the use of its tools, sanitized.
    pub instructions: Option<String>,
    /// The reason why its owner has to sign in. A server can be ready and refuse single requests.
    pub sign_in_need: Option<SignInNeed>,
}

/// Snapshot of a server, published by its supervisor.
#[derive(Clone)]
pub struct McpServerSnapshot {
    pub state: McpServerState,
    pub since: DateTime<Utc>,
    pub problem: Option<CodedMessage>,
    pub implementation: Option<String>,
    /// The last listed tools, also while the server is down.
    pub tools: Arc<Vec<ToolDescription>>,
    pub unusable: Arc<Vec<UnusableTool>>,
    pub instructions: Option<Arc<str>>,
    pub connection: Option<Arc<McpConnection>>,
}

impl McpServerSnapshot {
    pub fn put_list(&mut self, list: ToolList) {
        (self.tools, self.unusable) = (Arc::new(list.tools), Arc::new(list.unusable));
    }
}

/// A connection to a running server.
pub struct McpConnection {
    /// Numbers the connections of one server, so that a late report about an earlier connection is ignored.
    pub number: u64,
    pub peer: Peer<RoleClient>,
    pub listener: McpListener,
    /// Limits concurrent calls.
    pub slots: Arc<Semaphore>,
    /// The pending answers of a program. `None` for HTTP, where dropping the request is enough.
    pub answers: Option<PendingAnswers>,
    /// The resources and prompts as they were listed last.
    pub catalog: Mutex<Option<ListedCatalog>>,
    /// The description of the server's exit, once it has exited.
    pub exit: watch::Receiver<Option<String>>,
}

/// The outcome of the last listing of resources and prompts.
pub struct ListedCatalog {
    /// The number of list changes before it.
    changes: u64,
    ended_at: Instant,
    outcome: Result<Arc<ServerCatalog>, CodedMessage>,
}

impl ListedCatalog {
    /// Returns whether this answers a request of this moment: the lists have not changed since, and are young. A
    /// failure answers only those who waited for it.
    fn answers(&self, changes: u64, asked_at: Instant) -> bool {
        match self.outcome {
            Ok(_) => self.changes == changes && asked_at.duration_since(self.ended_at) < limits::SERVER_CATALOG_AGE,
            Err(_) => self.ended_at >= asked_at,
        }
    }
}

/// A command to the supervisor.
pub enum SupervisorCommand {
    /// From a person: restart regardless of earlier failures.
    Restart,
    /// From a call that finds the server failed.
    Wake,
    /// A call on this connection does not react to its cancellation.
    Stuck(u64),
    /// This connection is lost, for this reason.
    Lost(u64, CodedMessage),
    /// The new tool list of this connection.
    Listed(u64, Result<ToolList, CodedMessage>),
}

/// The handle of a server. Cheap to clone.
#[derive(Clone)]
pub struct McpServer {
    pub config: Arc<McpServerConfig>,
    /// The server's credentials with the tokens that were sent, redacted from its output because it may repeat them.
    pub secrets: SecretSet,
    pub patience: McpTimeouts,
    pub commands: mpsc::UnboundedSender<SupervisorCommand>,
    pub current: watch::Receiver<McpServerSnapshot>,
    pub end: CancellationToken,
    pub log: ServerOutputLog,
    /// The running calls.
    pub calls: TaskTracker,
}

impl McpServer {
    pub fn send_command(&self, command: SupervisorCommand) {
        // The send fails only after the server was removed.
        let _ = self.commands.send(command);
    }

    fn start_limit(&self) -> Duration {
        self.config.start.unwrap_or(self.patience.start)
    }

    pub fn status(&self) -> McpServerStatus {
        let current = self.current.borrow().clone();
        McpServerStatus {
            state: current.state,
            since: current.since,
            problem: current.problem.map(|problem| problem.map_args(|value| self.secrets.redact_known(value))),
            implementation: current.implementation.map(|own| self.secrets.redact_known(own)),
            log: self.log.text(),
            tools: current.tools.to_vec(),
            unusable: current.unusable.to_vec(),
            instructions: current.instructions.map(|text| self.secrets.redact_known(text.to_string())),
            sign_in_need: self.config.sign_in_need(),
        }
    }

    /// Returns the address of the page that the server has for the results of this tool.
    pub fn view_of(&self, tool: &str) -> Option<String> {
        self.current.borrow().tools.iter().find(|known| known.tool == tool)?.view.clone()
    }

    /// Returns the credentials to redact from a result: the configured ones, and the tokens that were sent.
    pub fn result_secrets(&self) -> SecretSet {
        self.secrets.clone()
    }

    /// Returns the tools; waits while the server starts.
    pub async fn tools(&self) -> Vec<ToolDescription> {
        let mut current = self.current.clone();
        let started = current.wait_for(|current| current.state != McpServerState::Starting);
        // The last known list is returned if the server does not start in time.
        let _ = timeout(self.start_limit(), started).await;
        self.current.borrow().tools.to_vec()
    }

    /// Wakes a server that has failed, and waits until it is ready or has failed again, at most this long. One that its
    /// owner has to sign in to stays as it is.
    pub async fn wake(&self, limit: Duration) {
        if self.config.sign_in_need() == Some(SignInNeed::Token) {
            return;
        }
        let mut current = self.current.clone();
        let status_of = |current: &McpServerSnapshot| (current.state, current.since);
        let before = status_of(&current.borrow_and_update());
        if before.0 == McpServerState::Failed {
            self.send_command(SupervisorCommand::Wake);
        }
        let ended = async {
            loop {
                let now = status_of(&current.borrow_and_update());
                // The start may have been too short to be seen.
                if now.0 == McpServerState::Ready || (now.0 == McpServerState::Failed && now != before) {
                    return;
                }
                if current.changed().await.is_err() {
                    return;
                }
            }
        };
        // A server that takes longer gives its tools to the chat later.
        let _ = timeout(limit, ended).await;
    }

    /// Returns the connection; waits for a server that is starting, and wakes one that has failed.
    ///
    /// # Errors
    /// A sentence that says why there is no connection.
    pub async fn connection(&self) -> Result<Arc<McpConnection>, String> {
        let mut current = self.current.clone();
        let mut is_wanted = false;
        // A server that is being stopped takes that time before it restarts.
        let wait = self.start_limit() + 2 * self.patience.stop;
        let found = timeout(wait, async {
            loop {
                let now = current.borrow_and_update().clone();
                let problem = || now.problem.as_ref().map_or_else(|| "it failed".into(), ToString::to_string);
                match now.state {
                    McpServerState::Ready => {
                        if let Some(connection) = now.connection {
                            return Ok(connection);
                        }
                    }
                    McpServerState::Starting => {}
                    McpServerState::Failed if is_wanted => return Err(problem()),
                    McpServerState::Failed => {
                        is_wanted = true;
                        self.send_command(SupervisorCommand::Wake);
                    }
                }
                if current.changed().await.is_err() {
                    return Err("it was removed".into());
                }
            }
        });
        found.await.unwrap_or_else(|_| Err("it took too long to start".into()))
    }

    /// Returns the resources and prompts; lists them if they are unknown, have changed or are old. The listing
    /// continues when nobody waits for it any longer, so that a slow server has an answer at the next request.
    ///
    /// # Errors
    /// The reason why they are unknown, as a part of a sentence.
    pub async fn catalog(&self) -> Result<Arc<ServerCatalog>, CodedMessage> {
        let connection = self.connection().await.map_err(CodedMessage::uncoded)?;
        let (server, asked_at) = (self.clone(), Instant::now());
        let end = self.end.clone();
        let listing = self.calls.spawn(async move {
            let listing = server.list_catalog(&connection, asked_at);
            end.run_until_cancelled(listing).await.unwrap_or_else(|| Err(MessageCode::NoTimelyResponse.into()))
        });
        listing.await.unwrap_or_else(|_| Err(MessageCode::NoTimelyResponse.into()))
    }

    async fn list_catalog(
        &self,
        connection: &McpConnection,
        asked_at: Instant,
    ) -> Result<Arc<ServerCatalog>, CodedMessage> {
        // Concurrent requests wait for one list.
        let mut known = connection.catalog.lock().await;
        let changes = connection.listener.catalog_changes();
        if let Some(listed) = known.as_ref().filter(|listed| listed.answers(changes, asked_at)) {
            return listed.outcome.clone();
        }
        let outcome = self.within_limit(catalog::list(&connection.peer, &self.secrets)).await.map(Arc::new);
        *known = Some(ListedCatalog { changes, ended_at: Instant::now(), outcome: outcome.clone() });
        outcome
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// The reason why it cannot be read, as a part of a sentence.
    pub async fn read_resource(&self, uri: &str) -> Result<ResourceContent, CodedMessage> {
        let connection = self.connection().await.map_err(CodedMessage::uncoded)?;
        self.within_limit(catalog::read_resource(&connection.peer, &self.secrets, uri)).await
    }

    /// Reads a resource for a page of the server.
    ///
    /// # Errors
    /// The reason why it cannot be read, as a part of a sentence.
    pub async fn read_resource_for_view(&self, uri: &str) -> Result<Value, CodedMessage> {
        let connection = self.connection().await.map_err(CodedMessage::uncoded)?;
        self.within_limit(app_view::read_resource(&connection.peer, self.result_secrets(), uri)).await
    }

    /// Returns the text of a prompt, or the questions that the server asks first.
    ///
    /// # Errors
    /// The reason why there is none, as a part of a sentence.
    pub async fn prompt(&self, request: PromptRequest) -> Result<PromptAnswer, CodedMessage> {
        let connection = self.connection().await.map_err(CodedMessage::uncoded)?;
        let (name, secrets) = (&self.config.name, self.result_secrets());
        self.within_limit(prompt::get(&connection.peer, &secrets, name, request)).await
    }

    /// Returns suggested values of an argument.
    ///
    /// # Errors
    /// The reason why there is no answer, as a part of a sentence.
    pub async fn suggestions(&self, draft: ArgumentDraft) -> Result<Vec<String>, CodedMessage> {
        let connection = self.connection().await.map_err(CodedMessage::uncoded)?;
        self.within_limit(completion::suggest(&connection.peer, &self.secrets, draft)).await
    }

    /// Bounds a request by the idle limit of calls, because a person waits for it.
    async fn within_limit<T>(&self, request: impl Future<Output = Result<T, CodedMessage>>) -> Result<T, CodedMessage> {
        let limit = self.config.idle.unwrap_or(limits::TOOL_IDLE);
        timeout(limit, request).await.unwrap_or_else(|_| Err(MessageCode::NoTimelyResponse.into()))
    }
}
