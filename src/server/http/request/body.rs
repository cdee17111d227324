//! Bounds on the length and the duration of every request body. A body may arrive at any speed within a grace period;
//! after that it must keep a minimum rate, and uploads and imports have a total time limit. Only the time that the
//! server waits for the client counts, because a slow handler is not the client's fault.
//!
//! The outer layer guards the body, so that nothing reads an unguarded one. The inner layer answers with 408 or 413
//! in place of what the route's extractor made of an aborted body.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, BodyDataStream, Bytes, HttpBody};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use http::StatusCode;
use tokio::time::{Instant, Sleep, sleep};

use crate::domain::MessageCode;
use crate::domain::limits;
use crate::server::http::request::multipart_form::SubmittedText;
use crate::server::http::response::problem::Problem;

/// Limits on how slowly a body may arrive.
#[derive(Debug, Clone, Copy)]
pub struct BodyPaceLimits {
    /// Grace period, within which no rate is required.
    pub grace: Duration,
    /// After the grace period each window must bring at least `window_bytes`.
    pub window: Duration,
    pub window_bytes: u64,
    /// Total time of an upload, or of any body that is no import.
    pub upload_time: Duration,
    pub import_time: Duration,
}

impl Default for BodyPaceLimits {
    fn default() -> Self {
        Self {
            grace: limits::BODY_TIME,
            window: limits::BODY_WINDOW,
            window_bytes: limits::BODY_WINDOW_BYTES,
            upload_time: limits::UPLOAD_TIME,
            import_time: limits::IMPORT_TIME,
        }
    }
}

/// The kind of body that a route accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyKind {
    Plain,
    Upload,
    FormWithFiles,
    Import,
}

impl BodyKind {
    /// Returns the kind for a path. Only routes that accept files allow longer bodies.
    pub fn from_path(path: &str) -> Self {
        match path {
            "/api/blobs" => Self::Upload,
            "/forms/documents/upload" | "/forms/attach" | "/forms/edit" => Self::FormWithFiles,
            "/api/imports" | "/forms/import" => Self::Import,
            _ => Self::Plain,
        }
    }

    pub fn byte_limit(self) -> usize {
        match self {
            Self::Plain => limits::BODY_BYTES,
            Self::Upload => limits::UPLOAD_BYTES,
            Self::FormWithFiles => limits::TURN_UPLOAD_BYTES,
            Self::Import => limits::IMPORT_BYTES,
        }
    }
}

/// The bound that the client violated, shared between the guard and the layer that answers for it.
#[derive(Debug, Clone, Default)]
struct BodyViolation(Arc<AtomicU8>);

impl BodyViolation {
    const SLOW: u8 = 1;
    const LONG: u8 = 2;

    fn record(&self, outcome: u8) {
        self.0.store(outcome, Ordering::Relaxed);
    }

    fn problem(&self, kind: BodyKind) -> Option<Problem> {
        match self.0.load(Ordering::Relaxed) {
            Self::SLOW => Some(too_slow_problem()),
            Self::LONG => Some(Problem::too_large(kind.byte_limit())),
            _ => None,
        }
    }
}

/// Returns 408.
fn too_slow_problem() -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "too_slow", MessageCode::TooSlow)
}

/// The outer layer: guards the body.
pub async fn guard(State(pace): State<BodyPaceLimits>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if body.is_end_stream() {
        return next.run(Request::from_parts(parts, body)).await;
    }
    let violation = BodyViolation::default();
    parts.extensions.insert(violation.clone());
    let guarded = GuardedBody::new(body, BodyKind::from_path(parts.uri.path()), pace, violation);
    next.run(Request::from_parts(parts, Body::from_stream(guarded))).await
}

