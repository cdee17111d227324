//! The API of generations: the provider calls of a reply with their context manifests, and the raw bytes of the
//! responses.

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;

use crate::domain::{GenerationId, TurnId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::turns::generations::Generation;

/// `GET /api/turns/{id}/generations`: lists the generations in the order of their steps.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<TurnId>,
) -> Result<ApiJson<Vec<Generation>>, Problem> {
    Ok(ApiJson(app.service().generations(principal.user, id).await?))
}

/// `GET /api/generations/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<GenerationId>,
) -> Result<ApiJson<Generation>, Problem> {
    Ok(ApiJson(app.service().generation(principal.user, id).await?))
}

/// `GET /api/generations/{id}/raw`: returns the body as the provider sent it, byte for byte except for the server's
/// own API keys.
pub async fn raw_response(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<GenerationId>,
) -> Result<Response, Problem> {
    Ok(bytes_as_file(app.service().raw_response(principal.user, id).await?, "response.bin"))
}

/// Returns bytes of a provider call as a file, which browsers never show as a document.
pub fn bytes_as_file(bytes: Bytes, name: &'static str) -> Response {
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::CONTENT_DISPOSITION, disposition.as_str()),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
    ];
    (headers, bytes).into_response()
}
