//! One tool call of a server: sent once, monitored, and cancelled when it is dropped or times out. The call runs in
//! its own task, so that cancellation completes after the caller has gone.

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

use super::authorization::SignInNeed;
use super::listener::{ProgressTail, ServerNotification};
use super::server::{McpConnection, McpServer, SupervisorCommand};
use super::{content, error_messages};
use crate::result::{CallOutcome, CallResult, text_result};
use crate::toolbox::RunningCall;
use turnleaf_domain::byte_size::ByteSize;
use turnleaf_domain::limits::{SERVER_CALLS_AT_ONCE, TOOL_IDLE, TOOL_LINE_BYTES, TOOL_TIME};
use turnleaf_domain::tool::ToolProgress;

/// Starts a call. Dropping the returned handle cancels it.
pub fn start(server: McpServer, tool: String, arguments: Map<String, Value>) -> RunningCall {
    let (progress_sender, progress) = watch::channel(None);
    let stop = CancellationToken::new();
    let (done, outcome) = oneshot::channel();
    let calls = server.calls.clone();
    let limit = server.config.total.unwrap_or(TOOL_TIME);
    let call = McpCall { server, progress_sender, stop: stop.clone() };
    calls.spawn(call.run(tool, arguments, done));
    let is_wanted = stop.drop_guard();
    let outcome = Box::pin(async move {
        let _is_wanted = is_wanted;
        outcome.await.unwrap_or_else(|_| text_result(CallOutcome::Cancelled, "the call was cancelled"))
    });
    RunningCall { limit, ..RunningCall::new(outcome, progress) }
}

struct McpCall {
    server: McpServer,
    progress_sender: watch::Sender<Option<ToolProgress>>,
    stop: CancellationToken,
}

/// The end of a call, before it becomes a result.
enum CallEnd {
    Answered(CallResult),
    /// The call exceeded a limit; the sentence names it.
    TimedOut(String),
    Stopped,
}

