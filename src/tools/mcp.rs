//! MCP servers: programs and addresses that offer tools. This module starts, supervises, restarts and stops them.
//!
//! `config` describes a server and its transport, `authorization` is the port to its access tokens, `supervisor` is the
//! task that runs one, `server` the handle that others hold, `call` one tool call. `lifecycle` chooses the handshake.
//! `program`, `guard`, `lines` and `pipe` implement the stdio transport; `web`, `http_client`, `http_events`,
//! `http_session` and `event_stream` the HTTP transports. `catalog` lists the resources and prompts of a server and reads
//! the former, `prompt` gets the text of the latter, `completion` suggests values for their arguments, and `app_view`
//! reads the pages of its tools. `json_repair`, `listing` and `content` parse what a server sends, `listener` receives its
//! notifications, which `subscription` asks for, `elicitation` its questions, and `required_input` what it needs before it
//! answers; `error_messages`, `sanitizer` and `log` clean its text, and `secrets` collects the credentials to redact.

mod app_view;
mod authorization;
mod call;
pub mod catalog;
pub mod completion;
mod config;
mod content;
mod elicitation;
mod error_messages;
mod event_stream;
pub mod guard;
mod http_client;
mod http_events;
mod http_session;
mod json_repair;
mod lifecycle;
mod lines;
mod listener;
mod listing;
mod log;
mod pipe;
mod program;
pub mod prompt;
mod required_input;
mod sanitizer;
mod secrets;
mod server;
mod subscription;
mod supervisor;
mod web;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Map, Value};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;

pub use self::authorization::{AccessTokens, RequestRefusal, ServerAuthorization, SignInNeed};
use self::catalog::{ResourceContent, ServerCatalog};
use self::completion::ArgumentDraft;
pub use self::config::{McpServerConfig, McpServerKey, McpTransport};
use self::lifecycle::Handshake;
use self::log::ServerOutputLog;
use self::prompt::{PromptAnswer, PromptRequest};
use self::server::{McpServer, McpServerSnapshot, SupervisorCommand};
pub use self::server::{McpServerState, McpServerStatus, McpTimeouts};
use self::supervisor::{McpRuntime, McpSupervisor};
use super::result::{CallOutcome, text_result};
use super::toolbox::{RunningCall, ToolCaller, ToolDescription};
use turnleaf_domain::{CodedMessage, MessageCode, UserId};
use turnleaf_platform::clock::{Clock, SystemClock};
use turnleaf_providers::http_client::HttpClient;

/// All servers that are configured now. Cheap to clone; dropping the last clone stops every server.
#[derive(Clone)]
pub struct McpServers(Arc<McpServersInner>);

struct McpServersInner {
    runtime: McpRuntime,
    servers: Mutex<BTreeMap<McpServerKey, McpServer>>,
    /// The supervisor tasks, including those of servers that are being stopped.
    tasks: TaskTracker,
    end: CancellationToken,
    _end_with_the_last: DropGuard,
}

/// Capacity of the change channel. A subscriber that lags behind reloads the status of every server.
const UNREAD: usize = 64;

impl McpServers {
    pub fn new() -> Self {
        // Without a path there is no guard program; starting a program then reports that error.
        Self::with_guard(std::env::current_exe().unwrap_or_default(), McpTimeouts::default(), Arc::new(SystemClock))
    }

    /// Creates the registry with `guard` as the executable whose `guard` command runs between Turnleaf and the
    /// programs of servers. This is Turnleaf's own executable, except in tests.
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

    /// Starts a server, or restarts it with another configuration and ends its running calls. Returns at once
    /// without waiting for the start.
    pub fn put(&self, key: McpServerKey, config: McpServerConfig) {
        if let Some(before) = self.start(key, config) {
            before.end.cancel();
        }
    }

    /// Like [`Self::put`], but the running calls of the previous server finish first.
    pub fn replace(&self, key: McpServerKey, config: McpServerConfig) {
        if let Some(before) = self.start(key, config) {
            self.end_after_calls(before);
        }
    }

    /// Returns true if a server runs with this configuration.
    pub fn has_config(&self, key: &McpServerKey, config: &McpServerConfig) -> bool {
        self.find(key).is_some_and(|server| server.config.is_same_as(config))
    }

