//! One tool call of a server: sent once, monitored, and cancelled when it is dropped or times out. A server that needs
//! input of the user first gets the call again with the answers. A tool with a page (MCP Apps) is asked for it after its
//! result. The call runs in its own task, so that cancellation completes after the caller has gone.

mod page;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    PingRequest, RequestId, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, oneshot, watch};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::authorization::SignInNeed;
use super::content::{self, ReadAnswer};
use super::error_messages;
use super::listener::{ProgressTail, ServerNotification};
use super::required_input::{RequiredInput, end_for_pages};
use super::server::{McpConnection, McpServer, SupervisorCommand};
use crate::question::{QuestionSender, question_channel, run_within};
use crate::result::{CallOutcome, CallResult, ResultView, text_result};
use crate::toolbox::RunningCall;
use turnleaf_domain::UserId;
use turnleaf_domain::limits::{ELICITATION_ROUNDS, TOOL_IDLE, TOOL_LINE_BYTES, TOOL_TIME};
use turnleaf_domain::text::byte_size::ByteSize;
use turnleaf_domain::tools::tool::ToolProgress;

/// Starts a call for a person. Dropping the returned handle cancels it.
pub fn start(server: McpServer, tool: String, arguments: Map<String, Value>, owner: UserId) -> RunningCall {
    let (progress_sender, progress) = watch::channel(None);
    let (questions, asked) = question_channel();
    let (page, view) = watch::channel(None);
    let stop = CancellationToken::new();
    let (done, outcome) = oneshot::channel();
    let calls = server.calls.clone();
    let limit = server.config.total.unwrap_or(TOOL_TIME);
    let call = McpCall {
        server,
        owner,
        tool,
        progress_sender,
        questions,
        stop: stop.clone(),
        pending: Mutex::default(),
        slot: Mutex::default(),
        view: OnceLock::new(),
        page,
        answer: Mutex::default(),
    };
    calls.spawn(call.run(arguments, done));
    let is_wanted = stop.drop_guard();
    let outcome = Box::pin(async move {
        let _is_wanted = is_wanted;
        outcome.await.unwrap_or_else(|_| text_result(CallOutcome::Cancelled, "the call was cancelled"))
    });
    RunningCall { limit, questions: Some(asked), view: Some(view), ..RunningCall::new(outcome, progress) }
}

struct McpCall {
    server: McpServer,
    owner: UserId,
    tool: String,
    progress_sender: watch::Sender<Option<ToolProgress>>,
    questions: QuestionSender,
    stop: CancellationToken,
    /// The request that is not answered yet.
    pending: Mutex<Option<RequestId>>,
    /// The permit of the connection. A call without one has an open question, or had one and waits for its turn.
    slot: Mutex<Option<OwnedSemaphorePermit>>,
    /// The address of the page that the server has for the result.
    view: OnceLock<String>,
    /// The page, if it was read before the call ended.
    page: watch::Sender<Option<ResultView>>,
    /// The result that the page is told.
    answer: Mutex<Option<ServerResult>>,
}

/// The end of a call, before it becomes a result.
enum CallEnd {
    Answered(CallResult),
    /// The server needs answers of the user first.
    NeedsInput(RequiredInput),
    /// The call exceeded a limit; the sentence names it.
    TimedOut(String),
    Stopped,
}

impl McpCall {
    async fn run(self, arguments: Map<String, Value>, done: oneshot::Sender<CallResult>) {
        let total = self.server.config.total.unwrap_or(TOOL_TIME);
        let began = Instant::now();
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
        if let Some(address) = self.server.view_of(&self.tool) {
            let _ = self.view.set(address);
        }
        let slot = tokio::select! {
            () = self.stop.cancelled() => return,
            () = sleep_until(began + total) => None,
            slot = connection.slots.clone().acquire_owned() => slot.ok(),
        };
        if slot.is_none() {
            let _ = done.send(result_of(late()));
            return;
        }
        self.set_slot(slot);
        let _registered = connection.listener.calls.register(self.owner, self.questions.clone());
        let params = CallToolRequestParams::new(self.tool.clone()).with_arguments(arguments);
        let left = total.saturating_sub(began.elapsed());
        let end = tokio::select! {
            // `biased`: an answer that has arrived wins over a cancellation or a timeout in the same poll.
            biased;
            end = run_within(left, self.questions.subscribe_open(), self.exchange(&connection, params)) => {
                end.unwrap_or_else(late)
            }
            () = self.stop.cancelled() => CallEnd::Stopped,
            end = self.read_page_early(&connection) => end,
        };
        let pending = self.take_pending();
        let outcome = self.with_view(&connection, result_of(end)).await;
        // The receiver is gone if the call was cancelled.
        let _ = done.send(outcome);
        if let Some(id) = pending {
            self.cancel(&connection, &id).await;
        }
    }

