//! The pages of imports and their forms: upload, preview, progress, report, undo. Each form performs one action and
//! redirects with 303 (post/redirect/get); errors of an upload are shown on the page of its form.

use axum::extract::multipart::MultipartRejection;
use axum::extract::{Multipart, State};
use axum::response::Response;
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;

use crate::domain::{ImportDifferenceKind, ImportId, UndoScope, UserId};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::multipart_form::{broken_form_problem, read_text_field};
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::transfer::import_upload::{
    ImportSettings, SpooledFiles, UploadUse, requested_format, requested_options, spool_file, start_upload,
};
use crate::server::server_pages::import::{ImportPage, ImportPageStep, reversal_notice};
use crate::server::server_pages::messages::{delete_all, import as words, transfer};
use crate::server::server_pages::transfer::TransferPage;
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::locale::coded_messages::coded_sentence;
use turnleaf_service::ServiceError;

/// Interval at which the page of a running import refreshes itself, in seconds.
const REFRESH_SECONDS: &str = "2";
/// Bound on the fields other than the file.
const SHORT_FIELD_BYTES: usize = 200;

/// The query of the page "Data".
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferPageQuery {
    /// The action that was done.
    done: Option<TransferResult>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum TransferResult {
    /// Everything was deleted.
    Deleted,
    /// A preview was cancelled.
    Cancelled,
    /// An import was removed from the list.
    Forgotten,
    /// The password for an export was entered.
    Confirmed,
}

/// `GET /settings/data`.
pub async fn data_page(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    StrictQuery(query): StrictQuery<TransferPageQuery>,
) -> Result<Response, Problem> {
    let notice = query.done.map(|done| {
        ActionNotice::Done(match done {
            TransferResult::Deleted => delete_all::deleted().to_owned(),
            TransferResult::Cancelled => words::preview_cancelled().to_owned(),
            TransferResult::Forgotten => words::forgotten().to_owned(),
            TransferResult::Confirmed => transfer::export_confirmed().to_owned(),
        })
    });
    Ok(context.respond(&app, StatusCode::OK, render_data_page(&app, principal.user, notice).await?))
}

async fn render_data_page(app: &App, viewer: UserId, notice: Option<ActionNotice>) -> Result<ServerPage, Problem> {
    let (imports, database) = (app.service().list_imports(viewer).await?, app.service().database_name());
    let storage = app.service().storage_use(viewer).await?;
    Ok(TransferPage { imports, database, storage, notice }.draw())
}

/// The query of the page of an import.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportPageQuery {
    /// Shows only the differences of this kind.
    show: Option<ImportDifferenceKind>,
}

/// `GET /settings/data/imports/{id}`.
pub async fn page(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ImportId>,
    context: PageContext,
    StrictQuery(query): StrictQuery<ImportPageQuery>,
) -> Result<Response, Problem> {
    let job = app.service().find_import(principal.user, id).await?;
    let is_resting = job.is_over && !job.is_reversing();
    let notice = reversal_notice(&job);
    let page = ImportPage { job, shown_kind: query.show, step: ImportPageStep::Report, notice };
    let mut response = context.respond(&app, StatusCode::OK, page.draw());
    if !is_resting {
        response.headers_mut().insert(header::REFRESH, HeaderValue::from_static(REFRESH_SECONDS));
    }
    Ok(response)
}

/// `POST /forms/import`: starts the preview of the files in the form.
pub async fn import_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    form: Result<Multipart, MultipartRejection>,
) -> Result<Response, Problem> {
    let form = form.map_err(|rejection| Problem::unreadable("", &rejection.body_text()))?;
    match read_import_form(&app, principal.user, form).await {
        Ok(id) => Ok(see_other(&page_path(id))),
        Err(problem) => match problem.client_error_sentence() {
            Some(sentence) => {
                let notice = Some(ActionNotice::Refused(sentence));
                Ok(context.respond(
                    &app,
                    StatusCode::UNPROCESSABLE_ENTITY,
                    render_data_page(&app, principal.user, notice).await?,
                ))
            }
            None => Err(problem),
        },
    }
}

