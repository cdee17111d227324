//! One open WebSocket: the path that it follows, its queue of outgoing messages, and the messages of its client.

use std::collections::VecDeque;
use std::pin::Pin;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, timeout};

use crate::domain::{ChatId, CodedMessage, Turn, TurnId, UserId, limits};
use crate::server::app::App;
use crate::server::http::features::{FeatureFlags, SOCKET_PROTOCOL};
use crate::server::http::request::principal::ConnectionLease;
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::events::encoder::OutgoingEvent;
use crate::server::http::streams::events::{EventExtras, outgoing_events};
use crate::server::http::streams::open_streams::OpenStream;
use crate::server::http::streams::socket::arguments::ArgumentsForm;
use crate::server::http::streams::socket::client_message::{self, MessageRateLimit, SocketClientMessage};
use crate::server::http::streams::socket::encoder::SocketEncoder;
use crate::server::http::streams::socket::writer::write_queued;
use turnleaf_platform::tasks;
use turnleaf_service::paths::path_updates::{PathTip, PathUpdate};
use turnleaf_service::turns::TurnRequest;
use turnleaf_service::turns::placement::PlacementRequest;
use turnleaf_service::{EventCursor, FollowerItem, ServiceError};

/// Backpressure: number of messages that wait for a slow client. The rest of its turn waits in the journal.
const MESSAGE_QUEUE: usize = 64;

/// A turn that is being sent.
struct OutgoingTurn {
    id: TurnId,
    encoder: SocketEncoder,
    events: Pin<Box<dyn Stream<Item = OutgoingEvent> + Send>>,
}

/// The result of checking the path for changes.
#[derive(PartialEq, Eq)]
enum PathCheck {
    Intact,
    /// The end of the path was deleted, and the client was notified.
    EndDeleted,
}

/// The reason why a connection ends.
enum ConnectionEnd {
    /// The client has disconnected or cannot be reached.
    ClientGone,
    Close(u16, &'static str),
}

pub struct SocketConnection {
    app: App,
    owner: UserId,
    chat: ChatId,
    /// The last turn that was sent or is queued in `coming`, and the branch that continues from it.
    end: PathTip,
    coming: VecDeque<Turn>,
    sending: Option<OutgoingTurn>,
    waiting: VecDeque<Value>,
    /// The blocks that the client has already, as in [`SocketEncoder`].
    had: i64,
    arguments: ArgumentsForm,
    allowance: MessageRateLimit,
    place: OpenStream,
    lease: ConnectionLease,
}

impl SocketConnection {
    pub fn new(
        app: App,
        owner: UserId,
        chat: ChatId,
        end: PathTip,
        (place, lease): (OpenStream, ConnectionLease),
        arguments: ArgumentsForm,
    ) -> Self {
        Self {
            app,
            owner,
            chat,
            end,
            coming: VecDeque::new(),
            sending: None,
            waiting: VecDeque::new(),
            had: i64::MIN,
            arguments,
            allowance: MessageRateLimit::new(),
            place,
            lease,
        }
    }

    /// Serves the client until one side ends the connection.
    pub async fn run(mut self, socket: WebSocket, after: Option<i64>) {
        let (sink, mut incoming) = socket.split();
        let (out, queue) = mpsc::channel(MESSAGE_QUEUE);
        let writer = tasks::spawn(write_queued(sink, queue));
        let end = match self.serve(&out, &mut incoming, after).await {
            Ok(end) => end,
            Err(error) => {
                tracing::warn!(chat = %self.chat, %error, "a WebSocket was cut off");
                ConnectionEnd::Close(close_code::ERROR, "try again")
            }
        };
        if let ConnectionEnd::Close(code, reason) = end {
            let frame = CloseFrame { code, reason: reason.into() };
            let _ = timeout(limits::SOCKET_PATIENCE, out.send(Message::Close(Some(frame)))).await;
        }
        drop(out);
        let _ = writer.await;
    }

