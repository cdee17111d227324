//! The request id: on every response, in every problem and in every line of the log, so that a person can name the
//! request that failed. Requests are logged here only: method, route, status and time, never the query or the body.

use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderName, HeaderValue};
use uuid::Uuid;

use turnleaf_platform::ids;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LONGEST: usize = 64;

tokio::task_local! {
    static REQUEST_ID: String;
}

/// Returns the id of the request that the current task handles; `None` outside of a request.
pub fn current_request_id() -> Option<String> {
    REQUEST_ID.try_with(Clone::clone).ok()
}

/// Gives the request an id (the caller's own if it is plain and short), handles it under this id, and logs it.
pub async fn layer(request: Request, next: Next) -> Response {
    let id = client_supplied_id(&request).unwrap_or_else(|| ids::mint::<Uuid>().to_string());
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let started = Instant::now();
    let mut response = REQUEST_ID.scope(id.clone(), next.run(request)).await;
    tracing::debug!(
        request_id = %id,
        %method,
        route = route.as_ref().map_or("-", MatchedPath::as_str),
        status = response.status().as_u16(),
        microseconds = started.elapsed().as_micros() as u64,
        "answered"
    );
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// Returns the caller's id, unless it could confuse a log.
fn client_supplied_id(request: &Request) -> Option<String> {
    let id = request.headers().get(X_REQUEST_ID)?.to_str().ok()?;
    let is_plain = id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    (!id.is_empty() && id.len() <= LONGEST && is_plain).then(|| id.to_owned())
}
