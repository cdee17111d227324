//! Endpoints for monitoring: liveness, readiness and version.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::domain::CodedMessage;
use crate::domain::limits;
use crate::server::http::request::json::ApiJson;
use crate::server::http::response::problem::Problem;
use crate::server::http::site::assets::Site;
use turnleaf_service::usage::storage::StorageRefusal;

/// Checks whether the database answers. The error is for the log.
pub type DatabaseProbe = Arc<dyn Fn() -> BoxFuture<'static, Result<(), String>> + Send + Sync>;

/// Returns for how long the journal has kept its runs waiting.
pub type JournalDelayProbe = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Checks whether the disk has the free space that new turns need.
pub type FreeDiskProbe = Arc<dyn Fn() -> BoxFuture<'static, bool> + Send + Sync>;

/// The probes that decide about readiness.
#[derive(Clone)]
pub struct Readiness {
    draining: CancellationToken,
    check: DatabaseProbe,
    journal_delay: JournalDelayProbe,
    has_free_disk: FreeDiskProbe,
}

impl Readiness {
    /// Returns a readiness that holds until `draining` is cancelled, as long as `check` succeeds.
    pub fn new(draining: CancellationToken, check: DatabaseProbe) -> Self {
        Self {
            draining,
            check,
            journal_delay: Arc::new(|| Duration::ZERO),
            has_free_disk: Arc::new(|| Box::pin(async { true })),
        }
    }

    /// Adds the journal: the server is not ready when it is late, and not alive when it is stuck.
    pub fn with_journal(self, journal_delay: JournalDelayProbe) -> Self {
        Self { journal_delay, ..self }
    }

    /// Adds the disk: `/readyz` reports when new turns are refused for lack of disk space. The server stays ready,
    /// because stored data can be read and running replies complete.
    pub fn with_disk(self, has_free_disk: FreeDiskProbe) -> Self {
        Self { has_free_disk, ..self }
    }

    /// Returns the degraded components, each with the code that its refusals have.
    async fn degraded(&self) -> Vec<Value> {
        let refusal = (!(self.has_free_disk)().await).then_some(StorageRefusal::DiskLow);
        let detail = |refusal: StorageRefusal| json!({ "component": "disk", "code": refusal.code(), "detail": refusal.to_string() });
        refusal.map(detail).into_iter().collect()
    }

    /// Returns the problem of a journal whose oldest batch is older than this.
    fn journal_problem(&self, most: Duration) -> Option<Problem> {
        let delay = (self.journal_delay)();
        (delay >= most).then(|| {
            tracing::warn!(seconds = delay.as_secs(), "the journal cannot write");
            Problem::unavailable(CodedMessage::uncoded("The journal cannot write."), 5)
                .with_member("component", "journal")
        })
    }
}

/// `GET /version`.
pub async fn show_version(State(site): State<Arc<Site>>) -> ApiJson<Value> {
    ApiJson(json!({ "name": "turnleaf", "version": env!("CARGO_PKG_VERSION"), "build": site.build() }))
}

/// `GET /healthz`: liveness. The process answers, and its journal writes.
pub async fn liveness(State(readiness): State<Readiness>) -> Response {
    match readiness.journal_problem(limits::JOURNAL_STUCK) {
        Some(problem) => problem.into_response(),
        None => ApiJson(json!({ "status": "ok" })).into_response(),
    }
}

/// `GET /readyz`: readiness. The response names the components that work only in part.
pub async fn readiness(State(readiness): State<Readiness>) -> Response {
    if readiness.draining.is_cancelled() {
        return Problem::shutting_down().into_response();
    }
    if let Some(problem) = readiness.journal_problem(limits::JOURNAL_LATE) {
        return problem.into_response();
    }
    match (readiness.check)().await {
        Ok(()) => {
            let mut answer = json!({ "status": "ready" });
            let degraded = readiness.degraded().await;
            if !degraded.is_empty() {
                answer["degraded"] = Value::Array(degraded);
            }
            ApiJson(answer).into_response()
        }
        Err(cause) => {
            tracing::warn!(%cause, "not ready");
            Problem::unavailable(CodedMessage::uncoded("The database does not respond."), 5).into_response()
        }
    }
}
