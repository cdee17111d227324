//! Admission: decides which requests the server answers at all, and identifies the client of each. Behind a proxy
//! that authenticates people, a request is admitted when its socket peer is a trusted proxy **and** it carries the
//! secret that the proxy shares with the server; every other request is refused with 403 on every route, static files
//! included.
//!
//! `/healthz` and `/readyz` stay open to this machine itself, so that a container or a service manager can monitor a
//! server without knowing the secret. They reveal nothing but a status.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode};
use hyper::body::{Frame, SizeHint};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::domain::CodedMessage;
use crate::domain::MessageCode;
use crate::domain::limits;
use crate::server::http::request::proxy_user::ProxyUserHeaders;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::client_network::client_network;
use turnleaf_platform::config::security::{AddressRange, AuthMode, SecuritySettings};

/// The header in which a proxy sends the shared secret. It is removed before anything else sees the request.
pub const PROXY_SECRET_HEADER: &str = "x-turnleaf-proxy-secret";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// The rules of admission, and the number of running requests of each client.
#[derive(Debug, Clone, Default)]
pub struct Admission(Arc<AdmissionRules>);

#[derive(Debug, Default)]
struct AdmissionRules {
    /// True if only requests from the proxies are answered.
    needs_proxy: bool,
    proxies: Vec<AddressRange>,
    secret_digest: Option<[u8; 32]>,
    /// The headers in which the proxy names people.
    user_headers: Option<ProxyUserHeaders>,
    running: KeyedLimiter<IpAddr>,
    /// Set once the log has warned that a proxy does not name its clients.
    has_warned: AtomicBool,
}

/// The decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AdmissionVerdict {
    Admitted,
    NotTheProxy,
    TooMany,
}

/// The client of a request, stored in the request's extensions.
#[derive(Debug, Clone, Copy)]
pub struct ClientIdentity {
    /// The address of the socket's peer, or the client address that a trusted proxy names.
    pub address: IpAddr,
    /// The address of the socket's peer.
    peer: IpAddr,
    /// True if the peer is a trusted proxy. A proxy on this machine connects from loopback, and its clients may claim
    /// a loopback address.
    is_from_proxy: bool,
    verdict: AdmissionVerdict,
}

impl ClientIdentity {
    /// Returns whether the client is this machine itself. A client behind a proxy never is, whatever the proxy says
    /// or omits.
    pub fn is_local(&self) -> bool {
        !self.is_from_proxy && self.peer.is_loopback()
    }

    pub fn is_admitted(&self) -> bool {
        self.verdict == AdmissionVerdict::Admitted
    }
}

impl Admission {
    pub fn new(security: &SecuritySettings) -> Self {
        Self(Arc::new(AdmissionRules {
            needs_proxy: security.auth.value == AuthMode::Proxy,
            proxies: security.trusted_proxies.value.clone(),
            secret_digest: security.proxy_secret_digest(),
            user_headers: security.proxy_users.as_ref().map(ProxyUserHeaders::from),
            running: KeyedLimiter::default(),
            has_warned: AtomicBool::new(false),
        }))
    }

    /// Identifies the client and decides on admission. Removes the secret and the name of the person from the headers;
    /// the name counts only from the proxy.
    fn identify(&self, request: &mut Request) -> ClientIdentity {
        // Only requests of tests come without a socket.
        let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_canonical());
        let is_from_proxy = peer.is_some_and(|peer| self.is_proxy(peer));
        let has_secret = self.has_secret(request.headers());
        request.headers_mut().remove(PROXY_SECRET_HEADER);
        let is_admitted = !self.0.needs_proxy || (is_from_proxy && has_secret);
        let named = self.0.user_headers.as_ref().and_then(|headers| headers.take(request.headers_mut()));
        if let Some(named) = named.filter(|_| is_from_proxy && has_secret) {
            request.extensions_mut().insert(named);
        }
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let named = (is_from_proxy && is_admitted).then(|| self.forwarded_address(request.headers()));
        if named == Some(None) && !self.0.has_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                %peer,
                "a proxy does not name its clients in X-Forwarded-For: all of its requests count as one client"
            );
        }
        let address = named.flatten().unwrap_or(peer);
        let verdict = if is_admitted { AdmissionVerdict::Admitted } else { AdmissionVerdict::NotTheProxy };
        ClientIdentity { address, peer, is_from_proxy, verdict }
    }

    fn is_proxy(&self, address: IpAddr) -> bool {
        self.0.proxies.iter().any(|range| range.contains(address))
    }

    /// Returns whether the header occurs exactly once and is right. Digests are compared in constant time, so that
    /// response times reveal neither content nor length of the secret.
    fn has_secret(&self, headers: &HeaderMap) -> bool {
        let mut given = headers.get_all(PROXY_SECRET_HEADER).iter();
        match (self.0.secret_digest, given.next(), given.next()) {
            (Some(expected), Some(given), None) => {
                bool::from(Sha256::digest(given.as_bytes()).as_slice().ct_eq(expected.as_slice()))
            }
            _ => false,
        }
    }

    /// Returns the rightmost hop of `X-Forwarded-For` that is no trusted proxy. A client can forge what is left of
    /// it, in any bytes, so lines are split before they are decoded. A hop that is no address ends the walk at the
    /// hop that reported it.
    fn forwarded_address(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let lines: Vec<&[u8]> = headers.get_all(FORWARDED_FOR).iter().map(HeaderValue::as_bytes).collect();
        let mut last = None;
        for hop in lines.iter().rev().flat_map(|line| line.rsplit(|byte| *byte == b',')) {
            let Some(address) = str::from_utf8(hop).ok().and_then(|hop| parse_hop_address(hop.trim())) else {
                return last;
            };
            last = Some(address);
            if !self.is_proxy(address) {
                return last;
            }
        }
        last
    }
}