    async fn serve(
        &mut self,
        out: &mpsc::Sender<Message>,
        incoming: &mut (impl Stream<Item = Result<Message, axum::Error>> + Unpin),
        after: Option<i64>,
    ) -> Result<ConnectionEnd, ServiceError> {
        // The subscription starts before the first read of the path, so that no reply is missed in between.
        let mut begun = self.app.service().supervisor().subscribe_started_chats();
        let (closing, displaced) = (self.app.closing_token().clone(), self.place.displaced_token().clone());
        let lease = self.lease.clone();
        self.waiting.push_back(json!({ "type": "hello", "protocol": SOCKET_PROTOCOL, "session_id": self.chat,
            "features": FeatureFlags::CURRENT }));
        self.catch_up(after).await?;
        let mut heartbeat = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
        let mut last_received = Instant::now();
        loop {
            if self.sending.is_none() && self.waiting.is_empty() {
                self.next_turn().await?;
            }
            let is_idle = self.sending.is_none() && self.coming.is_empty();
            tokio::select! {
                biased;
                () = closing.cancelled() => return Ok(ConnectionEnd::Close(close_code::AWAY, "the server is shutting down")),
                () = lease.ended() => return Ok(ConnectionEnd::Close(close_code::POLICY, "you are signed out")),
                () = displaced.cancelled() => {
                    return Ok(ConnectionEnd::Close(close_code::POLICY, "too many streams: the oldest was closed"));
                }
                () = out.closed() => return Ok(ConnectionEnd::ClientGone),
                message = incoming.next(), if self.waiting.len() < MESSAGE_QUEUE => {
                    last_received = Instant::now();
                    if let Some(end) = self.receive(message).await {
                        return Ok(end);
                    }
                }
                permit = out.reserve(), if !self.waiting.is_empty() => {
                    if let (Ok(permit), Some(value)) = (permit, self.waiting.pop_front()) {
                        permit.send(Message::Text(value.to_string().into()));
                    }
                }
                next = next_event(&mut self.sending), if self.waiting.is_empty() && self.sending.is_some() => {
                    self.send(next).await?;
                }
                chat = begun.recv(), if is_idle => match chat {
                    Ok(chat) if chat != self.chat => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => {
                        self.check_path().await?;
                    }
                    Err(RecvError::Closed) => return Ok(ConnectionEnd::ClientGone),
                },
                _ = heartbeat.tick() => {
                    if out.capacity() < MESSAGE_QUEUE {
                        // A slow reader has not received the pings yet, so its silence does not count; the writer
                        // disconnects a client that reads nothing at all.
                        last_received = Instant::now();
                    }
                    if last_received.elapsed() > limits::HEARTBEAT * 2 {
                        return Ok(ConnectionEnd::ClientGone);
                    }
                    if out.try_send(Message::Ping(Default::default())).is_ok() {
                        self.waiting.push_back(json!({ "type": "heartbeat", "now": self.app.now() }));
                    }
                }
            }
        }
    }

    /// Queues the turns that the client lacks at the beginning.
    async fn catch_up(&mut self, after: Option<i64>) -> Result<(), ServiceError> {
        self.had = after.unwrap_or(i64::MIN);
        let (turns, has_more) =
            self.app.service().path_turns_after(self.owner, self.end, after.unwrap_or(i64::MAX)).await?;
        if has_more && after.is_some() {
            let message = format!("More than {} messages were added; load them first.", limits::PAGE_MAX);
            self.waiting.push_back(json!({ "type": "error", "code": "too_far_behind", "message": message }));
        }
        self.coming.extend(turns);
        self.check_path().await.map(drop)
    }

    /// Queues the turns that were added to the path. If its end was deleted, the client receives the turn and branch
    /// from which it continues.
    async fn check_path(&mut self) -> Result<PathCheck, ServiceError> {
        let PathUpdate { end, turns, is_cut } =
            match self.app.service().path_update(self.owner, self.chat, self.end).await {
                // The chat was deleted: there is nothing to follow unless it is restored.
                Err(ServiceError::NotFound) => return Ok(PathCheck::Intact),
                grown => grown?,
            };
        self.end = end;
        self.coming.extend(turns);
        if !is_cut {
            return Ok(PathCheck::Intact);
        }
        let message = "The end of this path was deleted. New messages continue from what is left.";
        self.waiting.push_back(json!({ "type": "error", "code": "path_deleted", "message": message,
            "turn_id": end.turn, "branch_id": end.branch }));
        Ok(PathCheck::EndDeleted)
    }

    /// Starts sending the next turn, if there is one.
    async fn next_turn(&mut self) -> Result<(), ServiceError> {
        let Some(turn) = self.coming.pop_front() else { return Ok(()) };
        let mut encoder = SocketEncoder::new(&turn, self.had, self.arguments);
        if turn.status.is_terminal() {
            self.waiting.extend(encoder.encode_snapshot(turn));
            return Ok(());
        }
        self.sending = self.follow(turn.id, encoder, EventCursor::After(0)).await?;
        Ok(())
    }

