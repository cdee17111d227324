//! Import of chats: a file as the body of a request or in a form. The file is spooled to disk while it arrives, so
//! that its size needs no memory, and is read in the background after the response.

use std::io::Write;
use std::path::PathBuf;

use axum::body::{Body, Bytes};
use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, Request, State};
use axum::response::{IntoResponse, Response};
use futures::{Stream, StreamExt};
use http::{HeaderValue, StatusCode, header};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::domain::{ImportId, InvalidField, MessageCode, UserId, file_name, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::attachments::uploads::spool_write_problem;
use crate::server::http::request::json::ApiJson;
use crate::server::http::request::multipart_form::{broken_form_problem, read_text_field};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::request::size_limits::declared_length;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::server_pages::messages::delete_all;
use crate::server::server_pages::transfer::{ImportPage, TransferPage};
use crate::server::server_pages::{ActionNotice, ServerPage};
use turnleaf_service::ServiceError;
use turnleaf_service::transfer::imports::{
    ImportFormat, ImportJob, ImportRequest, ImportSlot, MessageKeys, ReadOptions, formats, parse_format,
};

/// Interval at which the page of a running import refreshes itself, in seconds.
const REFRESH_SECONDS: &str = "2";
/// The name of the format that is detected from the content.
const AUTO: &str = "auto";
/// Bound on the fields other than the file.
const SHORT_FIELD_BYTES: usize = 200;

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
}

/// Returns the schema of the formats by name. Other names are refused.
fn known_formats() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(formats().chain([AUTO]))).into()
}

/// The settings of an import.
struct ImportSettings {
    name: String,
    format: Option<ImportFormat>,
    options: ReadOptions,
    dry_run: bool,
}

/// An import that has started.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct StartedImport {
    id: ImportId,
}

/// `POST /api/imports`: starts an import; the body is the file.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    StrictQuery(query): StrictQuery<ImportQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let format = requested_format(query.from.as_deref())?;
    let options = requested_options(format, query.map.as_deref())?;
    let settings = ImportSettings { name: query.name, format, options, dry_run: query.dry_run };
    let place = app.service().import_slot(viewer.0)?;
    let declared = declared_length(request.headers());
    app.service().check_growth(viewer.0, declared).await?;
    let body: Body = request.into_body();
    let broke_off = |_| Problem::broken_body();
    let file = spool_file((&app, viewer.0), &place, body.into_data_stream(), broke_off).await?;
    let id = start_import(&app, viewer.0, file, settings)?;
    let mut response = (StatusCode::ACCEPTED, ApiJson(StartedImport { id })).into_response();
    let place = HeaderValue::try_from(format!("/api/imports/{id}")).map_err(Problem::internal)?;
    response.headers_mut().insert(header::LOCATION, place);
    Ok(response)
}

/// `GET /api/imports/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ImportId>,
) -> Result<ApiJson<ImportJob>, Problem> {
    Ok(ApiJson(app.service().import_job(viewer.0, id)?))
}

/// `POST /api/imports/{id}/stop`.
pub async fn stop(State(app): State<App>, viewer: Viewer, PathId(id): PathId<ImportId>) -> Result<StatusCode, Problem> {
    app.service().stop_import(viewer.0, id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// The query of the page "Data".
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferPageQuery {
    /// `deleted` after everything was deleted.
    done: Option<String>,
}

/// `GET /settings/data`.
pub async fn data_page(
    State(app): State<App>,
    viewer: Viewer,
    context: PageContext,
    StrictQuery(query): StrictQuery<TransferPageQuery>,
) -> Result<Response, Problem> {
    let notice =
        query.done.filter(|done| done == "deleted").map(|_| ActionNotice::Done(delete_all::deleted().to_owned()));
    Ok(context.respond(&app, StatusCode::OK, render_data_page(&app, viewer.0, notice).await?))
}

async fn render_data_page(app: &App, viewer: UserId, notice: Option<ActionNotice>) -> Result<ServerPage, Problem> {
    let (jobs, database) = (app.service().import_jobs(viewer), app.service().database_name());
    let storage = app.service().storage_use(viewer).await?;
    Ok(TransferPage { jobs, database, storage, notice }.draw())
}

/// `GET /settings/data/imports/{id}`.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ImportId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let job = app.service().import_job(viewer.0, id)?;
    let is_over = job.is_over;
    let mut response = context.respond(&app, StatusCode::OK, ImportPage { job }.draw());
    if !is_over {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(REFRESH_SECONDS));
    }
    Ok(response)
}

