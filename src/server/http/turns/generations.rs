//! Generations over HTTP: the request as it was sent, what went into it, and the provider's bytes.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::domain::{GenerationId, TurnId};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::generations::Generation;

/// `GET /api/turns/{id}/generations`, in the order of the steps.
pub async fn list(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<Vec<Generation>>, Problem> {
    Ok(ApiJson(app.service().generations(viewer.0, id).await?))
}

/// `GET /api/generations/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<GenerationId>,
) -> Result<ApiJson<Generation>, Problem> {
    Ok(ApiJson(app.service().generation(viewer.0, id).await?))
}

/// `GET /api/generations/{id}/raw`: the body as the provider sent it, byte for byte but for our own keys. Never as a
/// document.
pub async fn raw_response(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<GenerationId>,
) -> Result<Response, Problem> {
    let bytes = app.service().raw_response(viewer.0, id).await?;
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"response.bin\"")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox")),
    ];
    Ok((headers, bytes).into_response())
}
