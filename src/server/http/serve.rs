//! The accept loop. Our own, because it sets what a library's leaves open: no delayed sending, a bound on the time and
//! the size of a request's head, patience when file descriptors run out, and an end that waits for no one for ever.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::domain::limits;
use crate::server::http::problem::Problem;

/// Pause after a failed accept: long enough for connections to end, short enough that nobody notices.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// What open connections get beyond the drain, to send the endings that the drain wrote.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Serves until `shutdown` is cancelled. Then no connection is accepted any more, idle ones are closed, requests under
/// way may finish, and what is left after the drain time is cut. Handlers of endless streams should watch the same
/// token.
pub async fn serve(listeners: Vec<TcpListener>, router: Router, shutdown: CancellationToken) -> io::Result<()> {
    serve_with(listeners, router, shutdown, limits::DRAIN + LAST_WORDS).await
}

/// The same with the time that connections get after the end was asked for.
async fn serve_with(
    listeners: Vec<TcpListener>,
    router: Router,
    shutdown: CancellationToken,
    patience: Duration,
) -> io::Result<()> {
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    let mut loops = JoinSet::new();
    let router = router.layer(from_fn_with_state((connections.clone(), cut.clone()), finish));
    for listener in listeners {
        let (router, shutdown, connections, cut) = (router.clone(), shutdown.clone(), connections.clone(), cut.clone());
        loops.spawn(async move {
            while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
                match accepted {
                    Ok((stream, _)) => {
                        let connection = connection(stream, router.clone(), shutdown.clone());
                        let cut = cut.clone();
                        connections.spawn(async move { cut.run_until_cancelled(connection).await });
                    }
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept connections");
                        let _ = shutdown.run_until_cancelled(tokio::time::sleep(ACCEPT_PAUSE)).await;
                    }
                }
            }
        });
    }
    while let Some(ended) = loops.join_next().await {
        ended.map_err(io::Error::other)?;
    }
    connections.close();
    if tokio::time::timeout(patience, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "cutting connections that did not end in time");
        cut.cancel();
        connections.wait().await;
    }
    Ok(())
}

/// What was asked for is done to its end, also where whoever asked has hung up: hyper drops the work on a request with its
/// connection, and a page that is left at once would have shown as done what never was. What is only got ends with its reader.
async fn finish(
    State((tasks, cut)): State<(TaskTracker, CancellationToken)>,
    request: Request,
    next: Next,
) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    let work = async move { cut.run_until_cancelled(next.run(request)).await };
    match tasks.spawn(work).await {
        Ok(Some(response)) => response,
        Ok(None) => Problem::internal("cut off at the end of the drain time").into_response(),
        Err(error) => Problem::internal(error).into_response(),
    }
}

async fn connection(stream: TcpStream, router: Router, shutdown: CancellationToken) {
    // Without this the kernel holds small writes back until the last one is acknowledged, up to 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot switch off delayed sending");
    }
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits::HEAD_TIME)
        .max_buf_size(limits::HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
        .with_upgrades();
    tokio::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = shutdown.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::trace!(%error, "connection ended early");
    }
}

/// Errors that concern only the connection that was about to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
