//! The supervisor task of one server: starts it, lists its tools, restarts it with backoff after failures, and stops
//! it.

mod connecting;

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::Peer;
use tokio::sync::{Mutex, Semaphore, broadcast, mpsc, watch};
use tokio::time::{Duration, sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::connecting::{ServerEnd, StartedServer, connect};
use super::authorization::SignInNeed;
use super::config::{McpServerConfig, McpServerKey, McpTransport};
use super::lifecycle::{Handshake, HandshakeRefusal};
use super::listener::McpListener;
use super::listing::{self, ToolList};
use super::log::ServerOutputLog;
use super::pipe::{PendingAnswers, PipeTransport};
use super::program::{self, GuardedProgram};
use super::sanitizer;
use super::server::{McpConnection, McpServerSnapshot, McpServerState, McpTimeouts, SupervisorCommand};
use super::subscription::follow_list_changes;
use super::web::WebServerAddress;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, SERVER_INSTRUCTIONS_BYTES, SERVER_NAME_BYTES};
use turnleaf_domain::{CodedMessage, MessageCode};
use turnleaf_platform::clock::Clock;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::redaction::SecretSet;

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
    /// The handshake that the next connection begins with: the one of the last connection that became ready,
    /// otherwise the first.
    pub handshake: Handshake,
}

impl McpSupervisor {
    pub async fn run(mut self) {
        let mut failures = 0;
        let mut number = 0;
        while !self.end.is_cancelled() {
            number += 1;
            self.set_state(McpServerState::Starting, None);
            let ended = self.run_once(number).await;
            let has_worked = self.current.borrow().state == McpServerState::Ready;
            let worked_for = self.runtime.clock.now() - self.current.borrow().since;
            if has_worked && worked_for.to_std().is_ok_and(|worked_for| worked_for >= self.runtime.patience.steady) {
                failures = 0;
            }
            match ended {
                ServerEnd::Ended => return,
                ServerEnd::Restart => failures = 0,
                ServerEnd::Stuck => {}
                ServerEnd::Failed { problem, .. } | ServerEnd::Refused { problem, .. } => {
                    failures += 1;
                    let problem = if self.needs_token() { SignInNeed::Token.problem() } else { problem };
                    tracing::warn!(server = %self.key.server, failures, "a tool server failed");
                    self.log.add(&format!("({problem})"));
                    self.set_state(McpServerState::Failed, Some(problem));
                    match self.wait_before_restart(restart_pause(failures, &self.runtime.patience)).await {
                        ServerEnd::Ended => return,
                        ServerEnd::Restart => failures = 0,
                        _ => {}
                    }
                }
            }
        }
    }

    /// Returns whether the server accepts nothing until a person signs in. A missing scope stops single calls only.
    fn needs_token(&self) -> bool {
        self.config.sign_in_need() == Some(SignInNeed::Token)
    }

