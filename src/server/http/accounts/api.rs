//! The API of sessions and API tokens (docs/reference/api.md 3). It is for people who are signed in, not for tokens.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::domain::{ApiTokenId, SessionId, TokenScope};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::response::problem::Problem;
use turnleaf_service::accounts::Actor;
use turnleaf_service::accounts::sessions::ListedSession;
use turnleaf_service::accounts::tokens::{ListedToken, NewApiToken};

/// A browser in which you are signed in.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct SessionDetails {
    id: SessionId,
    /// True for the session of this request.
    current: bool,
    created_at: DateTime<Utc>,
    /// The last request, to a few minutes.
    last_used_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The address from which you signed in.
    ip: Option<String>,
    /// The browser's name for itself.
    user_agent: Option<String>,
}

/// An API token, without the token itself.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ApiTokenDetails {
    id: ApiTokenId,
    name: String,
    scopes: Vec<TokenScope>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The last request with it, to a few minutes.
    last_used_at: Option<DateTime<Utc>>,
}

/// An API token that was created.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct CreatedApiToken {
    id: ApiTokenId,
    name: String,
    scopes: Vec<TokenScope>,
    created_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    /// The token. It is shown once: `null` if the same request created it earlier.
    token: Option<String>,
}

/// An API token to create.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateApiTokenRequest {
    /// The purpose of the token.
    #[schema(min_length = 1, max_length = 100)]
    name: String,
    /// The rights of the token. No token can do what only administrators may.
    #[schema(min_items = 1)]
    scopes: Vec<TokenScope>,
    /// The days for which it is valid.
    #[schema(minimum = 1, maximum = 365)]
    days: u32,
    /// Idempotency key: repeating the request with it creates nothing.
    client_request_id: Option<String>,
}

impl From<ListedToken> for ApiTokenDetails {
    fn from(token: ListedToken) -> Self {
        let ListedToken { id, name, scopes, created_at, expires_at, last_used_at } = token;
        Self { id, name, scopes: scopes.iter().collect(), created_at, expires_at, last_used_at }
    }
}

/// `GET /api/sessions`.
pub async fn list_sessions(
    State(app): State<App>,
    principal: Principal,
) -> Result<ApiJson<Vec<SessionDetails>>, Problem> {
    let details = |session: ListedSession| SessionDetails {
        id: session.id,
        current: Some(session.id) == principal.session(),
        created_at: session.created_at,
        last_used_at: session.seen_at,
        expires_at: session.expires_at,
        ip: session.ip,
        user_agent: session.agent,
    };
    Ok(ApiJson(app.service().sessions(principal.user).await?.into_iter().map(details).collect()))
}

/// `DELETE /api/sessions/{id}`.
pub async fn end_session(
    State(app): State<App>,
    principal: Principal,
    actor: Actor,
    PathId(id): PathId<SessionId>,
) -> Result<StatusCode, Problem> {
    app.service().end_session(principal.user, actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /api/tokens`.
pub async fn list_tokens(
    State(app): State<App>,
    principal: Principal,
) -> Result<ApiJson<Vec<ApiTokenDetails>>, Problem> {
    let tokens = app.service().api_tokens(principal.user).await?;
    Ok(ApiJson(tokens.into_iter().map(ApiTokenDetails::from).collect()))
}

/// `POST /api/tokens`: creates a token. 201, or 200 for a repeated idempotency key.
pub async fn create_token(
    State(app): State<App>,
    principal: Principal,
    actor: Actor,
    headers: HeaderMap,
    ApiJson(new): ApiJson<CreateApiTokenRequest>,
) -> Result<Response, Problem> {
    let new = NewApiToken {
        name: new.name,
        scopes: new.scopes,
        days: new.days,
        client_request_id: client_request_id(new.client_request_id, &headers)?,
    };
    let made = app.service().create_api_token(principal.user, actor, new).await?;
    let secret = made.value.secret.as_ref().map(|secret| secret.expose().to_owned());
    let ApiTokenDetails { id, name, scopes, created_at, expires_at, .. } = made.value.token.into();
    let created = CreatedApiToken { id, name, scopes, created_at, expires_at, token: secret };
    Ok((created_status(made.is_new), ApiJson(created)).into_response())
}

/// `DELETE /api/tokens/{id}`.
pub async fn revoke_token(
    State(app): State<App>,
    principal: Principal,
    actor: Actor,
    PathId(id): PathId<ApiTokenId>,
) -> Result<StatusCode, Problem> {
    app.service().revoke_api_token(principal.user, actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
