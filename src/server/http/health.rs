//! For whoever watches the server: is it alive, is it ready, which version is it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures::future::BoxFuture;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::server::http::json::Json;
use crate::server::http::problem::Problem;

/// Whether the database answers; the error is for the log.
pub type Check = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// What decides about readiness.
#[derive(Clone)]
pub struct Readiness {
    draining: CancellationToken,
    check: Check,
}

impl Readiness {
    /// Ready until `draining` is cancelled, as long as `check` succeeds.
    pub fn new(draining: CancellationToken, check: Check) -> Self {
        Self { draining, check }
    }
}

/// `/healthz`, `/readyz` and `/version`. `build` names the embedded site.
pub fn routes<S>(readiness: Readiness, build: String) -> Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let version = json!({ "name": "turnleaf", "version": env!("CARGO_PKG_VERSION"), "build": build });
    Router::new()
        .route("/healthz", get(|| async { Json(json!({ "status": "ok" })) }))
        .route("/readyz", get(ready))
        .route("/version", get(move || async move { Json(version) }))
        .with_state(readiness)
}

async fn ready(State(readiness): State<Readiness>) -> Response {
    if readiness.draining.is_cancelled() {
        return Problem::unavailable("The server is shutting down.", 5).into_response();
    }
    match (readiness.check)().await {
        Ok(()) => Json(json!({ "status": "ready" })).into_response(),
        Err(cause) => {
            tracing::warn!(%cause, "not ready");
            Problem::unavailable("The database does not answer.", 5).into_response()
        }
    }
}
