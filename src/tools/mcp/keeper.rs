//! The task that keeps one server: begins it, lists its tools, begins it anew when it fails, gives up when it fails too
//! often, and ends it.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, Peer, RunningService};
use rmcp::transport::Transport as Wire;
use tokio::sync::{Semaphore, broadcast, mpsc, watch};
use tokio::time::{Duration, Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::config::{ServerConfig, ServerKey, Transport};
use super::listener::Listener;
use super::log::Log;
use super::pipe::{Answers, Pipe};
use super::program::{self, Program};
use super::server::{Command, Connection, Current, Patience, State};
use super::{broken, clean, listing, web};
use crate::toolbox::Described;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_RESTARTS};
use turnleaf_platform::clock::Clock;
use turnleaf_providers::http_client::HttpClient;
use turnleaf_providers::redact::Secrets;

/// The longest name of a server's program.
const NAME_BYTES: usize = 200;

/// What servers are begun with.
#[derive(Clone)]
pub struct Means {
    /// The program whose `guard` command guards others: our own.
    pub guard: PathBuf,
    pub http: HttpClient,
    pub clock: Arc<dyn Clock>,
    pub patience: Patience,
    pub changed: broadcast::Sender<ServerKey>,
}

/// Keeps one server until it is told to end.
pub struct Keeper {
    pub key: ServerKey,
    pub config: Arc<ServerConfig>,
    pub means: Means,
    pub commands: mpsc::UnboundedReceiver<Command>,
    /// To itself, from what it starts.
    pub own: mpsc::WeakUnboundedSender<Command>,
    pub current: watch::Sender<Current>,
    pub end: CancellationToken,
    /// It is reached with them, and nothing that it says shows them.
    pub secrets: Secrets,
    pub log: Log,
}

/// Why a server is not there any more.
enum Over {
    /// For good.
    Ended,
    /// A person wants it anew.
    Again,
    /// A call did not let go.
    Stuck,
    Failed {
        problem: String,
        /// By itself: how its program ended says why.
        is_gone: bool,
    },
}

/// A server that answered, and its first list.
struct Begun {
    service: RunningService<RoleClient, Listener>,
    listener: Listener,
    tools: Vec<Described>,
}

impl Keeper {
    pub async fn run(mut self) {
        let mut failures: Vec<Instant> = Vec::new();
        let mut number = 0;
        while !self.end.is_cancelled() {
            number += 1;
            self.say(State::Starting, None);
            match self.live(number).await {
                Over::Ended => return,
                Over::Again => failures.clear(),
                Over::Stuck => {}
                Over::Failed { problem, .. } => {
                    let now = Instant::now();
                    failures.retain(|at| now.duration_since(*at) < self.means.patience.window);
                    failures.push(now);
                    let (state, pause) = next(failures.len(), &self.means.patience);
                    tracing::warn!(server = %self.key.server, ?state, "a server of tools failed");
                    self.log.add(&format!("({problem})"));
                    self.say(state, Some(problem));
                    match self.wait(state, pause).await {
                        Over::Ended => return,
                        Over::Again => failures.clear(),
                        // One that was given up gets one more chance.
                        _ if state == State::GivenUp => failures.truncate(TOOL_RESTARTS as usize - 1),
                        _ => {}
                    }
                }
            }
        }
    }

