//! The pages of projects and their forms. Each form performs one action and redirects with 303 (post/redirect/get); on
//! an error the page keeps what was typed.

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use serde::Deserialize;

use crate::domain::{ChatId, InvalidField, MessageCode, ModelLock, ProjectColor, ProjectId, UserId, limits};
use crate::server::access::Principal;
use crate::server::app::App;
use crate::server::http::request::path_id::PathId;
use crate::server::http::request::query::StrictQuery;
use crate::server::http::response::problem::Problem;
use crate::server::http::response::server_page::{PageContext, SubmittedFields, see_other};
use crate::server::http::response::service_problem::refusal_sentence;
use crate::server::server_pages::chat_settings::{FieldErrors, field_errors};
use crate::server::server_pages::messages::{self, projects as words};
use crate::server::server_pages::projects::{
    ProjectDeletionPage, ProjectForm, ProjectFormState, ProjectPage, ProjectsPage,
};
use crate::server::server_pages::{ActionNotice, ServerPage};
use crate::ui::model_options::parse_model_value;
use turnleaf_service::ServiceError;
use turnleaf_service::chats::{BrowseFilter, ChatChange};
use turnleaf_service::projects::{NewProject, ProjectChats, ProjectUpdate};

/// The query of the pages.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProjectPageQuery {
    /// The action that a form has done.
    done: Option<ProjectFormResult>,
}

/// The action that a form has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProjectFormResult {
    Created,
    Saved,
    Deleted,
}

impl ProjectFormResult {
    fn notice(self) -> ActionNotice {
        ActionNotice::Done(match self {
            Self::Created => words::created().into(),
            Self::Saved => messages::saved().into(),
            Self::Deleted => words::deleted().into(),
        })
    }
}

/// `GET /projects`.
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    StrictQuery(query): StrictQuery<ProjectPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page =
        list_page(&app, principal.user, ProjectFormState::default(), query.done.map(ProjectFormResult::notice)).await?;
    Ok(context.respond(&app, StatusCode::OK, page))
}

async fn list_page(
    app: &App,
    viewer: UserId,
    form: ProjectFormState,
    notice: Option<ActionNotice>,
) -> Result<ServerPage, Problem> {
    let projects = app.service().projects(viewer).await?;
    let models = app.service().models(viewer).await?;
    Ok(ProjectsPage { projects, models, form }.draw(notice))
}

/// `GET /projects/{id}`.
pub async fn show(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ProjectId>,
    StrictQuery(query): StrictQuery<ProjectPageQuery>,
    context: PageContext,
) -> Result<Response, Problem> {
    let page = project_page(&app, principal.user, id, None, query.done.map(ProjectFormResult::notice)).await?;
    Ok(context.respond(&app, StatusCode::OK, page))
}

async fn project_page(
    app: &App,
    viewer: UserId,
    id: ProjectId,
    refused: Option<ProjectFormState>,
    notice: Option<ActionNotice>,
) -> Result<ServerPage, Problem> {
    let listed = app.service().project(viewer, id).await?;
    let which = BrowseFilter { project: Some(id), ..BrowseFilter::default() };
    let chats = app.service().browse_chats(viewer, &which, limits::PAGE_DEFAULT).await?;
    let models = app.service().models(viewer).await?;
    let form = refused.unwrap_or_else(|| ProjectFormState::from_project(&listed.project));
    Ok(ProjectPage { listed, chats, models, form }.draw(notice))
}

/// The values of a form that can be stored.
struct ParsedProject {
    color: ProjectColor,
    default_model: Option<ModelLock>,
}

fn read_form(fields: &SubmittedFields) -> ProjectForm {
    let text = |name: &str| fields.text(name).unwrap_or_default();
    ProjectForm {
        name: text("name"),
        color: text("color"),
        instructions: text("instructions"),
        model: text("default_model"),
    }
}

fn parse_form(form: &ProjectForm) -> Result<ParsedProject, InvalidField> {
    let unknown = |field: &str| InvalidField::new(field, MessageCode::IsUnknown);
    let color = ProjectColor::parse(&form.color).ok_or_else(|| unknown("color"))?;
    let default_model = match form.model.as_str() {
        "" => None,
        model => Some(parse_model_value(model).ok_or_else(|| unknown("default_model"))?),
    };
    Ok(ParsedProject { color, default_model })
}

/// Returns the errors of a refused form and the notice above it.
///
/// # Errors
/// Those that are not about what was typed.
fn refusal(error: ServiceError) -> Result<(FieldErrors, ActionNotice), Problem> {
    match error {
        ServiceError::Invalid(invalid) => {
            let mut errors = field_errors(invalid);
            // The two parts of a model are one field.
            for part in ["provider", "model"] {
                if let Some(reason) = errors.remove(part) {
                    errors.insert("default_model".to_owned(), reason);
                }
            }
            Ok((errors, ActionNotice::Refused(messages::invalid_fields().into())))
        }
        ServiceError::Conflict { .. } | ServiceError::Forbidden { .. } | ServiceError::Storage(_) => {
            Ok((FieldErrors::new(), ActionNotice::Refused(refusal_sentence(&error))))
        }
        error => Err(error.into()),
    }
}