    /// Drains a server: no further call reaches it, and it stops when the running calls have finished.
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
            // This wait is bounded: a shutdown stops every server, and every call has its own time limit.
            server.end.run_until_cancelled(server.calls.wait()).await;
            server.end.cancel();
        });
    }

    /// Starts a server and returns the one that it replaces.
    fn start(&self, key: McpServerKey, config: McpServerConfig) -> Option<McpServer> {
        let config = Arc::new(config);
        let (commands, received) = mpsc::unbounded_channel();
        let (current, seen) = watch::channel(McpServerSnapshot {
            state: McpServerState::Starting,
            since: self.0.runtime.clock.now(),
            problem: None,
            implementation: None,
            tools: Arc::default(),
            unusable: Arc::default(),
            instructions: None,
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
            handshake: Handshake::first(),
        };
        self.0.tasks.spawn(keeper.run());
        let (patience, calls) = (self.0.runtime.patience, TaskTracker::new());
        let server = McpServer { config, secrets, patience, commands, current: seen, end, log, calls };
        self.lock_servers().insert(key, server)
    }

    /// Stops a server and removes it.
    pub fn remove(&self, key: &McpServerKey) {
        let removed = self.lock_servers().remove(key);
        if let Some(server) = removed {
            server.end.cancel();
            let _ = self.0.runtime.changed.send(key.clone());
        }
    }

    /// Restarts a server regardless of its earlier failures.
    pub fn restart(&self, key: &McpServerKey) {
        if let Some(server) = self.find(key) {
            server.send_command(SupervisorCommand::Restart);
        }
    }

    pub fn status(&self, key: &McpServerKey) -> Option<McpServerStatus> {
        self.find(key).map(|server| server.status())
    }

    /// Returns the full names of the tools that the servers of an owner list and that cannot be used.
    pub fn unusable_tools(&self, owner: UserId) -> Vec<String> {
        let is_of_owner = |key: &McpServerKey| key.owner.is_none_or(|of| of == owner);
        let mut names = Vec::new();
        for (key, server) in self.lock_servers().iter().filter(|(key, _)| is_of_owner(key)) {
            let unusable = server.current.borrow().unusable.clone();
            names.extend(unusable.iter().map(|tool| format!("{}/{}", key.server, tool.tool)));
        }
        names
    }

    /// Returns why the owner has to sign in to a server, with the name of the server.
    pub fn sign_in_need(&self, key: &McpServerKey) -> Option<(SignInNeed, String)> {
        let server = self.find(key)?;
        Some((server.config.sign_in_need()?, server.config.name.clone()))
    }

    /// Forgets why the owner had to sign in to a server, so that it is asked again.
    pub fn clear_sign_in_need(&self, key: &McpServerKey) {
        if let Some(authorization) = self.find(key).and_then(|server| server.config.authorization.clone()) {
            authorization.clear_need();
        }
    }

    /// Returns the tools of a server as last listed; waits for a server that is starting, at most for the start
    /// limit. `None` if there is no such server.
    pub async fn tools(&self, key: &McpServerKey) -> Option<Vec<ToolDescription>> {
        let server = self.find(key)?;
        Some(server.tools().await)
    }

    /// Wakes those of these servers that have failed, and waits for all to be ready, at most this long.
    pub async fn wake(&self, keys: impl IntoIterator<Item = McpServerKey>, limit: Duration) {
        let found: Vec<McpServer> = keys.into_iter().filter_map(|key| self.find(&key)).collect();
        join_all(found.iter().map(|server| server.wake(limit))).await;
    }

    /// Subscribes to changes; each message is the key of a server whose list or state changed.
    pub fn subscribe_changes(&self) -> broadcast::Receiver<McpServerKey> {
        self.0.runtime.changed.subscribe()
    }

    /// Calls a tool. The call wakes a server that has failed.
    pub fn call(
        &self,
        key: &McpServerKey,
        tool: &str,
        arguments: Map<String, Value>,
        caller: ToolCaller,
    ) -> RunningCall {
        match self.find(key) {
            Some(server) => call::start(server, tool.to_owned(), arguments, caller.owner),
            None => RunningCall::from_result(text_result(CallOutcome::Unavailable, "this server is not connected")),
        }
    }

    /// Returns the resources and prompts of a server, as last listed.
    ///
    /// # Errors
    /// The reason why they are unknown, as a part of a sentence.
    pub async fn catalog(&self, key: &McpServerKey) -> Result<Arc<ServerCatalog>, CodedMessage> {
        self.find(key).ok_or_else(not_connected)?.catalog().await
    }

    /// Reads a resource of a server.
    ///
    /// # Errors
    /// The reason why it cannot be read, as a part of a sentence.
    pub async fn read_resource(&self, key: &McpServerKey, uri: &str) -> Result<ResourceContent, CodedMessage> {
        self.find(key).ok_or_else(not_connected)?.read_resource(uri).await
    }

    /// Reads a resource of a server for one of its pages, which is told all of its contents.
    ///
    /// # Errors
    /// The reason why it cannot be read, as a part of a sentence.
    pub async fn read_resource_for_view(&self, key: &McpServerKey, uri: &str) -> Result<Value, CodedMessage> {
        self.find(key).ok_or_else(not_connected)?.read_resource_for_view(uri).await
    }

    /// Returns the text of a prompt of a server, or what the server asks first.
    ///
    /// # Errors
    /// The reason why there is none, as a part of a sentence.
    pub async fn prompt(&self, key: &McpServerKey, request: PromptRequest) -> Result<PromptAnswer, CodedMessage> {
        self.find(key).ok_or_else(not_connected)?.prompt(request).await
    }

    /// Returns values that a server suggests for an argument.
    ///
    /// # Errors
    /// The reason why it does not answer, as a part of a sentence.
    pub async fn suggestions(&self, key: &McpServerKey, draft: ArgumentDraft) -> Result<Vec<String>, CodedMessage> {
        self.find(key).ok_or_else(not_connected)?.suggestions(draft).await
    }

    /// Stops all servers and returns when none of their tasks runs. No server can be started afterwards.
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

fn not_connected() -> CodedMessage {
    MessageCode::ServerNotStarted.into()
}

impl Default for McpServers {
    fn default() -> Self {
        Self::new()
    }
}