/// The inner layer: answers for a body that violated its bounds.
pub async fn answer_violation(request: Request, next: Next) -> Response {
    let violation = request.extensions().get::<BodyViolation>().cloned();
    let kind = BodyKind::from_path(request.uri().path());
    let response = next.run(request).await;
    match violation.and_then(|violation| violation.problem(kind)) {
        Some(problem) => {
            let written = response.extensions().get::<SubmittedText>().cloned();
            let mut answer = problem.into_response();
            if let Some(written) = written {
                answer.extensions_mut().insert(written);
            }
            answer
        }
        None => response,
    }
}

/// The reason why a guarded body ended early.
#[derive(Debug, thiserror::Error)]
enum BrokenBody {
    #[error("the request body took too long to arrive")]
    Slow,
    #[error("the request body is too large")]
    Long,
    #[error(transparent)]
    Broken(axum::Error),
}

struct GuardedBody {
    inner: BodyDataStream,
    violation: BodyViolation,
    byte_limit: u64,
    pace: BodyPaceLimits,
    total_time: Duration,
    received: u64,
    /// Total time that the server has waited for the client up to the last chunk, and the start of the current wait.
    waited: Duration,
    waiting_since: Option<Instant>,
    /// The current window: its end in waited time, and the bytes received when it began.
    window_end: Duration,
    window_start_bytes: u64,
    timer: Pin<Box<Sleep>>,
}

impl GuardedBody {
    fn new(inner: Body, kind: BodyKind, pace: BodyPaceLimits, violation: BodyViolation) -> Self {
        Self {
            inner: inner.into_data_stream(),
            violation,
            byte_limit: kind.byte_limit() as u64,
            pace,
            total_time: if kind == BodyKind::Import { pace.import_time } else { pace.upload_time },
            received: 0,
            waited: Duration::ZERO,
            waiting_since: None,
            window_end: pace.window,
            window_start_bytes: 0,
            timer: Box::pin(sleep(Duration::ZERO)),
        }
    }

    /// Returns whether a window that has ended after so much waiting was too slow, or the total time is over. Windows
    /// within the grace period always pass.
    fn is_too_slow(&mut self, waited: Duration) -> bool {
        while self.window_end <= waited {
            let brought = self.received - self.window_start_bytes;
            if self.window_end >= self.pace.grace && brought < self.pace.window_bytes {
                return true;
            }
            self.window_end += self.pace.window;
            self.window_start_bytes = self.received;
        }
        waited >= self.total_time
    }

    /// Ends the body. The rest is not read.
    fn fail(&mut self, outcome: u8, error: BrokenBody) -> Poll<Option<Result<Bytes, BrokenBody>>> {
        self.violation.record(outcome);
        self.inner = Body::empty().into_data_stream();
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for GuardedBody {
    type Item = Result<Bytes, BrokenBody>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let polled = this.inner.poll_next_unpin(cx);
        let now = Instant::now();
        let since = this.waiting_since.take();
        let waited = this.waited + since.map_or(Duration::ZERO, |since| now - since);
        match polled {
            Poll::Ready(piece) => {
                this.waited = waited;
                // Windows that ended before this chunk arrived are judged without it.
                if this.is_too_slow(waited) {
                    return this.fail(BodyViolation::SLOW, BrokenBody::Slow);
                }
                this.received += piece.as_ref().map_or(0, |piece| piece.as_ref().map_or(0, Bytes::len)) as u64;
                if this.received > this.byte_limit {
                    return this.fail(BodyViolation::LONG, BrokenBody::Long);
                }
                Poll::Ready(piece.map(|piece| piece.map_err(BrokenBody::Broken)))
            }
            Poll::Pending => {
                this.waiting_since = Some(since.unwrap_or(now));
                if this.is_too_slow(waited) {
                    return this.fail(BodyViolation::SLOW, BrokenBody::Slow);
                }
                let left = this.window_end.min(this.total_time) - waited;
                this.timer.as_mut().reset(now + left);
                match this.timer.as_mut().poll(cx) {
                    Poll::Pending => Poll::Pending,
                    // The deadline passed meanwhile; the next poll judges.
                    Poll::Ready(()) => {
                        cx.waker().wake_by_ref();
                        Poll::Pending
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