/// `POST /forms/import`: starts an import of the file in the form. Errors are shown on the page of the form.
pub async fn import_form(
    State(app): State<App>,
    viewer: Viewer,
    context: PageContext,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = form.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    match read_import_form(&app, viewer.0, form).await {
        Ok(id) => Ok(see_other(&format!("/settings/data/imports/{id}"))),
        Err(problem) => match problem.client_error_sentence() {
            Some(sentence) => {
                let notice = Some(ActionNotice::Refused(sentence));
                Ok(context.respond(
                    &app,
                    StatusCode::UNPROCESSABLE_ENTITY,
                    render_data_page(&app, viewer.0, notice).await?,
                ))
            }
            None => Err(problem),
        },
    }
}

async fn read_import_form(app: &App, viewer: UserId, mut form: Multipart) -> Result<ImportId, Problem> {
    let place = app.service().import_slot(viewer)?;
    app.service().check_growth(viewer, 0).await?;
    let (mut format, mut dry_run, mut file) = (None, false, None);
    while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
        match field.name() {
            Some("from") => format = requested_format(Some(read_text_field(field, SHORT_FIELD_BYTES).await?.as_str()))?,
            Some("dry_run") => dry_run = read_text_field(field, SHORT_FIELD_BYTES).await? == "1",
            Some("file") => {
                let name = field.file_name().unwrap_or_default().to_owned();
                if !name.is_empty() {
                    file = Some((spool_file((app, viewer), &place, Box::pin(field), broken_form_problem).await?, name));
                }
            }
            _ => drop(read_text_field(field, SHORT_FIELD_BYTES).await?),
        }
    }
    let (file, name) = file.ok_or_else(|| InvalidField::new("file", MessageCode::NoFileChosen))?;
    let settings = ImportSettings { name, format, options: ReadOptions::default(), dry_run };
    start_import(app, viewer, file, settings)
}

/// `POST /forms/import/stop`.
pub async fn stop_form(State(app): State<App>, viewer: Viewer, fields: SubmittedFields) -> Result<Response, Problem> {
    let id = fields.subject_id("id")?;
    app.service().stop_import(viewer.0, id)?;
    Ok(see_other(&format!("/settings/data/imports/{id}")))
}

fn requested_format(name: Option<&str>) -> Result<Option<ImportFormat>, Problem> {
    match name {
        None | Some(AUTO) => Ok(None),
        Some(name) => {
            parse_format(name).map(Some).ok_or_else(|| InvalidField::new("from", MessageCode::UnknownFormat).into())
        }
    }
}

fn requested_options(format: Option<ImportFormat>, mapping: Option<&str>) -> Result<ReadOptions, Problem> {
    let Some(mapping) = mapping else { return Ok(ReadOptions::default()) };
    if format != Some(ImportFormat::Messages) {
        let invalid = InvalidField::new("map", MessageCode::OnlyWith.with("other", "from=messages"));
        return Err(Problem::unprocessable("invalid", invalid));
    }
    let message_keys = MessageKeys::parse(mapping).map_err(|_| {
        let fields = MessageKeys::field_names().collect::<Vec<_>>().join(", ");
        let invalid = InvalidField::new("map", MessageCode::InvalidKeyMapping.with("fields", fields));
        Problem::unprocessable("invalid", invalid)
    })?;
    Ok(ReadOptions { message_keys })
}

/// Spools the file to disk as it arrives.
async fn spool_file<E>(
    (app, owner): (&App, UserId),
    place: &ImportSlot,
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
    broken: impl Fn(E) -> Problem,
) -> Result<NamedTempFile, Problem> {
    let mut file = place.new_file().map_err(spool_write_problem)?;
    let mut length = 0;
    let mut checked_at = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(&broken)?;
        length += piece.len();
        if length - checked_at >= limits::STORAGE_CHECKED_EVERY {
            checked_at = length;
            // The bytes that were written before count as used space already.
            app.service().check_growth(owner, piece.len() as u64).await?;
        }
        // A blocking write is acceptable here: a chunk goes to the page cache.
        file.write_all(&piece).map_err(spool_write_problem)?;
    }
    // Only now is the length of a chunked body known.
    app.service().check_growth(owner, 0).await?;
    if length == 0 {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "empty_file", MessageCode::FileEmpty));
    }
    Ok(file)
}

fn start_import(app: &App, owner: UserId, file: NamedTempFile, settings: ImportSettings) -> Result<ImportId, Problem> {
    let ImportSettings { name, format, options, dry_run } = settings;
    let name = file_name::sanitize(&name).unwrap_or_else(|_| "file".to_owned());
    let path = file.into_temp_path();
    let import = ImportRequest { owner, file: PathBuf::from(&*path), name, format, options, dry_run };
    app.service().start_import(import, path).map_err(|error: ServiceError| error.into())
}
