//! The API of live shares (docs/reference/api.md 3).

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use crate::domain::{BranchId, BranchReaders, BranchShare, BranchShareId, LiveParts};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::shares::branch_shares::BranchShareRequest;

/// A branch to share, and with whom.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShareBranchRequest {
    readers: BranchReaders,
    /// Parts that are shared besides messages and replies. None by default.
    #[serde(default)]
    parts: LiveParts,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

/// `POST /api/branches/{id}/shares`: shares a branch live. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(branch): PathId<BranchId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<ShareBranchRequest>,
) -> Result<Response, Problem> {
    let client_request_id = client_request_id(new.client_request_id, &headers)?;
    let request = BranchShareRequest { branch, parts: new.parts, readers: new.readers, client_request_id };
    let shared = app.service().share_branch(principal.user, actor(&principal, &client), request).await?;
    Ok((created_status(shared.is_new), ApiJson(shared.value)).into_response())
}

/// `GET /api/branch-shares`.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<Vec<BranchShare>>, Problem> {
    Ok(ApiJson(app.service().branch_shares(principal.user).await?))
}

/// `PUT /api/branch-shares/{id}/readers`.
pub async fn set_readers(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<BranchShareId>,
    ApiJson(readers): ApiJson<BranchReaders>,
) -> Result<ApiJson<BranchShare>, Problem> {
    let service = app.service();
    Ok(ApiJson(service.set_branch_readers(principal.user, actor(&principal, &client), id, &readers).await?))
}

/// `DELETE /api/branch-shares/{id}`: ends the share at once.
pub async fn end(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<BranchShareId>,
) -> Result<StatusCode, Problem> {
    app.service().end_branch_share(principal.user, actor(&principal, &client), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