    async fn follow(
        &mut self,
        id: TurnId,
        encoder: SocketEncoder,
        cursor: EventCursor,
    ) -> Result<Option<OutgoingTurn>, ServiceError> {
        let followed = self.app.service().supervisor().follow(self.owner, id, cursor).await?;
        // `None` if the turn was deleted meanwhile.
        Ok(followed.map(|followed| {
            let events = outgoing_events(self.app.clone(), self.owner, id, followed, EventExtras::default());
            OutgoingTurn { id, encoder, events: Box::pin(events) }
        }))
    }

    /// Handles the next event of the turn that is being sent, or its end.
    async fn send(&mut self, next: Option<OutgoingEvent>) -> Result<(), ServiceError> {
        let Some(sending) = &mut self.sending else { return Ok(()) };
        match next {
            Some(OutgoingEvent::Followed(FollowerItem::Line(line))) => {
                self.waiting.extend(sending.encoder.encode_line(&line))
            }
            Some(OutgoingEvent::Followed(FollowerItem::Snapshot(turn))) => {
                self.waiting.extend(sending.encoder.encode_snapshot(*turn))
            }
            Some(OutgoingEvent::Signal(_)) => {}
            None if sending.encoder.is_over() => {
                self.sending = None;
                self.check_path().await?;
            }
            None => {
                // The follower was cut off before the end, so it resumes after the last event that was sent.
                let Some(OutgoingTurn { id, encoder, .. }) = self.sending.take() else { return Ok(()) };
                let cursor = EventCursor::After(encoder.last_event_seq());
                self.sending = self.follow(id, encoder, cursor).await?;
            }
        }
        Ok(())
    }

    /// Handles a message of the client. `Some` ends the connection.
    async fn receive(&mut self, message: Option<Result<Message, axum::Error>>) -> Option<ConnectionEnd> {
        let command = match message {
            None | Some(Ok(Message::Close(_))) => return Some(ConnectionEnd::ClientGone),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return None,
            Some(Ok(Message::Text(text))) => Ok(text),
            Some(Ok(Message::Binary(_))) => Err(Problem::new(
                http::StatusCode::BAD_REQUEST,
                "invalid",
                CodedMessage::uncoded("Messages must be text frames."),
            )),
            Some(Err(error)) => {
                tracing::debug!(%error, "a WebSocket client violated the protocol");
                return Some(ConnectionEnd::Close(close_code::SIZE, "the message is too large or malformed"));
            }
        };
        if !self.allowance.try_take() {
            return Some(ConnectionEnd::Close(close_code::POLICY, "too many messages"));
        }
        let done = match command.and_then(|text| client_message::parse_client_message(&text)) {
            Ok(SocketClientMessage::Cancel {}) => self.cancel().await,
            Ok(SocketClientMessage::Message { content, provider, model, params, client_request_id }) => {
                let place = PlacementRequest {
                    prev_turn_id: self.end.turn,
                    branch_id: Some(self.end.branch),
                    provider,
                    model,
                    ..PlacementRequest::default()
                };
                let content = content.into();
                self.start(TurnRequest {
                    chat_id: Some(self.chat),
                    content,
                    place,
                    params,
                    client_request_id,
                    ..Default::default()
                })
                .await
            }
            Err(problem) => Err(problem),
        };
        if let Err(problem) = done {
            self.waiting.push_back(problem.as_event());
        }
        None
    }

    /// Starts a turn. A message is never added where its sender did not see it go: below a deleted end it is refused,
    /// and continues from the new end when it is sent again.
    async fn start(&mut self, message: TurnRequest) -> Result<(), Problem> {
        match self.app.service().start_turn(self.owner, message).await {
            Ok(started) => self.end.branch = started.branch.id,
            Err(refused) if self.check_path().await? == PathCheck::Intact => return Err(refused.into()),
            Err(_) => return Ok(()),
        }
        self.check_path().await?;
        Ok(())
    }

    /// Stops the reply that is being sent or comes next. A reply that has ended does not change.
    async fn cancel(&mut self) -> Result<(), Problem> {
        let coming = || self.coming.iter().find(|turn| !turn.status.is_terminal()).map(|turn| turn.id);
        if let Some(turn) = self.sending.as_ref().map(|sending| sending.id).or_else(coming) {
            self.app.service().stop_turn(self.owner, turn).await?;
        }
        Ok(())
    }
}

async fn next_event(sending: &mut Option<OutgoingTurn>) -> Option<OutgoingEvent> {
    sending.as_mut()?.events.next().await
}
