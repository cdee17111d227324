//! The accept loop, instead of `axum::serve`, because it controls what that leaves open: `TCP_NODELAY`, bounds on the
//! time and size of a request's head, write timeouts, connections per address, a pause when file descriptors run out,
//! and a graceful shutdown with a deadline.

mod write_timeout;

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::write_timeout::{DownloadFlag, WriteTimeoutStream};
use crate::domain::limits;
use crate::server::http::request::admission::KeyedLimiter;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::client_network::client_network;
use turnleaf_platform::config::security::AddressRange;
use turnleaf_platform::tasks::TaskError;

/// Pause after a failed accept: long enough for connections to end, short enough to go unnoticed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Time that open connections have after the drain, to send the endings that the drain wrote.
const CLOSE_GRACE: Duration = Duration::from_secs(1);

/// Bounds on connections.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections that one address may have open, and that this machine may have. Proxies carry the connections of
    /// many clients and have no bound.
    pub per_address: usize,
    pub local: usize,
    pub proxies: Vec<AddressRange>,
    /// Time limit for the head of a request.
    pub head_time: Duration,
    /// Write timeouts: how long a client may read nothing, of an ordinary response and of a download.
    pub write_time: Duration,
    pub download_write_time: Duration,
    /// Drain time: how long running requests may take after the shutdown began.
    pub drain: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            per_address: limits::CONNECTIONS_PER_ADDRESS,
            local: limits::LOCAL_CONNECTIONS,
            proxies: Vec::new(),
            head_time: limits::HEAD_TIME,
            write_time: limits::WRITE_TIME,
            download_write_time: limits::DOWNLOAD_WRITE_TIME,
            drain: limits::DRAIN,
        }
    }
}

impl ConnectionLimits {
    /// Returns the number of connections that this address may have; `None` is no bound.
    fn connection_limit(&self, address: IpAddr) -> Option<usize> {
        if self.proxies.iter().any(|range| range.contains(address)) {
            return None;
        }
        Some(if address.to_canonical().is_loopback() { self.local } else { self.per_address })
    }
}

/// Serves until `shutdown` is cancelled. Then it accepts no more connections, closes idle ones, lets running requests
/// finish, and aborts what is left after the drain time. Handlers of endless streams should watch the same token.
pub async fn serve(listeners: Vec<TcpListener>, router: Router, shutdown: CancellationToken) -> io::Result<()> {
    serve_with_limits(listeners, router, shutdown, ConnectionLimits::default()).await
}

/// Serves like [`serve`], with these bounds.
pub async fn serve_with_limits(
    listeners: Vec<TcpListener>,
    router: Router,
    shutdown: CancellationToken,
    bounds: ConnectionLimits,
) -> io::Result<()> {
    let (bounds, counts) = (Arc::new(bounds), KeyedLimiter::default());
    let connections = TaskTracker::new();
    let cut = CancellationToken::new();
    let mut loops = JoinSet::new();
    let router = router.layer(from_fn_with_state((connections.clone(), cut.clone()), finish_mutations));
    for listener in listeners {
        let (router, shutdown, connections, cut) = (router.clone(), shutdown.clone(), connections.clone(), cut.clone());
        let (bounds, counts) = (bounds.clone(), counts.clone());
        loops.spawn(async move {
            while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
                match accepted {
                    Ok((stream, peer)) => {
                        let bound = bounds.connection_limit(peer.ip());
                        let place = bound.map(|bound| counts.try_acquire(client_network(peer.ip()), bound));
                        if matches!(place, Some(None)) {
                            refuse_connection(&stream);
                            continue;
                        }
                        let connection =
                            serve_connection(stream, peer, router.clone(), shutdown.clone(), bounds.clone());
                        let cut = cut.clone();
                        connections.spawn(async move {
                            let _place = place;
                            cut.run_until_cancelled(connection).await
                        });
                    }
                    Err(error) if is_connection_error(&error) => {}
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept connections");
                        let _ = shutdown.run_until_cancelled(tokio::time::sleep(ACCEPT_PAUSE)).await;
                    }
                }
            }
        });
    }
    while let Some(ended) = loops.join_next().await {
        ended.map_err(|error| io::Error::other(TaskError::from(error)))?;
    }
    connections.close();
    if tokio::time::timeout(bounds.drain + CLOSE_GRACE, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "cutting connections that did not end in time");
        cut.cancel();
        connections.wait().await;
    }
    Ok(())
}

/// Runs mutating requests in a detached task, because hyper drops the handler future when the client disconnects: a
/// page that is left at once would show as done what was never done (`docs/adr/0004-mutations-run-detached.md`). Safe
/// requests end with their client.
async fn finish_mutations(
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
        Err(error) => Problem::internal(TaskError::from(error)).into_response(),
    }
}

/// Sends 429 to a client whose address has too many connections, as far as the socket takes it without waiting.
fn refuse_connection(stream: &TcpStream) {
    tracing::debug!("an address has too many connections");
    let _ = stream.try_write(
        b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
}

async fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    shutdown: CancellationToken,
    bounds: Arc<ConnectionLimits>,
) {
    // `TCP_NODELAY`: otherwise the kernel holds small writes back until the last one is acknowledged, up to 40 ms.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot switch off delayed sending");
    }
    // The timeout disconnects a client that reads nothing, which also frees what waits to be sent to it.
    let is_download = DownloadFlag::default();
    let times = (bounds.write_time, bounds.download_write_time);
    let stream = WriteTimeoutStream::new(stream, is_download.clone(), times);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(peer));
        let (answering, is_download) = (router.call(request), is_download.clone());
        async move { answering.await.inspect(|response| is_download.set(response)) }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_time)
        .max_buf_size(limits::HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
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

/// Returns whether an error concerns only the connection that was about to be accepted.
fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
