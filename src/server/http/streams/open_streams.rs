//! The open streams of each client, over SSE, NDJSON and WebSockets together. When a client exceeds its bound, its
//! oldest stream is displaced (asked to close), because that is the forgotten tab or script.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::extract::FromRequestParts;
use http::request::Parts;
use tokio_util::sync::CancellationToken;

use crate::domain::{UserId, limits};
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::response::problem::Problem;
use turnleaf_platform::client_network::client_network;

/// The key of a client: its owner and network address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Subscriber {
    owner: UserId,
    network: IpAddr,
    is_local: bool,
}

impl Subscriber {
    pub fn new(owner: UserId, client: ClientIdentity) -> Self {
        Self { owner, network: client_network(client.address), is_local: client.is_local() }
    }

    /// Returns the bound on streams. This machine itself has the bound of the whole instance.
    fn stream_limit(&self) -> usize {
        if self.is_local { limits::LOCAL_STREAMS } else { limits::STREAMS_PER_CLIENT }
    }
}

/// The open streams of all clients, the oldest of each first.
#[derive(Debug, Clone, Default)]
pub struct OpenStreams(Arc<Mutex<HashMap<Subscriber, VecDeque<CancellationToken>>>>);

/// One open stream. Dropping it removes it from the list.
#[derive(Debug)]
pub struct OpenStream {
    streams: OpenStreams,
    subscriber: Subscriber,
    token: CancellationToken,
}

impl OpenStream {
    /// Returns a token that is cancelled when the stream must close, because its client has opened too many others
    /// since.
    pub fn displaced_token(&self) -> &CancellationToken {
        &self.token
    }
}

impl OpenStreams {
    /// Opens a stream, and displaces the oldest one if the client exceeds its bound.
    pub fn open(&self, subscriber: Subscriber) -> OpenStream {
        let token = CancellationToken::new();
        self.with_streams(|all| {
            let streams = all.entry(subscriber).or_default();
            streams.push_back(token.clone());
            if streams.len() > subscriber.stream_limit() {
                streams.pop_front().inspect(CancellationToken::cancel);
            }
        });
        OpenStream { streams: self.clone(), subscriber, token }
    }

    fn with_streams<T>(&self, act: impl FnOnce(&mut HashMap<Subscriber, VecDeque<CancellationToken>>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        // Tokens cannot be compared, so this one is cancelled first and then all cancelled ones are removed.
        self.token.cancel();
        self.streams.with_streams(|all| {
            if let Some(streams) = all.get_mut(&self.subscriber) {
                streams.retain(|token| !token.is_cancelled());
                if streams.is_empty() {
                    all.remove(&self.subscriber);
                }
            }
        });
    }
}

impl<S: Send + Sync> FromRequestParts<S> for ClientIdentity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        parts.extensions.get::<Self>().copied().ok_or_else(|| Problem::internal("nothing identified the client"))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use turnleaf_platform::ids;

    #[test]
    fn oldest_stream_closes_when_client_opens_too_many() {
        let streams = OpenStreams::default();
        let network = IpAddr::V4(Ipv4Addr::new(203, 0, 113, 7));
        let owner = ids::mint();
        let subscriber = Subscriber { owner, network, is_local: false };
        let mut open: Vec<OpenStream> = (0..limits::STREAMS_PER_CLIENT).map(|_| streams.open(subscriber)).collect();
        // Another client of the same person has a bound of its own.
        let other = streams.open(Subscriber { network: IpAddr::V4(Ipv4Addr::new(203, 0, 113, 8)), ..subscriber });
        assert!(open.iter().all(|stream| !stream.displaced_token().is_cancelled()));
        open.push(streams.open(subscriber));
        let displaced =
            |open: &[OpenStream]| open.iter().take_while(|one| one.displaced_token().is_cancelled()).count();
        assert_eq!(displaced(&open), 1);
        // A stream that ends by itself makes room.
        drop(open.remove(5));
        open.push(streams.open(subscriber));
        assert_eq!(displaced(&open), 1);
        assert!(!other.displaced_token().is_cancelled());
        drop((open, other));
        assert!(streams.with_streams(|all| all.is_empty()));
    }
}
