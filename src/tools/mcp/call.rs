//! One call of a server's tool: sent once, watched, and cancelled when it is left or takes too long. It runs in a task
//! of its own, so that letting go of it goes on when nobody waits for it any more.

use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    PingRequest, RequestId,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::listener::{Heard, Tail};
use super::server::{Command, Connection, Server};
use super::{broken, content};
use crate::result::{Fate, Outcome, said};
use crate::toolbox::Running;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_IDLE, TOOL_LINE_BYTES, TOOL_TIME};
use turnleaf_domain::size::Size;
use turnleaf_domain::tool::ToolProgress;

/// Begins a call. It ends when what is given is dropped.
pub fn begin(server: Server, tool: String, arguments: Map<String, Value>) -> Running {
    let (told, progress) = watch::channel(None);
    let stop = CancellationToken::new();
    let (done, outcome) = oneshot::channel();
    let calls = server.calls.clone();
    let call = Call { server, told, stop: stop.clone() };
    calls.spawn(call.run(tool, arguments, done));
    let is_wanted = stop.drop_guard();
    let outcome = Box::pin(async move {
        let _is_wanted = is_wanted;
        outcome.await.unwrap_or_else(|_| said(Fate::Cancelled, "the call was cancelled"))
    });
    Running { outcome, progress }
}

struct Call {
    server: Server,
    told: watch::Sender<Option<ToolProgress>>,
    stop: CancellationToken,
}

/// What a call came to, as far as its server has a say in it.
enum End {
    Answered(Outcome),
    /// It ran too long; the sentence says how.
    Late(String),
    Stopped,
}

