//! Provider connections over HTTP (contract.md 3). Keys go in and never come out.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::provider::Model;
use crate::domain::{Capabilities, Invalid, Lock};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::request::idempotency::{client_request_id, made_status};
use crate::server::http::request::json::{Json, given};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::response::problem::Problem;
use turnleaf_service::providers::{Changed, NewProvider, ProviderChange, ProviderView, StatusView};

/// What a body says of a connection. No `Debug`: it holds a key.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProviderBody {
    id: Option<String>,
    /// For a new connection, as the header `Idempotency-Key`.
    client_request_id: Option<String>,
    name: Option<String>,
    api: Option<String>,
    dialect: Option<String>,
    base_url: Option<String>,
    #[serde(default, deserialize_with = "given")]
    key: Option<Option<String>>,
    headers: Option<BTreeMap<String, String>>,
    models: Option<Vec<String>>,
    #[serde(default, deserialize_with = "given")]
    default_model: Option<Option<String>>,
    hidden_models: Option<Vec<String>>,
    is_enabled: Option<bool>,
    local_network: Option<bool>,
    keeps_responses: Option<bool>,
    /// How often a request that nothing came of is sent again, 0 to 5; null is as usual.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 5)]
    retries: Option<Option<u32>>,
    /// How many seconds it may be silent, before the first byte and between any two, 5 to 1800; null is as usual.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<u32>, minimum = 5, maximum = 1800)]
    silence_seconds: Option<Option<u32>>,
}

impl From<ProviderBody> for ProviderChange {
    fn from(body: ProviderBody) -> Self {
        Self {
            name: body.name,
            api: body.api,
            dialect: body.dialect,
            base_url: body.base_url,
            key: body.key.map(|key| key.map(Into::into)),
            headers: body.headers.map(|all| all.into_iter().map(|(name, value)| (name, value.into())).collect()),
            models: body.models,
            default_model: body.default_model,
            hidden_models: body.hidden_models,
            is_enabled: body.is_enabled,
            local_network: body.local_network,
            keeps_responses: body.keeps_responses,
            retries: body.retries,
            silence_seconds: body.silence_seconds,
        }
    }
}

/// A connection with what its owner should know of the change.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ChangedBody {
    #[serde(flatten)]
    provider: ProviderView,
    notices: Vec<String>,
}

impl From<Changed> for ChangedBody {
    fn from(changed: Changed) -> Self {
        Self { provider: changed.provider, notices: changed.notices }
    }
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ModelsQuery {
    /// `1` lists hidden models too.
    #[param(minimum = 0, maximum = 1)]
    all: Option<u8>,
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DefaultBody {
    provider: String,
    model: String,
}

/// `GET /api/providers`.
pub async fn list(State(app): State<App>, viewer: Viewer) -> Result<Json<Vec<ProviderView>>, Problem> {
    Ok(Json(app.service().providers(viewer.0).await?))
}

/// `POST /api/providers`: 201, or 200 when the same request was made before.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    headers: HeaderMap,
    Json(mut body): Json<ProviderBody>,
) -> Result<Response, Problem> {
    let client_request_id = client_request_id(body.client_request_id.take(), &headers)?;
    let new = NewProvider { id: body.id.take(), client_request_id, fields: body.into() };
    let made = app.service().add_provider(viewer.0, new).await?;
    if made.is_new {
        app.service().test_provider_soon(viewer.0, &made.it.provider.id);
    }
    Ok((made_status(made.is_new), Json(ChangedBody::from(made.it))).into_response())
}

/// `PATCH /api/providers/{id}`: what is not there stays; `"key": null` removes the key.
pub async fn change(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<String>,
    Json(body): Json<ProviderBody>,
) -> Result<Json<ChangedBody>, Problem> {
    if body.client_request_id.is_some() {
        let invalid = Invalid::new("client_request_id", "goes with a new connection");
        return Err(Problem::unprocessable("invalid", invalid));
    }
    if body.id.as_ref().is_some_and(|named| *named != id) {
        return Err(Problem::unprocessable("invalid", Invalid::new("id", "cannot be changed: chats name it")));
    }
    let changed = app.service().change_provider(viewer.0, &id, body.into()).await?;
    app.service().test_provider_soon(viewer.0, &id);
    Ok(Json(changed.into()))
}

/// `DELETE /api/providers/{id}`.
pub async fn remove(State(app): State<App>, viewer: Viewer, PathId(id): PathId<String>) -> Result<StatusCode, Problem> {
    app.service().remove_provider(viewer.0, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/providers/{id}/test`: asks it now.
pub async fn test(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<String>,
) -> Result<Json<StatusView>, Problem> {
    Ok(Json(app.service().test_provider(viewer.0, &id).await?.into()))
}

/// A model with what it takes.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ModelBody {
    #[serde(flatten)]
    model: Model,
    capabilities: Capabilities,
}

/// `GET /api/models`: what can be chosen.
pub async fn models(
    State(app): State<App>,
    viewer: Viewer,
    Query(query): Query<ModelsQuery>,
) -> Result<Json<Vec<ModelBody>>, Problem> {
    let registry = app.service().supervisor().registry();
    let models = match query.all {
        None | Some(0) => app.service().models(viewer.0).await?,
        Some(1) => app.service().models_with_hidden(viewer.0).await?,
        Some(_) => return Err(Invalid::new("all", "must be 0 or 1").into()),
    };
    let body = |model: Model| ModelBody { capabilities: registry.capabilities(&model.lock), model };
    Ok(Json(models.into_iter().map(body).collect()))
}

/// `PUT /api/models/default`: what new chats get when nothing is chosen.
pub async fn set_default(
    State(app): State<App>,
    viewer: Viewer,
    Json(body): Json<DefaultBody>,
) -> Result<StatusCode, Problem> {
    app.service().set_default_model(viewer.0, Some(Lock::new(body.provider, body.model))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/models/default`: the first provider's own again.
pub async fn clear_default(State(app): State<App>, viewer: Viewer) -> Result<StatusCode, Problem> {
    app.service().set_default_model(viewer.0, None).await?;
    Ok(StatusCode::NO_CONTENT)
}
