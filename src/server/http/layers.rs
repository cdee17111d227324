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
use crate::server::http::request::allowed_hosts::{self, AllowedHosts};
use crate::server::http::request::body::{self, BodyPaceLimits};
use crate::server::http::request::{csrf, language, request_id, size_limits};
use crate::server::http::response::headers::{self, TransportSecurity};
use crate::server::http::response::problem::Problem;

/// What the shell needs to know.
#[derive(Debug, Clone, Default)]
pub struct HttpConfig {
    pub hosts: AllowedHosts,
    pub transport: TransportSecurity,
    /// The public address as browsers write it in `Origin`.
    pub public_origin: Option<String>,
    pub admission: Admission,
    pub body_pace: BodyPaceLimits,
}

/// Puts the shell around all routes and fallbacks that the router has by now. From outside in: the request's id and its
/// line in the log, the language, the headers of the response, its compression, panics, who is admitted, a body that
/// broke its bounds, the request's size, the name asked for, and cross-site requests. [`wrap_entrance`] goes around
/// all of it.
pub fn wrap_routes<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        // The guard of every body has the bound.
        .layer(DefaultBodyLimit::disable())
        .layer(csrf::layer(config.public_origin.as_deref()))
        .layer(from_fn_with_state(config.hosts.clone(), allowed_hosts::layer))
        .layer(from_fn(size_limits::layer))
        .layer(from_fn(body::answer_violation))
        .layer(from_fn(admission::require_admission))
        .layer(CatchPanicLayer::custom(panic_response as fn(Box<dyn std::any::Any + Send>) -> Response<Body>))
        .layer(
            CompressionLayer::new()
                .quality(CompressionLevel::Precise(6))
                .compress_when(should_compress as CompressionPredicate),
        )
        .layer(from_fn_with_state(config.transport, headers::layer))
        .layer(from_fn(language::layer))
        .layer(from_fn(request_id::layer))
}

/// Puts the outermost layers around everything, also around what tells failures on pages: the client is identified
/// and the body guarded before anything reads it.
pub fn wrap_entrance<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        .layer(from_fn_with_state(config.body_pace, body::guard))
        .layer(from_fn_with_state(config.admission.clone(), admission::identify_client))
}

type CompressionPredicate = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Pages and the answers behind them travel smaller where the browser takes that. Files lie there compressed, streams
/// go out as they come, and what has a tag or is taken away as a file is what its length and its tag say. Of a
/// failure that comes without its length Chromium may show a page of its own instead.
fn should_compress(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_page = kind.starts_with(b"text/html") || kind.starts_with(b"application/json");
    status.is_success() && is_page && !headers.contains_key(ETAG) && !headers.contains_key(CONTENT_DISPOSITION)
}

/// What a panic says may quote what somebody wrote; where it happened is in the log already (`telemetry`).
fn panic_response(_: Box<dyn std::any::Any + Send>) -> Response<Body> {
    Problem::internal("a panic").into_response()
}
