//! The API of the web search: which engine answers the tool `search_web`. Its key is write-only.

use axum::extract::State;
use axum::http::StatusCode;
use serde::Deserialize;

use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::json::ApiJson;
use crate::server::http::response::problem::Problem;
use turnleaf_service::tools::web_search::{WebSearchSettings, WebSearchView};

/// The search engine to use.
// No `Debug`: it holds an API key.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetWebSearchRequest {
    /// `searxng`, `brave` or `tavily`.
    engine: String,
    /// Address of the instance, without the path of the search. Required for `searxng`; the address of the service by
    /// default.
    url: Option<String>,
    /// API key, for `brave` and `tavily`. It is never returned. Omit it to keep the stored one.
    key: Option<String>,
    /// True allows addresses of the local network.
    #[serde(default)]
    local_network: bool,
}

/// `GET /api/web-search`.
pub async fn show(State(app): State<App>, principal: Principal) -> Result<ApiJson<WebSearchView>, Problem> {
    Ok(ApiJson(app.service().web_search(principal.user).await?))
}

/// `PUT /api/web-search`.
pub async fn set(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    ApiJson(body): ApiJson<SetWebSearchRequest>,
) -> Result<ApiJson<WebSearchView>, Problem> {
    let SetWebSearchRequest { engine, url, key, local_network } = body;
    let chosen = WebSearchSettings { engine, url, key: key.map(Into::into), local_network };
    Ok(ApiJson(app.service().set_web_search(principal.user, actor(&principal, &client), chosen).await?))
}

/// `DELETE /api/web-search`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
) -> Result<StatusCode, Problem> {
    app.service().remove_web_search(principal.user, actor(&principal, &client)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/web-search/test`: searches for a fixed word.
pub async fn test(State(app): State<App>, principal: Principal) -> Result<ApiJson<WebSearchView>, Problem> {
    Ok(ApiJson(app.service().test_web_search(principal.user).await?))
}
