//! The middleware stack around every route: logging, headers, compression, admission and bounds, so that no route can
//! forget them.

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
use crate::server::http::request::principal::Authentication;
use crate::server::http::request::{csrf, language, request_id, size_limits};
use crate::server::http::response::headers::{self, TransportSecurity};
use crate::server::http::response::problem::Problem;

/// The configuration of the middleware stack.
#[derive(Debug, Clone, Default)]
pub struct HttpConfig {
    pub hosts: AllowedHosts,
    pub transport: TransportSecurity,
    /// The public address as browsers write it in `Origin`.
    pub public_origin: Option<String>,
    pub admission: Admission,
    /// The ways in. The default lets nobody in.
    pub authentication: Authentication,
    pub body_pace: BodyPaceLimits,
}

/// Wraps all routes and fallbacks that the router has by now. From outside in: the request's id and its line in the
/// log, the language, the headers of the response, compression, panics, admission, bodies that broke their bounds,
/// the size of the request, the host name, and cross-site requests. [`wrap_entrance`] goes around all of it.
pub fn wrap_routes<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        // The body guard sets the bound instead.
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

/// Adds the outermost layers, also around the error pages: the client is identified and the body guarded before
/// anything reads it.
pub fn wrap_entrance<S>(router: Router<S>, config: &HttpConfig) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    router
        .layer(from_fn_with_state(config.body_pace, body::guard))
        .layer(from_fn_with_state(config.admission.clone(), admission::identify_client))
}

type CompressionPredicate = fn(StatusCode, Version, &HeaderMap, &Extensions) -> bool;

/// Compresses pages and JSON where the client accepts it. Assets are stored compressed, and streams are sent as they
/// come. Responses with an ETag and downloads are not compressed, because their length and tag describe the plain
/// bytes. Errors are not compressed either, because Chromium may replace one without a length by its own page.
fn should_compress(status: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(CONTENT_TYPE).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_page = kind.starts_with(b"text/html") || kind.starts_with(b"application/json");
    status.is_success() && is_page && !headers.contains_key(ETAG) && !headers.contains_key(CONTENT_DISPOSITION)
}

/// Returns 500 without the panic's message, which may quote user content. Its location is in the log already
/// (`telemetry`).
fn panic_response(_: Box<dyn std::any::Any + Send>) -> Response<Body> {
    Problem::internal("a panic").into_response()
}