impl Call {
    async fn run(self, tool: String, arguments: Map<String, Value>, done: oneshot::Sender<Outcome>) {
        let total = self.server.config.total.unwrap_or(TOOL_TIME);
        let deadline = Instant::now() + total;
        let late = || End::Late(format!("the tool took longer than {} s", total.as_secs_f32()));
        let connection = tokio::select! {
            () = self.stop.cancelled() => return,
            connection = self.server.connection() => connection,
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(why) => {
                let words = format!("the server “{}” is not there: {why}", self.server.config.name);
                let _ = done.send(said(Fate::Unavailable, &words));
                return;
            }
        };
        let slot = tokio::select! {
            () = self.stop.cancelled() => return,
            () = sleep_until(deadline) => None,
            slot = connection.slots.clone().acquire_owned() => slot.ok(),
        };
        let Some(_slot) = slot else {
            let _ = done.send(ended(late()));
            return;
        };
        let heard = connection.listener.heard.subscribe();
        let request = CallToolRequest::new(CallToolRequestParams::new(tool).with_arguments(arguments));
        let request = ClientRequest::CallToolRequest(request);
        let sent = connection.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => {
                let _ = done.send(self.failed(&connection, &error).await);
                return;
            }
        };
        let end = tokio::select! {
            // An answer that is there counts, however late it is.
            biased;
            end = self.answer(&connection, &mut handle, heard) => end,
            () = self.stop.cancelled() => End::Stopped,
            () = sleep_until(deadline) => late(),
        };
        let is_answered = matches!(end, End::Answered(_));
        // Nobody waits for it after a stop.
        let _ = done.send(ended(end));
        if !is_answered {
            self.let_go(&connection, &handle.id).await;
        }
    }

    /// Waits for the answer, as long as there are signs of life.
    async fn answer(
        &self,
        connection: &Connection,
        handle: &mut RequestHandle<RoleClient>,
        mut heard: broadcast::Receiver<Heard>,
    ) -> End {
        let idle = self.server.config.idle.unwrap_or(TOOL_IDLE);
        let token = handle.progress_token.clone();
        let mut furthest = f64::NEG_INFINITY;
        let (mut tail, mut told) = (Tail::default(), None::<ToolProgress>);
        // A line of the log names no call: it is this one's where no other runs.
        let is_alone = || connection.slots.available_permits() + 1 == SERVER_CALLS_AT_ONCE;
        let mut silent_until = Instant::now() + idle;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => return End::Answered(match answer {
                    Ok(Ok(result)) => content::read_outcome(result, self.server.secrets.clone()).await,
                    Ok(Err(error)) => self.failed(connection, &error).await,
                    Err(_) => self.failed(connection, &ServiceError::TransportClosed).await,
                }),
                said = heard.recv() => match said {
                    Ok(Heard::Progress(progress)) if progress.token == token => {
                        silent_until = Instant::now() + idle;
                        // They are passed on side by side and may overtake each other.
                        if progress.done >= furthest {
                            furthest = progress.done;
                            tail.push(&progress.message);
                            told = Some(progress.told);
                            self.tell(told.clone(), &tail);
                        }
                    }
                    Ok(Heard::Logged(line)) if !line.is_empty() && is_alone() => {
                        silent_until = Instant::now() + idle;
                        tail.push(&line);
                        self.tell(Some(told.clone().unwrap_or_else(|| ToolProgress::line(line))), &tail);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => silent_until = Instant::now() + idle,
                    // Its sender lives as long as the connection; the answer says what became of that.
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                () = sleep_until(silent_until) => {
                    return End::Late(format!("the tool gave no sign of life for {} s", idle.as_secs_f32()));
                }
            }
        }
    }

    fn tell(&self, told: Option<ToolProgress>, tail: &Tail) {
        self.told.send_replace(told.map(|told| ToolProgress { tail: tail.lines(), ..told }));
    }

    async fn failed(&self, connection: &Connection, error: &ServiceError) -> Outcome {
        let is_stream = connection.answers.is_none() && !connection.peer.is_transport_closed();
        if is_stream && matches!(error, ServiceError::TransportClosed) {
            // Only the response that carried this call ended.
            let words = format!(
                "the answer broke off, or was larger than {}; what the tool did until then is not known",
                Size::in_memory(TOOL_LINE_BYTES)
            );
            return said(Fate::Crashed, &words);
        }
        if !broken::is_lost(error) {
            return said(Fate::Failed, &broken::sentence(error, &self.server.secrets));
        }
        let why = broken::sentence(error, &self.server.secrets);
        self.server.tell(Command::Lost(connection.number, why.clone()));
        if broken::is_unsent(error) {
            return said(
                Fate::Unavailable,
                &format!("the server “{}” cannot be reached: {why}", self.server.config.name),
            );
        }
        // How its program ended is known a little later.
        let mut over = connection.over.clone();
        let exit = timeout(3 * self.server.patience.stop, over.wait_for(Option::is_some)).await;
        let exit = exit.ok().and_then(Result::ok).and_then(|exit| exit.clone()).filter(|exit| !exit.is_empty());
        let why = exit.unwrap_or(why);
        said(
            Fate::Crashed,
            &format!("the server went away while the tool ran ({why}); what it did until then is not known"),
        )
    }

    /// Cancels the call. A program that does not answer it then is killed with all its processes: only so it is sure
    /// that nothing goes on. It is spared when other calls run in it and it shows that it is not stuck.
    async fn let_go(&self, connection: &Arc<Connection>, id: &RequestId) {
        let answered = connection.answers.as_ref().map(|answers| answers.of(id));
        let params = CancelledNotificationParam::new(Some(id.clone()), Some("nobody waits for it any more".into()));
        let cancel = connection.peer.send_notification(CancelledNotification::new(params).into());
        // This call still holds its slot.
        let has_others = || connection.slots.available_permits() + 1 < SERVER_CALLS_AT_ONCE;
        let lives = async {
            let ping = ClientRequest::PingRequest(PingRequest::default());
            has_others() && connection.peer.send_request(ping).await.is_ok()
        };
        let Some(answered) = answered else {
            let _ = timeout(self.server.patience.stop, cancel).await;
            return;
        };
        let patience = self.server.patience.stop;
        let (let_go, lives) = tokio::join!(
            timeout(patience, async {
                let _ = cancel.await;
                answered.await
            }),
            timeout(patience, lives),
        );
        if let_go.is_err() && !(lives == Ok(true) && has_others()) {
            self.server.tell(Command::Stuck(connection.number));
        }
    }
}

fn ended(end: End) -> Outcome {
    match end {
        End::Answered(outcome) => outcome,
        End::Late(words) => said(Fate::TimedOut, &words),
        End::Stopped => said(Fate::Cancelled, "the call was cancelled"),
    }
}
