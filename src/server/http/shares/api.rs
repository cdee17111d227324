//! The API of shares (docs/reference/api.md 3).

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{ChatId, Share, ShareAudience, ShareId, SharedParts, TurnId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::used_origin::UsedOrigin;
use crate::server::http::response::problem::Problem;
use crate::server::http::shares::snapshot::render_snapshot;
use crate::server::http::site::assets::Site;
use crate::server::http::transfer::exports::export_permit;
use turnleaf_service::shares::{IssuedShare, ListedShare, ShareRequest};

/// A share as its owner sees it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ShareDetails {
    #[serde(flatten)]
    share: Share,
    /// Title of the chat.
    chat_title: String,
    /// True if the link is valid: not revoked and not expired.
    is_active: bool,
    /// Address for readers. Only the request that creates the share gets it.
    url: Option<String>,
}

impl ShareDetails {
    fn new(listed: ListedShare, now: DateTime<Utc>, url: Option<String>) -> Self {
        let ListedShare { share, chat_title } = listed;
        Self { is_active: share.is_active(now), share, chat_title, url }
    }
}

/// A path to share.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateShareRequest {
    /// The message or reply at which the path ends. Without it, the path at which the chat opens.
    leaf_id: Option<TurnId>,
    /// Parts that are shared besides messages and replies. None by default.
    #[serde(default)]
    parts: SharedParts,
    /// Days until the link expires.
    #[serde(default = "default_days")]
    #[schema(minimum = 1, maximum = 365, default = 30)]
    expires_in_days: u32,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

fn default_days() -> u32 {
    limits::SHARE_DAYS_DEFAULT
}

/// `POST /api/chats/{id}/shares`: renders a path and issues a link. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    Extension(site): Extension<Arc<Site>>,
    (principal, client): (Principal, ClientIdentity),
    origin: UsedOrigin,
    PathId(chat): PathId<ChatId>,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateShareRequest>,
) -> Result<Response, Problem> {
    let request = ShareRequest {
        chat,
        leaf: new.leaf_id,
        audience: ShareAudience::Link,
        parts: new.parts,
        days: new.expires_in_days,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let (is_new, issued) = issue_share(&app, site.style(), (&principal, &client), request).await?;
    let url = issued.token.map(|token| share_url(&origin, &token));
    let details = ShareDetails::new(issued.listed, app.now(), url);
    Ok((created_status(is_new), ApiJson(details)).into_response())
}

/// Renders a path and issues its link, and returns whether this request did. A repeated request renders nothing.
pub async fn issue_share(
    app: &App,
    style: String,
    (principal, client): (&Principal, &ClientIdentity),
    request: ShareRequest,
) -> Result<(bool, IssuedShare), Problem> {
    let owner = principal.user;
    if let Some(listed) = app.service().find_created_share(owner, &request).await? {
        return Ok((false, IssuedShare { listed, token: None }));
    }
    let _permit = export_permit(app, owner)?;
    let path = (request.chat, request.leaf);
    let snapshot = render_snapshot(app, style, owner, path, request.parts).await?;
    let created = app.service().create_share(owner, actor(principal, client), request, snapshot).await?;
    Ok((created.is_new, created.value))
}

/// Returns the address for readers.
pub fn share_url(origin: &UsedOrigin, token: &str) -> String {
    format!("{}/share/{token}", origin.origin)
}

/// `GET /api/shares`.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<Vec<ShareDetails>>, Problem> {
    let (shares, now) = (app.service().shares(principal.user).await?, app.now());
    Ok(ApiJson(shares.into_iter().map(|listed| ShareDetails::new(listed, now, None)).collect()))
}

/// `DELETE /api/shares/{id}`: revokes the link at once.
pub async fn revoke(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<ShareId>,
) -> Result<StatusCode, Problem> {
    app.service().revoke_share(principal.user, actor(&principal, &client), id).await?;
    Ok(StatusCode::NO_CONTENT)
}
