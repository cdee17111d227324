//! Chats that come in: a file as a request's body or in a form. It goes to a file of its own while it arrives, so that
//! its size is no matter of memory, and is read behind the answer.

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

use crate::domain::{ImportId, Invalid, UserId, file_name, limits};
use crate::server::access::Viewer;
use crate::server::app::App;
use crate::server::http::attachments::uploads::unwritten;
use crate::server::http::request::form::{broken, text_of};
use crate::server::http::request::json::Json;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::Query;
use crate::server::http::request::size::declared_length;
use crate::server::http::response::plain_page::{Asked, Fields, see_other};
use crate::server::http::response::problem::Problem;
use crate::server::plain_pages::transfer::{ImportPage, TransferPage};
use crate::server::plain_pages::words::everything;
use crate::server::plain_pages::{Page, Said};
use crate::ui::words::told::told_of_field;
use turnleaf_service::ServiceError;
use turnleaf_service::transfer::imports::{Import, ImportFormat, ImportJob, ImportPlace, formats, parse_format};

/// How often a page of an import that runs is looked at again, in seconds.
const AGAIN_AFTER: &str = "2";
/// A format that is known by its content.
const AUTO: &str = "auto";
/// Fields that are no file.
const SHORT: usize = 200;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ImportQuery {
    /// What the file is called.
    #[serde(default)]
    name: String,
    /// `turnleaf`, `chatgpt`, `claude`, `open-webui`, `librechat`, `llama-cpp` or `big-agi`; known by its content where
    /// it is missing.
    #[param(schema_with = known_formats)]
    from: Option<String>,
    /// Say what would be done, and do nothing.
    #[serde(default)]
    dry_run: bool,
}

/// The formats by name: what is none of them is refused.
fn known_formats() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(formats().chain([AUTO]))).into()
}

/// An import that began.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct ImportBegun {
    id: ImportId,
}

/// `POST /api/imports`: the body is the file.
pub async fn create(
    State(app): State<App>,
    viewer: Viewer,
    Query(query): Query<ImportQuery>,
    request: Request,
) -> Result<Response, Problem> {
    let format = format_of(query.from.as_deref())?;
    let place = app.service().import_place(viewer.0)?;
    let declared = declared_length(request.headers());
    app.service().check_growth(viewer.0, declared).await?;
    let body: Body = request.into_body();
    let broke_off = |_| Problem::broken_body();
    let file = arrived((&app, viewer.0), &place, body.into_data_stream(), broke_off).await?;
    let id = begin(&app, viewer.0, file, &query.name, format, query.dry_run)?;
    let mut response = (StatusCode::ACCEPTED, Json(ImportBegun { id })).into_response();
    let place = HeaderValue::try_from(format!("/api/imports/{id}")).map_err(Problem::internal)?;
    response.headers_mut().insert(header::LOCATION, place);
    Ok(response)
}

/// `GET /api/imports/{id}`.
pub async fn show(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ImportId>,
) -> Result<Json<ImportJob>, Problem> {
    Ok(Json(app.service().import_job(viewer.0, id)?))
}

/// `POST /api/imports/{id}/stop`.
pub async fn stop(State(app): State<App>, viewer: Viewer, PathId(id): PathId<ImportId>) -> Result<StatusCode, Problem> {
    app.service().stop_import(viewer.0, id)?;
    Ok(StatusCode::NO_CONTENT)
}

/// What was done before the page "Data" is shown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// `deleted` after everything was.
    done: Option<String>,
}

/// `GET /settings/data`.
pub async fn data_page(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    Query(query): Query<PageQuery>,
) -> Result<Response, Problem> {
    let said = query.done.filter(|done| done == "deleted").map(|_| Said::Done(everything::deleted().to_owned()));
    Ok(asked.answer(&app, StatusCode::OK, data(&app, viewer.0, said).await?))
}

async fn data(app: &App, viewer: UserId, said: Option<Said>) -> Result<Page, Problem> {
    let (jobs, database) = (app.service().import_jobs(viewer), app.service().database());
    let storage = app.service().storage_use(viewer).await?;
    Ok(TransferPage { jobs, database, storage, said }.draw())
}