/// Parses the address of a hop, which some proxies write with its port.
fn parse_hop_address(hop: &str) -> Option<IpAddr> {
    let unbracketed = hop.strip_prefix('[').and_then(|hop| hop.strip_suffix(']'));
    let address = unbracketed.unwrap_or(hop).parse().ok();
    address.or_else(|| hop.parse::<SocketAddr>().ok().map(|hop| hop.ip())).map(|address: IpAddr| address.to_canonical())
}

/// The outermost layer: identifies the client. The body of a request that does not come from the proxy is dropped
/// unread. A request beyond the client's bound keeps its body, so that the error page shows the typed text.
pub async fn identify_client(State(admission): State<Admission>, mut request: Request, next: Next) -> Response {
    let mut client = admission.identify(&mut request);
    let is_counted = client.is_admitted() && !client.is_local();
    let network = client_network(client.address);
    let place = is_counted.then(|| admission.0.running.try_acquire(network, limits::REQUESTS_PER_CLIENT));
    if matches!(place, Some(None)) {
        client.verdict = AdmissionVerdict::TooMany;
    }
    if client.verdict == AdmissionVerdict::NotTheProxy {
        *request.body_mut() = Body::empty();
    }
    request.extensions_mut().insert(client);
    let response = next.run(request).await;
    match place.flatten() {
        Some(place) if response.extensions().get::<UncountedResponse>().is_none() => {
            hold_permit_until_sent(response, place)
        }
        _ => response,
    }
}

/// Marks the response of a stream with a bound of its own ([`super::open_streams`]): its request permit is released
/// with the response head.
#[derive(Debug, Clone, Copy)]
pub struct UncountedResponse;

/// Holds a permit until the body of the response is sent or dropped.
pub fn hold_permit_until_sent<K: Hash + Eq + Send + Unpin + 'static>(
    response: Response,
    place: KeyedPermit<K>,
) -> Response {
    response.map(|inner| Body::new(HeldBody { inner, rest: Bytes::new(), _place: place }))
}

/// Size of the chunks that a held body yields. Hyper drops a body once it has taken the last chunk, and would take a
/// page of megabytes as one.
const PIECE_BYTES: usize = 64 << 10;

/// A body that holds a permit.
struct HeldBody<K: Hash + Eq> {
    inner: Body,
    /// The buffer: bytes that were received and not passed on yet.
    rest: Bytes,
    _place: KeyedPermit<K>,
}

impl<K: Hash + Eq + Unpin> HttpBody for HeldBody<K> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.rest.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(bytes) => self.rest = bytes,
                    Err(frame) => return Poll::Ready(Some(Ok(frame))),
                },
                end => return Poll::Ready(end),
            }
        }
        let length = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.inner.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

/// Refuses requests that were not admitted, inside of the layers that add headers and the language. A request whose
/// client was not identified is not admitted.
pub async fn require_admission(request: Request, next: Next) -> Response {
    let client = request.extensions().get::<ClientIdentity>().copied();
    let is_health = matches!(request.uri().path(), "/healthz" | "/readyz");
    match client {
        Some(ClientIdentity { verdict: AdmissionVerdict::Admitted, .. }) => next.run(request).await,
        Some(ClientIdentity { peer, .. }) if is_health && peer.is_loopback() => next.run(request).await,
        Some(ClientIdentity { verdict: AdmissionVerdict::TooMany, .. }) => {
            Problem::too_many(MessageCode::TooManyInProgress, 1).into_response()
        }
        _ => {
            let detail = CodedMessage::uncoded("This server only accepts requests from its reverse proxy.");
            Problem::new(StatusCode::FORBIDDEN, "proxy_required", detail).into_response()
        }
    }
}

/// A concurrency limiter: counts the permits of each address, person or other key.
#[derive(Debug)]
pub struct KeyedLimiter<K>(Arc<Mutex<HashMap<K, usize>>>);

impl<K> Default for KeyedLimiter<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K> Clone for KeyedLimiter<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// A permit. Dropping it releases it.
#[derive(Debug)]
pub struct KeyedPermit<K: Hash + Eq> {
    counts: KeyedLimiter<K>,
    key: K,
}

impl<K: Hash + Eq + Copy> KeyedLimiter<K> {
    /// Acquires a permit, unless the key holds `most` already.
    pub fn try_acquire(&self, key: K, most: usize) -> Option<KeyedPermit<K>> {
        self.with_counts(|counts| {
            let count = counts.entry(key).or_insert(0);
            let is_free = *count < most;
            *count += usize::from(is_free);
            is_free
        })
        .then(|| KeyedPermit { counts: self.clone(), key })
    }
}

impl<K> KeyedLimiter<K> {
    fn with_counts<T>(&self, act: impl FnOnce(&mut HashMap<K, usize>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<K: Hash + Eq> Drop for KeyedPermit<K> {
    fn drop(&mut self) {
        self.counts.with_counts(|counts| {
            if let Some(count) = counts.get_mut(&self.key) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&self.key);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests;