    /// Waits until it is time to begin anew.
    async fn wait(&mut self, state: State, pause: Duration) -> Over {
        let pause = sleep(pause);
        tokio::pin!(pause);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return Over::Ended,
                () = &mut pause => return Over::Stuck,
                command = self.commands.recv() => match command {
                    Some(Command::Restart) => return Over::Again,
                    Some(Command::Wanted) if state == State::Failed => return Over::Stuck,
                    Some(_) => {}
                    None => return Over::Ended,
                }
            }
        }
    }

    /// One life of it, from its beginning until nothing of it runs.
    async fn live(&mut self, number: u64) -> Over {
        let (beginning, program, answers) = match self.open() {
            Ok(opened) => opened,
            Err(problem) => return Over::Failed { problem, is_gone: false },
        };
        let (over_sender, over) = watch::channel(None);
        let ended = match self.begun(beginning).await {
            Ok(begun) => self.serve(begun, number, answers, over).await,
            Err(ended) => ended,
        };
        self.current.send_modify(|current| current.connection = None);
        let exit = match (program, &ended) {
            (Some(program), Over::Failed { is_gone: true, .. }) => Some(program.end_after_itself().await),
            (Some(program), _) => Some(program.end(matches!(ended, Over::Stuck)).await).filter(|_| false),
            (None, _) => None,
        };
        // Nobody may be waiting for it.
        let _ = over_sender.send(Some(exit.clone().unwrap_or_default()));
        match (ended, exit) {
            (Over::Failed { problem, is_gone }, Some(exit)) => {
                Over::Failed { problem: format!("{problem} ({exit})"), is_gone }
            }
            (ended, _) => ended,
        }
    }

    /// Waits for the beginning, as long as it may take.
    async fn begun(&mut self, beginning: BoxFuture<'static, Result<Begun, Over>>) -> Result<Begun, Over> {
        let beginning = timeout(self.means.patience.start, beginning);
        tokio::pin!(beginning);
        loop {
            tokio::select! {
                () = self.end.cancelled() => return Err(Over::Ended),
                begun = &mut beginning => return begun.unwrap_or_else(|_| {
                    let problem = format!("it did not answer within {} s", self.means.patience.start.as_secs_f32());
                    Err(Over::Failed { problem, is_gone: false })
                }),
                command = self.commands.recv() => match command {
                    Some(Command::Restart) => return Err(Over::Again),
                    Some(_) => {}
                    None => return Err(Over::Ended),
                },
            }
        }
    }

    /// Is there for calls until something ends that.
    async fn serve(
        &mut self,
        begun: Begun,
        number: u64,
        answers: Option<Answers>,
        over: watch::Receiver<Option<String>>,
    ) -> Over {
        let Begun { service, listener, tools } = begun;
        let peer = service.peer().clone();
        let known = peer.peer_info().and_then(|server| server.server_info.clone());
        let implementation =
            known.map(|own| clean::line(&format!("{} {}", own.name, own.version), &self.secrets, NAME_BYTES));
        let is_program = answers.is_some();
        let slots = Arc::new(Semaphore::new(SERVER_CALLS_AT_ONCE));
        let connection = Connection { number, peer: peer.clone(), listener: listener.clone(), slots, answers, over };
        self.current.send_modify(|current| {
            current.implementation = implementation;
            current.tools = Arc::new(tools);
            current.connection = Some(Arc::new(connection));
        });
        self.say(State::Ready, None);
        let cancel = service.cancellation_token();
        let waiting = service.waiting();
        tokio::pin!(waiting);
        let mut is_listing = false;
        let over = loop {
            tokio::select! {
                () = self.end.cancelled() => break Over::Ended,
                _ = &mut waiting => {
                    return Over::Failed { problem: "it went away".into(), is_gone: true };
                }
                () = listener.list_changed.notified(), if !is_listing => {
                    is_listing = true;
                    self.list_again(peer.clone(), number);
                }
                command = self.commands.recv() => match command {
                    Some(Command::Restart) => break Over::Again,
                    Some(Command::Stuck(of)) if of == number => break Over::Stuck,
                    Some(Command::Lost(of, problem)) if of == number => {
                        break Over::Failed { problem, is_gone: true };
                    }
                    Some(Command::Listed(of, listed)) if of == number => {
                        is_listing = false;
                        match listed {
                            Ok(tools) => self.current.send_modify(|current| current.tools = Arc::new(tools)),
                            Err(problem) => self.log.add(&format!("({problem})")),
                        }
                        self.announce();
                    }
                    Some(_) => {}
                    None => break Over::Ended,
                },
            }
        };
        self.current.send_modify(|current| current.connection = None);
        cancel.cancel();
        if !is_program {
            // It says goodbye to a session; a program is told with a signal.
            let _ = timeout(self.means.patience.stop, waiting).await;
        }
        over
    }

    /// Lists the tools anew beside everything else; the list comes as a command of this connection.
    fn list_again(&self, peer: Peer<RoleClient>, number: u64) {
        let (log, own, limit) = (self.log.clone(), self.own.clone(), self.means.patience.start);
        let secrets = self.secrets.clone();
        tokio::spawn(async move {
            let listed = timeout(limit, listing::list(&peer, &secrets, &log)).await;
            let listed = listed.unwrap_or_else(|_| Err("its tools could not be listed in time".into()));
            own.upgrade().map(|own| own.send(Command::Listed(number, listed)))
        });
    }

    /// Starts the program, or readies the client, and gives the future of the first words with it.
    #[expect(clippy::type_complexity, reason = "it is taken apart where it is made")]
    fn open(&self) -> Result<(BoxFuture<'static, Result<Begun, Over>>, Option<Program>, Option<Answers>), String> {
        let (log, secrets) = (self.log.clone(), self.secrets.clone());
        match &self.config.transport {
            Transport::Program { argv, env, folder } => {
                let started = program::start(&self.means.guard, argv, env, folder.as_deref(), &log);
                let (program, pipes) = started.map_err(|error| format!("it could not be started: {error}"))?;
                let (pipe, answers) = Pipe::new(pipes, log.clone());
                Ok((Box::pin(begin(pipe, secrets, log)), Some(program), Some(answers)))
            }
            Transport::Http { url, headers, local_network } => {
                let wire = web::transport(&self.means.http, url, headers, *local_network)?;
                Ok((Box::pin(begin(wire, secrets, log)), None, None))
            }
        }
    }

    fn say(&self, state: State, problem: Option<String>) {
        self.current.send_modify(|current| {
            current.state = state;
            current.since = self.means.clock.now();
            current.problem = problem;
        });
        self.announce();
    }

    fn announce(&self) {
        // Nobody may be listening.
        let _ = self.means.changed.send(self.key.clone());
    }
}