/// `GET /settings/data/imports/{id}`.
pub async fn page(
    State(app): State<App>,
    viewer: Viewer,
    PathId(id): PathId<ImportId>,
    asked: Asked,
) -> Result<Response, Problem> {
    let job = app.service().import_job(viewer.0, id)?;
    let is_over = job.is_over;
    let mut response = asked.answer(&app, StatusCode::OK, ImportPage { job }.draw());
    if !is_over {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(AGAIN_AFTER));
    }
    Ok(response)
}

/// `POST /forms/import`: a form with a file. What is wrong with it stands on the page that it came from.
pub async fn take(
    State(app): State<App>,
    viewer: Viewer,
    asked: Asked,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = form.map_err(|rejection| Problem::invalid(Invalid::new("", rejection.body_text())))?;
    match taken(&app, viewer.0, form).await {
        Ok(id) => Ok(see_other(&format!("/settings/data/imports/{id}"))),
        Err(problem) => match problem.invalid_sentence() {
            Some(sentence) => {
                let said = Some(Said::Refused(told_of_field(&sentence)));
                Ok(asked.answer(&app, StatusCode::UNPROCESSABLE_ENTITY, data(&app, viewer.0, said).await?))
            }
            None => Err(problem),
        },
    }
}

async fn taken(app: &App, viewer: UserId, mut form: Multipart) -> Result<ImportId, Problem> {
    let place = app.service().import_place(viewer)?;
    app.service().check_growth(viewer, 0).await?;
    let (mut format, mut dry_run, mut file) = (None, false, None);
    while let Some(field) = form.next_field().await.map_err(broken)? {
        match field.name() {
            Some("from") => format = format_of(Some(text_of(field, SHORT).await?.as_str()))?,
            Some("dry_run") => dry_run = text_of(field, SHORT).await? == "1",
            Some("file") => {
                let name = field.file_name().unwrap_or_default().to_owned();
                if !name.is_empty() {
                    file = Some((arrived((app, viewer), &place, Box::pin(field), broken).await?, name));
                }
            }
            _ => drop(text_of(field, SHORT).await?),
        }
    }
    let (file, name) = file.ok_or_else(|| Invalid::new("file", "choose a file first"))?;
    begin(app, viewer, file, &name, format, dry_run)
}

/// `POST /forms/import/stop`.
pub async fn stop_form(State(app): State<App>, viewer: Viewer, fields: Fields) -> Result<Response, Problem> {
    let id = fields.subject_id("id")?;
    app.service().stop_import(viewer.0, id)?;
    Ok(see_other(&format!("/settings/data/imports/{id}")))
}

fn format_of(name: Option<&str>) -> Result<Option<ImportFormat>, Problem> {
    match name {
        None | Some(AUTO) => Ok(None),
        Some(name) => parse_format(name).map(Some).ok_or_else(|| Invalid::new("from", "no such format").into()),
    }
}

/// The file, as it arrives.
async fn arrived<E>(
    (app, owner): (&App, UserId),
    place: &ImportPlace,
    mut stream: impl Stream<Item = Result<Bytes, E>> + Unpin,
    broken: impl Fn(E) -> Problem,
) -> Result<NamedTempFile, Problem> {
    let mut file = place.file().map_err(unwritten)?;
    let mut length = 0;
    let mut checked_at = 0;
    while let Some(piece) = stream.next().await {
        let piece = piece.map_err(&broken)?;
        length += piece.len();
        if length - checked_at >= limits::STORAGE_CHECKED_EVERY {
            checked_at = length;
            // What was written counts already.
            app.service().check_growth(owner, piece.len() as u64).await?;
        }
        // The disk's buffer takes a piece at once.
        file.write_all(&piece).map_err(unwritten)?;
    }
    // The length of a body in pieces is known now.
    app.service().check_growth(owner, 0).await?;
    if length == 0 {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "empty_file", "The file is empty."));
    }
    Ok(file)
}

fn begin(
    app: &App,
    owner: UserId,
    file: NamedTempFile,
    name: &str,
    format: Option<ImportFormat>,
    dry_run: bool,
) -> Result<ImportId, Problem> {
    let name = file_name::displayed(name).unwrap_or_else(|_| "file".to_owned());
    let path = file.into_temp_path();
    let import = Import { owner, file: PathBuf::from(&*path), name, format, dry_run };
    app.service().begin_import(import, path).map_err(|error: ServiceError| error.into())
}
