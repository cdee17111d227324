//! The response of a stream of events: its headers, its place among the streams of its client, and its end with the
//! session or the token that it was opened with.

use std::convert::Infallible;
use std::pin::pin;

use async_stream::stream;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};

use crate::server::http::request::admission;
use crate::server::http::request::principal::ConnectionLease;
use crate::server::http::streams::open_streams::OpenStream;

/// The delay before a browser reconnects after a lost connection, in milliseconds.
pub const RETRY_MS: u32 = 500;
/// The delay before a displaced stream reconnects, in milliseconds. Without it, the stream would at once displace another
/// one of its client.
pub const DISPLACED_RETRY_MS: u32 = 30_000;

/// The media type of a stream, and the bytes around its events.
pub struct StreamFraming {
    pub content_type: &'static str,
    pub opening: Option<Bytes>,
    /// The last bytes of a stream that is displaced, because its client has opened too many others.
    pub displaced: Option<Bytes>,
}

/// Returns the response with these events.
pub fn stream_response(
    StreamFraming { content_type, opening, displaced }: StreamFraming,
    (place, lease): (OpenStream, ConnectionLease),
    events: impl Stream<Item = Bytes> + Send + 'static,
) -> Response {
    let bytes = stream! {
        if let Some(opening) = opening {
            yield Ok::<Bytes, Infallible>(opening);
        }
        let mut events = pin!(events);
        // One wait for the whole stream: each new one would be registered with the token.
        let mut is_displaced = pin!(place.displaced_token().cancelled());
        let mut signed_out = pin!(lease.ended());
        loop {
            let next = tokio::select! {
                biased;
                () = &mut is_displaced => break,
                () = &mut signed_out => return,
                next = events.next() => next,
            };
            match next {
                Some(bytes) => yield Ok(bytes),
                None => return,
            }
        }
        if let Some(displaced) = displaced {
            yield Ok(displaced);
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(content_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store, no-transform")),
        // A buffering proxy would hold events back until the end.
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (Extension(admission::UncountedResponse), headers, Body::from_stream(bytes)).into_response()
}
