//! One open WebSocket: what it follows, what it has to send, and what its client says.

use std::collections::VecDeque;
use std::pin::Pin;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use futures::{Stream, StreamExt};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio::time::{Instant, interval_at, timeout};

use crate::domain::{ChatId, Turn, TurnId, UserId, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::response::problem::Problem;
use crate::server::http::streams::events::encoder::Outgoing;
use crate::server::http::streams::events::outgoing;
use crate::server::http::streams::open_streams::OpenStream;
use crate::server::http::streams::socket::encoder::Encoder;
use crate::server::http::streams::socket::said::{self, Allowance, Said};
use crate::server::http::streams::socket::writer::write;
use turnleaf_platform::tasks;
use turnleaf_service::paths::growth::{Grown, PathEnd};
use turnleaf_service::turns::StartTurn;
use turnleaf_service::turns::placement::Wanted;
use turnleaf_service::{Cursor, Followed, ServiceError};

/// Messages that wait for a client that reads slowly; its turn waits in the journal.
const QUEUE: usize = 64;

/// A turn that is being sent.
struct Sending {
    id: TurnId,
    encoder: Encoder,
    events: Pin<Box<dyn Stream<Item = Outgoing> + Send>>,
}

/// What a look at the path found.
#[derive(PartialEq, Eq)]
enum Path {
    Whole,
    /// Its end was deleted, and the client was told.
    Cut,
}

/// Why a connection ends.
enum End {
    /// The client left or cannot be reached.
    Gone,
    Close(u16, &'static str),
}

pub struct Connection {
    app: App,
    owner: UserId,
    chat: ChatId,
    /// The last turn that was sent or stands in `coming`, and the branch that goes on from it.
    end: PathEnd,
    coming: VecDeque<Turn>,
    sending: Option<Sending>,
    waiting: VecDeque<Value>,
    /// As in [`Encoder`].
    had: i64,
    allowance: Allowance,
    place: OpenStream,
}

impl Connection {
    pub fn new(app: App, owner: UserId, chat: ChatId, end: PathEnd, place: OpenStream) -> Self {
        Self {
            app,
            owner,
            chat,
            end,
            coming: VecDeque::new(),
            sending: None,
            waiting: VecDeque::new(),
            had: i64::MIN,
            allowance: Allowance::new(),
            place,
        }
    }

    /// Serves the client until one side ends it.
    pub async fn run(mut self, socket: WebSocket, after: Option<i64>) {
        let (sink, mut incoming) = socket.split();
        let (out, queue) = mpsc::channel(QUEUE);
        let writer = tasks::spawn(write(sink, queue));
        let end = match self.serve(&out, &mut incoming, after).await {
            Ok(end) => end,
            Err(error) => {
                tracing::warn!(chat = %self.chat, %error, "a WebSocket was cut off");
                End::Close(close_code::ERROR, "try again")
            }
        };
        if let End::Close(code, reason) = end {
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
    ) -> Result<End, ServiceError> {
        // Before the first look, so that nothing begins between the two.
        let mut begun = self.app.service().supervisor().begun();
        let (closing, displaced) = (self.app.closing().clone(), self.place.displaced().clone());
        self.catch_up(after).await?;
        let mut heartbeat = interval_at(Instant::now() + limits::HEARTBEAT, limits::HEARTBEAT);
        let mut heard = Instant::now();
        loop {
            if self.sending.is_none() && self.waiting.is_empty() {
                self.next_turn().await?;
            }
            let is_idle = self.sending.is_none() && self.coming.is_empty();
            tokio::select! {
                biased;
                () = closing.cancelled() => return Ok(End::Close(close_code::AWAY, "the server is going down")),
                () = displaced.cancelled() => {
                    return Ok(End::Close(close_code::POLICY, "too many streams: this was the oldest"));
                }
                () = out.closed() => return Ok(End::Gone),
                message = incoming.next(), if self.waiting.len() < QUEUE => {
                    heard = Instant::now();
                    if let Some(end) = self.hear(message).await {
                        return Ok(end);
                    }
                }
                permit = out.reserve(), if !self.waiting.is_empty() => {
                    if let (Ok(permit), Some(value)) = (permit, self.waiting.pop_front()) {
                        permit.send(Message::Text(value.to_string().into()));
                    }
                }
                next = next_of(&mut self.sending), if self.waiting.is_empty() && self.sending.is_some() => {
                    self.send(next).await?;
                }
                chat = begun.recv(), if is_idle => match chat {
                    Ok(chat) if chat != self.chat => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => {
                        self.look().await?;
                    }
                    Err(RecvError::Closed) => return Ok(End::Gone),
                },
                _ = heartbeat.tick() => {
                    if out.capacity() < QUEUE {
                        // Who is slow to read has not come to the pings; who reads nothing at all is the writer's.
                        heard = Instant::now();
                    }
                    if heard.elapsed() > limits::HEARTBEAT * 2 {
                        return Ok(End::Gone);
                    }
                    if out.try_send(Message::Ping(Default::default())).is_ok() {
                        self.waiting.push_back(json!({ "type": "heartbeat", "now": self.app.now() }));
                    }
                }
            }
        }
    }

    /// What the client lacks at the beginning.
    async fn catch_up(&mut self, after: Option<i64>) -> Result<(), ServiceError> {
        self.had = after.unwrap_or(i64::MIN);
        let (turns, has_more) = self.app.service().path_behind(self.owner, self.end, after.unwrap_or(i64::MAX)).await?;
        if has_more && after.is_some() {
            let message = format!("More than {} turns lie behind; read them first.", limits::PAGE_MAX);
            self.waiting.push_back(json!({ "type": "error", "code": "too_far_behind", "message": message }));
        }
        self.coming.extend(turns);
        self.look().await.map(drop)
    }

    /// What was added to the path. Where its end was deleted, the client is told which turn and branch it goes on from.
    async fn look(&mut self) -> Result<Path, ServiceError> {
        let Grown { end, turns, is_cut } = match self.app.service().grown(self.owner, self.chat, self.end).await {
            // The chat was deleted: there is nothing to follow unless it comes back.
            Err(ServiceError::NotFound) => return Ok(Path::Whole),
            grown => grown?,
        };
        self.end = end;
        self.coming.extend(turns);
        if !is_cut {
            return Ok(Path::Whole);
        }
        let message = "The end of this path was deleted; messages go on from what is left.";
        self.waiting.push_back(json!({ "type": "error", "code": "path_deleted", "message": message,
            "turn_id": end.turn, "branch_id": end.branch }));
        Ok(Path::Cut)
    }

    /// Begins with the next turn, if there is one.
    async fn next_turn(&mut self) -> Result<(), ServiceError> {
        let Some(turn) = self.coming.pop_front() else { return Ok(()) };
        let mut encoder = Encoder::of(&turn, self.had);
        if turn.status.is_terminal() {
            self.waiting.extend(encoder.snapshot(turn));
            return Ok(());
        }
        self.sending = self.follow(turn.id, encoder, Cursor::After(0)).await?;
        Ok(())
    }

    async fn follow(&mut self, id: TurnId, encoder: Encoder, cursor: Cursor) -> Result<Option<Sending>, ServiceError> {
        let followed = self.app.service().supervisor().follow(self.owner, id, cursor).await?;
        // None: it was deleted meanwhile.
        Ok(followed.map(|followed| {
            let events = outgoing(self.app.clone(), Viewer(self.owner), id, followed, false);
            Sending { id, encoder, events: Box::pin(events) }
        }))
    }

    /// The next event of the turn that is being sent, or its end.
    async fn send(&mut self, next: Option<Outgoing>) -> Result<(), ServiceError> {
        let Some(sending) = &mut self.sending else { return Ok(()) };
        match next {
            Some(Outgoing::Followed(Followed::Line(line))) => self.waiting.extend(sending.encoder.line(&line)),
            Some(Outgoing::Followed(Followed::Snapshot(turn))) => self.waiting.extend(sending.encoder.snapshot(*turn)),
            Some(Outgoing::Signal(_)) => {}
            None if sending.encoder.is_over() => {
                self.sending = None;
                self.look().await?;
            }
            None => {
                // Cut off in the middle: it goes on behind what was sent.
                let Some(Sending { id, encoder, .. }) = self.sending.take() else { return Ok(()) };
                let cursor = Cursor::After(encoder.last_event_seq());
                self.sending = self.follow(id, encoder, cursor).await?;
            }
        }
        Ok(())
    }

    /// What the client says. `Some` ends the connection.
    async fn hear(&mut self, message: Option<Result<Message, axum::Error>>) -> Option<End> {
        let said = match message {
            None | Some(Ok(Message::Close(_))) => return Some(End::Gone),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => return None,
            Some(Ok(Message::Text(text))) => Ok(text),
            Some(Ok(Message::Binary(_))) => {
                Err(Problem::new(http::StatusCode::BAD_REQUEST, "invalid", "Messages are text."))
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "a WebSocket's client does not keep to the protocol");
                return Some(End::Close(close_code::SIZE, "the message is too large or no message"));
            }
        };
        if !self.allowance.take() {
            return Some(End::Close(close_code::POLICY, "too many messages"));
        }
        let done = match said.and_then(|text| said::read(&text)) {
            Ok(Said::Cancel {}) => self.cancel().await,
            Ok(Said::Message { content, provider, model, params, client_request_id }) => {
                let place = Wanted {
                    prev_turn_id: self.end.turn,
                    branch_id: Some(self.end.branch),
                    provider,
                    model,
                    may_branch: false,
                };
                let content = content.into();
                self.start(StartTurn {
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

    /// A message is never put where its sender did not see it go: below a deleted end it is refused, and goes on from
    /// what is left when it is said again.
    async fn start(&mut self, message: StartTurn) -> Result<(), Problem> {
        match self.app.service().start_turn(self.owner, message).await {
            Ok(started) => self.end.branch = started.branch.id,
            Err(refused) if self.look().await? == Path::Whole => return Err(refused.into()),
            Err(_) => return Ok(()),
        }
        self.look().await?;
        Ok(())
    }

    /// Stops the reply that is being sent or comes next. One that is over stays as it is.
    async fn cancel(&mut self) -> Result<(), Problem> {
        let coming = || self.coming.iter().find(|turn| !turn.status.is_terminal()).map(|turn| turn.id);
        if let Some(turn) = self.sending.as_ref().map(|sending| sending.id).or_else(coming) {
            self.app.service().stop_turn(self.owner, turn).await?;
        }
        Ok(())
    }
}

async fn next_of(sending: &mut Option<Sending>) -> Option<Outgoing> {
    sending.as_mut()?.events.next().await
}