    /// Sends the call, and again with the answers of the user while the server needs some.
    async fn exchange(&self, connection: &McpConnection, mut params: CallToolRequestParams) -> CallEnd {
        for _ in 0..ELICITATION_ROUNDS {
            let input = match self.send_once(connection, params.clone()).await {
                CallEnd::NeedsInput(input) => input,
                end => return end,
            };
            // The user may take any time, in which other calls run.
            self.set_slot(None);
            params = match input.collect(&self.questions, params).await {
                Ok(params) => params,
                Err(reason) => return CallEnd::Answered(text_result(CallOutcome::Failed, &reason)),
            };
            self.set_slot(connection.slots.clone().acquire_owned().await.ok());
        }
        CallEnd::Answered(text_result(CallOutcome::Failed, "the server asked for input too often"))
    }

    /// Sends the call once and waits for its answer.
    async fn send_once(&self, connection: &McpConnection, params: CallToolRequestParams) -> CallEnd {
        let notifications = connection.listener.notifications.subscribe();
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let sent = connection.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(error) => return CallEnd::Answered(self.failure_result(connection, &error).await),
        };
        *self.pending.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle.id.clone());
        let end = self.answer(connection, &mut handle, notifications).await;
        if matches!(end, CallEnd::Answered(_) | CallEnd::NeedsInput(_)) {
            self.take_pending();
        }
        end
    }

    fn set_slot(&self, slot: Option<OwnedSemaphorePermit>) {
        *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = slot;
    }

    fn has_slot(&self) -> bool {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take_pending(&self) -> Option<RequestId> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Waits for the answer while the server shows signs of life; progress and log lines reset the idle timeout. While
    /// a question is open, it is the user's turn, the server may be silent, and other calls may run: the permit is
    /// given back, and taken again as soon as one is free.
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
        let is_alone = || connection.listener.calls.is_single();
        let mut silent_until = Instant::now() + idle;
        let mut open = self.questions.subscribe_open();
        loop {
            let is_asking = *open.borrow_and_update() > 0;
            if is_asking {
                self.set_slot(None);
            }
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    return self.read_answer(connection, answer.unwrap_or(Err(ServiceError::TransportClosed))).await;
                }
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
                _ = open.changed() => silent_until = Instant::now() + idle,
                slot = connection.slots.clone().acquire_owned(), if !is_asking && !self.has_slot() => {
                    self.set_slot(slot.ok());
                }
                () = sleep_until(silent_until), if !is_asking => {
                    return CallEnd::TimedOut(format!("the tool sent nothing for {} s", idle.as_secs_f32()));
                }
            }
        }
    }

    /// Reads the answer of the server: a result, an error, or what it needs first.
    async fn read_answer(&self, connection: &McpConnection, answer: Result<ServerResult, ServiceError>) -> CallEnd {
        let (name, secrets) = (&self.server.config.name, self.server.result_secrets());
        CallEnd::Answered(match answer {
            Ok(result) => {
                if let Some(input) = RequiredInput::from_answer(&result, name, &secrets) {
                    return CallEnd::NeedsInput(input);
                }
                let ReadAnswer { result, page, answer } = content::read_result(result, secrets).await;
                self.keep_answer(answer, page);
                result
            }
            Err(error) => match end_for_pages(&error, name, &secrets, &self.questions) {
                Some(ended) => ended,
                None => self.failure_result(connection, &error).await,
            },
        })
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
        let lives = timeout(self.server.patience.pong, async {
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
        // `McpCall::exchange` answers these.
        CallEnd::NeedsInput(_) => text_result(CallOutcome::Failed, "the server needs input of the user"),
        CallEnd::TimedOut(words) => text_result(CallOutcome::TimedOut, &words),
        CallEnd::Stopped => text_result(CallOutcome::Cancelled, "the call was cancelled"),
    }
}
