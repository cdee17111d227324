//! The shell around every route: what no route can forget, because it is not theirs to do.

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, ETAG};
use http::{Extensions, HeaderMap, HeaderValue, StatusCode, Version};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

use crate::server::http::request::admission::{self, Admission};
use crate::server::http::request::body::{self, BodyPace};
use crate::server::http::request::host::{self, AllowedHosts};
use crate::server::http::request::{csrf, id, language, size};
use crate::server::http::response::headers::{self, Transport};
use crate::server::http::response::problem::Problem;

/// What the shell needs to know.
#[derive(Debug, Clone, Default)]
pub struct HttpConfig {
    pub hosts: AllowedHosts,
    pub transport: Transport,
    /// The public address as browsers write it in `Origin`.
    pub public_origin: Option<String>,
    pub admission: Admission,
    pub body_pace: BodyPace,
}

/// Puts the shell around all routes and fallbacks that the router has by now. From outside in: the request's id and its
/// line in the log, the language, the headers of the response, its compression, panics, who is admitted, a body that broke
/// its bounds, the request's size, the name asked for, and cross-site requests. [`entrance`] goes around all of it.
pub fn layers<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        // The guard of every body has the bound.
        .layer(DefaultBodyLimit::disable())
        .layer(csrf::layer(config.public_origin.as_deref()))
        .layer(from_fn_with_state(config.hosts.clone(), host::layer))
        .layer(from_fn(size::layer))
        .layer(from_fn(body::answer))
        .layer(from_fn(admission::require))
        .layer(CatchPanicLayer::custom(panicked as fn(Box<dyn std::any::Any + Send>) -> Response<Body>))
        .layer(CompressionLayer::new().quality(CompressionLevel::Precise(6)).compress_when(shrinks as Shrinks))
        .layer(from_fn_with_state(config.transport, headers::layer))
        .layer(from_fn(language::layer))
        .layer(from_fn(id::layer))
}

/// Puts the outermost layers around everything, also around what tells failures on pages: the client is identified and the
/// body guarded before anything reads it.
pub fn entrance<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        .layer(from_fn_with_state(config.body_pace, body::guard))
        .layer(from_fn_with_state(config.admission.clone(), admission::identify))
}

type Shrinks = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Pages and the answers behind them travel smaller where the browser takes that. Files lie there compressed, streams go
/// out as they come, and what has a tag or is taken away as a file is what its length and its tag say. Of a failure that
/// comes without its length Chromium may show a page of its own instead.
fn shrinks(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_page = kind.starts_with(b"text/html") || kind.starts_with(b"application/json");
    status.is_success() && is_page && !headers.contains_key(ETAG) && !headers.contains_key(CONTENT_DISPOSITION)
}

/// What a panic says may quote what somebody wrote; where it happened is in the log already (`telemetry`).
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response<Body> {
    Problem::internal("a panic").into_response()
}