    /// Waits for the backoff, a restart request or a wake-up. A server that a person has to sign in to is not tried
    /// again by itself.
    async fn wait_before_restart(&mut self, pause: Duration) -> ServerEnd {
        let pause = sleep(pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return ServerEnd::Ended,
                () = &mut pause, if !self.needs_token() => return ServerEnd::Stuck,
                command = self.commands.recv() => match command {
                    Some(SupervisorCommand::Restart) => return ServerEnd::Restart,
                    Some(SupervisorCommand::Wake) => return ServerEnd::Stuck,
                    Some(_) => {}
                    None => return ServerEnd::Ended,
                }
            }
        }
    }

    /// Runs the server once, with other handshakes if it refuses one.
    async fn run_once(&mut self, number: u64) -> ServerEnd {
        let is_program = matches!(self.config.transport, McpTransport::Program { .. });
        let mut first_problem: Option<CodedMessage> = None;
        loop {
            let ended = self.run_connection(number).await;
            if self.current.borrow().state == McpServerState::Ready {
                return ended;
            }
            let (refusal, problem, is_gone) = match ended {
                ServerEnd::Refused { refusal, problem } => (Some(refusal), problem, false),
                // A server of earlier versions need not answer a method that it does not know.
                ServerEnd::Failed { problem, is_gone } if self.handshake == Handshake::Discover => {
                    (Some(HandshakeRefusal::Version), problem, is_gone)
                }
                ServerEnd::Failed { problem, is_gone } => (None, problem, is_gone),
                ended => {
                    self.handshake = Handshake::first();
                    return ended;
                }
            };
            // The first problem is the one of the present handshake; those of later ones follow from it.
            let problem = first_problem.get_or_insert(problem).clone();
            match refusal.and_then(|refusal| self.handshake.after(refusal, is_program)) {
                Some(next) => self.handshake = next,
                None => {
                    self.handshake = Handshake::first();
                    return ServerEnd::Failed { problem, is_gone };
                }
            }
        }
    }

    /// Runs one connection, from its start until nothing of it runs.
    async fn run_connection(&mut self, number: u64) -> ServerEnd {
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
        let _ = over_sender.send(Some(exit.as_ref().map(ToString::to_string).unwrap_or_default()));
        match (ended, exit) {
            (ServerEnd::Failed { problem, is_gone }, Some(exit)) => {
                ServerEnd::Failed { problem: exit.with_cause(problem), is_gone }
            }
            (ended, _) => ended,
        }
    }

    /// Waits for the start within its limit.
    async fn wait_for_start(
        &mut self,
        beginning: BoxFuture<'static, Result<StartedServer, ServerEnd>>,
    ) -> Result<StartedServer, ServerEnd> {
        let beginning = timeout(self.start_limit(), beginning);
        tokio::pin!(beginning);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return Err(ServerEnd::Ended),
                begun = &mut beginning => return begun.unwrap_or_else(|_| {
                    let problem = MessageCode::NoTimelyStart.with("seconds", self.start_limit().as_secs_f32());
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
        let StartedServer { service, listener, list } = begun;
        let peer = service.peer().clone();
        let is_program = answers.is_some();
        let slots = Arc::new(Semaphore::new(SERVER_CALLS_AT_ONCE));
        let connection = McpConnection {
            number,
            peer: peer.clone(),
            listener: listener.clone(),
            slots,
            answers,
            catalog: Mutex::default(),
            exit: over,
        };
        self.publish(connection, list);
        let cancel = service.cancellation_token();
        let waiting = service.waiting();
        tokio::pin!(waiting);
        let following = follow_list_changes(peer.clone(), listener.clone(), self.runtime.patience.backoff);
        tokio::pin!(following);
        let (mut is_listing, mut is_following) = (false, self.handshake == Handshake::Discover);
        let over = loop {
            tokio::select! {
                () = self.end.cancelled() => break ServerEnd::Ended,
                () = &mut following, if is_following => is_following = false,
                _ = &mut waiting => {
                    return ServerEnd::Failed { problem: MessageCode::Disconnected.into(), is_gone: true };
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
                            Ok(list) => self.current.send_modify(|current| current.put_list(list)),
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

    /// Publishes a connection, with the tools of its server and what the server says of itself.
    fn publish(&self, connection: McpConnection, list: ToolList) {
        let info = connection.peer.peer_info();
        let instructions = info.as_ref().and_then(|server| server.instructions.as_deref());
        let instructions =
            instructions.map(|text| sanitizer::clean_text(text, &self.secrets, SERVER_INSTRUCTIONS_BYTES));
        let known = info.as_ref().and_then(|server| server.server_info.clone());
        let implementation = known.map(|own| {
            sanitizer::clean_line(&format!("{} {}", own.name, own.version), &self.secrets, SERVER_NAME_BYTES)
        });
        self.current.send_modify(|current| {
            current.implementation = implementation;
            current.instructions = instructions.filter(|text| !text.trim().is_empty()).map(Arc::from);
            current.put_list(list);
            current.connection = Some(Arc::new(connection));
        });
        self.set_state(McpServerState::Ready, None);
    }

    /// Refreshes the tool list in the background; the list arrives as a command for this connection.
    fn refresh_list(&self, peer: Peer<RoleClient>, number: u64) {
        let (log, own, limit) = (self.log.clone(), self.own_sender.clone(), self.start_limit());
        let secrets = self.secrets.clone();
        tokio::spawn(async move {
            let listed = timeout(limit, listing::list(&peer, &secrets, &log)).await;
            let late =
                || CodedMessage::from(MessageCode::ToolsNotListed).with_cause(MessageCode::NoTimelyResponse.into());
            let listed = listed.unwrap_or_else(|_| Err(late()));
            own.upgrade().map(|own| own.send(SupervisorCommand::Listed(number, listed)))
        });
    }

    /// Spawns the program or prepares the HTTP client, and returns the future of the handshake with it.
    #[expect(clippy::type_complexity, reason = "it is taken apart where it is made")]
    fn start_transport(
        &self,
    ) -> Result<
        (BoxFuture<'static, Result<StartedServer, ServerEnd>>, Option<GuardedProgram>, Option<PendingAnswers>),
        CodedMessage,
    > {
        let log = self.log.clone();
        match &self.config.transport {
            McpTransport::Program { argv, env, folder } => {
                let started = program::start(&self.runtime.guard, argv, env, folder.as_deref(), &log);
                let (program, pipes) = started.map_err(|error| {
                    CodedMessage::from(MessageCode::NotStarted).with_cause(CodedMessage::uncoded(error.to_string()))
                })?;
                let (pipe, answers) = PipeTransport::new(pipes, log.clone());
                Ok((
                    Box::pin(connect(pipe, self.listener(), self.handshake.clone(), log)),
                    Some(program),
                    Some(answers),
                ))
            }
            McpTransport::Http { url, headers, local_network } => {
                let address = WebServerAddress::new(
                    &self.runtime.http,
                    url,
                    headers,
                    *local_network,
                    self.config.authorization.clone(),
                )?;
                let handshake = self.handshake.clone();
                let beginning: BoxFuture<'static, _> = match handshake {
                    Handshake::EventStream => {
                        Box::pin(connect(address.event_stream(), self.listener(), handshake, log))
                    }
                    _ => Box::pin(connect(address.streamable(), self.listener(), handshake, log)),
                };
                Ok((beginning, None, None))
            }
        }
    }

    /// Returns the client side of the next connection.
    fn listener(&self) -> McpListener {
        McpListener::new(&self.config.name, self.secrets.clone(), self.handshake.version())
    }

    /// Returns the limit for the start: the server's own, or the general one.
    fn start_limit(&self) -> Duration {
        self.config.start.unwrap_or(self.runtime.patience.start)
    }

    fn set_state(&self, state: McpServerState, problem: Option<CodedMessage>) {
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

/// Returns the delay before the next attempt after this many consecutive failures.
fn restart_pause(failures: u32, patience: &McpTimeouts) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    (patience.backoff.0 * (1 << doublings)).min(patience.backoff.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_maximum() {
        let patience = McpTimeouts::default();
        let pauses: Vec<u64> = (1..=9).map(|failures| restart_pause(failures, &patience).as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(restart_pause(u32::MAX, &patience).as_secs(), 60);
    }
}
