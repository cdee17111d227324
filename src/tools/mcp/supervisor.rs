//! The supervisor task of one server: starts it, lists its tools, restarts it with backoff after failures, gives up
//! after too many, and stops it.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, Peer, RunningService};
use rmcp::transport::Transport as Wire;
use tokio::sync::{Semaphore, broadcast, mpsc, watch};
use tokio::time::{Duration, Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::config::{McpServerConfig, McpServerKey, McpTransport};
use super::listener::McpListener;
use super::log::ServerOutputLog;
use super::pipe::{PendingAnswers, PipeTransport};
use super::program::{self, GuardedProgram};
use super::server::{McpConnection, McpServerSnapshot, McpServerState, McpTimeouts, SupervisorCommand};
use super::{error_messages, listing, sanitizer, web};
use crate::toolbox::ToolDescription;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_RESTARTS};
use turnleaf_platform::clock::Clock;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::redaction::SecretSet;

/// Longest name that a server reports of itself, in bytes.
const NAME_BYTES: usize = 200;

/// Shared dependencies of all servers.
#[derive(Clone)]
pub struct McpRuntime {
    /// Turnleaf's own executable, run as `turnleaf guard` in front of each program.
    pub guard: PathBuf,
    pub http: HttpClient,
    pub clock: Arc<dyn Clock>,
    pub patience: McpTimeouts,
    pub changed: broadcast::Sender<McpServerKey>,
}

/// Runs one server until its token is cancelled.
pub struct McpSupervisor {
    pub key: McpServerKey,
    pub config: Arc<McpServerConfig>,
    pub runtime: McpRuntime,
    pub commands: mpsc::UnboundedReceiver<SupervisorCommand>,
    /// Sends commands to this supervisor from the tasks that it spawns.
    pub own_sender: mpsc::WeakUnboundedSender<SupervisorCommand>,
    pub current: watch::Sender<McpServerSnapshot>,
    pub end: CancellationToken,
    /// The server's credentials, redacted from everything that it sends.
    pub secrets: SecretSet,
    pub log: ServerOutputLog,
}

/// The reason why a connection ended.
enum ServerEnd {
    /// The server was removed or Turnleaf shuts down.
    Ended,
    /// A person requested a restart.
    Restart,
    /// A call did not react to its cancellation.
    Stuck,
    Failed {
        problem: String,
        /// The server ended by itself; the exit of its program says why.
        is_gone: bool,
    },
}

/// A server that has answered, with its first tool list.
struct StartedServer {
    service: RunningService<RoleClient, McpListener>,
    listener: McpListener,
    tools: Vec<ToolDescription>,
}