async fn begin(wire: impl Wire<RoleClient> + 'static, secrets: Secrets, log: Log) -> Result<Begun, Over> {
    let listener = Listener::without(secrets.clone());
    let service = listener.clone().serve_with_lifecycle(wire, ClientLifecycleMode::Initialize).await;
    let service = service.map_err(|error| {
        let is_gone = matches!(error, rmcp::service::ClientInitializeError::ConnectionClosed(_));
        Over::Failed { problem: broken::beginning(&error, &secrets), is_gone }
    })?;
    match listing::list(service.peer(), &secrets, &log).await {
        Ok(tools) => Ok(Begun { service, listener, tools }),
        Err(problem) => Err(Over::Failed { is_gone: service.peer().is_transport_closed(), problem }),
    }
}

/// What a server is after so many failures in a row, and how long it rests.
fn next(failures: usize, patience: &Patience) -> (State, Duration) {
    if failures >= TOOL_RESTARTS as usize {
        return (State::GivenUp, patience.window);
    }
    let doublings = u32::try_from(failures.saturating_sub(1)).unwrap_or(u32::MAX).min(16);
    (State::Failed, (patience.backoff.0 * (1 << doublings)).min(patience.backoff.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_then_it_is_given_up() {
        let patience = Patience::default();
        assert_eq!(next(1, &patience), (State::Failed, Duration::from_secs(1)));
        assert_eq!(next(2, &patience), (State::Failed, Duration::from_secs(2)));
        assert_eq!(next(3, &patience), (State::GivenUp, Duration::from_secs(300)));
        let short = Patience { backoff: (Duration::from_secs(1), Duration::from_millis(1500)), ..patience };
        assert_eq!(next(2, &short), (State::Failed, Duration::from_millis(1500)));
    }
}