impl McpCall {
    async fn run(self, tool: String, arguments: Map<String, Value>, done: oneshot::Sender<CallResult>) {
        let total = self.server.config.total.unwrap_or(TOOL_TIME);
        let deadline = Instant::now() + total;
        let late = || CallEnd::TimedOut(format!("the tool took longer than {} s", total.as_secs_f32()));
        let connection = tokio::select! {
            () = self.stop.cancelled() => return,
            connection = self.server.connection() => connection,
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(_) if self.server.config.sign_in_need() == Some(SignInNeed::Token) => {
                let _ = done.send(self.sign_in_result());
                return;
            }
            Err(reason) => {
                let words = format!("the server “{}” is not connected: {reason}", self.server.config.name);
                let _ = done.send(text_result(CallOutcome::Unavailable, &words));
                return;
            }
        };
        let slot = tokio::select! {
            () = self.stop.cancelled() => return,
            () = sleep_until(deadline) => None,
            slot = connection.slots.clone().acquire_owned() => slot.ok(),
        };
        let Some(_slot) = slot else {
            let _ = done.send(result_of(late()));
            return;
        };
        let notifications = connection.listener.notifications.subscribe();
        let request = CallToolRequest::new(CallToolRequestParams::new(tool).with_arguments(arguments));
        let request = ClientRequest::CallToolRequest(request);
        let sent = connection.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => {
                let _ = done.send(self.failure_result(&connection, &error).await);
                return;
            }
        };
        let end = tokio::select! {
            // `biased`: an answer that has arrived wins over a cancellation or a timeout in the same poll.
            biased;
            end = self.answer(&connection, &mut handle, notifications) => end,
            () = self.stop.cancelled() => CallEnd::Stopped,
            () = sleep_until(deadline) => late(),
        };
        let is_answered = matches!(end, CallEnd::Answered(_));
        // The receiver is gone if the call was cancelled.
        let _ = done.send(result_of(end));
        if !is_answered {
            self.cancel(&connection, &handle.id).await;
        }
    }

    /// Waits for the answer while the server shows signs of life; progress and log lines reset the idle timeout.
    async fn answer(
        &self,
        connection: &McpConnection,
        handle: &mut RequestHandle<RoleClient>,
        mut notifications: broadcast::Receiver<ServerNotification>,
    ) -> CallEnd {
        let idle = self.server.config.idle.unwrap_or(TOOL_IDLE);
        let token = handle.progress_token.clone();
        let mut furthest = f64::NEG_INFINITY;
        let (mut tail, mut latest) = (ProgressTail::default(), None::<ToolProgress>);
        // Log lines name no call, so they count for this call only if no other call runs.
        let is_alone = || connection.slots.available_permits() + 1 == SERVER_CALLS_AT_ONCE;
        let mut silent_until = Instant::now() + idle;
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => return CallEnd::Answered(match answer {
                    Ok(Ok(result)) => content::read_result(result, self.server.result_secrets()).await,
                    Ok(Err(error)) => self.failure_result(connection, &error).await,
                    Err(_) => self.failure_result(connection, &ServiceError::TransportClosed).await,
                }),
                notification = notifications.recv() => match notification {
                    Ok(ServerNotification::Progress(progress)) if progress.token == token => {
                        silent_until = Instant::now() + idle;
                        // Progress notifications are forwarded concurrently and may overtake each other; older ones
                        // are dropped.
                        if progress.done >= furthest {
                            furthest = progress.done;
                            tail.push(&progress.message);
                            latest = Some(progress.progress);
                            self.report_progress(latest.clone(), &tail);
                        }
                    }
                    Ok(ServerNotification::Logged(line)) if !line.is_empty() && is_alone() => {
                        silent_until = Instant::now() + idle;
                        tail.push(&line);
                        self.report_progress(Some(latest.clone().unwrap_or_else(|| ToolProgress::from_line(line))), &tail);
                    }
                    Ok(_) => {}
                    Err(RecvError::Lagged(_)) => silent_until = Instant::now() + idle,
                    // The sender lives as long as the connection; the answer reports how that ended.
                    Err(RecvError::Closed) => std::future::pending().await,
                },
                () = sleep_until(silent_until) => {
                    return CallEnd::TimedOut(format!("the tool sent nothing for {} s", idle.as_secs_f32()));
                }
            }
        }
    }

    fn report_progress(&self, progress: Option<ToolProgress>, tail: &ProgressTail) {
        self.progress_sender.send_replace(progress.map(|progress| ToolProgress { tail: tail.lines(), ..progress }));
    }

    /// Returns the result of a call that the server refused to execute until its owner signs in.
    fn sign_in_result(&self) -> CallResult {
        let words = format!("the server “{}” needs the user to sign in; the tool was not run", self.server.config.name);
        text_result(CallOutcome::SignInNeeded, &words)
    }

    async fn failure_result(&self, connection: &McpConnection, error: &ServiceError) -> CallResult {
        let is_stream = connection.answers.is_none() && !connection.peer.is_transport_closed();
        if is_stream && matches!(error, ServiceError::TransportClosed) {
            // Only the HTTP response of this call ended; the connection is intact.
            let words = format!(
                "the response was cut off, or was larger than {}; what the tool did until then is unknown",
                ByteSize::from_usize(TOOL_LINE_BYTES)
            );
            return text_result(CallOutcome::Crashed, &words);
        }
        if error_messages::is_unauthorized(error) && self.server.config.sign_in_need().is_some() {
            return self.sign_in_result();
        }
        if !error_messages::is_connection_lost(error) {
            let reason = error_messages::request_error(error, &self.server.secrets);
            return text_result(CallOutcome::Failed, &reason.to_string());
        }
        let problem = error_messages::request_error(error, &self.server.secrets);
        let reason = problem.to_string();
        self.server.send_command(SupervisorCommand::Lost(connection.number, problem));
        if error_messages::is_unsent(error) {
            return text_result(
                CallOutcome::Unavailable,
                &format!("the server “{}” cannot be reached: {reason}", self.server.config.name),
            );
        }
        // The exit status of the program arrives a little later than the closed connection.
        let mut over = connection.exit.clone();
        let exit = timeout(3 * self.server.patience.stop, over.wait_for(Option::is_some)).await;
        let exit = exit.ok().and_then(Result::ok).and_then(|exit| exit.clone()).filter(|exit| !exit.is_empty());
        let reason = exit.unwrap_or(reason);
        text_result(
            CallOutcome::Crashed,
            &format!("the server disconnected while the tool ran ({reason}); what it did until then is unknown"),
        )
    }

    /// Cancels the call. A server that obeys the protocol does not answer it any more, so a program is asked for a
    /// sign of life: one that answers neither the call nor a ping is killed with its whole process tree.
    async fn cancel(&self, connection: &Arc<McpConnection>, id: &RequestId) {
        let answered = connection.answers.as_ref().map(|answers| answers.subscribe(id));
        let params =
            CancelledNotificationParam::new(Some(id.clone()), Some("the caller no longer waits for it".into()));
        let cancel = connection.peer.send_notification(CancelledNotification::new(params).into());
        let Some(answered) = answered else {
            let _ = timeout(self.server.patience.stop, cancel).await;
            return;
        };
        let patience = self.server.patience.stop;
        let lives = timeout(patience, async {
            let _ = cancel.await;
            let ping = ClientRequest::PingRequest(PingRequest::default());
            let ping = connection.peer.send_request(ping);
            tokio::select! {
                _ = answered => true,
                // A refusal is a sign of life, too: later versions of the protocol have no ping.
                pong = ping => matches!(pong, Ok(_) | Err(ServiceError::McpError(_) | ServiceError::UnexpectedResponse)),
            }
        });
        if lives.await != Ok(true) {
            self.server.send_command(SupervisorCommand::Stuck(connection.number));
        }
    }
}

fn result_of(end: CallEnd) -> CallResult {
    match end {
        CallEnd::Answered(outcome) => outcome,
        CallEnd::TimedOut(words) => text_result(CallOutcome::TimedOut, &words),
        CallEnd::Stopped => text_result(CallOutcome::Cancelled, "the call was cancelled"),
    }
}
