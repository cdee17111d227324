//! The API of imports: upload, preview, start, progress, report, undo.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::domain::{ImportId, InvalidField, MessageCode, UndoScope};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::size_limits::declared_length;
use crate::server::http::response::problem::Problem;
use crate::server::http::transfer::import_upload::{
    AUTO, ImportSettings, UploadUse, requested_format, requested_options, spool_file, start_upload,
};
use turnleaf_service::transfer::imports::{ImportJob, ImportSummary, formats};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// File name.
    #[serde(default)]
    name: String,
    /// Format: `turnleaf`, `git`, `chatgpt`, `claude`, `open-webui`, `librechat`, `llama-cpp`, `big-agi`,
    /// `claude-code`, `codex`, `gemini-cli`,
    /// `deepseek`, `ai-studio`, `gemini-takeout`, `grok`, `messages`, `lobehub`, `cherry-studio`, `sillytavern`, `jan` or
    /// `anythingllm`.
    /// Without it, the format is detected from the content.
    #[param(schema_with = known_formats)]
    from: Option<String>,
    /// With `from=messages`: the keys that the file uses, where they are not OpenAI's, such as
    /// `role=author.name,content=body`. Fields: `role`, `content`, `reasoning`, `time`, `model`, `title`, `id`,
    /// `updated` and `messages`.
    map: Option<String>,
    /// Dry run: reports what would be imported and changes nothing.
    #[serde(default)]
    dry_run: bool,
    /// A dry run that keeps the file for an hour, so that `POST /api/imports/{id}/start` can import it.
    #[serde(default)]
    preview: bool,
}

/// Returns the schema of the formats by name. Other names are refused.
fn known_formats() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(formats().chain([AUTO]))).into()
}

/// An import that has started.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct StartedImport {
    id: ImportId,
}

/// Answers 202 with the address of an import.
fn accepted(id: ImportId) -> Result<Response, Problem> {
    let mut response = (StatusCode::ACCEPTED, ApiJson(StartedImport { id })).into_response();
    let place = HeaderValue::try_from(format!("/api/imports/{id}")).map_err(Problem::internal)?;
    response.headers_mut().insert(header::LOCATION, place);
    Ok(response)
}

/// `POST /api/imports`: starts an import or a preview; the body is the file.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ImportQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let format = requested_format(query.from.as_deref())?;
    let options = requested_options(format, query.map.as_deref())?;
    let upload_use = match (query.preview, query.dry_run) {
        (true, true) => {
            let both = MessageCode::BothSet.with("one", "preview").with("other", "dry_run");
            return Err(Problem::unprocessable("invalid", InvalidField::new("preview", both)));
        }
        (true, false) => UploadUse::Preview,
        (false, true) => UploadUse::DryRun,
        (false, false) => UploadUse::Import,
    };
    let settings = ImportSettings { name: query.name, format, options, upload_use };
    let place = app.service().import_slot(principal.user)?;
    let declared = declared_length(request.headers());
    app.service().check_growth(principal.user, declared).await?;
    let body: Body = request.into_body();
    let broke_off = |_| Problem::broken_body();
    let file = spool_file((&app, principal.user), &place, body.into_data_stream(), broke_off).await?;
    accepted(start_upload(&app, principal.user, file.into_temp_path().into(), settings)?)
}

/// `GET /api/imports`.
pub async fn list(State(app): State<App>, principal: Principal) -> Result<ApiJson<Vec<ImportSummary>>, Problem> {
    Ok(ApiJson(app.service().list_imports(principal.user).await?))
}

/// `GET /api/imports/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
) -> Result<ApiJson<ImportJob>, Problem> {
    Ok(ApiJson(app.service().find_import(principal.user, id).await?))
}

/// `POST /api/imports/{id}/start`: imports the file of a preview.
pub async fn start(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
) -> Result<Response, Problem> {
    accepted(app.service().import_preview(principal.user, id).await?)
}

/// `POST /api/imports/{id}/stop`.
pub async fn stop(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
) -> Result<StatusCode, Problem> {
    app.service().stop_import(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct UndoQuery {
    /// Also what was continued or changed here since, with what was written there. It can follow an undo without it.
    #[serde(default)]
    changed: bool,
}

/// `POST /api/imports/{id}/undo`: starts the undo.
pub async fn undo(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
    StrictQuery(query): StrictQuery<UndoQuery>,
) -> Result<Response, Problem> {
    let scope = if query.changed { UndoScope::Changed } else { UndoScope::Unchanged };
    app.service().undo_import(principal.user, id, scope).await?;
    accepted(id)
}

/// `POST /api/imports/{id}/restore`: starts the restoring.
pub async fn restore(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
) -> Result<Response, Problem> {
    app.service().restore_import(principal.user, id).await?;
    accepted(id)
}

/// `DELETE /api/imports/{id}`: forgets an import with its report.
pub async fn forget(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
) -> Result<StatusCode, Problem> {
    app.service().forget_import(principal.user, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
