//! The API of provider connections (docs/reference/api.md 3). API keys are write-only.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};

use crate::domain::providers::provider::Model;
use crate::domain::{Capabilities, InvalidField, MessageCode, ModelLock};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::accounts::request_origin::actor;
use crate::server::http::request::admission::ClientIdentity;
use crate::server::http::request::idempotency::{client_request_id, created_status};
use crate::server::http::request::json::{ApiJson, deserialize_double_option};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::ui::locale::coded_messages::translated_sentence;
use turnleaf_service::providers::{ChangedProvider, NewProvider, ProviderChange, ProviderStatusView, ProviderView};

/// A connection to add, or changes of one. Omitted fields stay unchanged.
// No `Debug`: it holds an API key.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SaveProviderRequest {
    /// Id of a new connection, which branches reference. Derived from the name by default. It cannot be changed.
    id: Option<String>,
    /// Idempotency key of a new connection; alternative to the header `Idempotency-Key`.
    client_request_id: Option<String>,
    /// Display name. Required for a new connection.
    name: Option<String>,
    /// The API of the endpoint, such as `anthropic`, `openai_chat`, `openai_responses`, `gemini` or `ollama`.
    api: Option<String>,
    /// The dialect of an `openai_chat` endpoint.
    dialect: Option<String>,
    /// Base URL of the API. A new one deletes the stored key.
    base_url: Option<String>,
    /// API key. `null` deletes it. It is never returned.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    key: Option<Option<String>>,
    /// Extra headers of every request, which replace the earlier ones. Their values are never returned.
    headers: Option<BTreeMap<String, String>>,
    /// Models listed by hand, instead of those that the provider lists.
    models: Option<Vec<String>>,
    /// Default model. `null` chooses it from the list.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    default_model: Option<Option<String>>,
    /// Models that the menus do not show.
    hidden_models: Option<Vec<String>>,
    /// False disables the connection; its branches stay readable.
    is_enabled: Option<bool>,
    /// True allows addresses of the local network.
    local_network: Option<bool>,
    /// True lets an `openai_responses` provider store responses, so that a request continues from the last one.
    keeps_responses: Option<bool>,
    /// Number of retries of a request as long as nothing of its response has arrived, 0 to 5. `null` is the default.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 5)]
    retries: Option<Option<u32>>,
    /// Response timeout: seconds of silence before the first byte and between any two, 5 to 1800. `null` is the
    /// default.
    #[serde(default, deserialize_with = "deserialize_double_option")]
    #[schema(value_type = Option<u32>, minimum = 5, maximum = 1800)]
    silence_seconds: Option<Option<u32>>,
}

impl From<SaveProviderRequest> for ProviderChange {
    fn from(body: SaveProviderRequest) -> Self {
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

/// A connection, with notices about the consequences of the change.
#[derive(Serialize, utoipa::ToSchema)]
pub struct ProviderWithNotices {
    #[serde(flatten)]
    provider: ProviderView,
    notices: Vec<String>,
}

impl From<ChangedProvider> for ProviderWithNotices {
    fn from(changed: ChangedProvider) -> Self {
        Self { provider: changed.provider, notices: changed.notices }
    }
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ListModelsQuery {
    /// `1` lists hidden models too.
    #[param(minimum = 0, maximum = 1)]
    all: Option<u8>,
}

/// The model of new chats for which none is chosen.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SetDefaultModelRequest {
    provider: String,
    model: String,
}

/// `GET /api/providers`.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<Vec<ProviderView>>, Problem> {
    Ok(ApiJson(app.service().providers(principal.user).await?))
}

/// `POST /api/providers`: adds a connection. 201, or 200 for a repeated idempotency key.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    headers: HeaderMap,
    ApiJson(mut body): ApiJson<SaveProviderRequest>,
) -> Result<Response, Problem> {
    let client_request_id = client_request_id(body.client_request_id.take(), &headers)?;
    let new = NewProvider { id: body.id.take(), client_request_id, fields: body.into() };
    let made = app.service().add_provider(principal.user, actor(&principal, &client), new).await?;
    if made.is_new {
        app.service().test_provider_soon(principal.user, &made.value.provider.id);
    }
    Ok((created_status(made.is_new), ApiJson(ProviderWithNotices::from(made.value))).into_response())
}

/// `PATCH /api/providers/{id}`: changes a connection. Omitted fields stay unchanged; `"key": null` removes the API
/// key.
pub async fn change(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
    ApiJson(body): ApiJson<SaveProviderRequest>,
) -> Result<ApiJson<ProviderWithNotices>, Problem> {
    if body.client_request_id.is_some() {
        let invalid = InvalidField::new("client_request_id", MessageCode::OnlyOnNewProvider);
        return Err(Problem::unprocessable("invalid", invalid));
    }
    if body.id.as_ref().is_some_and(|named| *named != id) {
        return Err(Problem::unprocessable("invalid", InvalidField::new("id", MessageCode::ProviderIdFixed)));
    }
    let actor = actor(&principal, &client);
    let changed = app.service().change_provider(principal.user, actor, (&id, body.into())).await?;
    app.service().test_provider_soon(principal.user, &id);
    Ok(ApiJson(changed.into()))
}

/// `DELETE /api/providers/{id}`.
pub async fn remove(
    State(app): State<App>,
    principal: Principal,
    client: ClientIdentity,
    PathId(id): PathId<String>,
) -> Result<StatusCode, Problem> {
    app.service().remove_provider(principal.user, actor(&principal, &client), &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/providers/{id}/test`: tests the connection now.
pub async fn test(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<String>,
) -> Result<ApiJson<ProviderStatusView>, Problem> {
    let status = ProviderStatusView::from(app.service().test_provider(principal.user, &id).await?);
    let localized = translated_sentence(&status.message());
    Ok(ApiJson(ProviderStatusView { localized, ..status }))
}

/// A model with its capabilities.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ModelDetails {
    #[serde(flatten)]
    model: Model,
    capabilities: Capabilities,
}

/// `GET /api/models`: lists the models that can be chosen.
pub async fn list_models(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ListModelsQuery>,
) -> Result<ApiJson<Vec<ModelDetails>>, Problem> {
    let registry = app.service().supervisor().registry();
    let models = match query.all {
        None | Some(0) => app.service().models(principal.user).await?,
        Some(1) => app.service().models_with_hidden(principal.user).await?,
        Some(_) => return Err(InvalidField::new("all", MessageCode::NotZeroOrOne).into()),
    };
    let body = |model: Model| ModelDetails { capabilities: registry.capabilities(principal.user, &model.lock), model };
    Ok(ApiJson(models.into_iter().map(body).collect()))
}

/// `PUT /api/models/default`: sets the model of new chats for which none is chosen.
pub async fn set_default(
    State(app): State<App>,
    principal: Principal,
    ApiJson(body): ApiJson<SetDefaultModelRequest>,
) -> Result<StatusCode, Problem> {
    app.service().set_default_model(principal.user, Some(ModelLock::new(body.provider, body.model))).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/models/default`: returns to the default model of the first provider.
pub async fn clear_default(State(app): State<App>, principal: Principal) -> Result<StatusCode, Problem> {
    app.service().set_default_model(principal.user, None).await?;
    Ok(StatusCode::NO_CONTENT)
}