impl McpSupervisor {
    pub async fn run(mut self) {
        let mut failures: Vec<Instant> = Vec::new();
        let mut number = 0;
        while !self.end.is_cancelled() {
            number += 1;
            self.set_state(McpServerState::Starting, None);
            match self.run_once(number).await {
                ServerEnd::Ended => return,
                ServerEnd::Restart => failures.clear(),
                ServerEnd::Stuck => {}
                ServerEnd::Failed { problem, .. } => {
                    let now = Instant::now();
                    failures.retain(|at| now.duration_since(*at) < self.runtime.patience.window);
                    failures.push(now);
                    let (state, pause) = restart_policy(failures.len(), &self.runtime.patience);
                    tracing::warn!(server = %self.key.server, ?state, "a tool server failed");
                    self.log.add(&format!("({problem})"));
                    self.set_state(state, Some(problem));
                    match self.wait_before_restart(state, pause).await {
                        ServerEnd::Ended => return,
                        ServerEnd::Restart => failures.clear(),
                        // A server that was given up gets one more attempt.
                        _ if state == McpServerState::GivenUp => failures.truncate(TOOL_RESTARTS as usize - 1),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Waits for the backoff, a restart request or a wake-up.
    async fn wait_before_restart(&mut self, state: McpServerState, pause: Duration) -> ServerEnd {
        let pause = sleep(pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return ServerEnd::Ended,
                () = &mut pause => return ServerEnd::Stuck,
                command = self.commands.recv() => match command {
                    Some(SupervisorCommand::Restart) => return ServerEnd::Restart,
                    Some(SupervisorCommand::Wake) if state == McpServerState::Failed => return ServerEnd::Stuck,
                    Some(_) => {}
                    None => return ServerEnd::Ended,
                }
            }
        }
    }

    /// Runs the server once, from its start until nothing of it runs.
    async fn run_once(&mut self, number: u64) -> ServerEnd {
        let (beginning, program, answers) = match self.start_transport() {
            Ok(opened) => opened,
            Err(problem) => return ServerEnd::Failed { problem, is_gone: false },
        };
        let (over_sender, over) = watch::channel(None);
        let ended = match self.wait_for_start(beginning).await {
            Ok(begun) => self.serve(begun, number, answers, over).await,
            Err(ended) => ended,
        };
        self.current.send_modify(|current| current.connection = None);
        let exit = match (program, &ended) {
            (Some(program), ServerEnd::Failed { is_gone: true, .. }) => Some(program.wait_then_stop().await),
            (Some(program), _) => Some(program.stop(matches!(ended, ServerEnd::Stuck)).await).filter(|_| false),
            (None, _) => None,
        };
        // The send fails if no call waits for the exit.
        let _ = over_sender.send(Some(exit.clone().unwrap_or_default()));
        match (ended, exit) {
            (ServerEnd::Failed { problem, is_gone }, Some(exit)) => {
                ServerEnd::Failed { problem: format!("{problem} ({exit})"), is_gone }
            }
            (ended, _) => ended,
        }
    }

    /// Waits for the start within its limit.
    async fn wait_for_start(
        &mut self,
        beginning: BoxFuture<'static, Result<StartedServer, ServerEnd>>,
    ) -> Result<StartedServer, ServerEnd> {
        let beginning = timeout(self.runtime.patience.start, beginning);
        tokio::pin!(beginning);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return Err(ServerEnd::Ended),
                begun = &mut beginning => return begun.unwrap_or_else(|_| {
                    let problem = format!("it did not respond within {} s", self.runtime.patience.start.as_secs_f32());
                    Err(ServerEnd::Failed { problem, is_gone: false })
                }),
                command = self.commands.recv() => match command {
                    Some(SupervisorCommand::Restart) => return Err(ServerEnd::Restart),
                    Some(_) => {}
                    None => return Err(ServerEnd::Ended),
                },
            }
        }
    }

    /// Serves calls until the connection ends.
    async fn serve(
        &mut self,
        begun: StartedServer,
        number: u64,
        answers: Option<PendingAnswers>,
        over: watch::Receiver<Option<String>>,
    ) -> ServerEnd {
        let StartedServer { service, listener, tools } = begun;
        let peer = service.peer().clone();
        let known = peer.peer_info().and_then(|server| server.server_info.clone());
        let implementation =
            known.map(|own| sanitizer::clean_line(&format!("{} {}", own.name, own.version), &self.secrets, NAME_BYTES));
        let is_program = answers.is_some();
        let slots = Arc::new(Semaphore::new(SERVER_CALLS_AT_ONCE));
        let connection =
            McpConnection { number, peer: peer.clone(), listener: listener.clone(), slots, answers, exit: over };
        self.current.send_modify(|current| {
            current.implementation = implementation;
            current.tools = Arc::new(tools);
            current.connection = Some(Arc::new(connection));
        });
        self.set_state(McpServerState::Ready, None);
        let cancel = service.cancellation_token();
        let waiting = service.waiting();
        tokio::pin!(waiting);
        let mut is_listing = false;
        let over = loop {
            tokio::select! {
                () = self.end.cancelled() => break ServerEnd::Ended,
                _ = &mut waiting => {
                    return ServerEnd::Failed { problem: "it disconnected".into(), is_gone: true };
                }
                () = listener.list_changed.notified(), if !is_listing => {
                    is_listing = true;
                    self.refresh_list(peer.clone(), number);
                }
                command = self.commands.recv() => match command {
                    Some(SupervisorCommand::Restart) => break ServerEnd::Restart,
                    Some(SupervisorCommand::Stuck(of)) if of == number => break ServerEnd::Stuck,
                    Some(SupervisorCommand::Lost(of, problem)) if of == number => {
                        break ServerEnd::Failed { problem, is_gone: true };
                    }
                    Some(SupervisorCommand::Listed(of, listed)) if of == number => {
                        is_listing = false;
                        match listed {
                            Ok(tools) => self.current.send_modify(|current| current.tools = Arc::new(tools)),
                            Err(problem) => self.log.add(&format!("({problem})")),
                        }
                        self.announce();
                    }
                    Some(_) => {}
                    None => break ServerEnd::Ended,
                },
            }
        };
        self.current.send_modify(|current| current.connection = None);
        cancel.cancel();
        if !is_program {
            // The HTTP client closes its session first; a program gets a signal instead.
            let _ = timeout(self.runtime.patience.stop, waiting).await;
        }
        over
    }

    /// Refreshes the tool list in the background; the list arrives as a command for this connection.
    fn refresh_list(&self, peer: Peer<RoleClient>, number: u64) {
        let (log, own, limit) = (self.log.clone(), self.own_sender.clone(), self.runtime.patience.start);
        let secrets = self.secrets.clone();
        tokio::spawn(async move {
            let listed = timeout(limit, listing::list(&peer, &secrets, &log)).await;
            let listed = listed.unwrap_or_else(|_| Err("its tools could not be listed in time".into()));
            own.upgrade().map(|own| own.send(SupervisorCommand::Listed(number, listed)))
        });
    }

    /// Spawns the program or prepares the HTTP client, and returns the future of the handshake with it.
    #[expect(clippy::type_complexity, reason = "it is taken apart where it is made")]
    fn start_transport(
        &self,
    ) -> Result<
        (BoxFuture<'static, Result<StartedServer, ServerEnd>>, Option<GuardedProgram>, Option<PendingAnswers>),
        String,
    > {
        let (log, secrets) = (self.log.clone(), self.secrets.clone());
        match &self.config.transport {
            McpTransport::Program { argv, env, folder } => {
                let started = program::start(&self.runtime.guard, argv, env, folder.as_deref(), &log);
                let (program, pipes) = started.map_err(|error| format!("it could not be started: {error}"))?;
                let (pipe, answers) = PipeTransport::new(pipes, log.clone());
                Ok((Box::pin(connect(pipe, secrets, log)), Some(program), Some(answers)))
            }
            McpTransport::Http { url, headers, local_network } => {
                let wire = web::transport(&self.runtime.http, url, headers, *local_network)?;
                Ok((Box::pin(connect(wire, secrets, log)), None, None))
            }
        }
    }

    fn set_state(&self, state: McpServerState, problem: Option<String>) {
        self.current.send_modify(|current| {
            current.state = state;
            current.since = self.runtime.clock.now();
            current.problem = problem;
        });
        self.announce();
    }

    fn announce(&self) {
        // Sending fails without subscribers.
        let _ = self.runtime.changed.send(self.key.clone());
    }
}

async fn connect(
    wire: impl Wire<RoleClient> + 'static,
    secrets: SecretSet,
    log: ServerOutputLog,
) -> Result<StartedServer, ServerEnd> {
    let listener = McpListener::with_secrets(secrets.clone());
    let service = listener.clone().serve_with_lifecycle(wire, ClientLifecycleMode::Initialize).await;
    let service = service.map_err(|error| {
        let is_gone = matches!(error, rmcp::service::ClientInitializeError::ConnectionClosed(_));
        ServerEnd::Failed { problem: error_messages::start_error(&error, &secrets), is_gone }
    })?;
    match listing::list(service.peer(), &secrets, &log).await {
        Ok(tools) => Ok(StartedServer { service, listener, tools }),
        Err(problem) => Err(ServerEnd::Failed { is_gone: service.peer().is_transport_closed(), problem }),
    }
}

/// Returns the state after this many consecutive failures and the delay before the next attempt.
fn restart_policy(failures: usize, patience: &McpTimeouts) -> (McpServerState, Duration) {
    if failures >= TOOL_RESTARTS as usize {
        return (McpServerState::GivenUp, patience.window);
    }
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
    (McpServerState::Failed, (patience.backoff.0 * (1 << doublings)).min(patience.backoff.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_grows_until_server_is_given_up() {
        let patience = McpTimeouts::default();
        assert_eq!(restart_policy(1, &patience), (McpServerState::Failed, Duration::from_secs(1)));
        assert_eq!(restart_policy(2, &patience), (McpServerState::Failed, Duration::from_secs(2)));
        assert_eq!(restart_policy(3, &patience), (McpServerState::GivenUp, Duration::from_secs(300)));
        let short = McpTimeouts { backoff: (Duration::from_secs(1), Duration::from_millis(1500)), ..patience };
        assert_eq!(restart_policy(2, &short), (McpServerState::Failed, Duration::from_millis(1500)));
    }
}