/// `POST /forms/projects/create`.
pub async fn create(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let form = read_form(&fields);
    let made = match parse_form(&form) {
        Ok(ParsedProject { color, default_model }) => {
            let (name, instructions) = (form.name.clone(), form.instructions.clone());
            let new = NewProject { name, color, instructions, default_model, client_request_id: None };
            app.service().create_project(principal.user, new).await
        }
        Err(invalid) => Err(invalid.into()),
    };
    let error = match made {
        Ok(made) => return Ok(see_other(&format!("/projects/{}?done=created", made.value.project.id))),
        Err(error) => error,
    };
    let (errors, notice) = refusal(error)?;
    let page = list_page(&app, principal.user, ProjectFormState { form, errors }, Some(notice)).await?;
    Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// `POST /forms/projects/save`: saves all fields or none.
pub async fn save(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ProjectId = fields.subject_id("project_id")?;
    let form = read_form(&fields);
    let saved = match parse_form(&form) {
        Ok(ParsedProject { color, default_model }) => {
            let change = ProjectUpdate {
                name: Some(form.name.clone()),
                color: Some(color),
                instructions: Some(form.instructions.clone()),
                default_model: Some(default_model),
            };
            app.service().change_project(principal.user, id, change).await
        }
        Err(invalid) => Err(invalid.into()),
    };
    let error = match saved {
        Ok(_) => return Ok(see_other(&format!("/projects/{id}?done=saved"))),
        Err(error) => error,
    };
    let (errors, notice) = refusal(error)?;
    let page = project_page(&app, principal.user, id, Some(ProjectFormState { form, errors }), Some(notice)).await?;
    Ok(context.respond(&app, StatusCode::UNPROCESSABLE_ENTITY, page))
}

/// `POST /forms/projects/chat`: opens a new chat in the project.
pub async fn begin_chat(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let chat = app.service().begin_chat_in_project(principal.user, fields.subject_id("project_id")?).await?;
    Ok(see_other(&format!("/c/{chat}")))
}

/// `GET /projects/{id}/delete`: asks what happens to the chats.
pub async fn confirm_deletion(
    State(app): State<App>,
    principal: Principal,
    PathId(id): PathId<ProjectId>,
    context: PageContext,
) -> Result<Response, Problem> {
    let listed = app.service().project(principal.user, id).await?;
    Ok(context.respond(&app, StatusCode::OK, ProjectDeletionPage { listed }.draw(None)))
}

/// `POST /forms/projects/delete`.
pub async fn delete(
    State(app): State<App>,
    principal: Principal,
    context: PageContext,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ProjectId = fields.subject_id("project_id")?;
    let chats = match fields.text("chats").as_deref() {
        Some("trash") => ProjectChats::Trash,
        _ => ProjectChats::Keep,
    };
    match app.service().delete_project(principal.user, id, chats).await {
        Ok(()) => Ok(see_other("/projects?done=deleted")),
        Err(error @ ServiceError::Conflict { .. }) => {
            let listed = app.service().project(principal.user, id).await?;
            let notice = ActionNotice::Refused(refusal_sentence(&error));
            Ok(context.respond(&app, StatusCode::CONFLICT, ProjectDeletionPage { listed }.draw(Some(notice))))
        }
        Err(error) => Err(error.into()),
    }
}

/// `POST /forms/projects/move`: moves a chat into a project, or out of its project.
pub async fn move_chat(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ChatId = fields.subject_id("chat_id")?;
    let change = ChatChange { project_id: Some(chosen_project(&fields)?), ..ChatChange::default() };
    app.service().change_chat(principal.user, id, change).await?;
    Ok(see_other(&format!("/c/{id}/settings?saved=1")))
}

/// Reads the project to which chats are moved; `None` moves them out.
///
/// # Errors
/// 404 for an impossible id.
pub fn chosen_project(fields: &SubmittedFields) -> Result<Option<ProjectId>, Problem> {
    let project = fields.text("project").map(|id| id.parse().map_err(|_| Problem::not_found()));
    project.transpose()
}

/// `POST /forms/projects/use`: makes the project's instructions those of a chat's new branches.
pub async fn use_instructions(
    State(app): State<App>,
    principal: Principal,
    fields: SubmittedFields,
) -> Result<Response, Problem> {
    let id: ChatId = fields.subject_id("chat_id")?;
    app.service().use_project_instructions(principal.user, id).await?;
    Ok(see_other(&format!("/c/{id}/settings?saved=1")))
}