async fn read_import_form(app: &App, viewer: UserId, mut form: Multipart) -> Result<ImportId, Problem> {
    let place = app.service().import_slot(viewer)?;
    app.service().check_growth(viewer, 0).await?;
    let (mut from, mut map, mut files) = (None, None, SpooledFiles::default());
    while let Some(field) = form.next_field().await.map_err(broken_form_problem)? {
        match field.name() {
            Some("from") => from = Some(read_text_field(field, SHORT_FIELD_BYTES).await?),
            Some("map") => map = Some(read_text_field(field, SHORT_FIELD_BYTES).await?.trim().to_owned()),
            Some("file") => {
                let name = field.file_name().unwrap_or_default().to_owned();
                if !name.is_empty() {
                    let file = spool_file((app, viewer), &place, Box::pin(field), broken_form_problem).await?;
                    files.add(file, &name)?;
                }
            }
            _ => drop(read_text_field(field, SHORT_FIELD_BYTES).await?),
        }
    }
    let format = requested_format(from.as_deref())?;
    let options = requested_options(format, map.as_deref().filter(|map| !map.is_empty()))?;
    let (file, name) = files.into_import(&place)?;
    start_upload(app, viewer, file, ImportSettings { name, format, options, upload_use: UploadUse::Preview })
}

/// `POST /forms/import/start`: imports the file of a preview.
pub async fn start_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ImportId = fields.subject_id("id")?;
    match app.service().import_preview(principal.user, id).await {
        Ok(import) => Ok(see_other(&page_path(import))),
        Err(error) => refused_page(&app, (principal.user, id), context, error).await,
    }
}

/// `POST /forms/import/stop`: stops an import, or cancels a preview.
pub async fn stop_form(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ImportId = fields.subject_id("id")?;
    let job = app.service().find_import(principal.user, id).await?;
    app.service().stop_import(principal.user, id).await?;
    Ok(match job.is_over && job.importable_until.is_some() {
        true => see_other("/settings/data?done=cancelled"),
        false => see_other(&page_path(id)),
    })
}

/// `POST /forms/import/undo`: starts the undo of an import, or of what an undo kept (`changed`), after a confirmation
/// (`sure`).
pub async fn undo_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ImportId = fields.subject_id("id")?;
    let (scope, step) = match fields.is_checked("changed") {
        true => (UndoScope::Changed, ImportPageStep::ConfirmUndoRest),
        false => (UndoScope::Unchanged, ImportPageStep::ConfirmUndo),
    };
    if !fields.is_checked("sure") {
        let job = app.service().find_import(principal.user, id).await?;
        let page = ImportPage { job, shown_kind: None, step, notice: None };
        return Ok(context.respond(&app, StatusCode::OK, page.draw()));
    }
    match app.service().undo_import(principal.user, id, scope).await {
        Ok(()) => Ok(see_other(&page_path(id))),
        Err(error) => refused_page(&app, (principal.user, id), context, error).await,
    }
}

/// `POST /forms/import/restore`: starts to restore what the undo of an import moved to Trash.
pub async fn restore_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ImportId = fields.subject_id("id")?;
    match app.service().restore_import(principal.user, id).await {
        Ok(()) => Ok(see_other(&page_path(id))),
        Err(error) => refused_page(&app, (principal.user, id), context, error).await,
    }
}

/// `POST /forms/import/forget`: removes an import from the list, with its report.
pub async fn forget_form(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ImportId = fields.subject_id("id")?;
    match app.service().forget_import(principal.user, id).await {
        Ok(()) => Ok(see_other("/settings/data?done=forgotten")),
        Err(error) => refused_page(&app, (principal.user, id), context, error).await,
    }
}

fn page_path(id: ImportId) -> String {
    format!("/settings/data/imports/{id}")
}

/// Shows the import with the reason why an action was refused.
async fn refused_page(
    app: &App,
    (viewer, id): (UserId, ImportId),
    context: PageContext,
    error: ServiceError,
) -> Result<Response, Problem> {
    let ServiceError::Conflict { message, .. } = error else { return Err(error.into()) };
    let notice = Some(ActionNotice::Refused(coded_sentence(&message)));
    let job = app.service().find_import(viewer, id).await?;
    let page = ImportPage { job, shown_kind: None, step: ImportPageStep::Report, notice };
    Ok(context.respond(app, StatusCode::CONFLICT, page.draw()))
}
